"""A draft states what the file says, passes the checker, and holds nothing that a Descriptor may not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from agentfile import parse
from agentfile.draft import Became, Drafted, draft_of
from descriptor.checker import check
from tests.agentfile.cases import EXAMPLE, LEAST, PARAMETER, SOURCE, WHOLE, blueprint, encoded, file, tool
from tests.agentfile.strategies import mutations

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
