"""The knocks: who asked to be let in, when, and how often.

The invariant: a sender has one row at most, and no row holds anything of what was said. Written inside a transaction of
the one writer.

Source: 7.1 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

import sqlite3

from store.records import Knock


def put(connection: sqlite3.Connection, knock: Knock, forgotten_until: float) -> None:
    """Keeps a knock, in the place of the sender's last one; forgets those last seen at `forgotten_until` or before."""
    connection.execute("DELETE FROM knocks WHERE last_at <= ?", (forgotten_until,))
    connection.execute(
        "INSERT INTO knocks (subject, first_at, last_at, count) VALUES (?, ?, ?, ?) ON CONFLICT (subject) DO UPDATE SET"
        " first_at = excluded.first_at, last_at = excluded.last_at, count = excluded.count",
        (knock.subject, knock.first_at, knock.last_at, knock.count),
    )


def drop(connection: sqlite3.Connection, subject: str) -> None:
    """Forgets the knocks of one sender."""
    connection.execute("DELETE FROM knocks WHERE subject = ?", (subject,))


def read(connection: sqlite3.Connection) -> tuple[Knock, ...]:
    """All of them, in the order of their last knock, the oldest first."""
    rows = connection.execute("SELECT subject, first_at, last_at, count FROM knocks ORDER BY last_at, subject")
    return tuple(Knock(*row) for row in rows)
