"""One connection, from accept to close, between the socket and what answers.

The invariant: every wait has a deadline, whatever the other side does. A connection is one task with one cancel scope,
made once; its deadline is moved as the conversation goes on: idle, headers, body, write. Work that is waited for has
its own bound, and is left when the peer goes. What is kept for a connection is at most one header block, one body and
one batch of answers.

The socket is used directly: an answer goes out without a checkpoint when the kernel takes it whole, and the task waits
only where it must.
"""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Awaitable
from enum import Enum
from typing import TYPE_CHECKING

import structlog
import trio

from entryway.errors import EntrywayError
from entryway.http import Request, RequestParser, Response, Streaming, Working
from entryway.protections import Bucket

if TYPE_CHECKING:
    from entryway.server import Server

RECEIVE = 65536  # bytes read at once
BATCH = 65536  # bytes of answers gathered before they are sent
COARSE = 1.0  # seconds an idle deadline may lag behind, so that a busy connection does not move it each time
LINGER = 1.0  # seconds given to a peer to read a last answer
LINGER_BYTES = 1 << 20

log = structlog.get_logger("entryway")


class Wait(Enum):
    """What a connection waits for; each has its deadline."""

    NOTHING = "nothing"
    IDLE = "idle"
    HEADERS = "headers"
    BODY = "body"
    WRITE = "write"


class _PeerGoneError(OSError):
    """The peer went away before it was answered."""


class Connection:
    """One connection, from accept to close."""

    def __init__(self, server: Server, sock: socket.socket, key: str | None) -> None:
        self._server = server
        self._sock = sock
        self._key = key
        self._bucket: Bucket | None = None
        if server.addresses is not None:
            self._bucket = server.addresses.bucket(key, trio.current_time())
        self._parser = RequestParser(server.limits.header_block, server.application.body_limit)
        self._scope = trio.CancelScope()
        self._waiting_for = Wait.NOTHING
        self._receiving = False
        self._moved = 0.0

    async def run(self) -> None:
        """Answers until the peer, a deadline or a drain ends it. Raises nothing."""
        try:
            with self._scope:
                await self._converse()
            # Only where nothing is being sent: within an answer these bytes would be taken for its body.
            if self._scope.cancelled_caught and self._receiving and self._within_request:
                error = EntrywayError(
                    "REQUEST_TIMEOUT",
                    "The request did not come whole in the time that is given to it. Send it again, without a pause.",
                )
                send_now(
                    self._sock,
                    b"".join(self._laid_out(self._server.application.refuse(error, None), head=False, close=True)),
                )
                with trio.move_on_after(LINGER):
                    await self._linger()
        except OSError:
            pass  # the peer is gone, and there is nobody left to tell
        finally:
            self._leave_connections()
            self._server.streams.discard(self)
            trio.lowlevel.notify_closing(self._sock)
            self._sock.close()

    def end(self) -> None:
        """Ends the connection whatever it is doing."""
        self._scope.cancel()

    def drain(self) -> None:
        """Ends a connection that is between two requests; one that is within a request ends after its answer."""
        if self._receiving and not self._within_request:
            self._scope.cancel()

    @property
    def _within_request(self) -> bool:
        return self._parser.in_headers or self._parser.in_body

    async def _converse(self) -> None:
        parser = self._parser
        requests: list[Request] = []
        while self._within_request or not self._server.stopping.is_set():
            self._set_deadline(answered=bool(requests))
            self._receiving = True
            data = await self._receive(soon=bool(requests))
            self._receiving = False
            if not data:
                return
            parser.feed(data)
            requests = parser.take()
            if requests and self._waiting_for is not Wait.IDLE:
                self._waiting_for = Wait.NOTHING
            if await self._answer(requests):
                self._extend(LINGER)
                await self._linger()
                return
            if parser.take_continue():
                await self._send(b"HTTP/1.1 100 Continue\r\n\r\n")

    async def _answer(self, requests: list[Request]) -> bool:
        """Answers what has come whole, then what cannot be read. True when that was the last answer."""
        batch: list[bytes] = []
        size = 0
        close = False
        for request in requests:
            answer = await self._in_turn(request, batch)
            if isinstance(answer, Streaming):
                refused = self._refused_stream(answer, request)
                if refused is None:
                    await self._stream(answer, batch)
                    return True
                answer = refused
            elif not isinstance(answer, Response):
                answer = await self._later(answer, request, batch)
            close = not request.keep_alive or self._server.stopping.is_set()
            for part in self._laid_out(answer, head=request.method == b"HEAD", close=close):
                batch.append(part)
                size += len(part)
                if size > BATCH:
                    await self._send_all(batch)
                    size = 0
            if close:
                break
        if not close and self._parser.error is not None:
            close = True
            batch += self._laid_out(self._server.application.refuse(self._parser.error, None), head=False, close=True)
        if batch:
            await self._send_all(batch)
        return close

    def _refused_stream(self, answer: Streaming, request: Request) -> Response | None:
        """What to say in place of a stream; None when it is to be served."""
        if request.method == b"HEAD":
            return answer.response
        try:
            answer.admit(self._key)
        except EntrywayError as error:
            return self._server.application.refuse(error, request)
        return None

    async def _stream(self, answer: Streaming, batch: list[bytes]) -> None:
        """Serves a stream to its end.

        It is no longer one of the connections that wait for a request, and is bounded where it was admitted.
        """
        self._leave_connections()
        self._server.streams.add(self)
        batch += self._laid_out(answer.response, head=False, close=True)
        await self._send_all(batch)
        self._scope.deadline = math.inf
        if not self._server.stopping.is_set():
            await answer.serve(self._sock, self._scope, self._key)

    def _leave_connections(self) -> None:
        if self in self._server.connections:
            self._server.connections.discard(self)
            if self._server.addresses is not None:
                self._server.addresses.disconnect(self._key)

    async def _in_turn(
        self, request: Request, batch: list[bytes]
    ) -> Response | Streaming | Awaitable[Response | Working]:
        """What is answered, at once unless others go first; what was answered before does not wait for it."""
        precedence, now = self._server.precedence, trio.current_time()
        turn = None if precedence is None else precedence.turn(self._key, now)
        if precedence is None or turn is None:
            return self._respond(request)
        await self._send_all(batch)
        self._waiting_for = Wait.WRITE
        self._extend(self._server.limits.write_wait)
        await trio.sleep(turn)
        began = time.perf_counter()
        answer = self._respond(request)
        precedence.took(time.perf_counter() - began)
        return answer

    def _respond(self, request: Request) -> Response | Streaming | Awaitable[Response | Working]:
        request.peer = self._key
        if self._bucket is not None:
            wait = self._bucket.take(trio.current_time())
            if wait:
                seconds = (("Retry-After", str(math.ceil(wait))),)
                error = EntrywayError(
                    "RATE_LIMITED",
                    f"Your address asks faster than it is answered here. Ask again in {math.ceil(wait)} seconds.",
                    headers=seconds,
                )
                return self._server.application.refuse(error, request)
        try:
            return self._server.application.respond(request)
        except Exception:  # the edge of the node: one faulty answer must not end the others
            return self._failed(request)

    async def _later(self, answer: Awaitable[Response | Working], request: Request, batch: list[bytes]) -> Response:
        self._waiting_for = Wait.WRITE
        self._extend(self._server.limits.write_wait)
        try:
            found = await answer
            return await self._worked(found, batch) if isinstance(found, Working) else found
        except _PeerGoneError:
            raise
        except Exception:  # as above
            return self._failed(request)

    async def _worked(self, work: Working, batch: list[bytes]) -> Response:
        """Waits for work without a deadline of the connection's own; what was answered before does not wait for it.

        Raises _PeerGoneError when the peer goes away, once the work has been left.
        """
        try:
            await self._send_all(batch)
        except OSError:
            await work.leave()
            raise _PeerGoneError from None
        self._scope.deadline = math.inf
        answered: list[Response] = []
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch, nursery.cancel_scope)
            answered.append(await work.response())
            nursery.cancel_scope.cancel()
        self._extend(self._server.limits.write_wait)
        if not answered:
            await work.leave()
            raise _PeerGoneError
        return answered[0]

    async def _watch(self, scope: trio.CancelScope) -> None:
        """Cancels when the peer goes away. Behind what it has sent already, nobody can see whether it has gone."""
        await trio.lowlevel.wait_readable(self._sock)
        try:
            sent = self._sock.recv(1, socket.MSG_PEEK)
        except OSError:
            sent = b""
        if not sent:
            scope.cancel()

    def _failed(self, request: Request) -> Response:
        """What is said of an exception, which is logged; called while it is handled."""
        log.exception("answer_failed", path=request.path.decode("latin-1"))
        error = EntrywayError("INTERNAL", "This node could not answer, and has logged why. Tell its operator.")
        return self._server.application.refuse(error, request)

    def _laid_out(self, answer: Response, *, head: bool, close: bool) -> tuple[bytes, bytes, bytes]:
        return answer.parts(self._server.date_line(), head=head, close=close)

    def _set_deadline(self, *, answered: bool) -> None:
        """Moves the deadline when what is waited for has changed, or begins anew after an answer.

        Bytes that come one by one do not prolong a wait.
        """
        limits = self._server.limits
        if self._parser.in_body:
            if self._waiting_for is not Wait.BODY:
                self._waiting_for = Wait.BODY
                self._extend(limits.body_wait)
        elif self._parser.in_headers or not self._moved:
            if self._waiting_for is not Wait.HEADERS:
                self._waiting_for = Wait.HEADERS if self._parser.in_headers else Wait.NOTHING
                self._extend(limits.header_wait)
        elif self._waiting_for is not Wait.IDLE or (answered and trio.current_time() - self._moved > COARSE):
            self._waiting_for = Wait.IDLE
            self._extend(limits.idle_wait)

    def _extend(self, seconds: float) -> None:
        self._moved = trio.current_time()
        self._scope.deadline = self._moved + seconds

    async def _receive(self, *, soon: bool = False) -> bytes:
        """What has come. `soon`: the peer was just answered, and a busy one asks again while others have their turn.

        Then the wait is one turn of the loop; asking the kernel for a wake-up costs several times as much.
        """
        if soon:
            await trio.lowlevel.checkpoint()
        else:
            await trio.lowlevel.wait_readable(self._sock)
        while True:
            try:
                return self._sock.recv(RECEIVE)
            except BlockingIOError:
                await trio.lowlevel.wait_readable(self._sock)

    async def _send_all(self, batch: list[bytes]) -> None:
        """Sends and empties the batch: small parts in one piece, a large one by itself and uncopied."""
        small: list[bytes] = []
        for part in batch:
            if len(part) < BATCH:
                small.append(part)
                continue
            await self._send(b"".join(small))
            await self._send(part)
            small = []
        batch.clear()
        await self._send(b"".join(small))

    async def _send(self, data: bytes) -> None:
        if not data:
            return
        sent = send_now(self._sock, data)
        if sent == len(data):
            return
        self._waiting_for = Wait.WRITE
        self._extend(self._server.limits.write_wait)
        rest = memoryview(data)[sent:]
        while rest:
            await trio.lowlevel.wait_writable(self._sock)
            rest = rest[send_now(self._sock, rest) :]

    async def _linger(self) -> None:
        """Lets the last answer arrive: closing over unread bytes would reset the connection and lose it."""
        self._sock.shutdown(socket.SHUT_WR)
        read = 0
        while read < LINGER_BYTES:
            data = await self._receive()
            if not data:
                return
            read += len(data)


def send_now(sock: socket.socket, data: bytes | memoryview) -> int:
    """The bytes that the kernel takes without waiting."""
    try:
        return sock.send(data)
    except BlockingIOError:
        return 0
