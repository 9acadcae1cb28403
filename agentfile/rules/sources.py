"""Source requirements: their members, each of its form. That there are no others is in `privacy`, and what has to go
together is in `coherence`.

Source: `.agent` format 14 to 14.5 and 18 (rule 21).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentfile import forms
from agentfile.forms import Holder, Path
from agentfile.rules.table import Check, Document, Problem, Severity
from agentfile.vocabulary import (
    APPROVALS,
    AUTHORITIES,
    CITATIONS,
    CONFLICT_POLICIES,
    DERIVED_KNOWLEDGE,
    DESTRUCTIVE_APPROVALS,
    FRESHNESS_MODES,
    ON_STALE,
    SHARING_STRATEGIES,
    SOURCE_KINDS,
    SOURCE_ROLES,
)
from descriptor.pointers import pointer_to

MOST_SOURCES = 30

_ID = re.compile(r"[a-z][a-z0-9._-]{0,79}")
_CONTRACTS = ("accepts", "structure", "freshness", "truth", "approval", "sharing")


def requirements(document: Document) -> Iterator[tuple[Holder, Path]]:
    """The sources that are objects, each with its path: as many as there may be, since of more the first are enough."""
    return iter(document.requirements[:MOST_SOURCES])


def _requirements(document: Document) -> Iterator[Problem]:
    yield from forms.objects(document, "sources", ())


def _count(document: Document) -> Iterator[Problem]:
    sources = document.get("sources")
    if isinstance(sources, list) and len(sources) > MOST_SOURCES:
        yield "/sources", f"There are {len(sources):,} sources; an agent has at most {MOST_SOURCES}."


def _ids(document: Document) -> Iterator[Problem]:
    seen: set[str] = set()
    for source, path in requirements(document):
        value = source.get("id")
        yield from forms.string(source, "id", path, required=True)
        if not isinstance(value, str):
            continue
        if not _ID.fullmatch(value):
            said = "it has to begin with a small letter and go on in small letters, digits, dots, _ and -, 80 at most."
            yield pointer_to(*path, "id"), f"`id` is {forms.shown(value)}; {said}"
        elif value in seen:
            yield pointer_to(*path, "id"), f"Another source has the id {forms.shown(value)}."
        seen.add(value)


def _members(document: Document) -> Iterator[Problem]:
    for source, path in requirements(document):
        yield from forms.string(source, "label", path, required=True, filled=True)
        yield from forms.word(source, "role", path, SOURCE_ROLES, required=True)
        yield from forms.word(source, "kind", path, SOURCE_KINDS, required=True)
        yield from forms.flag(source, "required", path, required=True)
        yield from forms.mapping(source, "access", path, required=True)
        yield from forms.string(source, "description", path)
        for name in _CONTRACTS:
            yield from forms.mapping(source, name, path)


def _contracts(document: Document, name: str) -> Iterator[tuple[Holder, Path]]:
    for source, path in requirements(document):
        yield from forms.one(source, name, path)


def _accepts(document: Document) -> Iterator[Problem]:
    for accepts, path in _contracts(document, "accepts"):
        for name in ("extensions", "mediaTypes", "providerTypes"):
            yield from forms.strings(accepts, name, path, filled=True)


def _structure(document: Document) -> Iterator[Problem]:
    for structure, path in _contracts(document, "structure"):
        yield from forms.strings(structure, "required", path)
        yield from forms.strings(structure, "optional", path)
        yield from forms.mapping(structure, "schema", path)


def _access(document: Document) -> Iterator[Problem]:
    for access, path in _contracts(document, "access"):
        yield from forms.strings(access, "capabilities", path, required=True)
        yield from forms.strings(access, "boundaries", path)


def _freshness(document: Document) -> Iterator[Problem]:
    for freshness, path in _contracts(document, "freshness"):
        yield from forms.word(freshness, "mode", path, FRESHNESS_MODES, required=True)
        yield from forms.word(freshness, "onStale", path, ON_STALE, required=True)


def _truth(document: Document) -> Iterator[Problem]:
    for truth, path in _contracts(document, "truth"):
        yield from forms.word(truth, "authority", path, AUTHORITIES, required=True)
        yield from forms.word(truth, "conflictPolicy", path, CONFLICT_POLICIES, required=True)
        yield from forms.word(truth, "citations", path, CITATIONS, required=True)


def _approval(document: Document) -> Iterator[Problem]:
    for approval, path in _contracts(document, "approval"):
        yield from forms.word(approval, "read", path, APPROVALS)
        yield from forms.word(approval, "write", path, APPROVALS)
        yield from forms.word(approval, "destructive", path, DESTRUCTIVE_APPROVALS)


def _sharing(document: Document) -> Iterator[Problem]:
    for sharing, path in _contracts(document, "sharing"):
        yield from forms.word(sharing, "strategy", path, SHARING_STRATEGIES, required=True)
        yield from forms.word(sharing, "derivedKnowledge", path, DERIVED_KNOWLEDGE)
        yield from forms.flag(sharing, "recipientMayOverride", path)


RULES = (
    Check(
        "R21",
        "14",
        21,
        Severity.ERROR,
        "`sources` is a list of objects.",
        "List each as an object with `id`, `label`, `role`, `kind`, `required` and `access`; or leave `sources` out.",
        _requirements,
    ),
    Check(
        "S14-count",
        "14",
        21,
        Severity.ERROR,
        "An agent declares at most 30 sources.",
        "Declare fewer: one source of kind `folder` or `workspace` may stand for many.",
        _count,
    ),
    Check(
        "S14-id",
        "14",
        21,
        Severity.ERROR,
        "A source has an `id` of its own: a small letter, then small letters, digits, dots, _ and -, 80 in all.",
        'Write it as "id": "invoice_workbook", each id once.',
        _ids,
    ),
    Check(
        "S14-members",
        "14",
        21,
        Severity.ERROR,
        "A source has a `label`, a known `role` and `kind`, says whether it is `required`, and has `access`; its other "
        "members are objects, and `description` is a text.",
        'Write it as {"id": "book", "label": "Book", "role": "working", "kind": "file", "required": true, "access": '
        '{"capabilities": ["read"]}}.',
        _members,
    ),
    Check(
        "S14-accepts",
        "14",
        21,
        Severity.ERROR,
        "In `accepts`, `extensions`, `mediaTypes` and `providerTypes` are lists of texts that are not empty.",
        'Write it as "accepts": {"extensions": [".xlsx", ".csv"]}.',
        _accepts,
    ),
    Check(
        "S14-structure",
        "14",
        21,
        Severity.ERROR,
        "In `structure`, `required` and `optional` are lists of texts and `schema` is an object.",
        'Write it as "structure": {"required": ["Sheet \\"Invoices\\": invoice_id, due_date"]}.',
        _structure,
    ),
    Check(
        "S14.1",
        "14.1",
        21,
        Severity.ERROR,
        "`access` has a list of `capabilities`, which are texts, and so are its `boundaries`.",
        'Write it as "access": {"capabilities": ["read", "cite"]}.',
        _access,
    ),
    Check(
        "S14.2",
        "14.2",
        21,
        Severity.ERROR,
        "`freshness` has a known `mode` and says what to do `onStale`.",
        'Write it as "freshness": {"mode": "on-run", "onStale": "fail"}.',
        _freshness,
    ),
    Check(
        "S14.3",
        "14.3",
        21,
        Severity.ERROR,
        "`truth` has a known `authority`, `conflictPolicy` and `citations`.",
        'Write it as "truth": {"authority": "supporting", "conflictPolicy": "ask", "citations": "preferred"}.',
        _truth,
    ),
    Check(
        "S14.4",
        "14.4",
        21,
        Severity.ERROR,
        "`approval` says in known words what needs the owner's word; what destroys is forbidden or approved each time.",
        'Write it as "approval": {"read": "on-bind", "write": "every-action", "destructive": "forbidden"}.',
        _approval,
    ),
    Check(
        "S14.5",
        "14.5",
        21,
        Severity.ERROR,
        "`sharing` has a known `strategy`; `derivedKnowledge` is a known word, `recipientMayOverride` true or false.",
        'Write it as "sharing": {"strategy": "rebind", "derivedKnowledge": "exclude"}.',
        _sharing,
    ),
)
