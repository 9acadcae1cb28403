"""What a node knows of those who send it work: what they signed themselves, and of two the later one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio

from descriptor.digests import digest_of
from descriptor.signatures import verify_statement
from entryway.errors import EntrywayError
from node import senders
from node.archive import StoreArchive
from node.senders import KeptSenders
from store import Copy, Peer, Reader, Store
from tests.entryway.parts import OTHER, OWNER, document
from tests.node.parts import NOW, damage


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "node.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store.open(path) as store:
        yield store


def heard(store: Store, data: bytes, agent_id: str = OTHER.id) -> None:
    """The agent was heard on the network, and showed this."""
    peer = Peer(agent_id, None, "verified", "", "1", digest_of(data), ("192.168.1.9:7420",), NOW, NOW)
    store.put_peers([(peer, data)])


def kept(store: Store, data: bytes, agent_id: str = OTHER.id) -> None:
    """The agent is followed, or handed this over."""
    store.keep(agent_id, Copy(data, digest_of(data), "1", NOW), current=lambda _before: True)


async def known(path: Path, agent_id: str = OTHER.id) -> Any:
    """The `does` of what is known of an agent."""
    with Reader.open(path) as reader:
        archive = StoreArchive(reader, OWNER.id)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(archive.run)
            try:
                members = await KeptSenders(archive).descriptor(agent_id)
            finally:
                nursery.cancel_scope.cancel()
        return None if members is None else members["does"]


def of_version(agent_version: str, does: str, **members: Any) -> bytes:
    return document(OTHER, agent_version=agent_version, does=does, **members)


async def test_of_a_stranger_nothing_is_known(store: Store, path: Path) -> None:
    kept(store, of_version("1", "x"))
    assert await known(path, OWNER.id) is None


@pytest.mark.parametrize("how", [heard, kept])
async def test_who_was_heard_or_is_followed_is_known(how: Any, store: Store, path: Path) -> None:
    how(store, of_version("1", "reads"))
    assert await known(path) == "reads"


@pytest.mark.parametrize(
    ("at_the_door", "followed", "does"),
    [("1.9", "1.10", "followed"), ("1.10", "1.9", "heard"), ("1.0", "1.0", "heard")],
)
async def test_of_two_the_later_one_holds(at_the_door: str, followed: str, does: str, store: Store, path: Path) -> None:
    heard(store, of_version(at_the_door, "heard"))
    kept(store, of_version(followed, "followed"))
    assert await known(path) == does


@pytest.mark.parametrize(("length", "here"), [(10, True), (70_000, False)], ids=["small", "large"])
async def test_nobody_waits_for_a_large_one_that_is_verified(
    length: int, here: bool, store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified_in: list[int] = []

    def verify(members: Any) -> Any:
        verified_in.append(threading.get_ident())
        return verify_statement(members)

    monkeypatch.setattr(senders, "verify_statement", verify)
    kept(store, of_version("1", "x" * length))
    assert await known(path) == "x" * length
    assert [one == threading.get_ident() for one in verified_in] == [here]


@pytest.mark.parametrize(
    "data",
    [document(OTHER, sign=False), document(OWNER), of_version("9", "x").replace(b'"9"', b'"8"'), b"[]"],
    ids=["unsigned", "of another agent", "changed since", "no Descriptor"],
)
async def test_what_the_agent_itself_did_not_sign_is_not_known(data: bytes, store: Store, path: Path) -> None:
    kept(store, data)
    assert await known(path) is None
    heard(store, of_version("1", "reads"))
    assert await known(path) == "reads"


async def test_what_is_damaged_is_unavailable_and_not_unknown(nursery: trio.Nursery, store: Store, path: Path) -> None:
    data = of_version("1", "reads")
    kept(store, data)
    damage(path, digest_of(data))
    with Reader.open(path) as reader:
        archive = StoreArchive(reader, OWNER.id)
        nursery.start_soon(archive.run)
        with pytest.raises(EntrywayError) as raised:
            await KeptSenders(archive).descriptor(OTHER.id)
        assert raised.value.code == "AGENT_UNAVAILABLE"
        nursery.cancel_scope.cancel()
