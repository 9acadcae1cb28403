"""The bundled load generator: raw sockets and one selector, for machines without wrk.

It does as little as measuring allows: a request is bytes that were laid out before, of an answer only the status and
the length are read, and a connection asks again as soon as it is answered.
"""

from __future__ import annotations

import math
import selectors
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass

from bench.errors import BenchError

RECEIVE = 1 << 18
HEAD_END = b"\r\n\r\n"
LENGTH = b"\r\ncontent-length:"
WAIT = 5.0  # seconds in which something has to come on some connection


@dataclass(frozen=True)
class Sample:
    """What one load measured: answers, the seconds they took together, and percentiles of the wait for one."""

    requests: int
    seconds: float
    p50_us: float
    p99_us: float


class _Connection:
    """One connection: what has come of its answer, and since when it waits."""

    __slots__ = ("_head", "_left", "_sock", "since")

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._head = b""
        self._left = 0
        self.since = 0

    def ask(self, request: bytes) -> None:
        """Sends a request, which an idle connection takes whole."""
        self.since = time.perf_counter_ns()
        if self._sock.send(request) != len(request):
            raise BenchError("A request did not fit into the socket's buffer.")

    def receive(self) -> bool:
        """Takes what has come. True when the answer is whole; the next bytes begin another one."""
        data = self._sock.recv(RECEIVE)
        if not data:
            raise BenchError("The server closed a connection that was to be kept.")
        if self._left:
            self._left -= len(data)
        else:
            self._head += data
            size = answer_size(self._head)
            if size is None:
                return False
            self._left = size - len(self._head)
            self._head = b""
        if self._left < 0:
            raise BenchError("The server sent more than one answer to a request.")
        return not self._left


def run(host: str, port: int, requests: Sequence[bytes], seconds: float, connections: int, source: str = "") -> Sample:
    """Asks `requests` in their order, over and over, for so many seconds, over `connections` connections.

    `source`: the address they come from; any, where it is empty.

    Raises BenchError for any answer but 200, and OSError.
    """
    waits: list[int] = []
    opened = [socket.create_connection((host, port), WAIT, (source, 0)) for _ in range(connections)]
    try:
        with selectors.DefaultSelector() as selector:
            asked = 0
            began = time.perf_counter_ns()
            end = began + round(seconds * 1e9)
            for sock in opened:
                sock.setblocking(False)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection = _Connection(sock)
                selector.register(sock, selectors.EVENT_READ, connection)
                connection.ask(requests[asked % len(requests)])
                asked += 1
            now = began
            while now < end:
                ready = selector.select(WAIT)
                if not ready:
                    raise BenchError(f"The server answered nobody for {WAIT:g} seconds.")
                for key, _ in ready:
                    connection = key.data
                    if connection.receive():
                        now = time.perf_counter_ns()
                        waits.append(now - connection.since)
                        connection.ask(requests[asked % len(requests)])
                        asked += 1
    finally:
        for sock in opened:
            sock.close()
    waits.sort()
    return Sample(len(waits), (now - began) / 1e9, percentile(waits, 50) / 1e3, percentile(waits, 99) / 1e3)


def answer_size(head: bytes) -> int | None:
    """The bytes of an answer, by what has come of it; None until its headers are whole.

    Raises BenchError for an answer that is not 200, or does not say how long it is.
    """
    end = head.find(HEAD_END)
    if end < 0:
        return None
    if not head.startswith(b"HTTP/1.1 200 "):
        raise BenchError(f"An answer was not 200: {head.partition(HEAD_END[:2])[0].decode('latin-1')}")
    field = head[: end + 2].lower().partition(LENGTH)[2].partition(b"\r\n")[0].strip()
    if not field.isdigit():
        raise BenchError("An answer does not say how long it is.")
    return end + len(HEAD_END) + int(field)


def percentile(ordered: Sequence[float], percent: float) -> float:
    """The value that `percent` of the values do not exceed (nearest rank). `ordered` ascends, and holds something."""
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]
