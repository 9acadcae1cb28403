"""The two signatures a Descriptor carries, and what a reader may conclude from each.

`descriptor-statement-v1` is the operator's statement that this is the document; the encryption-key claim in
`trust` is the statement that this is the key to seal to. Both are made with the subject's identity key. The
invariant: a signature that is there and does not hold is reported as failed, never as absent.

| what is found                                                | state      |
|--------------------------------------------------------------|------------|
| no entry with the tag; neither `encryption_key` nor `trust`  | `UNSIGNED` |
| every entry with the tag holds; the claim holds              | `VERIFIED` |
| anything else, malformed entries and claims among it         | `FAILED`   |
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from descriptor.canonical import canonical
from descriptor.encoding import b64_any_decode, b64url_decode, b64url_encode
from descriptor.errors import DescriptorError
from descriptor.keys import Identity, decode_public, verify
from descriptor.timestamps import parse_timestamp

STATEMENT_TAG = "descriptor-statement-v1"
KEY_CLAIM_TAG = "agentmesh-manifest-key-v1"

_ALGORITHM = "ed25519"

# Each entry costs a pass over the document; one is usual, and a document full of them would be a way to keep
# readers busy.
_MOST_STATEMENTS = 16


class Signature(Enum):
    """What became of a signature."""

    VERIFIED = "verified"
    UNSIGNED = "unsigned"
    FAILED = "failed"


@dataclass(frozen=True)
class SignatureReport:
    """`reason` says why a signature failed, and is `None` otherwise. `pointer`: JSON Pointer of what was judged."""

    state: Signature
    reason: str | None = None
    pointer: str | None = None


class _FailedError(Exception):
    """A signature that is there and does not hold."""

    def __init__(self, reason: str, pointer: str) -> None:
        super().__init__(reason)
        self.report = SignatureReport(Signature.FAILED, reason, pointer)


def statement_bytes(document: Mapping[str, object]) -> bytes:
    """The bytes a Descriptor's signature is over: tag, newline, JCS of the document without `signatures`.

    Raises `DescriptorError` `NOT_CANONICAL`. Source: chapter 6.6; binding 2.
    """
    unsigned = {name: value for name, value in document.items() if name != "signatures"}
    return f"{STATEMENT_TAG}\n".encode() + canonical(unsigned)


def sign_statement(document: Mapping[str, object], identity: Identity) -> dict[str, str]:
    """The entry for `signatures` by which `identity` states `document`; `sig` in standard base64.

    It verifies once it stands in a document whose `subject.id` is the identity's.

    Raises `DescriptorError` `NOT_CANONICAL`. Source: chapter 6.6; binding 2.
    """
    sig = base64.b64encode(identity.sign(statement_bytes(document))).decode("ascii")
    return {"tag": STATEMENT_TAG, "by": identity.id, "sig": sig, "alg": _ALGORITHM}


def verify_statement(document: Mapping[str, object]) -> SignatureReport:
    """What the Descriptor's signature is worth. Raises nothing. Source: chapter 6.6; binding 2."""
    if "signatures" not in document:
        return SignatureReport(Signature.UNSIGNED)
    try:
        pointer = _verify_entries(document)
    except _FailedError as failed:
        return failed.report
    return SignatureReport(Signature.VERIFIED if pointer else Signature.UNSIGNED, pointer=pointer)


def key_claim_bytes(issued_at: str, subject_id: str, encryption_key: str | None) -> bytes:
    """The bytes a key claim is over: four lines joined by a newline, an absent key as the empty string.

    Source: binding 2.
    """
    return "\n".join((KEY_CLAIM_TAG, issued_at, subject_id, encryption_key or "")).encode("utf-8")


def sign_key_claim(identity: Identity, encryption_key: str | None, issued_at: str) -> dict[str, str]:
    """The value of `trust` by which `identity` claims `encryption_key`; `signature` in base64url without padding.

    `issued_at`: RFC 3339. Raises `DescriptorError` `BAD_TIMESTAMP` or `BAD_BASE64`. Source: binding 2.
    """
    parse_timestamp(issued_at)
    if encryption_key is not None:
        b64url_decode(encryption_key, 32)
    signature = identity.sign(key_claim_bytes(issued_at, identity.id, encryption_key))
    return {"issued_at": issued_at, "signature": b64url_encode(signature)}


def verify_key_claim(document: Mapping[str, object]) -> SignatureReport:
    """Whether the subject claims `encryption_key` by `trust`. Raises nothing. Source: binding 2.

    A key that stands without a claim has failed: nobody seals to it.
    """
    if "encryption_key" not in document and "trust" not in document:
        return SignatureReport(Signature.UNSIGNED)
    try:
        _verify_claim(document)
    except _FailedError as failed:
        return failed.report
    return SignatureReport(Signature.VERIFIED, pointer="/trust")


def _verify_entries(document: Mapping[str, object]) -> str | None:
    """The pointer of the first statement, `None` when there is none; `_FailedError` when one of them does not hold."""
    entries = document["signatures"]
    if not isinstance(entries, list):
        raise _FailedError("signatures is not a list of entries.", "/signatures")
    statements: list[str] = []
    message = b""
    for index, entry in enumerate(entries):
        pointer = f"/signatures/{index}"
        if not isinstance(entry, dict) or not isinstance(entry.get("tag"), str):
            raise _FailedError("This entry is not an object with a tag.", pointer)
        if entry["tag"] != STATEMENT_TAG:
            continue
        statements.append(pointer)
        if len(statements) > _MOST_STATEMENTS:
            raise _FailedError(f"More than {_MOST_STATEMENTS} statements stand in one document.", pointer)
        subject_id = _subject_id(document)
        message = message or _statement_or_fail(document)
        _verify_entry(entry, subject_id, message, pointer)
    return statements[0] if statements else None


def _verify_entry(entry: Mapping[str, object], subject_id: str, message: bytes, pointer: str) -> None:
    if entry.get("by") != subject_id:
        raise _FailedError("by is not subject.id; only the subject's own key makes this statement.", f"{pointer}/by")
    if entry.get("alg", _ALGORITHM) != _ALGORITHM:
        raise _FailedError(f"alg is not {_ALGORITHM}.", f"{pointer}/alg")
    sig = _read_signature(entry, "sig", pointer, b64_any_decode)
    if not verify(subject_id, message, sig):
        raise _FailedError(
            "The signature does not verify against subject.id: the document was changed after signing, "
            "or signed with another key.",
            f"{pointer}/sig",
        )


def _verify_claim(document: Mapping[str, object]) -> None:
    if "trust" not in document:
        raise _FailedError("encryption_key stands without trust, the subject's claim to it.", "/encryption_key")
    trust = document["trust"]
    if not isinstance(trust, dict):
        raise _FailedError("trust is not an object.", "/trust")
    subject_id = _subject_id(document)
    encryption_key = _encryption_key(document)
    issued_at = trust.get("issued_at")
    if not isinstance(issued_at, str):
        raise _FailedError("trust does not state issued_at as text.", "/trust/issued_at")
    try:
        parse_timestamp(issued_at)
    except DescriptorError as error:
        raise _FailedError(error.message, "/trust/issued_at") from None
    signature = _read_signature(trust, "signature", "/trust", b64url_decode)
    if not verify(subject_id, key_claim_bytes(issued_at, subject_id, encryption_key), signature):
        raise _FailedError(
            "The claim does not verify against subject.id; the key is not the one that was claimed.", "/trust/signature"
        )


def _encryption_key(document: Mapping[str, object]) -> str | None:
    if "encryption_key" not in document:
        return None
    key = document["encryption_key"]
    if not isinstance(key, str):
        raise _FailedError("encryption_key is not text.", "/encryption_key")
    try:
        b64url_decode(key, 32)
    except DescriptorError as error:
        raise _FailedError(error.message, "/encryption_key") from None
    return key


def _subject_id(document: Mapping[str, object]) -> str:
    subject = document.get("subject")
    subject_id = subject.get("id") if isinstance(subject, dict) else None
    if not isinstance(subject_id, str):
        raise _FailedError("It is signed, and no subject.id says by whom.", "/subject" if subject is not None else "")
    try:
        decode_public(subject_id)
    except DescriptorError as error:
        raise _FailedError(error.message, "/subject/id") from None
    return subject_id


def _statement_or_fail(document: Mapping[str, object]) -> bytes:
    try:
        return statement_bytes(document)
    except DescriptorError as error:
        raise _FailedError(error.message, "") from None


def _read_signature(
    holder: Mapping[str, object], name: str, pointer: str, decode: Callable[[str, int], bytes]
) -> bytes:
    text = holder.get(name)
    if not isinstance(text, str):
        raise _FailedError(f"{name} is not stated as text.", f"{pointer}/{name}")
    try:
        return decode(text, 64)
    except DescriptorError as error:
        raise _FailedError(error.message, f"{pointer}/{name}") from None
