"""The store as the entryway reads it: in a worker thread, one at a time.

A slow disk delays whoever asked for an old version, and nobody else. The current version never comes this way.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import structlog
import trio

from descriptor.document import Descriptor
from entryway.errors import EntrywayError
from entryway.snapshot import Damaged, NonePublished, Snapshot, published
from store import Event, Knock, Reader, Store, StoreError, Version

Value = TypeVar("Value")

log = structlog.get_logger("archive")


class StoreArchive:
    """One reader behind one worker thread. Implements `entryway.routes.Archive` while `run` runs.

    Everything that was asked while the thread was away is asked at once when it is back: a busy archive goes to and
    fro once for many readers, and an idle one answers the first at once.

    Versions of agents that are followed are in the same store, and are not this agent's to serve. A registry serves
    `others` too.
    """

    def __init__(self, reader: Reader, subject: str, *, others: bool = False) -> None:
        self._reader = reader
        self._subject = subject
        self._others = others
        self._asked: list[_Question] = []
        self._woken = trio.Event()

    async def run(self) -> None:
        """Reads for whoever asks, until it is canceled."""
        while True:
            await self._woken.wait()
            self._woken = trio.Event()
            questions, self._asked = self._asked, []
            await trio.to_thread.run_sync(_read_all, questions)
            for question in questions:
                question.answered.set()

    async def artifact(self, digest: str) -> bytes | None:
        """The exact bytes under a digest; None when there are none. Raises EntrywayError AGENT_UNAVAILABLE."""
        return await self._ask(lambda: self._served(digest))

    def _served(self, digest: str) -> bytes | None:
        return self._reader.artifact(digest) if self._others or self._reader.is_kept(self._subject, digest) else None

    async def history(self, limit: int, before: int | None) -> tuple[tuple[Version, ...], int | None]:
        """Versions of this agent, newest first. Raises EntrywayError AGENT_UNAVAILABLE."""
        return await self._ask(lambda: self._reader.history(self._subject, limit, before))

    async def events_after(self, seq: int, limit: int) -> tuple[Event, ...]:
        """At most `limit` events numbered above `seq`, in order. Raises EntrywayError AGENT_UNAVAILABLE."""
        return await self._ask(lambda: self._reader.events_after(seq, limit))

    async def read(self, act: Callable[[Reader], Value]) -> Value:
        """What `act` reads. Raises EntrywayError AGENT_UNAVAILABLE."""
        return await self._ask(lambda: act(self._reader))

    async def _ask(self, read: Callable[[], Value]) -> Value:
        question = _Question(read)
        self._asked.append(question)
        self._woken.set()
        await question.answered.wait()
        if isinstance(question.error, StoreError):
            raise _unavailable(question.error)
        if question.error is not None:
            raise question.error
        value: Value = question.value
        return value


class KnockKeeper:
    """Where the door keeps its knocks: written in a worker thread, when it is their turn behind `writing`."""

    def __init__(self, store: Store, writing: trio.CapacityLimiter) -> None:
        self._store = store
        self._writing = writing

    async def keep(self, knock: Knock, forgotten_until: float) -> None:
        """Puts a knock on the disk. Implements `entryway.door.Keep`. Raises EntrywayError AGENT_UNAVAILABLE."""
        async with self._writing:
            try:
                await trio.to_thread.run_sync(partial(self._store.put_knock, knock, forgotten_until=forgotten_until))
            except StoreError as error:
                log.error("knock_not_kept", code=error.code, reason=error.message)
                raise EntrywayError(
                    "AGENT_UNAVAILABLE", "Your knock could not be kept just now. Knock again later."
                ) from error


class StoreKept:
    """The store as a follower uses it. Reads go where all reads go; writes wait their turn behind `writing`."""

    def __init__(self, store: Store, archive: StoreArchive, writing: trio.CapacityLimiter) -> None:
        self._store = store
        self._archive = archive
        self._writing = writing

    async def read(self, act: Callable[[Reader], Value]) -> Value:
        """Reads. Raises EntrywayError AGENT_UNAVAILABLE."""
        return await self._archive.read(act)

    async def write(self, act: Callable[[Store], Value]) -> Value:
        """Writes, one at a time. Raises StoreError."""
        async with self._writing:
            return await trio.to_thread.run_sync(act, self._store)


class _Question:
    """One read, and what came of it: a value, or an error to be raised where it was asked."""

    __slots__ = ("answered", "error", "read", "value")

    def __init__(self, read: Callable[[], object]) -> None:
        self.read = read
        self.answered = trio.Event()
        self.value: Any = None
        self.error: Exception | None = None


def _read_all(questions: list[_Question]) -> None:
    for question in questions:
        try:
            question.value = question.read()
        except Exception as error:  # one that fails must not take the others with it
            question.error = error


def load_snapshot(reader: Reader, subject: str, card: Callable[[Descriptor], bytes]) -> Snapshot:
    """What is current in the store, with the card that `card` makes of it.

    Raises StoreError for a store that cannot be read at all.
    """
    version = reader.current(subject)
    if version is None:
        return NonePublished()
    try:
        data = reader.artifact(version.digest)
    except StoreError as error:
        if error.code != "DAMAGED":
            raise
        data = None
    if data is None:
        log.error("current_damaged", digest=version.digest, remedy="run agent-node doctor")
        return Damaged(version.digest, version.seq)
    descriptor = Descriptor.read(data)
    return published(descriptor, version.seq, version.published_at, card(descriptor))


def _unavailable(error: StoreError) -> EntrywayError:
    log.error("version_not_served", code=error.code, digest=error.digest, reason=error.message)
    return EntrywayError(
        "AGENT_UNAVAILABLE",
        "What is stored here cannot be served just now: the operator has to look at the store. Ask again later.",
    )
