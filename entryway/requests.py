"""`POST /requests`: work, for callers who are admitted. Each check is by rule, and the first that fails is the answer.

| check                                                  | fails as                                        | told      |
|--------------------------------------------------------|-------------------------------------------------|-----------|
| the envelope: form, signature, duplicate, time, address| INVALID_ENVELOPE, all alike                     | unsigned  |
| the text is within its cap                             | TOO_LARGE                                       | signed    |
| the caller is admitted                                 | UNAUTHORIZED                                    | signed    |
| the caller's messages in an hour                       | RATE_LIMITED                                    | signed    |
| sealed where that is asked; it opens; the answer's key | SEALING_REQUIRED, UNSEALING_FAILED, INPUT_INVALID | signed  |
| the payload can be read                                | INPUT_INVALID                                   | signed    |
| the boundary                                           | what `entryway.boundary` raises                 | signed    |
| something stands behind the offering                   | AGENT_UNAVAILABLE                               | signed    |

The invariant: a caller who is not admitted starts nothing, leaves nothing behind but a place in bounded memories, and
learns nothing but that he is not. Of his payload nothing is looked at but how long its text is, and whether he is
blocked, held, revoked or unknown, the answer is the same to the byte and takes the same time.

A question about a job (`task_id`) is for admitted callers too, and answers the job's own caller alone. It sets nothing
off, so it is not among the messages that the owner's cap in an hour counts: whoever waits for a job may ask.

Source: binding 5; 4.6 – 4.8, 7.1 and 7.2 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

import structlog
import trio

from descriptor.document import Descriptor
from descriptor.keys import Identity, SealingKey
from descriptor.strictjson import JsonValue
from entryway.answering import LARGE_QUESTION, Codecs, signed_response
from entryway.codec import Codec, decode
from entryway.door import Door
from entryway.envelope import Envelope, invalid_envelope, read_envelope, signed_bytes
from entryway.errors import EntrywayError
from entryway.exchanges import unavailable
from entryway.http import Request, Response, Working
from entryway.payload import Inquiry, is_inquiry, read_inquiry
from entryway.precedence import Precedence
from entryway.protections import TEXT_CAP, HourlyCounts, Inbound, refuse_long_text
from entryway.reply import ReplyPayload
from entryway.sealing import Unsealed, check_reply_key, is_sealed, required_and_clear, unseal, unsealing_failed
from entryway.snapshot import Damaged, Published, Snapshot
from entryway.texts import texts_of
from entryway.work import Order, Workshop

if TYPE_CHECKING:
    from descriptor.view import View

log = structlog.get_logger("requests")

Members = Mapping[str, JsonValue]


class Senders(Protocol):
    """What is known of those who send."""

    async def descriptor(self, agent_id: str) -> Members | None:
        """The Descriptor of an agent, verified to be its own; `None` when none is known here.

        Raises EntrywayError AGENT_UNAVAILABLE.
        """


class Means(NamedTuple):
    """What work needs beside the door. `sealing_key`: opens what is sealed. `None`: there is nothing of the kind."""

    sealing_key: SealingKey | None = None
    senders: Senders | None = None
    workshop: Workshop | None = None
    precedence: Precedence | None = None


class _Caller(NamedTuple):
    """Who asks, verified, under which id, and the codec of the reply."""

    id: str
    request_id: str
    codec: Codec


class Requests:
    """The route of work. `current` gives the snapshot, whatever was published since."""

    def __init__(
        self,
        identity: Identity,
        clock: Callable[[], float],
        *,
        current: Callable[[], Snapshot],
        door: Door,
        inbound: Inbound,
        means: Means,
    ) -> None:
        self.means = means
        self._identity = identity
        self._clock = clock
        self._current = current
        self._door = door
        self._inbound = inbound
        self._counts = HourlyCounts()
        # Two, so that the large bodies of strangers, who come first, do not hold up what admitted callers wait for.
        self._reading, self._apart = trio.CapacityLimiter(1), trio.CapacityLimiter(1)
        self._viewing = trio.Lock()
        self._viewed: tuple[Descriptor, View] | None = None

    def post(self, request: Request) -> Response | Awaitable[Response | Working]:
        """The answer to one request. Raises EntrywayError UNSUPPORTED_MEDIA_TYPE, INVALID_ENVELOPE."""
        codecs = Codecs.of(request)
        if len(request.body) > LARGE_QUESTION:
            return self._post_apart(request, codecs)
        return self._judged(read_envelope(decode(request.body, codecs.asked)), codecs.reply, request)

    async def _post_apart(self, request: Request, codecs: Codecs) -> Response | Working:
        envelope, over = await trio.to_thread.run_sync(_read, request.body, codecs.asked, limiter=self._reading)
        answer = self._judged(envelope, codecs.reply, request, over)
        return answer if isinstance(answer, Response) else await answer

    def _judged(
        self, envelope: Envelope, codec: Codec, request: Request, over: bytes | None = None
    ) -> Response | Awaitable[Response | Working]:
        now, snapshot = self._clock(), self._current()
        admission = snapshot.admission if isinstance(snapshot, Published) else None
        admitted = self._door.admits(envelope.sender, admission)
        # It has to be addressed: what is to anybody could be sent on to another agent that has admitted its sender.
        sender = self._inbound.judge(envelope, now, signed=True, addressed=True, over=over, admitted=admitted)
        assert sender is not None  # `signed`
        caller = _Caller(sender, envelope.id, codec)
        try:
            if isinstance(snapshot, Damaged):
                raise unavailable()
            _refuse_long(envelope.payload, snapshot, len(request.body))
            if not admitted:
                return self._signed(_UNAUTHORIZED, caller, now)
            if self.means.precedence is not None:
                self.means.precedence.know(request.peer)
            if not is_inquiry(envelope.payload):
                self._door.count(sender, admission, now)
        except EntrywayError as error:
            return self._signed(ReplyPayload.of(refusal_payload(error)), caller, now)
        return self._admitted(caller, envelope.payload)

    async def _admitted(self, caller: _Caller, payload: Members) -> Response | Working:
        try:
            if is_inquiry(payload):
                return await self._said(caller, await self._asked_after(caller, read_inquiry(payload)))
            order, later = await self._ordered(caller, payload)
            workshop = self._workshop(order)
            task_id = await workshop.begin(order)
        except EntrywayError as error:
            # The workshop keeps what memory may have forgotten, and knows a copy of a request after a restart too.
            if error.code == "INVALID_ENVELOPE":
                raise invalid_envelope() from None
            return await self._said(caller, refusal_payload(error))
        if later:
            return await self._said(caller, {"status": "accepted", "task_id": task_id, "state": "submitted"})
        return Working(
            partial(self._ended, workshop, caller, task_id),
            partial(_leave, workshop, caller.id, task_id),
        )

    async def _asked_after(self, caller: _Caller, inquiry: Inquiry) -> Members:
        workshop = self.means.workshop
        ask = None if workshop is None else workshop.cancel if inquiry.cancel else workshop.state
        told = None if ask is None else await ask(caller.id, inquiry.task_id)
        if told is None:
            raise EntrywayError(
                "NOT_FOUND",
                "You have no such job here: a job is told to its own caller only, and is forgotten some time after it "
                "has ended. Ask with the key that began it, or for the work again.",
            )
        return told

    async def _ordered(self, caller: _Caller, payload: Members) -> tuple[Order, bool]:
        """The order, and whether its caller comes back for the outcome."""
        snapshot = self._current()
        if not isinstance(snapshot, Published):
            raise EntrywayError(
                "OFFERING_NOT_FOUND",
                "This agent has published no Descriptor yet, so it offers nothing. Ask again later.",
            )
        opened = await self._opened(caller, snapshot, payload)
        agent = await self._view(snapshot.descriptor)
        # Here, because they bring the reader of Descriptors with them, which nobody needs before the first is admitted.
        from entryway.asked import read_asked  # noqa: PLC0415  # as said above; `_view` has loaded them in its thread
        from entryway.boundary import judge  # noqa: PLC0415  # likewise

        asked = read_asked(payload, opened.value)
        order = judge(
            agent,
            asked,
            caller=caller.id,
            request_id=caller.request_id,
            now=self._clock(),
            counts=self._counts,
            seal_to=opened.reply_key,
        )
        return order, asked.later

    async def _opened(self, caller: _Caller, snapshot: Published, payload: Members) -> Unsealed:
        """The request's input, opened where it is sealed, and the key that its answer is sealed to."""
        given = payload.get("input")
        refused = required_and_clear(snapshot.descriptor.members.get("sealing"), given)
        if refused is not None:
            raise refused
        if not is_sealed(given):
            return Unsealed(given, None)
        if self.means.sealing_key is None:
            raise unsealing_failed()
        opened = await trio.to_thread.run_sync(unseal, given, self.means.sealing_key, limiter=self._apart)
        _refuse_long({**payload, "input": opened.value}, snapshot)
        if opened.reply_key is not None:
            senders = self.means.senders
            check_reply_key(opened.reply_key, None if senders is None else await senders.descriptor(caller.id))
        return opened

    async def _view(self, descriptor: Descriptor) -> View:
        """The Descriptor as a reader has it, worked out once, in a worker thread: a large one takes half a second."""
        async with self._viewing:
            if self._viewed is None or self._viewed[0] is not descriptor:
                self._viewed = descriptor, await trio.to_thread.run_sync(_view_of, descriptor)
            return self._viewed[1]

    def _workshop(self, order: Order) -> Workshop:
        workshop = self.means.workshop
        if workshop is None or not workshop.serves(order.offering):
            raise EntrywayError(
                "AGENT_UNAVAILABLE",
                "The request is in order, and nothing does this work here just now. Try again later, or ask the "
                "agent's operator.",
                {"offering": order.offering},
            )
        return workshop

    async def _ended(self, workshop: Workshop, caller: _Caller, task_id: str) -> Response:
        try:
            told = await workshop.ended(task_id)
        except EntrywayError as error:
            told = {**refusal_payload(error), "task_id": task_id}
        return await self._said(caller, told)

    async def _said(self, caller: _Caller, members: Members) -> Response:
        if members.get("status") != "completed":
            return self._signed(ReplyPayload.of(members), caller, self._clock())
        # An output may be large, and its canonical form takes its time.
        return await trio.to_thread.run_sync(
            lambda: self._signed(ReplyPayload.of(members), caller, self._clock()), limiter=self._apart
        )

    def _signed(self, payload: ReplyPayload, caller: _Caller, now: float) -> Response:
        return signed_response(
            self._identity, payload, caller.codec, in_reply_to=caller.request_id, to=caller.id, now=now
        )


def refusal_payload(error: EntrywayError) -> dict[str, JsonValue]:
    """The payload of a signed refusal. What is refused here is refused by rule. Source: binding 5."""
    told: dict[str, JsonValue] = {
        "code": error.code,
        "message": error.message,
        "decided_by": "rule",
        "retryable": error.retryable,
        **cast("Members", error.details or {}),  # an error body is JSON
    }
    for name, value in error.headers:
        if name == "Retry-After":
            told["retry_after"] = int(value)
    return {"status": "refused", "error": told}


_UNAUTHORIZED = ReplyPayload.of(
    refusal_payload(
        EntrywayError(
            "UNAUTHORIZED",
            "This agent works for callers whom it has admitted, and you are not one of them. Knock first (exchange 3); "
            "exchange 5 says where you stand.",
        )
    )
)


def _read(body: bytes, codec: Codec) -> tuple[Envelope, bytes | None]:
    """The envelope of a large body, and what its signature is over. Raises EntrywayError INVALID_ENVELOPE."""
    envelope = read_envelope(decode(body, codec))
    return envelope, None if envelope.signature is None else signed_bytes(envelope)


def _refuse_long(payload: Members, snapshot: Snapshot, size: int | None = None) -> None:
    """Refuses a payload with too much text. `size`: bytes of the body it came in. Raises EntrywayError TOO_LARGE."""
    cap, files = (snapshot.text_cap, snapshot.files) if isinstance(snapshot, Published) else (TEXT_CAP, {})
    # A text has no more UTF-16 code units than bytes, and a bin becomes less than twice as many characters; so what
    # came in half the cap need not be counted, and most of what strangers send is not.
    if size is None or 2 * size > cap:
        refuse_long_text(texts_of(payload, files), cap)


def _view_of(descriptor: Descriptor) -> View:
    import entryway.boundary  # noqa: F401, PLC0415  # loaded here, in the worker thread, for the loop to find
    from descriptor.view import view  # noqa: PLC0415  # likewise

    return view(descriptor)


async def _leave(workshop: Workshop, caller: str, task_id: str) -> None:
    """Ends a job whose caller has gone: he was not told its id, so nobody can ever ask for what comes of it."""
    log.info("caller_left", task=task_id, caller=caller)
    try:
        await workshop.cancel(caller, task_id)
    except EntrywayError as error:
        log.error("work_not_canceled", task=task_id, code=error.code, reason=error.message)
