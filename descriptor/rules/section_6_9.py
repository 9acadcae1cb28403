"""Chapter 6.9, standing and the sealing posture.

Who asks to be sealed to shows a key, and shows that it is the subject's.

A draft states only `sealing`; publishing adds the key and its claim (binding 2).
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptor.pointers import pointer_to
from descriptor.rules import forms
from descriptor.rules.table import Document, Problem, Rule, Severity, is_draft
from descriptor.signatures import Signature, verify_key_claim
from descriptor.vocabulary import SEALING, STANDING


def _standing(document: Document) -> Iterator[Problem]:
    return forms.word(document, "standing", (), STANDING)


def _guest(document: Document) -> Iterator[Problem]:
    if document.get("standing") != "guest":
        return
    if isinstance(offered := document.get("offerings"), list) and offered:
        yield "/offerings", "A guest holds offerings, and a guest buys and never sells."
    if isinstance(document.get("price_ref"), str | dict):
        yield "/price_ref", "A guest declares a price, and a guest buys and never sells."


def _sealing(document: Document) -> Iterator[Problem]:
    return forms.word(document, "sealing", (), SEALING)


def _sealing_key(document: Document) -> Iterator[Problem]:
    if not is_draft(document) and document.get("sealing") in SEALING and "encryption_key" not in document:
        yield "/sealing", "The document asks for sealed requests and has no `encryption_key` to seal to."


def _key_claim(document: Document) -> Iterator[Problem]:
    if is_draft(document):
        return
    report = verify_key_claim(document)
    where = "/trust" if report.pointer is None else report.pointer
    # A subject that is no key is section 6.2's finding.
    if report.state is Signature.FAILED and not where.startswith("/subject"):
        yield where, f"Nothing proves that `encryption_key` is the subject's: {report.reason}"


def _draft_key(document: Document) -> Iterator[Problem]:
    if is_draft(document):
        for name in ("encryption_key", "trust"):
            if name in document:
                yield pointer_to(name), f"A draft carries `{name}`, which belongs to a node, and a draft has none yet."


RULES = (
    Rule(
        "D6.9-standing",
        "6.9",
        Severity.ERROR,
        "`standing` has one value, guest; an agent that is no guest declares nothing.",
        'Take `standing` out, or write "guest" when a platform provisions this agent on trial terms.',
        _standing,
    ),
    Rule(
        "D6.9-guest",
        "6.9",
        Severity.ERROR,
        "A guest declares no price and holds no offerings.",
        "Take `offerings` and `price_ref` out, or take `standing` out if the agent is no guest.",
        _guest,
    ),
    Rule(
        "D6.9-sealing",
        "6.9",
        Severity.ERROR,
        "`sealing` is required when clear requests are not read, and preferred when both are.",
        'Write "required" or "preferred", or leave `sealing` out.',
        _sealing,
    ),
    Rule(
        "D6.9-sealing-key",
        "6.9",
        Severity.ERROR,
        "A sealing posture requires the encryption key: an agent with no key cannot keep it.",
        "Publish a draft that states only `sealing`, which adds this node's key, or take `sealing` out.",
        _sealing_key,
    ),
    Rule(
        "D6.9-key-claim",
        "6.9",
        Severity.ERROR,
        "The encryption key is claimed in `trust` by the subject's identity key; nobody seals to one that is not.",
        "Take `encryption_key`, `trust` and `signatures` out and publish again, which writes them anew when `sealing` "
        "is stated.",
        _key_claim,
    ),
    Rule(
        "D6.9-draft-key",
        "6.9",
        Severity.ERROR,
        "A draft states only `sealing`; publishing adds the node's `encryption_key` and `trust`.",
        "Take it out of the draft, and state `sealing` if the agent should be sealed to.",
        _draft_key,
    ),
)
