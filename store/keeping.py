"""Versions of others, and who is followed.

The invariant: a version of somebody else has one row in the history of its subject, however often it is announced;
which one is current is a pointer. What a follower has taken in, how far that brings it and what there is to report of
it are written together, so that a crash leaves it exactly where it stands. Nothing here appends an event: the log is
this node's own.

Source: binding 8.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable

from store.records import Copy, Follow, Reported, Standing

_OF_DIGEST = "SELECT seq, agent_version FROM versions WHERE subject = ? AND digest = ? ORDER BY seq DESC LIMIT 1"
_CURRENT = (
    "SELECT versions.seq, digest, agent_version, published_at FROM current JOIN versions USING (seq)"
    " WHERE current.subject = ?"
)


def keep(connection: sqlite3.Connection, subject: str, copy: Copy, *, current: Callable[[Standing], bool]) -> Standing:
    """See `Store.keep`."""
    before = standing(connection, subject, copy.digest)
    becomes_current = current(before)
    _add(connection, subject, copy)
    if becomes_current:
        point(connection, subject, copy.digest)
    return before


def _add(connection: sqlite3.Connection, subject: str, copy: Copy) -> None:
    """Adds a version, unless it is kept already."""
    if connection.execute(_OF_DIGEST, (subject, copy.digest)).fetchone() is not None:
        return
    current = connection.execute(_CURRENT, (subject,)).fetchone()
    connection.execute(
        "INSERT INTO artifacts (digest, stored_at, bytes) VALUES (?, ?, ?) ON CONFLICT (digest) DO NOTHING",
        (copy.digest, copy.published_at, copy.data),
    )
    connection.execute(
        "INSERT INTO versions (subject, digest, agent_version, size, published_at, previous_digest)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (
            *(subject, copy.digest, copy.agent_version, len(copy.data), copy.published_at),
            current[1] if current else None,
        ),
    )


def point(connection: sqlite3.Connection, subject: str, digest: str) -> bool:
    """Makes a version that is kept the current one. False when it is already, or is not kept."""
    place = connection.execute(_OF_DIGEST, (subject, digest)).fetchone()
    standing = connection.execute(_CURRENT, (subject,)).fetchone()
    if place is None or (standing is not None and standing[1] == digest):
        return False
    connection.execute(
        "INSERT INTO current (subject, seq) VALUES (?, ?) ON CONFLICT (subject) DO UPDATE SET seq = excluded.seq",
        (subject, place[0]),
    )
    return True


def take_in(connection: sqlite3.Connection, follow: Follow, copy: Copy | None, current: str | None) -> bool:
    """See `Store.take_in`."""
    changed = connection.execute(
        "UPDATE follows SET url = ?, seq = ?, synced = ?, reports = ? WHERE id = ?",
        (follow.url, follow.seq, follow.synced, _written(follow.reports), follow.id),
    ).rowcount
    if not changed:
        return False
    if copy is not None:
        _add(connection, follow.id, copy)
    if current is not None:
        point(connection, follow.id, current)
    return True


def add_follow(connection: sqlite3.Connection, follow: Follow) -> None:
    """Adds a subscription. One that is there already stays as it is, and is looked for elsewhere."""
    connection.execute(
        "INSERT INTO follows (id, url, since, seq, synced, reports) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET url = excluded.url",
        (follow.id, follow.url, follow.since, follow.seq, follow.synced, _written(follow.reports)),
    )


def drop_follow(connection: sqlite3.Connection, agent_id: str) -> bool:
    """Ends a subscription. What was kept stays. False when there was none."""
    return connection.execute("DELETE FROM follows WHERE id = ?", (agent_id,)).rowcount > 0


def follows(connection: sqlite3.Connection) -> tuple[Follow, ...]:
    """The subscriptions, oldest first."""
    rows = connection.execute("SELECT id, url, since, seq, synced, reports FROM follows ORDER BY since, id")
    return tuple(
        Follow(agent_id, url, since, seq, bool(synced), tuple(Reported(*one) for one in json.loads(reports)))
        for agent_id, url, since, seq, synced, reports in rows
    )


def standing(connection: sqlite3.Connection, subject: str, digest: str) -> Standing:
    """What the history of a subject says about a version of it."""
    place = connection.execute(_OF_DIGEST, (subject, digest)).fetchone()
    current = connection.execute(_CURRENT, (subject,)).fetchone()
    held = connection.execute("SELECT versions, size FROM held WHERE subject = ?", (subject,)).fetchone()
    versions, size = held or (0, 0)
    return Standing(
        seq=place[0] if place else None,
        agent_version=place[1] if place else None,
        current_seq=current[0] if current else None,
        current_digest=current[1] if current else None,
        current_version=current[2] if current else None,
        current_published_at=current[3] if current else None,
        versions=versions,
        size=size,
    )


def spelled(connection: sqlite3.Connection, subject: str, agent_version: str, digest: str) -> str | None:
    """Another digest kept of a subject under the same `agent_version`, the newest; `None` when there is none."""
    row = connection.execute(
        "SELECT digest FROM versions WHERE subject = ? AND agent_version = ? AND digest <> ? ORDER BY seq DESC LIMIT 1",
        (subject, agent_version, digest),
    ).fetchone()
    return None if row is None else str(row[0])


def _written(reports: tuple[Reported, ...]) -> str:
    return json.dumps([[one.at, one.kind, one.message, one.digest, one.times] for one in reports])
