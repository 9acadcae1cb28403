"""The node among its neighbors: what it announces of itself, and the peers it hears. The daemon's part in discovery.

The invariant: what is announced is what is answered. The record follows the snapshot, after it was swapped and never
before, and says nothing where the settings say `unlisted` or `private`.

Source: binding 7.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Mapping, Sequence

import trio

from entryway.snapshot import Published, Snapshot
from node.discovery import Discovery
from node.discovery.record import Advert
from node.neighborhood import Hint, Neighborhood, PeerLimits
from node.peerbook import Write
from node.peers import State
from node.settings import Settings
from store import Peer

LISTED, PRIVATE = "listed", "private"


class Vicinity:
    """Discovery and the peers of one node. `kept`: the peers in the store; `hint`: told where an agent answered."""

    def __init__(
        self,
        agent_id: str,
        settings: Settings,
        listeners: Sequence[socket.socket],
        kept: Iterable[Peer],
        write: Write,
        clock: Callable[[], float],
        hint: Hint,
    ) -> None:
        self._id = agent_id
        self._settings = settings
        self._port: int = listeners[0].getsockname()[1]
        self._hosts = tuple(str(listener.getsockname()[0]) for listener in listeners)
        self._neighborhood = Neighborhood(
            agent_id,
            kept,
            _limits(settings),
            write=write,
            links=lambda: self._discovery.presence.links,
            clock=clock,
            hint=hint,
        )
        self._discovery = Discovery(settings.discovery.interfaces, self._neighborhood.hear)
        self._leaving = False

    async def run(self) -> None:
        """Is there until it is canceled; says goodbye then, and puts what is known of peers on the disk."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._neighborhood.run)
            if self._settings.discovery.mdns:
                nursery.start_soon(self._discovery.run)

    def announce(self, snapshot: Snapshot) -> None:
        """Announces what is answered from now on."""
        listed = self._settings.discovery.visibility == LISTED and not self._leaving
        self._discovery.announce(self._advert(snapshot) if listed else None)

    def leave(self) -> None:
        """The node is about to stop: says goodbye, and announces nothing any more."""
        self._leaving = True
        self._discovery.announce(None)

    def take(self, settings: Settings) -> None:
        """Takes the settings anew. What is announced changes with the next `announce`."""
        self._settings = settings
        self._neighborhood.limits = _limits(settings)
        self._discovery.use(settings.discovery.interfaces)

    def peers(self, since: int | None) -> Mapping[str, object]:
        """The peers, and a number that counts their changes; only the number when it is `since` still."""
        revision = self._neighborhood.revision
        return {"revision": revision} | ({} if since == revision else {"peers": self._neighborhood.document()})

    def forget(self, agent_id: str) -> bool:
        """Forgets a peer and the handle that is pinned to it. False when it is not known."""
        return self._neighborhood.forget(agent_id)

    @property
    def verified(self) -> int:
        """How many records of verified peers are heard now."""
        return self._neighborhood.count(State.VERIFIED)

    def status(self) -> Mapping[str, object]:
        """How discovery fares: where it listens, where the node is announced, what is in the way."""
        presence = self._discovery.presence
        return {
            "mdns": self._settings.discovery.mdns,
            "visibility": self._settings.discovery.visibility,
            "listening_on": [link.name for link in presence.links],
            "announced_on": list(presence.announced_on),
            "problems": dict(presence.problems),
            "records_dropped": self._discovery.dropped,
        }

    def _advert(self, snapshot: Snapshot) -> Advert:
        if not isinstance(snapshot, Published):
            return Advert(self._id, self._settings.agent.handle, None, None, self._port, self._hosts)
        descriptor = snapshot.descriptor
        return Advert(self._id, descriptor.handle, descriptor.agent_version, descriptor.digest, self._port, self._hosts)


def _limits(settings: Settings) -> PeerLimits:
    return PeerLimits(settings.discovery.peers_kept, settings.discovery.peer_recheck)
