"""Whatever happens to a peer and to the node that follows it, in the end all that the peer serves is kept, in order.

The follower and the store are real; the peer is a model to which anything happens, and time passes when nobody acts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar
from unittest import mock

import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st

from descriptor.digests import digest_of
from descriptor.document import Descriptor
from descriptor.publishing import Terms
from entryway.client import ClientError
from entryway.feed import Message
from node import collector, follower
from node.follower import Follower
from node.following import FollowLimits
from node.publisher import replaced_event
from store import Follow, Reader, Store
from tests.entryway.parts import NOW, OWNER, document

Value = TypeVar("Value")
HERE = "http://192.0.2.1:7420"
AWAY = ClientError("UNREACHABLE", "away")
MUCH = 10_000.0  # seconds in which everything comes to rest


@cache
def made(number: int) -> bytes:
    return document(agent_version=str(number))


@dataclass
class Peer:
    """A node as a follower meets it. A restore takes its versions, its log and its counting back."""

    up: bool = True
    versions: list[str] = field(default_factory=list)
    log: list[Message] = field(default_factory=list)
    given: int = 0
    made: int = 0
    unserved: set[str] = field(default_factory=set)
    saved: list[tuple[list[str], list[Message], int]] = field(default_factory=list)
    data: dict[str, bytes] = field(default_factory=dict)
    life: int = 0
    """Streams end with the life they began in."""
    changed: trio.Event = field(default_factory=trio.Event)

    @property
    def current(self) -> str | None:
        return self.versions[-1] if self.versions else None

    def stir(self) -> None:
        self.changed.set()
        self.changed = trio.Event()

    def publish(self) -> None:
        self.saved.append(([*self.versions], [*self.log], self.given))
        self.made, self.given = self.made + 1, self.given + 1
        data = made(self.made)
        digest = digest_of(data)
        self.data[digest] = data
        line = replaced_event(Descriptor.read(data), Terms(OWNER), self.current, NOW + self.made, self.given)
        self.versions.append(digest)
        self.log.append(Message("descriptor.replaced", str(self.given), line))
        self.stir()

    def restore(self, number: int) -> None:
        if self.saved:
            versions, events, self.given = self.saved[number % len(self.saved)]
            self.versions, self.log = [*versions], [*events]
            self.cut()

    def forget(self) -> None:
        """The log is cut at its beginning."""
        del self.log[: len(self.log) // 2]
        self.cut()

    def cut(self) -> None:
        self.life += 1
        self.stir()

    # What a follower asks of it.

    async def ask(self, _url: str, **_how: Any) -> Any:
        await self._there()
        checks = dict.fromkeys(follower.OF_THE_REPLY, True)
        return SimpleNamespace(checks=checks, envelope={"from": OWNER.id}, digest=self.current, error=None, reasons={})

    async def fetch(self, _url: str, digest: str) -> bytes:
        await self._there()
        if digest not in self.versions or digest in self.unserved:
            raise ClientError("REFUSED", "There is none.")
        return self.data[digest]

    async def history(self, _url: str, *, limit: int, before: int | None = None) -> Any:
        await self._there()
        end = len(self.versions) if before is None else before - 1
        begin = max(0, end - limit)
        at = {digest: NOW + int(Descriptor.read(self.data[digest]).agent_version or 0) for digest in self.versions}
        page = tuple((digest, at[digest]) for digest in reversed(self.versions[begin:end]))
        return page, begin + 1 if begin else None

    async def listen(
        self, _url: str, after: int, heard: Callable[[Message], Awaitable[None]], opened: Callable[[], None]
    ) -> None:
        await self._there()
        life = self.life
        opened()
        while True:
            if not self.up or self.life != life:
                raise AWAY
            changed = self.changed
            message = self._next(after)
            if message is None:
                await changed.wait()
            else:
                await heard(message)
                after = int(message.id)

    def _next(self, after: int) -> Message | None:
        following = [one for one in self.log if int(one.id) > after]
        if following and int(following[0].id) == after + 1:
            return following[0]
        return None if not following and after == self.given else Message("reset", str(self.given), "{}")

    async def _there(self) -> None:
        await trio.sleep(0.01)
        if not self.up:
            raise AWAY


class Node:
    """The follower, begun anew from what is on the disk. Implements `node.following.Kept`."""

    def __init__(self, store: Store, reader: Reader, nursery: trio.Nursery) -> None:
        self._store, self._reader, self._nursery = store, reader, nursery
        store.add_follow(Follow(OWNER.id, HERE, NOW, None, synced=False))
        self.begin()

    def begin(self) -> None:
        (follow,) = self._reader.follows()
        self.follower = Follower(follow, self, lambda: NOW, lambda: FollowLimits(1000, 2**24))
        self._nursery.start_soon(self.follower.run)

    def crash(self) -> None:
        self.follower.scope.cancel()
        self.begin()

    async def read(self, act: Callable[[Reader], Value]) -> Value:
        await trio.lowlevel.checkpoint()
        return act(self._reader)

    async def write(self, act: Callable[[Store], Value]) -> Value:
        await trio.lowlevel.checkpoint()
        return act(self._store)

    @property
    def kept(self) -> list[str]:
        return [version.digest for version in reversed(self._reader.history(OWNER.id, 500)[0])]

    @property
    def current(self) -> str | None:
        current = self._reader.current(OWNER.id)
        return None if current is None else current.digest

    @property
    def kinds(self) -> set[str]:
        return {report.kind for report in self.follower.follow.reports}


Step = tuple[str, int]


async def happen(peer: Peer, node: Node, name: str, number: int) -> None:
    match name:
        case "publish":
            peer.publish()
        case "cut":
            peer.cut()
        case "down" | "up":
            peer.up = name == "up"
            peer.cut()
        case "crash":
            node.crash()
        case "restore":
            peer.restore(number)
        case "forget":
            peer.forget()
        case "unserve":
            peer.unserved.update(peer.versions[number % 5 :: 5])
        case "hint":
            node.follower.hint(peer.current, [HERE])
        case "wrong-hint":
            node.follower.hint(digest_of(str(number).encode()), [HERE])
        case "moment":
            await trio.sleep(0.01 * number)
        case "while":
            await trio.sleep(number * 5.0)


async def _at_once(act: Callable[..., Value], *arguments: Any) -> Value:
    await trio.lowlevel.checkpoint()
    return act(*arguments)


@contextmanager
def patched(peer: Peer) -> Iterator[None]:
    with (
        mock.patch.multiple(follower, ask=peer.ask, listen=peer.listen),
        mock.patch.multiple(collector, fetch=peer.fetch, history=peer.history, PAGE=3),
        mock.patch("trio.to_thread.run_sync", _at_once),  # the clock would go on while a thread works
    ):
        yield


def played(script: list[Step], end: Callable[[Peer, Node], None]) -> None:
    async def play() -> None:
        peer = Peer()
        with tempfile.TemporaryDirectory() as directory, patched(peer):
            path = Path(directory) / "node.db"
            with Store.open(path) as store, Reader.open(path) as reader:
                store._connection.execute("PRAGMA synchronous = OFF")  # what a disk promises is not the matter here
                async with trio.open_nursery() as nursery:
                    node = Node(store, reader, nursery)
                    for name, number in script:
                        await happen(peer, node, name, number)
                    peer.up, peer.unserved = True, set()
                    peer.cut()
                    await trio.sleep(MUCH)
                    end(peer, node)
                    nursery.cancel_scope.cancel()

    trio.run(play, clock=trio.testing.MockClock(autojump_threshold=0))


def scripts(*names: str) -> st.SearchStrategy[list[Step]]:
    return st.lists(st.tuples(st.sampled_from(names), st.integers(0, 12)), max_size=40)


OUTAGES = ("publish", "publish", "cut", "down", "up", "crash", "hint", "moment", "while")


def has_all(peer: Peer, node: Node) -> None:
    assert set(peer.versions) <= set(node.kept)
    assert node.current == peer.current or not peer.versions
    assert (node.follower.state, node.follower.follow.synced) == ("listening", True)


def has_all_in_order(peer: Peer, node: Node) -> None:
    has_all(peer, node)
    assert [digest for digest in node.kept if digest in peer.versions] == peer.versions


def has_all_and_nothing_to_report(peer: Peer, node: Node) -> None:
    has_all_in_order(peer, node)
    assert node.kept == peer.versions
    assert node.kinds == set()


@settings(max_examples=60, deadline=None)
@given(scripts(*OUTAGES))
def test_after_any_outage_every_version_is_kept_in_order_and_nothing_is_reported(script: list[Step]) -> None:
    played(script, has_all_and_nothing_to_report)


@settings(max_examples=100, deadline=None)
@given(scripts(*OUTAGES, "restore", "forget", "wrong-hint"))
def test_after_resets_and_restores_too_every_version_that_is_served_is_kept_in_order(script: list[Step]) -> None:
    played(script, has_all_in_order)


@settings(max_examples=60, deadline=None)
@given(scripts(*OUTAGES, "restore", "forget", "unserve"))
def test_what_was_not_served_for_a_while_is_kept_when_it_is(script: list[Step]) -> None:
    played(script, has_all)


@pytest.mark.parametrize(
    ("script", "kinds"),
    [
        ("publish while down publish publish publish up", set()),
        ("publish publish while down restore up", {"rollback", "gap"}),
        ("publish publish publish while down restore publish publish publish publish up while", {"gap"}),
        ("publish while down publish publish publish publish forget up while", {"gap"}),
        ("publish while unserve crash while publish while", set()),
    ],
)
def test_what_is_odd_about_an_outage_is_reported_and_no_more(script: str, kinds: set[str]) -> None:
    def end(peer: Peer, node: Node) -> None:
        has_all_in_order(peer, node)
        assert node.kinds == kinds

    played([(name, 2 if name == "while" else 1) for name in script.split()], end)
