"""Envelopes: what is well formed, what is signed, and that a reply's template is its canonical form."""

from __future__ import annotations

import json
import re
from typing import Any

import msgpack
import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st
from nacl.signing import VerifyKey

from descriptor.encoding import b64url_decode
from descriptor.keys import Identity, decode_public
from descriptor.timestamps import format_timestamp
from entryway.envelope import (
    ENVELOPE_TAG,
    PROTOCOL_VERSION,
    UUID,
    new_uuid,
    read_envelope,
    request_envelope,
    sign_envelope,
)
from entryway.errors import EntrywayError
from entryway.protections import Inbound
from entryway.reply import Beside, ReplyPayload, sign_reply
from tests.entryway.parts import NOW, OTHER, OWNER
from tests.entryway.test_codec import JSON_VALUES, TEXT
from tests.vectors import ENVELOPE

ID = "01927d5e-8a3b-7c12-9f00-0a1b2c3d4e5f"
PAYLOADS = st.dictionaries(TEXT, JSON_VALUES, max_size=3)
IDENTITIES = st.sampled_from([OWNER, OTHER])


def without_sig(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if name != "sig"}


def doubles(value: Any) -> Any:
    """The value with every number as rfc8785 alone takes it: integers outside ±2^53 as doubles (binding 2)."""
    if isinstance(value, dict):
        return {name: doubles(member) for name, member in value.items()}
    if isinstance(value, list):
        return [doubles(item) for item in value]
    if isinstance(value, int) and abs(value) >= 2**53:
        return float(value)
    return value


def verified_by_nacl(identity: Identity, members: dict[str, Any]) -> None:
    """Checks the signature with nothing of ours but the key's text form."""
    signed = b"agentmesh-envelope-v1\n" + rfc8785.dumps(doubles(without_sig(members)))
    VerifyKey(decode_public(identity.id)).verify(signed, b64url_decode(members["sig"], 64))


@settings(max_examples=100, deadline=None)
@given(
    payload=PAYLOADS,
    request_id=st.uuids().map(str) | st.uuids().map(lambda one: str(one).upper()),
    to=st.none() | IDENTITIES.map(lambda one: one.id),
    now=st.floats(min_value=0, max_value=4e9),
    identity=IDENTITIES,
)
def test_the_templates_of_a_reply_are_its_canonical_form_and_its_msgpack_form(
    payload: dict[str, Any], request_id: str, to: str | None, now: float, identity: Identity
) -> None:
    reply = sign_reply(identity, ReplyPayload.of(doubles(payload)), request_id, to, now)
    assert reply.text.encode() == rfc8785.dumps(without_sig(reply.members))
    verified_by_nacl(identity, reply.members)
    assert {
        name: doubles(value) for name, value in json.loads(reply.json(alone=True))["envelope"].items()
    } == reply.members
    assert msgpack.unpackb(reply.msgpack(alone=True)) == {"envelope": reply.members}
    beside = Beside.of(b"\x00\xff")
    assert msgpack.unpackb(reply.msgpack(alone=False) + beside.packed) == {
        "envelope": reply.members,
        "descriptor": b"\x00\xff",
    }
    assert json.loads(reply.json(alone=False) + beside.json)["descriptor"] == "AP8"


def test_a_reply_has_the_members_of_the_binding() -> None:
    reply = sign_reply(OWNER, ReplyPayload.of({"status": "none-published"}), ID, OTHER.id, NOW)
    members = dict(reply.members)
    assert UUID.fullmatch(members.pop("id"))  # type: ignore[arg-type]  # fullmatch takes text, and None is no match
    assert len(b64url_decode(str(members.pop("sig")))) == 64
    assert members == {
        "v": "0.3.0",
        "type": "respond",
        "ts": format_timestamp(NOW),
        "from": OWNER.id,
        "to": OTHER.id,
        "in_reply_to": ID,
        "payload": {"status": "none-published"},
    }
    assert "to" not in sign_reply(OWNER, ReplyPayload.of({}), ID, None, NOW).members


def test_the_vector_of_the_family_verifies() -> None:
    members = {**ENVELOPE["envelope"], "sig": ENVELOPE["sig"]}
    envelope = read_envelope(members)
    assert envelope.sender == ENVELOPE["envelope"]["from"]
    verified_by_nacl(Identity.from_seed_text(ENVELOPE["seed"]), members)
    assert Inbound(ENVELOPE["envelope"]["to"]).judge(envelope, envelope.ts, signed=True) == envelope.sender


def test_the_vector_of_the_family_is_signed_to_the_byte() -> None:
    signed = sign_envelope(Identity.from_seed_text(ENVELOPE["seed"]), ENVELOPE["envelope"])
    assert signed["sig"] == ENVELOPE["sig"]


@settings(max_examples=30, deadline=None)
@given(payload=PAYLOADS, to=st.none() | st.just(OWNER.id))
def test_a_signed_request_verifies_without_our_code(payload: dict[str, Any], to: str | None) -> None:
    members = request_envelope(payload, NOW, to=to, identity=OTHER)
    verified_by_nacl(OTHER, members)
    assert members["from"] == OTHER.id
    assert members.get("to") == to


def test_an_unsigned_request_says_nothing_about_who_asks() -> None:
    assert set(request_envelope({"exchange": 2}, NOW)) == {"v", "id", "type", "ts", "payload"}


def test_every_id_is_new_and_a_uuid_of_version_4() -> None:
    ids = {new_uuid() for _ in range(1_000)}
    assert len(ids) == 1_000
    version_4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
    assert all(version_4.fullmatch(one) for one in ids)


WELL_FORMED: dict[str, Any] = {
    "v": PROTOCOL_VERSION,
    "id": ID,
    "type": "request",
    "ts": "2026-09-27T12:00:00.000Z",
    "payload": {"exchange": 2},
}

TAKEN: dict[str, dict[str, Any]] = {
    "the least": {},
    "members unknown here": {"trace": {"a": [1, None]}, "": 0},
    "from": {"from": OTHER.id},
    "from and to null": {"from": None, "to": None, "sig": None},
    "to anything": {"to": "whoever"},
    "a UUID in capitals": {"id": ID.upper()},
    "a time with an offset": {"ts": "2026-09-27T14:00:00+02:00"},
    "an empty payload": {"payload": {}},
}


@pytest.mark.parametrize("members", TAKEN.values(), ids=TAKEN)
def test_a_well_formed_envelope_is_taken_with_all_its_members(members: dict[str, Any]) -> None:
    envelope = read_envelope({**WELL_FORMED, **members})
    assert envelope.members == {**WELL_FORMED, **members}
    assert envelope.ts == 1_790_510_400.0
    assert envelope.signature is None


REFUSED: dict[str, dict[str, Any]] = {
    "another version": {"v": "0.4.0"},
    "a version that is no text": {"v": 0.3},
    "another type": {"type": "respond"},
    "an id that is no UUID": {"id": "1"},
    "an id with a line break": {"id": ID + "\n"},
    "an id in braces": {"id": "{" + ID + "}"},
    "an id with a quote": {"id": ID[:-1] + '"'},
    "an id with digits of another script": {"id": ID.replace("0", "\u0660")},
    "an id that is a number": {"id": 1},
    "a time that is none": {"ts": "yesterday"},
    "a time that is a number": {"ts": 1_790_510_400},
    "a payload that is a list": {"payload": []},
    "a payload that is null": {"payload": None},
    "a from that is no key": {"from": "U" + "A" * 55},
    "a from that is a number": {"from": 1},
    "a to that is a number": {"to": 1},
    "a sig that is a number": {"sig": 1},
    "a sig with padding": {"sig": "A" * 86 + "=="},
    "a sig of 63 bytes": {"sig": "A" * 84},
    "a sig in standard base64": {"sig": "+" + "A" * 85},
    "an empty sig": {"sig": ""},
}


@pytest.mark.parametrize("members", REFUSED.values(), ids=REFUSED)
def test_a_malformed_envelope_is_refused(members: dict[str, Any]) -> None:
    with pytest.raises(EntrywayError) as caught:
        read_envelope({**WELL_FORMED, **members})
    assert caught.value.code == "INVALID_ENVELOPE"


@pytest.mark.parametrize("missing", WELL_FORMED)
def test_an_envelope_without_one_of_its_members_is_refused(missing: str) -> None:
    with pytest.raises(EntrywayError):
        read_envelope({name: value for name, value in WELL_FORMED.items() if name != missing})


@settings(deadline=None)
@given(name=st.sampled_from([*WELL_FORMED, "from", "to", "sig"]), value=JSON_VALUES)
def test_any_member_of_any_value_is_taken_or_refused(name: str, value: Any) -> None:
    try:
        assert read_envelope({**WELL_FORMED, name: value}).members[name] == value
    except EntrywayError as error:
        assert error.code == "INVALID_ENVELOPE"


@settings(deadline=None)
@given(value=JSON_VALUES)
def test_any_other_value_is_refused(value: Any) -> None:
    with pytest.raises(EntrywayError):
        read_envelope(value)


def test_every_refusal_of_an_envelope_looks_the_same() -> None:
    seen = set()
    for members in REFUSED.values():
        with pytest.raises(EntrywayError) as caught:
            read_envelope({**WELL_FORMED, **members})
        seen.add(repr(caught.value.body()))
    assert len(seen) == 1


def test_the_tag_is_the_one_of_the_binding() -> None:
    assert ENVELOPE_TAG == b"agentmesh-envelope-v1\n"
