"""What a node knows of its peers, in memory and on the disk: a row an agent, and whose each handle is.

The invariant: a handle is pinned to the first agent that verified under it, for as long as that agent's row is kept,
across restarts. There is a bounded number of rows; whoever is heard now keeps its row, and of the others those that
never verified go first. The disk is written in batches, so that what a network can announce costs a bounded number of
writes; what an agent has just proven is there at once, because whoever sends work is known by it.

Source: binding 7.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping
from dataclasses import replace

import structlog
import trio

from node.peers import Kept, State, pinned_form
from store import Peer, Store, StoreError

FLUSH_AFTER = 2.0  # seconds from a change to the disk
PROVEN_AFTER = 0.2  # seconds between two writes, where an agent has shown a Descriptor that is new here
FLUSH_AT_LEAST = 60.0  # seconds until what was merely seen again is on the disk
FLUSH_WAIT = 5.0  # seconds the disk may take when the node stops

Write = Callable[[Callable[[Store], None]], Awaitable[None]]

log = structlog.get_logger("peers")


class PeerBook:
    """The rows. `kept`: those on the disk; nobody in them has been heard yet."""

    def __init__(self, kept: Iterable[Peer], write: Write) -> None:
        reason = "It has not been heard since the node started."
        self.rows = {peer.id: replace(peer, state=State.GONE, reason=reason) for peer in kept}
        self.pins: Mapping[str, str] = {
            pinned_form(peer.handle): peer.id
            for peer in sorted(self.rows.values(), key=lambda peer: peer.first_seen, reverse=True)
            if peer.handle is not None and peer.digest is not None
        }
        self._write = write
        self._to_write: dict[str, bytes | None] = {}
        self._to_drop: set[str] = set()
        self._changed = trio.Event()
        self._proven = trio.Event()
        self._flushed_at = -math.inf
        self._refused = False

    def verified(self, agent_id: str | None) -> Kept | None:
        """What verified last of an agent; None when nothing ever did."""
        peer = None if agent_id is None else self.rows.get(agent_id)
        return None if peer is None or peer.digest is None else Kept(peer.agent_version, peer.digest)

    def put(self, peer: Peer) -> None:
        """The row of an agent is this from now on."""
        before = self.rows.get(peer.id)
        self.rows[peer.id] = peer
        self._to_write.setdefault(peer.id, None)
        self._to_drop.discard(peer.id)
        if before is None or replace(before, last_seen=peer.last_seen) != peer:
            self._changed.set()

    def pin(self, peer: Peer, descriptor: bytes | None) -> None:
        """Puts an agent that has just verified; its handle is its own from now on, and another one no more."""
        before = self.rows.get(peer.id)
        self.put(peer)
        if before is None or before.digest != peer.digest:
            self._to_write[peer.id] = descriptor
            self._proven.set()
        self._unpin(peer.id)
        if peer.handle is not None:
            self.pins = {**self.pins, pinned_form(peer.handle): peer.id}

    def drop(self, agent_id: str) -> bool:
        """Forgets an agent, and what was pinned to it. False when there is no row of it."""
        if self.rows.pop(agent_id, None) is None:
            return False
        self._unpin(agent_id)
        self._to_write.pop(agent_id, None)
        self._to_drop.add(agent_id)
        self._changed.set()
        return True

    def shrink(self, most: int, present: Container[str]) -> None:
        """Drops rows beyond `most`: of agents that are not `present`, unverified and longest unseen first."""
        if len(self.rows) > most:
            absent = [peer for peer in self.rows.values() if peer.id not in present]
            absent.sort(key=lambda peer: (peer.digest is not None, peer.last_seen))
            for peer in absent[: len(self.rows) - most]:
                self.drop(peer.id)

    async def run(self) -> None:
        """Keeps the disk up with the rows until it is canceled, and once more then."""
        try:
            while True:
                with trio.move_on_after(FLUSH_AT_LEAST):
                    await self._changed.wait()
                    with trio.move_on_after(FLUSH_AFTER):
                        await self._proven.wait()
                        await trio.sleep_until(self._flushed_at + PROVEN_AFTER)
                await self._flush()
        finally:
            with trio.move_on_after(FLUSH_WAIT, shield=True):
                await self._flush()

    def _unpin(self, agent_id: str) -> None:
        self.pins = {handle: holder for handle, holder in self.pins.items() if holder != agent_id}

    async def _flush(self) -> None:
        self._changed, self._proven = trio.Event(), trio.Event()
        rows = [(self.rows[one], descriptor) for one, descriptor in self._to_write.items()]
        drops = self._to_drop
        self._to_write, self._to_drop = {}, set()
        if not rows and not drops:
            return

        def write(store: Store) -> None:
            store.drop_peers(drops)
            store.put_peers(rows)

        try:
            await self._write(write)
        except StoreError as error:
            if not self._refused:
                log.error("peers_not_kept", code=error.code, reason=error.message)
            self._refused = True
            self._to_drop |= drops - self.rows.keys()
            for peer, descriptor in rows:
                if peer.id in self.rows:
                    self._to_write[peer.id] = self._to_write.get(peer.id) or descriptor
        else:
            self._refused = False
        self._flushed_at = trio.current_time()
