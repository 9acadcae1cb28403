"""Every single corruption of a large sound document is found, where it is: generated from the document itself."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from descriptor.checker import Finding, Severity, check
from descriptor.pointers import pointer_to
from tests.descriptor.rules.cases import BOUND, SEALED, signed
from tests.descriptor.whole import REQUIRED, WHOLE

BOUND_WHOLE = {**WHOLE, **{name: SEALED[name] for name in ("encryption_key", "trust")}} | {
    name: BOUND[name] for name in ("subject", "acts_for")
}
# Where anything may stand: what somebody else's member holds, the prices and steps of another chapter, and the settings
# of a named run config, whose digest is over them. A default may be any text, number, true or false.
FREE = re.compile(
    r"/somebody_elses|/offerings/\d+/steps|/run_config/named/\d+/settings/|/run_config/settings/\d+/(allowed/|default)"
)
WRONG: tuple[Any, ...] = (None, True, -7, "", [], {})

Path = tuple[str | int, ...]


def members(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every member and entry within a value, with its path."""
    for step, inner in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield (*path, step), inner
        yield from members(inner, (*path, step))


def changed(path: Path, value: Any = ...) -> dict[str, Any]:
    """The document with another value in one place, or without it."""
    document: Any = copy.deepcopy(BOUND_WHOLE)
    holder = document
    for step in path[:-1]:
        holder = holder[step]
    if value is ...:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    assert isinstance(document, dict)
    return document


def found(document: dict[str, Any]) -> list[Finding]:
    """What the checker finds. It is signed as it stands, so that nothing is found for having been changed."""
    return list(check(json.dumps(signed(document)).encode()).findings)


def kind_of(value: Any) -> str:
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


MEMBERS = [(path, value) for path, value in members(BOUND_WHOLE) if not FREE.match(pointer_to(*path))]
CORRUPTIONS = [(path, wrong) for path, value in MEMBERS for wrong in WRONG if kind_of(wrong) != kind_of(value)]
REQUIRED_PATTERNS = re.compile(
    "|".join(f"(?:{one.replace('*', '[^/]+')})" for one in (*REQUIRED, "/subject/id", "/acts_for"))
)
NAMED = [path for path, _ in MEMBERS if isinstance(path[-1], str)]


def test_the_whole_document_is_sound() -> None:
    assert found(BOUND_WHOLE) == []
    assert check(json.dumps(WHOLE).encode()).findings == ()
    assert len(CORRUPTIONS) > 1_000


def test_a_member_of_the_wrong_type_is_found_where_it_stands() -> None:
    missed = []
    for path, wrong in CORRUPTIONS:
        pointer = pointer_to(*path)
        pointers = {finding.pointer for finding in found(changed(path, wrong))}
        # Where a member may be an object too, an empty one lacks what belongs in it, and that is what is said.
        if not any(one == pointer or (wrong == {} and one.startswith(f"{pointer}/")) for one in pointers):
            missed.append((pointer, wrong, sorted(pointers)))
    assert missed == []


@pytest.mark.parametrize(
    "path", [path for path in NAMED if REQUIRED_PATTERNS.fullmatch(pointer_to(*path))], ids=lambda p: pointer_to(*p)
)
def test_a_required_member_that_is_missing_is_found_where_it_would_stand(path: Path) -> None:
    pointers = {finding.pointer for finding in found(changed(path)) if finding.severity is Severity.ERROR}
    assert pointer_to(*path) in pointers


def test_any_other_member_may_be_left_out() -> None:
    refused = []
    for path in NAMED:
        # Without its subject it is a draft, which is another kind of document.
        if path != ("subject",) and not REQUIRED_PATTERNS.fullmatch(pointer_to(*path)):
            errors = [
                (finding.rule, finding.pointer)
                for finding in found(changed(path))
                if finding.severity is Severity.ERROR
            ]
            if errors and not _follows(path, errors):
                refused.append((pointer_to(*path), errors))
    assert refused == []


def _follows(path: Path, errors: list[tuple[str, str]]) -> bool:
    """Whether all that is found is about what leans on the member that was taken away."""
    pointer = pointer_to(*path)
    return all(any(re.fullmatch(one, pointer) and rule == by for one, by in LEANING) for rule, _ in errors)


LEANING = {
    (r"/offerings", "D6.11-authority-systems"),
    (r"/encryption_key", "D6.9-sealing-key"),
    (r"/encryption_key", "D6.9-key-claim"),
    (r"/trust(/.*)?", "D6.9-key-claim"),
    (r"/systems", "D6.11-authority-systems"),
    (r"/systems", "D6.11-workspace-system"),
    (r"/data_use", "D6.11-data_use"),
    (r"/offerings/[12]/ceilings", "D6.11-open-ceilings"),
    (r"/offerings/0/ceilings", "D6.11-spend_per_job"),
    (r"/offerings/0/ceilings", "D6.11-messages_per_job"),
    (r"/offerings/\d/revisions/(steps|flat)", "D6.2-revisions"),
    (r"/offerings/0/needs/\d/(resource|file|tool|credential|text)", "D6.9-needs"),
    (r"/offerings/0/inputs/2/kind", "D6.2-run-context"),
    (r"/offerings/0/workspace/0/system", "D6.11-workspace"),
}
