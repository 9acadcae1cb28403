"""One agent that was asked who it is, and whatever is then asked of it.

    Caller.discover  ->  Agent  ->  knock, admission  ->  prepare  ->  send  ->  Completed | Accepted | Refused | Failed
                                                                                             |
                                                                             poll, cancel, finished

The invariant: nothing is sent to an agent that was not verified to be the one meant; every reply is signed by that
agent, fresh, and addressed to the caller as the answer to this very question; and no work is sent twice. A `Parcel` is
one request under one id: an agent takes it once, however often it is sent.

Deadlines and cancellation are those of the event loop: `trio.fail_after`, or `asyncio.timeout`. Whatever is canceled
leaves nothing behind here; whether the agent goes on with what it has been sent is not known then.

Source: binding 4 and 5; chapters 6.9 and 6.11; 4.4, 5.1 – 5.4 and 7.2 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

import anyio

from descriptor.document import Descriptor
from descriptor.keys import Identity, SealingKey
from descriptor.signatures import Signature, verify_statement
from descriptor.strictjson import JsonValue
from descriptor.view import View, view
from entryway.admission import Status
from entryway.client.asking import Answer, ask
from entryway.client.errors import ClientError
from entryway.client.outcome import Accepted, Outcome, Refused, read_outcome
from entryway.client.parcel import Parcel, pack, refusal_of, refuse_unreadable
from entryway.client.request import Work
from entryway.client.targets import target_url
from entryway.client.transport import (
    DEFAULT_LIMITS,
    ClientLimits,
    Received,
    error_of,
    judged,
    refused,
    reply_map,
    send,
)
from entryway.codec import Codec, encode
from entryway.envelope import request_envelope
from entryway.errors import EntrywayError
from entryway.sealing import Decision, decide
from entryway.verdict import Verdict, judge_reply, shown

# Seconds between two looks at what takes its time: soon at first, and in an hour well below the messages that an agent
# takes of one sender, which are 120 unless its owner says otherwise.
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
_GROWTH = 1.5


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the caller stands with an agent. `reason` stands beside `refused`. `envelope`: the signed reply."""

    status: Status
    reason: str | None
    envelope: Mapping[str, JsonValue] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. `sealing`: the key that answers are sealed to, only where the caller's own Descriptor declares it.

    `clock`: seconds since 1970. `codec`: what questions are written in.
    """

    identity: Identity
    sealing: SealingKey | None = None
    limits: ClientLimits = DEFAULT_LIMITS
    codec: Codec = Codec.MSGPACK
    clock: Callable[[], float] = time.time

    async def discover(self, target: str, *, agent_id: str | None) -> Agent:
        """The agent at `target`, a URL or `host:port`, with the Descriptor that it shows and every check holding.

        `agent_id`: the agent that is meant. `None` takes whoever answers there, which is to trust the network: whoever
        can answer in its place is believed to be it. Raises ClientError: BAD_TARGET, NOT_VERIFIED, NOT_PUBLISHED,
        UNREACHABLE, TIMEOUT, TOO_LARGE, UNREADABLE_REPLY, REFUSED. Source: binding 4 (exchange 2).
        """
        url = target_url(target)
        answer = _held(await ask(url, codec=self.codec, expected_id=agent_id, limits=self.limits, clock=self.clock))
        if answer.descriptor is None:
            raise ClientError(
                "NOT_PUBLISHED",
                f"The agent at {url} has published no Descriptor, so it offers nothing. Ask again later.",
            )
        return self.known(url, answer.descriptor)

    def known(self, target: str, descriptor: bytes) -> Agent:
        """The agent at `target` whose Descriptor is known from elsewhere, as that of a private agent has to be.

        It is asked nothing yet, and only replies of the agent that signed the Descriptor are taken. Raises
        DescriptorError for bytes that are no Descriptor; ClientError: BAD_TARGET, NOT_VERIFIED.
        """
        url = target_url(target)
        document = Descriptor.read(descriptor)
        if verify_statement(document.members).state is not Signature.VERIFIED:
            raise ClientError(
                "NOT_VERIFIED", "This Descriptor is not signed by the agent that it is about. Get it from that agent."
            )
        return Agent(self, url, document, view(document), decide(document.members))


@dataclass(frozen=True, slots=True)
class Agent:
    """A verified agent, as one caller has it. `url`: where it is asked. `view`: its Descriptor, read.

    `sealing`: how a request to it goes out, by what its Descriptor declares.
    """

    caller: Caller
    url: str
    descriptor: Descriptor
    view: View = field(repr=False)
    sealing: Decision

    @property
    def id(self) -> str:
        """Its id; everything it says is signed with this key."""
        assert self.descriptor.subject_id is not None  # its statement is verified, which is by the subject
        return self.descriptor.subject_id

    # The door.

    async def knock(self) -> Standing:
        """Asks to be let in. It says who asks, and nothing else. Raises ClientError. Source: binding 4 (exchange 3)."""
        return await self._standing(3)

    async def standing(self) -> Standing:
        """Asks where the caller stands. Raises ClientError. Source: binding 4 (exchange 5)."""
        return await self._standing(5)

    async def admission(self) -> Standing:
        """Knocks, and waits until that is decided: for as long as the deadline of its caller lets it.

        The status is `admitted` or `refused`; `never-asked` when the knock fell away. Raises ClientError.
        """
        standing = await self.knock()
        for pause in _pauses():
            if standing.status is not Status.WAITING:
                break
            await anyio.sleep(pause)
            standing = await self.standing()
        return standing

    # Work.

    def refusal(self, work: Work) -> EntrywayError | None:
        """The refusal that this agent's boundary owes a piece of work, by what its Descriptor declares; or `None`.

        The same checks as the agent's own, but for how often it was asked already. Nothing is sent.
        """
        return refusal_of(work, self.descriptor, self.view, self.caller.identity.id, self.caller.clock())

    def prepare(self, work: Work) -> Parcel:
        """The request for a piece of work, signed now and sealed as the agent's posture asks. Nothing is sent.

        Raises ClientError: CANNOT_SEAL, where the agent reads sealed requests only; TOO_LARGE. DescriptorError
        NOT_CANONICAL for an input that JSON cannot say.
        """
        caller = self.caller
        reply_key = None if caller.sealing is None else caller.sealing.public_text
        parcel = pack(work, self.view, self.sealing, caller.identity, reply_key, caller.limits, caller.clock())
        refuse_unreadable(encode(parcel.request, caller.codec), caller.codec, caller.limits.request_bytes)
        return parcel

    async def send(self, parcel: Parcel) -> Outcome:
        """Sends a parcel, and gives what its agent answers.

        An error may leave open whether it arrived (`maybe_sent`). The same parcel may then be sent again: where it had
        arrived, it is refused as a copy (REFUSED, with the error INVALID_ENVELOPE), and the work is not done twice.
        Raises ClientError.
        """
        envelope = await self._exchanged(parcel.request, parcel.wait)
        return self._outcome(envelope, parcel.answer_sealed)

    async def request(self, work: Work) -> Outcome:
        """Prepares and sends a piece of work, once. Raises ClientError."""
        return await self.send(self.prepare(work))

    async def poll(self, task: Accepted | str) -> Outcome:
        """How the caller's own job stands, by what was accepted or by its task id. Raises ClientError."""
        return await self._about(task, {})

    async def cancel(self, task: Accepted | str) -> Outcome:
        """Ends the caller's own job unless it has ended, and gives how it stands. Raises ClientError."""
        return await self._about(task, {"cancel": True})

    async def finished(self, task: Accepted | str) -> Outcome:
        """Waits until a job has ended: for as long as the deadline of its caller lets it. Raises ClientError."""
        for pause in _pauses():
            outcome = await self.poll(task)
            # A refusal without a task is about the question, and one that may be asked again later is.
            asked_too_soon = isinstance(outcome, Refused) and outcome.task_id is None and outcome.retryable
            if not (isinstance(outcome, Accepted) or asked_too_soon):
                break
            await anyio.sleep(pause)
        return outcome

    async def _about(self, task: Accepted | str, more: Mapping[str, JsonValue]) -> Outcome:
        task_id, sealed = (task, None) if isinstance(task, str) else (task.task_id, task.sealed)
        caller = self.caller
        payload: dict[str, JsonValue] = {"task_id": task_id, **more}
        request = request_envelope(payload, caller.clock(), to=self.id, identity=caller.identity)
        envelope = await self._exchanged(request, caller.limits.wait)
        return self._outcome(envelope, sealed)

    def _outcome(self, envelope: Mapping[str, JsonValue], sealed: bool | None) -> Outcome:
        caller = self.caller
        return read_outcome(envelope, sealed=sealed, key=caller.sealing, most=caller.limits.output_bytes)

    async def _exchanged(self, request: Mapping[str, JsonValue], wait: float) -> Mapping[str, JsonValue]:
        """The envelope of the verified reply to a request. Raises ClientError."""
        caller = self.caller
        content = encode(request, caller.codec)
        received = await send(
            f"{self.url}/requests", caller.limits.output_bytes, wait, accept=caller.codec, content=content
        )
        if received.status != 200:
            raise refused(received, error_of(received))
        verdict = await judged(received, partial(self._judged, received, request))
        if not verdict.verified or verdict.envelope is None:
            raise not_verified(self.url, verdict)
        return verdict.envelope

    def _judged(self, received: Received, request: Mapping[str, JsonValue]) -> Verdict:
        reply = reply_map(received, self.caller.limits.output_values)
        return judge_reply(reply, request, self.caller.clock(), None, expected_id=self.id, addressed=True)

    async def _standing(self, exchange: int) -> Standing:
        caller = self.caller
        answer = _held(
            await ask(
                self.url,
                exchange=exchange,
                codec=caller.codec,
                identity=caller.identity,
                expected_id=self.id,
                limits=caller.limits,
                clock=caller.clock,
            )
        )
        assert answer.envelope is not None and answer.status is not None  # it is verified
        payload = answer.envelope["payload"]
        reason = payload.get("reason") if isinstance(payload, dict) else None
        return Standing(Status(answer.status), shown(reason) if isinstance(reason, str) else None, answer.envelope)


def not_verified(url: str, verdict: Verdict) -> ClientError:
    """The error for an answer of which a check does not hold."""
    why = next(iter(verdict.reasons.values()), "It says nothing that could be verified.")
    return ClientError("NOT_VERIFIED", f"What came from {url} is not believed. {why}", maybe_sent=True, verdict=verdict)


def _held(answer: Answer) -> Answer:
    """An answer of which every check holds. Raises ClientError: REFUSED, NOT_VERIFIED."""
    if answer.error is not None:
        told = f"{answer.target} refused ({answer.error['code']}): {answer.error['message']}"
        raise ClientError("REFUSED", told, answer.error, maybe_sent=True)
    if not answer.verified:
        raise not_verified(answer.target, answer)
    return answer


def _pauses() -> Iterator[float]:
    pause = FIRST_PAUSE
    while True:
        yield pause
        pause = min(pause * _GROWTH, LONGEST_PAUSE)
