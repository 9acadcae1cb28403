"""Publishing, exactly: what a draft gets, what is left alone, and what is refused. Verified with PyNaCl and rfc8785."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import nacl.bindings
import nacl.signing
import pytest
import rfc8785

from descriptor.checker import check
from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.keys import Identity, SealingKey
from descriptor.publishing import PublishError, Terms, bind, plan, rebadge
from tests.vectors import NKEYS, SEALED

NOW = 1_784_937_600.0
NOW_TEXT = "2026-07-25T00:00:00.000Z"
LATER = NOW + 86_400

IDENTITY = Identity.from_seed_text(NKEYS[0]["seed"])
OTHER = Identity.from_seed_text(NKEYS[1]["seed"])
SEALING_KEY = SealingKey.from_secret_text(SEALED["recipient_secret"])
SEALING_TEXT: str = SEALED["recipient_public"]
TERMS = Terms(IDENTITY, handle="reader.example", acts_for="person", sealing_key=SEALING_KEY)

DRAFT = b"""{
    "agent_version": "1.0",
    "format" : "agent-descriptor-v1",
    "x-note": "caf\\u00e9 \xc3\xa9",   "limits": {"requests_per_hour": 1e2},
    "does": "Reads contracts."
}
"""


def verified(data: bytes, *, by: str = NKEYS[0]["public"]) -> dict[str, Any]:
    """The document, once its statement has been verified by code that is not ours."""
    document = json.loads(data)
    (entry,) = [entry for entry in document["signatures"] if entry["tag"] == "descriptor-statement-v1"]
    key = nacl.signing.VerifyKey(base64.b32decode(by)[1:33])
    unsigned = {name: value for name, value in document.items() if name != "signatures"}
    key.verify(b"descriptor-statement-v1\n" + rfc8785.dumps(unsigned), base64.b64decode(entry["sig"], validate=True))
    assert entry["by"] == document["subject"]["id"] == by
    assert entry["alg"] == "ed25519"
    return document  # type: ignore[no-any-return]  # JSON


def claim_verified(document: dict[str, Any]) -> None:
    trust = document["trust"]
    lines = ["agentmesh-manifest-key-v1", trust["issued_at"], document["subject"]["id"], document["encryption_key"]]
    key = nacl.signing.VerifyKey(base64.b32decode(document["subject"]["id"])[1:33])
    key.verify("\n".join(lines).encode(), base64.urlsafe_b64decode(trust["signature"] + "=="))


def draft(**members: Any) -> bytes:
    return json.dumps(
        {"format": "agent-descriptor-v1", "agent_version": "1.0", "does": "Reads contracts.", **members}, indent=2
    ).encode()


def current(data: bytes, terms: Terms = TERMS, now: float = NOW) -> Descriptor:
    return plan(data, None, terms, now).descriptor


def code(refused: pytest.ExceptionInfo[DescriptorError]) -> str:
    return refused.value.code


# What a draft gets


def test_a_draft_gets_subject_acts_for_and_signature_and_keeps_its_text() -> None:
    bound = bind(DRAFT, TERMS, NOW)
    head = DRAFT.removesuffix(b"\n}\n")
    assert bound.startswith(
        head
        + b',\n    "subject": {"id": "UBMBH4BK6EIHQFVMHLSABFSQXB3JXUFZOXVZQTIERO33AD4HHAI3D7QP", '
        + b'"handle": "reader.example"},\n    "acts_for": "person",\n'
        + b'    "signatures": [{"tag": "descriptor-statement-v1", '
    )
    assert bound.endswith(b', "alg": "ed25519"}]\n}\n')
    assert bound.count(b"\n") == DRAFT.count(b"\n") + 3
    assert list(verified(bound)) == [*json.loads(DRAFT), "subject", "acts_for", "signatures"]
    assert check(bound).verdict == "clean"


def test_a_node_without_a_handle_states_none() -> None:
    assert verified(bind(DRAFT, replace(TERMS, handle=None), NOW))["subject"] == {"id": IDENTITY.id}


@pytest.mark.parametrize(
    ("acts_for", "organization_name", "added"),
    [
        ("organization", "Acme & Söhne", {"acts_for": "organization", "organization_name": "Acme & Söhne"}),
        ("organization", None, {"acts_for": "organization"}),
        ("person", "Acme", {"acts_for": "person"}),
        ("anyone", None, {"acts_for": "anyone"}),
    ],
)
def test_an_organization_is_named_only_where_the_agent_acts_for_it(
    acts_for: str, organization_name: str | None, added: dict[str, str]
) -> None:
    document = verified(bind(DRAFT, replace(TERMS, acts_for=acts_for, organization_name=organization_name), NOW))
    names = ("acts_for", "organization_name")
    assert {name: document[name] for name in names if name in document} == added


def test_a_draft_that_states_sealing_gets_the_key_and_its_claim() -> None:
    bound = bind(draft(sealing="required"), TERMS, NOW)
    document = verified(bound)
    claim_verified(document)
    assert document["encryption_key"] == SEALING_TEXT
    assert document["trust"]["issued_at"] == NOW_TEXT
    assert list(document)[-5:] == ["subject", "acts_for", "encryption_key", "trust", "signatures"]
    assert check(bound).verdict == "clean"


def test_a_draft_that_does_not_state_sealing_gets_no_key() -> None:
    assert {"encryption_key", "trust"}.isdisjoint(verified(bind(draft(), TERMS, NOW)))


def test_integers_no_double_holds_are_signed_as_their_doubles() -> None:
    document = json.loads(bind(draft(n=2**53 + 1), TERMS, NOW))
    unsigned = {name: value for name, value in document.items() if name != "signatures"}
    message = b"descriptor-statement-v1\n" + rfc8785.dumps({**unsigned, "n": float(2**53)})
    IDENTITY_KEY.verify(message, base64.b64decode(document["signatures"][0]["sig"]))


IDENTITY_KEY = nacl.signing.VerifyKey(IDENTITY.public)


# What is already bound


def test_a_signed_document_is_left_byte_for_byte() -> None:
    signed = json.dumps(json.loads(bind(draft(sealing="preferred"), TERMS, NOW)), indent=7).encode() + b"\n\n"
    verified(signed)
    assert bind(signed, TERMS, LATER) == signed
    assert plan(signed, None, TERMS, LATER).descriptor.data == signed


def test_a_signed_document_stands_whatever_the_terms_would_add() -> None:
    signed = bind(DRAFT, TERMS, NOW)
    assert bind(signed, replace(TERMS, acts_for="anyone", sealing_key=None), LATER) == signed


def test_an_unsigned_document_of_this_subject_is_completed_and_signed() -> None:
    unsigned = draft(subject={"id": IDENTITY.id, "handle": "reader.example"}, sealing="preferred")
    bound = bind(unsigned, TERMS, NOW)
    assert bound.startswith(unsigned.removesuffix(b"\n}"))
    document = verified(bound)
    claim_verified(document)
    assert list(document)[-6:] == ["subject", "sealing", "acts_for", "encryption_key", "trust", "signatures"]


def test_what_an_unsigned_document_states_is_kept() -> None:
    stated = {"acts_for": "organization", "organization_name": "Acme", "sealing": "preferred"}
    unsigned = draft(subject={"id": IDENTITY.id}, encryption_key=SEALING_TEXT, **stated)
    document = verified(bind(unsigned, replace(TERMS, organization_name="Other"), NOW))
    claim_verified(document)
    assert document == {**json.loads(unsigned), "trust": document["trust"], "signatures": document["signatures"]}


def test_signatures_with_other_tags_stay_beside_the_statement() -> None:
    other = {"tag": "vouched-v1", "by": OTHER.id, "sig": "…"}
    bound = bind(draft(subject={"id": IDENTITY.id}, signatures=[other]), TERMS, NOW)
    assert verified(bound)["signatures"][0] == other


# What is refused


@pytest.mark.parametrize(
    ("data", "terms", "expected", "pointer"),
    [
        (DRAFT, replace(TERMS, acts_for=None), "ACTS_FOR_NOT_STATED", "/acts_for"),
        (draft(sealing="required"), replace(TERMS, sealing_key=None), "SEALING_KEY_MISSING", "/sealing"),
        (draft(signatures=[{"tag": "descriptor-statement-v1"}]), TERMS, "DRAFT_SIGNED", "/signatures"),
        (draft(signatures=[]), TERMS, "DRAFT_SIGNED", "/signatures"),
        (draft(acts_for="person"), TERMS, "DRAFT_BOUND_MEMBER", "/acts_for"),
        (draft(organization_name="Acme"), TERMS, "DRAFT_BOUND_MEMBER", "/organization_name"),
        (draft(encryption_key=SEALING_TEXT), TERMS, "DRAFT_BOUND_MEMBER", "/encryption_key"),
        (draft(trust={}), TERMS, "DRAFT_BOUND_MEMBER", "/trust"),
        (draft(subject={"id": OTHER.id}), TERMS, "ANOTHER_SUBJECT", "/subject/id"),
        (bind(DRAFT, replace(TERMS, identity=OTHER), NOW), TERMS, "ANOTHER_SUBJECT", "/subject/id"),
        (bind(DRAFT, replace(TERMS, handle="other"), NOW), TERMS, "ANOTHER_HANDLE", "/subject/handle"),
        (bind(DRAFT, TERMS, NOW), replace(TERMS, handle=None), "ANOTHER_HANDLE", "/subject/handle"),
        (draft(subject={"id": IDENTITY.id, "handle": "other"}), TERMS, "ANOTHER_HANDLE", "/subject/handle"),
        (
            draft(subject={"id": IDENTITY.id}, sealing="required", encryption_key="A" * 43),
            TERMS,
            "ANOTHER_SEALING_KEY",
            "/encryption_key",
        ),
        (
            bind(DRAFT, TERMS, NOW).replace(b"Reads contracts.", b"Writes contracts."),
            TERMS,
            "SIGNATURE_FAILED",
            "/signatures/0/sig",
        ),
        (draft(subject={"id": IDENTITY.id}, signatures={}), TERMS, "SIGNATURE_FAILED", "/signatures"),
        (draft(subject="me"), TERMS, "FINDINGS", "/subject"),
        (draft(subject=None), TERMS, "FINDINGS", "/subject"),
        (draft(does="", offerings=[{"inputs": [{"kind": "pdf"}]}]), TERMS, "FINDINGS", "/does"),
        (draft(shape={}), TERMS, "FINDINGS", "/shape"),
        (draft(agent_version=3), TERMS, "FINDINGS", "/agent_version"),
        (b'{"does": "x"}', TERMS, "FINDINGS", "/format"),
    ],
)
def test_a_document_is_refused_with_a_code_a_place_and_what_to_do(
    data: bytes, terms: Terms, expected: str, pointer: str
) -> None:
    with pytest.raises(PublishError) as refused:
        plan(data, None, terms, NOW)
    assert (code(refused), refused.value.pointer) == (expected, pointer)
    assert len(refused.value.message) > 60
    assert (expected == "FINDINGS") == bool(refused.value.findings)


def test_findings_are_all_handed_over() -> None:
    offering = {"id": "i", "name": "n", "description": "d", "inputs": [{"name": "i", "kind": "pdf"}], "outputs": []}
    data = draft(does="", offerings=[offering], n=2**60)
    with pytest.raises(PublishError) as refused:
        plan(data, None, TERMS, NOW)
    assert [finding.rule for finding in refused.value.findings] == ["D6.2-does", "D6.3-kind", "D6.6-rounded-integer"]
    assert "1 more" in refused.value.message


def test_a_warning_does_not_keep_a_document_from_being_published() -> None:
    assert plan(draft(n=2**60), None, TERMS, NOW).changes


@pytest.mark.parametrize(
    ("data", "expected"), [(b"{", "NOT_JSON"), (b"[]", "NOT_AN_OBJECT"), (b'{"a":1,"a":1}', "DUPLICATE_MEMBER")]
)
def test_unreadable_bytes_are_refused_as_such(data: bytes, expected: str) -> None:
    with pytest.raises(DescriptorError) as refused:
        plan(data, None, TERMS, NOW)
    assert code(refused) == expected


def test_the_finished_document_keeps_to_the_size_limit() -> None:
    fits = draft(pad="x" * (2**20 - 900))
    assert len(plan(fits, None, TERMS, NOW).descriptor.data) <= 2**20
    with pytest.raises(DescriptorError) as refused:
        plan(draft(pad="x" * (2**20 - 300)), None, TERMS, NOW)
    assert code(refused) == "TOO_LARGE"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"acts_for": "me"}, "ACTS_FOR_UNKNOWN"),
        ({"acts_for": ""}, "ACTS_FOR_UNKNOWN"),
        ({"handle": " "}, "NAME_EMPTY"),
        ({"organization_name": ""}, "NAME_EMPTY"),
    ],
)
def test_terms_are_sound(changes: dict[str, Any], expected: str) -> None:
    with pytest.raises(PublishError) as refused:
        Terms(IDENTITY, **changes)
    assert code(refused) == expected


def test_a_name_that_is_no_unicode_is_refused() -> None:
    with pytest.raises(DescriptorError) as refused:
        bind(DRAFT, replace(TERMS, handle="a\udc80"), NOW)
    assert code(refused) == "LONE_SURROGATE"


def test_terms_show_no_secret() -> None:
    shown = repr(TERMS)
    assert IDENTITY.seed_text() not in shown
    assert SEALING_KEY.secret_text() not in shown


# The place in time


@pytest.mark.parametrize(
    "data", [DRAFT, draft(sealing="required"), draft(subject={"id": IDENTITY.id}, sealing="required")]
)
def test_the_same_file_again_changes_nothing(data: bytes) -> None:
    first = current(data)
    for again in (data, first.data):
        result = plan(again, first, TERMS, LATER)
        assert not result.changes
        assert result.descriptor == first


def test_other_content_with_sealing_gets_a_claim_of_its_own_time() -> None:
    first = current(draft(sealing="required"))
    second = plan(draft(sealing="preferred", agent_version="2.0"), first, TERMS, LATER).descriptor
    document = verified(second.data)
    claim_verified(document)
    assert document["trust"]["issued_at"] > NOW_TEXT


def test_the_same_file_with_another_sealing_key_is_another_document() -> None:
    first = current(draft(sealing="required"))
    with pytest.raises(PublishError) as refused:
        plan(draft(sealing="required"), first, replace(TERMS, sealing_key=SealingKey.generate()), NOW)
    assert code(refused) == "SAME_AGENT_VERSION"


def test_a_later_agent_version_is_published() -> None:
    first = current(draft(agent_version="1.9"))
    result = plan(draft(agent_version="1.10"), first, TERMS, NOW)
    assert result.changes
    assert verified(result.descriptor.data)["agent_version"] == "1.10"


@pytest.mark.parametrize(
    ("order", "old", "new"), [("natural", "1.0", "1.0"), ("natural", "1.0", "1.00"), ("semver", "1.0.0+a", "1.0.0+b")]
)
def test_other_content_under_the_same_agent_version_is_refused_unless_respelled(order: str, old: str, new: str) -> None:
    terms = replace(TERMS, version_order=order)
    first = current(draft(agent_version=old), terms)
    data = draft(agent_version=new, does="Reads contracts, and tenders.")
    with pytest.raises(PublishError) as refused:
        plan(data, first, terms, NOW)
    assert code(refused) == "SAME_AGENT_VERSION"
    assert "--respell" in refused.value.message
    result = plan(data, first, terms, NOW, respell=True)
    assert result.changes
    assert result.descriptor.digest != first.digest


@pytest.mark.parametrize("respell", [False, True])
@pytest.mark.parametrize(
    ("order", "old", "new"),
    [("natural", "1.10", "1.9"), ("semver", "1.0.0", "1.0.0-rc.1"), ("pep440", "1.0", "1.0rc1")],
)
def test_an_older_agent_version_is_refused(order: str, old: str, new: str, respell: bool) -> None:
    terms = replace(TERMS, version_order=order)
    first = current(draft(agent_version=old), terms)
    with pytest.raises(PublishError) as refused:
        plan(draft(agent_version=new), first, terms, NOW, respell)
    assert code(refused) == "OLDER_AGENT_VERSION"
    assert "agent-node rollback" in refused.value.message


def test_an_agent_version_that_does_not_fit_the_order_is_refused_from_the_first() -> None:
    with pytest.raises(DescriptorError) as refused:
        plan(draft(agent_version="1.0"), None, replace(TERMS, version_order="semver"), NOW)
    assert code(refused) == "VERSION_UNREADABLE"


def test_a_current_agent_version_that_does_not_fit_the_order_is_named() -> None:
    first = current(draft(agent_version="spring"))
    with pytest.raises(PublishError) as refused:
        plan(draft(agent_version="2.0.0"), first, replace(TERMS, version_order="semver"), NOW)
    assert code(refused) == "VERSION_UNREADABLE"
    assert "current agent_version 'spring'" in refused.value.message
    assert plan(draft(agent_version="spring", x=1), first, replace(TERMS, version_order="semver"), NOW, True).changes


def test_the_subject_that_is_published_does_not_change() -> None:
    first = current(DRAFT)
    newer = draft(agent_version="2.0")
    for terms, expected in (
        (replace(TERMS, identity=OTHER), "ANOTHER_SUBJECT"),
        (replace(TERMS, handle="other.example"), "ANOTHER_HANDLE"),
        (replace(TERMS, handle=None), "ANOTHER_HANDLE"),
    ):
        with pytest.raises(PublishError) as refused:
            plan(newer, first, terms, NOW)
        assert code(refused) == expected


def test_a_handle_that_was_not_stated_may_be() -> None:
    first = current(DRAFT, replace(TERMS, handle=None))
    assert plan(draft(agent_version="2.0"), first, TERMS, NOW).descriptor.handle == "reader.example"


# Rollback: old content under a new agent_version


def test_old_content_gets_a_new_agent_version_and_a_new_statement() -> None:
    old = bind(DRAFT, TERMS, NOW)
    back = rebadge(old, "3.0", TERMS, LATER)
    assert verified(back)["agent_version"] == "3.0"
    sig = [json.loads(data)["signatures"][0]["sig"].encode() for data in (old, back)]
    assert back == old.replace(b'"agent_version": "1.0"', b'"agent_version": "3.0"').replace(*sig)
    result = plan(back, current(draft(agent_version="2.0")), TERMS, LATER)
    assert result.changes
    assert result.descriptor.data == back


def test_a_key_claim_that_still_holds_is_kept() -> None:
    old = bind(draft(sealing="required"), TERMS, NOW)
    document = verified(rebadge(old, "3.0", TERMS, LATER))
    assert document["trust"] == json.loads(old)["trust"]
    claim_verified(document)


def test_a_sealing_key_the_node_no_longer_has_is_replaced() -> None:
    old = bind(draft(sealing="required"), TERMS, NOW)
    new_key = SealingKey.generate()
    document = verified(rebadge(old, "3.0", replace(TERMS, sealing_key=new_key), LATER))
    assert document["encryption_key"] == new_key.public_text
    claim_verified(document)


def test_signatures_over_the_old_agent_version_go() -> None:
    other = {"tag": "vouched-v1", "by": OTHER.id, "sig": "…"}
    old = bind(draft(subject={"id": IDENTITY.id}, signatures=[other]), TERMS, NOW)
    assert len(verified(rebadge(old, "3.0", TERMS, NOW))["signatures"]) == 1


@pytest.mark.parametrize(
    ("data", "version", "expected"),
    [
        (bind(DRAFT, replace(TERMS, identity=OTHER), NOW), "2.0", "ANOTHER_SUBJECT"),
        (b'{"does": "x"}', "2.0", "MEMBER_ABSENT"),
        (bind(DRAFT, TERMS, NOW), "\udc80", "LONE_SURROGATE"),
    ],
)
def test_what_cannot_be_rolled_back_to_is_refused(data: bytes, version: str, expected: str) -> None:
    with pytest.raises(DescriptorError) as refused:
        rebadge(data, version, TERMS, NOW)
    assert code(refused) == expected
