"""What a piece of work costs beside the work itself, sealed both ways and in the clear.

Caller and agent share this process and its event loop, and the agent gives back what it is sent, so a round trip is the
price of both sides together: a connection, two envelopes, two signatures and their verification, the boundary; sealed,
two boxes more on either side. Sealed and clear take turns, there and back again, so that drift favors neither.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

import trio

from bench.errors import BenchError
from bench.servers import LOOPBACK
from descriptor.document import Descriptor
from descriptor.keys import Identity, SealingKey
from descriptor.publishing import Terms, plan
from descriptor.strictjson import JsonValue
from entryway.client import Agent, Caller, Completed, Work
from entryway.door import Door
from entryway.protections import Inbound
from entryway.requests import Means, Requests
from entryway.roster import CONSERVATIVE, Policy, Stance, Tier
from entryway.router import Router, post
from entryway.server import Server, ServerLimits
from entryway.snapshot import published
from entryway.work import Completed as Done
from entryway.work import Order, payload_of
from store import Knock

ROUNDS = 5
SIZES = (256, 32_768)  # bytes of input, and of output
OFFERING = {
    "id": "echo",
    "name": "Echo",
    "description": "Gives back what it is sent.",
    "inputs": [{"name": "words", "kind": "text", "required": True}],
    "outputs": [{"name": "words", "kind": "text", "when": "per_task"}],
}
LIMITS = ServerLimits(
    header_block=16_384, header_wait=10, body_wait=30, idle_wait=75, write_wait=30, drain_wait=1, connections=64
)


class Measured(NamedTuple):
    """Round trips a second, and the processor that both sides took for one, which other load moves less."""

    per_second: float
    cpu_us: float


@dataclass
class Echo:
    """Gives back the input. Implements `entryway.work.Workshop`."""

    orders: dict[str, Order] = field(default_factory=dict)

    def serves(self, offering: str) -> bool:
        """Everything."""
        return True

    async def begin(self, order: Order) -> str:
        """Keeps the order until it is asked for."""
        self.orders[order.request_id] = order
        return order.request_id

    async def ended(self, task_id: str) -> Mapping[str, JsonValue]:
        """Its input, as its output."""
        order = self.orders.pop(task_id)
        return payload_of(order, task_id, Done(order.input["words"]))

    async def state(self, caller: str, task_id: str) -> Mapping[str, JsonValue] | None:
        """Nothing is kept."""
        return None

    async def cancel(self, caller: str, task_id: str) -> Mapping[str, JsonValue] | None:
        """Likewise."""
        return None


@dataclass
class Known:
    """The one sender that is known. Implements `entryway.requests.Senders`."""

    members: Mapping[str, JsonValue]

    async def descriptor(self, agent_id: str) -> Mapping[str, JsonValue] | None:
        """Whoever asks."""
        return self.members


def measure(seconds: float) -> dict[str, dict[str, float]]:
    """For each size what a round trip is worth, clear and sealed; each takes `seconds` in all. Raises BenchError."""
    return trio.run(_measure, seconds)


async def _measure(seconds: float) -> dict[str, dict[str, float]]:
    caller, callers_key = Identity.generate(), SealingKey.generate()
    agents = {"clear": _descriptor(Identity.generate(), None), "sealed": _descriptor(Identity.generate(), "required")}
    sender = Known(_descriptor(caller, "preferred", callers_key)[0].members)
    with ExitStack() as sockets:
        async with trio.open_nursery() as nursery:
            asked = {}
            for name, (descriptor, identity, key) in agents.items():
                sock = sockets.enter_context(socket.create_server((LOOPBACK, 0)))
                router = _router(descriptor, identity, Means(key, sender, Echo()))
                await nursery.start(Server(router, LIMITS).serve, [sock])
                url = f"http://{LOOPBACK}:{sock.getsockname()[1]}"
                asked[name] = Caller(caller, callers_key).known(url, descriptor.data)
            report = await _compared(asked, seconds)
            nursery.cancel_scope.cancel()
    return report


async def _compared(asked: Mapping[str, Agent], seconds: float) -> dict[str, dict[str, float]]:
    report: dict[str, dict[str, float]] = {}
    for size in SIZES:
        found: dict[str, list[Measured]] = {name: [] for name in asked}
        for number in range(ROUNDS):
            for name, agent in list(asked.items())[:: 1 if number % 2 else -1]:
                found[name].append(await _measured(agent, "x" * size, name == "sealed", seconds / ROUNDS))
        report[str(size)] = {
            **{f"{name}_per_second": round(median(one.per_second for one in rounds)) for name, rounds in found.items()},
            **{f"{name}_cpu_us": round(median(one.cpu_us for one in rounds)) for name, rounds in found.items()},
        }
    return report


async def _measured(agent: Agent, words: str, sealed: bool, seconds: float) -> Measured:  # one caller
    work, count = Work("echo", {"words": words}), 0
    began, used = time.perf_counter(), time.process_time()
    while (took := time.perf_counter() - began) < seconds or not count:
        outcome = await agent.request(work)
        if not isinstance(outcome, Completed) or outcome.output != words or outcome.sealed is not sealed:
            raise BenchError(f"A round trip did not bring back what was sent: {outcome}")
        count += 1
    return Measured(count / took, (time.process_time() - used) / count * 1e6)


def _descriptor(
    identity: Identity, posture: str | None, key: SealingKey | None = None
) -> tuple[Descriptor, Identity, SealingKey]:
    key = key or SealingKey.generate()
    draft = {
        "format": "agent-descriptor-v1",
        "agent_version": "1",
        "does": "Gives back what it is sent.",
        "interaction": "service",
        "offerings": [OFFERING],
        **({} if posture is None else {"sealing": posture}),
    }
    terms = Terms(identity, acts_for="person", sealing_key=key)
    return plan(json.dumps(draft).encode(), None, terms, time.time()).descriptor, identity, key


def _router(descriptor: Descriptor, identity: Identity, means: Means) -> Router:
    """An agent that takes work from whoever signs."""
    snapshot = published(descriptor, 1, time.time(), card=b"{}\n")
    door = Door(Policy({**CONSERVATIVE, Tier.REGISTERED: Stance.ALLOW}, 10**9, {}), (), _keep)
    requests = Requests(
        identity,
        time.time,
        current=lambda: snapshot,
        door=door,
        inbound=Inbound(identity.id),
        means=means,
    )
    return Router({b"/requests": post("requests", requests.post, 2**20)}, {}, 65_536, "")


async def _keep(knock: Knock, forgotten_until: float) -> None:
    raise BenchError("Nobody knocks here.")
