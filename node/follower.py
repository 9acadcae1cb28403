"""Following one agent: every version it publishes, fetched, verified and kept here.

What a follower does:

    state        until                         then
    connecting   the stream is open            listening: from behind the last event that was handled
                 it cannot be opened           waiting
    listening    an event                      fetch, verify, keep; the place moves when it is on the disk
                 a reset, or a first time      walk the peer's history, and keep what is missing, oldest first
                 the stream ends               waiting
    waiting      a moment, longer each time    connecting; at once when something says that the peer has moved on

The invariant: the place in the peer's log moves only when everything before it is kept, so that after any outage a
follower ends with every version the peer still serves, in order. What is odd is reported and never merged: the bytes
are kept as they came, and nothing is kept that the agent did not sign.

Source: binding 8; chapter 6.7.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import structlog
import trio

from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.signatures import Signature, verify_statement
from descriptor.versions import compare
from entryway.client import ClientError, ask, fetch, history
from entryway.errors import EntrywayError
from entryway.feed import Announced, Message, judge_event, listen
from node.following import Kept, State
from store import Follow, Reported, StoreError, Version

FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0  # seconds between two tries to connect
REPORTS = 50  # kept of one agent
PAGE = 100
NEVER = 2**62  # a place no log has: the peer says where its log is

log = structlog.get_logger("following")


def judge_version(descriptor: Descriptor, agent_id: str, newest: Version | None) -> tuple[str | None, str | None]:
    """What is odd about a version that is to be kept, as a kind and a sentence; and whether it is kept all the same.

    `(None, None)`: nothing. `rollback` and `two-spellings` are kept and told; `bad-signature` and `changed-subject` are
    not kept. `newest` is the version that was current here. Source: binding 8.
    """
    if descriptor.subject_id != agent_id:
        return "changed-subject", "The Descriptor is of another subject than the one that is followed."
    report = verify_statement(descriptor.members)
    if report.state is not Signature.VERIFIED:
        return "bad-signature", report.reason or "The Descriptor is not signed."
    if newest is None or newest.digest == descriptor.digest:
        return None, None
    version = descriptor.agent_version or ""
    if version == newest.agent_version:
        return "two-spellings", f"Two documents say that they are agent_version {version}."
    with suppress(DescriptorError):
        if compare(version, newest.agent_version, "natural") < 0:
            return "rollback", f"agent_version {version} comes after {newest.agent_version}, and is older."
    return None, None


NOT_KEPT = frozenset({"changed-subject", "bad-signature"})


class Follower:
    """One agent that is followed. `run` goes on until it is canceled."""

    def __init__(self, follow: Follow, kept: Kept, clock: Callable[[], float]) -> None:
        self.follow = follow
        self.state = State.CONNECTING
        self.reason = ""
        self._kept = kept
        self._clock = clock
        self._wait = FIRST_WAIT
        self._hinted = trio.Event()

    def hint(self, url: str | None = None) -> None:
        """Something says that the peer is there, perhaps elsewhere: it is tried at once."""
        if url is not None and url != self.follow.url:
            self.follow = replace(self.follow, url=url)
        self._wait = FIRST_WAIT
        self._hinted.set()

    async def run(self) -> None:
        """Follows."""
        while True:
            self.state = State.CONNECTING
            self._hinted = trio.Event()
            try:
                await self._check_agent()
                await listen(self.follow.url, NEVER if self.follow.seq is None else self.follow.seq, self._heard)
                self.reason = "The peer ended the stream."
            except ClientError as error:
                self.reason = error.message
            except (StoreError, EntrywayError) as error:
                self.reason = error.message
                log.error("follow_not_kept", id=self.follow.id, code=error.code, reason=error.message)
            self.state = State.WAITING
            with trio.move_on_after(self._wait * random.uniform(0.5, 1.0)):  # noqa: S311  # spreads tries, guards nothing
                await self._hinted.wait()
            self._wait = min(self._wait * 2, LONGEST_WAIT)

    async def _check_agent(self) -> None:
        """Who answers there is the agent that is followed: a place on the network is not an identity."""
        answer = await ask(self.follow.url, expected_id=self.follow.id, clock=self._clock)
        if answer.verified:
            return
        if answer.envelope is not None and answer.envelope.get("from") != self.follow.id:
            await self._report("conflict", "Another agent answers where the followed one was.", None)
        reasons = " ".join(answer.reasons.values()) or "It refused."
        raise ClientError("UNVERIFIED", f"What answers at {self.follow.url} does not verify. {reasons}")

    async def _heard(self, message: Message) -> None:
        self.state, self.reason, self._wait = State.LISTENING, "", FIRST_WAIT
        if message.event == "reset":
            await self._reset(message)
            return
        if message.event != "descriptor.replaced":
            return  # somebody else's business
        announced = judge_event(message, self.follow.id)
        if isinstance(announced, str):
            await self._report("bad-signature", announced, None)
            raise ClientError("UNVERIFIED", announced)
        if self.follow.seq is not None and announced.seq <= self.follow.seq:
            return
        if self.follow.seq is None or announced.seq != self.follow.seq + 1 or not self.follow.synced:
            await self._report("gap", f"Event {announced.seq} came where {(self.follow.seq or 0) + 1} was due.", None)
            await self._catch_up()
        await self._take(announced)
        await self._move(announced.seq)

    async def _reset(self, message: Message) -> None:
        if not message.id.isdecimal():
            raise ClientError("UNREADABLE_REPLY", "The peer began its events anew and did not say where.")
        if self.follow.seq is not None:
            await self._report("gap", "The peer's log no longer has the place that was reached.", None)
        await self._catch_up()
        await self._move(int(message.id))

    async def _catch_up(self) -> None:
        """Keeps every version the peer serves and this store does not, oldest first."""
        missing: list[tuple[str, float]] = []
        before: int | None = None
        while True:
            page, before = await history(self.follow.url, limit=PAGE, before=before)
            known = await self._kept.read(lambda reader: reader.digests_of(self.follow.id))
            missing += [(digest, published_at) for digest, published_at in page if digest not in known]
            if before is None:
                break
        for digest, published_at in reversed(missing):
            await self._fetch(digest, published_at)

    async def _take(self, announced: Announced) -> None:
        await self._fetch(announced.digest, announced.published_at)

    async def _fetch(self, digest: str, published_at: float) -> None:
        data = await fetch(self.follow.url, digest)
        try:
            descriptor = Descriptor.read(data)
        except DescriptorError as error:
            await self._report("bad-signature", error.message, digest)
            return
        newest = await self._kept.read(lambda reader: reader.current(self.follow.id))
        kind, message = judge_version(descriptor, self.follow.id, newest)
        if kind is not None and message is not None:
            await self._report(kind, message, digest)
        if kind in NOT_KEPT:
            return
        added = await self._kept.write(
            lambda store: store.keep(
                data=data,
                digest=digest,
                subject=self.follow.id,
                agent_version=descriptor.agent_version or "",
                published_at=published_at,
                current=True,
            )
        )
        if added:
            log.info("version_kept", id=self.follow.id, agent_version=descriptor.agent_version, digest=digest)

    async def _move(self, seq: int) -> None:
        await self._put(replace(self.follow, seq=seq, synced=True))

    async def _report(self, kind: str, message: str, digest: str | None) -> None:
        log.warning("follow_report", id=self.follow.id, kind=kind, reason=message, digest=digest)
        last = self.follow.reports[-1] if self.follow.reports else None
        if last is not None and (last.kind, last.digest, last.message) == (kind, digest, message):
            return
        reports = (*self.follow.reports, Reported(round(self._clock(), 3), kind, message, digest))[-REPORTS:]
        await self._put(replace(self.follow, reports=reports))

    async def _put(self, follow: Follow) -> None:
        self.follow = follow
        await self._kept.write(lambda store: store.put_follow(follow))
