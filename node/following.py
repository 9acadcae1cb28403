"""The agents that are followed by one node: begun, ended, told that something was heard, and shown.

What following one of them means is in `follower`, which is imported when the first is followed: a node that follows
nobody does not carry an HTTP client in memory. The invariant: what is followed is a row in the store, so it is followed
again after a restart.

Source: binding 8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeVar

import trio

from store import Follow, Reader, Store

if TYPE_CHECKING:
    from node.follower import Follower

Value = TypeVar("Value")


class State(StrEnum):
    """What a follower does just now."""

    CONNECTING = "connecting"
    LISTENING = "listening"
    CATCHING_UP = "catching-up"
    WAITING = "waiting"


class Kept(Protocol):
    """The store as a follower uses it: reads and writes one at a time, elsewhere than in the loop."""

    async def read(self, act: Callable[[Reader], Value]) -> Value:
        """Reads."""

    async def write(self, act: Callable[[Store], Value]) -> Value:
        """Writes, when it is this one's turn."""


@dataclass(frozen=True, slots=True)
class FollowLimits:
    """What is kept of one agent: versions, and bytes of all of them together."""

    versions: int
    bytes: int


class Following:
    """All agents that are followed by one node. `limits` bind what comes from now on."""

    def __init__(self, kept: Kept, clock: Callable[[], float], limits: FollowLimits) -> None:
        self.limits = limits
        self._kept = kept
        self._clock = clock
        self._followers: dict[str, Follower] = {}
        self._nursery: trio.Nursery | None = None
        # Of two who change the same subscription the second sees what the first has made of it.
        self._changing = trio.Lock()

    async def run(self) -> None:
        """Takes up what was followed when the node stopped, and goes on until it is canceled."""
        async with trio.open_nursery() as nursery:
            async with self._changing:
                for follow in await self._kept.read(lambda reader: reader.follows()):
                    self._start(follow, nursery)
                self._nursery = nursery
            await trio.sleep_forever()

    async def add(self, agent_id: str, url: str) -> Follow:
        """Follows an agent from now on. One that is followed already is looked for at `url`. Raises StoreError."""
        async with self._changing:
            follow = Follow(agent_id, url, round(self._clock(), 3), None, synced=False)
            await self._kept.write(lambda store: store.add_follow(follow))
            follower = self._followers.get(agent_id)
            if follower is not None:
                follower.hint(None, [url])
                return replace(follower.follow, url=url)
            if self._nursery is not None:
                self._start(follow, self._nursery)
            return follow

    async def drop(self, agent_id: str) -> bool:
        """Follows an agent no more. What was kept stays. False when it was not followed. Raises StoreError."""
        async with self._changing:
            dropped = await self._kept.write(lambda store: store.drop_follow(agent_id))
            follower = self._followers.pop(agent_id, None)
            if follower is not None:
                follower.scope.cancel()
            return dropped

    def hint(self, agent_id: str, digest: str | None, places: Iterable[str]) -> None:
        """An agent has answered at `places`, base URLs, and has shown `digest` there."""
        follower = self._followers.get(agent_id)
        if follower is not None:
            follower.hint(digest, places)

    def document(self) -> list[Mapping[str, object]]:
        """What is followed, and how it fares."""
        return [follow_document(one.follow, state=one.state, reason=one.reason) for one in self._followers.values()]

    def _start(self, follow: Follow, nursery: trio.Nursery) -> None:
        from node.follower import Follower  # noqa: PLC0415  # imported when the first agent is followed

        follower = Follower(follow, self._kept, self._clock, lambda: self.limits)
        self._followers[follow.id] = follower
        nursery.start_soon(follower.run)


def follow_document(follow: Follow, *, state: str, reason: str) -> dict[str, object]:
    """A subscription, as the command line shows it."""
    return {
        "id": follow.id,
        "url": follow.url,
        "since": follow.since,
        "state": state,
        "reason": reason,
        "seq": follow.seq,
        "synced": follow.synced,
        "reports": [
            {"at": one.at, "kind": one.kind, "message": one.message, "digest": one.digest, "times": one.times}
            for one in follow.reports
        ],
    }
