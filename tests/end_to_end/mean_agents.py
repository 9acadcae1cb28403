"""Agents that are followed and should not be, each in its own way, and records that nobody should believe.

They run in a thread of their own, on loopback, for as long as a block does.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import trio
from zeroconf import ServiceInfo
from zeroconf.asyncio import AsyncZeroconf

from descriptor.keys import Identity
from entryway.server import Server
from node.discovery.record import SERVICE
from tests.end_to_end.harness import WAIT
from tests.entryway.parts import LIMITS, listening
from tests.node.followed import Peer, on, on_events

FLOOD = 0.05
"""Seconds between two versions of the one that publishes without end."""
CHUNK = b"x" * 65_536
RECORDS = 50


class MeanAgents:
    """Six of them. `places`: the id and the URL of each, once they serve."""

    def __init__(self) -> None:
        self.places: list[tuple[str, str]] = []
        self._peers = [Peer(Identity.generate(), time.time) for _ in range(6)]
        self._serving = threading.Event()
        self._over = threading.Event()

    @contextmanager
    def running(self) -> Iterator[None]:
        thread = threading.Thread(target=trio.run, args=(self._run,), daemon=True)
        thread.start()
        try:
            assert self._serving.wait(WAIT)
            yield
        finally:
            self._over.set()
            thread.join(WAIT)

    async def _run(self) -> None:
        flooding, forging, repeating, huge, dripping, moving = self._peers
        for peer in self._peers:
            for number in range(5):
                peer.publish(str(number))
        forged = b'event: descriptor.replaced\nid: 9\ndata: {"from":"U","payload":{"seq":9}}\n\n'
        forging.mean = on_events(*[forged] * 500)
        repeating.mean = on_events(*[b'event: reset\nid: 3\ndata: {"seq":3}\n\n'] * 1000, over=True)
        huge.mean = on_events(*[CHUNK] * 100)
        dripping.mean = on_events(*[piece for _ in range(600) for piece in (b"d", 0.1)], over=True)
        moving.mean = on(b"/events", 302, headers=[("Location", "http://127.0.0.1:1/events")])
        async with trio.open_nursery() as nursery:
            for peer in self._peers:
                sock = listening()
                self.places.append((peer.identity.id, f"http://127.0.0.1:{sock.getsockname()[1]}"))
                nursery.start_soon(peer.feed.run)
                await nursery.start(Server(peer, LIMITS).serve, [sock])
            self._serving.set()
            number = 5
            while not self._over.is_set():
                flooding.publish(str(number))
                number += 1
                await trio.sleep(FLOOD)
            nursery.cancel_scope.cancel()


def announce_records(place: int, meanwhile: Callable[[], None]) -> None:
    """Announces records of nobody on loopback, and withdraws them after `meanwhile`. Where it cannot, it does not."""
    with suppress(OSError):
        asyncio.run(_announce(place, meanwhile))


async def _announce(place: int, meanwhile: Callable[[], None]) -> None:
    mdns = AsyncZeroconf(interfaces=["127.0.0.1"])
    try:
        for number in range(RECORDS):
            text = {"txtvers": "1", "id": Identity.generate().id, "digest": "sha256:" + "0" * 64, "ver": "9" * 200}
            info = ServiceInfo(
                SERVICE,
                f"nobody-{place}-{number}.{SERVICE}",
                port=1 + number,
                properties={} if number % 5 == 0 else text,
                server=f"nobody-{number}.local.",
                parsed_addresses=["127.0.0.1"],
            )
            await mdns.async_register_service(info, cooperating_responders=True)
        await asyncio.sleep(1.0)  # so that somebody hears them
        meanwhile()
        await mdns.async_unregister_all_services()
    finally:
        await mdns.async_close()
