"""What the tests of the entryway are made of: two agents, a signed Descriptor, an archive in memory, a server."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import trio

from descriptor.digests import digest_of
from descriptor.document import Descriptor
from descriptor.keys import Identity
from descriptor.signatures import sign_statement
from descriptor.strictjson import JsonValue
from entryway.codec import Codec, encode
from entryway.door import Door, KnockLimits
from entryway.events import Feed, FeedLimits
from entryway.http import Request, Response, Working
from entryway.protections import AddressLimits
from entryway.requests import Means
from entryway.roster import NO_POLICY, Policy
from entryway.routes import Entryway
from entryway.server import Application, Server, ServerLimits
from entryway.snapshot import Published, Snapshot, published
from entryway.work import Completed, Failed, Order, payload_of
from store import Event, Knock, Version
from tests.vectors import NKEYS

OWNER = Identity.from_seed_text(NKEYS[0]["seed"])
OTHER = Identity.from_seed_text(NKEYS[1]["seed"])
NOW = 1_790_000_000.0
PUBLISHED_AT = NOW - 86_400.0
BODY_LIMIT = 65_536
CARD = b'{"name":"paperwork.home"}\n'

LIMITS = ServerLimits(
    header_block=16_384, header_wait=5.0, body_wait=5.0, idle_wait=5.0, write_wait=5.0, drain_wait=1.0, connections=100
)


def document(identity: Identity = OWNER, *, sign: bool = True, **members: Any) -> bytes:
    """The bytes of a Descriptor about `identity`, formatted as no serializer of ours would."""
    content: dict[str, Any] = {
        "format": "agent-descriptor-v1",
        "subject": {"id": identity.id, "handle": "paperwork.home"},
        "acts_for": "person",
        "agent_version": "1.4.0",
        "does": "Reads receipts. Grüße! 🚀",
        **members,
    }
    if sign:
        content["signatures"] = [sign_statement(content, identity)]
    return json.dumps(content, ensure_ascii=False, indent=3).encode() + b"\n\n"


def snapshot_of(data: bytes, seq: int = 7) -> Published:
    """The snapshot of a version."""
    return published(Descriptor.read(data), seq, PUBLISHED_AT, CARD)


class MemoryArchive:
    """An archive in memory. Implements `entryway.routes.Archive`."""

    def __init__(self, versions: Iterable[bytes] = (), *, first_seq: int = 1) -> None:
        self.artifacts = {digest_of(data): data for data in versions}
        self.versions = [
            Version(seq, OWNER.id, digest, f"1.{seq}.0", len(data), PUBLISHED_AT + seq, None, False)
            for seq, (digest, data) in enumerate(self.artifacts.items(), first_seq)
        ]

    async def artifact(self, digest: str) -> bytes | None:
        await trio.lowlevel.checkpoint()
        return self.artifacts.get(digest)

    async def history(self, limit: int, before: int | None) -> tuple[tuple[Version, ...], int | None]:
        await trio.lowlevel.checkpoint()
        older = [version for version in reversed(self.versions) if before is None or version.seq < before]
        page = tuple(older[:limit])
        return page, page[-1].seq if len(older) > limit else None


class NoLog:
    """An event log with nothing in it. Implements `entryway.events.Log`."""

    async def events_after(self, seq: int, limit: int) -> tuple[Event, ...]:
        await trio.lowlevel.checkpoint()
        return ()


def quiet_feed() -> Feed:
    """A feed of nothing."""
    return Feed(NoLog(), lambda: None, head=0, limits=FeedLimits(10, 10, 1.0))


@dataclass
class MemoryKnocks:
    """What is kept of knocks, in memory; `failing` is raised instead."""

    rows: dict[str, Knock] = field(default_factory=dict)
    forgotten_until: float | None = None
    failing: Exception | None = None

    async def keep(self, knock: Knock, forgotten_until: float) -> None:
        await trio.lowlevel.checkpoint()
        if self.failing is not None:
            raise self.failing
        self.rows[knock.subject] = knock
        self.forgotten_until = forgotten_until


def roster_door(
    policy: Policy = NO_POLICY, knocks: MemoryKnocks | None = None, limits: KnockLimits | None = None
) -> Door:
    """A door whose knocks are kept in memory."""
    kept = knocks or MemoryKnocks()
    return Door(policy, kept.rows.values(), kept.keep, limits)


class MemoryWorkshop:
    """A workshop that says what it is asked to do, and does it when it is let. Implements `entryway.work.Workshop`."""

    def __init__(self, *offerings: str, at_once: bool = True) -> None:
        self.offerings = offerings
        self.orders: dict[str, Order] = {}
        self.ends: dict[str, dict[str, Any]] = {}
        self.calls: list[str] = []
        self.failing: Exception | None = None
        self.let = trio.Event()
        if at_once:
            self.let.set()

    def serves(self, offering: str) -> bool:
        self.calls.append("serves")
        return offering in self.offerings

    async def begin(self, order: Order) -> str:
        self.calls.append("begin")
        await trio.lowlevel.checkpoint()
        if self.failing is not None:
            raise self.failing
        task_id = f"task-{len(self.orders) + 1}"
        self.orders[task_id] = order
        return task_id

    async def ended(self, task_id: str) -> Mapping[str, JsonValue]:
        self.calls.append("ended")
        await self.let.wait()
        if self.failing is not None:
            raise self.failing
        order = self.orders[task_id]
        return self.ends.setdefault(task_id, payload_of(order, task_id, Completed({"did": dict(order.input)})))

    async def state(self, caller: str, task_id: str) -> Mapping[str, JsonValue] | None:
        self.calls.append("state")
        await trio.lowlevel.checkpoint()
        order = self.orders.get(task_id)
        if order is None or order.caller != caller:
            return None
        return self.ends.get(task_id, {"status": "accepted", "task_id": task_id, "state": "working"})

    async def cancel(self, caller: str, task_id: str) -> Mapping[str, JsonValue] | None:
        self.calls.append("cancel")
        if self.failing is not None:
            raise self.failing
        if await self.state(caller, task_id) is None:
            return None
        end = payload_of(self.orders[task_id], task_id, Failed("CANCELED", "The job was canceled."))
        return self.ends.setdefault(task_id, end)


class MemorySenders:
    """What is known of senders, in memory. Implements `entryway.requests.Senders`."""

    def __init__(self, *documents: Mapping[str, JsonValue]) -> None:
        self.documents: dict[Any, Mapping[str, JsonValue]] = {
            subject["id"]: one for one in documents if isinstance(subject := one["subject"], dict)
        }

    async def descriptor(self, agent_id: str) -> Mapping[str, JsonValue] | None:
        await trio.lowlevel.checkpoint()
        return self.documents.get(agent_id)


def door(
    snapshot: Snapshot,
    archive: MemoryArchive | None = None,
    now: float = NOW,
    roster: Door | None = None,
    means: Means | None = None,
) -> Entryway:
    """The entryway of `OWNER`, at a fixed time."""
    return Entryway(
        OWNER,
        archive or MemoryArchive(),
        lambda: now,
        snapshot=snapshot,
        door=roster or roster_door(),
        feed=quiet_feed(),
        body_limit=BODY_LIMIT,
        means=means,
    )


def asked(method: str, target: str, headers: Mapping[str, str] | None = None, body: bytes = b"") -> Request:
    """A request as the parser gives it."""
    kept = {name.lower().encode(): value.encode("latin-1") for name, value in (headers or {}).items()}
    return Request(method.encode(), target.encode(), kept, body)


@dataclass(frozen=True)
class Received:
    """A response, read back. `headers` by lower-case name."""

    status: int
    headers: dict[str, str]
    body: bytes

    def error(self) -> dict[str, Any]:
        """The error of a JSON error body."""
        assert self.headers["content-type"] == "application/json"
        body: dict[str, Any] = json.loads(self.body)
        assert set(body) == {"error"}
        return dict(body["error"])


def received(response: Response, *, head: bool = False) -> Received:
    """What a reader gets of a response."""
    data = b"".join(response.parts(b"Date: now\r\n", head=head, close=False))
    (one,) = read_responses(data, [head])
    return one


def read_responses(data: bytes, heads: list[bool] | None = None) -> list[Received]:
    """All responses that `data` is made of. `heads` says of each whether HEAD was asked."""
    found: list[Received] = []
    while data:
        block, separator, data = data.partition(b"\r\n\r\n")
        assert separator, f"no whole header block: {block[:200]!r}"
        status_line, *lines = block.decode("ascii").split("\r\n")
        pairs = [line.split(": ", 1) for line in lines]
        headers = {name.lower(): value for name, value in pairs}
        assert len(headers) == len(pairs), "a header came twice"
        assert status_line.startswith("HTTP/1.1 ")
        size = 0 if heads is not None and heads[len(found)] else int(headers.get("content-length", "0"))
        assert len(data) >= size, "the body was cut"
        found.append(Received(int(status_line.split()[1]), headers, data[:size]))
        data = data[size:]
    return found


async def answer_of(entryway: Entryway, request: Request) -> Received:
    """What the routes answer, waited for where it comes later, or when work is done."""
    answer: Any = entryway.router.respond(request)
    if not isinstance(answer, Response):
        answer = await answer
    if isinstance(answer, Working):
        answer = await answer.response()
    return received(answer, head=request.method == b"HEAD")


def post(members: object, codec: Codec = Codec.JSON, path: str = "/entryway", **headers: str) -> Request:
    """A question to the entryway, or a request for work."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return asked("POST", path, {"Content-Type": codec.value, **named}, encode(members, codec))


def http(method: str, target: str, body: bytes | None = None, **headers: str) -> bytes:
    """A request as bytes."""
    lines = [f"{method} {target} HTTP/1.1", "Host: node.test"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + (body or b"")


@asynccontextmanager
async def serving(
    application: Application,
    addresses: AddressLimits | None = None,
    *,
    listener: socket.socket | None = None,
    **limits: Any,
) -> AsyncIterator[tuple[Server, int]]:
    """A real server on a loopback port of its own; it has stopped when this is left."""
    with listener or listening() as sock:
        server = Server(application, replace(LIMITS, **limits), addresses)
        with trio.fail_after(10):
            async with trio.open_nursery() as nursery:
                await nursery.start(server.serve, [sock])
                yield server, sock.getsockname()[1]
                server.stopping.set()


def listening(kind: type[socket.socket] = socket.socket) -> socket.socket:
    """A socket that listens on loopback."""
    sock = kind(socket.AF_INET, socket.SOCK_STREAM)
    sock.bind(("127.0.0.1", 0))
    sock.listen(128)
    return sock


async def read_to_end(stream: trio.SocketStream) -> bytes:
    """Everything until the peer closes."""
    data = bytearray()
    async for piece in stream:
        data += piece
    return bytes(data)


async def talk(port: int, *pieces: bytes, pause: float = 0.0) -> bytes:
    """Sends the pieces on a connection of its own, `pause` seconds between, and reads until the peer closes."""
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        for piece in pieces:
            await stream.send_all(piece)
            await trio.sleep(pause)
        return await read_to_end(stream)
