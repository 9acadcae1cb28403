"""`POST /requests`: every check in its order, what each refusal says, and what nobody finds out by asking."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs

from descriptor.encoding import b64url_decode, b64url_encode
from descriptor.keys import Identity, SealingKey
from descriptor.signatures import sign_key_claim
from descriptor.view import Money
from entryway import protections, requests
from entryway.codec import Codec, decode, encode
from entryway.envelope import new_uuid, read_envelope, request_envelope, sign_envelope
from entryway.errors import EntrywayError
from entryway.http import Response, Working
from entryway.precedence import Precedence
from entryway.protections import FRESH_AHEAD, FRESH_BEHIND, TEXT_CAP, Inbound
from entryway.requests import Means
from entryway.roster import CONSERVATIVE, NO_POLICY, Entry, Policy, Stance, Tier
from entryway.routes import Entryway
from entryway.sealing import is_sealed, seal, unseal
from entryway.snapshot import Damaged, NonePublished
from entryway.verdict import judge_reply
from tests.descriptor.rules.test_6_11 import CHAPTER
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
    post,
    roster_door,
    snapshot_of,
)
from tests.vectors import ENVELOPE, SEALED

SORT: dict[str, Any] = {
    "id": "sort",
    "name": "Sort",
    "description": "Sorts a letter.",
    "inputs": [{"name": "letter", "kind": "text", "required": True}, {"name": "scan", "kind": "image/png"}],
    "outputs": [],
}
LETTER = {"offering": "sort", "input": {"letter": "Grüße"}}
MY_KEY, THEIR_KEY = SealingKey.generate(), SealingKey.generate()
STRANGER = Identity.generate()


def policy(
    stance: Stance | None = Stance.ALLOW, caller: str = OTHER.id, *, revoked: bool = False, **more: Any
) -> Policy:
    entry = Entry(caller, stance, Tier.ROSTERED, None, NOW, revoked=revoked)
    return replace(Policy(CONSERVATIVE, 120, {} if stance is None else {caller: entry}), **more)


def described(**members: Any) -> bytes:
    return document(**{"offerings": [SORT, CHAPTER], **members})


def with_key(identity: Identity, key: SealingKey, posture: str = "required", **members: Any) -> bytes:
    """A Descriptor that states a posture."""
    issued_at = "2026-07-25T00:00:00.000Z"
    claim = {"issued_at": issued_at, **sign_key_claim(identity, key.public_text, issued_at)}
    stated = {"encryption_key": key.public_text, "sealing": posture, "trust": claim}
    return document(identity, **{"offerings": [SORT], **stated, **members})


def node(
    data: bytes | None = None,
    own: Policy | None = None,
    workshop: MemoryWorkshop | None = None,
    *senders: Mapping[str, Any],
    now: float = NOW,
) -> Entryway:
    means = Means(MY_KEY, MemorySenders(*senders), workshop or MemoryWorkshop("sort", CHAPTER["id"]))
    return door(snapshot_of(data or described()), now=now, roster=roster_door(own or policy()), means=means)


async def sent(entryway: Entryway, request: Any, codec: Codec = Codec.JSON) -> Received:
    return await answer_of(entryway, post(request, codec, "/requests"))


async def told(
    entryway: Entryway, payload: Mapping[str, Any], caller: Identity = OTHER, codec: Codec = Codec.JSON
) -> dict[str, Any]:
    """The payload of a reply that verifies; of a refusal, its error."""
    request = request_envelope(payload, NOW, to=OWNER.id, identity=caller)
    got = await sent(entryway, request, codec)
    assert got.status == 200, got.body
    reply: Any = decode(got.body, codec)
    assert judge_reply(reply, request, NOW, None, expected_id=OWNER.id).verified
    assert reply["envelope"]["to"] == caller.id
    said: dict[str, Any] = reply["envelope"]["payload"]
    if said["status"] != "refused":
        return said
    error = said["error"]
    assert error["decided_by"] == "rule"
    assert isinstance(error["retryable"], bool)
    assert error["message"].endswith((".", "?"))
    return dict(error)


# What is done.


@pytest.mark.parametrize("codec", Codec)
async def test_work_is_done_and_its_output_is_the_answer(codec: Codec) -> None:
    workshop = MemoryWorkshop("sort")
    assert await told(node(workshop=workshop), LETTER, codec=codec) == {
        "status": "completed",
        "task_id": "task-1",
        "output": {"did": {"letter": "Grüße"}},
    }
    (order,) = workshop.orders.values()
    assert (order.caller, order.offering, order.input) == (OTHER.id, "sort", {"letter": "Grüße"})


async def test_the_address_of_a_caller_goes_first_once_he_is_admitted_and_a_stranger_s_never() -> None:
    precedence = Precedence(lambda: True)
    means = Means(workshop=MemoryWorkshop("sort"), precedence=precedence)
    entryway = door(snapshot_of(described()), roster=roster_door(policy()), means=means)
    for caller, address in ((OTHER, "192.0.2.1"), (Identity.generate(), "192.0.2.2")):
        asked = post(request_envelope(LETTER, NOW, to=OWNER.id, identity=caller), Codec.JSON, "/requests")
        asked.peer = address
        await answer_of(entryway, asked)
    assert precedence.turn("192.0.2.1", 0.0) is None
    assert precedence.turn("192.0.2.2", 0.0) is not None


async def test_an_order_is_known_by_the_request_it_came_with() -> None:
    workshop = MemoryWorkshop("sort")
    request = request_envelope(LETTER, NOW, to=OWNER.id, identity=OTHER)
    await sent(node(workshop=workshop), request)
    assert [order.request_id for order in workshop.orders.values()] == [request["id"]]


async def test_a_file_comes_as_bytes_in_either_codec() -> None:
    for codec, scan in ((Codec.JSON, b64url_encode(b"\x89PNG")), (Codec.MSGPACK, b64url_encode(b"\x89PNG"))):
        workshop = MemoryWorkshop("sort")
        request = request_envelope(
            {"offering": "sort", "input": {"letter": "x", "scan": scan}}, NOW, to=OWNER.id, identity=OTHER
        )
        body: Any = request
        if codec is Codec.MSGPACK:
            body = {**request, "payload": {"offering": "sort", "input": {"letter": "x", "scan": b"\x89PNG"}}}
        assert (await sent(node(workshop=workshop), body, codec)).status == 200
        assert [order.input["scan"] for order in workshop.orders.values()] == [scan]


async def test_who_comes_back_for_it_is_told_where_to_ask() -> None:
    workshop = MemoryWorkshop("sort", at_once=False)
    entryway = node(workshop=workshop)
    accepted = await told(entryway, {**LETTER, "async": True})
    assert accepted == {"status": "accepted", "task_id": "task-1", "state": "submitted"}
    assert "ended" not in workshop.calls
    assert await told(entryway, {"task_id": "task-1"}) == {
        "status": "accepted",
        "task_id": "task-1",
        "state": "working",
    }
    canceled = await told(entryway, {"task_id": "task-1", "cancel": True})
    assert (canceled["status"], canceled["error"]["code"]) == ("failed", "CANCELED")
    assert await told(entryway, {"task_id": "task-1"}) == canceled


async def test_a_job_is_its_own_caller_s() -> None:
    everybody = policy(defaults={**CONSERVATIVE, Tier.REGISTERED: Stance.ALLOW})
    entryway = node(own=everybody)
    await told(entryway, {**LETTER, "async": True})
    for payload in ({"task_id": "task-1"}, {"task_id": "task-1", "cancel": True}):
        theirs = await told(entryway, payload, STRANGER)
        unknown = await told(entryway, {**payload, "task_id": "task-9"}, STRANGER)
        assert theirs == unknown
        assert theirs["code"] == "NOT_FOUND"
    assert (await told(entryway, {"task_id": "task-1"}))["status"] == "accepted"


async def test_asking_after_a_job_is_not_counted_among_the_messages_of_an_hour() -> None:
    entryway = node(own=policy(hourly=1))
    await told(entryway, {**LETTER, "async": True})
    for _ in range(5):
        assert (await told(entryway, {"task_id": "task-1"}))["status"] == "accepted"
    assert (await told(entryway, LETTER))["code"] == "RATE_LIMITED"


async def test_a_private_agent_works_for_whom_it_has_admitted() -> None:
    entryway = node()
    entryway.private = True
    assert (await told(entryway, LETTER))["status"] == "completed"


async def test_after_a_publish_what_is_declared_now_holds() -> None:
    entryway = node()
    assert (await told(entryway, LETTER))["status"] == "completed"
    entryway.snapshot = snapshot_of(document(offerings=[CHAPTER]), 8)
    assert (await told(entryway, LETTER))["code"] == "OFFERING_NOT_FOUND"
    entryway.snapshot = snapshot_of(described(), 9)
    assert (await told(entryway, LETTER))["status"] == "completed"


# The envelope: one answer to everything that is wrong with it.


def signed(caller: Identity = OTHER, **members: Any) -> dict[str, Any]:
    envelope = request_envelope(LETTER, NOW, to=OWNER.id, identity=caller)
    changed = {**envelope, **members}
    changed.pop("sig")
    return sign_envelope(caller, {name: value for name, value in changed.items() if value is not ...})


def at(age: float) -> dict[str, Any]:
    return request_envelope(LETTER, NOW - age, to=OWNER.id, identity=OTHER)


BROKEN = {
    "nothing": None,
    "a list": [],
    "no envelope": LETTER,
    "unsigned": request_envelope(LETTER, NOW, to=OWNER.id),
    "unsigned, and says who": {**request_envelope(LETTER, NOW, to=OWNER.id), "from": OTHER.id},
    "changed": {**signed(), "payload": {"offering": "other"}},
    "signed by another": {**signed(), "from": STRANGER.id},
    "a reply": signed(type="respond"),
    "another version": signed(v="0.2.0"),
    "an id that is none": signed(id="1"),
    "a payload that is none": signed(payload=[]),
    "too old": at(FRESH_BEHIND + 0.001),
    "too new": at(-FRESH_AHEAD - 0.001),
    "to another": signed(to=OTHER.id),
    "to nobody": signed(to=...),
}


@pytest.mark.parametrize("codec", Codec)
async def test_an_envelope_that_is_not_taken_is_answered_alike_whatever_is_wrong(codec: Codec) -> None:
    workshop = MemoryWorkshop("sort")
    answers = set()
    for broken in BROKEN.values():
        got = await sent(node(workshop=workshop), broken, codec)
        answers.add((got.status, tuple(got.headers.items()), got.body))
    entryway, twice = node(workshop=workshop), signed(STRANGER)
    await sent(entryway, twice, codec)
    got = await sent(entryway, twice, codec)
    answers.add((got.status, tuple(got.headers.items()), got.body))
    ((status, _, body),) = answers
    error: Any = decode(body, codec)
    assert (status, error["error"]["code"]) == (400, "INVALID_ENVELOPE")
    assert workshop.calls == []


@pytest.mark.parametrize("age", [FRESH_BEHIND, -FRESH_AHEAD, 0.0])
async def test_at_the_ends_of_the_window_it_is_taken(age: float) -> None:
    assert (await sent(node(), at(age))).status == 200


@pytest.mark.parametrize("again", ["/requests", "/entryway"])
async def test_a_request_is_taken_once_wherever_it_comes_again(again: str) -> None:
    workshop = MemoryWorkshop("sort")
    entryway, request = node(workshop=workshop), signed()
    assert (await sent(entryway, request)).status == 200
    for codec in Codec:
        assert (await answer_of(entryway, post(request, codec, again))).status == 400
    assert len(workshop.orders) == 1


@pytest.mark.parametrize("broken", ["too old", "to another", "to nobody"])
async def test_an_envelope_is_remembered_before_it_is_judged_further(broken: str) -> None:
    inbound = Inbound(OWNER.id)
    envelope = read_envelope(BROKEN[broken])
    for _ in range(2):
        with pytest.raises(EntrywayError):
            inbound.judge(envelope, NOW, signed=True, addressed=True)
    # It would be taken now, were it not remembered.
    with pytest.raises(EntrywayError):
        Inbound(OWNER.id).judge(envelope, NOW, signed=True, addressed=True)
    taken = envelope._replace(ts=NOW, recipient=OWNER.id)
    Inbound(OWNER.id).judge(taken, NOW, signed=True, addressed=True)
    with pytest.raises(EntrywayError):
        inbound.judge(taken, NOW, signed=True, addressed=True)


async def test_strangers_push_nothing_out_of_memory_that_an_admitted_caller_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(protections, "REMEMBERED", 3)
    workshop = MemoryWorkshop("sort")
    entryway, request = node(workshop=workshop), signed()
    assert (await sent(entryway, request)).status == 200
    for _ in range(10):
        assert (await told(entryway, LETTER, STRANGER))["code"] == "UNAUTHORIZED"
    assert (await sent(entryway, request)).status == 400
    assert len(workshop.orders) == 1


async def test_the_oldest_of_an_admitted_caller_is_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protections, "REMEMBERED", 3)
    entryway, many = node(), [signed(id=new_uuid()) for _ in range(4)]
    assert [(await sent(entryway, one)).status for one in many] == [200] * 4
    assert [(await sent(entryway, one)).status for one in many[1:]] == [400] * 3
    assert (await sent(entryway, many[0])).status == 200


async def test_who_is_admitted_since_does_not_have_it_done_twice() -> None:
    entryway, request = node(own=NO_POLICY), signed()
    assert (await sent(entryway, request)).status == 200
    entryway.door.policy = policy()
    assert (await sent(entryway, request)).status == 400


# Text, and who may come in.


@pytest.mark.parametrize(("cap", "limits"), [(TEXT_CAP, {}), (300, {"limits": {"max_inbound_chars": 300}})])
async def test_exactly_at_the_cap_text_is_taken(cap: int, limits: dict[str, Any]) -> None:
    used = len("offering" + "sort" + "input" + "letter")
    for letter, code in (("x" * (cap - used), None), ("x" * (cap - used + 1), "TOO_LARGE")):
        assert (await told(node(described(**limits)), {"offering": "sort", "input": {"letter": letter}})).get(
            "code"
        ) == code
    wide = "🚀" * ((cap - used) // 2)
    for letter, code in ((wide, None), (wide + "xx", "TOO_LARGE")):
        assert (await told(node(described(**limits)), {"offering": "sort", "input": {"letter": letter}})).get(
            "code"
        ) == code


@pytest.mark.parametrize("letter", ["x" * 130, "🚀" * 65, "\x00" * 130, "ü" * 130, b"\x00" * 97])
async def test_a_body_of_half_the_cap_holds_no_text_beyond_it(letter: Any) -> None:
    """What need not be counted is within the cap however it is spelled: each of these is 130 units of text."""
    payload = {"offering": "sort", "input": {"letter": letter}}
    text = letter if isinstance(letter, str) else b64url_encode(letter)
    texts = {"offering": "sort", "input": {"letter": text}}
    assert len(text.encode("utf-16-le")) // 2 == 130
    for codec in Codec:
        size = len(encode(payload if codec is Codec.MSGPACK else texts, codec))
        protections.refuse_long_text(decode(encode(texts, codec), codec), 2 * size)


async def test_a_file_is_no_text_and_text_is_no_file() -> None:
    scan = b64url_encode(bytes(100_000))
    payload = {"offering": "sort", "input": {"letter": "x", "scan": scan}}
    assert (await told(node(), payload))["status"] == "completed"
    assert (await told(node(), {"offering": "sort", "input": {"letter": scan}}))["code"] == "TOO_LARGE"
    assert (await told(node(), {"offering": "nothing", "input": {"scan": scan}}))["code"] == "TOO_LARGE"
    assert (await told(node(), {**payload, "input": {"letter": "x", "scan": [scan]}}))["code"] == "TOO_LARGE"


async def test_text_is_judged_before_who_sends_it_and_both_by_rule() -> None:
    workshop = MemoryWorkshop("sort")
    entryway = node(workshop=workshop)
    too_long = {"offering": "sort", "input": {"letter": "x" * TEXT_CAP}}
    assert await told(entryway, too_long, STRANGER) == await told(entryway, too_long)
    assert (await told(entryway, too_long))["max_chars"] == TEXT_CAP
    assert workshop.calls == []


PAYLOADS: list[dict[str, Any]] = [
    LETTER,
    {},
    {"offering": 7},
    {"offering": "nothing"},
    {"task_id": "task-1"},
    {"task_id": 7, "cancel": "x"},
    {"offering": "sort", "input": SEALED["sealed"]},
    {"offering": "sort", "input": {"v": "sealedpayload.v1"}},
    {"unheard": {"of": [1, 2]}},
]


@pytest.mark.parametrize("payload", PAYLOADS, ids=str)
async def test_a_caller_who_is_not_admitted_learns_that_and_nothing_else(payload: dict[str, Any]) -> None:
    workshop = MemoryWorkshop("sort")
    for own in (
        NO_POLICY,
        policy(Stance.BLOCK),
        policy(Stance.HOLD),
        policy(Stance.BLOCK, revoked=True),
        policy(hourly=1),
    ):
        entryway = node(with_key(OWNER, MY_KEY), own if own.hourly > 1 else replace(NO_POLICY, hourly=1), workshop)
        for _ in range(3):
            error = await told(entryway, payload)
            assert error == {**json.loads(requests._UNAUTHORIZED.canonical)["error"]}
            assert error["code"] == "UNAUTHORIZED"
    assert workshop.calls == []


async def test_the_owner_s_cap_binds_whom_he_admits() -> None:
    entryway = node(own=policy(hourly=2))
    for _ in range(2):
        assert (await told(entryway, LETTER))["status"] == "completed"
    error = await told(entryway, LETTER)
    assert (error["code"], error["retryable"], error["retry_after"]) == ("RATE_LIMITED", True, 3600)


async def test_the_declared_admission_holds_here_too() -> None:
    everybody = policy(None, defaults={**CONSERVATIVE, Tier.REGISTERED: Stance.ALLOW})
    for admission, code in (("open", None), (None, None), ("allowlist", "UNAUTHORIZED"), ("screened", "UNAUTHORIZED")):
        stated = {} if admission is None else {"access": {"admission": admission}}
        assert (await told(node(described(**stated), everybody), LETTER, STRANGER)).get("code") == code


# Sealing.


def sealed(given: Any = None, key: SealingKey = MY_KEY, reply_key: str | None = None) -> dict[str, Any]:
    return {
        "offering": "sort",
        "input": seal({"letter": "x"} if given is None else given, key.public_text, reply_key=reply_key),
    }


@pytest.mark.parametrize("posture", ["required", "preferred"])
async def test_a_sealed_request_is_opened_and_its_answer_sealed(posture: str) -> None:
    workshop = MemoryWorkshop("sort")
    mine = json.loads(with_key(OTHER, THEIR_KEY, "preferred"))
    entryway = node(with_key(OWNER, MY_KEY, posture), None, workshop, mine)
    done = await told(entryway, sealed(reply_key=THEIR_KEY.public_text))
    assert done["status"] == "completed"
    assert unseal(done["output"], THEIR_KEY).value == {"did": {"letter": "x"}}
    assert [order.input for order in workshop.orders.values()] == [{"letter": "x"}]
    clear = await told(entryway, sealed())
    assert clear["output"] == {"did": {"letter": "x"}}


async def test_the_family_s_sealed_payload_is_taken() -> None:
    recipient = SealingKey(b64url_decode(SEALED["recipient_secret"]))
    offering = {**SORT, "inputs": [{"name": name, "kind": "application/json"} for name in SEALED["expect_payload"]]}
    workshop = MemoryWorkshop("sort")
    issued_at = "2026-07-25T00:00:00.000Z"
    reply_key = SEALED["sealed"]["reply_key"]
    claim = {"issued_at": issued_at, **sign_key_claim(OTHER, reply_key, issued_at)}
    sender = {"subject": {"id": OTHER.id}, "encryption_key": reply_key, "trust": claim}
    means = Means(recipient, MemorySenders(sender), workshop)
    data = with_key(OWNER, recipient, offerings=[offering])
    entryway = door(snapshot_of(data), roster=roster_door(policy()), means=means)
    done = await told(entryway, {"offering": "sort", "input": SEALED["sealed"]})
    assert is_sealed(done["output"])
    assert [order.input for order in workshop.orders.values()] == [SEALED["expect_payload"]]


def test_the_family_s_envelope_is_taken_by_whom_it_is_to() -> None:
    members = {**ENVELOPE["envelope"], "sig": ENVELOPE["sig"]}
    assert sign_envelope(Identity.from_seed_text(ENVELOPE["seed"]), ENVELOPE["envelope"]) == members
    for codec in Codec:
        envelope = read_envelope(decode(encode(members, codec), codec))
        judge = Inbound(str(members["to"])).judge
        assert judge(envelope, envelope.ts, signed=True, addressed=True) == members["from"]
        with pytest.raises(EntrywayError):
            Inbound(OWNER.id).judge(envelope, envelope.ts, signed=True, addressed=True)


async def test_where_sealing_is_required_a_clear_request_is_refused_unread() -> None:
    entryway = node(with_key(OWNER, MY_KEY))
    for payload in (LETTER, {"offering": "nothing"}, {**LETTER, "unheard": "of"}):
        assert (await told(entryway, payload))["code"] == "SEALING_REQUIRED"
    assert (await told(node(with_key(OWNER, MY_KEY, "preferred")), LETTER))["status"] == "completed"


async def test_a_job_is_asked_after_in_the_clear() -> None:
    entryway = node(with_key(OWNER, MY_KEY))
    await told(entryway, {**sealed(), "async": True})
    assert (await told(entryway, {"task_id": "task-1"}))["status"] == "accepted"


@pytest.mark.parametrize(
    "payload",
    [
        sealed(key=THEIR_KEY),
        {"offering": "sort", "input": {**sealed()["input"], "nonce": b64url_encode(bytes(24))}},
        {"offering": "sort", "input": {"v": "sealedpayload.v1"}},
        {"offering": "nothing", "input": {"v": "sealedpayload.v1"}},
    ],
    ids=["another key", "a changed nonce", "half of it", "no offering either"],
)
async def test_what_does_not_open_is_not_processed(payload: dict[str, Any]) -> None:
    workshop = MemoryWorkshop("sort")
    assert (await told(node(with_key(OWNER, MY_KEY), None, workshop), payload))["code"] == "UNSEALING_FAILED"
    assert workshop.calls == []


async def test_what_is_opened_is_judged_like_what_came_in_the_clear() -> None:
    entryway = node(with_key(OWNER, MY_KEY))
    assert (await told(entryway, sealed({"letter": 7})))["code"] == "INPUT_INVALID"
    assert (await told(entryway, sealed([])))["pointer"] == "/input"
    assert (await told(entryway, sealed({"letter": "x" * TEXT_CAP})))["code"] == "TOO_LARGE"
    assert (await told(entryway, sealed({"letter": "x" * 60_000})))["status"] == "completed"
    scan = b64url_encode(bytes(100_000))
    assert (await told(entryway, sealed({"letter": "x", "scan": scan})))["status"] == "completed"


async def test_an_agent_without_a_key_opens_nothing() -> None:
    entryway = door(
        snapshot_of(described()), roster=roster_door(policy()), means=Means(None, None, MemoryWorkshop("sort"))
    )
    assert (await told(entryway, sealed()))["code"] == "UNSEALING_FAILED"


LOW_ORDER = b64url_encode(bytes(32))


def low_order() -> dict[str, Any]:
    issued_at = "2026-07-25T00:00:00.000Z"
    claim = {"issued_at": issued_at, **sign_key_claim(OTHER, LOW_ORDER, issued_at)}
    return {"subject": {"id": OTHER.id}, "encryption_key": LOW_ORDER, "trust": claim}


@pytest.mark.parametrize(
    ("reply_key", "sender", "hint"),
    [
        (THEIR_KEY.public_text, None, "agent-node follow"),
        (THEIR_KEY.public_text, json.loads(document(OTHER)), "publish"),
        (MY_KEY.public_text, json.loads(with_key(OTHER, THEIR_KEY)), "publish"),
        (THEIR_KEY.public_text, {**json.loads(with_key(OTHER, THEIR_KEY)), "trust": {}}, "publish"),
        (LOW_ORDER, low_order(), "publish"),
    ],
    ids=["nobody known", "no key declared", "a swapped key", "a claim that fails", "a key that takes nothing"],
)
async def test_a_reply_key_that_is_not_the_sender_s_own_is_refused_and_nothing_done(
    reply_key: str, sender: dict[str, Any] | None, hint: str
) -> None:
    workshop = MemoryWorkshop("sort")
    entryway = node(with_key(OWNER, MY_KEY), None, workshop, *([] if sender is None else [sender]))
    error = await told(entryway, sealed(reply_key=reply_key))
    assert (error["code"], error["pointer"]) == ("INPUT_INVALID", "/input/reply_key")
    assert hint in error["message"]
    assert workshop.calls == []


# The boundary, and what stands behind it.


async def test_what_the_boundary_refuses_is_told_whole() -> None:
    payload = {"offering": CHAPTER["id"], "input": {"instruction": "x"}, "authority": ["spends-money"]}
    error = await told(node(), payload)
    del error["message"]
    assert error == {
        "code": "SCOPE_REFUSED",
        "decided_by": "rule",
        "retryable": False,
        "offering": CHAPTER["id"],
        "reason": "authority",
        "allowed": CHAPTER["authority"],
    }


async def test_an_order_is_bounded_as_it_was_asked() -> None:
    workshop = MemoryWorkshop(CHAPTER["id"])
    payload = {
        "offering": CHAPTER["id"],
        "input": {"instruction": "x"},
        "resources": [{"kind": "git", "access": "read", "locator": "ssh://h/x"}],
        "authority": ["reads-files"],
        "budget": {"cost_ceiling": {"amount_micro": 7, "currency": "USD"}},
    }
    await told(node(workshop=workshop), payload)
    (order,) = workshop.orders.values()
    assert (order.authority, order.resources[0].locator) == (("reads-files",), "ssh://h/x")
    assert (order.bounds.cost, order.bounds.seconds) == (Money(7, "USD"), 3600)


async def test_a_payload_that_cannot_be_read_is_refused_with_its_place() -> None:
    assert (await told(node(), {**LETTER, "budget": {"deadline": "soon"}}))["pointer"] == "/budget/deadline"
    assert (await told(node(), {**LETTER, "athority": []}))["message"].endswith(
        "Did you mean `authority`? Mend it, and send it under a new id."
    )


async def test_limits_count_the_callers_of_all_offerings_together() -> None:
    entryway = node(described(limits={"requests_per_hour": 1, "past_them": "Tomorrow."}))
    assert (await told(entryway, LETTER))["status"] == "completed"
    error = await told(entryway, {"offering": CHAPTER["id"], "input": {"instruction": "x"}})
    assert (error["code"], error["past_them"], error["retry_after"]) == ("RATE_LIMITED", "Tomorrow.", 3600)


@pytest.mark.parametrize("workshop", [None, MemoryWorkshop("other")], ids=["no workshop", "no handler"])
async def test_where_nothing_stands_behind_an_offering_it_is_unavailable_after_all_checks(workshop: Any) -> None:
    means = Means(MY_KEY, MemorySenders(), workshop)
    entryway = door(snapshot_of(described()), roster=roster_door(policy()), means=means)
    assert (await told(entryway, {"offering": "sort"}))["code"] == "INPUT_INVALID"
    error = await told(entryway, LETTER)
    assert (error["code"], error["retryable"], error["offering"]) == ("AGENT_UNAVAILABLE", True, "sort")
    assert (await told(entryway, {"task_id": "task-1"}))["code"] == "NOT_FOUND"
    assert workshop is None or not workshop.orders


async def test_what_a_workshop_refuses_is_told() -> None:
    workshop = MemoryWorkshop("sort")
    workshop.failing = EntrywayError("RATE_LIMITED", "Full.", headers=(("Retry-After", "7"),))
    error = await told(node(workshop=workshop), LETTER)
    assert (error["code"], error["message"], error["retry_after"]) == ("RATE_LIMITED", "Full.", 7)


async def test_a_copy_that_only_the_workshop_remembers_is_answered_like_any_copy() -> None:
    workshop, entryway = MemoryWorkshop("sort"), node()
    request = signed()
    await sent(entryway, request)
    copy = await sent(entryway, request)
    workshop.failing = EntrywayError("INVALID_ENVELOPE", "In words of its own.")
    assert await sent(node(workshop=workshop), request) == copy
    assert copy.status == 400


async def test_an_end_that_cannot_be_told_just_now_can_be_asked_for() -> None:
    workshop = MemoryWorkshop("sort", at_once=False)
    answer: Any = node(workshop=workshop).router.respond(post(signed(), path="/requests"))
    working = await answer
    workshop.failing = EntrywayError("AGENT_UNAVAILABLE", "Not now.")
    workshop.let.set()
    payload = json.loads((await working.response()).tail.partition(b"\r\n\r\n")[2])["envelope"]["payload"]
    assert (payload["task_id"], payload["error"]["code"]) == ("task-1", "AGENT_UNAVAILABLE")


async def test_an_agent_that_has_published_nothing_offers_nothing() -> None:
    means = Means(MY_KEY, MemorySenders(), MemoryWorkshop("sort"))
    entryway = door(NonePublished(), roster=roster_door(policy()), means=means)
    assert (await told(entryway, LETTER))["code"] == "OFFERING_NOT_FOUND"
    assert (await told(entryway, LETTER, STRANGER))["code"] == "UNAUTHORIZED"


async def test_while_the_descriptor_is_damaged_nobody_is_told_whether_he_is_admitted() -> None:
    entryway = door(Damaged("sha256:" + "0" * 64, 1), roster=roster_door(policy()))
    assert await told(entryway, LETTER) == await told(entryway, LETTER, STRANGER)
    assert (await told(entryway, LETTER))["code"] == "AGENT_UNAVAILABLE"


async def test_the_order_of_the_checks() -> None:
    """One request, wrong in everything, with one thing mended at a time."""
    entryway = node(with_key(OWNER, MY_KEY, limits={"requests_per_hour": 0}), replace(NO_POLICY, hourly=1))
    wrong: dict[str, Any] = {"offering": "nothing", "input": {"letter": "x" * TEXT_CAP}, "unheard": "of"}
    codes = [(await sent(entryway, request_envelope(wrong, NOW - 1_000, to=OWNER.id, identity=OTHER))).error()["code"]]

    async def next_code(payload: dict[str, Any]) -> str:
        codes.append((await told(entryway, payload))["code"])
        return str(codes[-1])

    await next_code(wrong)
    await next_code(wrong := {**wrong, "input": {}})
    entryway.door.policy = policy(hourly=1)
    entryway.door.count(OTHER.id, None, NOW)
    await next_code(wrong)
    entryway.door.policy = policy()
    await next_code(wrong)
    await next_code(wrong := {**wrong, **sealed(key=THEIR_KEY), "offering": "nothing"})
    await next_code(wrong := {**wrong, **sealed({}, reply_key=THEIR_KEY.public_text), "offering": "nothing"})
    await next_code(wrong := {**wrong, **sealed({}), "offering": "nothing"})
    del wrong["unheard"]
    await next_code(wrong)
    await next_code(wrong := {**wrong, "offering": "sort"})
    await next_code(wrong := {**wrong, **sealed()})
    entryway.snapshot = snapshot_of(with_key(OWNER, MY_KEY), 8)
    assert (await told(entryway, wrong))["status"] == "completed"
    assert codes == [
        *("INVALID_ENVELOPE", "TOO_LARGE", "UNAUTHORIZED", "RATE_LIMITED", "SEALING_REQUIRED", "UNSEALING_FAILED"),
        *("INPUT_INVALID", "INPUT_INVALID", "OFFERING_NOT_FOUND", "INPUT_INVALID", "RATE_LIMITED"),
    ]


# Bodies.


async def test_a_request_may_be_a_mebibyte_and_a_question_may_not() -> None:
    router = node().router
    assert router.body_limit(post({}, path="/requests")) == 1 << 20
    assert router.body_limit(post({})) == 65_536
    router.limit_bodies(4_096, requests=8_192)
    assert router.body_limit(post({}, path="/requests")) == 8_192
    assert router.body_limit(post({})) == 4_096


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_another_method_is_told_which_one(method: str) -> None:
    got = await answer_of(node(), replace(post({}, path="/requests"), method=method.encode()))
    assert (got.status, got.headers["allow"]) == (405, "POST, OPTIONS")


async def test_a_body_in_no_codec_is_refused() -> None:
    request = post(signed(), path="/requests")
    request.headers[b"content-type"] = b"text/plain"
    assert (await answer_of(node(), request)).error()["code"] == "UNSUPPORTED_MEDIA_TYPE"


async def test_a_large_stranger_is_read_apart_and_refused_alike() -> None:
    scan = b64url_encode(bytes(500_000))
    payload = {"offering": "sort", "input": {"letter": "x", "scan": scan}}
    assert (await told(node(), payload, STRANGER))["code"] == "UNAUTHORIZED"
    assert (await sent(node(), request_envelope(payload, NOW, to=OWNER.id))).status == 400
    assert (await sent(node(), {**signed(), "payload": payload})).status == 400


# Who goes away before the work is done.


async def test_work_whose_caller_has_gone_is_ended() -> None:
    workshop = MemoryWorkshop("sort", at_once=False)
    answer: Any = node(workshop=workshop).router.respond(post(signed(), path="/requests"))
    working = await answer
    assert isinstance(working, Working)
    with capture_logs() as logs:
        await working.leave()
    assert workshop.ends["task-1"]["error"]["code"] == "CANCELED"
    assert [line["event"] for line in logs] == ["caller_left"]


async def test_work_that_cannot_be_ended_is_logged_and_no_more() -> None:
    workshop = MemoryWorkshop("sort", at_once=False)
    answer: Any = node(workshop=workshop).router.respond(post(signed(), path="/requests"))
    working = await answer
    workshop.failing = EntrywayError("AGENT_UNAVAILABLE", "Not now.")
    with capture_logs() as logs:
        await working.leave()
    assert [line["event"] for line in logs] == ["caller_left", "work_not_canceled"]


# What nobody can find out.

ROSTERS: dict[str, Policy] = {
    "none": NO_POLICY,
    "blocked": policy(Stance.BLOCK),
    "held": policy(Stance.HOLD),
    "revoked": policy(Stance.BLOCK, revoked=True),
    "many": replace(
        policy(Stance.BLOCK),
        entries={
            one: Entry(one, Stance.BLOCK, Tier.ROSTERED, "x" * 100, NOW, revoked=False)
            for one in (OTHER.id, *(f"U{number:055}" for number in range(5_000)))
        },
    ),
}


@pytest.mark.parametrize("admission", ["open", "allowlist", "screened", "negotiated", None])
@pytest.mark.parametrize("codec", Codec)
async def test_a_blocked_caller_is_answered_like_an_unknown_one_byte_for_byte(
    admission: str | None, codec: Codec
) -> None:
    stated = {} if admission is None else {"access": {"admission": admission}}
    transcripts = set()
    for own in ROSTERS.values():
        entryway, transcript = node(described(**stated), own), []
        for payload in PAYLOADS:
            got = await sent(entryway, request_envelope(payload, NOW, to=OWNER.id, identity=OTHER), codec)
            reply: Any = decode(got.body, codec)
            for name in ("id", "sig", "in_reply_to"):
                assert reply["envelope"].pop(name)
            transcript.append((got.status, tuple(got.headers.items()), json.dumps(reply, sort_keys=True)))
        transcripts.add(tuple(transcript))
    assert len(transcripts) == 1


SAMPLES = 150


def one_answer(entryway: Entryway, caller: Identity) -> int:
    request = post(request_envelope(LETTER, NOW, to=OWNER.id, identity=caller), path="/requests")
    began = time.thread_time_ns()
    answer = entryway.router.respond(request)
    took = time.thread_time_ns() - began
    assert isinstance(answer, Response)
    assert answer.status == 200
    return took


def apart() -> float:
    """How far the median times of unknown and of blocked callers are from each other, as a part of the whole."""
    callers = [Identity.generate() for _ in range(SAMPLES)]
    entries = {one.id: Entry(one.id, Stance.BLOCK, Tier.ROSTERED, None, NOW, revoked=False) for one in callers}
    times: dict[str, list[int]] = {"unknown": [], "blocked": []}
    for part in range(0, SAMPLES, 15):
        # In turns, so that whatever else the machine does falls on both.
        for name, own in (("unknown", NO_POLICY), ("blocked", replace(NO_POLICY, entries=entries))):
            entryway = node(own=own)
            times[name] += [one_answer(entryway, caller) for caller in callers[part : part + 15]]
    unknown, blocked = (statistics.median(times[name]) for name in ("unknown", "blocked"))
    return abs(unknown - blocked) / unknown


def test_a_block_costs_no_time_that_could_be_measured() -> None:
    # A machine that is busy may disturb one measure, and several; it does not disturb twelve in the same way.
    assert any(apart() < 0.03 for _ in range(12))


def test_the_measure_finds_a_difference_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    admits = requests.Door.admits

    def slow(self: requests.Door, caller: str | None, admission: str | None) -> bool:
        until = time.thread_time_ns() + (300_000 if caller in self.policy.entries else 0)
        while time.thread_time_ns() < until:
            pass
        return admits(self, caller, admission)

    monkeypatch.setattr(requests.Door, "admits", slow)
    assert not any(apart() < 0.03 for _ in range(12))


async def test_many_at_once_are_each_answered_their_own() -> None:
    entryway, answers = node(), {}

    async def one(number: int) -> None:
        answers[number] = (await told(entryway, {"offering": "sort", "input": {"letter": str(number)}}))["output"]

    async with trio.open_nursery() as nursery:
        for number in range(30):
            nursery.start_soon(one, number)
    assert answers == {number: {"did": {"letter": str(number)}} for number in range(30)}
