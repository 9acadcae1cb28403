"""What a reply is worth: each check holds, or fails for its own reason and no other."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from descriptor.digests import digest_of
from descriptor.keys import Identity
from descriptor.timestamps import format_timestamp
from entryway.envelope import new_uuid, request_envelope, sign_envelope
from entryway.exchanges import Question, Saying, answer
from entryway.protections import FRESH_AHEAD, FRESH_BEHIND
from entryway.snapshot import NONE_PUBLISHED
from entryway.verdict import STATUSES, Verdict, judge_reply, read_error, shown
from tests.entryway.parts import NOW, OTHER, OWNER, document, roster_door, snapshot_of
from tests.entryway.test_codec import JSON_VALUES

DATA = document()
REQUEST = request_envelope({"exchange": 2}, NOW)
CHECKS = [
    "envelope",
    "answers_request",
    "fresh",
    "addressed",
    "reply_signature",
    "digest",
    "descriptor_readable",
    "descriptor_signature",
    "one_agent",
    "agent_version",
]


def reply_by(
    identity: Identity = OWNER,
    data: bytes | None = DATA,
    payload: dict[str, Any] | None = None,
    *,
    sender: Any = "",
    **members: Any,
) -> dict[str, Any]:
    """A signed reply map: honest, unless told what else to say."""
    if payload is None:
        payload = dict(NONE_PUBLISHED.members if data is None else snapshot_of(data).shown.members)
    envelope = {
        "v": "0.3.0",
        "id": new_uuid(),
        "type": "respond",
        "ts": format_timestamp(NOW),
        "from": identity.id if sender == "" else sender,
        "in_reply_to": REQUEST["id"],
        "payload": payload,
        **members,
    }
    return {"envelope": sign_envelope(identity, envelope)}


def judge(reply: dict[str, Any], data: bytes | None = DATA, **named: Any) -> Verdict:
    verdict = judge_reply(reply, named.pop("request", REQUEST), named.pop("now", NOW), data, **named)
    assert set(verdict.reasons) == {name for name, holds in verdict.checks.items() if not holds}
    assert all(reason.endswith(".") and reason.isprintable() for reason in verdict.reasons.values())
    assert verdict.verified is (verdict.checks != {} and verdict.reasons == {})
    return verdict


def failing(verdict: Verdict) -> list[str]:
    return list(verdict.reasons)


def test_an_honest_reply_is_verified_check_by_check() -> None:
    reply = reply_by()
    verdict = judge(reply, expected_id=OWNER.id)
    assert verdict.verified
    assert list(verdict.checks) == CHECKS
    assert verdict.status == "published"
    assert verdict.digest == digest_of(DATA)
    assert verdict.agent_version == "1.4.0"
    assert verdict.envelope == reply["envelope"]
    assert verdict.descriptor is DATA
    assert verdict.error is None


def test_what_the_exchange_says_is_verified() -> None:
    saying = answer(snapshot_of(DATA), Question(_Envelope({"exchange": 2}), None, NOW), roster_door())  # type: ignore[arg-type]  # all that is read of one
    assert isinstance(saying, Saying)
    assert judge(reply_by(payload=dict(saying.payload.members)), saying.beside.data if saying.beside else None).verified


def test_a_reply_that_says_none_is_published_and_carries_one_is_not_verified() -> None:
    payload = {**snapshot_of(DATA).shown.members, "status": "none-published"}
    verdict = judge(reply_by(payload=payload))
    assert [name for name, holds in verdict.checks.items() if not holds] == ["envelope"]
    assert "states 'none-published'" in verdict.reasons["envelope"]


class _Envelope:
    """Of an envelope, all that an exchange looks at."""

    def __init__(self, payload: dict[str, Any]) -> None:
        self.payload = payload


def test_none_published_is_an_answer_and_can_be_verified() -> None:
    verdict = judge(reply_by(data=None), None)
    assert verdict.verified
    assert list(verdict.checks) == CHECKS[:5]
    assert (verdict.status, verdict.digest, verdict.agent_version) == ("none-published", None, None)


def test_none_published_by_another_agent_than_was_asked_is_not() -> None:
    verdict = judge(reply_by(data=None), None, expected_id=OTHER.id)
    assert failing(verdict) == ["one_agent"]


def test_an_error_body_is_an_answer_without_checks() -> None:
    verdict = judge({"error": {"code": "RATE_LIMITED", "message": "Slow\x1b[2J down.", "retryable": True}}, None)
    assert verdict.error == {"code": "RATE_LIMITED", "message": "Slow [2J down.", "retryable": True}
    assert verdict.checks == {}
    assert not verdict.verified


# Each tampering, and the checks that fail for it.


def edited(data: bytes, **members: Any) -> bytes:
    return json.dumps({**json.loads(data), **members}).encode()


UNSIGNED = document(sign=False)
BY_OTHER = document(OTHER)
EDITED = edited(DATA, does="Something else.")
STATED_BY_OTHER = edited(DATA, signatures=json.loads(BY_OTHER)["signatures"])
NO_SUBJECT = json.dumps({"agent_version": "1.4.0"}).encode()
MADE_UP = {"status": "published", "agent_version": "1.4.0"}


def claims(data: bytes, **members: Any) -> dict[str, Any]:
    """The payload that goes with these bytes, whatever they are."""
    return {"status": "published", "digest": digest_of(data), "size": len(data), "agent_version": "1.4.0", **members}


Tampering = tuple[Callable[[], Verdict], list[str]]
TAMPERINGS: dict[str, Tampering] = {
    "no envelope": (lambda: judge({}), ["envelope"]),
    "an envelope that is a list": (lambda: judge({"envelope": []}), ["envelope"]),
    "a request": (lambda: judge({"envelope": REQUEST}), ["envelope"]),
    "our own question": (
        lambda: judge({"envelope": request_envelope({"exchange": 2}, NOW, identity=OWNER)}),
        ["envelope"],
    ),
    "another version": (lambda: judge(reply_by(v="0.2.0")), ["envelope"]),
    "a time that is none": (lambda: judge(reply_by(ts="now")), ["envelope"]),
    "an unknown status": (lambda: judge(reply_by(payload=claims(DATA, status="gone"))), ["envelope"]),
    "no status": (lambda: judge(reply_by(payload=claims(DATA, status=None))), ["envelope"]),
    "another question's reply": (lambda: judge(reply_by(in_reply_to=new_uuid())), ["answers_request"]),
    "nobody's reply": (lambda: judge(reply_by(in_reply_to=None)), ["answers_request"]),
    "an old reply": (lambda: judge(reply_by(), now=NOW + FRESH_BEHIND + 1), ["fresh"]),
    "a reply from the future": (lambda: judge(reply_by(), now=NOW - FRESH_AHEAD - 1), ["fresh"]),
    "addressed to somebody": (lambda: judge(reply_by(to=OTHER.id)), ["addressed"]),
    "addressed to nobody there is": (lambda: judge(reply_by(to="")), ["addressed"]),
    "without from": (lambda: judge(reply_by(sender=None)), ["reply_signature", "one_agent"]),
    "without sig": (lambda: judge(stripped(reply_by(), "sig")), ["reply_signature"]),
    "signed by another key": (lambda: judge(reply_by(OTHER, sender=OWNER.id)), ["reply_signature"]),
    "changed after signing": (lambda: judge(changed(reply_by(), added=1)), ["reply_signature"]),
    "published without bytes": (lambda: judge(reply_by(), None), ["digest"]),
    "other bytes": (lambda: judge(reply_by(), DATA + b" "), ["digest"]),
    "older bytes": (lambda: judge(reply_by(), document(agent_version="1.3.0")), ["digest", "agent_version"]),
    "no digest": (lambda: judge(reply_by(payload=MADE_UP)), ["digest"]),
    "a bare digest": (lambda: judge(reply_by(payload=claims(DATA, digest=digest_of(DATA)[7:]))), ["digest"]),
    "another size": (lambda: judge(reply_by(payload=claims(DATA, size=len(DATA) + 1))), ["digest"]),
    "no size": (lambda: judge(reply_by(payload=claims(DATA, size=None))), ["digest"]),
    "bytes beside none-published": (lambda: judge(reply_by(data=None)), ["envelope", "digest", "agent_version"]),
    "bytes that are no JSON": (lambda: judge(reply_by(payload=claims(b"{")), b"{"), ["descriptor_readable"]),
    "bytes that are no object": (lambda: judge(reply_by(payload=claims(b"[]")), b"[]"), ["descriptor_readable"]),
    "no bytes at all": (lambda: judge(reply_by(payload=claims(b"")), b""), ["descriptor_readable"]),
    "an unsigned Descriptor": (lambda: judge(reply_by(data=UNSIGNED), UNSIGNED), ["descriptor_signature"]),
    "a Descriptor changed after signing": (lambda: judge(reply_by(data=EDITED), EDITED), ["descriptor_signature"]),
    "a Descriptor stated by another": (
        lambda: judge(reply_by(data=STATED_BY_OTHER), STATED_BY_OTHER),
        ["descriptor_signature", "one_agent"],
    ),
    "another agent's Descriptor": (lambda: judge(reply_by(data=BY_OTHER), BY_OTHER), ["one_agent"]),
    "a draft": (lambda: judge(reply_by(data=NO_SUBJECT), NO_SUBJECT), ["descriptor_signature", "one_agent"]),
    "another agent than was asked": (lambda: judge(reply_by(), expected_id=OTHER.id), ["one_agent"]),
    "another agent_version": (
        lambda: judge(reply_by(payload=claims(DATA, agent_version="1.4.1"))),
        ["agent_version"],
    ),
    "no agent_version": (lambda: judge(reply_by(payload=claims(DATA, agent_version=None))), ["agent_version"]),
}


def stripped(reply: dict[str, Any], name: str) -> dict[str, Any]:
    return {"envelope": {key: value for key, value in reply["envelope"].items() if key != name}}


def changed(reply: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"envelope": {**reply["envelope"], **members}}


@pytest.mark.parametrize(("verdict", "failed"), TAMPERINGS.values(), ids=TAMPERINGS)
def test_what_is_wrong_fails_its_own_check(verdict: Callable[[], Verdict], failed: list[str]) -> None:
    judged = verdict()
    assert failing(judged) == failed
    assert not judged.verified


def test_every_check_is_seen_to_fail() -> None:
    assert {name for _, failed in TAMPERINGS.values() for name in failed} == set(CHECKS)


def test_every_reason_is_one_of_its_own() -> None:
    reasons = {name: judged().reasons[failed[0]] for name, (judged, failed) in TAMPERINGS.items() if len(failed) == 1}
    by_check = {name: TAMPERINGS[name][1][0] for name in reasons}
    for name, reason in reasons.items():
        assert all(by_check[other] == by_check[name] for other, text in reasons.items() if text == reason)


@pytest.mark.parametrize(
    ("age", "holds"),
    [(FRESH_BEHIND, True), (FRESH_BEHIND + 0.01, False), (-FRESH_AHEAD, True), (-FRESH_AHEAD - 0.01, False)],
)
def test_the_window_is_exact(age: float, holds: bool) -> None:
    assert judge(reply_by(), now=NOW + age).checks["fresh"] is holds


def test_a_reply_to_a_signed_question_may_be_addressed_to_who_asked() -> None:
    request = request_envelope({"exchange": 2}, NOW, identity=OTHER)
    reply = reply_by(in_reply_to=request["id"], to=OTHER.id)
    assert judge(reply, request=request).verified


def test_an_agent_version_that_is_not_stated_matches_none_stated() -> None:
    data = json.dumps({"subject": {"id": OWNER.id}}).encode()
    unstated = {name: value for name, value in claims(data).items() if name != "agent_version"}
    for payload in (claims(data, agent_version=""), unstated):
        assert judge(reply_by(payload=payload), data).checks["agent_version"] is True


@pytest.mark.parametrize(
    ("exchange", "status", "holds"),
    [
        *((exchange, status, True) for exchange, statuses in STATUSES.items() if exchange != 2 for status in statuses),
        (1, "published", False),
        (3, "never-asked", False),
        (4, "admitted", False),
        (5, "stated", False),
        ("help", "refused", False),
        (6, "whatever", True),
        ("more", "whatever", True),
    ],
)
def test_another_exchange_has_statuses_of_its_own(exchange: int | str, status: str, holds: bool) -> None:
    request = request_envelope({"exchange": exchange}, NOW)
    reply = reply_by(payload={"status": status}, in_reply_to=request["id"])
    verdict = judge(reply, None, request=request)
    assert verdict.verified is holds
    assert ("envelope" in verdict.reasons) is not holds


# Text of a peer.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain text", "plain text"),
        ("Grüße, 日本! 🚀", "Grüße, 日本! 🚀"),
        ("a\x1b[31mred\x1b[0m", "a [31mred [0m"),
        ("two\r\nlines\u2028three\u0085four", "two lines three four"),
        ("\u202eright to left\u2066", "right to left"),
        ("a\0b\x7fc\x9bd", "a b c d"),
        ("half \ud800 pair", "half pair"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 200 + "…"),
        ("x" * 10_000_000, "x" * 200 + "…"),
        ("", ""),
    ],
)
def test_text_of_a_peer_is_shown_on_one_line_and_bounded(text: str, expected: str) -> None:
    assert shown(text) == expected


@settings(deadline=None)
@given(text=st.text())
def test_shown_text_moves_no_cursor(text: str) -> None:
    assert shown(text).isprintable()
    assert len(shown(text)) <= 201


def test_what_a_peer_states_is_fit_to_be_shown() -> None:
    data = document(agent_version="1.0\x1b]0;title\x07")
    verdict = judge(
        reply_by(data=data, payload=claims(data, status="\x1b[2Jx", agent_version="1.0\x1b]0;title\x07")), data
    )
    assert (verdict.status, verdict.agent_version) == ("[2Jx", "1.0 ]0;title")
    assert failing(verdict) == ["envelope"]
    assert verdict.reasons["envelope"].isprintable()


def test_a_verdict_does_not_print_the_bytes() -> None:
    assert "paperwork" not in repr(judge(reply_by()))


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"error": None},
        {"error": "text"},
        {"error": {"message": "m"}},
        {"error": {"code": "C"}},
        {"error": {"code": 1, "message": "m"}},
    ],
)
def test_what_is_no_error_body_is_none(body: dict[str, Any]) -> None:
    assert read_error(body) is None


# Any reply.


@settings(max_examples=100, deadline=None)
@given(
    reply=st.dictionaries(st.sampled_from(["envelope", "error", "descriptor"]), JSON_VALUES, max_size=3),
    data=st.none() | st.binary(max_size=20) | st.just(DATA),
)
def test_any_reply_is_judged(reply: dict[str, Any], data: bytes | None) -> None:
    assert not judge(reply, data).verified


MEMBERS = ["v", "id", "type", "ts", "from", "to", "in_reply_to", "payload", "sig", "x"]


@settings(max_examples=100, deadline=None)
@given(name=st.sampled_from(MEMBERS), value=JSON_VALUES)
def test_no_member_of_a_reply_can_be_changed_unnoticed(name: str, value: Any) -> None:
    reply = reply_by()
    if reply["envelope"].get(name, ...) == value:
        return
    verdict = judge(changed(reply, **{name: value}))
    assert not verdict.verified
    assert {"envelope", "reply_signature"} & set(verdict.reasons)


@settings(max_examples=50, deadline=None)
@given(
    subject=JSON_VALUES,
    signatures=JSON_VALUES
    | st.lists(st.fixed_dictionaries({"tag": st.just("descriptor-statement-v1"), "by": JSON_VALUES})),
)
def test_any_document_is_judged(subject: Any, signatures: Any) -> None:
    data = json.dumps({"subject": subject, "agent_version": "1.4.0", "signatures": signatures}).encode()
    verdict = judge(reply_by(payload=claims(data)), data)
    assert verdict.checks["digest"] is True
    assert verdict.checks["descriptor_signature"] is False
