"""Inputs, outputs and parameters: rules 12 to 18."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agentfile.cases import ARTIFACT, PARAMETER, Case, accepted, file, judge, parameter, refused
from tests.agentfile.rules.test_blueprint import NO_FLAG, NO_LIST, NO_OBJECT, NO_TEXT

OPTION = {"value": "eu", "label": "Europe"}
AT = "/parameters/0"


def artifact(**members: Any) -> dict[str, Any]:
    return parameter(
        type="file", artifact={name: one for name, one in {**ARTIFACT, **members}.items() if one is not ...}
    )


def names(*given: Any) -> dict[str, Any]:
    return file(parameters=[{**PARAMETER, "name": name} for name in given])


def options(*given: Any) -> dict[str, Any]:
    return parameter(type="select", options=list(given))


CASES: list[Case] = [
    *accepted("R12", file(inputs={"accepts": ["text"]})),
    *refused(
        "R12",
        *((file(inputs=value), "/inputs") for value in (..., *NO_OBJECT)),
        (file(inputs={}), "/inputs/accepts"),
        *((file(inputs={"accepts": value}), "/inputs/accepts") for value in ([], *NO_LIST)),
    ),
    *accepted("R13", file(inputs={"accepts": ["image", "audio", "text", "text"]})),
    *refused(
        "R13",
        *((file(inputs={"accepts": ["text", one]}), "/inputs/accepts/1") for one in ("video", "Text", "", *NO_TEXT)),
    ),
    *accepted("S11.1", file(inputs={"accepts": ["text"], "placeholder": "", "schema": {}})),
    *refused(
        "S11.1",
        *((file(inputs={"accepts": ["text"], "placeholder": one}), "/inputs/placeholder") for one in NO_TEXT),
        *((file(inputs={"accepts": ["text"], "schema": one}), "/inputs/schema") for one in NO_OBJECT),
    ),
    *accepted("R14", *(file(outputs={"shape": one}) for one in ("text", "json", "void"))),
    *refused(
        "R14",
        *((file(outputs=value), "/outputs") for value in NO_OBJECT),
        (file(outputs={}), "/outputs/shape"),
        *((file(outputs={"shape": one}), "/outputs/shape") for one in ("Text", "image", "", *NO_TEXT)),
    ),
    *accepted("S11.2", file(outputs={"shape": "json", "schema": {}, "description": ""})),
    *refused(
        "S11.2",
        *((file(outputs={"shape": "json", "schema": one}), "/outputs/schema") for one in NO_OBJECT),
        *((file(outputs={"shape": "json", "description": one}), "/outputs/description") for one in NO_TEXT),
    ),
    *accepted("S11.2-stated", file()),
    *refused("S11.2-stated", (file(outputs=...), "/outputs")),
    *accepted("R15", file(parameters=[]), parameter()),
    *refused(
        "R15",
        *((file(parameters=value), "/parameters") for value in NO_LIST),
        *((file(parameters=[PARAMETER, value]), "/parameters/1") for value in NO_OBJECT),
    ),
    *accepted(
        "R16",
        names("city", "City2", "a", "a_", "Z9_z"),
        *(parameter(type=one) for one in ("string", "text", "number", "boolean", "email", "url")),
        parameter(label=" ", required=False),
    ),
    *refused(
        "R16",
        *((parameter(**{name: ...}), f"{AT}/{name}") for name in PARAMETER),
        *(
            (parameter(name=one), f"{AT}/name")
            for one in ("", "1a", "_a", "a-b", "a b", "é", "a\n", "\u212a", *NO_TEXT)
        ),
        (names("city", "city"), "/parameters/1/name"),
        (names("city", "other", "CITY"), "/parameters/2/name"),
        *((parameter(label=one), f"{AT}/label") for one in ("", *NO_TEXT)),
        *((parameter(type=one), f"{AT}/type") for one in ("String", "date", "", *NO_TEXT)),
        *((parameter(required=one), f"{AT}/required") for one in NO_FLAG),
        (file(parameters=[{}]), (f"{AT}/name", f"{AT}/label", f"{AT}/type", f"{AT}/required")),
    ),
    *accepted("R17", options(OPTION), parameter(options=[])),
    *refused(
        "R17",
        *((parameter(type="select", options=value), f"{AT}/options") for value in (..., [], *NO_LIST)),
    ),
    *accepted("R18", artifact(), artifact(accepts=["image/*"], kind="image", structure=[]), artifact(kind="document")),
    *refused(
        "R18",
        *((parameter(type="file", artifact=value), f"{AT}/artifact") for value in (..., *NO_OBJECT)),
        *((artifact(kind=one), f"{AT}/artifact/kind") for one in (..., "Table", "", *NO_TEXT)),
        *((artifact(accepts=one), f"{AT}/artifact/accepts") for one in (..., [], *NO_LIST)),
        *((artifact(accepts=[".csv", one]), f"{AT}/artifact/accepts/1") for one in ("", " \t", *NO_TEXT)),
        *((artifact(structure=one), f"{AT}/artifact/structure") for one in NO_LIST),
        *((artifact(structure=["id", one]), f"{AT}/artifact/structure/1") for one in NO_TEXT),
        *((parameter(type="file", artifact=ARTIFACT, default=one), f"{AT}/default") for one in ("x", None, 1)),
    ),
    *accepted(
        "S10",
        *(parameter(default=one, description="", placeholder="") for one in ("", 0, 1.5, True, False)),
    ),
    *refused(
        "S10",
        *((parameter(default=one), f"{AT}/default") for one in (None, [], {})),
        *((parameter(description=one), f"{AT}/description") for one in NO_TEXT),
        *((parameter(placeholder=one), f"{AT}/placeholder") for one in NO_TEXT),
        *((parameter(artifact=one), f"{AT}/artifact") for one in NO_OBJECT),
    ),
    *accepted("S10-options", *(options(OPTION, {"value": one, "label": ""}) for one in ("", 0, 1.5, False))),
    *refused(
        "S10-options",
        *((parameter(options=value), f"{AT}/options") for value in NO_LIST),
        *((options(OPTION, value), f"{AT}/options/1") for value in NO_OBJECT),
        *((options({**OPTION, "value": one}), f"{AT}/options/0/value") for one in (None, [], {})),
        (options({"label": "Europe"}), f"{AT}/options/0/value"),
        (options({"value": "eu"}), f"{AT}/options/0/label"),
        *((options({**OPTION, "label": one}), f"{AT}/options/0/label") for one in NO_TEXT),
    ),
    *accepted("S10.2", parameter(artifact=ARTIFACT)),
    *refused(
        "S10.2",
        (parameter(artifact={}), (f"{AT}/artifact/kind", f"{AT}/artifact/accepts")),
        (parameter(artifact={**ARTIFACT, "structure": "id"}), f"{AT}/artifact/structure"),
    ),
    *accepted("S10.2-formats", artifact(accepts=[".csv", ".tar.gz", "text/csv", "image/*", "*/*"])),
    *refused(
        "S10.2-formats", *((artifact(accepts=[".csv", one]), f"{AT}/artifact/accepts/1") for one in ("csv", "any file"))
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}{case.pointers}")
def test_case(case: Case) -> None:
    judge(case)
