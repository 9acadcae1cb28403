"""Presence on one link, in asyncio: announces this node there, and reads the records of the others.

The invariant: a station is present on one link only. It sends addresses of its own link alone, and hears that link
alone: the sockets of mDNS share one port, and Linux hands each of them what any other has joined, unless it is bound to
an interface. What leaves this module are `Heard` values, never a type of zeroconf.

Source: binding 7; RFC 6762 and 6763.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress

import structlog
from zeroconf import (
    Error,
    NonUniqueNameException,
    RecordUpdate,
    RecordUpdateListener,
    ServiceInfo,
    ServiceStateChange,
    Zeroconf,
)
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from node.discovery.record import SERVICE, Advert, Heard, Key, instance_names, read_record, text_of
from node.interfaces import Link

MOST_INSTANCES = 2048  # names that are attended to on one link
MOST_RECORDS = 8000  # of the 10,000 that zeroconf keeps, beyond which it drops those that run out first
RENEWED = 30.0  # seconds that an overrun station stays
RESOLVING = 16  # names that are asked for at once
RESOLVE_WAIT = 3000  # milliseconds until a record is taken as it is
FLUSHED = 1.5  # seconds until a record that another one replaces is out of the cache
SETTLED = 10.0  # seconds after which a station that moved has heard who is still there
CLOSE_WAIT = 3.0  # seconds
TXT = 16  # the type of a TXT record (RFC 1035)
IP_MULTICAST_ALL = 49  # of Linux; the socket module does not name it

REFUSALS = (OSError, RuntimeError, Error)
"""What a link is met with that does not carry mDNS (any more): by the system, and by zeroconf."""

Hear = Callable[[Key, Heard | None], None]

log = structlog.get_logger("discovery")


class Station:
    """Presence on one link. `before`: the station that was there until the addresses of the link changed."""

    def __init__(self, link: Link, hear: Hear, wake: Callable[[], None], before: Station | None) -> None:
        self.link = link
        self._hear = hear
        self._wake = wake
        self._mdns: AsyncZeroconf | None = None
        self._browser: AsyncServiceBrowser | None = None
        self._info: ServiceInfo | None = None
        self._advert: Advert | None = None
        self._names: tuple[str, ...] = before._names if before else ()
        self._number: int = before._number if before else 0
        self._owned = before is not None and before._info is not None
        self._known: set[str] = set()
        self._carried: set[str] = before._known | before._carried if before else set()
        self._looks: set[str] = set()
        self._resolving: dict[str, asyncio.Task[None]] = {}
        self._turns = asyncio.Semaphore(RESOLVING)
        self._settling: asyncio.TimerHandle | None = None
        self._moved = before is not None and before.announced
        self._replacing: asyncio.Task[None] | None = None
        self._opened = 0.0
        self._overflowed = False

    @property
    def announced(self) -> bool:
        """Whether this node is announced here."""
        return self._info is not None

    @property
    def overrun(self) -> bool:
        """Whether so much was announced here that whoever comes now goes unheard, and it is time to begin anew.

        What zeroconf drops it does not tell, so nothing but a new station forgets the names of a flood that is over.
        """
        if self._mdns is None or asyncio.get_running_loop().time() < self._opened + RENEWED:
            return False
        cache = self._mdns.zeroconf.cache
        return self._overflowed or sum(len(cache.entries_with_name(name)) for name in cache.names()) > MOST_RECORDS

    async def open(self) -> None:
        """Listens. Raises one of `REFUSALS`."""
        interfaces: list[str | int | tuple[tuple[str, int, int], int]] = []
        interfaces += [str(own.ip) for own in self.link.addresses if own.version == 4][:1]
        if any(own.version == 6 for own in self.link.addresses):
            interfaces.append(self.link.index)
        self._mdns = AsyncZeroconf(interfaces=interfaces)
        mdns = self._mdns.zeroconf
        await mdns.async_wait_for_start()
        _hear_own_link_only(mdns, self.link)
        if not mdns.engine.senders:
            raise RuntimeError("no address of it can be sent from")
        mdns.async_add_listener(_Ear(self), None)
        self._browser = AsyncServiceBrowser(mdns, SERVICE, handlers=[self._noticed])
        loop = asyncio.get_running_loop()
        self._opened = loop.time()
        self._settling = loop.call_later(SETTLED, self._settle)

    async def close(self, *, goodbye: bool) -> None:
        """Falls silent."""
        if self._settling is not None:
            self._settling.cancel()  # what was carried here is carried on
        for task in (*self._resolving.values(), *([self._replacing] if self._replacing else [])):
            task.cancel()
        if self._mdns is None:
            return
        if self._info is not None and not goodbye:
            self._mdns.zeroconf.registry.async_remove(self._info)
        if self._browser is not None:
            await self._browser.async_cancel()
        with suppress(*REFUSALS):
            await asyncio.wait_for(self._mdns.async_close(), CLOSE_WAIT)
        self._mdns = None

    def forget(self) -> None:
        """Everything that was heard here is gone."""
        for key in self._known | self._carried:
            self._hear((self.link.name, key), None)
        self._known, self._carried = set(), set()

    # Announcing.

    async def announce(self, advert: Advert | None) -> None:
        """Announces `advert` from now on, under the first of its names that is free. Raises one of `REFUSALS`."""
        addresses = [] if advert is None else _listened(self.link, advert.hosts)
        names = () if advert is None else instance_names(advert)
        if self._info is not None and (not addresses or names != self._names):
            await self._withdraw()
        if advert is None or not addresses or self._mdns is None:
            return
        if names != self._names:
            self._names, self._number, self._owned = names, 0, False
        if self._info is None:
            await self._claim(self._mdns, advert, addresses)
        elif advert != self._advert:
            self._info = self._laid_out(advert, addresses)
            await self._mdns.async_update_service(self._info)
        self._advert = advert

    async def _claim(self, mdns: AsyncZeroconf, advert: Advert, addresses: list[str]) -> None:
        while True:
            info = self._laid_out(advert, addresses)
            # The last name is nobody else's, and one that this node bore until just now needs no proof.
            sure = self._owned or self._number == len(self._names) - 1
            try:
                await mdns.async_register_service(info, cooperating_responders=sure, strict=False)
            except NonUniqueNameException:
                log.info("name_taken", interface=self.link.name, name=self._names[self._number])
                self._number += 1
            else:
                self._info, self._owned = info, True
                if self._moved:
                    self._moved = False
                    self._replacing = asyncio.get_running_loop().create_task(self._replace(mdns, info))
                log.info("announced", interface=self.link.name, name=self._names[self._number], addresses=addresses)
                return

    async def _replace(self, mdns: AsyncZeroconf, info: ServiceInfo) -> None:
        """Announces once more when nobody takes the addresses of before for a part of what is announced now.

        A record replaces only what was heard more than a second before it (RFC 6762, 10.2), and the station that was
        here until now may just have announced itself.
        """
        await asyncio.sleep(FLUSHED)
        if self._info is info:
            with suppress(*REFUSALS):
                await mdns.async_update_service(info)

    async def _withdraw(self) -> None:
        if self._mdns is not None and self._info is not None:
            info, self._info, self._advert, self._owned = self._info, None, None, False
            await (await self._mdns.async_unregister_service(info))

    def _laid_out(self, advert: Advert, addresses: list[str]) -> ServiceInfo:
        return ServiceInfo(
            SERVICE,
            f"{self._names[self._number]}.{SERVICE}",
            port=advert.port,
            properties=text_of(advert),
            # A name of its own for each link, and no name of the machine, which other programs may be announcing.
            server=f"{advert.id.lower()}-{self.link.index}.local.",
            parsed_addresses=addresses,
        )

    def contested(self) -> None:
        """Another agent announces itself under the name that is ours: we take the next one, and no goodbye."""
        if self._mdns is not None and self._info is not None and self._number < len(self._names) - 1:
            log.warning("name_contested", interface=self.link.name, name=self._names[self._number])
            self._mdns.zeroconf.registry.async_remove(self._info)
            self._info, self._owned = None, False
            self._number += 1
            self._wake()

    # Listening.

    def look(self, name: str) -> None:
        """Something of the instance `name` came: it is read when the packet has been taken, and once more later.

        A record that replaces another leaves the old one in the cache for a second (RFC 6762, 10.2).
        """
        if name in self._looks:
            return
        self._looks.add(name)
        loop = asyncio.get_running_loop()
        loop.call_soon(self._read, name)
        loop.call_later(FLUSHED, self._read_again, name)

    def about_us(self, name: str, text: bytes) -> bool:
        """Whether a TXT record is for our name. One by another agent contests it."""
        if self._info is None or name.lower() != self._info.key:
            return False
        if f"id={self._names[-1]}".encode() not in text:
            self.contested()
        return True

    def _noticed(
        self,
        zeroconf: Zeroconf,
        service_type: str,
        name: str,
        state_change: ServiceStateChange,
    ) -> None:
        if state_change is not ServiceStateChange.Removed:
            self.look(name)
            return
        key = _key_of(name)
        self._carried.discard(key)
        if key in self._known:
            self._known.discard(key)
            self._hear((self.link.name, key), None)

    def _read_again(self, name: str) -> None:
        self._looks.discard(name)
        if _key_of(name) in self._known:
            self._read(name)

    def _read(self, name: str) -> None:
        key = _key_of(name)
        if self._mdns is None or not self._attends_to(key):
            return
        info = AsyncServiceInfo(SERVICE, name)
        if info.load_from_cache(self._mdns.zeroconf):
            self._tell(info)
        elif key not in self._resolving:
            task = asyncio.get_running_loop().create_task(self._resolve(self._mdns.zeroconf, info))
            self._resolving[key] = task
            task.add_done_callback(lambda _task: self._resolving.pop(key, None))

    def _attends_to(self, key: str) -> bool:
        if key in self._known or len(self._known) < MOST_INSTANCES:
            self._known.add(key)
            self._carried.discard(key)
            return True
        if not self._overflowed:
            log.warning("too_many_records", interface=self.link.name, attended_to=MOST_INSTANCES)
        self._overflowed = True
        return False

    async def _resolve(self, mdns: Zeroconf, info: AsyncServiceInfo) -> None:
        async with self._turns:
            with suppress(*REFUSALS):
                await info.async_request(mdns, RESOLVE_WAIT)
        # As much of it as came: a record without an address is shown as what it is.
        if _key_of(info.name) in self._known:
            self._tell(info)

    def _tell(self, info: ServiceInfo) -> None:
        instance = info.name[: -len(SERVICE) - 1]
        heard = read_record(self.link.name, instance, info.properties, info.port or 0, info.parsed_addresses())
        self._hear((self.link.name, _key_of(info.name)), heard)

    def _settle(self) -> None:
        gone, self._carried = self._carried, set()
        for key in gone:
            self._hear((self.link.name, key), None)


class _Ear(RecordUpdateListener):
    """Hears what a browser keeps to itself: that a record came again, though nothing in it is new."""

    def __init__(self, station: Station) -> None:
        self._station = station

    def async_update_records(self, zc: Zeroconf, now: float, records: list[RecordUpdate]) -> None:
        for update in records:
            record = update.new
            text = getattr(record, "text", None) if record.type == TXT else None
            if isinstance(text, bytes) and record.name.lower().endswith(f".{SERVICE}"):
                ours = self._station.about_us(record.name, text)
                if not ours and update.old is not None and update.old is not record and not record.is_expired(now):
                    self._station.look(record.name)


def _key_of(name: str) -> str:
    return name[: -len(SERVICE) - 1].lower()


def _listened(link: Link, hosts: Iterable[str]) -> list[str]:
    """The addresses of a link that the node listens on."""
    hosts = set(hosts)
    everywhere = {4: "0.0.0.0" in hosts, 6: "::" in hosts}  # noqa: S104  # compared with, not bound to
    return [str(own.ip) for own in link.addresses if everywhere[own.version] or str(own.ip) in hosts]


def _hear_own_link_only(mdns: Zeroconf, link: Link) -> None:
    """Binds the sockets to the interface of their link, which anybody may do since Linux 5.7.

    Before, IPv4 can be told apart by what a socket has joined. IPv6 cannot: what is heard of another link is then
    taken for this one's, and asked in vain.
    """
    for reader in mdns.engine.readers:
        with suppress(OSError, AttributeError):
            reader.sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, link.name.encode() + b"\0")
            continue
        with suppress(OSError):  # another system than Linux, where a socket hears what it joined and no more
            reader.sock.setsockopt(socket.IPPROTO_IP, IP_MULTICAST_ALL, 0)
