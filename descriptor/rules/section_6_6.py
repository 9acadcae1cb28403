"""Chapter 6.6, the signature: a bound document should carry one that holds, and a draft carries none.

A signature that is there and fails is worse than none and is an error; none at all is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptor.levels import levels
from descriptor.pointers import pointer_to
from descriptor.rules.table import Document, Problem, Rule, Severity, is_draft, objects
from descriptor.signatures import STATEMENT_TAG, Signature, verify_statement
from descriptor.strictjson import JsonValue, RoundedInteger


def _failed(document: Document) -> Iterator[Problem]:
    if is_draft(document):
        return
    report = verify_statement(document)
    if report.state is Signature.FAILED:
        where = "/signatures" if report.pointer is None else report.pointer
        yield where, f"The operator's signature does not hold: {report.reason}"


def _unsigned(document: Document) -> Iterator[Problem]:
    if is_draft(document) or not isinstance(document.get("signatures", []), list):
        return
    if not any(entry.get("tag") == STATEMENT_TAG for _, entry in objects(document.get("signatures"))):
        yield "/signatures", "The document is not signed, so a copy is trusted only as far as the place it came from."


def _draft_signed(document: Document) -> Iterator[Problem]:
    if is_draft(document):
        for index, entry in objects(document.get("signatures")):
            if entry.get("tag") == STATEMENT_TAG:
                yield pointer_to("signatures", index), "A draft is signed, but it has no subject whose key could sign."


def _rounded_integers(document: Document) -> Iterator[Problem]:
    members = dict(document)
    if any(RoundedInteger in set(map(type, values)) for _, values in levels(members)):
        yield from _rounded_within(members, ())


def _rounded_within(value: JsonValue, path: tuple[str | int, ...]) -> Iterator[Problem]:
    if isinstance(value, RoundedInteger):
        yield pointer_to(*path), f"This integer is outside ±2^53 and is read, and signed, as {float(value):.17g}."
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _rounded_within(member, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _rounded_within(item, (*path, index))


RULES = (
    Rule(
        "D6.6-signature",
        "6.6",
        Severity.ERROR,
        f"A `{STATEMENT_TAG}` signature is by the subject's own key and verifies over the document as it stands.",
        "Take `signatures` out and publish the document again, which signs it; if you did not change it, fetch the "
        "original from where it is served.",
        _failed,
    ),
    Rule(
        "D6.6-unsigned",
        "6.6",
        Severity.WARNING,
        "A bound document should carry its operator's signature.",
        "Publish it with `agent-node publish`, which signs it.",
        _unsigned,
    ),
    Rule(
        "D6.6-draft-signature",
        "6.6",
        Severity.ERROR,
        f"A draft carries no `{STATEMENT_TAG}` signature.",
        "Take `signatures` out of the draft; publishing signs it.",
        _draft_signed,
    ),
    Rule(
        "D6.6-rounded-integer",
        "6.6",
        Severity.WARNING,
        "Numbers are IEEE doubles in the signed form, so an integer outside ±2^53 may not be the one that was written.",
        "Write the value as text, or in a larger unit.",
        _rounded_integers,
    ),
)
