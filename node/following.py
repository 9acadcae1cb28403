"""The agents that are followed by one node: begun, ended, told that something was heard, and shown.

What following one of them means is in `follower`, which is imported when the first is followed: a node that follows
nobody does not carry an HTTP client in memory. The invariant: what is followed is a row in the store, so it is followed
again after a restart.

Source: binding 8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
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
    WAITING = "waiting"


class Kept(Protocol):
    """The store as a follower uses it: reads and writes one at a time, elsewhere than in the loop."""

    async def read(self, act: Callable[[Reader], Value]) -> Value:
        """Reads."""

    async def write(self, act: Callable[[Store], Value]) -> Value:
        """Writes, when it is this one's turn."""


@dataclass
class _Running:
    follower: Follower
    scope: trio.CancelScope


class Following:
    """All agents that are followed by one node."""

    def __init__(self, kept: Kept, clock: Callable[[], float]) -> None:
        self._kept = kept
        self._clock = clock
        self._running: dict[str, _Running] = {}
        self._nursery: trio.Nursery | None = None

    async def run(self) -> None:
        """Takes up what was followed when the node stopped, and goes on until it is canceled."""
        follows = await self._kept.read(lambda reader: reader.follows())
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            for follow in follows:
                self._start(follow)
            await trio.sleep_forever()

    async def add(self, agent_id: str, url: str) -> Follow:
        """Follows an agent from now on. One that is followed already is looked for at `url`."""
        running = self._running.get(agent_id)
        if running is not None:
            running.follower.hint(url)
            follow = running.follower.follow
            await self._kept.write(lambda store: store.put_follow(follow))
            return follow
        follow = Follow(agent_id, url, round(self._clock(), 3), None, synced=False)
        await self._kept.write(lambda store: store.put_follow(follow))
        self._start(follow)
        return follow

    async def drop(self, agent_id: str) -> bool:
        """Follows an agent no more. What was kept stays. False when it was not followed."""
        running = self._running.pop(agent_id, None)
        if running is not None:
            running.scope.cancel()
        return await self._kept.write(lambda store: store.drop_follow(agent_id))

    def hint(self, agent_id: str, _digest: str | None, places: Iterable[str]) -> None:
        """An agent has answered at `places`, base URLs: if it is followed and not listened to, it is tried there."""
        running = self._running.get(agent_id)
        if running is not None and running.follower.state is not State.LISTENING:
            running.follower.hint(next(iter(places), None))

    def document(self) -> list[Mapping[str, object]]:
        """What is followed, and how it fares."""
        return [
            follow_document(one.follower.follow, state=one.follower.state, reason=one.follower.reason)
            for one in self._running.values()
        ]

    def _start(self, follow: Follow) -> None:
        assert self._nursery is not None
        from node.follower import Follower  # noqa: PLC0415  # imported when the first agent is followed

        running = _Running(Follower(follow, self._kept, self._clock), trio.CancelScope())
        self._running[follow.id] = running
        self._nursery.start_soon(self._run, running)

    async def _run(self, running: _Running) -> None:
        with running.scope:
            await running.follower.run()


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
            {"at": one.at, "kind": one.kind, "message": one.message, "digest": one.digest} for one in follow.reports
        ],
    }
