"""Migrations: each one whole, in order, once, from wherever the store is."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from store import Reader, Store, StoreError, backup, schema
from tests.store.samples import ALICE, digest, document, execute, publish, publish_many

if TYPE_CHECKING:
    from sqlite_utils import Database


def number(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        (found,) = connection.execute("PRAGMA user_version").fetchone()
    assert isinstance(found, int)
    return found


def tables(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def add_notes(database: Database) -> None:
    database.table("notes").create({"seq": int, "text": str}, pk="seq")


def fail_half_way(database: Database) -> None:
    database.table("half").create({"seq": int}, pk="seq")
    # Written in a transaction of sqlite-utils' own, which must not end the migration's.
    database.table("half").insert({"seq": 1})
    raise sqlite3.OperationalError("half way")


@pytest.fixture(params=range(1, len(schema.MIGRATIONS) + 1))
def older(request: pytest.FixtureRequest, path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store as each released number of migrations left it, with two versions in it."""
    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[: request.param])
        with Store.open(path) as store:
            publish_many(store, 2)
    assert number(path) == request.param
    return path


def test_a_store_of_every_earlier_number_is_brought_up_to_date(older: Path) -> None:
    with Store.open(older) as store, Reader.open(older) as reader:
        assert number(older) == len(schema.MIGRATIONS)
        assert reader.artifact(digest(2)) == document(2)
        assert publish(store, 3, 2).event_seq == 3
        assert list(reader.verify()) == []
        assert (reader.standing(ALICE, digest(2)).versions, reader.standing(ALICE, digest(2)).size) == (
            3,
            sum(len(document(number)) for number in (1, 2, 3)),
        )


@pytest.fixture
def one_more(store: Store, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store, and a program that has one migration more than it has had."""
    publish_many(store, 2)
    more = (*schema.MIGRATIONS, add_notes)
    monkeypatch.setattr("store.schema.MIGRATIONS", more)
    monkeypatch.setattr("store.database.MIGRATIONS", more)
    return store.path


def test_a_migration_runs_when_a_writer_opens_and_only_once(one_more: Path) -> None:
    for _ in range(2):
        Store.open(one_more).close()
        assert number(one_more) == len(schema.MIGRATIONS)
        assert "notes" in tables(one_more)


def test_a_reader_does_not_migrate_and_says_what_to_do(one_more: Path) -> None:
    with pytest.raises(StoreError) as caught:
        Reader.open(one_more)
    assert caught.value.code == "STORE_OLDER"
    assert "start the node once" in caught.value.message


def test_a_backup_can_be_taken_before_a_store_is_migrated(one_more: Path, tmp_path: Path) -> None:
    backup(one_more, tmp_path / "before.db")
    assert number(tmp_path / "before.db") == len(schema.MIGRATIONS) - 1


def test_a_migration_that_fails_leaves_nothing_of_itself(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(store, 1, None)
    before = number(store.path)
    more = (*schema.MIGRATIONS, add_notes, fail_half_way)
    monkeypatch.setattr("store.schema.MIGRATIONS", more)
    monkeypatch.setattr("store.database.MIGRATIONS", more)
    with pytest.raises(StoreError, match="half way"):
        Store.open(store.path)
    assert number(store.path) == before + 1
    assert "notes" in tables(store.path)
    assert "half" not in tables(store.path)


def test_the_tables_are_these(store: Store) -> None:
    assert tables(store.path) == {
        *(
            "artifacts",
            "versions",
            "current",
            "events",
            "follows",
            "peers",
            "roster",
            "knocks",
            "jobs",
            "held",
            "sqlite_sequence",
        ),
    }


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO current (subject, seq) VALUES ('U', 99)",
        "INSERT INTO versions (subject, digest, agent_version, size, published_at) VALUES ('U', 'sha256:', '1', 1, 1)",
        "DELETE FROM artifacts",
    ],
)
def test_a_row_cannot_name_what_is_not_there(store: Store, statement: str) -> None:
    publish(store, 1, None)
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        execute(store.path, "PRAGMA foreign_keys = ON", statement)
