"""What a registry keeps at its edges: quotas, order, pages, and two who bring something at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
import trio

from descriptor.keys import Identity
from descriptor.publishing import Terms, bind
from entryway.errors import EntrywayError
from entryway.http import Request
from entryway.registry import Registry, RegistryLimits
from store import Reader, Store
from tests.entryway.parts import NOW, OTHER, OWNER, Received, received

Value = TypeVar("Value")
THIRD = Identity(bytes(range(32)))


class Shelf:
    """A store on the disk, which lets others run before it answers."""

    def __init__(self, path: Path) -> None:
        self.store, self.reader = Store.open(path), Reader.open(path)

    async def read(self, act: Callable[[Reader], Value]) -> Value:
        value = act(self.reader)
        await trio.lowlevel.checkpoint()
        return value

    async def write(self, act: Callable[[Store], Value]) -> Value:
        await trio.lowlevel.checkpoint()
        return act(self.store)


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path / "node.db")
    with shelf.store, shelf.reader:
        yield shelf


def registry(shelf: Shelf, **limits: int) -> Registry:
    stated = {"versions_of_subject": 3, "bytes": 10**6, "puts_per_hour": 100, **limits}
    return Registry(OWNER.id, shelf, lambda: NOW, RegistryLimits(**stated))


def descriptor(agent_version: str, identity: Identity = OTHER) -> bytes:
    members = {"format": "agent-descriptor-v1", "does": "Reads.", "interaction": "service"}
    draft = json.dumps({**members, "agent_version": agent_version}).encode()
    return bind(draft, Terms(identity, acts_for="person"), NOW)


async def put(role: Registry, data: bytes, peer: str | None = "192.0.2.1") -> int | str:
    """The status, or the code of the refusal."""
    request = Request(method=b"PUT", target=b"/registry", body=data, peer=peer)
    try:
        return (await role.put(request)).status
    except EntrywayError as error:
        return error.code


async def got(role: Registry, path: str) -> Received:
    return received(await role.get(Request(method=b"GET", target=path.encode())))


async def current(role: Registry) -> str:
    version: str = json.loads((await got(role, f"/registry/{OTHER.id}")).body)["agent_version"]
    return version


async def test_of_one_subject_so_many_versions_are_kept_and_no_more(shelf: Shelf) -> None:
    role = registry(shelf, versions_of_subject=2)
    assert [await put(role, descriptor(version)) for version in "123"] == [201, 201, "REGISTRY_FULL"]
    assert await put(role, descriptor("1")) == 200
    assert await put(role, descriptor("1", THIRD)) == 201


async def test_of_all_together_so_many_bytes_are_kept_and_no_more(shelf: Shelf) -> None:
    first, second = descriptor("1"), descriptor("1", THIRD)
    role = registry(shelf, bytes=len(first) + len(second))
    assert [await put(role, data) for data in (first, second)] == [201, 201]
    assert await put(role, descriptor("2")) == "REGISTRY_FULL"
    role.limits = RegistryLimits(3, len(first) + len(second) + len(descriptor("2")) - 1, 100)
    assert await put(role, descriptor("2")) == "REGISTRY_FULL"
    role.limits = RegistryLimits(3, len(first) + len(second) + len(descriptor("2")), 100)
    assert await put(role, descriptor("2")) == 201


async def test_one_address_hands_over_so_many_an_hour_whoever_they_are_of(shelf: Shelf) -> None:
    role = registry(shelf, puts_per_hour=2)
    assert [await put(role, data) for data in (descriptor("1"), b"{")] == [201, "DESCRIPTOR_REFUSED"]
    assert await put(role, descriptor("2", THIRD)) == "RATE_LIMITED"
    assert await put(role, descriptor("2", THIRD), "192.0.2.2") == 201
    assert [await put(role, descriptor("1"), None) for _ in range(5)] == [200] * 5


async def test_two_that_come_at_once_leave_the_later_version_current_and_no_quota_exceeded(shelf: Shelf) -> None:
    role = registry(shelf, versions_of_subject=3)
    await put(role, descriptor("1"))
    statuses: list[Any] = []

    async def bring(version: str) -> None:
        statuses.append(await put(role, descriptor(version)))

    async with trio.open_nursery() as nursery:
        for version in ("3", "2", "4"):
            nursery.start_soon(bring, version)
    assert sorted(map(str, statuses)) == ["201", "201", "REGISTRY_FULL"]
    kept = sorted(version.agent_version for version in shelf.reader.history(OTHER.id, 10)[0])
    assert len(kept) == 3
    assert await current(role) == kept[-1]


async def test_a_history_is_told_in_pages_newest_first_and_none_twice(shelf: Shelf) -> None:
    role = registry(shelf, versions_of_subject=9)
    for number in range(1, 6):
        await put(role, descriptor(str(number)))
    await put(role, descriptor("7", THIRD))
    pages, before = [], ""
    while before is not None:
        query = f"?limit=2&before={before}" if before else "?limit=2"
        page = json.loads((await got(role, f"/registry/{OTHER.id}/versions{query}")).body)
        pages.append([one["agent_version"] for one in page["versions"]])
        before = page["next"]
    assert pages == [["5", "4"], ["3", "2"], ["1"]]


@pytest.mark.parametrize("query", ["limit=0", "limit=501", "limit=x", "before=-1", "before=x"])
async def test_a_page_that_cannot_be_is_refused(shelf: Shelf, query: str) -> None:
    with pytest.raises(EntrywayError) as refused:
        await got(registry(shelf), f"/registry/{OTHER.id}/versions?{query}")
    assert refused.value.code == "INPUT_INVALID"
