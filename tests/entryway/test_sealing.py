"""What is sealed opens with one key, unchanged or not at all; what is declared decides who seals, and to what."""

from __future__ import annotations

import json
from typing import Any

import nacl.public
import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptor.encoding import b64url_decode, b64url_encode
from descriptor.errors import DescriptorError
from descriptor.keys import Identity, SealingKey
from descriptor.signatures import Signature, sign_key_claim, verify_key_claim
from descriptor.strictjson import JsonValue
from entryway.errors import EntrywayError
from entryway.sealing import (
    Way,
    check_reply_key,
    decide,
    declared_key,
    is_sealed,
    required_and_clear,
    seal,
    unseal,
)
from tests.vectors import KEY_CLAIM, SEALED

KEY = SealingKey(b64url_decode(SEALED["recipient_secret"]))
OTHER = SealingKey(bytes(range(32)))
SIGNER = Identity(bytes(range(32)))
DOCUMENT: dict[str, Any] = {
    "subject": {"id": KEY_CLAIM["id"]},
    "encryption_key": KEY_CLAIM["encryption_key"],
    "trust": {"issued_at": KEY_CLAIM["issued_at"], "signature": KEY_CLAIM["signature"]},
}
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=15,
)


def test_the_family_s_sealed_payload_opens() -> None:
    opened = unseal(SEALED["sealed"], KEY)
    assert opened.value == SEALED["expect_payload"]
    assert opened.reply_key == SEALED["sealed"]["reply_key"]


@given(VALUES)
def test_what_is_sealed_opens_to_the_same_value(value: JsonValue) -> None:
    assert unseal(seal(value, KEY.public_text), KEY).value == value


def test_other_code_opens_what_is_sealed_here_and_the_other_way() -> None:
    sealed = seal({"text": "Grüße"}, KEY.public_text)
    sender = nacl.public.PublicKey(b64url_decode(str(sealed["epk"])))
    box = nacl.public.Box(nacl.public.PrivateKey(KEY.secret), sender)
    assert json.loads(box.decrypt(b64url_decode(str(sealed["ct"])), b64url_decode(str(sealed["nonce"])))) == {
        "text": "Grüße"
    }
    once = nacl.public.PrivateKey.generate()
    theirs = nacl.public.Box(once, nacl.public.PrivateKey(KEY.secret).public_key).encrypt(b'{"n":1}')
    again: JsonValue = {
        "v": "sealedpayload.v1",
        "epk": b64url_encode(bytes(once.public_key)),
        "nonce": b64url_encode(theirs.nonce),
        "ct": b64url_encode(theirs.ciphertext),
    }
    assert unseal(again, KEY).value == {"n": 1}


def test_nothing_is_sealed_twice_alike() -> None:
    first, second = seal("x", KEY.public_text), seal("x", KEY.public_text)
    assert not {first["epk"], first["nonce"], first["ct"]} & {second["epk"], second["nonce"], second["ct"]}


def changed(**members: Any) -> dict[str, Any]:
    sealed = {**SEALED["sealed"], **members}
    return {name: value for name, value in sealed.items() if value is not ...}


BROKEN = [
    *({name: value} for name in ("v", "epk", "nonce", "ct") for value in (..., None, 7, "", "!", "AAAA")),
    {"v": "sealedpayload.v2"},
    {"epk": b64url_encode(bytes(32))},  # a point of low order: every secret makes the same of it
    {"ct": SEALED["sealed"]["ct"][:-4] + "AAAA"},
    {"nonce": b64url_encode(bytes(24))},
    {"epk": OTHER.public_text},
    {"reply_key": "short"},
    {"reply_key": 7},
]


@pytest.mark.parametrize("members", BROKEN, ids=str)
def test_what_was_changed_on_its_way_does_not_open(members: dict[str, Any]) -> None:
    with pytest.raises(EntrywayError) as raised:
        unseal(changed(**members), KEY)
    assert raised.value.code == "UNSEALING_FAILED"


@pytest.mark.parametrize("value", [None, [], "sealedpayload.v1", 1, {}])
def test_what_is_not_sealed_does_not_open(value: JsonValue) -> None:
    assert not is_sealed(value)
    with pytest.raises(EntrywayError):
        unseal(value, KEY)


def test_another_key_does_not_open_it() -> None:
    with pytest.raises(EntrywayError) as raised:
        unseal(SEALED["sealed"], OTHER)
    assert raised.value.code == "UNSEALING_FAILED"


@pytest.mark.parametrize("contents", [b"", b"{", b'{"a":1,"a":2}', b"NaN", b"\xff"])
def test_contents_that_are_no_json_do_not_open(contents: bytes) -> None:
    once = nacl.public.PrivateKey.generate()
    box = nacl.public.Box(once, nacl.public.PublicKey(b64url_decode(KEY.public_text))).encrypt(contents)
    sealed: dict[str, JsonValue] = {
        "v": "sealedpayload.v1",
        "epk": b64url_encode(bytes(once.public_key)),
        "nonce": b64url_encode(box.nonce),
        "ct": b64url_encode(box.ciphertext),
    }
    with pytest.raises(EntrywayError):
        unseal(sealed, KEY)


@pytest.mark.parametrize(("key", "code"), [("short", "BAD_BASE64"), (b64url_encode(bytes(32)), "BAD_KEY")])
def test_nothing_is_sealed_to_what_is_no_key(key: str, code: str) -> None:
    with pytest.raises(DescriptorError) as raised:
        seal("x", key)
    assert raised.value.code == code


@pytest.mark.parametrize(
    ("members", "way"),
    [
        ({"sealing": "required"}, Way.SEALED),
        ({"sealing": "preferred"}, Way.SEALED),
        ({}, Way.CLEAR),
        ({"sealing": "sometimes"}, Way.CLEAR),
        ({"sealing": ["required"]}, Way.CLEAR),
        ({"sealing": "required", "trust": ...}, Way.NOT_AT_ALL),
        ({"sealing": "preferred", "trust": ...}, Way.CLEAR),
        ({"sealing": "required", "encryption_key": ...}, Way.NOT_AT_ALL),
        ({"sealing": "required", "encryption_key": OTHER.public_text}, Way.NOT_AT_ALL),
        ({"sealing": "preferred", "encryption_key": OTHER.public_text}, Way.CLEAR),
    ],
    ids=str,
)
def test_a_sender_seals_when_the_posture_asks_and_the_key_is_claimed(members: dict[str, Any], way: Way) -> None:
    document = {name: value for name, value in {**DOCUMENT, **members}.items() if value is not ...}
    decision = decide(document)
    assert decision.way is way
    assert decision.key == (KEY_CLAIM["encryption_key"] if way is Way.SEALED else None)
    assert decision.reason.endswith(".")


@pytest.mark.parametrize(
    ("posture", "given", "refused"),
    [
        ("required", {"text": "x"}, True),
        ("required", None, True),
        ("required", SEALED["sealed"], False),
        ("preferred", {"text": "x"}, False),
        (None, {"text": "x"}, False),
    ],
)
def test_a_clear_request_is_refused_where_sealing_is_required(
    posture: JsonValue, given: JsonValue, refused: bool
) -> None:
    refusal = required_and_clear(posture, given)
    assert (refusal is not None and refusal.code == "SEALING_REQUIRED") == refused


@pytest.mark.parametrize("posture", ["required", "preferred"])
@pytest.mark.parametrize("key", ["A" * 43, "AQ" + "A" * 41], ids=["zero", "a point of low order"])
def test_a_key_to_which_nothing_can_be_sealed_is_none_although_its_claim_verifies(posture: str, key: str) -> None:
    document: dict[str, Any] = {"subject": {"id": SIGNER.id}, "sealing": posture, "encryption_key": key}
    document["trust"] = sign_key_claim(SIGNER, key, "2026-09-01T00:00:00.000Z")
    assert verify_key_claim(document).state is Signature.VERIFIED
    assert declared_key(document) is None
    assert decide(document).way is (Way.NOT_AT_ALL if posture == "required" else Way.CLEAR)


@pytest.mark.parametrize("value", [float("inf"), "\ud800", {1: 2}.keys()])
def test_what_json_cannot_say_is_not_sealed(value: Any) -> None:
    with pytest.raises(DescriptorError) as caught:
        seal(value, KEY.public_text)
    assert caught.value.code == "NOT_CANONICAL"


def test_an_answer_is_sealed_to_the_sender_s_declared_key_or_to_none() -> None:
    assert declared_key(DOCUMENT) == KEY_CLAIM["encryption_key"]
    check_reply_key(KEY_CLAIM["encryption_key"], DOCUMENT)
    for sender in (None, {}, {**DOCUMENT, "trust": {}}, {**DOCUMENT, "encryption_key": OTHER.public_text}):
        with pytest.raises(EntrywayError) as raised:
            check_reply_key(KEY_CLAIM["encryption_key"], sender)
        assert raised.value.code == "INPUT_INVALID"
    with pytest.raises(EntrywayError):
        check_reply_key(OTHER.public_text, DOCUMENT)
