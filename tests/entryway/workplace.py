"""An agent that takes work, as binding 5 has it, and may be told to lie about it: what the client is tested against.

Its exchanges are answered by the routes of the entryway. `POST /requests` is answered here, from the pieces that the
entryway has for it: the inbound protections, the door, sealing, the boundary. It works in memory, and `begun` keeps
what was begun.
"""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import trio

from descriptor.keys import Identity, SealingKey
from descriptor.signatures import sign_key_claim
from descriptor.strictjson import JsonValue
from descriptor.timestamps import parse_timestamp
from descriptor.view import Money, view
from entryway.boundary import Asked, Refused, Resource, judge
from entryway.codec import Codec, body_codec, decode, encode_reply, reply_codec
from entryway.door import Door
from entryway.envelope import Envelope, new_uuid, read_envelope
from entryway.errors import EntrywayError
from entryway.http import Request, Response, response
from entryway.protections import Inbound
from entryway.reply import ReplyPayload, sign_reply
from entryway.roster import CONSERVATIVE, Policy, Stance, Tier
from entryway.router import Router, post
from entryway.routes import REPLY_HEADERS, Entryway
from entryway.sealing import check_reply_key, is_sealed, required_and_clear, unseal
from entryway.work import Completed, Ending, Failed, Order, payload_of
from tests.entryway.parts import OWNER, MemoryArchive, document, quiet_feed, roster_door, serving, snapshot_of

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
    """One piece of work that was begun."""

    order: Order
    over: trio.Event = field(default_factory=trio.Event)
    payload: Mapping[str, JsonValue] | None = None
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)


Reply = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass
class Workplace:
    """One agent that works. `senders`: the Descriptors it knows. `lie`: what is done to a payload before it is signed.

    `lax`: it has no boundary, and lets everything through. `punctual`: then it still keeps to a request's deadline.
    `signed_by`, `in_reply_to`, `to`, `ts`: what its replies to work are made with, in the place of the truth.
    """

    data: bytes = field(default_factory=working)
    identity: Identity = OWNER
    key: SealingKey = KEY
    policy: Policy = OPEN
    senders: dict[str, dict[str, Any]] = field(default_factory=dict)
    work: Callable[[Order], Awaitable[Ending]] = shouts
    clock: Callable[[], float] = time.time
    lax: bool = False
    punctual: bool = False
    lie: Reply = lambda payload: payload
    signed_by: Identity | None = None
    in_reply_to: str | None = None
    to: Callable[[str], str | None] = lambda sender: sender
    ts: Callable[[float], float] = lambda now: now
    begun: dict[str, Job] = field(default_factory=dict)
    asked: list[bytes] = field(default_factory=list)
    nursery: trio.Nursery | None = None

    def __post_init__(self) -> None:
        self.door: Door = roster_door(self.policy)
        self.snapshot = snapshot_of(self.data)
        self.inbound = Inbound(self.identity.id)
        entryway = Entryway(
            self.identity,
            MemoryArchive(),
            self.clock,
            snapshot=self.snapshot,
            door=self.door,
            feed=quiet_feed(),
            body_limit=65_536,
        )
        requests = replace(post("requests", self._requests), body_limit=2**20)
        self.router = Router({**entryway.router._exact, b"/requests": requests}, {}, 65_536, "")

    async def _requests(self, request: Request) -> Response:
        codec = body_codec(request.headers.get(b"content-type"))
        self.asked.append(request.body)
        envelope = read_envelope(decode(request.body, codec))
        sender = self.inbound.judge(envelope, self.clock(), signed=True)
        assert sender is not None
        try:
            payload = await self._answer(envelope, sender)
        except EntrywayError as error:
            told = {"code": error.code, "message": error.message, "decided_by": "rule", **(error.details or {})}
            payload = {"status": "refused", "error": told}
        return self._signed(self.lie(payload), envelope, sender, reply_codec(request.headers.get(b"accept"), codec))

    def _signed(self, payload: dict[str, Any], envelope: Envelope, sender: str, codec: Codec) -> Response:
        reply = sign_reply(
            self.signed_by or self.identity,
            ReplyPayload.of(payload),
            self.in_reply_to or envelope.id,
            self.to(sender),
            self.ts(self.clock()),
        )
        own, _ = encode_reply(reply, codec)
        return response(200, REPLY_HEADERS[codec], own)

    async def _answer(self, envelope: Envelope, sender: str) -> dict[str, Any]:
        payload, document = envelope.payload, self.snapshot.descriptor.members
        if not self.door.admits(sender, self.snapshot.admission):
            raise EntrywayError("UNAUTHORIZED", "Only admitted callers hand in work. Knock, and wait to be let in.")
        if "task_id" in payload:
            return await self._stands(sender, str(payload["task_id"]), cancel="cancel" in payload)
        order = self._order(envelope, sender, document)
        task_id = new_uuid()
        job = self.begun[task_id] = Job(order)
        assert self.nursery is not None
        self.nursery.start_soon(self._run, task_id, job)
        if payload.get("async") is True:
            return {"status": "accepted", "task_id": task_id, "state": "submitted"}
        await job.over.wait()
        return dict(job.payload or {})

    def _order(self, envelope: Envelope, sender: str, document: Mapping[str, JsonValue]) -> Order:
        payload, given, seal_to = envelope.payload, envelope.payload.get("input"), None
        refusal = required_and_clear(document.get("sealing"), given)
        if refusal is not None:
            raise refusal
        if is_sealed(given):
            unsealed = unseal(given, self.key)
            given, seal_to = unsealed.value, unsealed.reply_key
            if seal_to is not None:
                check_reply_key(seal_to, self.senders.get(sender))
        members: Any = payload
        if self.lax:
            if self.punctual and parse_timestamp(members["budget"]["deadline"]) <= self.clock():
                raise EntrywayError("DEADLINE_UNMEETABLE", "The deadline is over.")
            return Order(sender, envelope.id, "nap", given, authority=tuple(members["authority"]), seal_to=seal_to)
        asked = Asked(
            members["offering"],
            [Resource(one["kind"], one["access"]) for one in members.get("resources", ())],
            members.get("authority"),
            Money(**members["spend_limit"]) if "spend_limit" in members else None,
        )
        judged = judge(view(document), asked)
        if isinstance(judged, Refused):
            raise EntrywayError(judged.code, judged.message, judged.details())
        assert isinstance(given, dict)
        return Order(sender, envelope.id, asked.offering, given, authority=judged.authority, seal_to=seal_to)

    async def _run(self, task_id: str, job: Job) -> None:
        with job.scope:
            job.payload = payload_of(job.order, task_id, await self.work(job.order))
        if job.payload is None:
            job.payload = payload_of(job.order, task_id, Failed("CANCELED", "The caller canceled it."))
        job.over.set()

    async def _stands(self, sender: str, task_id: str, *, cancel: bool) -> dict[str, Any]:
        job = self.begun.get(task_id)
        if job is None or job.order.caller != sender:
            raise EntrywayError("NOT_FOUND", "You have no such task here.")
        if cancel:
            job.scope.cancel()
            await job.over.wait()
        return dict(job.payload or {"status": "accepted", "task_id": task_id, "state": "working"})


@asynccontextmanager
async def at_work(workplace: Workplace) -> AsyncIterator[str]:
    """The workplace on a loopback port, while the block runs; then its jobs are ended."""
    async with trio.open_nursery() as jobs:
        workplace.nursery = jobs
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
