"""An agent that takes work, and may be told to lie about it: what the client is tested against.

It answers by the routes of the entryway, over a workshop in memory. A lie is told on the way out: the true reply is
taken apart, changed, and signed again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import trio

from descriptor.keys import Identity, SealingKey
from descriptor.signatures import sign_key_claim
from descriptor.strictjson import JsonValue
from descriptor.timestamps import parse_timestamp
from entryway.answering import Codecs, signed_response
from entryway.codec import Codec, decode
from entryway.door import Door
from entryway.envelope import new_uuid, read_envelope
from entryway.http import Request, Response, Streaming, Working
from entryway.reply import ReplyPayload
from entryway.requests import Means
from entryway.roster import CONSERVATIVE, Policy, Stance, Tier
from entryway.router import Router, post
from entryway.routes import Entryway
from entryway.work import Completed, Ending, Failed, Order, payload_of
from tests.entryway.parts import (
    OWNER,
    MemoryArchive,
    MemorySenders,
    document,
    quiet_feed,
    received,
    roster_door,
    serving,
    snapshot_of,
)

KEY = SealingKey.generate()
OFFERINGS: list[dict[str, Any]] = [
    {
        "id": "shout",
        "name": "Shout",
        "description": "Gives a text back, louder.",
        "inputs": [
            {"name": "words", "kind": "text", "required": True, "max_bytes": 2_000},
            {"name": "scan", "kind": "application/pdf", "required": False},
            {"name": "table", "kind": "application/json", "required": False},
        ],
        "outputs": [{"name": "louder", "kind": "text", "when": "per_task"}],
        "workspace": [{"kind": "git", "access": "read", "for": "reading how loud it was before"}],
        "authority": ["reads-files", "spends-money"],
        "authority_decided_by": "rule",
        "ceilings": {
            "job_seconds": {"most": 20, "decided_by": "rule"},
            "spend_per_job": {"most": {"amount_micro": 5_000_000, "currency": "USD"}, "decided_by": "rule"},
        },
    },
    {
        "id": "nap",
        "name": "Nap",
        "description": "Takes its time.",
        "inputs": [{"name": "url", "kind": "url", "required": False, "one_of": "where"}],
        "outputs": [],
        "authority": [],
    },
]
LATE: JsonValue = {"code": "DEADLINE_UNMEETABLE", "message": "The deadline is over.", "decided_by": "rule"}
OPEN = Policy({**CONSERVATIVE, Tier.REGISTERED: Stance.ALLOW}, 10_000, {})


def sealing(posture: str, key: SealingKey = KEY, owner: Identity = OWNER) -> dict[str, Any]:
    """The members that state a posture, with a claim that verifies."""
    trust = sign_key_claim(owner, key.public_text, "2026-09-01T00:00:00.000Z")
    return {"sealing": posture, "encryption_key": key.public_text, "trust": trust}


def working(identity: Identity = OWNER, **members: Any) -> bytes:
    """The Descriptor of an agent that takes work."""
    return document(identity, **{"interaction": "service", "offerings": OFFERINGS, **members})


async def shouts(order: Order) -> Ending:
    """Does what is offered: the words, louder; and for `nap`, nothing, for a long while."""
    if order.offering == "nap":
        await trio.sleep_forever()
    words = str(order.input["words"])
    return Failed("HANDLER_FAILED", "It was whispered.") if words == "psst" else Completed({"louder": words.upper()})


@dataclass
class Job:
    """One piece of work that was begun. `payload`: how it ended; `None` while it has not."""

    order: Order
    over: trio.Event = field(default_factory=trio.Event)
    payload: Mapping[str, JsonValue] | None = None
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)


@dataclass
class Yard:
    """Where work is done, in memory. Implements `entryway.work.Workshop`. `nursery`: where jobs run."""

    work: Callable[[Order], Awaitable[Ending]]
    begun: dict[str, Job] = field(default_factory=dict)
    nursery: trio.Nursery | None = None

    def serves(self, offering: str) -> bool:
        return True

    async def begin(self, order: Order) -> str:
        task_id = new_uuid()
        job = self.begun[task_id] = Job(order)
        assert self.nursery is not None
        self.nursery.start_soon(self._run, task_id, job)
        return task_id

    async def ended(self, task_id: str) -> Mapping[str, JsonValue]:
        job = self.begun[task_id]
        await job.over.wait()
        assert job.payload is not None
        return job.payload

    async def state(self, caller: str, task_id: str) -> Mapping[str, JsonValue] | None:
        job = self.begun.get(task_id)
        if job is None or job.order.caller != caller:
            return None
        return job.payload or {"status": "accepted", "task_id": task_id, "state": "working"}

    async def cancel(self, caller: str, task_id: str) -> Mapping[str, JsonValue] | None:
        if await self.state(caller, task_id) is None:
            return None
        self.begun[task_id].scope.cancel()
        return await self.ended(task_id)

    async def _run(self, task_id: str, job: Job) -> None:
        with job.scope:
            job.payload = payload_of(job.order, task_id, await self.work(job.order))
        if job.payload is None:
            job.payload = payload_of(job.order, task_id, Failed("CANCELED", "The caller canceled it."))
        job.over.set()


Lie = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass
class Workplace:
    """One agent that works. `senders`: the Descriptors it knows. `lie`: what is done to a payload before it is signed.

    `silent`: it says nothing to a request. `lax`: it has no boundary, and lets everything through. `punctual`: then it
    still keeps to a request's deadline. `signed_by`, `in_reply_to`, `to`, `ts`: what its replies to work are made with,
    in the place of the truth.
    """

    data: bytes = field(default_factory=working)
    key: SealingKey = KEY
    policy: Policy = OPEN
    senders: dict[str, dict[str, Any]] = field(default_factory=dict)
    work: Callable[[Order], Awaitable[Ending]] = shouts
    clock: Callable[[], float] = time.time
    silent: bool = False
    lax: bool = False
    punctual: bool = False
    lie: Lie = lambda payload: payload
    signed_by: Identity = OWNER
    in_reply_to: str | None = None
    to: Callable[[str | None], str | None] = lambda sender: sender
    ts: Callable[[float], float] = lambda now: now
    asked: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.door: Door = roster_door(self.policy)
        self.snapshot = snapshot_of(self.data)
        self.yard = Yard(self.work)
        senders = MemorySenders()
        senders.documents = cast("dict[Any, Mapping[str, JsonValue]]", self.senders)
        self.true = Entryway(
            OWNER,
            MemoryArchive(),
            self.clock,
            snapshot=self.snapshot,
            door=self.door,
            feed=quiet_feed(),
            body_limit=65_536,
            means=Means(self.key, senders, self.yard),
        )
        self.router = Router(
            {**self.true.router._exact, b"/requests": post("requests", self._requests, 2**20)}, {}, 65_536, ""
        )

    @property
    def begun(self) -> dict[str, Job]:
        """The jobs, by their task ids, in the order in which they were begun."""
        return self.yard.begun

    async def _requests(self, request: Request) -> Response | Working:
        self.asked.append(request.body)
        if self.silent:
            await trio.sleep_forever()
        begun = self._lax(request) if self.lax else self.true.router.respond(request)
        assert not isinstance(begun, Streaming)
        answer = begun if isinstance(begun, Response) else await begun
        if isinstance(answer, Response):
            return self._told(answer)

        async def told(true: Working) -> Response:
            return self._told(await true.response())

        return Working(partial(told, answer), answer.leave)

    def _told(self, answer: Response) -> Response:
        """What is told of a true answer."""
        true = received(answer)
        if true.status != 200:
            return answer
        codec = Codec(true.headers["content-type"])
        reply: Any = decode(true.body, codec, max_values=2**20)
        envelope = reply["envelope"]
        return signed_response(
            self.signed_by,
            ReplyPayload.of(self.lie(envelope["payload"])),
            codec,
            in_reply_to=self.in_reply_to or envelope["in_reply_to"],
            to=self.to(envelope["to"]),
            now=self.ts(self.clock()),
        )

    async def _lax(self, request: Request) -> Response:
        codecs = Codecs.of(request)
        envelope = read_envelope(decode(request.body, codecs.asked))
        payload: Any = envelope.payload
        assert envelope.sender is not None
        told: Mapping[str, JsonValue] | None = {"status": "refused", "error": LATE}
        if "task_id" in payload:
            told = await self.yard.cancel(envelope.sender, payload["task_id"])
        elif not self.punctual or parse_timestamp(payload["budget"]["deadline"]) > self.clock():
            order = Order(envelope.sender, envelope.id, "nap", {}, authority=tuple(payload["authority"]))
            told = {"status": "accepted", "task_id": await self.yard.begin(order), "state": "submitted"}
        assert told is not None
        return signed_response(
            OWNER, ReplyPayload.of(told), codecs.reply, in_reply_to=envelope.id, to=envelope.sender, now=self.clock()
        )


@asynccontextmanager
async def at_work(workplace: Workplace) -> AsyncIterator[str]:
    """The workplace on a loopback port, while the block runs; then its jobs are ended."""
    async with trio.open_nursery() as jobs:
        workplace.yard.nursery = jobs
        async with serving(workplace.router) as (_, port):
            yield f"http://127.0.0.1:{port}"
        jobs.cancel_scope.cancel()


@contextmanager
def in_thread(workplace: Workplace) -> Iterator[str]:
    """The workplace on a loopback port, served by a thread of its own: for whoever has an event loop of its own."""
    started, stop = threading.Event(), trio.Event()
    found: dict[str, Any] = {}

    async def serve() -> None:
        async with at_work(workplace) as url:
            found.update(url=url, token=trio.lowlevel.current_trio_token())
            started.set()
            await stop.wait()

    thread = threading.Thread(target=trio.run, args=(serve,))
    thread.start()
    try:
        assert started.wait(10)
        yield found["url"]
    finally:
        trio.from_thread.run_sync(stop.set, trio_token=found["token"])
        thread.join(10)
