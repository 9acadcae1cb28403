"""A request for work: any body, in either codec, comes to an order inside every bound, or to a refusal.

The first byte chooses the codec (1: msgpack), whether `Accept` names the other (2), whether what is missing of an
envelope is completed (4) and signed (8), whether the caller is admitted (16), and whether what stands in `input` is
sealed to this agent (32). The body is behind it.

- The router answers, never with a failure of the node's own; at once unless the caller is admitted.
- Nobody who is not admitted reaches the workshop, or is told anything but that, of whatever he asked.
- An answer verifies. A refusal says who decided; what is ordered is inside what is declared and allowed.
- The same signed request is not done twice.
"""

from __future__ import annotations

from typing import Any

import trio

from descriptor.keys import SealingKey
from descriptor.view import view
from entryway.asked import read_asked
from entryway.codec import Codec, decode, encode
from entryway.envelope import sign_envelope
from entryway.errors import STATUS, EntrywayError
from entryway.http import Request, Response
from entryway.requests import Means
from entryway.roster import CONSERVATIVE, NO_POLICY, Entry, Policy, Stance, Tier
from entryway.routes import Entryway
from entryway.sealing import is_sealed, seal, unseal
from entryway.verdict import judge_reply, read_error
from tests.descriptor.whole import WHOLE
from tests.entryway.bounded import assert_inside
from tests.entryway.parts import (
    NOW,
    OTHER,
    OWNER,
    MemorySenders,
    MemoryWorkshop,
    Received,
    answer_of,
    document,
    door,
    received,
    roster_door,
    snapshot_of,
)
from tests.fuzz.mutation import of_body
from tests.fuzz.targets import exchange

DATA = document(**{name: WHOLE[name] for name in ("offerings", "systems", "run_config", "limits")})
PUBLISHED = snapshot_of(DATA)
AGENT = view(DATA)
KEY = SealingKey(bytes(range(32)))
ADMITTED = Policy(CONSERVATIVE, 120, {OTHER.id: Entry(OTHER.id, Stance.ALLOW, Tier.ROSTERED, None, NOW, revoked=False)})
STATED = {**exchange.STATED, "to": OWNER.id}
TOKENS = (
    *exchange.TOKENS,
    *("offering", "input", "resources", "authority", "spend_limit", "budget", "run_config", "async", "task_id"),
    *("cancel", "kind", "access", "locator", "read-write", "amount_micro", "currency", "EUR", "deadline", "revision"),
    *("cost_ceiling", "settings", "sealedpayload.v1", "epk", "nonce", "ct", "reply_key", "spends-money"),
    *(str(one["id"]) for one in WHOLE["offerings"]),
    *(str(one["name"]) for offering in WHOLE["offerings"] for one in offering["inputs"]),
)
CODES = {
    *("TOO_LARGE", "UNAUTHORIZED", "RATE_LIMITED", "UNSEALING_FAILED", "INPUT_INVALID", "OFFERING_NOT_FOUND"),
    *("SCOPE_REFUSED", "RUN_CONFIG_REFUSED", "BUDGET_INSUFFICIENT", "DEADLINE_UNMEETABLE", "NOT_FOUND"),
}

mutate = of_body(TOKENS)


def one_input(data: bytes) -> None:
    choice = data[0] if data else 0
    asked_in = Codec.MSGPACK if choice & 1 else Codec.JSON
    answered_in = asked_in.other if choice & 2 else asked_in
    body = _completed(data[1:], asked_in, choice) if choice & 4 else data[1:]
    headers = {b"content-type": asked_in.value.encode(), b"accept": answered_in.value.encode()}
    request = Request(b"POST", b"/requests", headers, body)
    admitted, workshop = bool(choice & 16), MemoryWorkshop(*(str(one["id"]) for one in WHOLE["offerings"]))
    means = Means(KEY, MemorySenders(), workshop)
    entryway = door(PUBLISHED, roster=roster_door(ADMITTED if admitted else NO_POLICY), means=means)
    first, second = (_answered(entryway, request, answered_in, admitted=admitted) for _ in range(2))
    if first.status != 200:
        assert read_error(_map(first, answered_in)) is not None
        assert first.status == second.status
        assert not workshop.calls
        return
    assert second.status == STATUS["INVALID_ENVELOPE"]
    asked: Any = decode(body, asked_in)
    reply = _map(first, answered_in)
    assert judge_reply(reply, asked, NOW, None, expected_id=OWNER.id).verified
    _check(reply["envelope"]["payload"], asked["payload"], workshop, admitted=admitted)


def _check(told: Any, payload: Any, workshop: MemoryWorkshop, *, admitted: bool) -> None:
    if not admitted:
        assert told["error"]["code"] in ("UNAUTHORIZED", "TOO_LARGE")
        assert not workshop.calls
    if told["status"] == "refused":
        assert told["error"]["code"] in CODES
        assert told["error"]["decided_by"] == "rule"
        assert not workshop.orders
        return
    assert told["status"] in ("completed", "accepted")
    (order,) = workshop.orders.values()
    given = payload.get("input")
    assert_inside(AGENT, read_asked(payload, unseal(given, KEY).value if is_sealed(given) else given), order)


def _completed(body: bytes, codec: Codec, choice: int) -> bytes:
    try:
        members = decode(body, codec)
    except EntrywayError:
        return body
    if not isinstance(members, dict):
        return body
    payload = members.get("payload")
    if choice & 32 and isinstance(payload, dict) and "input" in payload:
        members = {**members, "payload": {**payload, "input": seal(payload["input"], KEY.public_text)}}
    members = {**STATED, **members}
    return encode(sign_envelope(OTHER, {"from": OTHER.id, **members}) if choice & 8 else members, codec)


def _answered(entryway: Entryway, request: Request, codec: Codec, *, admitted: bool) -> Received:
    if admitted:
        got = trio.run(answer_of, entryway, request)
    else:
        answer = entryway.router.respond(request)
        # A stranger is answered at once, but for what is read elsewhere because it is large.
        if not isinstance(answer, Response):
            assert len(request.body) > 4096
            got = trio.run(answer_of, entryway, request)
        else:
            got = received(answer)
    assert got.status in {200, *STATUS.values()}
    assert got.status < 500
    assert got.headers["content-type"] == codec.value
    return got


def _map(got: Received, codec: Codec) -> Any:
    value = decode(got.body, codec)
    assert isinstance(value, dict)
    return value
