"""The tables, as numbered migrations.

The invariant: a migration and the number that records it are one transaction, so a store is always exactly at
one number, and two processes that start together run each migration once. A migration that has been released
is never edited; a change to the tables is a new function at the end of `MIGRATIONS`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database

APPLICATION_ID = 0x41474E44
"""Stands in the file's header, so that `file(1)` and this program know a store from another database."""


def _first(database: Database) -> None:
    # AUTOINCREMENT, which never gives a number twice, is not among what sqlite-utils' `create` offers.
    # Bytes stand last: SQLite reads a row from its front, and what stands behind a large value costs its pages.
    database.execute(
        "CREATE TABLE artifacts (digest TEXT PRIMARY KEY NOT NULL, stored_at REAL NOT NULL, bytes BLOB NOT NULL)"
    )
    database.execute(
        "CREATE TABLE versions (seq INTEGER PRIMARY KEY AUTOINCREMENT, subject TEXT NOT NULL,"
        " digest TEXT NOT NULL REFERENCES artifacts(digest), agent_version TEXT NOT NULL, size INTEGER NOT NULL,"
        " published_at REAL NOT NULL, previous_digest TEXT)"
    )
    # The row's seq follows the subject in the index, so this also serves a page of one subject's history.
    database.table("versions").create_index(["subject"])
    database.execute(
        "CREATE TABLE current (subject TEXT PRIMARY KEY NOT NULL, seq INTEGER NOT NULL REFERENCES versions(seq))"
    )
    database.execute(
        "CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, subject TEXT NOT NULL,"
        " at REAL NOT NULL, data TEXT NOT NULL)"
    )


def _follows_and_peers(database: Database) -> None:
    # Lists are JSON: they are read whole and never searched.
    database.execute(
        "CREATE TABLE follows (id TEXT PRIMARY KEY NOT NULL, url TEXT NOT NULL, since REAL NOT NULL, seq INTEGER,"
        " synced INTEGER NOT NULL, reports TEXT NOT NULL)"
    )
    database.execute(
        "CREATE TABLE peers (id TEXT PRIMARY KEY NOT NULL, handle TEXT, state TEXT NOT NULL, reason TEXT NOT NULL,"
        " agent_version TEXT, digest TEXT, addresses TEXT NOT NULL, first_seen REAL NOT NULL, last_seen REAL NOT NULL,"
        " descriptor BLOB)"
    )


def _roster_and_knocks(database: Database) -> None:
    database.execute(
        "CREATE TABLE roster (owner TEXT PRIMARY KEY NOT NULL, stored_at REAL NOT NULL, document BLOB NOT NULL)"
    )
    # Who knocked, when and how often; there is no column for what was said.
    database.execute(
        "CREATE TABLE knocks (subject TEXT PRIMARY KEY NOT NULL, first_at REAL NOT NULL, last_at REAL NOT NULL,"
        " count INTEGER NOT NULL)"
    )
    database.table("knocks").create_index(["last_at"])


def _jobs(database: Database) -> None:
    # There is no column for what was asked. The payload stands last: it may be large, and lists do not read it.
    database.execute(
        "CREATE TABLE jobs (seq INTEGER PRIMARY KEY AUTOINCREMENT, task_id TEXT NOT NULL UNIQUE, caller TEXT NOT NULL,"
        " request_id TEXT NOT NULL, offering TEXT NOT NULL, state TEXT NOT NULL, created_at REAL NOT NULL,"
        " began_at REAL, ended_at REAL, payload TEXT, UNIQUE (caller, request_id))"
    )
    database.table("jobs").create_index(["ended_at"])


def _long_histories(database: Database) -> None:
    # What is asked about one version, or about a history as a whole, costs no more where the history is long.
    database.table("versions").create_index(["subject", "digest"])
    database.table("versions").create_index(["subject", "agent_version"])
    database.execute(
        "CREATE TABLE held (subject TEXT PRIMARY KEY NOT NULL, versions INTEGER NOT NULL, size INTEGER NOT NULL)"
    )
    database.execute("INSERT INTO held SELECT subject, count(*), sum(size) FROM versions GROUP BY subject")
    # Versions are added, and never changed or taken away.
    database.execute(
        "CREATE TRIGGER versions_held AFTER INSERT ON versions BEGIN"
        " INSERT INTO held (subject, versions, size) VALUES (new.subject, 1, new.size)"
        " ON CONFLICT (subject) DO UPDATE SET versions = versions + 1, size = size + excluded.size; END"
    )


MIGRATIONS: tuple[Callable[[Database], None], ...] = (
    _first,
    _follows_and_peers,
    _roster_and_knocks,
    _jobs,
    _long_histories,
)
"""`MIGRATIONS[n]` takes a store from number n to number n + 1 (`user_version` in the file's header)."""


def migrate(connection: sqlite3.Connection) -> None:
    """Brings an identified store up to date; does nothing, and imports nothing, when it is.

    `connection` must be in autocommit mode. Raises `sqlite3.Error`; then the store stays at the last number
    that was completed.
    """
    while _number(connection) < len(MIGRATIONS):
        from sqlite_utils import Database  # noqa: PLC0415  # a fifth of a second, paid only by who migrates

        database = Database(connection, recursive_triggers=False, execute_plugins=False)
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Read again under the lock: another process may have been quicker.
            number = _number(connection)
            if number < len(MIGRATIONS):
                MIGRATIONS[number](database)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {number + 1}")
            connection.execute("COMMIT")
        except BaseException:  # raised again: nothing is left open behind it
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _number(connection: sqlite3.Connection) -> int:
    (number,) = connection.execute("PRAGMA user_version").fetchone()
    assert isinstance(number, int)
    return number
