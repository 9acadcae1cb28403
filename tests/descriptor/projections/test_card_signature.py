"""The signature of a card: by which key, over which bytes, and everything that is not one."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st
from nacl.signing import SigningKey, VerifyKey

from descriptor.encoding import b64url_encode
from descriptor.keys import Identity
from descriptor.projections.card import card_of
from descriptor.projections.card_signature import canonical_card, sign_card, verify_card
from descriptor.signatures import Signature
from tests.descriptor.projections.cases import DOCUMENTS, SERVING, descriptor
from tests.descriptor.rules.cases import ID, OTHER_ID, SEED, SIGNER
from tests.vectors import NKEYS

CARD: dict[str, Any] = card_of(descriptor(DOCUMENTS["whole"]), SERVING).members
SIGNED: dict[str, Any] = sign_card(CARD, Identity.from_seed_text(SEED))
OTHER = Identity.from_seed_text(NKEYS[1]["seed"])


def entry(header: Any, key: SigningKey = SIGNER, card: dict[str, Any] = CARD) -> dict[str, str]:
    """An entry made without our code."""
    protected = base64.urlsafe_b64encode(json.dumps(header).encode()).rstrip(b"=")
    payload = base64.urlsafe_b64encode(rfc8785.dumps(card)).rstrip(b"=")
    signature = base64.urlsafe_b64encode(key.sign(protected + b"." + payload).signature).rstrip(b"=")
    return {"protected": protected.decode(), "signature": signature.decode()}


def state(*entries: Any) -> Signature:
    return verify_card({**CARD, "signatures": [*entries]}, ID).state


def test_it_verifies_with_a_key_taken_from_the_kid_alone() -> None:
    (signature,) = SIGNED["signatures"]
    header = json.loads(base64.urlsafe_b64decode(signature["protected"] + "=="))
    assert header == {"alg": "EdDSA", "kid": ID, "typ": "JOSE"}
    payload = base64.urlsafe_b64encode(rfc8785.dumps(CARD)).rstrip(b"=")
    VerifyKey(base64.b32decode(header["kid"])[1:33]).verify(
        signature["protected"].encode() + b"." + payload,
        base64.urlsafe_b64decode(signature["signature"] + "=="),
    )


def test_a_signed_card_verifies_for_its_agent_and_is_unsigned_for_another() -> None:
    report = verify_card(SIGNED, ID)
    assert (report.state, report.pointer) == (Signature.VERIFIED, "/signatures/0")
    assert verify_card(SIGNED, OTHER_ID).state is Signature.UNSIGNED
    assert verify_card(CARD, ID).state is Signature.UNSIGNED


def test_signing_again_replaces_the_signature() -> None:
    again = sign_card(SIGNED, OTHER)
    assert verify_card(again, ID).state is Signature.UNSIGNED
    assert verify_card(again, OTHER.id).state is Signature.VERIFIED


HEADER = {"alg": "EdDSA", "kid": ID, "typ": "JOSE"}


def test_another_implementations_entry_verifies() -> None:
    assert state(entry(HEADER)) is Signature.VERIFIED
    assert state(entry({"kid": ID, "alg": "EdDSA", "x": 1})) is Signature.VERIFIED


def test_entries_by_other_keys_are_no_failure() -> None:
    other = entry({**HEADER, "kid": "key-1"})
    assert state(other) is Signature.UNSIGNED
    assert state(other, entry(HEADER)) is Signature.VERIFIED
    assert state(entry(HEADER), other) is Signature.VERIFIED


@pytest.mark.parametrize(
    "bad",
    [
        entry(HEADER, SigningKey(b"7" * 32)),
        entry({**HEADER, "alg": "none"}),
        entry({**HEADER, "alg": "HS256"}),
        entry({**HEADER, "crit": ["b64"], "b64": False}),
        entry(HEADER, card={**CARD, "name": "another"}),
        entry([]),
        {**entry(HEADER), "signature": ""},
        {**entry(HEADER), "signature": entry(HEADER)["signature"] + "="},
        {**entry(HEADER), "protected": "e"},
        {**entry(HEADER), "protected": b64url_encode(b'{"kid":1,"kid":2}')},
        {"protected": entry(HEADER)["protected"]},
        {"protected": 7, "signature": 7},
        "a signature",
        None,
    ],
    ids=str,
)
def test_an_entry_that_does_not_hold_is_a_failure_wherever_it_stands(bad: Any) -> None:
    for entries in ([bad], [bad, entry(HEADER)], [entry(HEADER), bad]):
        report = verify_card({**CARD, "signatures": entries}, ID)
        assert (report.state, report.pointer) == (Signature.FAILED, f"/signatures/{entries.index(bad)}")
        assert report.reason


@pytest.mark.parametrize("signatures", [{}, "x", 7, None, [entry(HEADER)] * 17], ids=["{}", "x", "7", "None", "17"])
def test_signatures_that_are_no_list_or_too_many_are_a_failure(signatures: Any) -> None:
    assert verify_card({**CARD, "signatures": signatures}, ID).state is Signature.FAILED


def test_every_change_of_a_value_breaks_the_signature() -> None:
    for name in CARD:
        assert verify_card({**SIGNED, name: "changed"}, ID).state is Signature.FAILED
        assert verify_card({one: value for one, value in SIGNED.items() if one != name}, ID).state is Signature.FAILED
    assert verify_card({**SIGNED, "iconUrl": "http://a"}, ID).state is Signature.FAILED


@pytest.mark.parametrize(
    ("written", "signed"),
    [
        ({"a": "", "b": [], "c": {}, "d": None, "e": 0, "f": False}, {"e": 0, "f": False}),
        ({"a": {"b": [{"c": ""}]}, "d": 1}, {"d": 1}),
        ({"a": [1, "", [], 2]}, {"a": [1, 2]}),
        ({"signatures": [1], "a": 1}, {"a": 1}),
        ({"a": {"signatures": [1]}}, {"a": {"signatures": [1]}}),
        ({"a": [{"uri": "x", "required": False}]}, {"a": [{"uri": "x"}]}),
        ({"a": [{"uri": "x", "required": True}]}, {"a": [{"uri": "x", "required": True}]}),
        ({"a": {"required": False}}, {"a": {"required": False}}),
        ({}, {}),
    ],
)
def test_what_is_empty_is_not_signed(written: dict[str, Any], signed: dict[str, Any]) -> None:
    assert canonical_card(written) == rfc8785.dumps(signed)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.dictionaries(st.sampled_from(["name", "skills", "signatures", "x"]), JSON), JSON)
def test_nothing_that_is_read_raises(card: dict[str, Any], signature: Any) -> None:
    assert verify_card(card, ID).state is not Signature.VERIFIED
    assert verify_card({**card, "signatures": [entry(HEADER), signature]}, ID).state is Signature.FAILED


def test_an_agent_id_that_is_none_verifies_nothing() -> None:
    card = {**CARD, "signatures": [entry({**HEADER, "kid": "U"})]}
    assert verify_card(card, "U").state is Signature.FAILED
    assert verify_card(card, "").state is Signature.UNSIGNED
