"""One publish is one transaction, and of two at once one wins."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from descriptor.digests import digest_of
from store import DESCRIPTOR_REPLACED, Event, Publication, Reader, Store, StoreError, database
from tests.store.samples import ALICE, AT, BOB, digest, document, event_line, execute, publish, publish_many


def test_a_publish_is_artifact_history_event_and_current_together(store: Store, reader: Reader) -> None:
    first, second = publish(store, 1, None), publish(store, 2, 1)
    event = Event(2, DESCRIPTOR_REPLACED, ALICE, AT + 2, event_line(2, digest(1)))
    assert second == Publication(seq=2, digest=digest(2), previous_digest=digest(1), event=event)
    assert (first.previous_digest, first.event_seq) == (None, 1)
    assert reader.artifact(digest(2)) == document(2)
    assert reader.events_after(1, 10) == (event,)
    current = reader.current(ALICE)
    assert current is not None
    assert (current.seq, current.digest, current.agent_version) == (2, digest(2), "2")
    assert (current.size, current.published_at) == (len(document(2)), AT + 2)
    assert (current.previous_digest, current.current) == (digest(1), True)


def test_what_was_current_stays_fetchable(store: Store, reader: Reader) -> None:
    publish_many(store, 5)
    assert [reader.artifact(digest(number)) for number in range(1, 6)] == [document(n) for n in range(1, 6)]


@pytest.mark.parametrize("expected", [None, 1, 3])
def test_a_publish_on_top_of_what_is_not_current_is_told_and_changes_nothing(
    store: Store, reader: Reader, expected: int | None
) -> None:
    publish_many(store, 2)
    before = reader.counts()
    with pytest.raises(StoreError, match="Another publish came first") as caught:
        publish(store, 4, expected)
    assert caught.value.code == "CONFLICT"
    assert reader.counts() == before
    assert reader.artifact(digest(4)) is None
    assert publish(store, 4, 2).event_seq == 3


def test_a_first_publish_on_top_of_something_is_a_conflict(store: Store) -> None:
    with pytest.raises(StoreError, match="current is nothing"):
        publish(store, 2, 1)


def test_of_two_writers_one_wins(path: Path) -> None:
    with Store.open(path) as one, Store.open(path) as other:
        publish(one, 1, None)
        publish(other, 2, 1)
        with pytest.raises(StoreError) as caught:
            publish(one, 3, 1)
        assert caught.value.code == "CONFLICT"


def test_nobody_publishes_between_the_look_at_current_and_the_write(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    connection = database.open_writer(path)
    with Store(connection, path) as store, Store.open(path) as other:
        publish(store, 1, None)
        refused: list[str] = []

        def publish_meanwhile(statement: str) -> None:
            if statement.startswith("INSERT INTO artifacts"):
                try:
                    publish(other, 2, 1)
                except StoreError as error:
                    refused.append(error.code)

        connection.set_trace_callback(publish_meanwhile)
        assert publish(store, 3, 1).seq == 2
        assert refused == ["STORE_BUSY"]


def test_processes_that_publish_at_once_lose_nothing_and_number_every_event_once(path: Path) -> None:
    arguments = [sys.executable, "-m", "tests.store.racer", str(path)]
    racers = [subprocess.Popen([*arguments, name], cwd=Path(__file__).parents[2]) for name in ("1", "2")]
    assert [racer.wait() for racer in racers] == [0, 0]
    with Reader.open(path) as reader:
        versions, _ = reader.history(ALICE, 100)
        assert {version.digest for version in versions} == {digest(1_000 * n + r) for n in (1, 2) for r in range(30)}
        # Each names the one below it: nobody published on top of what was no longer current.
        below = [version.digest for version in versions[1:]]
        assert [version.previous_digest for version in versions] == [*below, None]
        assert [event.seq for event in reader.events_after(0, 100)] == list(range(1, 61))


def test_the_event_is_written_with_its_own_number(store: Store, reader: Reader) -> None:
    publish_many(store, 3)
    assert [(e.seq, json.loads(e.data)["seq"]) for e in reader.events_after(0, 10)] == [(1, 1), (2, 2), (3, 3)]


def test_an_event_that_cannot_be_made_undoes_the_publish_and_its_number(store: Store, reader: Reader) -> None:
    publish(store, 1, None)
    before = reader.counts()

    def refuse(seq: int, previous_digest: str | None) -> str:
        raise LookupError((seq, previous_digest))

    with pytest.raises(LookupError, match="2"):
        store.publish(
            data=document(2),
            digest=digest(2),
            subject=ALICE,
            agent_version="2",
            published_at=AT,
            expected_current=digest(1),
            event=refuse,
        )
    assert reader.counts() == before
    assert publish(store, 2, 1).event_seq == 2


def test_event_numbers_are_never_given_twice(store: Store, reader: Reader) -> None:
    publish_many(store, 3)
    execute(store.path, "DELETE FROM events")
    assert reader.last_event_seq() == 3
    assert publish(store, 4, 3).event_seq == 4


def test_bytes_that_are_not_those_of_the_digest_are_not_stored(store: Store, reader: Reader) -> None:
    for act in (
        lambda: store.heal(data=document(1), digest=digest(2)),
        lambda: store.publish(
            data=document(1),
            digest=digest(2),
            subject=ALICE,
            agent_version="1",
            published_at=AT,
            expected_current=None,
            event=event_line,
        ),
    ):
        with pytest.raises(StoreError) as caught:
            act()
        assert caught.value.code == "DIGEST_MISMATCH"
    assert reader.counts().artifacts == 0


def test_bytes_are_kept_once_however_often_they_are_published(store: Store, reader: Reader) -> None:
    publish_many(store, 2)
    publish(store, 1, 2)
    publish(store, 1, None, subject=BOB)
    assert (reader.counts().artifacts, reader.counts().versions, reader.counts().subjects) == (2, 4, 2)


@pytest.mark.parametrize("data", [b"", b"\0", "é\r\n\u2028".encode(), b"\xff\xfe", bytes(range(256)) * 4_096])
def test_bytes_come_back_as_they_were_given(store: Store, reader: Reader, data: bytes) -> None:
    store.publish(
        data=data,
        digest=digest_of(data),
        subject=ALICE,
        agent_version="1",
        published_at=AT,
        expected_current=None,
        event=event_line,
    )
    assert reader.artifact(digest_of(data)) == data


def lock(store: Store, execute_: Callable[[str], object]) -> None:
    """Another process in the middle of a transaction."""
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        execute_("PRAGMA busy_timeout = 20")
        publish(store, 2, 1)
    finally:
        other.close()


def fill(store: Store, execute_: Callable[[str], object]) -> None:
    """A file that may not grow by another page."""
    execute_("PRAGMA max_page_count = 1")
    try:
        for number in range(2, 20):
            publish(store, number, number - 1)
    finally:
        execute_("PRAGMA max_page_count = 1000000")


def protect(store: Store, execute_: Callable[[str], object]) -> None:
    """A file that may not be written."""
    execute_("PRAGMA query_only = ON")
    try:
        publish(store, 2, 1)
    finally:
        execute_("PRAGMA query_only = OFF")


@pytest.mark.parametrize(("hinder", "code"), [(lock, "STORE_BUSY"), (fill, "STORE_FULL"), (protect, "STORE_READ_ONLY")])
def test_a_hindered_publish_is_typed_and_the_store_is_usable_again(
    path: Path, hinder: Callable[[Store, Callable[[str], object]], None], code: str
) -> None:
    connection = database.open_writer(path)
    with Store(connection, path) as store, Reader.open(path) as reader:
        publish(store, 1, None)
        with pytest.raises(StoreError) as caught:
            hinder(store, connection.execute)
        assert caught.value.code == code
        current = reader.current(ALICE)
        assert current is not None
        assert current.seq == reader.last_event_seq() == reader.counts().versions
        assert publish(store, 50, int(current.agent_version)).event_seq == current.seq + 1
        assert list(reader.verify()) == []


def _removed(path: Path) -> None:
    path.unlink()


def _replaced(path: Path) -> None:
    path.rename(path.with_name("aside.db"))
    Store.open(path).close()


@pytest.mark.parametrize("happens", [_removed, _replaced])
def test_nothing_is_acknowledged_into_a_file_that_has_lost_its_name(
    tmp_path: Path, happens: Callable[[Path], None]
) -> None:
    path = tmp_path / "node.db"
    with Store.open(path) as store:
        publish(store, 1, None)
        happens(path)
        with pytest.raises(StoreError) as caught:
            publish(store, 2, 1)
    assert caught.value.code == "STORE_REPLACED"
