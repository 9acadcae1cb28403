"""What a case of a checker rule is, and the documents that cases are made from.

A module `test_<section>…py` beside this one lists its cases in `CASES` and hands them to `judge`. Every rule has at
least one accepted and one refused case: `test_table.py` sees to it.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

import nacl.signing
import rfc8785

from descriptor.checker import check
from tests.vectors import KEY_CLAIM, NKEYS

SEED, ID = NKEYS[0]["seed"], NKEYS[0]["public"]
OTHER_ID = NKEYS[1]["public"]
# An nkey seed is base32: two prefix bytes, the 32 bytes of the key, two bytes of checksum.
SIGNER = nacl.signing.SigningKey(base64.b32decode(SEED + "=" * (-len(SEED) % 8))[2:34])

DRAFT: dict[str, Any] = {"format": "agent-descriptor-v1", "agent_version": "1.0", "does": "Reads contracts."}
BOUND: dict[str, Any] = {**DRAFT, "subject": {"id": ID, "handle": "reader.example"}, "acts_for": "person"}
SEALED: dict[str, Any] = {
    **BOUND,
    "sealing": "preferred",
    "encryption_key": KEY_CLAIM["encryption_key"],
    "trust": {"issued_at": KEY_CLAIM["issued_at"], "signature": KEY_CLAIM["signature"]},
}
OFFERING: dict[str, Any] = {
    "id": "read",
    "name": "Read a contract",
    "description": "Reads one contract and lists the obligations in it.",
    "inputs": [{"name": "contract", "kind": "application/pdf", "required": True}],
    "outputs": [{"name": "obligations", "kind": "text/markdown", "when": "per_task"}],
}


@dataclass(frozen=True)
class Case:
    """A document, and where it breaks `rule` and no other rule. `pointers` is empty: it is clean."""

    rule: str
    document: dict[str, Any]
    pointers: tuple[str, ...] = ()


def accepted(rule: str, *documents: dict[str, Any]) -> list[Case]:
    """Documents that keep `rule` where it looks, and every other rule too."""
    return [Case(rule, document) for document in documents]


def refused(rule: str, *broken: tuple[dict[str, Any], str | tuple[str, ...]]) -> list[Case]:
    """Documents that break `rule` alone, each with the pointer or pointers of its findings, in the document's order."""
    return [
        Case(rule, document, (pointers,) if isinstance(pointers, str) else pointers) for document, pointers in broken
    ]


def judge(case: Case) -> None:
    """The test of one case."""
    found = [(finding.rule, finding.pointer) for finding in check(json.dumps(case.document).encode()).findings]
    assert found == [(case.rule, pointer) for pointer in case.pointers]


def draft(**members: Any) -> dict[str, Any]:
    """A draft with these members beside the required ones."""
    return {**DRAFT, **members}


def offering(**members: Any) -> dict[str, Any]:
    """A draft with one sound offering, which has these members too. Its pointer is `/offerings/0`."""
    return draft(offerings=[{**OFFERING, **members}])


def without(document: dict[str, Any], *names: str) -> dict[str, Any]:
    """`document` without these members."""
    return {name: value for name, value in document.items() if name not in names}


def statement(document: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The subject's statement over `document`, made with PyNaCl and rfc8785 alone, with `changes` in its entry."""
    signature = SIGNER.sign(b"descriptor-statement-v1\n" + rfc8785.dumps(document)).signature
    entry = {"tag": "descriptor-statement-v1", "by": ID, "sig": base64.b64encode(signature).decode(), "alg": "ed25519"}
    return {**entry, **changes}


def signed(document: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """`document` with its statement."""
    return {**document, "signatures": [statement(document, **changes)]}


def bound(**members: Any) -> dict[str, Any]:
    """A bound, signed document with these members beside the required ones."""
    return signed({**BOUND, **members})
