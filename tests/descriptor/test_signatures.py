"""A signature that is there and does not hold is failed, never absent."""

import base64
from typing import Any

import nacl.signing
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

import descriptor.signatures
from descriptor.encoding import b64url_encode
from descriptor.errors import DescriptorError
from descriptor.keys import Identity, SealingKey
from descriptor.signatures import (
    STATEMENT_TAG,
    Signature,
    SignatureReport,
    key_claim_bytes,
    sign_key_claim,
    sign_statement,
    statement_bytes,
    verify_key_claim,
    verify_statement,
)
from tests.vectors import KEY_CLAIM, NKEYS

AGENT = Identity.from_seed_text(NKEYS[0]["seed"])
STRANGER = Identity.from_seed_text(NKEYS[1]["seed"])
OTHER_TAG = {"tag": "someone-elses-statement-v1", "by": STRANGER.id, "sig": "AAAA"}


def unsigned() -> dict[str, Any]:
    return {
        "format": "agent-descriptor",
        "subject": {"id": AGENT.id, "handle": "reports.example"},
        "agent_version": "1.0",
        "limits": {"requests_per_hour": 10.0, "large": 2**53 + 1, "é": "😀"},
    }


def signed(*more: Any) -> dict[str, Any]:
    document = unsigned()
    return document | {"signatures": [sign_statement(document, AGENT), *more]}


def entry(**changes: Any) -> dict[str, Any]:
    """A statement that holds, with members changed; `None` takes a member out."""
    changed = sign_statement(unsigned(), AGENT) | changes
    return {name: value for name, value in changed.items() if value is not None}


def test_what_is_signed_is_the_tag_a_newline_and_the_canonical_form_without_signatures() -> None:
    document = unsigned()
    document["limits"]["large"] = float(2**53 + 1)
    assert statement_bytes(signed()) == b"descriptor-statement-v1\n" + rfc8785.dumps(document)


def test_the_entry_is_the_one_of_the_binding() -> None:
    made = sign_statement(unsigned(), AGENT)
    assert list(made) == ["tag", "by", "sig", "alg"]
    assert (made["tag"], made["by"], made["alg"]) == ("descriptor-statement-v1", AGENT.id, "ed25519")
    assert len(base64.b64decode(made["sig"], validate=True)) == 64


def test_a_statement_verifies_without_this_package() -> None:
    document = signed()
    [made] = document.pop("signatures")
    document["limits"]["large"] = float(document["limits"]["large"])
    key = nacl.signing.VerifyKey(base64.b32decode(document["subject"]["id"])[1:33])
    key.verify(b"descriptor-statement-v1\n" + rfc8785.dumps(document), base64.b64decode(made["sig"]))


def test_a_statement_signed_without_this_package_verifies() -> None:
    document = unsigned()
    document["limits"].pop("large")
    seed = base64.b32decode(NKEYS[0]["seed"] + "======")[2:34]
    message = b"descriptor-statement-v1\n" + rfc8785.dumps(document)
    sig = base64.b64encode(nacl.signing.SigningKey(seed).sign(message).signature).decode()
    document["signatures"] = [{"tag": "descriptor-statement-v1", "by": AGENT.id, "sig": sig}]
    assert verify_statement(document).state is Signature.VERIFIED


SIG = sign_statement(unsigned(), AGENT)["sig"]
VERIFIED: list[tuple[str, list[Any], str]] = [
    ("as it is written", [entry()], "/signatures/0"),
    ("alg left out", [entry(alg=None)], "/signatures/0"),
    ("sig unpadded", [entry(sig=SIG.rstrip("="))], "/signatures/0"),
    ("sig in base64url", [entry(sig=SIG.replace("+", "-").replace("/", "_"))], "/signatures/0"),
    ("sig in base64url, unpadded", [entry(sig=SIG.translate(str.maketrans("+/", "-_", "=")))], "/signatures/0"),
    ("an unknown tag before it", [OTHER_TAG, entry()], "/signatures/1"),
    ("an unknown tag after it", [entry(), OTHER_TAG], "/signatures/0"),
    ("an unknown tag with nothing else", [{"tag": "x"}, entry()], "/signatures/1"),
    ("stated twice", [entry(), entry()], "/signatures/0"),
    ("members nobody knows", [entry(note="kept")], "/signatures/0"),
]


@pytest.mark.parametrize(("what", "signatures", "pointer"), VERIFIED)
def test_a_statement_that_holds_is_verified(what: str, signatures: list[Any], pointer: str) -> None:
    report = verify_statement(unsigned() | {"signatures": signatures})
    assert report == SignatureReport(Signature.VERIFIED, None, pointer)


UNSIGNED: list[tuple[str, dict[str, Any]]] = [
    ("no signatures", {}),
    ("none in the list", {"signatures": []}),
    ("only unknown tags", {"signatures": [OTHER_TAG, OTHER_TAG]}),
]


@pytest.mark.parametrize(("what", "members"), UNSIGNED)
def test_a_document_without_a_statement_is_unsigned(what: str, members: dict[str, Any]) -> None:
    assert verify_statement(unsigned() | members) == SignatureReport(Signature.UNSIGNED, None, None)


FAILED: list[tuple[str, Any, str]] = [
    ("by another key", sign_statement(unsigned(), STRANGER), "/signatures/0/by"),
    (
        "another key under the subject's name",
        sign_statement(unsigned(), STRANGER) | {"by": AGENT.id},
        "/signatures/0/sig",
    ),
    ("by left out", entry(by=None), "/signatures/0/by"),
    ("by of a wrong type", entry(by=[AGENT.id]), "/signatures/0/by"),
    ("another alg", entry(alg="ES256"), "/signatures/0/alg"),
    ("alg in other letters", entry(alg="Ed25519"), "/signatures/0/alg"),
    ("alg of a wrong type", entry(alg=1), "/signatures/0/alg"),
    ("sig left out", entry(sig=None), "/signatures/0/sig"),
    ("sig of a wrong type", entry(sig=7), "/signatures/0/sig"),
    ("sig empty", entry(sig=""), "/signatures/0/sig"),
    ("sig cut short", entry(sig=SIG[:-4]), "/signatures/0/sig"),
    ("sig of zeros", entry(sig=b64url_encode(bytes(64))), "/signatures/0/sig"),
    ("sig with a newline", entry(sig=SIG + "\n"), "/signatures/0/sig"),
    ("over other content", sign_statement(unsigned() | {"agent_version": "2"}, AGENT), "/signatures/0/sig"),
    ("no tag", entry(tag=None), "/signatures/0"),
    ("a tag of a wrong type", entry(tag=[STATEMENT_TAG]), "/signatures/0"),
    ("text for an entry", "signed", "/signatures/0"),
    ("null for an entry", None, "/signatures/0"),
]


@pytest.mark.parametrize(("what", "bad", "pointer"), FAILED)
def test_a_statement_that_does_not_hold_is_failed_with_the_reason(what: str, bad: Any, pointer: str) -> None:
    for signatures, at in (([bad], 0), ([entry(), bad], 1), ([OTHER_TAG, bad, entry()], 1)):
        report = verify_statement(unsigned() | {"signatures": signatures})
        assert report.state is Signature.FAILED
        assert report.reason
        assert report.pointer == pointer.replace("/0", f"/{at}")


@pytest.mark.parametrize("signatures", [None, {}, "none", 0, entry()])
def test_signatures_that_are_no_list_are_failed(signatures: Any) -> None:
    report = verify_statement(unsigned() | {"signatures": signatures})
    assert (report.state, report.pointer) == (Signature.FAILED, "/signatures")


@pytest.mark.parametrize(
    ("subject", "pointer"),
    [
        ({"handle": "reports.example"}, "/subject"),
        ({"id": 5}, "/subject"),
        ("text", "/subject"),
        ({"id": "nobody"}, "/subject/id"),
        ({"id": AGENT.id.lower()}, "/subject/id"),
        ({"id": NKEYS[0]["seed"]}, "/subject/id"),
    ],
)
def test_a_statement_about_no_readable_subject_is_failed(subject: Any, pointer: str) -> None:
    document = unsigned() | {"subject": subject}
    claimed = subject.get("id") if isinstance(subject, dict) else None
    document["signatures"] = [sign_statement(document, AGENT) | {"by": claimed}]
    report = verify_statement(document)
    assert (report.state, report.pointer) == (Signature.FAILED, pointer)
    assert NKEYS[0]["seed"][5:15] not in (report.reason or "")


def test_a_draft_with_a_statement_is_failed() -> None:
    draft = unsigned()
    del draft["subject"]
    report = verify_statement(draft | {"signatures": [sign_statement(draft, AGENT)]})
    assert report.state is Signature.FAILED


def test_any_change_of_the_document_breaks_the_statement() -> None:
    document = signed()
    for name in [name for name in document if name != "signatures"]:
        less = {other: value for other, value in document.items() if other != name}
        assert verify_statement(less).state is Signature.FAILED
    assert verify_statement(document | {"more": None}).state is Signature.FAILED
    assert verify_statement(dict(reversed(document.items()))).state is Signature.VERIFIED


def test_an_integer_and_the_double_it_is_read_as_are_one_statement() -> None:
    document = signed()
    document["limits"] = document["limits"] | {"large": float(2**53), "requests_per_hour": 10}
    assert verify_statement(document).state is Signature.VERIFIED


def test_what_has_no_canonical_form_is_failed_and_is_not_signed() -> None:
    document = signed() | {"number": float("inf")}
    assert verify_statement(document).state is Signature.FAILED
    with pytest.raises(DescriptorError):
        sign_statement(document, AGENT)


def test_a_document_full_of_statements_is_not_worked_through() -> None:
    assert verify_statement(unsigned() | {"signatures": [entry()] * 16}).state is Signature.VERIFIED
    report = verify_statement(unsigned() | {"signatures": [entry()] * 17})
    assert (report.state, report.pointer) == (Signature.FAILED, "/signatures/16")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from([STATEMENT_TAG, AGENT.id, SIG]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["tag", "by", "sig", "alg", "id", "issued_at", "signature"]) | st.text(max_size=3), inner
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["signatures", "subject", "trust", "encryption_key", "x"]), JSON))
def test_a_report_comes_whatever_the_members_are(document: dict[str, Any]) -> None:
    statement, claim = verify_statement(document), verify_key_claim(document)
    assert statement.state is not Signature.VERIFIED
    assert claim.state is not Signature.VERIFIED
    assert ("signatures" in document) or statement.state is Signature.UNSIGNED
    assert ("trust" in document or "encryption_key" in document) == (claim.state is Signature.FAILED)
    for report in (statement, claim):
        assert (report.state is Signature.FAILED) == (report.reason is not None)


ISSUED_AT: str = KEY_CLAIM["issued_at"]
SEALING = SealingKey.from_secret_text("AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA")


def claimed(key: str | None = SEALING.public_text, **changes: Any) -> dict[str, Any]:
    document = unsigned() | {"trust": sign_key_claim(AGENT, key, ISSUED_AT)}
    if key is not None:
        document["encryption_key"] = key
    return document | changes


def test_a_claim_that_holds_is_verified() -> None:
    assert verify_key_claim(claimed()) == SignatureReport(Signature.VERIFIED, None, "/trust")


def test_a_claim_to_no_key_is_over_the_empty_string() -> None:
    assert key_claim_bytes(ISSUED_AT, AGENT.id, None).endswith(f"\n{AGENT.id}\n".encode())
    assert verify_key_claim(claimed(None)).state is Signature.VERIFIED
    assert verify_key_claim(claimed(None, encryption_key=SEALING.public_text)).state is Signature.FAILED


def test_neither_key_nor_claim_is_unsigned() -> None:
    assert verify_key_claim(unsigned()) == SignatureReport(Signature.UNSIGNED, None, None)


def trust(**changes: Any) -> dict[str, Any]:
    return sign_key_claim(AGENT, SEALING.public_text, ISSUED_AT) | changes


OTHER_KEY = SealingKey(bytes(range(32))).public_text
FAILED_CLAIMS: list[tuple[str, dict[str, Any], str]] = [
    ("another key", {"encryption_key": OTHER_KEY}, "/trust/signature"),
    ("another subject", {"subject": {"id": STRANGER.id}}, "/trust/signature"),
    ("another signer", {"trust": sign_key_claim(STRANGER, SEALING.public_text, ISSUED_AT)}, "/trust/signature"),
    ("another time", {"trust": trust(issued_at="2026-07-25T00:00:00.001Z")}, "/trust/signature"),
    ("the same time in other words", {"trust": trust(issued_at="2026-07-25T00:00:00Z")}, "/trust/signature"),
    ("no subject", {"subject": None}, ""),
    ("a key of a wrong type", {"encryption_key": None}, "/encryption_key"),
    ("an empty key", {"encryption_key": ""}, "/encryption_key"),
    ("a padded key", {"encryption_key": SEALING.public_text + "="}, "/encryption_key"),
    ("a short key", {"encryption_key": SEALING.public_text[:-4]}, "/encryption_key"),
    ("trust of a wrong type", {"trust": "yes"}, "/trust"),
    ("trust null", {"trust": None}, "/trust"),
    ("trust empty", {"trust": {}}, "/trust/issued_at"),
    ("issued_at of a wrong type", {"trust": trust(issued_at=1784937600)}, "/trust/issued_at"),
    ("issued_at that is no time", {"trust": trust(issued_at="today")}, "/trust/issued_at"),
    ("no signature", {"trust": {"issued_at": ISSUED_AT}}, "/trust/signature"),
    ("signature in standard base64", {"trust": trust(signature="+" * 86)}, "/trust/signature"),
    ("a padded signature", {"trust": trust(signature=trust()["signature"] + "==")}, "/trust/signature"),
]


@pytest.mark.parametrize(("what", "members", "pointer"), FAILED_CLAIMS)
def test_a_claim_that_does_not_hold_is_failed_with_the_reason(what: str, members: dict[str, Any], pointer: str) -> None:
    report = verify_key_claim(claimed(**members))
    assert (report.state, report.pointer) == (Signature.FAILED, pointer)
    assert report.reason


def test_a_key_without_a_claim_is_failed() -> None:
    report = verify_key_claim(unsigned() | {"encryption_key": SEALING.public_text})
    assert (report.state, report.pointer) == (Signature.FAILED, "/encryption_key")


@pytest.mark.parametrize(
    ("key", "issued_at", "code"),
    [
        (SEALING.public_text, "today", "BAD_TIMESTAMP"),
        (SEALING.public_text, f"{ISSUED_AT}\n", "BAD_TIMESTAMP"),
        (SEALING.public_text + "\n", ISSUED_AT, "BAD_BASE64"),
        ("", ISSUED_AT, "BAD_BASE64"),
    ],
)
def test_a_claim_that_could_not_be_read_is_not_signed(key: str, issued_at: str, code: str) -> None:
    with pytest.raises(DescriptorError) as raised:
        sign_key_claim(AGENT, key, issued_at)
    assert raised.value.code == code


def test_the_tags_are_the_ones_of_the_binding() -> None:
    assert descriptor.signatures.STATEMENT_TAG == "descriptor-statement-v1"
    assert descriptor.signatures.KEY_CLAIM_TAG == "agentmesh-manifest-key-v1"
