"""The listening sockets, and who is let in.

The invariant: connections are bounded, in all and by address, and whoever is not let in is told so. What happens on a
connection is `entryway.connection`'s.
"""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.utils import formatdate
from typing import Protocol

import structlog
import trio

from entryway.connection import Connection, send_now
from entryway.errors import EntrywayError
from entryway.http import Request, Response, Streaming, Working
from entryway.precedence import Precedence
from entryway.protections import AddressLimits
from entryway.router import refusal

# An accept that fails says something about one connection or about this machine at this moment, and the listener goes
# on; unless it says that there is no listener.
NO_LISTENER = {errno.EBADF, errno.EINVAL, errno.ENOTSOCK}

log = structlog.get_logger("entryway")


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """Bounds of the server: bytes, seconds and counts (binding 10)."""

    header_block: int
    header_wait: float
    body_wait: float
    idle_wait: float
    write_wait: float
    drain_wait: float
    connections: int


class Application(Protocol):
    """What answers."""

    def body_limit(self, request: Request) -> int:
        """The most bytes of body taken for a request whose headers are known."""

    def respond(self, request: Request) -> Response | Streaming | Awaitable[Response | Working]:
        """The answer, at once or later, when work is done, or one without an end."""

    def refuse(self, error: EntrywayError, request: Request | None) -> Response:
        """A refusal of the server's own; `request` is None when it could not be read."""


class Server:
    """Serves an application on listening sockets until it is told to stop."""

    def __init__(
        self,
        application: Application,
        limits: ServerLimits,
        addresses: AddressLimits | None = None,
        precedence: Precedence | None = None,
    ) -> None:
        self.application = application
        self.limits = limits
        self.addresses = addresses
        self.precedence = precedence
        self.connections: set[Connection] = set()
        self.streams: set[Connection] = set()
        self.refused_connections = 0
        self.stopping = trio.Event()
        self._date_second = 0
        self._date_line = b""

    async def serve(
        self,
        listeners: Sequence[socket.socket],
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Serves until `stopping` is set; then accepts nothing more and lets open answers finish in `drain_wait`."""
        async with trio.open_nursery() as conversations:
            async with trio.open_nursery() as acceptors:
                for listener in listeners:
                    acceptors.start_soon(self._accept, listener, conversations)
                task_status.started()
                await self.stopping.wait()
                acceptors.cancel_scope.cancel()
            # Closed before the drain: nobody is to be let in by the kernel and then wait for nobody.
            for listener in listeners:
                listener.close()
            for connection in self.connections:
                connection.drain()
            for stream in self.streams:
                stream.end()
            conversations.cancel_scope.deadline = trio.current_time() + self.limits.drain_wait

    async def _accept(self, listener: socket.socket, conversations: trio.Nursery) -> None:
        listener.setblocking(False)
        refused = False
        while True:
            await trio.lowlevel.wait_readable(listener)
            try:
                sock, address = listener.accept()
            except (BlockingIOError, ConnectionError):
                continue
            except OSError as error:
                if error.errno in NO_LISTENER:
                    raise
                if not refused:
                    log.warning("connections_not_accepted", reason=error.strerror)
                refused = True
                await trio.sleep(0.1)
                continue
            refused = False
            self._admit(sock, address[0] if isinstance(address, tuple) else None, conversations)

    def _admit(self, sock: socket.socket, address: str | None, conversations: trio.Nursery) -> None:
        sock.setblocking(False)
        key = None if self.addresses is None else self.addresses.key(address)
        if len(self.connections) >= self.limits.connections:
            self._turn_away(sock, "This node has as many connections open as it takes.")
        elif self.addresses is not None and not self.addresses.connect(key):
            self._turn_away(sock, "Your address has as many connections open as it may.")
        else:
            if address is not None:
                with suppress(OSError):  # the peer may be gone already
                    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(self, sock, key)
            self.connections.add(connection)
            conversations.start_soon(connection.run)

    def _turn_away(self, sock: socket.socket, why: str) -> None:
        self.refused_connections += 1
        error = EntrywayError("RATE_LIMITED", f"{why} Try again in a moment.", headers=(("Retry-After", "1"),))
        with suppress(OSError):  # the peer may be gone already
            send_now(sock, b"".join(refusal(error, None).parts(self.date_line(), head=False, close=True)))
        sock.close()

    def date_line(self) -> bytes:
        """The Date header, worked out once a second."""
        second = int(time.time())
        if second != self._date_second:
            self._date_second = second
            self._date_line = f"Date: {formatdate(second, usegmt=True)}\r\n".encode()
        return self._date_line
