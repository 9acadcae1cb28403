"""The registry role, on a store: who becomes current, what is refused, where each bound lies, and how history is paged.

Which documents a registry refuses at all is `tests/descriptor/test_intake.py`; a real one is asked in
`tests/end_to_end/test_registry.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
import trio

from descriptor.digests import digest_of
from descriptor.keys import Identity
from entryway.errors import EntrywayError
from entryway.http import Request, Response
from entryway.protections import HOUR
from entryway.registry import Registry, RegistryLimits
from store import Copy, Reader, Store, StoreError
from tests.entryway.parts import NOW, OTHER, OWNER, Received, asked, document, received

Value = TypeVar("Value")
LIMITS = RegistryLimits(versions_of_subject=3, bytes=10**6, puts_per_hour=4)
ADDRESS = "192.0.2.1"


@dataclass
class Shelf:
    """The store, with one who writes at a time. `first`: what another one writes just before."""

    store: Store
    reader: Reader
    turn: trio.CapacityLimiter
    first: Callable[[Store], object] | None = None
    refusal: StoreError | None = None

    async def read(self, act: Callable[[Reader], Value]) -> Value:
        await trio.lowlevel.checkpoint()
        return act(self.reader)

    async def write(self, act: Callable[[Store], Value]) -> Value:
        async with self.turn:
            await trio.lowlevel.checkpoint()
            if self.first is not None:
                self.first(self.store)
            if self.refusal is not None:
                raise self.refusal
            return act(self.store)


@dataclass
class World:
    """A registry with an hour of its own."""

    shelf: Shelf
    registry: Registry
    now: float = NOW

    async def put(self, data: bytes, address: str | None = None) -> Received:
        request = asked("PUT", "/registry", body=data)
        request.peer = address
        return await _answer(self.registry.put, request)

    async def puts(self, *documents: bytes) -> list[tuple[int, bool]]:
        """What comes of each, one after another: its status, and whether it is current."""
        answers = [await self.put(data) for data in documents]
        return [(answer.status, json.loads(answer.body)["current"]) for answer in answers]

    async def get(self, target: str, **headers: str) -> Received:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await _answer(self.registry.get, asked("GET", f"/registry/{target}", named))


async def _answer(handle: Callable[[Request], Any], request: Request) -> Received:
    answer = await handle(request)
    assert isinstance(answer, Response)
    return received(answer)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    path = tmp_path / "node.db"
    with Store.open(path) as store, Reader.open(path) as reader:
        shelf = Shelf(store, reader, trio.CapacityLimiter(1))
        world = World(shelf, Registry(OWNER.id, shelf, lambda: world.now, LIMITS))
        yield world


def of_version(agent_version: str, does: str = "Reads.") -> bytes:
    return document(OTHER, agent_version=agent_version, does=does)


ONE, TWO, THREE, FOUR = (of_version(number) for number in "1234")


@pytest.mark.parametrize(
    ("brought", "expected"),
    [
        ([ONE], [(201, True)]),
        ([ONE, TWO], [(201, True), (201, True)]),
        ([ONE, TWO, ONE], [(201, True), (201, True), (200, False)]),
        ([TWO, ONE], [(201, True), (201, False)]),
        ([TWO, ONE, TWO], [(201, True), (201, False), (200, True)]),
        ([ONE, of_version("1", "Writes.")], [(201, True), (201, True)]),
        ([of_version("1.9"), of_version("1.10")], [(201, True), (201, True)]),
        ([of_version("1.10"), of_version("1.9")], [(201, True), (201, False)]),
    ],
)
async def test_what_becomes_current_is_not_older_and_what_is_brought_again_changes_nothing(
    world: World, brought: list[bytes], expected: list[tuple[int, bool]]
) -> None:
    assert await world.puts(*brought) == expected
    served = await world.get(OTHER.id)
    assert served.body == [data for data, (_, current) in zip(brought, expected, strict=True) if current][-1]


async def test_of_two_that_come_at_once_the_later_one_is_current_whichever_is_written_first(world: World) -> None:
    await world.put(ONE)
    for later, earlier in ((TWO, of_version("1.5")), (FOUR, THREE)):
        world.registry.limits = replace(LIMITS, versions_of_subject=100)
        async with trio.open_nursery() as nursery:
            for data in (later, earlier):
                nursery.start_soon(world.put, data)
        assert (await world.get(OTHER.id)).body == later


async def test_what_a_follower_keeps_meanwhile_is_seen(world: World) -> None:
    await world.put(ONE)
    followed = Copy(THREE, digest_of(THREE), "3", NOW)
    world.shelf.first = lambda store: store.keep(OTHER.id, followed, current=lambda _before: True)
    assert await world.puts(TWO) == [(201, False)]
    assert (await world.get(OTHER.id)).body == THREE


async def test_a_subject_has_as_many_versions_as_are_kept_and_not_one_more(world: World) -> None:
    assert await world.puts(ONE, TWO, THREE) == [(201, True)] * 3
    with pytest.raises(EntrywayError) as refused:
        await world.put(FOUR)
    assert (refused.value.code, refused.value.status) == ("REGISTRY_FULL", 507)
    assert await world.puts(THREE, ONE) == [(200, True), (200, False)]
    third = Identity.generate()
    assert await world.puts(document(third, subject={"id": third.id})) == [(201, True)]  # which has room of its own


async def test_of_all_subjects_together_as_many_bytes_are_kept_and_not_one_more(world: World) -> None:
    other = document(Identity(bytes(range(32))), agent_version="1")
    await world.puts(ONE, other)
    world.registry.limits = replace(LIMITS, bytes=len(ONE) + len(other) + len(TWO) - 1)
    with pytest.raises(EntrywayError) as refused:
        await world.put(TWO)
    assert refused.value.code == "REGISTRY_FULL"
    assert (await world.put(ONE)).status == 200
    world.registry.limits = replace(LIMITS, bytes=len(ONE) + len(other) + len(TWO))
    assert (await world.put(TWO)).status == 201


async def test_the_bound_of_a_subject_holds_for_any_number_that_come_at_once(world: World) -> None:
    codes: list[str] = []

    async def bring(number: int) -> None:
        try:
            codes.append(str((await world.put(of_version(str(number)))).status))
        except EntrywayError as error:
            codes.append(error.code)

    async with trio.open_nursery() as nursery:
        for number in range(8):
            nursery.start_soon(bring, number)
    assert sorted(codes) == ["201"] * 3 + ["REGISTRY_FULL"] * 5
    assert len(world.shelf.reader.history(OTHER.id, 100)[0]) == LIMITS.versions_of_subject


async def test_an_address_hands_over_as_many_as_it_may_an_hour_and_not_one_more(world: World) -> None:
    junk = b"{"  # what is refused has been handed over as well
    for data in (ONE, junk, ONE, junk):
        await _status(world, data)
    with pytest.raises(EntrywayError) as refused:
        await world.put(ONE, ADDRESS)
    assert (refused.value.code, refused.value.status) == ("RATE_LIMITED", 429)
    assert refused.value.headers == (("Retry-After", "3600"),)
    assert (await world.put(ONE, "192.0.2.2")).status == 200  # another one is not bound by it
    assert (await world.put(ONE, None)).status == 200  # nor is who is not counted
    world.now += HOUR - 0.5
    with pytest.raises(EntrywayError) as still:
        await world.put(ONE, ADDRESS)
    assert still.value.headers == (("Retry-After", "1"),)
    world.now += 0.5
    for _ in range(LIMITS.puts_per_hour):
        await world.put(ONE, ADDRESS)
    with pytest.raises(EntrywayError, match="in an hour"):
        await world.put(ONE, ADDRESS)


async def _status(world: World, data: bytes) -> str:
    try:
        return str((await world.put(data, ADDRESS)).status)
    except EntrywayError as error:
        return error.code


async def test_a_refusal_names_each_rule_and_where(world: World) -> None:
    with pytest.raises(EntrywayError) as refused:
        await world.put(document(OTHER, sign=False, does=1))
    assert (refused.value.code, refused.value.status) == ("DESCRIPTOR_REFUSED", 422)
    findings: Any = refused.value.details["findings"]  # type: ignore[index]  # a refusal has them
    rules = {(one["pointer"], one["rule"]) for one in findings if one["message"]}
    assert rules == {("/does", "D6.2-does"), ("/signatures", "D6.6-unsigned")}
    assert world.shelf.reader.current(OTHER.id) is None


async def test_the_node_s_own_agent_is_published_and_not_registered(world: World) -> None:
    with pytest.raises(EntrywayError, match="own agent"):
        await world.put(document())
    assert world.shelf.reader.current(OWNER.id) is None


async def test_a_disk_that_refuses_is_told_and_nothing_is_kept(world: World) -> None:
    world.shelf.refusal = StoreError("STORE_FULL", "The disk is full.")
    with pytest.raises(EntrywayError) as refused:
        await world.put(ONE)
    assert (refused.value.code, refused.value.status) == ("AGENT_UNAVAILABLE", 503)
    world.shelf.refusal = None
    assert await world.puts(ONE) == [(201, True)]


async def test_every_version_is_listed_once_whatever_the_page(world: World) -> None:
    world.registry.limits = replace(LIMITS, versions_of_subject=10)
    documents = [of_version(str(number)) for number in range(1, 8)]
    await world.puts(*documents)
    newest_first = [digest_of(data) for data in reversed(documents)]
    for limit in (1, 2, 3, 6, 7, 8, 500):
        pages: list[list[dict[str, Any]]] = []
        following: int | None = None
        while not pages or following is not None:
            before = "" if following is None else f"&before={following}"
            page = json.loads((await world.get(f"{OTHER.id}/versions?limit={limit}{before}")).body)
            pages.append(page["versions"])
            following = page["next"]
        assert [one["digest"] for page in pages for one in page] == newest_first
        assert all(len(page) == limit for page in pages[:-1])
        assert [one["current"] for page in pages for one in page] == [True] + [False] * 6


@pytest.mark.parametrize("query", ["limit=0", "limit=501", "limit=x", "limit=", "before=0", "before=-1", "before=x"])
async def test_what_is_no_page_is_refused(world: World, query: str) -> None:
    with pytest.raises(EntrywayError) as refused:
        await world.get(f"{OTHER.id}/versions?{query}")
    assert refused.value.code == "INPUT_INVALID"


async def test_what_is_served_is_the_exact_bytes_by_subject_and_not_twice_to_who_has_them(world: World) -> None:
    await world.put(ONE)
    whole = await world.get(OTHER.id)
    assert (whole.status, whole.body, whole.headers["etag"]) == (200, ONE, f'"{digest_of(ONE)}"')
    assert (await world.get(OTHER.id, If_None_Match=whole.headers["etag"])).status == 304
    for unknown in (OWNER.id, "nobody", "", "/versions"):
        with pytest.raises(EntrywayError) as refused:
            await world.get(unknown)
        assert refused.value.code == "NOT_FOUND"
