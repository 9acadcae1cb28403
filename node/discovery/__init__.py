"""Who else is on the network: announces this node by mDNS and hears the others.

    Discovery (trio)  ── tune: links, advert ──>  Radio (asyncio, its own thread)
                      <── what was heard, newest of each record, bounded ──

The invariant: the thread and its event loop are all that zeroconf ever touches. What crosses to trio are frozen values
of our own; what waits to be taken is one value a record, and a bounded number of records. Nothing that goes wrong in
there, and nothing that comes from the network, ends the node.

zeroconf is imported in the thread, so that a node without discovery does not carry it in memory.

Source: binding 7.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import structlog
import trio

from node.discovery.record import Advert, Heard, Key
from node.interfaces import Link, adapters, chosen

POLL = 2.0  # seconds between two looks at the interfaces
AGAIN = 10.0  # seconds until a thread that failed is started again
MOST_WAITING = 4096  # records of which something waits to be taken

log = structlog.get_logger("discovery")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the radio is told. `interfaces`: names, or `*`. `advert`: None announces nothing. `stop`: for good."""

    interfaces: tuple[str, ...]
    advert: Advert | None = None
    stop: bool = False


@dataclass(frozen=True, slots=True)
class Presence:
    """How discovery fares: the links it is on, those on which the node is announced, and what is wrong, by link."""

    links: tuple[Link, ...] = ()
    announced_on: tuple[str, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()


class Inbox:
    """What was heard and not yet taken: the newest of each record. Filled by the thread, emptied by trio."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._lock = threading.Lock()
        self._waiting: dict[Key, Heard | None] = {}
        self.dropped = 0

    def put(self, key: Key, heard: Heard | None) -> None:
        """Takes what was heard; None: it is gone. When too much waits, what is about a new record is dropped."""
        with self._lock:
            if key not in self._waiting and len(self._waiting) >= MOST_WAITING:
                self.dropped += 1
                return
            first = not self._waiting
            self._waiting[key] = heard
        if first:
            self._wake()

    def take(self) -> Mapping[Key, Heard | None]:
        """Everything that waits."""
        with self._lock:
            taken, self._waiting = self._waiting, {}
        return taken


class Discovery:
    """The trio face. `hear` is called in trio's thread with what was heard since the last time; it must not raise."""

    def __init__(
        self,
        interfaces: Sequence[str],
        hear: Callable[[Mapping[Key, Heard | None]], None],
        choose: Callable[[Sequence[str]], tuple[Link, ...]] = lambda names: chosen(adapters(), names),
    ) -> None:
        self.presence = Presence()
        self._hear = hear
        self._choose = choose
        self._wanted = Wanted(tuple(interfaces))
        self._nudge: Callable[[], None] = lambda: None
        self._inbox: Inbox | None = None

    def announce(self, advert: Advert | None) -> None:
        """Announces this from now on; None announces nothing, and says goodbye to what was announced."""
        self._want(Wanted(self._wanted.interfaces, advert))

    def use(self, interfaces: Sequence[str]) -> None:
        """Is on these interfaces from now on."""
        self._want(Wanted(tuple(interfaces), self._wanted.advert))

    @property
    def dropped(self) -> int:
        """How many records were not attended to, because too much waited."""
        return 0 if self._inbox is None else self._inbox.dropped

    async def run(self) -> None:
        """Announces and hears until it is canceled; then says goodbye, which takes a moment, and ends."""
        token = trio.lowlevel.current_trio_token()
        self._inbox = inbox = Inbox(lambda: _soon(token, self._deliver))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._stop_when_canceled)
            while not self._wanted.stop:
                # Shielded, because the thread ends by itself when it is told to: it says goodbye first.
                with trio.CancelScope(shield=True):
                    await trio.to_thread.run_sync(self._listen, inbox, limiter=trio.CapacityLimiter(1))
                if not self._wanted.stop:
                    await trio.sleep(AGAIN)
            nursery.cancel_scope.cancel()

    async def _stop_when_canceled(self) -> None:
        try:
            await trio.sleep_forever()
        finally:
            self._want(Wanted(self._wanted.interfaces, stop=True))

    def _want(self, wanted: Wanted) -> None:
        if not self._wanted.stop and wanted != self._wanted:
            self._wanted = wanted
            self._nudge()

    def _deliver(self) -> None:
        if self._inbox is not None:
            self._hear(self._inbox.take())

    # From here on in the thread.

    def _listen(self, inbox: Inbox) -> None:
        try:
            asyncio.run(self._keep_tuned(inbox))
        except Exception:  # the network must not be able to end the node
            log.exception("discovery_failed", again_in=AGAIN)
        finally:
            self._nudge = lambda: None
            self.presence = Presence(problems=(("", "discovery does not run; its log says why"),))

    async def _keep_tuned(self, inbox: Inbox) -> None:
        from node.discovery.radio import Radio  # noqa: PLC0415  # only a node with discovery carries zeroconf

        loop, nudged = asyncio.get_running_loop(), asyncio.Event()
        loop.set_exception_handler(lambda _loop, context: log.debug("mdns_task_failed", reason=str(context)))
        self._nudge = lambda: _threadsafe(loop, nudged.set)
        radio = Radio(inbox.put, nudged.set)
        try:
            while not self._wanted.stop:
                nudged.clear()
                wanted = self._wanted
                links = self._choose(wanted.interfaces)
                # Known before anything is heard on them.
                self.presence = Presence(links, self.presence.announced_on, self.presence.problems)
                await radio.tune(links, wanted.advert)
                self.presence = Presence(links, radio.announced_on, tuple(sorted(radio.problems.items())))
                with suppress(TimeoutError):
                    await asyncio.wait_for(nudged.wait(), POLL)
        finally:
            await radio.close()


def _soon(token: trio.lowlevel.TrioToken, act: Callable[[], None]) -> None:
    with suppress(trio.RunFinishedError):
        token.run_sync_soon(act)


def _threadsafe(loop: asyncio.AbstractEventLoop, act: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # the loop is closed: who would have been told has ended
        loop.call_soon_threadsafe(act)
