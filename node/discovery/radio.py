"""The mDNS side of discovery, in asyncio, on a thread of its own: a station on each link. Nothing but `node.discovery`
imports this module, and through it zeroconf.

    link comes      a station opens on it, announces and listens
    link changes    its station moves: opened anew under the name it had, without a goodbye
    link is flooded its station moves likewise: what is not heard again soon was not there
    link refuses    its station closes; it is opened again when the links are looked at next
    link goes       its station closes; what was heard there is gone
    stop            goodbye on every link

The invariant: what one link does to its station does nothing to the others.

Source: binding 7.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

import structlog

from node.discovery.record import Advert
from node.discovery.station import REFUSALS, Hear, Station
from node.interfaces import Link

log = structlog.get_logger("discovery")


class Radio:
    """Stations on the links that are wanted. For one event loop."""

    def __init__(self, hear: Hear, wake: Callable[[], None]) -> None:
        self._hear = hear
        self._wake = wake
        self._stations: dict[str, Station] = {}
        self.problems: dict[str, str] = {}
        """Why a link has no station, by its name."""
        # Packets that cannot be read are daily bread on a network; what matters is said here, in our own words.
        logging.getLogger("zeroconf").setLevel(logging.CRITICAL)

    @property
    def announced_on(self) -> tuple[str, ...]:
        """The links on which this node is announced."""
        return tuple(name for name, station in self._stations.items() if station.announced)

    async def tune(self, links: Sequence[Link], advert: Advert | None) -> None:
        """Makes what is there what is wanted: a station a link, each announcing `advert`; None announces nothing."""
        wanted = {link.name: link for link in links}
        self.problems = {name: why for name, why in self.problems.items() if name in wanted}
        for name, station in list(self._stations.items()):
            if wanted.get(name) != station.link or station.overrun:
                del self._stations[name]
                await station.close(goodbye=False)
                if name in wanted:
                    await self._open(wanted[name], station)
                else:
                    station.forget()
        for name in wanted.keys() - self._stations.keys():
            await self._open(wanted[name], None)
        await asyncio.gather(*(self._announce(station, advert) for station in self._stations.values()))

    async def close(self) -> None:
        """Says goodbye everywhere."""
        stations, self._stations = self._stations, {}
        await asyncio.gather(*(station.close(goodbye=True) for station in stations.values()))

    async def _open(self, link: Link, before: Station | None) -> None:
        station = self._stations[link.name] = Station(link, self._hear, self._wake, before)
        try:
            await station.open()
        except REFUSALS as error:
            await self._give_up(station, error)
        else:
            self.problems.pop(link.name, None)
            log.info("listening", interface=link.name, addresses=[str(own.ip) for own in link.addresses])

    async def _announce(self, station: Station, advert: Advert | None) -> None:
        try:
            await station.announce(advert)
        except REFUSALS as error:
            await self._give_up(station, error)

    async def _give_up(self, station: Station, error: Exception) -> None:
        """Closes a station whose link refuses. It is opened again when the links are looked at next."""
        name = station.link.name
        why = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
        if self.problems.get(name) != why:
            log.warning("interface_without_mdns", interface=name, reason=why)
        self.problems[name] = why
        del self._stations[name]
        await station.close(goodbye=False)
        station.forget()
