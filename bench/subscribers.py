"""What listening costs: how long after a publish the last of many readers has it, and what each one takes of memory.

The readers are sockets of this process, on the load core; the node has the other. A reader has an event when its bytes
are in the reader's socket, as for any reader that waits for them.
"""

from __future__ import annotations

import os
import selectors
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import httpx

from bench.documents import FilledHome
from bench.errors import BenchError
from bench.machine import memory
from bench.servers import node

READERS = (1_000, 5_000)
PUBLISHES = 5  # at each number of readers
FOLLOWED = 100  # readers while publishes are sustained
SUSTAINED = 100  # publishes then
MAJOR = "3"
LONGEST = 60.0  # seconds until the last reader has an event


def measure(home: FilledHome, directory: Path, core: int) -> dict[str, Any]:
    """Milliseconds from a publish to its last delivery, and KiB a reader, for each number of readers.

    Raises BenchError when a reader does not get what was announced.
    """
    os.environ["AGENT_NODE_SUBSCRIBERS"] = str(max(READERS) + 10)
    try:
        with node("subscribers", home.path, directory, core) as running, ExitStack() as stack:
            client = stack.enter_context(
                httpx.Client(
                    transport=httpx.HTTPTransport(uds=str(home.path / "control.sock")),
                    base_url="http://node",
                    timeout=LONGEST,
                    trust_env=False,
                )
            )
            publisher = _Publisher(home, client)
            report: dict[str, Any] = {}
            before = memory(running.pid)["rss_mib"]
            with readers(FOLLOWED, running.port) as listening:
                began = time.perf_counter()
                for _ in range(SUSTAINED):
                    listening.expect(publisher.publish)
                report["publishes_per_second_100_readers"] = round(SUSTAINED / (time.perf_counter() - began), 1)
            for number in READERS:
                with readers(number, running.port) as listening:
                    each = (memory(running.pid)["rss_mib"] - before) * 1024 / number
                    took = [listening.expect(publisher.publish) * 1e3 for _ in range(PUBLISHES)]
                    report[str(number)] = {
                        "last_delivery_ms": round(median(took), 1),
                        "kib_each": round(each, 1),
                    }
            return report
    finally:
        del os.environ["AGENT_NODE_SUBSCRIBERS"]


class _Publisher:
    def __init__(self, home: FilledHome, client: httpx.Client) -> None:
        self._home = home
        self._client = client
        self._number = 0

    def publish(self) -> None:
        self._number += 1
        answer = self._client.post("/publish", content=self._home.drafts.draft(MAJOR, self._number))
        if answer.status_code != 200:
            raise BenchError(f"A publish was refused: {answer.text[:300]}")


class _Readers:
    def __init__(self, selector: selectors.BaseSelector) -> None:
        self._selector = selector

    def expect(self, act: Any) -> float:
        """Seconds from the beginning of `act` until every reader has one event more."""
        waiting = len(self._selector.get_map())
        failed: list[BaseException] = []

        def acting() -> None:
            try:
                act()
            except BaseException as error:  # told by the thread that waits
                failed.append(error)

        thread = threading.Thread(target=acting)
        began = time.perf_counter()
        thread.start()
        while waiting > 0:
            if failed or time.perf_counter() - began > LONGEST:
                raise BenchError(f"{waiting} readers did not get an event. {failed or ''}")
            for key, _ in self._selector.select(1.0):
                assert isinstance(key.fileobj, socket.socket)
                waiting -= key.fileobj.recv(65536).count(b"\nid: ")  # a comment has none
        took = time.perf_counter() - began
        thread.join()
        return took


@contextmanager
def readers(number: int, port: int) -> Iterator[_Readers]:
    """So many readers of the events, from now on."""
    with selectors.DefaultSelector() as selector, ExitStack() as opened:
        for _ in range(number):
            sock = opened.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
            sock.sendall(b"GET /events HTTP/1.1\r\nHost: bench\r\n\r\n")
            head = b""
            while b"\r\n\r\n" not in head:
                piece = sock.recv(4096)
                if not piece:
                    raise BenchError("The node did not take a reader.")
                head += piece
            if not head.startswith(b"HTTP/1.1 200 "):
                raise BenchError(f"The node did not take a reader: {head[:80]!r}")
            selector.register(sock, selectors.EVENT_READ)
        time.sleep(1)
        yield _Readers(selector)
