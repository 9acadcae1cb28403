"""Opening the file: whose it is, how new it is, and how durably it is written.

The invariant: nothing is written to a file before it is known to be a store (or new), and no connection leaves
here without its pragmas in force. What is committed through a writing connection survives a loss of power:
`synchronous=FULL` syncs the write-ahead log before a commit returns.

Memory-mapped reads stay off: a bad sector under a mapping kills the process (SIGBUS), where a read that fails
is an error to answer with.
"""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from store.errors import StoreError, error_of
from store.schema import APPLICATION_ID, MIGRATIONS, migrate

BUSY_SECONDS = 5.0
"""How long a connection waits for another process's lock."""

_WAL_KEPT_BYTES = 4 * 1024 * 1024


class Connected:
    """One connection to a store, closed at the end of a `with`."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self.path = path
        self._inode = path.stat().st_ino

    def close(self) -> None:
        """Closes the connection; the last one to close folds the write-ahead log into the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def open_writer(path: Path) -> sqlite3.Connection:
    """A writing connection in autocommit mode, to a store that is created (mode 0600) or brought up to date.

    Raises `StoreError`: `NOT_A_STORE` or `STORE_NEWER` with the file untouched, and what the disk refuses.
    """
    try:
        _create(path)
        connection = _connect(path, "rw")
        try:
            identify(connection, path)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            # What is forgotten is gone from the file: an output is kept for as many days as was promised.
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute(f"PRAGMA journal_size_limit = {_WAL_KEPT_BYTES}")
            _log_ahead(connection)
            migrate(connection)
            # SQLite opens a file that may not be written without a word, and refuses the first write: try one now.
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
            connection.execute("ROLLBACK")
        except BaseException:  # raised again: nothing is left open behind it
            connection.close()
            raise
    except (sqlite3.Error, OSError) as error:
        raise error_of(error, path) from error
    return connection


def open_reader(path: Path, *, any_number: bool = False) -> sqlite3.Connection:
    """A read-only connection in autocommit mode.

    `any_number` admits a store that a writer has yet to bring up to date. Raises `StoreError`: `NO_STORE`,
    `NOT_A_STORE`, `STORE_NEWER`, `STORE_OLDER`, and what the disk refuses.
    """
    try:
        if not path.exists():
            raise StoreError("NO_STORE", f"There is no store at {path}; run `agent-node init` first.")
        connection = _connect(path, "ro")
        try:
            number = identify(connection, path)
        except BaseException:  # raised again: nothing is left open behind it
            connection.close()
            raise
    except (sqlite3.Error, OSError) as error:
        raise error_of(error, path) from error
    if number == 0:
        connection.close()
        raise StoreError("NO_STORE", f"{path} is empty, not a store yet; run `agent-node init` first.")
    if number < len(MIGRATIONS) and not any_number:
        connection.close()
        raise StoreError(
            "STORE_OLDER",
            f"{path} was made by an older agent-node (store {number}, this one reads {len(MIGRATIONS)});"
            " start the node once to bring it up to date.",
        )
    return connection


def identify(connection: sqlite3.Connection, path: Path) -> int:
    """The number of migrations the store has had; 0 for a file with nothing in it yet. Writes nothing.

    Raises `StoreError` `NOT_A_STORE` or `STORE_NEWER`, and `sqlite3.Error`.
    """
    # Three answers of one moment: another process may be making this store right now.
    connection.execute("BEGIN")
    try:
        (application_id,) = connection.execute("PRAGMA application_id").fetchone()
        (number,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    if (application_id, number, tables) == (0, 0, 0):
        return 0
    if application_id != APPLICATION_ID or number < 1:
        raise StoreError(
            "NOT_A_STORE", f"{path} is a database of another program; move it away, or name the right file."
        )
    if number > len(MIGRATIONS):
        raise StoreError(
            "STORE_NEWER",
            f"{path} was made by a newer agent-node (store {number}, this one reads up to {len(MIGRATIONS)});"
            " upgrade agent-node, or restore a backup made by this one.",
        )
    assert isinstance(number, int)
    return number


def _create(path: Path) -> None:
    # SQLite gives its -wal and -shm files the mode of the database, so this one call decides for all three. The
    # directory is synced by SQLite, with the first log it makes there.
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    except FileExistsError:
        return
    os.close(descriptor)


def _log_ahead(connection: sqlite3.Connection) -> None:
    # The one statement that does not wait for a lock as long as it was told to.
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    if not path.is_file():
        raise StoreError("NOT_A_STORE", f"{path} is not a file; move it away, or name the right one.")
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.execute("PRAGMA mmap_size = 0")
    # The schema is ours, and a file that was tampered with shall not run functions through it.
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection
