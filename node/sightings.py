"""What was heard, put together by agent: the rows that are shown and kept. Nothing here does I/O or has a clock.

The invariant: a record that does not hold never colors the agent it names. It is an entry of its own beside that of the
agent, with nothing in it but what it claims.

Source: binding 7 and 9.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from descriptor.timestamps import format_timestamp
from node.discovery.record import Heard
from node.peers import PeerState, State
from store import Peer

GENUINE = (State.VERIFIED, State.ROLLBACK, State.UNREACHABLE, State.HEARD)
"""States of records that may be the agent's own, the most telling first."""
CLAIMED = (State.CONFLICT, State.MISMATCH, State.UNSIGNED)
"""States of records that are not borne out."""


@dataclass(slots=True)
class Sighting:
    """One record on one link, and what is made of it.

    `seen`, `first`: when it was heard or answered last, and when first, in seconds since 1970. `addresses`: where it
    can be dialed, as `host:port`; the one that answered stands first. `due`: when it is asked, on trio's clock.
    """

    heard: Heard
    state: PeerState
    first: float
    seen: float
    due: float
    addresses: tuple[str, ...] = ()
    failures: int = 0
    asking: bool = False


def entries(agent_id: str, kept: Peer | None, sightings: Sequence[Sighting]) -> list[Peer]:
    """The entries of one agent, its own first. `kept`: what is kept of it, None for nothing."""
    found = []
    own = [one for one in sightings if one.state.state in GENUINE]
    if own:
        best = min(own, key=lambda one: GENUINE.index(one.state.state))
        alike = [one for one in own if one.state.state is best.state.state]
        found.append(_entry(agent_id, best, alike, kept))
    elif kept is not None and (kept.digest is not None or not sightings):
        reason = kept.reason if kept.state == State.GONE else "Its record is gone."
        found.append(replace(kept, state=State.GONE, reason=reason))
    for state in CLAIMED:
        alike = [one for one in sightings if one.state.state is state]
        if alike:
            found.append(_entry(agent_id, alike[0], alike, None))
    return found


def peer_document(peer: Peer) -> dict[str, object]:
    """An entry, in the `--json` shape of `peers` (binding 9)."""
    return {
        "id": peer.id or None,
        "handle": peer.handle,
        "state": peer.state,
        "reason": peer.reason or None,
        "agent_version": peer.agent_version,
        "digest": peer.digest,
        "addresses": list(peer.addresses),
        "first_seen": format_timestamp(peer.first_seen),
        "last_seen": format_timestamp(peer.last_seen),
    }


def _entry(agent_id: str, best: Sighting, alike: Sequence[Sighting], kept: Peer | None) -> Peer:
    first = min(one.first for one in alike)
    return Peer(
        agent_id,
        best.heard.handle if kept is None or kept.digest is None else kept.handle,
        best.state.state,
        best.state.reason,
        None if kept is None else kept.agent_version,
        None if kept is None else kept.digest,
        tuple(dict.fromkeys(_addresses(alike))),
        first if kept is None else min(first, kept.first_seen),
        max(one.seen for one in alike),
    )


def _addresses(sightings: Iterable[Sighting]) -> Iterable[str]:
    for one in sightings:
        yield from one.addresses
