"""The event feed: what was announced, from any point, to whoever listens, each exactly once and in order.

    subscribe(after)     the reader is behind: pages of the log, until it has seen what was announced last
    attach               no wait between seeing it and this: whatever is announced from now on is handed over
    announce(event)      laid out once; each attached reader's socket is offered the same bytes
    a socket is full     what it did not take is kept, up to a bound, and sent as it drains; over the bound it is cut

The invariant: the numbers a reader gets only rise, and between where it began and where it is none is left out. A
reader that is cut has lost nothing: it resumes behind the last number it saw. What one costs is its connection and a
bounded buffer.

Source: binding 6.
"""

from __future__ import annotations

import json
import socket
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import trio

from entryway.errors import EntrywayError
from entryway.http import Response, response
from entryway.router import CORS, EXPOSED, NO_STORE
from store import Event

COMMENT = b":\n\n"
COMMENT_EVERY = 15.0  # seconds (binding 6)
PAGE = 100  # events read from the log at once
BUFFER = 16 * 1024  # bytes a reader may be behind before it is cut
HIGHEST = 2**63 - 1
HEADERS = (("Content-Type", "text/event-stream"), ("X-Accel-Buffering", "no"), NO_STORE, CORS, EXPOSED)


class Log(Protocol):
    """The event log, read elsewhere than in the loop. Raises EntrywayError AGENT_UNAVAILABLE for damage."""

    async def events_after(self, seq: int, limit: int) -> tuple[Event, ...]:
        """At most `limit` events numbered above `seq`, in order."""


def laid_out(event: Event) -> bytes:
    """One event as it is sent. `data` is one line already."""
    return f"event: {event.type}\nid: {event.seq}\ndata: {event.data}\n\n".encode()


def reset(head: int, digest: str | None) -> bytes:
    """What a reader is told whose place in the log is not there: begin anew, from what is current.

    `digest` is `None` where nothing is published. The reader resumes behind `head`.
    """
    data = json.dumps({"digest": digest, "seq": head}, separators=(",", ":"))
    return f"event: reset\nid: {head}\ndata: {data}\n\n".encode()


def place(query: str | None, header: bytes | None) -> int | None:
    """Behind which number a reader resumes: the header of a browser that reconnects, else the query; `None` for now on.

    Raises EntrywayError INPUT_INVALID for what is no number.
    """
    text = header.decode("latin-1") if header is not None else query
    if text is None or text == "":
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 19):
        raise EntrywayError(
            "INPUT_INVALID",
            "That is no place in the events. Resume with the number of one: Last-Event-ID or ?after=, from 0 on.",
        )
    return min(int(text), HIGHEST)


class Subscriber:
    """One reader. `key`: what its address is counted under, `None` when it is not counted."""

    __slots__ = ("_behind", "_scope", "_sock", "flushing", "key", "seq")

    def __init__(self, sock: socket.socket, scope: trio.CancelScope, key: str | None, seq: int) -> None:
        self.key = key
        self.seq = seq
        self.flushing = False
        self._sock = sock
        self._scope = scope
        self._behind = b""

    def offer(self, data: bytes) -> bool:
        """Hands over what can be handed over now. False when some is left, which `flush` is to send."""
        if self._behind and len(self._behind) + len(data) > BUFFER:
            self.cut()
            return True
        if not self._behind:
            data = data[self._send(data) :]
        self._behind += data
        return not self._behind

    async def flush(self) -> None:
        """Sends what is left, as the reader takes it."""
        while self._behind:
            await trio.lowlevel.wait_writable(self._sock)
            self._behind = self._behind[self._send(self._behind) :]

    def cut(self) -> None:
        """Ends the connection. The reader may resume."""
        self._behind = b""
        self._scope.cancel()

    def _send(self, data: bytes) -> int:
        try:
            return self._sock.send(data)
        except BlockingIOError:
            return 0
        except OSError:
            self._scope.cancel()
            return len(data)


@dataclass(frozen=True, slots=True)
class FeedLimits:
    """How many readers are served, in all and of one address, and how many seconds a slow one has to take an event."""

    subscribers: int
    subscribers_per_address: int
    write_wait: float


class Feed:
    """All readers of one node's events. `head`: the number that was announced last."""

    def __init__(self, log: Log, current: Callable[[], str | None], *, head: int, limits: FeedLimits) -> None:
        """`current` says which digest is current, for whoever has to begin anew."""
        self.head = head
        self.limits = limits
        self.subscribers: set[Subscriber] = set()
        self.cut = 0
        self._log = log
        self._current = current
        self._counted: Counter[str] = Counter()
        self._listening = 0
        self._slow: trio.MemorySendChannel[Subscriber] | None = None

    @property
    def listening(self) -> int:
        """How many readers there are, those that are still catching up among them."""
        return self._listening

    def announce(self, event: Event) -> None:
        """Hands an event to everybody who is attached. Called in the loop, in the order of the log."""
        self.head = event.seq
        data = laid_out(event)
        for subscriber in self.subscribers:
            if subscriber.seq < event.seq:
                subscriber.seq = event.seq
                self._offer(subscriber, data)

    async def run(self) -> None:
        """Sends comments, and what slow readers have left, until it is canceled."""
        sending, receiving = trio.open_memory_channel[Subscriber](HIGHEST)
        self._slow = sending
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._comment)
            async for subscriber in receiving:
                nursery.start_soon(self._flush, subscriber)

    def check(self, key: str | None) -> None:
        """Raises EntrywayError RATE_LIMITED when there are as many readers as are served, in all or of an address."""
        retry, again = (("Retry-After", "30"),), "Come back in 30 seconds; the versions are listed at /descriptors."
        if self._listening >= self.limits.subscribers:
            raise EntrywayError("RATE_LIMITED", f"As many readers listen as this node serves. {again}", headers=retry)
        if key is not None and self._counted[key] >= self.limits.subscribers_per_address:
            raise EntrywayError("RATE_LIMITED", f"Your address has as many readers as it may. {again}", headers=retry)

    async def serve(self, sock: socket.socket, scope: trio.CancelScope, key: str | None, after: int | None) -> None:
        """Feeds one reader, whose headers have been sent, until it goes or is cut. Raises nothing but cancellation."""
        subscriber = Subscriber(sock, scope, key, self.head if after is None else after)
        self._listening += 1
        if key is not None:
            self._counted[key] += 1
        try:
            await self._catch_up(subscriber)
            self.subscribers.add(subscriber)
            await self._until_gone(sock)
        except (OSError, trio.ClosedResourceError, EntrywayError):
            pass  # the reader is gone, or the log cannot be read, which is logged where it was: it may resume
        finally:
            self.subscribers.discard(subscriber)
            self._listening -= 1
            if key is not None:
                self._counted[key] -= 1
                if not self._counted[key]:
                    del self._counted[key]

    async def _catch_up(self, subscriber: Subscriber) -> None:
        """Sends what the reader has not seen. When it returns, nothing that was announced is missing."""
        if subscriber.seq > self.head:
            self._start_anew(subscriber)
        while subscriber.seq < self.head:
            events = await self._log.events_after(subscriber.seq, PAGE)
            if not events or events[0].seq != subscriber.seq + 1:
                self._start_anew(subscriber)
            else:
                for event in events:
                    if not subscriber.offer(laid_out(event)):
                        await self._drain(subscriber)
                subscriber.seq = events[-1].seq
        await self._drain(subscriber)

    def _start_anew(self, subscriber: Subscriber) -> None:
        subscriber.seq = self.head
        subscriber.offer(reset(self.head, self._current()))

    async def _until_gone(self, sock: socket.socket) -> None:
        """A reader has nothing more to say: whatever comes is read past, and its end is the end."""
        while True:
            await trio.lowlevel.wait_readable(sock)
            try:
                if not sock.recv(1024):
                    return
            except BlockingIOError:
                continue

    async def _comment(self) -> None:
        while True:
            await trio.sleep(COMMENT_EVERY)
            for subscriber in self.subscribers:
                self._offer(subscriber, COMMENT)

    def _offer(self, subscriber: Subscriber, data: bytes) -> None:
        if not subscriber.offer(data) and not subscriber.flushing and self._slow is not None:
            subscriber.flushing = True
            self._slow.send_nowait(subscriber)

    async def _drain(self, subscriber: Subscriber) -> None:
        with trio.move_on_after(self.limits.write_wait) as scope:
            await subscriber.flush()
        if scope.cancelled_caught:
            self.cut += 1
            subscriber.cut()

    async def _flush(self, subscriber: Subscriber) -> None:
        try:
            await self._drain(subscriber)
        except (OSError, trio.ClosedResourceError):
            subscriber.cut()  # closed beneath
        finally:
            subscriber.flushing = False


def stream_response() -> Response:
    """The headers of a stream. Its body has no end and no length: it is what comes until the connection closes."""
    return response(200, HEADERS, content_length=False)
