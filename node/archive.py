"""The store as the entryway reads it: in a worker thread, one question at a time.

A slow disk delays whoever asked for an old version, and nobody else. The current version never comes this way.
"""

from __future__ import annotations

import structlog
import trio

from descriptor.document import Descriptor
from entryway.errors import EntrywayError
from entryway.snapshot import Damaged, NonePublished, Snapshot, published
from store import Reader, StoreError, Version

log = structlog.get_logger("archive")


class StoreArchive:
    """One reader behind one worker thread. Implements `entryway.routes.Archive`."""

    def __init__(self, reader: Reader, subject: str) -> None:
        self._reader = reader
        self._subject = subject
        self._turn = trio.CapacityLimiter(1)

    async def artifact(self, digest: str) -> bytes | None:
        """The exact bytes under a digest; None when there are none. Raises EntrywayError AGENT_UNAVAILABLE."""
        try:
            return await trio.to_thread.run_sync(self._reader.artifact, digest, limiter=self._turn)
        except StoreError as error:
            raise _unavailable(error) from None

    async def history(self, limit: int, before: int | None) -> tuple[tuple[Version, ...], int | None]:
        """Versions of this agent, newest first. Raises EntrywayError AGENT_UNAVAILABLE."""
        try:
            return await trio.to_thread.run_sync(self._reader.history, self._subject, limit, before, limiter=self._turn)
        except StoreError as error:
            raise _unavailable(error) from None


def load_snapshot(reader: Reader, subject: str) -> Snapshot:
    """What is current in the store. Raises StoreError for a store that cannot be read at all."""
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
        return Damaged(version.digest)
    return published(Descriptor.read(data), version.seq, version.published_at)


def _unavailable(error: StoreError) -> EntrywayError:
    log.error("version_not_served", code=error.code, digest=error.digest, reason=error.message)
    return EntrywayError(
        "AGENT_UNAVAILABLE", "What is stored here cannot be served just now. The operator has to look at the store."
    )
