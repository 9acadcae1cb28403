"""A question to the entryway: any body, in either codec, is answered truthfully, and at once unless it is a knock.

The first byte chooses the codec (1: msgpack), whether `Accept` names the other (2), whether a stranger completes what
is missing of an envelope (4) and signs it (8), and whether a Descriptor is published (16). The body is behind it.

- The router answers with a `Response`, never with a failure of the node's own; late only where a knock is kept.
- A refusal is an error body in the codec of the reply.
- An answer is a reply that the asking side verifies. Exchange 2 alone brings the Descriptor.
- The same signed question is not answered twice; an unsigned one is answered alike each time.
"""

from __future__ import annotations

from collections.abc import Awaitable

import trio

from descriptor.encoding import b64url_decode
from descriptor.strictjson import JsonValue
from entryway.codec import Codec, decode, encode
from entryway.envelope import PROTOCOL_VERSION, read_envelope, sign_envelope
from entryway.errors import STATUS, EntrywayError
from entryway.http import Request, Response
from entryway.routes import Entryway
from entryway.snapshot import NonePublished
from entryway.verdict import judge_reply, read_error
from tests.entryway.parts import NOW, OTHER, OWNER, Received, document, door, received, snapshot_of
from tests.fuzz.mutation import of_body
from tests.fuzz.targets import codecs
from tests.vectors import ENVELOPE

TOKENS = (*codecs.TOKENS, OWNER.id, OTHER.id, "2026-09-21T14:13:20.000Z")
STATED = {"v": PROTOCOL_VERSION, "id": ENVELOPE["envelope"]["id"], "type": "request", "ts": "2026-09-21T14:13:20.000Z"}
PUBLISHED = snapshot_of(document())

mutate = of_body(TOKENS)


def one_input(data: bytes) -> None:
    choice = data[0] if data else 0
    asked_in = Codec.MSGPACK if choice & 1 else Codec.JSON
    answered_in = asked_in.other if choice & 2 else asked_in
    body = _completed(data[1:], asked_in, sign=bool(choice & 8)) if choice & 4 else data[1:]
    headers = {b"content-type": asked_in.value.encode(), b"accept": answered_in.value.encode()}
    request = Request(b"POST", b"/entryway", headers, body)
    entryway = door(PUBLISHED if choice & 16 else NonePublished())
    first, second = (_answered(entryway, request, answered_in) for _ in range(2))
    if first.status != 200:
        assert read_error(_map(first, answered_in)) is not None
        assert first.status == second.status
        return
    asked = decode(body, asked_in)
    assert isinstance(asked, dict)
    signed = read_envelope(asked).signature is not None
    assert second.status == (STATUS["INVALID_ENVELOPE"] if signed else 200)
    reply = _map(first, answered_in)
    beside = reply.get("descriptor")
    descriptor = b64url_decode(beside) if isinstance(beside, str) else None
    payload = asked["payload"]
    assert isinstance(payload, dict)
    brought = choice & 16 and payload["exchange"] == 2
    assert descriptor == (PUBLISHED.descriptor.data if brought else None)
    assert judge_reply(reply, asked, NOW, descriptor, expected_id=OWNER.id).verified


def _completed(body: bytes, codec: Codec, *, sign: bool) -> bytes:
    try:
        members = decode(body, codec)
    except EntrywayError:
        return body
    if not isinstance(members, dict):
        return body
    members = {**STATED, **members}
    return encode(sign_envelope(OTHER, {"from": OTHER.id, **members}) if sign else members, codec)


def _answered(entryway: Entryway, request: Request, codec: Codec) -> Received:
    answer = entryway.router.respond(request)
    if not isinstance(answer, Response):
        assert b"exchange" in request.body
        answer = trio.run(_waited_for, answer)
    assert answer.status in {200, *STATUS.values()}
    assert answer.status < 500
    got = received(answer)
    assert got.headers["content-type"] == codec.value
    return got


async def _waited_for(answer: Awaitable[Response]) -> Response:
    return await answer


def _map(got: Received, codec: Codec) -> dict[str, JsonValue]:
    value = decode(got.body, codec)
    assert isinstance(value, dict)
    return value
