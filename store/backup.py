"""A copy of a store while a daemon writes to it.

The invariant: what was at the destination is never overwritten, and what is put there is the whole copy, on the
disk; it is one moment of the source, and a publish is in it or is not.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from contextlib import closing
from pathlib import Path

from store.database import open_reader
from store.errors import StoreError, error_of


def backup(source: Path, destination: Path) -> None:
    """Copies the store at `source` to the new file `destination` (mode 0600).

    The copy is one file with no log beside it, and is opened again before it gets its name. Damage is copied
    with the rest; `Reader.verify` finds it. The same call brings a backup back, to a home without a store. A
    store that an older agent-node made is copied as it is.

    Raises `StoreError`: `BACKUP_EXISTS`, what `Reader.open` raises for `source`, and what the disk refuses.
    """
    partial = destination.with_name(f".{destination.name}.{secrets.token_hex(8)}.partial")
    refusal = StoreError("BACKUP_EXISTS", f"{destination} is there already and is kept; name a new file.")
    if os.path.lexists(destination):
        raise refusal
    try:
        try:
            _copy(source, partial)
            open_reader(partial, any_number=True).close()
            _name(partial, destination)
        finally:
            for leftover in ("", "-journal", "-wal", "-shm"):
                Path(f"{partial}{leftover}").unlink(missing_ok=True)
    except FileExistsError:
        raise refusal from None
    except (sqlite3.Error, OSError) as error:
        raise error_of(error, destination) from error


def _copy(source: Path, partial: Path) -> None:
    descriptor = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    try:
        with (
            closing(open_reader(source, any_number=True)) as original,
            closing(sqlite3.connect(partial, isolation_level=None)) as copy,
        ):
            # In one step: a read transaction of the source, which a writer neither waits for nor restarts.
            original.backup(copy, pages=-1)
            copy.execute("PRAGMA journal_mode = DELETE").fetchone()
        # SQLite has synced it too, in several places; the promise does not rest on that.
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _name(partial: Path, destination: Path) -> None:
    # Claimed first, so that two backups to one name cannot both have it; a hard link would do it in one step,
    # but not on every disk that backups are taken to.
    os.close(os.open(destination, os.O_CREAT | os.O_EXCL, 0o600))
    try:
        partial.replace(destination)
        _sync_directory(destination.parent)
    except OSError:
        destination.unlink(missing_ok=True)
        raise


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
