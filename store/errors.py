"""The one exception family of this floor.

The invariant: no `sqlite3.Error` and no `OSError` leaves this room. A caller sees a `StoreError`: a stable
`code` for programs, which reaches the wire and the command line unchanged, and a `message` that says what is
wrong and what to do about it.
"""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path
from typing import Literal

Code = Literal[
    "BACKUP_EXISTS",  # the destination of a backup is there already
    "CONFLICT",  # another publish came first
    "DAMAGED",  # stored bytes do not match their digest, or the file is malformed
    "DIGEST_MISMATCH",  # the caller's bytes and digest do not belong together
    "NO_STORE",  # nothing is there to read
    "NOT_A_STORE",  # the file is something else
    "STORE_BUSY",
    "STORE_FAILED",
    "STORE_FULL",
    "STORE_IO",
    "STORE_NEWER",  # made by a later agent-node
    "STORE_OLDER",  # to be opened for writing once, which brings it up to date
    "STORE_READ_ONLY",
    "STORE_REPLACED",  # the file was removed or replaced under its user
    "STORE_UNREADABLE",
]

_OF_SQLITE: dict[int, tuple[Code, str]] = {
    sqlite3.SQLITE_BUSY: ("STORE_BUSY", "{path} is in use by another process; try again."),
    sqlite3.SQLITE_LOCKED: ("STORE_BUSY", "{path} is in use by another process; try again."),
    sqlite3.SQLITE_CANTOPEN: (
        "STORE_UNREADABLE",
        "{path} cannot be opened; check that this user may read and write the file and its directory,"
        " and that the disk is not full.",
    ),
    sqlite3.SQLITE_PERM: ("STORE_UNREADABLE", "{path} may not be opened by this user; check its permissions."),
    sqlite3.SQLITE_CORRUPT: (
        "DAMAGED",
        "{path} is damaged ({reason}); let `agent-node doctor` say what still reads, and restore a backup.",
    ),
    sqlite3.SQLITE_FULL: ("STORE_FULL", "The disk under {path} is full; nothing was changed. Free some space."),
    sqlite3.SQLITE_IOERR: (
        "STORE_IO",
        "The disk under {path} refused ({reason}); nothing was changed. Check free space, quota and the disk.",
    ),
    sqlite3.SQLITE_NOTADB: ("NOT_A_STORE", "{path} is not a database; move it away, or name the right file."),
    sqlite3.SQLITE_READONLY: (
        "STORE_READ_ONLY",
        "{path} cannot be written, which a store needs even to be read (a backup does not); check its permissions"
        " and owner, and whether the disk is mounted read-only.",
    ),
}

_OF_SYSTEM: dict[int, int] = {
    errno.EACCES: sqlite3.SQLITE_CANTOPEN,
    errno.EDQUOT: sqlite3.SQLITE_FULL,
    errno.ENOSPC: sqlite3.SQLITE_FULL,
    errno.EPERM: sqlite3.SQLITE_CANTOPEN,
    errno.EROFS: sqlite3.SQLITE_READONLY,
}


class StoreError(Exception):
    """The store could not do what it was asked; nothing was changed by the attempt.

    `code`: UPPER_SNAKE and stable. `message`: what is wrong and what to do, in one or two sentences.
    `digest`: `"sha256:"` + hex of the artifact it is about, `None` when it is not about one.
    """

    def __init__(self, code: Code, message: str, digest: str | None = None) -> None:
        super().__init__(code, message, digest)
        self.code: Code = code
        self.message = message
        self.digest = digest

    def __str__(self) -> str:
        return self.message


def error_of(error: sqlite3.Error | OSError, path: Path) -> StoreError:
    """`error`, met while working on the file at `path`, as this floor's own exception."""
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        primary = _OF_SYSTEM.get(error.errno or 0, sqlite3.SQLITE_IOERR)
    else:
        reason = str(error)
        primary = _primary_code(error)
    code, message = _OF_SQLITE.get(primary, ("STORE_FAILED", "{path}: {reason}."))
    return StoreError(code, message.format(path=path, reason=reason))


def damaged(digest: str) -> StoreError:
    """The error for an artifact that is stored and must not be served."""
    return StoreError(
        "DAMAGED",
        f"The stored bytes of {digest} no longer match it and are not served;"
        " publish the same bytes again, or restore a backup.",
        digest,
    )


def _primary_code(error: sqlite3.Error) -> int:
    extended: int | None = getattr(error, "sqlite_errorcode", None)
    if extended is not None:
        return extended & 0xFF
    # Python's own, met while reading a row: text that is not UTF-8, which this room never writes.
    return sqlite3.SQLITE_CORRUPT if isinstance(error, sqlite3.OperationalError) else sqlite3.SQLITE_ERROR
