"""The mDNS side of discovery, in asyncio, on a thread of its own. Nothing but `node.discovery` imports this module.

    link comes      a station opens on it, announces and listens
    link changes    its station moves: opened anew under the name it had, without a goodbye
    link goes       its station closes; what was heard there is gone
    stop            goodbye on every link

The invariant: a station is present on one link only. It sends addresses of its own link alone, and hears that link
alone: the sockets of mDNS share one port, and without `IP_MULTICAST_ALL` off Linux would hand each of them what any
other has joined. What leaves this module are `Heard` values, never a type of zeroconf.

Source: binding 7; RFC 6762 and 6763.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

import structlog
from zeroconf import (
    NonUniqueNameException,
    NotRunningException,
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
RESOLVING = 16  # names that are asked for at once
RESOLVE_WAIT = 3000  # milliseconds until a record is taken as it is
FLUSHED = 1.5  # seconds until a record that another one replaces is out of the cache
SETTLED = 10.0  # seconds after which a station that moved has heard who is still there
CLOSE_WAIT = 3.0  # seconds
TXT = 16  # the type of a TXT record (RFC 1035)
IP_MULTICAST_ALL, IPV6_MULTICAST_ALL = 49, 29  # of Linux; the socket module does not name them

Hear = Callable[[Key, Heard | None], None]

log = structlog.get_logger("discovery")
# Packets that cannot be read are daily bread on a network; what matters is said here, in our own words.
logging.getLogger("zeroconf").setLevel(logging.CRITICAL)


class Radio:
    """Stations on the links that are wanted. For one event loop."""

    def __init__(self, hear: Hear, wake: Callable[[], None]) -> None:
        self._hear = hear
        self._wake = wake
        self._stations: dict[str, Station] = {}
        self.problems: dict[str, str] = {}
        """Why a link has no station, by its name."""

    @property
    def announced_on(self) -> tuple[str, ...]:
        """The links on which this node is announced."""
        return tuple(name for name, station in self._stations.items() if station.announced)

    async def tune(self, links: Sequence[Link], advert: Advert | None) -> None:
        """Makes what is there what is wanted: a station a link, each announcing `advert`; None announces nothing."""
        wanted = {link.name: link for link in links}
        self.problems = {name: why for name, why in self.problems.items() if name in wanted}
        for name, station in list(self._stations.items()):
            if wanted.get(name) != station.link:
                del self._stations[name]
                await station.close(goodbye=False)
                if name in wanted:
                    await self._open(wanted[name], station)
                else:
                    station.forget()
        for name in wanted.keys() - self._stations.keys():
            await self._open(wanted[name], None)
        await asyncio.gather(*(station.announce(advert) for station in self._stations.values()))

    async def close(self) -> None:
        """Says goodbye everywhere."""
        stations, self._stations = self._stations, {}
        await asyncio.gather(*(station.close(goodbye=True) for station in stations.values()))

    async def _open(self, link: Link, before: Station | None) -> None:
        station = Station(link, self._hear, self._wake, before)
        try:
            await station.open()
        except (OSError, RuntimeError, NotRunningException, TimeoutError) as error:
            why = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
            if self.problems.get(link.name) != why:
                log.warning("interface_without_mdns", interface=link.name, reason=why)
            self.problems[link.name] = why
            await station.close(goodbye=False)
            station.forget()
            return
        self.problems.pop(link.name, None)
        self._stations[link.name] = station
        log.info("listening", interface=link.name, addresses=[str(own.ip) for own in link.addresses])


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
        self._overflowed = False

    @property
    def announced(self) -> bool:
        """Whether this node is announced here."""
        return self._info is not None

    async def open(self) -> None:
        """Listens. Raises OSError, RuntimeError, NotRunningException and TimeoutError for what the system refuses."""
        interfaces: list[str | int | tuple[tuple[str, int, int], int]] = []
        interfaces += [str(own.ip) for own in self.link.addresses if own.version == 4][:1]
        if any(own.version == 6 for own in self.link.addresses):
            interfaces.append(self.link.index)
        self._mdns = AsyncZeroconf(interfaces=interfaces)
        mdns = self._mdns.zeroconf
        await mdns.async_wait_for_start()
        _hear_own_link_only(mdns)
        if not mdns.engine.senders:
            raise RuntimeError("no address of it can be sent from")
        mdns.async_add_listener(_Ear(self), None)
        self._browser = AsyncServiceBrowser(mdns, SERVICE, handlers=[self._noticed])
        asyncio.get_running_loop().call_later(SETTLED, self._settle)

    async def close(self, *, goodbye: bool) -> None:
        """Falls silent."""
        for task in self._resolving.values():
            task.cancel()
        if self._mdns is None:
            return
        if self._info is not None and not goodbye:
            self._mdns.zeroconf.registry.async_remove(self._info)
        if self._browser is not None:
            await self._browser.async_cancel()
        with suppress(TimeoutError, OSError):
            await asyncio.wait_for(self._mdns.async_close(), CLOSE_WAIT)
        self._mdns = None

    def forget(self) -> None:
        """Everything that was heard here is gone."""
        for key in self._known | self._carried:
            self._hear((self.link.name, key), None)
        self._known, self._carried = set(), set()

    # Announcing.

    async def announce(self, advert: Advert | None) -> None:
        """Announces `advert` from now on, under the first of its names that is free."""
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
                log.info("announced", interface=self.link.name, name=self._names[self._number], addresses=addresses)
                return

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
            with suppress(NotRunningException, OSError):
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


def _hear_own_link_only(mdns: Zeroconf) -> None:
    for reader in mdns.engine.readers:
        options = [(socket.IPPROTO_IP, IP_MULTICAST_ALL)]
        if reader.is_ipv6:
            options.append((socket.IPPROTO_IPV6, IPV6_MULTICAST_ALL))
        for level, option in options:
            with suppress(OSError):  # another system than Linux, where a socket hears what it joined and no more
                reader.sock.setsockopt(level, option, 0)
