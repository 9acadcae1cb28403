"""The jobs: one row for each piece of work that was admitted, from its acceptance until it is forgotten.

The invariant: what was asked is never stored; of the outcome, only the payload that its caller is told, sealed where he
asked for that. A row without a payload is of a job that has not ended. A caller's request is one row at most, so that a
request that comes again, after a restart too, is not worked on again. Written inside a transaction of the one writer.

Source: binding 5; 5.1 – 5.4 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

import sqlite3

from store.records import Job

_ADD = (
    "INSERT INTO jobs (task_id, caller, request_id, offering, state, created_at, began_at, ended_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (caller, request_id) DO NOTHING"
)
# Lists are read without the payloads, which may be large.
_LISTED = "SELECT task_id, caller, request_id, offering, state, created_at, began_at, ended_at FROM jobs"
_WHOLE = "SELECT task_id, caller, request_id, offering, state, created_at, began_at, ended_at, payload FROM jobs"


def add(connection: sqlite3.Connection, job: Job) -> bool:
    """Adds a job that has not ended. False when its caller's request is a row already."""
    return (
        connection.execute(
            _ADD,
            (
                *(job.task_id, job.caller, job.request_id, job.offering),
                *(job.state, job.created_at, job.began_at, job.ended_at),
            ),
        ).rowcount
        > 0
    )


def begin(connection: sqlite3.Connection, task_id: str, state: str, at: float) -> None:
    """Says that a job is being worked on. One that has ended stays as it is."""
    connection.execute(
        "UPDATE jobs SET state = ?, began_at = ? WHERE task_id = ? AND payload IS NULL", (state, at, task_id)
    )


def end(connection: sqlite3.Connection, task_id: str, state: str, at: float, payload: str) -> bool:
    """Says how a job ended. False when it had ended already, or is not there; then nothing is changed."""
    return (
        connection.execute(
            "UPDATE jobs SET state = ?, ended_at = ?, payload = ? WHERE task_id = ? AND payload IS NULL",
            (state, at, payload, task_id),
        ).rowcount
        > 0
    )


def forget(connection: sqlite3.Connection, ended_until: float, most: int) -> int:
    """Forgets the jobs that had ended at `ended_until`, and of the others that ended all but the newest `most`.

    Returns how many.
    """
    old = connection.execute("DELETE FROM jobs WHERE ended_at <= ?", (ended_until,)).rowcount
    over = connection.execute(
        "DELETE FROM jobs WHERE payload IS NOT NULL AND seq <= (SELECT coalesce(max(seq), 0) FROM jobs) - ?", (most,)
    ).rowcount
    return old + over


def unfinished(connection: sqlite3.Connection) -> tuple[Job, ...]:
    """Every job that has not ended, oldest first."""
    rows = connection.execute(f"{_LISTED} WHERE payload IS NULL ORDER BY seq")
    return tuple(Job(*row) for row in rows)


def one(connection: sqlite3.Connection, task_id: str) -> Job | None:
    """One job, with its payload; `None` when there is none."""
    row = connection.execute(f"{_WHOLE} WHERE task_id = ?", (task_id,)).fetchone()
    return None if row is None else Job(*row)


def newest(connection: sqlite3.Connection, limit: int, state: str | None) -> tuple[Job, ...]:
    """At most `limit` jobs, newest first, of one state or of all, without their payloads."""
    rows = connection.execute(f"{_LISTED} WHERE ?1 IS NULL OR state = ?1 ORDER BY seq DESC LIMIT ?2", (state, limit))
    return tuple(Job(*row) for row in rows)
