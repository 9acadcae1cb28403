"""Following one agent: finding it, listening to it, and waiting for it.

| state       | until                                              | then                                              |
|-------------|----------------------------------------------------|---------------------------------------------------|
| connecting  | the agent answers                                  | listening, behind the last event that was handled |
|             | another agent answers, or nobody                   | the next place; after the last one, waiting       |
| listening   | the event that is due                              | it is fetched, verified and kept; listening       |
|             | an event that is not due, or not believed; a reset | catching-up                                       |
|             | nothing, where something was expected              | catching-up; for a mere hint, connecting          |
|             | the end of the stream                              | waiting                                           |
| catching-up | all that the agent lists is kept                   | listening; when it is called for again, waiting   |
| waiting     | a moment, longer each time; a hint                 | connecting                                        |

What the agent shows when it is asked, and does not announce in a moment, is expected: a log that was put back to an
older state, and has gone on since, tells a reader nothing of what it lacks. Anything can fail; then everything begins
again from the last event that was dealt with, which is on the disk.

The invariant: that place moves only when everything before it is kept or reported, so that after any outage a follower
ends with every version the agent still serves, in order. What a peer can cost is bounded: events by their pace, walks
through its history by the waits between them, and what is kept by the settings.

Source: binding 8; chapter 6.7.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from dataclasses import replace

import structlog
import trio

from entryway.client import Answer, ClientError, ClientLimits, ask
from entryway.errors import EntrywayError
from entryway.feed import Message, judge_event, listen
from entryway.protections import Bucket
from node.collector import Collector
from node.following import FollowLimits, Kept, State
from node.judgment import Finding
from store import Follow, StoreError

FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0  # seconds between two tries to connect
STABLE = 30.0  # seconds a stream has to last before the next wait is short again
PATIENCE = 2.0  # seconds in which what is expected has to be announced: a peer sends what was missed at once
HINT_WAIT = 1.0  # seconds between two questions that hints call for
WALK_WAIT = 30.0  # seconds between two walks that are called for on one stream
LOOK_WAIT = 30.0  # seconds between two times that a hint has a stream looked at that seems to be well
ASK_WAIT = 5.0  # seconds for an answer: while one place is silent, others wait
EVENTS_A_SECOND, EVENTS_AT_ONCE = 20.0, 500
MOST_PLACES = 8
NEVER = 2**62  # a place no log has: the peer says where its log is

OF_THE_REPLY = ("envelope", "answers_request", "fresh", "addressed", "reply_signature", "digest")
"""The checks by which a reply is the agent's own, whatever its Descriptor is worth (`entryway.verdict`)."""

log = structlog.get_logger("following")


class _Stream:
    """What is known while one stream is open. `expected`: a digest that has to come over it.

    `patience` ends the stream at its deadline. `busy`: a message is dealt with, or the stream has not begun.
    """

    def __init__(self, expected: str | None) -> None:
        self.expected = expected
        self.expected_by_hint = False
        self.patience = trio.CancelScope()
        self.opened_at: float | None = None
        self.busy = True
        self.walked_at = -math.inf

    @property
    def may_walk(self) -> bool:
        """Whether the last walk is long enough ago."""
        return trio.current_time() - self.walked_at >= WALK_WAIT

    def await_expected(self) -> None:
        """From now on there is patience, and no more than that where something is expected."""
        self.busy = False
        self.patience.deadline = math.inf if self.expected is None else trio.current_time() + PATIENCE

    def work(self) -> None:
        """Something came, and is dealt with for as long as it takes."""
        self.busy = True
        self.patience.deadline = math.inf


class Follower:
    """One agent that is followed. `run` goes on until `scope` is canceled."""

    def __init__(
        self, follow: Follow, kept: Kept, clock: Callable[[], float], limits: Callable[[], FollowLimits]
    ) -> None:
        self.state = State.CONNECTING
        self.reason = ""
        self.scope = trio.CancelScope()
        self._clock = clock
        self._collector = Collector(follow, kept, clock, limits)
        self._stream = _Stream(None)
        self._places: tuple[str, ...] = ()
        self._hinted = trio.Event()
        self._asked_at = self._looked_at = -math.inf
        self._tries = self._new_then = 0
        self._pace: Bucket | None = None

    @property
    def follow(self) -> Follow:
        """The subscription as it stands on the disk."""
        return self._collector.follow

    def hint(self, digest: str | None, places: Iterable[str]) -> None:
        """Something says that the agent is at `places`, base URLs, and shows `digest`. It is looked at soon."""
        self._places = tuple(dict.fromkeys((*places, *self._places)))[:MOST_PLACES]
        if self.state is not State.LISTENING:
            self._hinted.set()
            return
        # A stream that seems to be well has to show that it is: what is shown elsewhere comes over it, too.
        stream, now = self._stream, trio.current_time()
        news = digest is not None and digest != self._collector.last and stream.expected is None
        if news and not stream.busy and now - self._looked_at >= LOOK_WAIT:
            self._looked_at = now
            stream.expected, stream.expected_by_hint = digest, True
            stream.await_expected()

    async def run(self) -> None:
        """Follows until it is canceled. Raises nothing."""
        with self.scope:
            while True:
                self.state = State.CONNECTING
                self._hinted = trio.Event()
                try:
                    await self._pursue()
                except (ClientError, StoreError, EntrywayError) as error:
                    self._interrupted(error.message, error.code)
                except Exception:  # the edge of the node: one faulty follower must not end the others
                    log.exception("follow_failed", id=self.follow.id)
                    self._interrupted("This node could not go on, and has logged why.", "INTERNAL")
                self.state = State.WAITING
                await self._wait()

    def _interrupted(self, reason: str, code: str) -> None:
        if not self.reason:
            log.warning("follow_interrupted", id=self.follow.id, code=code, reason=reason)
        self.reason = reason

    async def _wait(self) -> None:
        opened_at = self._stream.opened_at
        lasted = opened_at is not None and trio.current_time() - opened_at >= STABLE
        if lasted or self._collector.new != self._new_then:
            self._tries, self._new_then = 0, self._collector.new
        longest = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(self._tries, 16))
        self._tries += 1
        with trio.move_on_after(longest * random.uniform(0.5, 1.0)):  # noqa: S311  # spreads tries, guards nothing
            await self._hinted.wait()
            await trio.sleep_until(self._asked_at + HINT_WAIT)

    # Connecting.

    async def _pursue(self) -> None:
        """From the question to the end of the stream. Raises ClientError, StoreError, EntrywayError."""
        self._stream = stream = _Stream(None)
        digest = await self._find()
        known = await self._collector.shows(digest)
        stream.expected = None if known else digest
        seq = self.follow.seq
        if seq is not None and not self.follow.synced:
            await self._walk()
        try:
            with stream.patience:
                await listen(self.follow.url, NEVER if seq is None else seq, self._heard, self._opened)
        except ClientError as error:
            if stream.opened_at is not None and error.code == "UNREADABLE_REPLY" and stream.may_walk:
                await self._walk()  # what cannot be heard may be had all the same
            raise
        if not stream.patience.cancelled_caught:
            raise ClientError("UNREACHABLE", "The peer ended the stream.")
        if stream.expected_by_hint:
            self._hinted.set()
        else:
            await self._walk()

    async def _find(self) -> str | None:
        """Finds where the agent answers. Returns the digest it shows there, `None` for none. Raises ClientError."""
        self._asked_at = trio.current_time()
        limits = ClientLimits(wait=ASK_WAIT)
        failed = ClientError("UNREACHABLE", "There is no place where it could be asked.")
        # The newest hint first: it is why nobody answers where the agent was.
        for url in dict.fromkeys((*self._places[:1], self.follow.url, *self._places)):
            try:
                answer = await ask(url, expected_id=self.follow.id, limits=limits, clock=self._clock)
                await self._check(url, answer)
            except ClientError as error:
                failed = error
                continue
            if url != self.follow.url:
                await self._collector.note((), replace(self.follow, url=url))
            return answer.digest
        raise failed

    async def _check(self, url: str, answer: Answer) -> None:
        """Who answers is the agent that is followed: a place on the network is not an identity. Raises ClientError."""
        sender = (answer.envelope or {}).get("from")
        if answer.checks.get("reply_signature") and sender != self.follow.id:
            message = f"Another agent, {sender}, answers at {url}."
            if url == self.follow.url:
                await self._collector.note([Finding("conflict", message)])
            raise ClientError("UNVERIFIED", message)
        if answer.error is not None:
            raise ClientError("REFUSED", f"{url} refused ({answer.error['code']}): {answer.error['message']}")
        failed = [name for name in OF_THE_REPLY if not answer.checks.get(name, name == "digest")]
        if failed:
            why = answer.reasons.get(failed[0], "It is not whole.")
            raise ClientError("UNVERIFIED", f"What answers at {url} does not verify. {why}")

    # Listening.

    def _opened(self) -> None:
        if self.reason:
            log.info("follow_resumed", id=self.follow.id, url=self.follow.url)
        self.state, self.reason = State.LISTENING, ""
        self._stream.opened_at = trio.current_time()
        self._stream.await_expected()

    async def _heard(self, message: Message) -> None:
        self._stream.work()
        await self._keep_pace()
        if message.event == "reset":
            await self._reset(message)
        elif message.event == "descriptor.replaced":
            await self._event(message)
        self._stream.await_expected()

    async def _keep_pace(self) -> None:
        if self._pace is None:
            self._pace = Bucket(EVENTS_A_SECOND, EVENTS_AT_ONCE, trio.current_time())
        while wait := self._pace.take(trio.current_time()):  # noqa: ASYNC110  # what is waited for is time itself
            await trio.sleep(wait)

    async def _reset(self, message: Message) -> None:
        if not (message.id.isascii() and message.id.isdecimal() and len(message.id) <= 18):
            raise ClientError("UNREADABLE_REPLY", "The peer began its events anew and did not say where.")
        if self.follow.seq is not None:
            await self._collector.note([Finding("gap", "The peer's log no longer has the place that was reached.")])
        await self._walk()
        await self._collector.note((), replace(self.follow, seq=int(message.id)))

    async def _event(self, message: Message) -> None:
        announced = judge_event(message, self.follow.id)
        if isinstance(announced, str):
            await self._collector.note([Finding("bad-signature", announced)])
            await self._walk()  # what the agent did publish is had all the same
            raise ClientError("UNVERIFIED", announced)
        if self.follow.seq is not None and announced.seq <= self.follow.seq:
            return
        missed = await self._collector.missed(announced)
        if missed is not None:
            about = f"Event {announced.seq} came, and {missed} was not heard."
            await self._collector.note([Finding("gap", about)])
        if missed is not None or (not self.follow.synced and self._stream.may_walk):
            await self._walk()
        await self._collector.announced(announced)
        self._dealt_with()

    async def _walk(self) -> None:
        """Catches up with the agent's whole history.

        Raises ClientError when the peer calls for it again too soon: it is not given all of our time.
        """
        if not self._stream.may_walk:
            raise ClientError("UNREADABLE_REPLY", "The peer calls for its whole history again.")
        self._stream.walked_at = trio.current_time()
        state, self.state = self.state, State.CATCHING_UP
        await self._collector.walk()
        self.state = state
        self._dealt_with()

    def _dealt_with(self) -> None:
        if self._collector.last == self._stream.expected:
            self._stream.expected = None
