"""The evaluation contract, and the two members that are private.

Source: `.agent` format 15, 17 and 18 (rules 22, 23 and 24).
"""

from __future__ import annotations

from collections.abc import Iterator

from agentfile import columns, forms
from agentfile.columns import problems
from agentfile.forms import is_number
from agentfile.rules.table import Check, Document, Problem, Severity
from agentfile.vocabulary import (
    CHECK_PHASES,
    CHECK_SEVERITIES,
    CHECK_TYPES,
    CHECK_TYPES_WITH_ASSERTION,
    FAILURE_POLICIES,
)
from descriptor.pointers import pointer_to

PRIVATE = ("brain", "memory")

_ID = columns.text("id", required=True, filled=True)


def _evaluation(document: Document) -> Iterator[Problem]:
    yield from problems(document.top, columns.mapping("evaluation"))
    for evaluation, path in document.top.one("evaluation"):
        version = evaluation.get("version")
        if not is_number(version) or version != 1:
            said = f"is {forms.shown(version)}" if "version" in evaluation else "is missing"
            yield pointer_to(*path, "version"), f"`version` {said}; the only one there is is 1."
        yield from forms.word(evaluation, "failurePolicy", path, FAILURE_POLICIES, required=True)
        yield from forms.number(evaluation, "minimumScore", path, least=0, most=1)
        yield from forms.objects(evaluation, "checks", path, required=True)
        if evaluation.get("checks") == []:
            yield pointer_to(*path, "checks"), "`checks` is empty, so nothing would be verified."


def _check_members(document: Document) -> Iterator[Problem]:
    return problems(
        document.checks,
        columns.text("name", required=True),
        columns.word("type", CHECK_TYPES, required=True),
        columns.word("phase", CHECK_PHASES, required=True),
        columns.word("severity", CHECK_SEVERITIES, required=True),
        columns.texts("sourceIds"),
        columns.text("description"),
        columns.mapping("config"),
    )


def _check_ids(document: Document) -> Iterator[Problem]:
    stated = document.checks.column("id")
    if _ID.sound(stated) and len(set(stated)) == len(stated):
        return
    seen: set[str] = set()
    for check, path in document.checks:
        yield from _ID.problems(check, path)
        value = check.get("id")
        if isinstance(value, str) and value:
            if value in seen:
                yield pointer_to(*path, "id"), f"Another check has the id {forms.shown(value)}."
            seen.add(value)


def _assertions(document: Document) -> Iterator[Problem]:
    yield from problems(document.checks, columns.text("assertion"))
    for kind in CHECK_TYPES_WITH_ASSERTION:
        for check, path in document.checks.where("type", kind):
            if check.get("assertion", "") == "":
                yield from forms.string(check, "assertion", path, required=True, filled=True)


def _source_ids(document: Document) -> Iterator[Problem]:
    declared = {name for name in document.top.each("sources").column("id") if isinstance(name, str)}
    for place, named in enumerate(document.checks.column("sourceIds")):
        if not isinstance(named, list) or all(one in declared for one in named if isinstance(one, str)):
            continue
        path = document.checks.paths[place]
        for index, one in enumerate(named):
            if isinstance(one, str) and one not in declared:
                said = f"No source has the id {forms.shown(one)}, so this check would never run."
                yield pointer_to(*path, "sourceIds", index), said


def _memory(document: Document) -> Iterator[Problem]:
    yield from problems(document.top, columns.objects("memory"))
    facts = document.top.each("memory")
    yield from problems(facts, columns.text("key", required=True, filled=True), columns.text("value", required=True))


def _brain(document: Document) -> Iterator[Problem]:
    yield from problems(document.top, columns.objects("brain"))
    pages = document.top.each("brain")
    yield from problems(
        pages, columns.text("title", required=True, filled=True), columns.text("content", required=True)
    )


def _private_forms(document: Document) -> Iterator[Problem]:
    yield from problems(
        document.top.each("brain"),
        columns.text("slug"),
        columns.text("summary"),
        columns.texts("links"),
        columns.texts("sources"),
    )
    yield from problems(document.top.each("memory"), columns.number("importance"))


def _private(document: Document) -> Iterator[Problem]:
    for name in PRIVATE:
        if name in document:
            yield pointer_to(name), f"`{name}` is here: this file is a personal export, and holds private knowledge."


RULES = (
    Check(
        "R22",
        "15",
        22,
        Severity.ERROR,
        "`evaluation` is an object with `version` 1, a known `failurePolicy`, a list of `checks` that is not empty "
        "and, at will, a `minimumScore` from 0 to 1.",
        'Write it as {"version": 1, "failurePolicy": "block", "checks": [{"id": "ready", "name": "Source is readable", '
        '"type": "source-ready", "phase": "pre-run", "severity": "error"}]}, or leave it out.',
        _evaluation,
    ),
    Check(
        "S15.1-members",
        "15.1",
        22,
        Severity.ERROR,
        "A check has a `name` and a known `type`, `phase` and `severity`; `sourceIds` is a list of texts, "
        "`description` a text, `config` an object.",
        'Write it as {"id": "ready", "name": "Source is readable", "type": "source-ready", "phase": "pre-run", '
        '"severity": "error"}.',
        _check_members,
    ),
    Check(
        "S15.1-id",
        "15.1",
        22,
        Severity.ERROR,
        "A check has an `id` of its own.",
        "Give each check an id, each id once.",
        _check_ids,
    ),
    Check(
        "S15.1-assertion",
        "15.1",
        22,
        Severity.ERROR,
        "A check of type `custom` or `invariant` has an `assertion`, which is a text and not code.",
        'Say in words what has to hold, such as "assertion": "No invoice is listed twice.".',
        _assertions,
    ),
    Check(
        "S15.1-sources",
        "15.1",
        22,
        Severity.ERROR,
        "A check names the sources that the file declares.",
        "Declare the source under `sources`, or correct its id here.",
        _source_ids,
    ),
    Check(
        "R23",
        "17",
        23,
        Severity.ERROR,
        "`memory` is a list of facts, each with a `key` that is not empty and a text `value`.",
        'Write a fact as {"key": "tone", "value": "formal"}.',
        _memory,
    ),
    Check(
        "R24",
        "17",
        24,
        Severity.ERROR,
        "`brain` is a list of pages, each with a `title` that is not empty and a text `content`.",
        'Write a page as {"title": "Customers", "content": "…"}.',
        _brain,
    ),
    Check(
        "S17",
        "17",
        None,
        Severity.ERROR,
        "Of a page, `slug` and `summary` are texts, `links` and `sources` lists of texts; of a fact, `importance` is a "
        "number.",
        "Give the member the form named here, or leave it out.",
        _private_forms,
    ),
    Check(
        "S17-private",
        "17",
        None,
        Severity.WARNING,
        "`brain` and `memory` stand in a personal export alone, and never in a file that is shared.",
        "Keep this file to yourself; to give the agent to somebody, export it again without them.",
        _private,
    ),
)
