"""An agent as a follower meets it: a real door and a real feed in this process, and whatever else a peer may do."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import trio

from descriptor.document import Descriptor
from descriptor.keys import Identity
from descriptor.publishing import Terms
from entryway.errors import EntrywayError
from entryway.events import Feed, FeedLimits
from entryway.http import Request, Response, Streaming, response
from entryway.protections import AddressLimits
from entryway.routes import Entryway
from entryway.server import Server
from entryway.snapshot import NonePublished, Published
from node.publisher import replaced_event
from store import Event, Version
from tests.entryway.parts import (
    BODY_LIMIT,
    LIMITS,
    NOW,
    OWNER,
    MemoryArchive,
    document,
    listening,
    roster_door,
    snapshot_of,
)

Piece = bytes | float
"""Bytes to be sent, or seconds to wait."""


class Peer:
    """A node of `identity`. `mean`: what is answered in place of what should be; `None` for what should be.

    `asked`: the requests that came, as `"GET /events"`. Implements `entryway.server.Application` and `events.Log`.
    """

    def __init__(self, identity: Identity = OWNER, clock: Callable[[], float] = lambda: NOW) -> None:
        self.identity = identity
        self.archive = MemoryArchive()
        self.events: list[Event] = []
        self.feed = Feed(self, self._current, head=0, limits=FeedLimits(100, 100, 5.0))
        self.entryway = Entryway(
            identity,
            self.archive,
            clock,
            snapshot=NonePublished(),
            door=roster_door(),
            feed=self.feed,
            body_limit=BODY_LIMIT,
        )
        self.mean: Callable[[Request], Response | Streaming | None] | None = None
        self.asked: list[str] = []
        self._clock = clock

    @property
    def digests(self) -> list[str]:
        """Of the versions that are listed, oldest first."""
        return [version.digest for version in self.archive.versions]

    def publish(
        self, agent_version: str, data: bytes | None = None, *, served: bool = True, line: str | None = None
    ) -> str:
        """Publishes, whatever it is worth; returns the digest. `line`: what is announced in place of what should be."""
        data = document(self.identity, agent_version=agent_version) if data is None else data
        descriptor = Descriptor.read(data)
        seq, previous = len(self.archive.versions) + 1, self.digests[-1] if self.digests else None
        at = self._clock() + seq
        version = Version(seq, self.identity.id, descriptor.digest, agent_version, len(data), at, previous, True)
        self.archive.versions.append(version)
        if served:
            self.archive.artifacts[descriptor.digest] = data
            self.entryway.snapshot = snapshot_of(data, seq)
        self.announce(line or self.line(descriptor, seq, previous, at), seq)
        return descriptor.digest

    def line(self, descriptor: Descriptor, seq: int, previous: str | None, at: float) -> str:
        """The event of a version, signed."""
        return replaced_event(descriptor, Terms(self.identity), previous, at, seq)

    def announce(self, line: str, seq: int) -> None:
        self.events.append(Event(seq, "descriptor.replaced", self.identity.id, NOW, line))
        self.feed.announce(self.events[-1])

    def restore(self, count: int) -> None:
        """As from a backup that holds the first `count` versions; the streams that are open do not see it."""
        del self.archive.versions[count:], self.events[count:]
        self.feed.head = count
        data = self.archive.artifacts[self.digests[-1]]
        self.entryway.snapshot = snapshot_of(data, count)

    async def events_after(self, seq: int, limit: int) -> tuple[Event, ...]:
        await trio.lowlevel.checkpoint()
        return tuple(event for event in self.events if event.seq > seq)[:limit]

    def respond(self, request: Request) -> Response | Streaming | Awaitable[Response]:
        self.asked.append(f"{request.method.decode()} {request.path.decode()}")
        mean = None if self.mean is None else self.mean(request)
        return self.entryway.router.respond(request) if mean is None else mean

    def refuse(self, error: EntrywayError, request: Request | None) -> Response:
        return self.entryway.router.refuse(error, request)

    def body_limit(self, request: Request) -> int:
        return self.entryway.router.body_limit(request)

    @asynccontextmanager
    async def at(
        self, listener: socket.socket | None = None, addresses: AddressLimits | None = None
    ) -> AsyncIterator[str]:
        """Serves, at the URL that is given, until the block is left."""
        with listener or listening() as sock:
            url = f"http://127.0.0.1:{sock.getsockname()[1]}"
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self.feed.run)
                await nursery.start(Server(self, LIMITS, addresses).serve, [sock])
                yield url
                nursery.cancel_scope.cancel()

    def _current(self) -> str | None:
        snapshot = self.entryway.snapshot
        return snapshot.descriptor.digest if isinstance(snapshot, Published) else None


def on_events(*pieces: Piece, headers: Iterable[tuple[str, str]] = (), over: bool = False) -> Callable[[Request], Any]:
    """A peer whose feed is these pieces, and then silence, or its end if `over`."""
    fields = (("Content-Type", "text/event-stream"), *headers)

    async def serve(sock: socket.socket, _scope: trio.CancelScope, _key: str | None) -> None:
        for piece in pieces:
            if isinstance(piece, float):
                await trio.sleep(piece)
            else:
                await _sent(sock, piece)
        while not over:
            await trio.lowlevel.wait_readable(sock)
            if not sock.recv(1024):
                return

    def mean(request: Request) -> Streaming | None:
        if request.path != b"/events":
            return None
        return Streaming(response(200, fields, content_length=False), lambda _key: None, serve)

    return mean


def on(
    path: bytes, status: int, body: bytes = b"", headers: Iterable[tuple[str, str]] = ()
) -> Callable[[Request], Any]:
    """A peer that answers so on the paths that begin with `path`."""
    return lambda request: response(status, tuple(headers), body) if request.path.startswith(path) else None


async def _sent(sock: socket.socket, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        await trio.lowlevel.wait_writable(sock)
        rest = rest[sock.send(rest) :]
