"""The roster of an agent: one signed document, kept as the bytes that were signed.

The invariant: nothing is read from the document here. What it says counts only once its signature has been verified,
and this room does not judge.

Source: 7.1 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

import sqlite3


def put(connection: sqlite3.Connection, owner: str, document: bytes, at: float) -> None:
    """Keeps the roster of `owner`, in the place of the one before. `at`: Unix seconds."""
    connection.execute(
        "INSERT INTO roster (owner, stored_at, document) VALUES (?, ?, ?) ON CONFLICT (owner) DO UPDATE SET"
        " stored_at = excluded.stored_at, document = excluded.document",
        (owner, at, document),
    )


def read(connection: sqlite3.Connection, owner: str) -> bytes | None:
    """The roster of `owner`; `None` when none is kept. A damaged row reads as bytes that nobody signed."""
    row = connection.execute("SELECT document FROM roster WHERE owner = ?", (owner,)).fetchone()
    if row is None:
        return None
    return row[0] if isinstance(row[0], bytes) else str(row[0]).encode()
