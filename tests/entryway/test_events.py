"""The feed: whoever listens gets every event after its place, once and in order, whatever happens meanwhile."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from entryway.errors import EntrywayError
from entryway.events import BUFFER, COMMENT, Feed, FeedLimits, laid_out, place, reset
from store import Event

DIGEST = "sha256:" + "0a" * 32
LIMITS = FeedLimits(subscribers=5, subscribers_per_address=2, write_wait=1.0)


def event(seq: int, size: int = 20) -> Event:
    return Event(seq, "descriptor.replaced", "U", 0.0, json.dumps({"seq": seq, "pad": "x" * size}))


class MemoryLog:
    """A log that may have lost its beginning. `reading` lets a test act while a page is on its way."""

    def __init__(self, events: list[Event] | None = None) -> None:
        self.events = events or []
        self.reading: list[trio.Event] = []
        self.error: EntrywayError | None = None

    async def events_after(self, seq: int, limit: int) -> tuple[Event, ...]:
        page = tuple([one for one in self.events if one.seq > seq][:limit])
        await trio.lowlevel.checkpoint()
        if self.error is not None:
            raise self.error
        return page


def feed(log: MemoryLog, head: int | None = None, limits: FeedLimits = LIMITS) -> Feed:
    newest = log.events[-1].seq if log.events else 0
    return Feed(log, lambda: DIGEST, head=newest if head is None else head, limits=limits)


@contextmanager
def sockets(buffer: int | None = None) -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with closing(ours), closing(theirs):
        if buffer is not None:
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer)
            theirs.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        ours.setblocking(False)
        theirs.setblocking(False)
        yield ours, theirs


@asynccontextmanager
async def listening(one: Feed, after: int | None, buffer: int | None = None) -> AsyncIterator[socket.socket]:
    """A reader of the feed, as it sees it."""
    with sockets(buffer) as (ours, theirs):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(one.run)
            scope = trio.CancelScope()

            async def serve() -> None:
                with scope:
                    await one.serve(ours, scope, "192.0.2.1", after)
                ours.shutdown(socket.SHUT_RDWR)

            nursery.start_soon(serve)
            await trio.testing.wait_all_tasks_blocked()
            yield theirs
            nursery.cancel_scope.cancel()


async def received(sock: socket.socket) -> list[int]:
    """The ids that have come."""
    await trio.testing.wait_all_tasks_blocked()
    data = b""
    try:
        while more := sock.recv(65536):
            data += more
            await trio.testing.wait_all_tasks_blocked()
    except BlockingIOError:
        pass
    return [int(line[4:]) for line in data.decode().splitlines() if line.startswith("id: ")]


def test_an_event_is_four_lines() -> None:
    assert laid_out(Event(7, "descriptor.replaced", "U", 0.0, '{"a":1}')) == (
        b'event: descriptor.replaced\nid: 7\ndata: {"a":1}\n\n'
    )
    assert reset(7, DIGEST) == f'event: reset\nid: 7\ndata: {{"digest":"{DIGEST}","seq":7}}\n\n'.encode()


@pytest.mark.parametrize(
    ("query", "header", "after"),
    [
        (None, None, None),
        ("", None, None),
        ("0", None, 0),
        ("12", None, 12),
        ("12", b"13", 13),
        (None, b"", None),
        ("9999999999999999999", None, 2**63 - 1),
    ],
)
def test_a_reader_says_where_it_was(query: str | None, header: bytes | None, after: int | None) -> None:
    assert place(query, header) == after


@pytest.mark.parametrize("text", ["-1", "1.5", "x", " 1", "1 ", "²", "1" * 20, "٣"])
def test_what_is_no_place(text: str) -> None:
    with pytest.raises(EntrywayError) as raised:
        place(text, None)
    assert raised.value.code == "INPUT_INVALID"


async def test_from_now_on() -> None:
    one = feed(MemoryLog([event(1), event(2)]))
    async with listening(one, None) as reader:
        assert await received(reader) == []
        one.announce(event(3))
        assert await received(reader) == [3]


@pytest.mark.parametrize("after", [0, 1, 250, 299, 300])
async def test_from_any_point_and_then_live(after: int) -> None:
    log = MemoryLog([event(seq) for seq in range(1, 301)])
    one = feed(log)
    async with listening(one, after) as reader:
        assert await received(reader) == [*range(after + 1, 301)]
        one.announce(event(301))
        assert await received(reader) == [301]


@pytest.mark.parametrize(("first", "head", "after"), [(1, 10, 11), (1, 10, 10**6), (5, 10, 3), (5, 10, 0)])
async def test_a_place_the_log_does_not_have_is_reset_once(first: int, head: int, after: int) -> None:
    one = feed(MemoryLog([event(seq) for seq in range(first, head + 1)]))
    async with listening(one, after) as reader:
        assert await received(reader) == [head]
        one.announce(event(head + 1))
        assert await received(reader) == [head + 1]


async def test_a_publish_while_a_page_is_read_is_neither_lost_nor_told_twice() -> None:
    log = MemoryLog([event(1)])
    one = feed(log)
    with sockets() as (ours, theirs):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(one.serve, ours, trio.CancelScope(), None, 0)
            for seq in range(2, 40):
                # Committed, then announced a moment later, as a daemon does.
                log.events.append(event(seq))
                await trio.lowlevel.checkpoint()
                one.announce(event(seq))
            assert await received(theirs) == [*range(1, 40)]
            nursery.cancel_scope.cancel()


@given(
    st.lists(st.sampled_from(["commit", "announce", "turn", "turn"]), max_size=60), st.integers(0, 8), st.integers(0, 5)
)
def test_any_interleaving_gives_every_event_once(steps: list[str], after: int, already: int) -> None:
    async def play() -> None:
        log = MemoryLog([event(seq) for seq in range(1, already + 1)])
        one = feed(log)
        with sockets() as (ours, theirs):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(one.serve, ours, trio.CancelScope(), None, min(after, already))
                for step in [*steps, *["announce"] * 60]:
                    if step == "commit":
                        log.events.append(event(len(log.events) + 1))
                    elif step == "announce" and one.head < len(log.events):
                        one.announce(log.events[one.head])
                    else:
                        await trio.lowlevel.checkpoint()
                assert await received(theirs) == [*range(min(after, already) + 1, len(log.events) + 1)]
                nursery.cancel_scope.cancel()

    trio.run(play)


async def test_a_reader_that_does_not_read_is_cut_and_costs_a_bounded_buffer(
    autojump_clock: trio.testing.MockClock,
) -> None:
    one = feed(MemoryLog())
    async with listening(one, None, buffer=4096) as reader:
        for seq in range(1, 400):
            one.announce(event(seq, size=1000))
            (*subscribers,) = one.subscribers
            assert all(len(subscriber._behind) <= BUFFER for subscriber in subscribers)
        await trio.testing.wait_all_tasks_blocked()
        assert one.listening == 0
        seen = await received(reader)
        assert seen == [*range(1, len(seen) + 1)]
    async with listening(one, len(seen)) as again:
        assert await received(again) == [399]  # a log that keeps nothing has only what is current


async def test_a_slow_reader_gets_everything(autojump_clock: trio.testing.MockClock) -> None:
    one = feed(MemoryLog())
    async with listening(one, None, buffer=4096) as reader:
        seen: list[int] = []
        for seq in range(1, 60):
            one.announce(event(seq, size=900))
            if seq % 6 == 0:
                seen += await received(reader)
        seen += await received(reader)
        assert seen == [*range(1, 60)]
        assert one.listening == 1


async def test_a_reader_that_takes_nothing_for_too_long_is_cut(autojump_clock: trio.testing.MockClock) -> None:
    one = feed(MemoryLog())
    async with listening(one, None, buffer=2048):
        for seq in range(1, 12):
            one.announce(event(seq, size=1000))
        assert one.listening == 1
        await trio.sleep(2)
        assert (one.listening, one.cut) == (0, 1)


async def test_a_comment_comes_every_fifteen_seconds(autojump_clock: trio.testing.MockClock) -> None:
    one = feed(MemoryLog())
    async with listening(one, None) as reader:
        await trio.sleep(46)
        assert reader.recv(1000) == COMMENT * 3


async def test_a_reader_that_goes_is_forgotten() -> None:
    one = feed(MemoryLog())
    async with listening(one, None) as reader:
        assert one.listening == 1
        reader.send(b"what a reader says is read past")
        await trio.testing.wait_all_tasks_blocked()
        assert one.listening == 1
        reader.close()
        await trio.testing.wait_all_tasks_blocked()
        assert (one.listening, len(one.subscribers)) == (0, 0)
        one.announce(event(1))


async def test_a_log_that_cannot_be_read_ends_the_stream() -> None:
    log = MemoryLog([event(1)])
    log.error = EntrywayError("AGENT_UNAVAILABLE", "damaged")
    one = feed(log)
    async with listening(one, 0) as reader:
        await trio.testing.wait_all_tasks_blocked()
        assert one.listening == 0
        assert reader.recv(10) == b""


async def test_readers_are_bounded_in_all_and_by_address() -> None:
    one = feed(MemoryLog(), limits=FeedLimits(3, 2, 1.0))
    async with trio.open_nursery() as nursery:
        pairs = [socket.socketpair() for _ in range(3)]
        for (ours, _), key in zip(pairs, ("a", "a", None), strict=True):
            ours.setblocking(False)
            one.check(key)
            nursery.start_soon(one.serve, ours, trio.CancelScope(), key, None)
            await trio.testing.wait_all_tasks_blocked()
            if one.listening == 2:
                with pytest.raises(EntrywayError, match="Your address"):
                    one.check("a")
                one.check("b")
        with pytest.raises(EntrywayError, match="As many readers") as raised:
            one.check("b")
        assert raised.value.headers == (("Retry-After", "30"),)
        pairs[0][1].close()
        await trio.testing.wait_all_tasks_blocked()
        one.check("a")
        nursery.cancel_scope.cancel()
        for pair in pairs:
            for sock in pair:
                sock.close()
