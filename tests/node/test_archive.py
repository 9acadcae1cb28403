"""The store as the entryway reads it: exact bytes, or the one answer that says they cannot be served."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import structlog
import trio

from descriptor.digests import digest_of
from descriptor.document import Descriptor
from descriptor.keys import Identity
from descriptor.publishing import Terms
from entryway.errors import EntrywayError
from entryway.snapshot import Damaged, NonePublished, Published
from node.archive import StoreArchive, load_snapshot
from node.publisher import Publisher
from node.settings import Limits
from store import Reader, Store, StoreError
from tests.node.parts import NOW, damage, draft
from tests.vectors import NKEYS

OWNER = Identity.from_seed_text(NKEYS[0]["seed"])
OTHER = Identity.from_seed_text(NKEYS[1]["seed"])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "node.db"


@pytest.fixture
def reader(path: Path) -> Iterator[Reader]:
    """The reader of a store in which three versions of OWNER are."""
    with Store.open(path) as store, Reader.open(path) as reader:
        publisher = Publisher(store, reader, Terms(OWNER, acts_for="person"), Limits(), lambda: NOW)
        for number in (1, 2, 3):
            publisher.publish(draft(str(number)))
    with Reader.open(path) as reader:
        yield reader


def running(nursery: trio.Nursery, reader: Any, subject: str = OWNER.id) -> StoreArchive:
    """An archive that reads until the test is over."""
    archive = StoreArchive(reader, subject)
    nursery.start_soon(archive.run)
    return archive


def digests(reader: Reader) -> list[str]:
    return [version.digest for version in reader.history(OWNER.id, 9)[0]]


async def test_an_artifact_is_its_exact_bytes(nursery: trio.Nursery, reader: Reader) -> None:
    archive = running(nursery, reader)
    for digest in digests(reader):
        data = await archive.artifact(digest)
        assert data is not None
        assert digest_of(data) == digest


async def test_a_version_of_another_agent_is_served_by_a_registry_only(nursery: trio.Nursery, reader: Reader) -> None:
    digest, registry = digests(reader)[0], StoreArchive(reader, OTHER.id, others=True)
    nursery.start_soon(registry.run)
    assert await registry.artifact(digest) == reader.artifact(digest)
    assert await running(nursery, reader, OTHER.id).artifact(digest) is None


async def test_what_was_never_stored_is_none(nursery: trio.Nursery, reader: Reader) -> None:
    assert await running(nursery, reader).artifact(digest_of(b"else")) is None


async def test_a_damaged_version_is_unavailable_and_the_others_are_not(
    nursery: trio.Nursery, path: Path, reader: Reader
) -> None:
    archive, (newest, middle, oldest) = running(nursery, reader), digests(reader)
    damage(path, middle)
    with structlog.testing.capture_logs() as logs, pytest.raises(EntrywayError) as caught:
        await archive.artifact(middle)
    assert (caught.value.code, caught.value.status) == ("AGENT_UNAVAILABLE", 503)
    assert [(line["event"], line["code"], line["digest"]) for line in logs] == [
        ("version_not_served", "DAMAGED", middle)
    ]
    assert await archive.artifact(newest)
    assert await archive.artifact(oldest)


async def test_history_is_of_this_agent_only(nursery: trio.Nursery, reader: Reader) -> None:
    assert [version.agent_version for version in (await running(nursery, reader).history(9, None))[0]] == [
        "3",
        "2",
        "1",
    ]
    assert await running(nursery, reader, OTHER.id).history(9, None) == ((), None)


class BrokenReader:
    """A reader whose disk refuses."""

    def is_kept(self, _subject: str, _digest: str) -> bool:
        raise StoreError("STORE_IO", "the path /secret/place cannot be read")

    def history(self, _subject: str, _limit: int, _before: int | None) -> None:
        raise StoreError("STORE_IO", "the path /secret/place cannot be read")


@pytest.mark.parametrize("question", ["artifact", "history"])
async def test_a_disk_that_refuses_is_unavailable_and_strangers_learn_no_more(
    nursery: trio.Nursery, question: str
) -> None:
    archive = running(nursery, BrokenReader())
    with structlog.testing.capture_logs() as logs, pytest.raises(EntrywayError) as caught:
        await (archive.artifact(digest_of(b"")) if question == "artifact" else archive.history(9, None))
    assert caught.value.code == "AGENT_UNAVAILABLE"
    assert "/secret/place" not in caught.value.message
    assert "/secret/place" in logs[0]["reason"]


class BusyReader:
    """A slow reader that notices when it is asked twice at once."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.asked = 0

    def is_kept(self, _subject: str, _digest: str) -> bool:
        return True

    def artifact(self, _digest: str) -> bytes:
        assert self.lock.acquire(blocking=False), "two questions at once"
        time.sleep(0.01)
        self.asked += 1
        self.lock.release()
        return b"x"


async def test_one_question_at_a_time_and_the_loop_goes_on(nursery: trio.Nursery) -> None:
    reader = BusyReader()
    archive = running(nursery, reader)
    turns = 0
    with trio.fail_after(5):
        async with trio.open_nursery() as askers:
            for _ in range(5):
                askers.start_soon(archive.artifact, "sha256:")
            while reader.asked < 5:
                turns += 1
                await trio.sleep(0.001)
    assert turns > 5


async def test_what_fails_unforeseen_fails_where_it_was_asked_and_nowhere_else(nursery: trio.Nursery) -> None:
    class Faulty(BusyReader):
        def history(self, _subject: str, _limit: int, _before: int | None) -> None:
            raise ZeroDivisionError

    archive = running(nursery, Faulty())
    with trio.fail_after(5):
        with pytest.raises(ZeroDivisionError):
            await archive.history(9, None)
        assert await archive.artifact("sha256:") == b"x"


def card(descriptor: Descriptor) -> bytes:
    return f'{{"made of":"{descriptor.digest}"}}'.encode()


def test_the_snapshot_of_an_empty_store_says_so(path: Path) -> None:
    Store.open(path).close()
    with Reader.open(path) as reader:
        assert load_snapshot(reader, OWNER.id, card) == NonePublished()


def test_the_snapshot_is_the_current_version(reader: Reader) -> None:
    snapshot = load_snapshot(reader, OWNER.id, card)
    assert isinstance(snapshot, Published)
    assert (snapshot.descriptor.digest, snapshot.seq, snapshot.published_at) == (digests(reader)[0], 3, NOW)
    assert snapshot.card.full.body == card(snapshot.descriptor)


def test_another_agents_versions_are_not_this_ones(reader: Reader) -> None:
    assert load_snapshot(reader, OTHER.id, card) == NonePublished()


def test_a_damaged_current_version_is_a_damaged_snapshot(path: Path, reader: Reader) -> None:
    newest = digests(reader)[0]
    damage(path, newest)
    with structlog.testing.capture_logs() as logs:
        assert load_snapshot(reader, OWNER.id, card) == Damaged(newest, 3)
    assert [(line["event"], line["digest"]) for line in logs] == [("current_damaged", newest)]


def test_a_current_version_whose_bytes_are_gone_is_damaged_too(path: Path, reader: Reader) -> None:
    newest = digests(reader)[0]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM artifacts WHERE digest = ?", (newest,))
    with structlog.testing.capture_logs():
        assert load_snapshot(reader, OWNER.id, card) == Damaged(newest, 3)


def test_a_store_that_cannot_be_read_at_all_is_no_snapshot() -> None:
    class Reader:
        def current(self, _subject: str) -> None:
            raise StoreError("STORE_IO", "no disk")

    with pytest.raises(StoreError):
        load_snapshot(Reader(), OWNER.id, card)  # type: ignore[arg-type]  # all that is used of one
