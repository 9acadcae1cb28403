"""History in pages, events after a number, and what is not there."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store import Counts, Reader, Store, Version
from tests.store.samples import ALICE, BOB, digest, document, publish, publish_many

HELD = 23
HIGH = 2**70


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """Alice's 23 versions, and one of Bob's between any two of them."""
    path = tmp_path_factory.mktemp("held") / "node.db"
    with Store.open(path) as store:
        for number in range(1, HELD + 1):
            publish(store, number, number - 1 or None)
            publish(store, 100 + number, 99 + number if number > 1 else None, subject=BOB)
    with Reader.open(path) as reader:
        yield reader


def test_nothing_is_read_from_a_new_store(reader: Reader) -> None:
    assert reader.artifact(digest(1)) is None
    assert reader.current(ALICE) is None
    assert reader.history(ALICE, 10) == ((), None)
    assert reader.events_after(0, 10) == ()
    assert reader.last_event_seq() == 0
    assert reader.counts() == Counts(artifacts=0, versions=0, subjects=0, events=0)
    assert list(reader.verify()) == []


def test_counts(held: Reader) -> None:
    assert held.counts() == Counts(artifacts=2 * HELD, versions=2 * HELD, subjects=2, events=2 * HELD)


def all_pages(reader: Reader, subject: str, limit: int) -> Iterator[tuple[Version, ...]]:
    before = None
    while True:
        page, before = reader.history(subject, limit, before)
        yield page
        if before is None:
            return


@given(limit=st.integers(1, 2 * HELD))
def test_pages_of_any_length_are_the_whole_history_newest_first(held: Reader, limit: int) -> None:
    pages = list(all_pages(held, ALICE, limit))
    assert [v.agent_version for page in pages for v in page] == [str(n) for n in range(HELD, 0, -1)]
    assert all(len(page) == limit for page in pages[:-1])
    assert 0 < len(pages[-1]) <= limit
    assert [v.current for page in pages for v in page] == [True] + [False] * (HELD - 1)


@given(before=st.integers(-HIGH, HIGH), limit=st.integers(1, 500))
def test_a_page_before_any_number_holds_what_is_older(held: Reader, before: int, limit: int) -> None:
    page, _ = held.history(ALICE, limit, before)
    whole, _ = held.history(ALICE, 500)
    assert page == tuple(version for version in whole if version.seq < before)[:limit]


@given(after=st.integers(-HIGH, HIGH), limit=st.integers(1, 500))
def test_events_after_any_number_are_the_rest_in_order(held: Reader, after: int, limit: int) -> None:
    expected = [seq for seq in range(1, 2 * HELD + 1) if seq > after][:limit]
    assert [event.seq for event in held.events_after(after, limit)] == expected
    assert held.last_event_seq() == 2 * HELD


def test_a_page_stays_the_same_while_versions_are_added(store: Store, reader: Reader) -> None:
    publish_many(store, 6)
    first, before = reader.history(ALICE, 2)
    publish(store, 7, 6)
    second, _ = reader.history(ALICE, 2, before)
    assert [version.agent_version for version in first + second] == ["6", "5", "4", "3"]


def test_one_row_is_current_even_when_its_bytes_were_published_before(store: Store, reader: Reader) -> None:
    publish_many(store, 2)
    publish(store, 1, 2)
    versions, _ = reader.history(ALICE, 10)
    assert [(v.seq, v.digest, v.current) for v in versions] == [
        (3, digest(1), True),
        (2, digest(2), False),
        (1, digest(1), False),
    ]
    assert reader.current(ALICE) == versions[0]


def test_a_reader_may_go_from_thread_to_thread(store: Store, reader: Reader) -> None:
    publish(store, 1, None)
    read: list[bytes | None] = []
    thread = threading.Thread(target=lambda: read.append(reader.artifact(digest(1))))
    thread.start()
    thread.join()
    assert read == [document(1)]


def test_a_reader_opens_what_a_killed_writer_left(store: Store, tmp_path: Path) -> None:
    publish_many(store, 3)
    left = tmp_path / "left"
    left.mkdir()
    for name in ("node.db", "node.db-wal"):
        (left / name).write_bytes(store.path.with_name(name).read_bytes())
    with Reader.open(left / "node.db") as reader:
        assert reader.artifact(digest(3)) == document(3)
        assert list(reader.verify()) == []


@pytest.mark.parametrize("name", ["a b?c#d%20e.db", "ü.db"])
def test_any_file_name_will_do(tmp_path: Path, name: str) -> None:
    with Store.open(tmp_path / name) as store, Reader.open(tmp_path / name) as reader:
        publish(store, 1, None)
        assert reader.artifact(digest(1)) == document(1)
    assert [file.name for file in tmp_path.iterdir()] == [name]
