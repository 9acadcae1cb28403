"""The neighborhood: whom it asks, when, where and how often, and what it keeps. No network, and a clock of its own."""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from descriptor.digests import digest_of
from descriptor.keys import Identity
from entryway.verdict import judge_reply
from node.discovery.record import Heard
from node.interfaces import Link
from node.neighborhood import AT_ONCE, FIRST_RETRY, RECHECKED, Neighborhood, PeerLimits
from node.pace import BURST
from node.peerbook import FLUSH_AFTER, FLUSH_AT_LEAST, PROVEN_AFTER
from node.peers import Answered, NoAnswer, State
from store import Peer, Reader, Store, StoreError
from tests.entryway.parts import NOW, document
from tests.entryway.test_verdict import REQUEST, reply_by

OWN = Identity.generate()
AGENTS = [Identity.generate() for _ in range(3)]
ANN, BEN, EVE = AGENTS
LINK = Link("lan0", 2, (ipaddress.ip_interface("10.0.0.1/16"),))
RECHECK = 60.0


def descriptor(agent: Identity, handle: str = "ann.home", agent_version: str = "1") -> bytes:
    return document(agent, subject={"id": agent.id, "handle": handle}, agent_version=agent_version)


def heard(agent: Identity, *addresses: str, handle: str | None = "ann.home", **other: Any) -> Heard:
    record = Heard("lan0", "x", agent.id, handle, "1", None, "", 7420, addresses or ("10.0.0.2",))
    return replace(record, **other)


def key(name: str) -> tuple[str, str]:
    return ("lan0", name)


@dataclass
class World:
    """Who answers where. `asked`: each question, as seconds since the start and its URL."""

    tmp: Path
    answers: dict[str, Callable[[str], Answered]] = field(default_factory=dict)
    asked: list[tuple[float, str]] = field(default_factory=list)
    began: float = 0.0
    open: int = 0
    most_open: int = 0
    takes: float = 0.0
    refusal: StoreError | None = None
    writes: int = 0
    links: tuple[Link, ...] = (LINK,)

    def says(self, url: str, agent: Identity, data: bytes | None) -> None:
        """At `url` answers an agent, honestly, with these bytes."""
        self.answers[url] = lambda expected: judge_reply(
            reply_by(agent, data), REQUEST, NOW, data, expected_id=expected
        )

    async def ask(self, url: str, agent_id: str) -> Answered:
        self.asked.append((round(trio.current_time() - self.began, 3), url))
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            await trio.sleep(self.takes)
        finally:
            self.open -= 1
        answer = self.answers.get(url)
        return NoAnswer("UNREACHABLE", f"{agent_id} is not there.") if answer is None else answer(agent_id)

    @property
    def urls(self) -> list[str]:
        return [url for _, url in self.asked]


@asynccontextmanager
async def neighborhood(world: World, peers: int = 100, recheck: float = RECHECK) -> AsyncIterator[Neighborhood]:
    """A neighborhood that runs, on the store in `world.tmp`."""
    world.began = trio.current_time()
    with Store.open(world.tmp / "node.db") as store, Reader.open(world.tmp / "node.db") as reader:

        async def write(act: Callable[[Store], None]) -> None:
            await trio.lowlevel.checkpoint()
            world.writes += 1
            if world.refusal is not None:
                raise world.refusal
            act(store)

        one = Neighborhood(
            OWN.id,
            reader.peers(),
            PeerLimits(peers, recheck),
            write=write,
            links=lambda: world.links,
            clock=lambda: NOW + trio.current_time() - world.began,
            ask=world.ask,
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(one.run)
            yield one
            nursery.cancel_scope.cancel()


def states(one: Neighborhood) -> dict[str | None, list[str]]:
    """The states of each id."""
    found: dict[str | None, list[str]] = {}
    for peer in one.document():
        found.setdefault(peer["id"], []).append(str(peer["state"]))  # type: ignore[arg-type]  # an id or None
    return found


def kept(tmp: Path) -> Mapping[str, Peer]:
    with Reader.open(tmp / "node.db") as reader:
        return {peer.id: peer for peer in reader.peers()}


@pytest.fixture
def clock(autojump_clock: MockClock) -> MockClock:
    """Time passes at once where nothing else happens."""
    return autojump_clock


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def test_who_is_heard_is_asked_verified_and_kept_with_its_bytes(world: World, clock: MockClock) -> None:
    data = descriptor(ANN)
    world.says("http://10.0.0.2:7420", ANN, data)
    async with neighborhood(world) as one:
        one.hear({key("ann"): heard(ANN)})
        assert states(one) == {ANN.id: ["heard"]}
        await trio.sleep(1)
        assert states(one) == {ANN.id: ["verified"]}
        assert kept(world.tmp)[ANN.id].state == "verified"
    with Reader.open(world.tmp / "node.db") as reader:
        assert reader.peer_descriptor(ANN.id) == data
        assert reader.peers()[0].digest == digest_of(data)


async def test_the_own_record_is_ignored(world: World, clock: MockClock) -> None:
    async with neighborhood(world) as one:
        one.hear({key("own"): heard(OWN)})
        await trio.sleep(10)
        assert (one.document(), world.asked) == ([], [])


async def test_a_record_without_an_id_is_shown_and_not_asked(world: World, clock: MockClock) -> None:
    async with neighborhood(world) as one:
        one.hear({key("x"): heard(ANN, id=None, problem="Its record states no agent's id.")})
        await trio.sleep(10)
        assert states(one) == {None: ["mismatch"]}
        assert world.asked == []
        one.hear({key("x"): None})
        assert states(one) == {}


async def test_only_addresses_of_the_link_are_dialed_and_a_bounded_number(world: World, clock: MockClock) -> None:
    near = [f"10.0.0.{number}" for number in range(2, 9)]
    async with neighborhood(world) as one:
        one.hear({key("x"): heard(ANN, "203.0.113.1", "127.0.0.1", "10.0.255.255", "::1", *near)})
        await trio.sleep(1)
        assert world.urls == [f"http://10.0.0.{number}:7420" for number in range(2, 6)]
        one.hear({key("y"): heard(BEN, "203.0.113.1")})
        await trio.sleep(1)
        (ben,) = [peer for peer in one.document() if peer["id"] == BEN.id]
        assert (ben["state"], ben["addresses"]) == ("unreachable", [])
        assert "no other one is dialed" in str(ben["reason"])


async def test_a_record_heard_on_one_link_leads_nowhere_on_another(world: World, clock: MockClock) -> None:
    world.links = (LINK, Link("lan1", 3, (ipaddress.ip_interface("10.9.0.1/24"),)))
    async with neighborhood(world) as one:
        one.hear({key("x"): heard(ANN, "10.9.0.2")})
        await trio.sleep(1)
        assert world.asked == []


async def test_the_first_address_that_verifies_is_taken_and_stands_first(world: World, clock: MockClock) -> None:
    world.says("http://10.0.0.3:7420", EVE, descriptor(EVE))
    world.says("http://10.0.0.4:7420", ANN, descriptor(ANN))
    async with neighborhood(world) as one:
        one.hear({key("ann"): heard(ANN, "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5")})
        await trio.sleep(1)
        assert world.urls == [f"http://10.0.0.{number}:7420" for number in (2, 3, 4)]
        (ann,) = one.document()
        assert ann["state"] == "verified"
        assert ann["addresses"][0] == "10.0.0.4:7420"  # type: ignore[index]  # a list
        await trio.sleep(RECHECK)
        assert world.urls[3:] == ["http://10.0.0.4:7420"]


async def test_one_that_answers_is_asked_again_now_and_then(world: World, clock: MockClock) -> None:
    world.says("http://10.0.0.2:7420", ANN, descriptor(ANN))
    async with neighborhood(world) as one:
        one.hear({key("ann"): heard(ANN)})
        await trio.sleep(3 * RECHECK + 1)
        assert [round(at) for at, _ in world.asked] == [0, 60, 120, 180]


async def test_one_that_does_not_answer_is_asked_less_and_less_often(world: World, clock: MockClock) -> None:
    async with neighborhood(world) as one:
        one.hear({key("ann"): heard(ANN)})
        await trio.sleep(1000)
        pauses = [round(after - before) for (before, _), (after, _) in zip(world.asked, world.asked[1:], strict=False)]
        assert pauses == [2, 4, 8, 16, 32, 64, 128, 256, 300]


async def test_a_record_that_changes_is_asked_at_once_and_one_that_comes_again_when_it_was_silent(
    world: World, clock: MockClock
) -> None:
    world.says("http://10.0.0.2:7420", ANN, descriptor(ANN))
    async with neighborhood(world) as one:
        one.hear({key("ann"): heard(ANN)})
        await trio.sleep(10)
        one.hear({key("ann"): heard(ANN)})
        await trio.sleep(1)
        assert len(world.asked) == 1  # it said nothing new
        one.hear({key("ann"): heard(ANN, digest=digest_of(b"new"))})
        await trio.sleep(1)
        assert len(world.asked) == 2
        assert states(one) == {ANN.id: ["verified"]}
        del world.answers["http://10.0.0.2:7420"]
        await trio.sleep(RECHECK)
        assert states(one) == {ANN.id: ["unreachable"]}
        before = len(world.asked)
        one.hear({key("ann"): heard(ANN)})
        await trio.sleep(0.1)
        assert len(world.asked) == before + 1


async def test_what_changes_while_it_is_asked_is_asked_again(world: World, clock: MockClock) -> None:
    world.takes = 2.0
    world.says("http://10.0.0.2:7420", ANN, descriptor(ANN))
    async with neighborhood(world) as one:
        one.hear({key("ann"): heard(ANN)})
        await trio.sleep(1)
        one.hear({key("ann"): heard(ANN, digest=digest_of(descriptor(ANN)))})
        await trio.sleep(2)
        assert states(one) == {ANN.id: ["heard"]}  # the answer was to another record
        await trio.sleep(2)
        assert states(one) == {ANN.id: ["verified"]}
        assert len(world.asked) == 2


async def test_an_answer_to_a_record_that_went_is_nobody_s(world: World, clock: MockClock) -> None:
    world.takes = 2.0
    world.says("http://10.0.0.2:7420", ANN, descriptor(ANN))
    async with neighborhood(world) as one:
        one.hear({key("ann"): heard(ANN)})
        await trio.sleep(1)
        one.hear({key("ann"): None})
        await trio.sleep(5)
        assert one.document() == []


async def test_a_peer_that_leaves_is_gone_and_one_that_never_verified_is_forgotten(
    world: World, clock: MockClock
) -> None:
    world.says("http://10.0.0.2:7420", ANN, descriptor(ANN))
    async with neighborhood(world) as one:
        one.hear({key("ann"): heard(ANN), key("ben"): heard(BEN, "10.0.0.3", handle="ben.home")})
        await trio.sleep(5)
        assert states(one) == {ANN.id: ["verified"], BEN.id: ["unreachable"]}
        one.hear({key("ann"): None, key("ben"): None})
        assert states(one) == {ANN.id: ["gone"]}
    assert {agent_id: peer.state for agent_id, peer in kept(world.tmp).items()} == {ANN.id: "gone"}


async def test_a_pin_outlives_the_agent_and_the_node(world: World, clock: MockClock) -> None:
    world.says("http://10.0.0.2:7420", ANN, descriptor(ANN))
    world.says("http://10.0.0.3:7420", EVE, descriptor(EVE))
    async with neighborhood(world) as one:
        one.hear({key("ann"): heard(ANN)})
        await trio.sleep(1)
        one.hear({key("eve"): heard(EVE, "10.0.0.3")})
        assert states(one) == {ANN.id: ["verified"], EVE.id: ["conflict"]}
    async with neighborhood(world) as one:
        assert states(one)[ANN.id] == ["gone"]
        one.hear({key("eve"): heard(EVE, "10.0.0.3")})
        await trio.sleep(1)
        assert states(one) == {ANN.id: ["gone"], EVE.id: ["conflict"]}
        assert one.forget(ANN.id)
        await trio.sleep(1)
        assert states(one) == {EVE.id: ["verified"]}
        one.hear({key("ann"): heard(ANN)})
        assert states(one) == {ANN.id: ["conflict"], EVE.id: ["verified"]}
    assert not (await _forgotten(world))


async def _forgotten(world: World) -> bool:
    async with neighborhood(world) as one:
        return one.forget(BEN.id)


async def test_whoever_verifies_first_has_the_handle_and_the_others_learn_of_it(world: World, clock: MockClock) -> None:
    world.says("http://10.0.0.2:7420", ANN, descriptor(ANN))
    async with neighborhood(world) as one:
        one.hear({key("eve"): heard(EVE, "10.0.0.3")})
        await trio.sleep(1)
        assert states(one) == {EVE.id: ["unreachable"]}
        one.hear({key("ann"): heard(ANN)})
        await trio.sleep(1)
        assert states(one) == {ANN.id: ["verified"], EVE.id: ["conflict"]}


async def test_a_spoofed_record_stands_beside_the_agent_and_changes_nothing_of_it(
    world: World, clock: MockClock
) -> None:
    world.says("http://10.0.0.2:7420", ANN, descriptor(ANN))
    world.says("http://10.0.0.3:7420", EVE, descriptor(EVE, "eve.home"))
    async with neighborhood(world) as one:
        one.hear({key("ann"): heard(ANN), key("spoofed"): heard(ANN, "10.0.0.3")})
        await trio.sleep(1)
        own, beside = one.document()
        assert (own["state"], own["addresses"]) == ("verified", ["10.0.0.2:7420"])
        assert (beside["state"], beside["addresses"], beside["digest"]) == ("mismatch", ["10.0.0.3:7420"], None)
        assert kept_row(one, ANN.id) == "verified"
        one.hear({key("ann"): None})
        assert sorted(states(one)[ANN.id]) == ["gone", "mismatch"]
        one.hear({key("spoofed"): None})
        assert states(one) == {ANN.id: ["gone"]}


def kept_row(one: Neighborhood, agent_id: str) -> str:
    return one._book.rows[agent_id].state


async def test_an_older_version_is_a_rollback_and_what_verified_last_stands(world: World, clock: MockClock) -> None:
    world.says("http://10.0.0.2:7420", ANN, descriptor(ANN, agent_version="2"))
    async with neighborhood(world) as one:
        one.hear({key("ann"): heard(ANN)})
        await trio.sleep(1)
        world.says("http://10.0.0.2:7420", ANN, descriptor(ANN, agent_version="1"))
        await trio.sleep(RECHECK)
        (ann,) = one.document()
        assert (ann["state"], ann["agent_version"]) == ("rollback", "2")
        assert ann["digest"] == digest_of(descriptor(ANN, agent_version="2"))
        world.says("http://10.0.0.2:7420", ANN, descriptor(ANN, agent_version="3"))
        await trio.sleep(RECHECK)
        assert [peer["agent_version"] for peer in one.document()] == ["3"]


async def test_a_bounded_number_is_asked_at_once(world: World, clock: MockClock) -> None:
    world.takes = 5.0
    agents = [Identity.generate() for _ in range(40)]
    async with neighborhood(world) as one:
        one.hear({key(str(n)): heard(agent, f"10.0.1.{n + 1}", handle=None) for n, agent in enumerate(agents)})
        await trio.sleep(16)
        assert world.most_open == AT_ONCE
        assert len(set(world.urls)) == 40


async def test_one_address_is_asked_at_a_bounded_pace_however_many_records_lead_there(
    world: World, clock: MockClock
) -> None:
    agents = [Identity.generate() for _ in range(60)]
    async with neighborhood(world) as one:
        one.hear({key(str(n)): heard(agent, handle=None) for n, agent in enumerate(agents)})
        await trio.sleep(20)
        assert BURST <= len([at for at, _ in world.asked if at < 0.5]) <= BURST + 1
        assert len(world.asked) <= BURST + 21


async def test_who_verified_before_is_asked_before_any_number_of_strangers(world: World, clock: MockClock) -> None:
    world.says("http://10.0.0.2:7420", ANN, descriptor(ANN))
    async with neighborhood(world) as one:
        one.hear({key("ann"): heard(ANN)})
        await trio.sleep(1)
        one.hear({key("ann"): None})
        world.takes = 5.0
        world.asked.clear()
        flood = {key(str(n)): heard(Identity.generate(), f"10.0.1.{n + 1}", handle=None) for n in range(60)}
        one.hear({**flood, key("ann"): heard(ANN)})
        await trio.sleep(1)
        assert len(world.urls) == AT_ONCE
        assert "http://10.0.0.2:7420" in world.urls


async def test_whoever_comes_now_is_met_however_many_came_before_who_do_not_answer(
    world: World, clock: MockClock
) -> None:
    world.takes = 5.0
    world.says("http://10.0.0.2:7420", ANN, descriptor(ANN))
    async with neighborhood(world, peers=500) as one:
        one.hear({key(str(n)): heard(Identity.generate(), f"10.0.{n // 200}.{n % 200 + 20}") for n in range(300)})
        await trio.sleep(12)
        one.hear({key("ann"): heard(ANN)})
        await trio.sleep(2 * world.takes)
        assert states(one)[ANN.id] == ["verified"]


async def test_what_many_peers_cost_does_not_grow_with_their_number(world: World, clock: MockClock) -> None:
    agents = [Identity.generate() for _ in range(3 * RECHECKED)]
    for n, agent in enumerate(agents):
        world.says(f"http://10.0.1.{n}:7420", agent, descriptor(agent, f"h{n}.home"))
    async with neighborhood(world) as one:
        one.hear({key(str(n)): heard(agent, f"10.0.1.{n}", handle=None) for n, agent in enumerate(agents)})
        await trio.sleep(10 * RECHECK)
        assert one.count(State.VERIFIED) == len(agents)
        world.asked.clear()
        await trio.sleep(30 * RECHECK)
        assert 30 * RECHECKED / 1.5 <= len(world.asked) <= 30 * RECHECKED
        assert set(world.urls) == set(world.answers)


async def test_records_are_bounded_and_unverified_ones_go_first(world: World, clock: MockClock) -> None:
    world.says("http://10.0.0.2:7420", ANN, descriptor(ANN))
    async with neighborhood(world, peers=10) as one:
        one.hear({key("ann"): heard(ANN)})
        await trio.sleep(1)
        for n in range(200):
            one.hear({key(str(n)): heard(Identity.generate(), "10.0.0.9", handle=None)})
        listed = states(one)
        assert len(listed) == 10
        assert listed[ANN.id] == ["verified"]
        world.says("http://10.0.0.3:7420", BEN, descriptor(BEN, "ben.home"))
        one.hear({key("ben"): heard(BEN, "10.0.0.3", handle="ben.home")})
        await trio.sleep(1)
        assert states(one)[BEN.id] == ["verified"]
    assert len(kept(world.tmp)) <= 10


async def test_when_all_are_verified_one_more_is_not_attended_to(world: World, clock: MockClock) -> None:
    agents = [Identity.generate() for _ in range(4)]
    for n, agent in enumerate(agents):
        world.says(f"http://10.0.0.{n + 2}:7420", agent, descriptor(agent, f"h{n}.home"))
    async with neighborhood(world, peers=3) as one:
        for n, agent in enumerate(agents):
            one.hear({key(str(n)): heard(agent, f"10.0.0.{n + 2}", handle=None)})
            await trio.sleep(1)
        assert set(states(one)) == {agent.id for agent in agents[:3]}
        # Rows of those that left make room for those that come.
        one.hear({key("0"): None})
        one.hear({key("3"): heard(agents[3], "10.0.0.5", handle=None)})
        await trio.sleep(1)
        assert set(states(one)) == {agent.id for agent in agents[1:]}


async def test_an_answer_that_breaks_the_asking_does_not_end_the_node(world: World, clock: MockClock) -> None:
    def breaks(_agent_id: str) -> Answered:
        raise RuntimeError("unforeseen")

    world.answers["http://10.0.0.2:7420"] = breaks
    async with neighborhood(world) as one:
        one.hear({key("ann"): heard(ANN)})
        await trio.sleep(1)
        assert states(one) == {ANN.id: ["unreachable"]}
        world.says("http://10.0.0.2:7420", ANN, descriptor(ANN))
        await trio.sleep(FIRST_RETRY)
        assert states(one) == {ANN.id: ["verified"]}


async def test_the_revision_counts_what_would_be_shown_otherwise_and_nothing_else(
    world: World, clock: MockClock
) -> None:
    world.says("http://10.0.0.2:7420", ANN, descriptor(ANN))
    async with neighborhood(world) as one:
        seen = [one.revision]

        def moved() -> bool:
            seen.append(one.revision)
            return seen[-1] != seen[-2]

        one.hear({key("ann"): heard(ANN)})
        assert moved()
        await trio.sleep(1)
        assert moved()
        one.hear({key("ann"): heard(ANN)})
        await trio.sleep(RECHECK)
        assert not moved()
        one.hear({key("ann"): heard(ANN, "10.0.0.2", "10.0.0.3")})
        assert moved()
        await trio.sleep(1)
        moved()
        one.hear({key("ann"): None})
        assert moved()


async def test_the_disk_is_written_in_batches_and_seldom_for_what_is_only_seen_again(
    world: World, clock: MockClock
) -> None:
    world.says("http://10.0.0.2:7420", ANN, descriptor(ANN))
    async with neighborhood(world, recheck=1.0) as one:
        one.hear({key("ann"): heard(ANN)})
        for n in range(90):
            one.hear({key(str(n)): heard(Identity.generate(), "10.0.9.9", handle=None)})
        await trio.sleep(FLUSH_AFTER + 0.5)
        assert world.writes == 1
        one.hear({key(str(n)): None for n in range(90)})
        await trio.sleep(FLUSH_AFTER + 0.5)
        assert world.writes == 2
        await trio.sleep(FLUSH_AT_LEAST)
        assert world.writes <= 4
        last = kept(world.tmp)[ANN.id].last_seen
        await trio.sleep(FLUSH_AT_LEAST)
        assert kept(world.tmp)[ANN.id].last_seen > last


async def test_what_an_agent_has_proven_is_on_the_disk_at_once_and_many_of_them_in_batches(
    world: World, clock: MockClock
) -> None:
    crowd = [Identity.generate() for _ in range(90)]
    for number, agent in enumerate([ANN, *crowd]):
        world.says(f"http://10.0.1.{number}:7420", agent, descriptor(agent, f"h{number}.home"))
    async with neighborhood(world) as one:
        one.hear({key("ann"): heard(ANN, "10.0.1.0", handle=None)})
        await trio.sleep(0)
        await trio.testing.wait_all_tasks_blocked()
        assert kept(world.tmp)[ANN.id].state == "verified"
        # And again when it shows another one, though it was written just now.
        world.says("http://10.0.1.0:7420", ANN, descriptor(ANN, "h0.home", "2"))
        one.hear({key("ann"): heard(ANN, "10.0.1.0", handle=None, agent_version="2")})
        await trio.sleep(PROVEN_AFTER * 1.5)
        assert kept(world.tmp)[ANN.id].agent_version == "2"
        world.takes, before = 0.05, world.writes
        one.hear({key(str(n)): heard(agent, f"10.0.1.{n}", handle=None) for n, agent in enumerate(crowd, 1)})
        await trio.sleep(5)
        assert {peer.state for peer in kept(world.tmp).values()} == {"verified"}
        assert len(kept(world.tmp)) == len(crowd) + 1
        assert world.writes - before <= 3


async def test_a_disk_that_refuses_loses_nothing_and_stops_nothing(world: World, clock: MockClock) -> None:
    world.says("http://10.0.0.2:7420", ANN, descriptor(ANN))
    world.refusal = StoreError("STORE_FULL", "The disk is full.")
    async with neighborhood(world) as one:
        one.hear({key("ann"): heard(ANN)})
        await trio.sleep(10)
        assert states(one) == {ANN.id: ["verified"]}
        assert kept(world.tmp) == {}
        world.refusal = None
        await trio.sleep(FLUSH_AT_LEAST + FLUSH_AFTER)
    with Reader.open(world.tmp / "node.db") as reader:
        assert reader.peer_descriptor(ANN.id) == descriptor(ANN)


async def test_a_name_that_another_agent_takes_over_is_another_peer(world: World, clock: MockClock) -> None:
    world.says("http://10.0.0.2:7420", ANN, descriptor(ANN))
    async with neighborhood(world) as one:
        one.hear({key("x"): heard(ANN)})
        await trio.sleep(1)
        one.hear({key("x"): heard(BEN, handle=None)})
        await trio.sleep(1)
        assert states(one) == {ANN.id: ["gone"], BEN.id: ["mismatch"]}
        assert one.count(State.VERIFIED) == 0
