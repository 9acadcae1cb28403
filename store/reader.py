"""Reading the store.

The invariant: bytes leave here only when they match their digest, on every read, whatever is on the disk.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from descriptor.digests import digest_of
from store import jobs, keeping, knocks, peers, roster
from store.database import Connected, open_reader
from store.errors import StoreError, damaged, error_of
from store.records import Counts, Event, Follow, Job, Knock, Peer, Problem, Standing, Version

_ARTIFACT = "SELECT bytes FROM artifacts WHERE digest = ?"
_VERSION = (
    "SELECT versions.seq, versions.subject, digest, agent_version, size, published_at, previous_digest,"
    " current.seq IS versions.seq FROM versions LEFT JOIN current ON current.subject = versions.subject"
)
_HIGHEST = 2**63 - 1
_BATCH = 500

# What must not be there: each question answers with a message, and the digest it is about or NULL.
_WHOLE_FILE = (
    "INTEGRITY",
    "SELECT integrity_check, NULL FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
)
_ROWS = (
    (
        "DANGLING",
        "SELECT 'Version ' || seq || ' names ' || digest || ', which is not stored.', digest FROM versions"
        " WHERE digest NOT IN (SELECT digest FROM artifacts)",
    ),
    (
        "DANGLING",
        "SELECT 'The current version of ' || subject || ' is number ' || seq || ', which is not in its history.', NULL"
        " FROM current WHERE NOT EXISTS"
        " (SELECT 1 FROM versions WHERE versions.seq = current.seq AND versions.subject = current.subject)",
    ),
    (
        "EVENT_GAP",
        "SELECT 'The event log has no number ' || (seq - 1) || '.', NULL FROM events"
        " WHERE seq > (SELECT min(seq) FROM events) AND seq - 1 NOT IN (SELECT seq FROM events)",
    ),
    (
        "EVENT_GAP",
        "SELECT 'The newest event is ' || newest || ', and ' || given || ' numbers were given.', NULL"
        " FROM (SELECT (SELECT coalesce(max(seq), 0) FROM events) AS newest,"
        " (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events') AS given)"
        " WHERE newest <> given",
    ),
)


class Reader(Connected):
    """A read-only connection of its own, for one thread at a time: any thread, never two at once.

    A program that reads from several worker threads opens a reader for each. A reader sees every publish that
    was acknowledged before the call, whichever process made it. Every method raises `StoreError` for what the
    disk refuses (`DAMAGED`, `STORE_IO`, `STORE_BUSY`); the reader may be used again after it.
    """

    @classmethod
    def open(cls, path: Path) -> Self:
        """The store at `path`, to be read.

        Raises `StoreError`: `NO_STORE`, `NOT_A_STORE`, `STORE_NEWER`, `STORE_OLDER`, `STORE_UNREADABLE`.
        """
        return cls(open_reader(path), path)

    def artifact(self, digest: str) -> bytes | None:
        """The exact bytes that `digest` names, hashed again just now; `None` when they were never stored.

        Raises `StoreError` `DAMAGED`, with the digest, when what is stored does not match.

        Source: chapter 6.5.
        """
        try:
            row = self._connection.execute(_ARTIFACT, (digest,)).fetchone()
        except sqlite3.Error as error:
            met = error_of(error, self.path)
            raise (damaged(digest) if met.code == "DAMAGED" else met) from error
        if row is None:
            return None
        data = row[0]
        if not isinstance(data, bytes) or digest_of(data) != digest:
            raise damaged(digest)
        return data

    def publisher(self) -> str | None:
        """The subject that publishes from this store; `None` when none has yet. Others in it are only kept."""
        with self._reading() as connection:
            row = connection.execute("SELECT subject FROM events ORDER BY seq DESC LIMIT 1").fetchone()
            return None if row is None else str(row[0])

    def current(self, subject: str) -> Version | None:
        """The version that is current for `subject`; `None` when it has published none."""
        with self._reading() as connection:
            row = connection.execute(f"{_VERSION} WHERE current.subject = ? AND current.seq = versions.seq", (subject,))
            return next(map(_version, row), None)

    def is_kept(self, subject: str, digest: str) -> bool:
        """Whether a version of `subject` has this digest."""
        with self._reading() as connection:
            kept = "SELECT 1 FROM versions WHERE subject = ? AND digest = ?"
            return connection.execute(kept, (subject, digest)).fetchone() is not None

    def digests_of(self, subject: str) -> frozenset[str]:
        """The digests of every version that is kept of `subject`."""
        with self._reading() as connection:
            rows = connection.execute("SELECT DISTINCT digest FROM versions WHERE subject = ?", (subject,))
            return frozenset(digest for (digest,) in rows)

    def size_of_others(self, subject: str) -> int:
        """Bytes of every version that is kept of anybody but `subject`."""
        with self._reading() as connection:
            others = "SELECT coalesce(sum(size), 0) FROM held WHERE subject <> ?"
            return int(connection.execute(others, (subject,)).fetchone()[0])

    def history(self, subject: str, limit: int, before: int | None = None) -> tuple[tuple[Version, ...], int | None]:
        """At most `limit` versions of `subject`, newest first, and what to give as `before` for the next page.

        `before`: a `seq`; only older versions are returned. The second value is `None` on the last page.
        """
        with self._reading() as connection:
            rows = connection.execute(
                f"{_VERSION} WHERE versions.subject = ? AND versions.seq < ? ORDER BY versions.seq DESC LIMIT ?",
                (subject, _HIGHEST if before is None else _within(before), limit + 1),
            )
            versions = tuple(map(_version, rows))
        page = versions[:limit]
        return page, page[-1].seq if page and len(versions) > limit else None

    def events_after(self, seq: int, limit: int) -> tuple[Event, ...]:
        """At most `limit` events numbered above `seq`, in order. The first is `seq + 1` unless the log no longer
        holds that one.

        Source: binding 6.
        """
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT seq, type, subject, at, data FROM events WHERE seq > ? ORDER BY seq LIMIT ?",
                (_within(seq), limit),
            )
            return tuple(Event(*row) for row in rows)

    def last_event_seq(self) -> int:
        """The number of the newest event ever appended; 0 before the first."""
        with self._reading() as connection:
            return _number(connection, "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'")

    def roster(self, owner: str) -> bytes | None:
        """The roster that is kept of `owner`, as it was stored; `None` when none is. Whether it is to be enforced is
        for its signature to say.
        """
        with self._reading() as connection:
            return roster.read(connection, owner)

    def knocks(self) -> tuple[Knock, ...]:
        """Who knocked, in the order of their last knock, the oldest first."""
        with self._reading() as connection:
            return knocks.read(connection)

    def job(self, task_id: str) -> Job | None:
        """One job, with what its caller is told of its end; `None` when there is none of that id."""
        with self._reading() as connection:
            return jobs.one(connection, task_id)

    def jobs(self, limit: int, state: str | None = None) -> tuple[Job, ...]:
        """At most `limit` jobs, newest first, of one state or of all, without their payloads."""
        with self._reading() as connection:
            return jobs.newest(connection, limit, state)

    def follows(self) -> tuple[Follow, ...]:
        """The subscriptions, oldest first."""
        with self._reading() as connection:
            return keeping.follows(connection)

    def standing(self, subject: str, digest: str) -> Standing:
        """What the history of a subject says about a version of it."""
        with self._reading() as connection:
            return keeping.standing(connection, subject, digest)

    def spelled(self, subject: str, agent_version: str, digest: str) -> str | None:
        """Another digest kept of a subject under the same `agent_version`, the newest; `None` when there is none."""
        with self._reading() as connection:
            return keeping.spelled(connection, subject, agent_version, digest)

    def peers(self) -> tuple[Peer, ...]:
        """The agents that were heard on the network, in the order of their ids."""
        with self._reading() as connection:
            return peers.peers(connection)

    def peer_descriptor(self, agent_id: str) -> bytes | None:
        """The Descriptor of a peer that verified last, hashed again just now; `None` when none is kept."""
        with self._reading() as connection:
            return peers.peer_descriptor(connection, agent_id)

    def counts(self) -> Counts:
        """How much the store holds."""
        with self._reading() as connection:
            return Counts(
                artifacts=_number(connection, "SELECT count(*) FROM artifacts"),
                versions=_number(connection, "SELECT count(*) FROM versions"),
                subjects=_number(connection, "SELECT count(*) FROM current"),
                events=_number(connection, "SELECT count(*) FROM events"),
            )

    def verify(self) -> Iterator[Problem]:
        """Everything that is wrong with the store, as it is found; nothing for a sound one.

        Reads all of the file, one artifact in memory at a time, and holds no lock while the caller thinks.
        Damage is yielded, not raised.
        """
        yield from self._found(*_WHOLE_FILE)
        yield from self._damaged_artifacts()
        for code, question in _ROWS:
            yield from self._found(code, question)

    def _found(self, code: str, question: str) -> Iterator[Problem]:
        try:
            with self._reading() as connection:
                rows = connection.execute(question).fetchall()
        except StoreError as error:
            yield Problem("INTEGRITY", error.message)
            return
        for message, digest in rows:
            yield Problem(code, message, digest)

    def _damaged_artifacts(self) -> Iterator[Problem]:
        after = ""
        while True:
            try:
                with self._reading() as connection:
                    batch = connection.execute(
                        "SELECT digest FROM artifacts WHERE digest > ? ORDER BY digest LIMIT ?", (after, _BATCH)
                    ).fetchall()
            except StoreError as error:
                yield Problem("INTEGRITY", error.message)
                return
            if not batch:
                return
            for (digest,) in batch:
                try:
                    self.artifact(digest)
                except StoreError as error:
                    yield Problem(error.code, error.message, digest)
            (after,) = batch[-1]

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        try:
            yield self._connection
        except sqlite3.Error as error:
            raise error_of(error, self.path) from error


def _version(row: tuple[int, str, str, str, int, float, str | None, int]) -> Version:
    return Version(*row[:-1], current=bool(row[-1]))


def _number(connection: sqlite3.Connection, question: str) -> int:
    (number,) = connection.execute(question).fetchone()
    assert isinstance(number, int)
    return number


def _within(seq: int) -> int:
    # A number from outside may be larger than a column can hold; what it asks for stays the same.
    return max(0, min(seq, _HIGHEST))
