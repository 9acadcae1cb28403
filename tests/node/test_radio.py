"""Stations on links: what one link does to its station does nothing to the others, and a flood is got over."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pytest
from zeroconf import NotRunningException

from node.discovery import radio
from node.discovery.record import Advert, Heard, Key
from node.interfaces import Link
from tests.entryway.parts import OWNER

ETH, WLAN = (
    Link(name, index, (ipaddress.ip_interface(f"10.0.{index}.1/24"),))
    for index, name in enumerate(["eth0", "wlan0"], 1)
)
ADVERT = Advert(OWNER.id, "paperwork.home", "1", None, 7420, ("0.0.0.0",))


@dataclass
class Air:
    """What the links do, and what their stations did. `refuses`: what opening or announcing raises, by link."""

    refuses: dict[str, Exception] = field(default_factory=dict)
    refuses_to_announce: dict[str, Exception] = field(default_factory=dict)
    overrun: set[str] = field(default_factory=set)
    did: list[str] = field(default_factory=list)

    def station(
        self,
        link: Link,
        hear: Callable[[Key, Heard | None], None],
        wake: Callable[[], None],
        before: StationOnAir | None,
    ) -> StationOnAir:
        return StationOnAir(self, link, moved=before is not None)


@dataclass
class StationOnAir:
    """A station as the radio uses it."""

    air: Air
    link: Link
    moved: bool
    announced: bool = False

    @property
    def overrun(self) -> bool:
        return self.link.name in self.air.overrun

    async def open(self) -> None:
        await asyncio.sleep(0)
        if self.link.name in self.air.refuses:
            raise self.air.refuses[self.link.name]
        self.air.did.append(f"{'move' if self.moved else 'open'} {self.link.name}")

    async def announce(self, advert: Advert | None) -> None:
        if self.link.name in self.air.refuses_to_announce:
            raise self.air.refuses_to_announce[self.link.name]
        await asyncio.sleep(0.01)  # so that the refusal of another comes first
        self.announced = advert is not None
        self.air.did.append(f"announce {self.link.name}")

    async def close(self, *, goodbye: bool) -> None:
        await asyncio.sleep(0)
        self.air.did.append(f"{'leave' if goodbye else 'close'} {self.link.name}")

    def forget(self) -> None:
        self.air.did.append(f"forget {self.link.name}")


@pytest.fixture
def air(monkeypatch: pytest.MonkeyPatch) -> Air:
    made = Air()
    monkeypatch.setattr(radio, "Station", made.station)
    return made


def on_air(air: Air, *rounds: Callable[[], object]) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Tunes once, and again after each of `rounds`: on which links it is announced in the end, and what is wrong."""

    async def tuning() -> tuple[tuple[str, ...], Mapping[str, str]]:
        one = radio.Radio(lambda _key, _heard: None, lambda: None)
        await one.tune([ETH, WLAN], ADVERT)
        for change in rounds:
            air.did.clear()
            change()
            await one.tune([ETH, WLAN], ADVERT)
        return one.announced_on, dict(one.problems)

    return asyncio.run(tuning())


REFUSALS = [OSError(19, "No such device"), RuntimeError("no adapter"), NotRunningException("it is closed")]


@pytest.mark.parametrize("error", REFUSALS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("when", ["refuses", "refuses_to_announce"])
def test_a_link_that_refuses_ends_nothing_on_another(air: Air, when: str, error: Exception) -> None:
    getattr(air, when)["eth0"] = error
    announced_on, problems = on_air(air)
    assert announced_on == ("wlan0",)
    assert problems == {"eth0": getattr(error, "strerror", None) or str(error)}
    assert air.did[-1] == "announce wlan0"
    assert {"close eth0", "forget eth0"} < set(air.did)


def test_a_link_that_refused_is_tried_again_when_the_links_are_looked_at_next(air: Air) -> None:
    air.refuses_to_announce["eth0"] = OSError(100, "Network is down")
    announced_on, problems = on_air(air, air.refuses_to_announce.clear)
    assert (set(announced_on), problems) == ({"eth0", "wlan0"}, {})
    assert air.did[0] == "open eth0"


def test_a_flooded_link_gets_a_new_station_and_the_others_stay(air: Air) -> None:
    on_air(air, lambda: air.overrun.add("wlan0"))
    assert air.did == ["close wlan0", "move wlan0", "announce eth0", "announce wlan0"]
