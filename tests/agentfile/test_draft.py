"""A draft states what the file says, passes the checker, and holds nothing that a Descriptor may not."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from agentfile import parse
from agentfile.draft import Became, Drafted, draft_of
from descriptor.checker import check
from descriptor.pointers import pointer_to
from tests.agentfile.cases import (
    ARTIFACT,
    EXAMPLE,
    LEAST,
    PARAMETER,
    SOURCE,
    WHOLE,
    blueprint,
    encoded,
    file,
    places,
    tool,
)
from tests.agentfile.strategies import OPEN_PLACES, at, mutations

SAMPLES = Path(__file__).with_name("samples")
SECRET = "https://hooks.example/T1/B2"


def drafted(document: Any) -> Drafted:
    return draft_of(parse(encoded(document)).require())


def errors(result: Drafted) -> list[tuple[str, str]]:
    return [(one.rule, one.pointer) for one in check(json.dumps(result.members).encode()).errors]


def offering(result: Drafted) -> dict[str, Any]:
    offerings = result.members["offerings"]
    assert isinstance(offerings, list)
    (one,) = offerings
    assert isinstance(one, dict)
    return one


@pytest.mark.parametrize("document", [EXAMPLE, LEAST, WHOLE])
def test_a_draft_passes_the_checker(document: Any) -> None:
    assert errors(drafted(document)) == []


def test_the_example_of_the_format() -> None:
    result = drafted(EXAMPLE)
    assert result.members["agent_version"] == "1.2.0"
    assert result.members["does"] == EXAMPLE["description"]
    one = offering(result)
    assert [entry["name"] for entry in one["inputs"]][:2] == ["text", "audio"]
    assert one["needs"] == [
        {"credential": "microsoft-outlook", "scope": "Mail.Read", "description": "For outlook.list_messages."}
    ]
    assert "authority" not in one  # a builtin tool may touch anything
    assert "scope" not in one
    assert {"subject", "acts_for", "data_use", "access", "sealing"}.isdisjoint(result.members)
    systems = result.members["systems"]
    assert isinstance(systems, list)
    assert {(one["name"], one["access"]) for one in systems if isinstance(one, dict)} >= {("microsoft-outlook", "read")}
    assert "/me/messages" not in json.dumps(result.members)
    assert "You chase" not in json.dumps(result.members)


def test_what_is_not_carried_is_told() -> None:
    told = {(line.became, line.pointer) for line in drafted(EXAMPLE).report}
    assert (Became.LEFT, "/blueprint/systemPrompt") in told
    assert (Became.LEFT, "/blueprint/tools") in told
    assert any(pointer.startswith("/triggers/") for _, pointer in told)
    for name in ("brain", "memory"):
        assert (Became.LEFT, f"/{name}") in {(line.became, line.pointer) for line in drafted(WHOLE).report}


@pytest.mark.parametrize(
    "document",
    [
        file(description=f"Posts to {SECRET}."),
        file(name=SECRET),
        file(version="ada@example.org"),
        blueprint(primaryModel=SECRET),
        blueprint(guardrails={"sideEffectGate": "confirm", "note": SECRET}),
        blueprint(caveats=[{"requested": SECRET, "doing": SECRET, "why": SECRET}]),
        file(parameters=[{**PARAMETER, "default": SECRET}]),
        file(parameters=[{**PARAMETER, "name": "api_key", "default": "abc"}]),
        file(sources=[{**SOURCE, "label": SECRET, "description": SECRET}]),
        tool(
            {
                "kind": "mcp",
                "name": "x",
                "server": SECRET,
                "requiresUserAuth": True,
                "scopes": [SECRET],
                "provider": "p",
            }
        ),
        tool({"kind": "webhook", "name": "x", "url": SECRET, "requiresUserAuth": True}),
        tool({"kind": "nango", "name": "x", "provider": "p", "endpoint": "/home/x", "requiresUserAuth": False}),
    ],
)
def test_nothing_is_carried_that_no_descriptor_may_hold(document: dict[str, Any]) -> None:
    parsed = parse(encoded(document))
    if parsed.file is None:
        pytest.skip("the format itself refuses it")
    result = draft_of(parsed.file)
    assert errors(result) == []
    text = json.dumps(result.members)
    assert SECRET not in text
    assert "api_key" not in text


def test_no_part_of_a_file_goes_untold() -> None:
    strange = {**copy.deepcopy(WHOLE), "x-strange": [1]}
    for path in OPEN_PLACES:
        if len(path) == 1 and isinstance(path[0], str):
            at(strange, path)["x-inner"] = {"y": 1}
    samples = [json.loads(path.read_bytes()) for path in sorted(SAMPLES.iterdir())]
    for document in (EXAMPLE, LEAST, WHOLE, strange, *samples):
        told = [line.pointer for line in drafted(document).report]
        for pointer in parts(document):
            assert any(one == pointer or one.startswith(f"{pointer}/") for one in told), pointer


def parts(document: dict[str, Any]) -> Iterator[str]:
    """What a file consists of: its members, those of its blueprint and interface, and every entry of its lists."""
    opened = ("blueprint", "inputs", "outputs", "connectivity")
    listed = ("/blueprint/tools", "/blueprint/caveats", "/parameters", "/triggers", "/sources", "/connectivity/reads")
    for path, _ in places(document):
        pointer = pointer_to(*path)
        if pointer == "/$schema" or (len(path) == 2 and path[0] not in opened and pointer_to(path[0]) not in listed):
            continue
        if len(path) == 1 or (len(path) == 2 and path[0] in opened) or pointer.rpartition("/")[0] in listed:
            yield pointer


def test_the_report_reads_as_sentences() -> None:
    for document in (EXAMPLE, WHOLE, *(json.loads(path.read_bytes()) for path in sorted(SAMPLES.iterdir()))):
        report = drafted(document).report
        assert len({(line.pointer, line.message) for line in report}) == len(report)
        for line in report:
            assert line.message.isprintable()
            assert line.message.endswith((".", "]"))
            assert line.message[0].isupper() or line.message[0] == "'"
            assert len(line.message) < 300


def test_no_two_inputs_have_one_name() -> None:
    ledgers = [{**PARAMETER, "name": name, "type": "file", "artifact": ARTIFACT} for name in ("a_b", "a__b", "text")]
    inputs = offering(drafted(file(parameters=ledgers, inputs={"accepts": ["text", "text", "audio"]})))["inputs"]
    assert [one["name"] for one in inputs] == ["text", "audio", "a-b", "a-b-file", "text-file"]


def test_media_types_are_stated_where_the_file_names_all_of_them() -> None:
    def modes(*accepts: list[str], **members: Any) -> Any:
        asked = [
            {**PARAMETER, "name": f"f{place}", "type": "file", "artifact": {"kind": "table", "accepts": one}}
            for place, one in enumerate(accepts)
        ]
        return offering(drafted(file(parameters=asked, **members))).get("input_modes")

    sheet = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    assert modes([".csv", ".XLSX"], ["application/pdf", "text/csv"]) == ["text/csv", sheet, "application/pdf"]
    assert modes([".csv"], [".unheard-of"]) is None
    assert modes(["image/*"]) is None
    assert modes([".csv"], inputs={"accepts": ["text", "audio"]}) is None
    assert modes() is None


def test_authority_is_stated_only_where_the_file_says_all_of_it() -> None:
    nango = {"kind": "nango", "name": "mail.list", "provider": "mail", "endpoint": "/m", "requiresUserAuth": False}
    assert offering(drafted(blueprint(tools=[])))["authority"] == []
    assert offering(drafted(blueprint(tools=[nango])))["authority"] == ["reads-systems"]
    assert offering(drafted(blueprint(tools=[{**nango, "method": "POST"}])))["authority"] == ["updates-systems"]
    assert "authority" not in offering(drafted(blueprint(tools=[nango, "create_reminder"])))


@given(mutations())
def test_any_sound_file_makes_a_sound_draft(document: dict[str, Any]) -> None:
    parsed = parse(encoded(document))
    if parsed.file is not None:
        assert errors(draft_of(parsed.file)) == []
