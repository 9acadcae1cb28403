"""Source requirements: their members, each of its form. That there are no others is in `privacy`, and what has to go
together is in `coherence`.

Source: `.agent` format 14 to 14.5 and 18 (rule 21).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentfile import columns, forms
from agentfile.columns import problems
from agentfile.rules.table import MOST_SOURCES, Check, Document, Problem, Severity
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

_ID = re.compile(r"[a-z][a-z0-9._-]{0,79}")
_CONTRACTS = ("accepts", "structure", "freshness", "truth", "approval", "sharing")


def _requirements(document: Document) -> Iterator[Problem]:
    return problems(document.top, columns.objects("sources"))


def _count(document: Document) -> Iterator[Problem]:
    sources = document.get("sources")
    if isinstance(sources, list) and len(sources) > MOST_SOURCES:
        yield "/sources", f"There are {len(sources):,} sources; an agent has at most {MOST_SOURCES}."


def _ids(document: Document) -> Iterator[Problem]:
    seen: set[str] = set()
    for source, path in document.requirements:
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
    return problems(
        document.requirements,
        columns.text("label", required=True, filled=True),
        columns.word("role", SOURCE_ROLES, required=True),
        columns.word("kind", SOURCE_KINDS, required=True),
        columns.flag("required", required=True),
        columns.mapping("access", required=True),
        columns.text("description"),
        *map(columns.mapping, _CONTRACTS),
    )


def _accepts(document: Document) -> Iterator[Problem]:
    lists = (columns.texts(name, filled=True) for name in ("extensions", "mediaTypes", "providerTypes"))
    return problems(document.requirements.one("accepts"), *lists)


def _structure(document: Document) -> Iterator[Problem]:
    return problems(
        document.requirements.one("structure"),
        columns.texts("required"),
        columns.texts("optional"),
        columns.mapping("schema"),
    )


def _access(document: Document) -> Iterator[Problem]:
    return problems(
        document.requirements.one("access"), columns.texts("capabilities", required=True), columns.texts("boundaries")
    )


def _freshness(document: Document) -> Iterator[Problem]:
    return problems(
        document.requirements.one("freshness"),
        columns.word("mode", FRESHNESS_MODES, required=True),
        columns.word("onStale", ON_STALE, required=True),
    )


def _truth(document: Document) -> Iterator[Problem]:
    return problems(
        document.requirements.one("truth"),
        columns.word("authority", AUTHORITIES, required=True),
        columns.word("conflictPolicy", CONFLICT_POLICIES, required=True),
        columns.word("citations", CITATIONS, required=True),
    )


def _approval(document: Document) -> Iterator[Problem]:
    return problems(
        document.requirements.one("approval"),
        columns.word("read", APPROVALS),
        columns.word("write", APPROVALS),
        columns.word("destructive", DESTRUCTIVE_APPROVALS),
    )


def _sharing(document: Document) -> Iterator[Problem]:
    return problems(
        document.requirements.one("sharing"),
        columns.word("strategy", SHARING_STRATEGIES, required=True),
        columns.word("derivedKnowledge", DERIVED_KNOWLEDGE),
        columns.flag("recipientMayOverride"),
    )


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
