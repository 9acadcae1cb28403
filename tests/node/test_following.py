"""Followers at work: a real store, a real door at the other end, and a peer that does what peers do."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs

from descriptor.digests import digest_of
from descriptor.document import Descriptor
from descriptor.keys import Identity
from descriptor.publishing import Terms
from entryway.client import ClientError
from entryway.feed import Message, listen
from entryway.protections import AddressLimits
from node import collector
from node.archive import StoreArchive, StoreKept
from node.following import Following, FollowLimits
from node.publisher import replaced_event
from store import Reader, Store, StoreError
from tests.entryway.parts import NOW, OTHER, OWNER, document
from tests.node.followed import Peer, on, on_events

SOON = 30.0
"""Seconds: many times what anything here takes on a loaded machine."""
pytestmark = pytest.mark.filterwarnings("ignore:.*unclosed <socket")  # httpcore forgets the one that broke


class Home:
    """The store of a node that follows."""

    def __init__(self, path: Path) -> None:
        self.store = Store.open(path)
        self.reader = Reader.open(path)
        self.limits = FollowLimits(versions=1000, bytes=2**24)
        self.following: Following
        self._followers_reader = Reader.open(path)

    def close(self) -> None:
        for one in (self.store, self.reader, self._followers_reader):
            one.close()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Following]:
        """The followers of the node, until the block is left."""
        archive = StoreArchive(self._followers_reader, OTHER.id)
        kept = StoreKept(self.store, archive, trio.CapacityLimiter(1))
        self.following = Following(kept, lambda: NOW, self.limits)
        with trio.fail_after(4 * SOON):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(archive.run)
                nursery.start_soon(self.following.run)
                await settle(lambda: self.following._nursery is not None)
                yield self.following
                nursery.cancel_scope.cancel()

    @asynccontextmanager
    async def followed(self, peer: Peer, **how: Any) -> AsyncIterator[str]:
        """The node follows a peer, and has all of it, when the block begins."""
        async with peer.at(**how) as url, self.running() as following:
            await following.add(peer.identity.id, url)
            await settle(lambda: self.kept() == peer.digests)
            await self.listening()
            yield url

    async def listening(self) -> None:
        await settle(lambda: self.state == "listening" and self.follow["seq"] is not None)

    def kept(self, subject: str = OWNER.id) -> list[str]:
        """The digests in the history of a subject, the oldest first."""
        return [version.digest for version in reversed(self.reader.history(subject, 500)[0])]

    @property
    def current(self) -> str | None:
        current = self.reader.current(OWNER.id)
        return None if current is None else current.digest

    @property
    def follow(self) -> dict[str, Any]:
        """The one that is followed."""
        (document,) = self.following.document()
        return dict(document)

    @property
    def state(self) -> str:
        return str(self.follow["state"])

    @property
    def kinds(self) -> set[str]:
        """What was reported, on the disk."""
        return {report.kind for follow in self.reader.follows() for report in follow.reports}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path / "node.db")
    yield home
    home.close()


@pytest.fixture
def peer() -> Peer:
    peer = Peer()
    for number in range(1, 4):
        peer.publish(str(number))
    return peer


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("node.follower.PATIENCE", 0.3)
    monkeypatch.setattr("node.follower.FIRST_WAIT", 0.02)
    monkeypatch.setattr("node.follower.HINT_WAIT", 0.02)
    monkeypatch.setattr("node.follower.WALK_WAIT", 0.0)


async def settle(condition: Callable[[], Any]) -> None:
    with trio.fail_after(SOON):
        while not condition():
            await trio.sleep(0.005)


def sse(line: str, number: int) -> bytes:
    return f"event: descriptor.replaced\nid: {number}\ndata: {line}\n\n".encode()


# The way it should go.


async def test_every_version_is_kept_and_then_each_as_it_comes(home: Home, peer: Peer) -> None:
    async with home.followed(peer):
        newest = peer.publish("4")
        await settle(lambda: home.follow["seq"] == 4)
        assert (home.kept(), home.current, home.follow["synced"]) == (peer.digests, newest, True)
        assert home.reader.artifact(newest) == peer.archive.artifacts[newest]
        assert home.follow["reports"] == []


async def test_an_agent_that_has_published_nothing_is_followed_until_it_does(home: Home) -> None:
    peer = Peer()
    async with home.followed(peer):
        peer.publish("1")
        await settle(lambda: home.kept() == peer.digests)


async def test_after_a_start_it_goes_on_where_it_stood_and_fetches_nothing_twice(home: Home, peer: Peer) -> None:
    async with home.followed(peer):
        pass
    for number in range(4, 34):
        peer.publish(str(number))
    peer.asked.clear()
    async with peer.at() as url, home.running() as following:
        following.hint(OWNER.id, None, [url])
        await settle(lambda: home.kept() == peer.digests and home.state == "listening")
    assert sum(one.startswith("GET /descriptors/") for one in peer.asked) == 30
    assert "GET /descriptors" not in peer.asked  # no walk
    assert home.kinds == set()


async def test_two_are_followed_at_once_and_neither_is_the_others(home: Home, peer: Peer) -> None:
    other = Peer(Identity.generate())
    async with peer.at() as first, other.at() as second, home.running() as following:
        await following.add(OWNER.id, first)
        await following.add(other.identity.id, second)
        for number in range(4, 9):
            for one in (peer, other):
                one.publish(str(number))
        await settle(lambda: home.kept() == peer.digests and home.kept(other.identity.id) == other.digests)
        assert await following.drop(OWNER.id)
        peer.publish("9")
        other.publish("9")
        await settle(lambda: home.kept(other.identity.id) == other.digests)
        assert home.kept() == peer.digests[:-1]  # kept, and not followed
        assert not await following.drop(OWNER.id)


async def test_two_nodes_follow_each_other(tmp_path: Path) -> None:
    # Each keeps the other's versions in the very store that its own events are in.
    peers = [Peer(OWNER), Peer(OTHER)]
    homes = [Home(tmp_path / "a.db"), Home(tmp_path / "b.db")]
    try:
        async with peers[0].at() as first, peers[1].at() as second, homes[0].running(), homes[1].running():
            await homes[0].following.add(OTHER.id, second)
            await homes[1].following.add(OWNER.id, first)
            for number in range(5):
                for peer in peers:
                    peer.publish(str(number))
            await settle(lambda: homes[0].kept(OTHER.id) == peers[1].digests)
            await settle(lambda: homes[1].kept(OWNER.id) == peers[0].digests)
            assert all(home.reader.last_event_seq() == 0 for home in homes)
    finally:
        for home in homes:
            home.close()


# What a peer does, and should not.


@asynccontextmanager
async def reported(home: Home, *kinds: str) -> AsyncIterator[None]:
    """What is reported in the block: on the disk, in the log once each, and in what is shown."""
    with capture_logs() as logs:
        yield

        def logged() -> set[str]:
            return {line["kind"] for line in logs if line["event"] == "follow_report"}

        await settle(lambda: home.kinds == set(kinds) == logged())
    assert {report["kind"] for report in home.follow["reports"]} == set(kinds)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("bad-signature", document(agent_version="4", sign=False)),
        ("bad-signature", document(agent_version="4").replace(b"receipts", b"diaries.")),
        ("changed-subject", document(OTHER, agent_version="4")),
    ],
)
async def test_what_the_agent_did_not_sign_as_its_own_is_reported_and_not_kept_and_the_next_is(
    home: Home, peer: Peer, kind: str, data: bytes
) -> None:
    async with home.followed(peer):
        async with reported(home, kind):
            wrong = peer.publish("4", data)
        peer.publish("5")
        await settle(lambda: home.follow["seq"] == 5)
        assert home.kept() == [one for one in peer.digests if one != wrong]
        assert (home.reader.artifact(wrong), home.kept(OTHER.id)) == (None, [])


async def test_two_spellings_of_one_agent_version_are_both_kept_and_reported(home: Home, peer: Peer) -> None:
    async with home.followed(peer), reported(home, "two-spellings"):
        peer.publish("3", document(agent_version="3", does="Otherwise."))
        await settle(lambda: home.kept() == peer.digests)
        assert home.current == peer.digests[-1]


async def test_an_older_version_than_the_last_is_kept_and_reported(home: Home, peer: Peer) -> None:
    async with home.followed(peer):
        peer.publish("3.10")
        await settle(lambda: home.kept() == peer.digests)
        async with reported(home, "rollback"):
            older = peer.publish("3.9")
        assert (home.kept(), home.current) == (peer.digests, older)


async def test_a_peer_that_was_restored_from_a_backup_is_reported_and_followed_on(home: Home, peer: Peer) -> None:
    async with home.followed(peer):
        pass
    lost = peer.digests[-1]
    peer.restore(2)
    async with peer.at() as url, home.running() as following:
        following.hint(OWNER.id, None, [url])
        await settle(lambda: home.current == peer.digests[1])
        assert home.kinds - {"gap"} == {"rollback"}  # that its log ends earlier may be seen before or after
        peer.publish("3", document(agent_version="3", does="Otherwise."))
        peer.publish("4")
        await settle(lambda: home.current == peer.digests[-1])
        assert home.kept() == [*peer.digests[:2], lost, *peer.digests[2:]]
        assert {"rollback", "two-spellings"} <= home.kinds


async def test_a_restore_that_was_published_over_while_nobody_listened_is_found_by_what_is_shown(
    home: Home, peer: Peer
) -> None:
    async with home.followed(peer):
        pass
    peer.restore(2)
    peer.publish("5")  # event 3 again, and another one
    async with peer.at() as url, home.running() as following:
        following.hint(OWNER.id, None, [url])
        await settle(lambda: home.current == peer.digests[-1])
        assert "GET /descriptors" in peer.asked


async def test_a_log_that_no_longer_goes_back_so_far_is_made_good_by_a_walk(
    home: Home, peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with home.followed(peer):
        pass
    monkeypatch.setattr("node.collector.PAGE", 7)
    for number in range(4, 41):
        peer.publish(str(number))
    del peer.events[:30]
    async with peer.at() as url, home.running() as following:
        following.hint(OWNER.id, None, [url])
        await settle(lambda: home.kept() == peer.digests)
        await settle(lambda: home.follow["seq"] == 40)
        assert (home.kinds, home.follow["synced"]) == ({"gap"}, True)
        newest = peer.publish("41")
        await settle(lambda: home.current == newest)


async def test_a_version_that_is_not_served_stops_nothing_and_is_had_when_it_is(home: Home, peer: Peer) -> None:
    async with home.followed(peer):
        data = document(agent_version="4")
        async with reported(home, "gap"):
            missing = peer.publish("4", data, served=False)
        newest = peer.publish("5")
        await settle(lambda: home.current == newest)
        assert (missing in home.kept(), home.follow["synced"]) == (False, False)
        peer.archive.artifacts[missing] = data
        peer.publish("6")
        await settle(lambda: set(home.kept()) == set(peer.digests))
        await settle(lambda: home.follow["synced"])
        assert home.current == peer.digests[-1]


async def test_bytes_that_are_not_the_ones_that_were_announced_are_not_kept(home: Home, peer: Peer) -> None:
    async with home.followed(peer):
        data = document(agent_version="4")
        peer.archive.artifacts[digest_of(data)] = document(agent_version="5")
        async with reported(home, "gap"):
            peer.publish("4", data, served=False)
        assert home.kept() == peer.digests[:-1]
        assert "have the digest" in home.follow["reports"][0]["message"]


def forged(peer: Peer, how: str) -> str:
    """The line of an event 4 that is not the agent's own word."""
    descriptor = Descriptor.read(document(agent_version="4"))
    if how == "foreign":
        return replaced_event(descriptor, Terms(OTHER), peer.digests[-1], NOW, 4)
    line = peer.line(descriptor, 4 if how == "changed" else 9, peer.digests[-1], NOW)
    return line.replace('"agent_version":"4"', '"agent_version":"5"') if how == "changed" else line


@pytest.mark.parametrize("how", ["foreign", "changed", "another number", "nothing"])
async def test_an_event_that_is_not_believed_moves_nothing_and_what_is_served_is_had_all_the_same(
    home: Home, peer: Peer, how: str
) -> None:
    async with home.followed(peer):
        async with reported(home, "bad-signature"):
            peer.publish("4", line="{}" if how == "nothing" else forged(peer, how))
        await settle(lambda: home.kept() == peer.digests)
        assert home.follow["seq"] == 3
        peer.publish("5")
        await settle(lambda: home.kept() == peer.digests)
        assert home.follow["seq"] == 3  # the event that nobody can believe is in the way for as long as it is there


# A peer that costs what it can.


async def test_no_more_versions_are_kept_of_one_agent_than_may_be(home: Home, peer: Peer) -> None:
    home.limits = FollowLimits(versions=5, bytes=2**24)
    async with home.followed(peer):
        async with reported(home, "too-much"):
            for number in range(4, 30):
                peer.publish(str(number))
            await settle(lambda: home.follow["seq"] == 29)
        assert home.kept() == peer.digests[:5]
        fetched = sum(one.startswith("GET /descriptors/") for one in peer.asked)
        assert fetched == 5
        home.following.limits = FollowLimits(versions=100, bytes=2**24)
        peer.publish("30")
        await settle(lambda: home.kept() == peer.digests)


async def test_no_more_bytes_are_kept_of_one_agent_than_may_be(home: Home, peer: Peer) -> None:
    home.limits = FollowLimits(versions=1000, bytes=1_000_000)
    async with home.followed(peer), reported(home, "too-much"):
        for number in range(4, 10):
            peer.publish(str(number), document(agent_version=str(number), notes="x" * 300_000))
        await settle(lambda: home.follow["seq"] == 9)
        assert home.kept() == peer.digests[:6]


async def test_a_flood_of_events_is_taken_at_a_pace(home: Home, peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("node.follower.EVENTS_AT_ONCE", 20)
    async with home.followed(peer):
        began = trio.current_time()
        for number in range(4, 104):
            peer.publish(str(number))
        await settle(lambda: home.follow["seq"] >= 60)
        assert trio.current_time() - began > 1.5  # 37 more than at once, 20 a second


@pytest.mark.parametrize("filler", [b":\n", b"\n", b"\r", b"id: 1\n", b"event: news\n\n"], ids=repr)
async def test_a_flood_of_what_is_no_event_is_read_at_a_pace(
    peer: Peer, filler: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("entryway.feed.UNITS_AT_ONCE", 64)
    peer.mean = on_events(*[filler * (32_768 // len(filler)) + b"\ndata: x\n\n"] * 50)
    heard: list[float] = []

    async def hear(_message: Message) -> None:
        heard.append(trio.current_time())
        if len(heard) == 8:
            scope.cancel()

    async with peer.at() as url:
        began = trio.current_time()
        with trio.move_on_after(SOON) as scope:
            await listen(url, None, hear)
    assert heard[-1] - began > 2.0  # three times as much as at once, 64 KiB a second


async def test_whoever_calls_for_its_whole_history_again_and_again_is_asked_ever_less(
    home: Home, peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("node.follower.WALK_WAIT", 30.0)
    peer.mean = on_events(*[b'event: reset\nid: 3\ndata: {"seq":3}\n\n'] * 1000)
    async with peer.at() as url, home.running() as following:
        await following.add(OWNER.id, url)
        await settle(lambda: home.kept() == peer.digests)
        began = trio.current_time()
        await settle(lambda: peer.asked.count("GET /events") == 6)
        assert trio.current_time() - began > 0.02 * (1 + 2 + 4 + 8) / 2
        assert peer.asked.count("GET /descriptors") <= 6


FAR = 10**6
MEAN: dict[str, Any] = {
    "lines without end": on_events(*[b"x" * 65_536] * 50),
    "events without end": on_events(*[b"data: x\n" * 8192] * 50),
    "no text": on_events(b"data: \xff\xfe\n\n"),
    "gzip": on_events(b"\x1f\x8b\x08\x00", headers=[("Content-Encoding", "gzip")]),
    "the end at once": on_events(over=True),
    "a redirect": on(b"/events", 302, headers=[("Location", "http://127.0.0.1:1/events")]),
    "a page": on(b"/events", 200, b"<html>", [("Content-Type", "text/html")]),
    "a refusal": on(b"/events", 503),
    "a reset to nowhere": on_events(b'event: reset\ndata: {"seq":3}\n\n'),
    "a reset to no number": on_events("event: reset\nid: \u0663\ndata: {}\n\n".encode()),
    "a reset beyond all numbers": on_events(b"event: reset\nid: " + b"9" * 60 + b"\ndata: {}\n\n"),
    "other events": on_events(*[b"event: news\nid: 1\ndata: {}\n\n"] * 50, over=True),
    "a slow drip": on_events(*[piece for _ in range(20) for piece in (b"d", 0.01)], over=True),
}


@pytest.mark.parametrize("how", MEAN)
async def test_a_feed_that_is_none_is_waited_for_and_followed_when_it_is_one(home: Home, peer: Peer, how: str) -> None:
    async with home.followed(peer) as url:
        peer.mean = MEAN[how]
        for reader in list(peer.feed.subscribers):
            reader.cut()
        came = len(peer.asked)
        await settle(lambda: peer.asked[came:].count("GET /events") >= 2 and home.follow["reason"])
        assert (home.kept(), home.follow["seq"]) == (peer.digests, 3)
        assert home.follow["reason"].isprintable()
        peer.mean = None
        newest = peer.publish("4")
        home.following.hint(OWNER.id, newest, [url])
        await settle(lambda: home.current == newest)


async def test_a_feed_that_does_not_begin_is_given_up(home: Home, peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("entryway.feed.CONNECT", 0.2)
    asked = 0

    async def drip(stream: trio.SocketStream) -> None:
        nonlocal asked
        asked += 1
        with pytest.raises(trio.BrokenResourceError):
            while True:  # a header that never ends, a byte at a time
                await stream.send_all(b"H")
                await trio.sleep(0.01)

    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, drip, [listener])

        async def heard(_message: object) -> None:
            raise AssertionError("nothing came")

        with pytest.raises(ClientError, match=r"did not begin its events"):
            await listen(f"http://127.0.0.1:{listener.socket.getsockname()[1]}", None, heard)
        nursery.cancel_scope.cancel()
    assert asked == 1


async def test_an_event_that_is_far_ahead_is_a_gap_and_all_that_is_served_is_kept(home: Home, peer: Peer) -> None:
    async with home.followed(peer):
        descriptor = Descriptor.read(document(agent_version="3"))
        async with reported(home, "gap"):
            peer.announce(peer.line(descriptor, FAR, None, NOW + 3), FAR)
        await settle(lambda: home.follow["seq"] == FAR)
        for number in ("4", "5"):  # what it lied about is its own loss, until it is asked again
            peer.publish(number)
        assert home.kept() == peer.digests[:3]


async def test_an_event_that_comes_again_is_dealt_with_once(home: Home, peer: Peer) -> None:
    async with home.followed(peer):
        again = peer.events[0].data
        for reader in list(peer.feed.subscribers):
            reader.offer(sse(again, 1) * 3)
        newest = peer.publish("4")
        await settle(lambda: home.current == newest)
        assert (home.kept(), home.kinds) == (peer.digests, set())


async def test_a_history_without_end_is_read_to_a_bound(
    home: Home, peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("node.collector.MOST_LISTED", 300)
    pages = 0

    def endless(request: Any) -> Any:
        nonlocal pages
        if request.path != b"/descriptors":
            return None
        pages += 1
        body = json.dumps({"versions": [], "next": 2**40 - pages}).encode()
        answer = on(b"/descriptors", 200, body, [("Content-Type", "application/json")])
        return answer(request)

    peer.mean = endless
    async with peer.at() as url, home.running() as following:
        await following.add(OWNER.id, url)
        await settle(lambda: "too-much" in home.kinds)
        assert pages == 3


async def test_a_peer_that_asks_for_patience_is_given_it(
    home: Home, peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("node.collector.BUSY_WAIT", 0.05)
    for number in range(4, 20):
        peer.publish(str(number))
    limits = AddressLimits(100.0, 5.0, 64, limit_loopback=True)
    async with home.followed(peer, addresses=limits):
        assert home.kinds == set()


async def test_a_version_whose_event_is_beyond_all_bounds_is_had_all_the_same(home: Home, peer: Peer) -> None:
    async with home.followed(peer):
        peer.publish("4", document(agent_version="4" * 100_000))
        await settle(lambda: home.kept() == peer.digests)
        peer.publish("5")
        await settle(lambda: home.kept() == peer.digests)
        assert home.follow["seq"] == 3


async def test_what_a_peer_says_reaches_nobody_unbounded(home: Home, peer: Peer) -> None:
    async with home.followed(peer):
        peer.publish("4", document(agent_version="4" + "\x1b[2J" * 1000))
        await settle(lambda: home.follow["seq"] == 4)
        for _ in range(3):
            peer.publish("1", document(agent_version="1", notes=str(len(peer.digests))))
        await settle(lambda: home.follow["seq"] == 7)
        for report in home.reader.follows()[0].reports:
            assert len(report.message) < 1000
            assert report.message.isprintable()


# Places.


def reusable(place: tuple[str, int]) -> socket.socket:
    """A socket that listens at a place where another one has, a moment ago."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(place)
    sock.listen()
    return sock


async def test_another_agent_at_its_place_is_a_conflict_and_a_hint_leads_to_where_it_is(home: Home, peer: Peer) -> None:
    other = Peer(OTHER)
    other.publish("7")
    sock = reusable(("127.0.0.1", 0))
    place = sock.getsockname()
    async with home.running() as following:
        async with peer.at(sock) as url:
            await following.add(OWNER.id, url)
            await settle(lambda: home.kept() == peer.digests)
            await home.listening()
        await settle(lambda: home.state == "waiting")
        async with other.at(reusable(place)), reported(home, "conflict"):
            following.hint(OWNER.id, None, ["http://127.0.0.1:1"])
        assert (home.kept(OTHER.id), home.state in ("waiting", "connecting")) == ([], True)
        assert "GET /events" not in other.asked
        newest = peer.publish("4")
        async with peer.at() as elsewhere:
            following.hint(OWNER.id, newest, [elsewhere])
            await settle(lambda: home.current == newest)
            assert home.reader.follows()[0].url == elsewhere


async def test_a_wrong_hint_leads_nowhere_and_is_no_report(home: Home, peer: Peer) -> None:
    other = Peer(OTHER)
    other.publish("7")
    async with other.at() as wrong, home.running() as following:
        async with peer.at() as url:
            await following.add(OWNER.id, url)
            await settle(lambda: home.kept() == peer.digests)
        await settle(lambda: home.state == "waiting")
        following.hint(OWNER.id, digest_of(b"x"), [wrong])
        await settle(lambda: "POST /entryway" in other.asked)
        await settle(lambda: home.state == "waiting")
        assert (home.kinds, "GET /events" in other.asked) == (set(), False)
        following.hint(OTHER.id, None, [wrong])  # nobody follows it


async def test_a_stream_that_only_seems_well_is_looked_at_when_something_else_is_shown(home: Home, peer: Peer) -> None:
    async with home.followed(peer) as url:
        peer.asked.clear()
        peer.feed.subscribers.clear()  # nothing comes over it any more
        newest = peer.publish("4")
        home.following.hint(OWNER.id, newest, [url])
        await settle(lambda: home.current == newest)
        assert home.kinds == set()


async def test_places_are_bounded(home: Home, peer: Peer) -> None:
    async with home.running() as following:
        await following.add(OWNER.id, "http://127.0.0.1:1")
        for number in range(100):
            following.hint(OWNER.id, None, [f"http://127.0.0.1:{number + 2}"])
        (follower,) = following._followers.values()
        assert len(follower._places) == 8


# The subscription itself.


async def test_to_unfollow_in_the_middle_of_a_fetch_ends_it_and_leaves_nothing(home: Home, peer: Peer) -> None:
    fetching = trio.Event()

    def hanging(request: Any) -> Any:
        if not request.path.startswith(b"/descriptors/"):
            return None
        fetching.set()
        return on_events()(type(request)(b"GET", b"/events", {}, b""))

    async with home.followed(peer):
        peer.mean = hanging
        peer.publish("4")
        with trio.fail_after(SOON):
            await fetching.wait()
        assert await home.following.drop(OWNER.id)
        await settle(lambda: not peer.feed.subscribers)
        assert (home.following.document(), home.reader.follows()) == ([], ())
        assert home.kept() == peer.digests[:3]


async def test_one_agent_that_many_follow_at_once_and_drop_is_followed_once_or_not_at_all(
    home: Home, peer: Peer
) -> None:
    async with peer.at() as url, home.running() as following:
        async with trio.open_nursery() as nursery:
            for _ in range(10):
                nursery.start_soon(following.add, OWNER.id, url)
        await settle(lambda: home.kept() == peer.digests)
        await home.listening()
        assert peer.feed.listening == 1
        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(following.add, OWNER.id, url)
                nursery.start_soon(following.drop, OWNER.id)
        rows = [follow.id for follow in home.reader.follows()]
        assert [one["id"] for one in following.document()] == rows
        await settle(lambda: peer.feed.listening == len(rows))


async def test_to_follow_again_where_it_is_now_finds_it(home: Home, peer: Peer) -> None:
    async with home.running() as following:
        async with peer.at() as url:
            await following.add(OWNER.id, url)
            await settle(lambda: home.kept() == peer.digests)
        await settle(lambda: home.state == "waiting")
        newest = peer.publish("4")
        async with peer.at() as url:
            assert (await following.add(OWNER.id, url)).url == url
            await settle(lambda: home.current == newest)


# Faults of our own.


async def test_a_disk_that_refuses_is_trouble_and_tried_again(
    home: Home, peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_in, times = home.store.take_in, 0

    def full(*arguments: Any, **how: Any) -> bool:
        nonlocal times
        times += 1
        if times in (2, 4):
            raise StoreError("STORE_FULL", "The disk is full.")
        return take_in(*arguments, **how)

    monkeypatch.setattr(home.store, "take_in", full)
    with capture_logs() as logs:
        async with home.followed(peer):
            assert times > 4
    assert next(line["reason"] for line in logs if line["event"] == "follow_interrupted") == "The disk is full."


async def test_a_fault_of_ours_is_logged_and_ends_nobody_else(
    home: Home, peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch, faults = collector.fetch, 0

    async def faulty(url: str, digest: str) -> bytes:
        nonlocal faults
        faults += 1
        if faults == 1:
            raise RuntimeError("a fault of ours")
        return await fetch(url, digest)

    monkeypatch.setattr(collector, "fetch", faulty)
    with capture_logs() as logs:
        async with home.followed(peer):
            pass
    assert [line["event"] for line in logs if line.get("exc_info")] == ["follow_failed"]
