"""The one writer.

The invariant: a publish is one transaction: artifact, history row, event row and current pointer are on the
disk together, or none of them is. When `publish` returns, they are there for good; when it raises, the store is
as it was and may be used again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from descriptor.digests import digest_of
from store import jobs, keeping, knocks, peers, roster
from store.database import Connected, open_writer
from store.errors import StoreError, error_of
from store.records import Copy, Event, Follow, Job, Knock, Peer, Publication, Standing

DESCRIPTOR_REPLACED = "descriptor.replaced"
"""The type of the event that a publish appends. Source: binding 6."""


class Store(Connected):
    """The writing connection of a store, for one thread at a time; the caller serializes.

    with Store.open(home / "node.db") as store:
        store.publish(data=…, digest=…, subject=…, agent_version=…, published_at=…,
                      expected_current=None, event=lambda seq, previous_digest: …)
    """

    @classmethod
    def open(cls, path: Path) -> Self:
        """The store at `path`: created with mode 0600 when nothing is there, migrated when it is older.

        Raises `StoreError`: `NOT_A_STORE`, `STORE_NEWER` (both leave the file untouched), `STORE_READ_ONLY`,
        `STORE_UNREADABLE`, `STORE_FULL`, `STORE_BUSY`, `STORE_IO`.
        """
        return cls(open_writer(path), path)

    def publish(
        self,
        *,
        data: bytes,
        digest: str,
        subject: str,
        agent_version: str,
        published_at: float,
        expected_current: str | None,
        event: Callable[[int, str | None], str],
    ) -> Publication:
        """Stores `data` as the current version of `subject`, and its event, in one transaction.

        `published_at`: Unix seconds. `expected_current`: the digest the caller takes to be current, `None` for
        none. `event(seq, previous_digest)` returns the event's line; it is called inside the transaction, because
        the line is signed with its number in it, and what it raises undoes the whole publish.

        Raises `StoreError`: `CONFLICT` when another publish came first, `DIGEST_MISMATCH`, `STORE_FULL`,
        `STORE_READ_ONLY`, `STORE_BUSY`, `STORE_IO`.

        Source: binding 6 (the event), chapter 6.5 (what was published stays fetchable).
        """
        _refuse_mismatch(data, digest)
        with self._transaction() as connection:
            previous = connection.execute(
                "SELECT versions.digest FROM current JOIN versions USING (seq) WHERE current.subject = ?", (subject,)
            ).fetchone()
            previous_digest: str | None = previous[0] if previous else None
            if previous_digest != expected_current:
                raise StoreError(
                    "CONFLICT",
                    f"Another publish came first: current is {previous_digest or 'nothing'},"
                    f" not {expected_current or 'nothing'}. Look at it, and publish again if this one still stands.",
                )
            connection.execute(
                "INSERT INTO artifacts (digest, stored_at, bytes) VALUES (?, ?, ?)"
                " ON CONFLICT (digest) DO UPDATE SET bytes = excluded.bytes WHERE bytes IS NOT excluded.bytes",
                (digest, published_at, data),
            )
            seq = connection.execute(
                "INSERT INTO versions (subject, digest, agent_version, size, published_at, previous_digest)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (subject, digest, agent_version, len(data), published_at, previous_digest),
            ).lastrowid
            assert seq is not None
            connection.execute(
                "INSERT INTO current (subject, seq) VALUES (?, ?)"
                " ON CONFLICT (subject) DO UPDATE SET seq = excluded.seq",
                (subject, seq),
            )
            entry = self._append_event(subject, published_at, lambda number: event(number, previous_digest))
        return Publication(seq, digest, previous_digest, entry)

    def keep(self, subject: str, copy: Copy, *, current: Callable[[Standing], bool]) -> Standing:
        """Keeps a version of somebody else's Descriptor. Appends no event: it was not published here.

        `current(standing)` says whether it becomes the one that is current for `subject`; it is called inside the
        transaction with what the history says before, and what it raises leaves everything as it was. Returns that
        standing: a version that was kept already has its `seq` in it, and is not kept twice.

        Raises `StoreError` as `publish` does, except `CONFLICT`.
        """
        _refuse_mismatch(copy.data, copy.digest)
        with self._transaction() as connection:
            return keeping.keep(connection, subject, copy, current=current)

    def take_in(self, follow: Follow, *, copy: Copy | None = None, current: str | None = None) -> bool:
        """Notes how far a follower has come, in one transaction.

        `follow`: the subscription as it stands now. `copy`: a version of its agent to be kept. `current`: the digest
        of the one that is current from now on, if it is kept. False, having changed nothing, when the agent is not
        followed any more.

        Raises `StoreError` as `publish` does, except `CONFLICT`.
        """
        if copy is not None:
            _refuse_mismatch(copy.data, copy.digest)
        with self._transaction() as connection:
            return keeping.take_in(connection, follow, copy, current)

    def add_follow(self, follow: Follow) -> None:
        """Adds a subscription. One that is there already stays as it is, and is looked for at `follow.url`.

        Raises `StoreError` for what the disk refuses.
        """
        with self._transaction() as connection:
            keeping.add_follow(connection, follow)

    def drop_follow(self, agent_id: str) -> bool:
        """Ends a subscription. What was kept stays. False when there was none."""
        with self._transaction() as connection:
            return keeping.drop_follow(connection, agent_id)

    def put_peers(self, kept: Iterable[tuple[Peer, bytes | None]]) -> None:
        """Adds peers, or replaces what is known of them, each with the bytes of the Descriptor that verified.

        Without bytes, those that are kept stay for as long as they are of the row's digest. Raises `StoreError` for
        what the disk refuses.
        """
        with self._transaction() as connection:
            peers.put_peers(connection, kept)

    def drop_peers(self, ids: Iterable[str]) -> None:
        """Forgets peers. Raises `StoreError` for what the disk refuses."""
        with self._transaction() as connection:
            peers.drop_peers(connection, ids)

    def heal(self, *, data: bytes, digest: str) -> bool:
        """Puts back the bytes of an artifact that the store lists and no longer reads right.

        Returns True when the stored bytes were wrong. An artifact that is not listed is not added.

        Raises `StoreError` as `publish` does, except `CONFLICT`.
        """
        _refuse_mismatch(data, digest)
        with self._transaction() as connection:
            return (
                connection.execute(
                    "UPDATE artifacts SET bytes = ?1 WHERE digest = ?2 AND bytes IS NOT ?1", (data, digest)
                ).rowcount
                > 0
            )

    def put_knock(self, knock: Knock, *, forgotten_until: float) -> None:
        """Keeps a knock, in the place of the sender's last one; forgets those whose last was at `forgotten_until` or
        before. Raises `StoreError` for what the disk refuses.
        """
        with self._transaction() as connection:
            knocks.put(connection, knock, forgotten_until)

    def put_roster(self, owner: str, document: bytes, at: float, *, decided: str | None = None) -> None:
        """Keeps a roster, in the place of the one before, and forgets the knocks of `decided`, who waits no more.

        `at`: Unix seconds. Raises `StoreError` for what the disk refuses.
        """
        with self._transaction() as connection:
            roster.put(connection, owner, document, at)
            if decided is not None:
                knocks.drop(connection, decided)

    def add_job(self, job: Job) -> bool:
        """Adds a job that has not ended. False when its caller's request is a job already. Raises `StoreError`."""
        with self._transaction() as connection:
            return jobs.add(connection, job)

    def begin_job(self, task_id: str, state: str, at: float) -> None:
        """Says that a job is being worked on. `at`: Unix seconds. Raises `StoreError`."""
        with self._transaction() as connection:
            jobs.begin(connection, task_id, state, at)

    def end_job(self, task_id: str, state: str, at: float, payload: str) -> bool:
        """Says how a job ended, and what its caller is told. False when it had ended already. Raises `StoreError`."""
        with self._transaction() as connection:
            return jobs.end(connection, task_id, state, at, payload)

    def end_jobs(self, ends: Callable[[Job], tuple[str, str]], at: float) -> int:
        """Ends every job that has not ended, as `ends` says: its state, and what its caller is told. Returns how many.

        Raises `StoreError`, and then none has ended.
        """
        with self._transaction() as connection:
            left = jobs.unfinished(connection)
            for job in left:
                state, payload = ends(job)
                jobs.end(connection, job.task_id, state, at, payload)
            return len(left)

    def forget_jobs(self, ended_until: float, most: int) -> int:
        """Forgets the jobs that had ended at `ended_until`, and the oldest of more than `most`; says how many.

        Raises `StoreError`.
        """
        with self._transaction() as connection:
            return jobs.forget(connection, ended_until, most)

    def _append_event(self, subject: str, at: float, line: Callable[[int], str]) -> Event:
        # The number is AUTOINCREMENT's own next one, taken early: the row is signed before it is inserted.
        (seq,) = self._connection.execute(
            "SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'events'"
        ).fetchone()
        entry = Event(seq, DESCRIPTOR_REPLACED, subject, at, line(seq))
        self._connection.execute(
            "INSERT INTO events (seq, type, subject, at, data) VALUES (?, ?, ?, ?, ?)",
            (entry.seq, entry.type, entry.subject, entry.at, entry.data),
        )
        return entry

    def _refuse_another_file(self) -> None:
        # What is written to a file that has lost its name is acknowledged and gone.
        try:
            here = self.path.stat().st_ino
        except OSError:
            here = None
        if here != self._inode:
            raise StoreError(
                "STORE_REPLACED",
                f"{self.path} was removed or replaced while it was in use; nothing was changed. Stop the node, put the "
                "store back or restore a backup, and start it again.",
            )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            try:
                self._refuse_another_file()
                yield connection
                connection.execute("COMMIT")
            except BaseException:  # raised again: no transaction outlives it
                # SQLite has ended the transaction itself after some errors of the disk.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise error_of(error, self.path) from error


def _refuse_mismatch(data: bytes, digest: str) -> None:
    if digest_of(data) != digest:
        raise StoreError(
            "DIGEST_MISMATCH", f"The bytes to store are not those of {digest}; nothing was changed.", digest
        )
