"""The offerings as the current Descriptor declares them.

The invariant: a Descriptor is read once, in a worker thread, however many ask; a large one takes half a second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import trio

from descriptor.document import Descriptor
from entryway.snapshot import Published, Snapshot

if TYPE_CHECKING:
    from descriptor.view import Offering, View


class Offered:
    """Looks offerings up in the snapshot that `current` gives."""

    def __init__(self, current: Callable[[], Snapshot]) -> None:
        self._current = current
        self._reading = trio.Lock()
        self._read: tuple[Descriptor, View] | None = None

    async def find(self, offering: str) -> Offering | None:
        """The one offering of that id; `None` when none is declared, or nothing is published."""
        async with self._reading:
            snapshot = self._current()
            if not isinstance(snapshot, Published):
                return None
            descriptor = snapshot.descriptor
            if self._read is None or self._read[0] is not descriptor:
                self._read = descriptor, await trio.to_thread.run_sync(_view_of, descriptor)
            return self._read[1].offering(offering)


def _view_of(descriptor: Descriptor) -> View:
    from descriptor.view import view  # noqa: PLC0415  # a node that nobody gives work does not load the reader

    return view(descriptor)
