"""The trio face of discovery, with a radio that hears what a test says: what crosses, how much, and how it ends."""

from __future__ import annotations

import ipaddress
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import trio

from node import discovery
from node.discovery import MOST_WAITING, Discovery, Inbox, Presence
from node.discovery import radio as radio_module
from node.discovery.record import Advert, Heard, Key
from node.interfaces import Link
from tests.end_to_end.harness import environment
from tests.entryway.parts import OWNER

LINK = Link("lan0", 2, (ipaddress.ip_interface("10.0.0.1/24"),))
ADVERT = Advert(OWNER.id, "paperwork.home", "1", None, 7420, ("0.0.0.0",))
HEARD = Heard("lan0", "x", OWNER.id, None, None, None, "", 7420, ())


def key(name: str) -> Key:
    return ("lan0", name)


# The inbox.


def test_the_newest_of_each_record_waits_and_one_wake_stands_for_all() -> None:
    woken: list[None] = []
    inbox = Inbox(lambda: woken.append(None))
    inbox.put(key("a"), HEARD)
    inbox.put(key("b"), HEARD)
    inbox.put(key("a"), None)
    assert len(woken) == 1
    assert inbox.take() == {key("a"): None, key("b"): HEARD}
    assert inbox.take() == {}
    inbox.put(key("a"), HEARD)
    assert len(woken) == 2


def test_what_waits_is_bounded_and_what_is_known_already_still_gets_through() -> None:
    inbox = Inbox(lambda: None)
    for number in range(MOST_WAITING + 10):
        inbox.put(key(str(number)), HEARD)
    inbox.put(key("0"), None)
    taken = inbox.take()
    assert (len(taken), taken[key("0")], inbox.dropped) == (MOST_WAITING, None, 10)
    inbox.put(key("new"), HEARD)
    assert inbox.take() == {key("new"): HEARD}


# The face.


@dataclass
class Radios:
    """Every radio that was made, and what each was told. `breaks`: tuning raises."""

    told: list[tuple[tuple[Link, ...], Advert | None]] = field(default_factory=list)
    threads: set[int] = field(default_factory=set)
    closed: int = 0
    breaks: bool = False
    hear: Callable[[Key, Heard | None], None] | None = None

    def make(self, hear: Callable[[Key, Heard | None], None], wake: Callable[[], None]) -> Any:
        self.hear = hear
        radios = self

        class Radio:
            announced_on = ("lan0",)
            problems: Mapping[str, str] = {}

            async def tune(self, links: Sequence[Link], advert: Advert | None) -> None:
                radios.threads.add(threading.get_ident())
                if radios.breaks:
                    raise RuntimeError("the library has a fault")
                radios.told.append((tuple(links), advert))

            async def close(self) -> None:
                radios.closed += 1

        return Radio()


@pytest.fixture
def radios(monkeypatch: pytest.MonkeyPatch) -> Radios:
    made = Radios()
    monkeypatch.setattr(radio_module, "Radio", made.make)
    monkeypatch.setattr(discovery, "POLL", 0.05)
    monkeypatch.setattr(discovery, "AGAIN", 0.05)
    return made


@asynccontextmanager
async def discovering(
    heard: list[Mapping[Key, Heard | None]], choose: Callable[[Sequence[str]], tuple[Link, ...]] = lambda _: (LINK,)
) -> AsyncIterator[Discovery]:
    one = Discovery(["*"], heard.append, choose)
    with trio.fail_after(10):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(one.run)
            yield one
            nursery.cancel_scope.cancel()


async def until(look: Callable[[], object]) -> None:
    while not look():
        await trio.sleep(0.01)


async def test_it_runs_in_a_thread_of_its_own_and_says_goodbye_when_it_is_canceled(radios: Radios) -> None:
    async with discovering([]) as one:
        await until(lambda: one.presence.announced_on)
        assert one.presence == Presence((LINK,), ("lan0",), ())
        assert radios.threads and threading.get_ident() not in radios.threads
        assert radios.closed == 0
    assert radios.closed == 1
    assert one.presence.links == ()


async def test_what_is_announced_reaches_the_radio_at_once_and_the_last_word_stands(
    radios: Radios, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "POLL", 60.0)
    async with discovering([]) as one:
        one.announce(ADVERT)  # before the thread has begun
        await until(lambda: radios.told and radios.told[-1][1] == ADVERT)
        one.announce(None)
        await until(lambda: radios.told[-1][1] is None)
        one.use(["lan0"])
        await trio.sleep(0.2)
        before = len(radios.told)
        one.announce(None)
        await trio.sleep(0.2)
        assert len(radios.told) == before  # nothing new was said


async def test_interfaces_that_come_and_go_are_followed(radios: Radios) -> None:
    links: list[Link] = []
    asked: list[Sequence[str]] = []

    def choose(names: Sequence[str]) -> tuple[Link, ...]:
        asked.append(tuple(names))
        return tuple(links)

    async with discovering([], choose) as one:
        await until(lambda: radios.told and radios.told[-1][0] == ())
        links.append(LINK)
        await until(lambda: radios.told[-1][0] == (LINK,))
        assert one.presence.links == (LINK,)
        links.clear()
        await until(lambda: radios.told[-1][0] == ())
        one.use(["eth7"])
        await until(lambda: asked[-1] == ("eth7",))


async def test_what_is_heard_in_the_thread_comes_in_trio(radios: Radios) -> None:
    heard: list[Mapping[Key, Heard | None]] = []
    threads: set[int] = set()

    class Noting(list[Mapping[Key, Heard | None]]):
        def append(self, batch: Mapping[Key, Heard | None]) -> None:
            threads.add(threading.get_ident())
            heard.append(batch)

    async with discovering(Noting()):
        await until(lambda: radios.hear)
        assert radios.hear is not None
        hear = radios.hear
        await trio.to_thread.run_sync(lambda: [hear(key(str(number % 3)), HEARD) for number in range(300)])
        await until(lambda: {one for batch in heard for one in batch} == {key("0"), key("1"), key("2")})
    assert threads == {threading.get_ident()}


async def test_a_fault_in_there_is_told_and_does_not_end_the_node(
    radios: Radios, capsys: pytest.CaptureFixture[str]
) -> None:
    radios.breaks = True
    async with discovering([]) as one:
        await until(lambda: one.presence.problems)
        assert radios.closed >= 1
        radios.breaks = False
        await until(lambda: radios.told)
        await until(lambda: one.presence.announced_on)
    assert "discovery_failed" in capsys.readouterr().out


def test_a_node_without_discovery_does_not_carry_zeroconf() -> None:
    script = "import sys, node.daemon; print([one for one in ('zeroconf', 'httpx') if one in sys.modules])"
    said = subprocess.run([sys.executable, "-c", script], env=environment(), capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
