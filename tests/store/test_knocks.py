"""Knocks and the roster on the disk: one row a sender, one document an owner, and nothing of what was said."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from store import Knock, Reader, Store, StoreError, backup
from tests.store.samples import ALICE, AT, BOB, execute, publish_many

CAROL = "U" + "C" * 55
LONG_AGO = AT - 1e9


def knock(subject: str, last_at: float = AT, count: int = 1) -> Knock:
    return Knock(subject, AT, last_at, count)


def test_a_knock_is_kept_as_who_when_and_how_often(store: Store, reader: Reader) -> None:
    store.put_knock(knock(ALICE), forgotten_until=LONG_AGO)
    assert reader.knocks() == (Knock(ALICE, AT, AT, 1),)


def test_there_is_no_room_for_what_was_said(store: Store) -> None:
    with closing(sqlite3.connect(store.path)) as connection:
        columns = [name for _, name, *_ in connection.execute("PRAGMA table_info(knocks)")]
    assert columns == ["subject", "first_at", "last_at", "count"]


def test_a_sender_has_one_row(store: Store, reader: Reader) -> None:
    for day in range(5):
        store.put_knock(knock(ALICE, AT + day, day + 1), forgotten_until=LONG_AGO)
    assert reader.knocks() == (Knock(ALICE, AT, AT + 4, 5),)


def test_knocks_are_listed_by_the_last_one_the_oldest_first(store: Store, reader: Reader) -> None:
    for subject, last_at in ((BOB, AT + 2), (ALICE, AT + 3), (CAROL, AT + 1)):
        store.put_knock(knock(subject, last_at), forgotten_until=LONG_AGO)
    assert [one.subject for one in reader.knocks()] == [CAROL, BOB, ALICE]


@pytest.mark.parametrize(("until", "left"), [(AT - 0.001, [ALICE, BOB]), (AT, [BOB]), (AT + 1, [BOB])])
def test_what_is_old_enough_is_forgotten_by_the_next_write(
    store: Store, reader: Reader, until: float, left: list[str]
) -> None:
    store.put_knock(knock(ALICE, AT), forgotten_until=LONG_AGO)
    store.put_knock(knock(BOB, AT + 9), forgotten_until=until)
    assert [one.subject for one in reader.knocks()] == left


def test_who_comes_back_after_having_been_forgotten_begins_anew(store: Store, reader: Reader) -> None:
    store.put_knock(knock(ALICE, AT, 7), forgotten_until=LONG_AGO)
    again = Knock(ALICE, AT + 100, AT + 100, 1)
    store.put_knock(again, forgotten_until=AT)
    assert reader.knocks() == (again,)


def test_a_roster_is_kept_as_the_bytes_that_were_signed(store: Store, reader: Reader) -> None:
    assert reader.roster(ALICE) is None
    store.put_roster(ALICE, b'{"n":1}', AT)
    store.put_roster(BOB, b"\x00\xff", AT)
    store.put_roster(ALICE, b'{"n":2}', AT + 1)
    assert (reader.roster(ALICE), reader.roster(BOB), reader.roster(CAROL)) == (b'{"n":2}', b"\x00\xff", None)


def test_a_decision_and_the_end_of_a_knock_are_one_transaction(store: Store, reader: Reader) -> None:
    for subject in (ALICE, BOB):
        store.put_knock(knock(subject), forgotten_until=LONG_AGO)
    execute(store.path, "CREATE TRIGGER no BEFORE DELETE ON knocks BEGIN SELECT RAISE(ABORT, 'no'); END")
    with pytest.raises(StoreError):
        store.put_roster(CAROL, b"{}", AT, decided=ALICE)
    assert reader.roster(CAROL) is None
    execute(store.path, "DROP TRIGGER no")
    store.put_roster(CAROL, b"{}", AT, decided=ALICE)
    assert reader.roster(CAROL) == b"{}"
    assert [one.subject for one in reader.knocks()] == [BOB]


@pytest.mark.parametrize("value", ["7", "'text'", "1.5"])
def test_a_row_that_was_damaged_reads_as_bytes_that_nobody_signed(store: Store, reader: Reader, value: str) -> None:
    store.put_roster(ALICE, b"{}", AT)
    execute(store.path, f"UPDATE roster SET document = {value}")
    assert isinstance(reader.roster(ALICE), bytes)
    assert reader.roster(ALICE) != b"{}"


def test_they_are_there_after_a_restart_and_in_a_backup(path: Path, tmp_path: Path) -> None:
    with Store.open(path) as store:
        publish_many(store, 1)
        store.put_knock(knock(ALICE), forgotten_until=LONG_AGO)
        store.put_roster(BOB, b"{}", AT)
    backup(path, tmp_path / "copy.db")
    for place in (path, tmp_path / "copy.db"):
        with Store.open(place), Reader.open(place) as reader:
            assert reader.knocks() == (knock(ALICE),)
            assert reader.roster(BOB) == b"{}"
            assert list(reader.verify()) == []


def test_a_store_that_is_replaced_takes_no_knock(store: Store) -> None:
    store.path.rename(store.path.with_suffix(".gone"))
    with pytest.raises(StoreError) as caught:
        store.put_knock(knock(ALICE), forgotten_until=LONG_AGO)
    assert caught.value.code == "STORE_REPLACED"
