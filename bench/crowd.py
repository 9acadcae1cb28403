"""Many agents on one host, each at an address of its own: announced by mDNS, and answering as nodes do.

    python -m bench.crowd ADDRESS ...

The invariant: what one of them says is what a node would say. The record, the Descriptor, the signed replies and the
server are made by the node's own code; only the process is shared, so that one machine holds a whole network. Says
`ready` when every record is announced, and ends with its stdin.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from dataclasses import dataclass

import trio
from zeroconf import ServiceInfo
from zeroconf.asyncio import AsyncZeroconf

from bench.documents import DEMO
from descriptor.document import Descriptor
from descriptor.keys import Identity
from descriptor.publishing import Terms, plan
from entryway.door import Door
from entryway.events import Feed
from entryway.roster import NO_POLICY
from entryway.routes import Entryway
from entryway.server import Server
from entryway.snapshot import published
from node.addresses import listen
from node.bounds import feed_limits, server_limits
from node.discovery.record import SERVICE, Advert, instance_names, text_of
from node.projecting import card_bytes, serving_at
from node.settings import Limits
from store import Event, Knock, Version

PORT = 7420


@dataclass(frozen=True)
class Agent:
    """One of the crowd, with its only version."""

    identity: Identity
    address: str
    descriptor: Descriptor
    published_at: float

    @classmethod
    def at(cls, address: str, now: float) -> Agent:
        """A new agent, which has just published the demo."""
        identity = Identity.generate()
        terms = Terms(identity, handle=f"peer-{address.replace('.', '-')}.home", acts_for="person")
        return cls(identity, address, plan(DEMO.read_bytes(), None, terms, now).descriptor, now)

    def record(self) -> ServiceInfo:
        """Its record, as a node of its own would announce it."""
        descriptor = self.descriptor
        version = descriptor.agent_version
        advert = Advert(self.identity.id, descriptor.handle, version, descriptor.digest, PORT, (self.address,))
        return ServiceInfo(
            SERVICE,
            f"{instance_names(advert)[0]}.{SERVICE}",
            port=PORT,
            properties=text_of(advert),
            server=f"{self.identity.id.lower()}.local.",
            parsed_addresses=[self.address],
        )

    async def serve(self) -> None:
        """Answers at its address until it is canceled."""
        limits = Limits()
        card = card_bytes(self.descriptor, serving_at([f"http://{self.address}:{PORT}"], None), self.identity)
        entryway = Entryway(
            self.identity,
            self,
            time.time,
            snapshot=published(self.descriptor, 1, self.published_at, card),
            door=Door(NO_POLICY, (), self.keep),
            feed=Feed(self, lambda: self.descriptor.digest, head=0, limits=feed_limits(limits)),
            body_limit=limits.entryway_body,
        )
        await Server(entryway.router, server_limits(limits)).serve(listen([self.address], PORT))

    # Its archive, its event log and its knocks.

    async def artifact(self, digest: str) -> bytes | None:
        """The bytes of its version."""
        await trio.lowlevel.checkpoint()
        return self.descriptor.data if digest == self.descriptor.digest else None

    async def history(self, limit: int, before: int | None) -> tuple[tuple[Version, ...], int | None]:
        """Its version."""
        await trio.lowlevel.checkpoint()
        one = self.descriptor
        row = (1, self.identity.id, one.digest, one.agent_version or "", len(one.data), self.published_at, None, True)
        return ((Version(*row),) if limit and (before is None or before > 1) else ()), None

    async def events_after(self, seq: int, limit: int) -> tuple[Event, ...]:
        """Nothing: it was there before there were events."""
        await trio.lowlevel.checkpoint()
        return ()

    async def keep(self, knock: Knock, forgotten_until: float) -> None:
        """Nothing is kept beyond the memory of the door."""
        await trio.lowlevel.checkpoint()


def main(addresses: list[str]) -> None:
    """Is a crowd until stdin ends."""
    now = time.time()
    agents = [Agent.at(address, now) for address in addresses]
    threading.Thread(target=lambda: asyncio.run(_announce(agents)), daemon=True).start()
    trio.run(_serve, agents)


async def _serve(agents: list[Agent]) -> None:
    async with trio.open_nursery() as nursery:
        for agent in agents:
            nursery.start_soon(agent.serve)
        await trio.to_thread.run_sync(sys.stdin.read)
        nursery.cancel_scope.cancel()


async def _announce(agents: list[Agent]) -> None:
    mdns = AsyncZeroconf(interfaces=[agents[0].address])
    # Their names are their own, so none is asked for first: that takes a second for each.
    announcing = [await mdns.async_register_service(agent.record(), cooperating_responders=True) for agent in agents]
    await asyncio.gather(*announcing)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    main(sys.argv[1:])
