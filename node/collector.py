"""What one agent publishes, brought here: fetched, verified, judged, and put on the disk.

The invariant: how far a follower has come, the version that brought it there and what there is to report of it are one
transaction (`Store.take_in`), so that a crash between any two steps loses nothing and repeats nothing. Nothing is kept
that the agent did not sign, and no more than the settings allow.

Source: binding 8; chapter 6.7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import structlog
import trio

from descriptor.document import Descriptor
from entryway.client import ClientError, fetch, history
from entryway.feed import Announced
from entryway.verdict import shown
from node.following import FollowLimits, Kept
from node.judgment import Finding, read_version, rollback, two_spellings, with_findings
from store import Copy, Follow, Standing

BUSY_WAIT, BUSY_TRIES = 1.0, 60  # seconds until a peer that answers RATE_LIMITED is asked again, and how often it is
PAGE = 100
MOST_LISTED = 10_000  # versions taken from one walk through a history
TRIES = 3  # for a version that does not come whole, before the rest is gone on with

OF_THE_WAY = frozenset({"UNREACHABLE", "TIMEOUT", "UNREADABLE_REPLY"})
"""Codes that say something about the way or the moment; the others say something about the version."""

log = structlog.get_logger("following")


class Collector:
    """The versions of one agent.

    `follow`: the subscription as it stands on the disk. `last`: the digest that was dealt with last, kept or not, since
    the agent was last asked; `None` before any. `new`: how many versions have been kept.
    """

    def __init__(
        self, follow: Follow, kept: Kept, clock: Callable[[], float], limits: Callable[[], FollowLimits]
    ) -> None:
        self.follow = follow
        self.last: str | None = None
        self.new = 0
        self._kept = kept
        self._clock = clock
        self._limits = limits
        self._given_up: str | None = None
        self._failing = ("", 0)
        self._holes = False

    async def shows(self, digest: str | None) -> bool:
        """The agent itself shows a version, `None` for none. True when that is nothing new; then it is current here."""
        if digest is None:
            current = await self._kept.read(lambda reader: reader.current(self.follow.id))
            if current is not None:
                await self.note([Finding("rollback", "It shows no version any more.", current.digest)])
            return True
        standing = await self._standing(digest)
        if standing.kept and standing.current_digest != digest:
            await self._take(standing, digest, None)
        known = standing.kept or digest == self._given_up
        self.last = digest if known else None
        return known

    async def missed(self, announced: Announced) -> str | None:
        """What should have come before an event and did not; `None` where nothing is missing."""
        due = (self.follow.seq or 0) + 1
        if announced.seq != due:
            return f"event {due}"
        previous = announced.previous_digest
        if previous is None or previous == self.last or (await self._standing(previous)).kept:
            return None
        return "the version that it replaced"

    async def announced(self, announced: Announced) -> None:
        """Keeps what an event announces, and deals with the event. Raises ClientError, StoreError, EntrywayError."""
        standing = await self._standing(announced.digest)
        copy, found = await self._obtained(standing, announced.digest, announced.published_at)
        # A walk is ahead of the events that led to it: what they announced has been replaced already.
        at = standing.current_published_at
        past = standing.kept and at is not None and announced.published_at < at
        await self._take(standing, announced.digest, copy, found, current=not past, seq=announced.seq)

    async def walk(self) -> None:
        """Keeps every version that the agent lists and this store does not have, the oldest first.

        Raises ClientError, StoreError, EntrywayError.
        """
        self._holes = False
        listed = await self._listed()
        known = await self._kept.read(lambda reader: reader.digests_of(self.follow.id))
        for digest, published_at in reversed(listed):
            newest = digest == listed[0][0]
            if newest or digest not in known:
                standing = await self._standing(digest)
                copy, found = await self._obtained(standing, digest, published_at)
                await self._take(standing, digest, copy, found, current=newest)
        if self.follow.synced == self._holes:
            await self.note((), replace(self.follow, synced=not self._holes))

    async def _listed(self) -> list[tuple[str, float]]:
        """The digests of the agent's history and when each was published, newest first."""
        listed: list[tuple[str, float]] = []
        before: int | None = None
        for _ in range(MOST_LISTED // PAGE):
            page, before = await history(self.follow.url, limit=PAGE, before=before)
            listed += page[:PAGE]
            if before is None:
                return listed
        message = f"It lists more than {MOST_LISTED} versions; those before them are not kept."
        await self.note([Finding("too-much", message)])
        return listed

    async def _standing(self, digest: str) -> Standing:
        return await self._kept.read(lambda reader: reader.standing(self.follow.id, digest))

    async def _obtained(
        self, standing: Standing, digest: str, published_at: float
    ) -> tuple[Copy | None, list[Finding]]:
        """A version that is not kept yet, verified, or `None`; and what there is to report of it."""
        if standing.kept:
            return None, []
        limits = self._limits()
        if standing.versions >= limits.versions or standing.size >= limits.bytes:
            return None, [_too_much(standing)]
        try:
            data = await self._fetched(digest)
        except ClientError as error:
            if error.code in OF_THE_WAY and not self._failed_often(digest):
                raise
            return None, [Finding("gap", f"A version that is announced cannot be had. {error.message}", digest)]
        if standing.size + len(data) > limits.bytes:
            return None, [_too_much(standing)]
        # To verify a document of 1 MiB takes a moment for which nobody else shall wait.
        descriptor = await trio.to_thread.run_sync(read_version, data, digest, self.follow.id)
        if not isinstance(descriptor, Descriptor):
            return None, [descriptor]
        agent_version = descriptor.agent_version or ""
        other = await self._kept.read(lambda reader: reader.spelled(self.follow.id, agent_version, digest))
        odd = two_spellings(digest, agent_version, other)
        return Copy(data, digest, agent_version, published_at), [] if odd is None else [odd]

    async def _fetched(self, digest: str) -> bytes:
        tries = 1
        while True:
            try:
                return await fetch(self.follow.url, digest)
            except ClientError as error:
                if (error.error or {}).get("code") != "RATE_LIMITED" or tries == BUSY_TRIES:
                    raise
            tries += 1
            await trio.sleep(BUSY_WAIT)

    def _failed_often(self, digest: str) -> bool:
        failing, times = self._failing
        self._failing = (digest, times + 1 if failing == digest else 1)
        return self._failing[1] >= TRIES

    async def _take(
        self,
        standing: Standing,
        digest: str,
        copy: Copy | None,
        found: Iterable[Finding] = (),
        *,
        current: bool = True,
        seq: int | None = None,
    ) -> None:
        """Puts on the disk that a version is dealt with, and `seq`, the number of the event that announced it."""
        found = list(found)
        agent_version = standing.agent_version if copy is None else copy.agent_version
        odd = rollback(digest, agent_version, standing) if current and agent_version is not None else None
        if odd is not None:
            found.append(odd)
        follow = self.follow if seq is None else replace(self.follow, seq=seq)
        if any(one.kind in ("gap", "too-much") for one in found):
            self._holes = True
            follow = replace(follow, synced=False)
        await self.note(found, follow, copy, digest if current else None)
        self.last = digest
        if copy is not None:
            self.new += 1
            log.info("version_kept", id=self.follow.id, agent_version=shown(copy.agent_version), digest=digest)
        elif not standing.kept:
            self._given_up = digest

    async def note(
        self,
        found: Iterable[Finding],
        follow: Follow | None = None,
        copy: Copy | None = None,
        current: str | None = None,
    ) -> None:
        """Puts on the disk, in one transaction, how far this one has come and what there is to report.

        Raises StoreError.
        """
        found, before = list(found), self.follow.reports
        follow = follow or self.follow
        if found:
            follow = replace(follow, reports=with_findings(before, found, round(self._clock(), 3)))
        await self._kept.write(lambda store: store.take_in(follow, copy=copy, current=current))
        self.follow = follow
        for one in found:
            known = any((other.kind, other.digest) == (one.kind, one.digest) for other in before)
            tell = log.debug if known else log.warning
            tell("follow_report", id=self.follow.id, kind=one.kind, reason=one.message, digest=one.digest)


def _too_much(standing: Standing) -> Finding:
    kept = f"{standing.versions} versions of {standing.size} bytes are kept of this agent already"
    return Finding("too-much", f"A version is not kept: {kept}. The settings of [following] say how many may be.")
