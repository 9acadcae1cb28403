"""What this node knows of those who send it work: their Descriptors, as kept of peers and of agents that are followed.

The invariant: what is handed out is a Descriptor that the agent itself signed, hashed again just now. Where two are
kept of one agent, it is the one whose `agent_version` is later, by the natural order: an old one may declare a key that
its agent no longer holds.

Source: binding 5 (`reply_key`), 7 and 8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

import trio

from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.signatures import Signature, verify_statement
from descriptor.strictjson import JsonValue
from descriptor.versions import compare
from node.archive import StoreArchive
from store import Reader

_AT_ONCE = 64 * 1024  # bytes that are verified where they are asked for; for more, nobody else shall wait


class KeptSenders:
    """The senders whose Descriptors are in the store. Implements `entryway.requests.Senders`."""

    def __init__(self, archive: StoreArchive) -> None:
        self._archive = archive
        self._verifying = trio.CapacityLimiter(1)

    async def descriptor(self, agent_id: str) -> Mapping[str, JsonValue] | None:
        """The Descriptor of an agent; `None` when none is kept. Raises EntrywayError AGENT_UNAVAILABLE."""
        kept = await self._archive.read(lambda reader: _kept(reader, agent_id))
        if sum(map(len, kept)) <= _AT_ONCE:
            found = _latest(kept, agent_id)
        else:
            found = await trio.to_thread.run_sync(_latest, kept, agent_id, limiter=self._verifying)
        return None if found is None else found.members


def _kept(reader: Reader, agent_id: str) -> list[bytes]:
    """What the agent showed when it was last heard, then what was announced by it or handed over."""
    current = reader.current(agent_id)
    kept = (reader.peer_descriptor(agent_id), None if current is None else reader.artifact(current.digest))
    return [data for data in kept if data is not None]


def _latest(kept: Sequence[bytes], agent_id: str) -> Descriptor | None:
    found: Descriptor | None = None
    for data in kept:
        one = _own(data, agent_id)
        if one is not None and (found is None or _is_later(one, found)):
            found = one
    return found


def _own(data: bytes, agent_id: str) -> Descriptor | None:
    """The Descriptor in `data`, when it is about this agent and signed by it."""
    with suppress(DescriptorError):
        descriptor = Descriptor.read(data)
        if descriptor.subject_id == agent_id and verify_statement(descriptor.members).state is Signature.VERIFIED:
            return descriptor
    return None


def _is_later(one: Descriptor, other: Descriptor) -> bool:
    with suppress(DescriptorError):
        return compare(one.agent_version or "", other.agent_version or "", "natural") > 0
    return False
