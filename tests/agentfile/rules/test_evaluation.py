"""The evaluation contract and the private members: rules 22 to 24."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agentfile.cases import CHECK, Case, accepted, check, evaluation, file, judge, refused
from tests.agentfile.rules.test_blueprint import NO_LIST, NO_OBJECT, NO_TEXT

AT = "/evaluation"
ONE = "/evaluation/checks/0"
PAGE = {"title": "Customers", "content": "They pay late."}
FACT = {"key": "tone", "value": "formal"}


def page(**members: Any) -> dict[str, Any]:
    return file(brain=[{**PAGE, **members}])


CASES: list[Case] = [
    *accepted(
        "R22",
        *(evaluation(failurePolicy=one) for one in ("block", "require-approval", "warn")),
        *(evaluation(minimumScore=one) for one in (0, 1, 0.5)),
        evaluation(version=1.0),
    ),
    *refused(
        "R22",
        *((file(evaluation=value), AT) for value in NO_OBJECT),
        *((evaluation(version=one), f"{AT}/version") for one in (..., 2, 0, "1", True, None, [])),
        *((evaluation(failurePolicy=one), f"{AT}/failurePolicy") for one in (..., "", "Block", None, [])),
        *((evaluation(minimumScore=one), f"{AT}/minimumScore") for one in (-0.1, 1.1, 100, "1", None, True)),
        *((evaluation(checks=one), f"{AT}/checks") for one in (..., [], *NO_LIST)),
        *((evaluation(checks=[CHECK, one]), f"{AT}/checks/1") for one in NO_OBJECT),
    ),
    *accepted(
        "S15.1-members",
        *(check(type=one) for one in ("source-ready", "freshness", "citation", "output-schema", "write-boundary")),
        *(check(phase=one) for one in ("bind", "pre-run", "post-run")),
        check(severity="warning", name="", description="", config={}, sourceIds=[]),
    ),
    *refused(
        "S15.1-members",
        *((check(**{name: ...}), f"{ONE}/{name}") for name in ("name", "type", "phase", "severity")),
        *((check(name=one), f"{ONE}/name") for one in NO_TEXT),
        *((check(**{name: one}), f"{ONE}/{name}") for name in ("type", "phase", "severity") for one in ("", "x", None)),
        *((check(sourceIds=one), f"{ONE}/sourceIds") for one in NO_LIST),
        (check(sourceIds=["book", 1]), f"{ONE}/sourceIds/1"),
        *((check(description=one), f"{ONE}/description") for one in NO_TEXT),
        *((check(config=one), f"{ONE}/config") for one in NO_OBJECT),
    ),
    *accepted("S15.1-id", evaluation(checks=[CHECK, {**CHECK, "id": "Ready"}])),
    *refused(
        "S15.1-id",
        (check(id=...), f"{ONE}/id"),
        *((check(id=one), f"{ONE}/id") for one in ("", *NO_TEXT)),
        (evaluation(checks=[CHECK] * 3), (f"{AT}/checks/1/id", f"{AT}/checks/2/id")),
    ),
    *accepted(
        "S15.1-assertion",
        *(check(type=one, assertion="Every claim is cited.") for one in ("custom", "invariant")),
        check(assertion=""),
    ),
    *refused(
        "S15.1-assertion",
        *(
            (check(type=kind, assertion=one), f"{ONE}/assertion")
            for kind in ("custom", "invariant")
            for one in (..., "")
        ),
        *((check(assertion=one), f"{ONE}/assertion") for one in NO_TEXT),
    ),
    *accepted("S15.1-sources", check(sourceIds=["book"]), check(sourceIds=["book", "book"])),
    *refused(
        "S15.1-sources",
        (check(sourceIds=["book", "boook"]), f"{ONE}/sourceIds/1"),
        ({**check(sourceIds=["book"]), "sources": []}, f"{ONE}/sourceIds/0"),
        ({name: one for name, one in check(sourceIds=[""]).items() if name != "sources"}, f"{ONE}/sourceIds/0"),
    ),
    *accepted("R23", file(memory=[]), file(memory=[{"key": "k", "value": ""}])),
    *refused(
        "R23",
        *((file(memory=value), "/memory") for value in NO_LIST),
        *((file(memory=[FACT, value]), "/memory/1") for value in NO_OBJECT),
        *((file(memory=[{**FACT, "key": one}]), "/memory/0/key") for one in ("", *NO_TEXT)),
        *((file(memory=[{**FACT, "value": one}]), "/memory/0/value") for one in NO_TEXT),
        (file(memory=[{}]), ("/memory/0/key", "/memory/0/value")),
    ),
    *accepted("R24", file(brain=[]), page(content="")),
    *refused(
        "R24",
        *((file(brain=value), "/brain") for value in NO_LIST),
        *((file(brain=[PAGE, value]), "/brain/1") for value in NO_OBJECT),
        *((page(title=one), "/brain/0/title") for one in ("", *NO_TEXT)),
        *((page(content=one), "/brain/0/content") for one in NO_TEXT),
        (file(brain=[{}]), ("/brain/0/title", "/brain/0/content")),
    ),
    *accepted(
        "S17",
        page(slug="", summary="", links=[], sources=["nowhere"]),
        file(memory=[{**FACT, "importance": -1.5}]),
    ),
    *refused(
        "S17",
        *((page(**{name: one}), f"/brain/0/{name}") for name in ("slug", "summary") for one in NO_TEXT),
        *((page(**{name: one}), f"/brain/0/{name}") for name in ("links", "sources") for one in NO_LIST),
        (page(links=["a", 1]), "/brain/0/links/1"),
        *((file(memory=[{**FACT, "importance": one}]), "/memory/0/importance") for one in (None, "1", True, [])),
    ),
    *accepted("S17-private", file()),
    *refused(
        "S17-private",
        (page(), "/brain"),
        (file(memory=[FACT]), "/memory"),
        (file(brain=[], memory=[]), ("/brain", "/memory")),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}{case.pointers}")
def test_case(case: Case) -> None:
    judge(case)
