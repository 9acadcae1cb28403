"""The blueprint and its tools: rules 5 to 11."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agentfile.cases import (
    CAVEAT,
    MCP,
    NANGO,
    SKILL,
    WEBHOOK,
    Case,
    accepted,
    blueprint,
    file,
    judge,
    refused,
    tool,
)

NO_TEXT: tuple[Any, ...] = (None, 1, True, [], {})
NO_LIST: tuple[Any, ...] = (None, 1, True, "x", {})
NO_OBJECT: tuple[Any, ...] = (None, 1, True, "x", [])
NO_FLAG: tuple[Any, ...] = (None, 1, "true", [], {})
BUILTIN = {"kind": "builtin", "name": "fetch_url"}
OPTION = {"label": "Keep", "detail": "Safer."}
AT = "/blueprint/tools/0"


def without(value: dict[str, Any], name: str) -> dict[str, Any]:
    return {one: inner for one, inner in value.items() if one != name}


def caveat(*options: Any) -> dict[str, Any]:
    return blueprint(caveats=[{**CAVEAT, "options": list(options)}])


CASES: list[Case] = [
    *accepted("R5", blueprint(), blueprint(unknown=None)),
    *refused("R5", *((file(blueprint=value), "/blueprint") for value in (..., *NO_OBJECT))),
    *accepted("R6", blueprint(primaryModel="", systemPrompt=""), blueprint(tools=[])),
    *refused(
        "R6",
        *((blueprint(primaryModel=value), "/blueprint/primaryModel") for value in (..., *NO_TEXT)),
        *((blueprint(systemPrompt=value), "/blueprint/systemPrompt") for value in (..., *NO_TEXT)),
        *((blueprint(tools=value), "/blueprint/tools") for value in (..., *NO_LIST)),
        (
            file(blueprint={}),
            ("/blueprint/primaryModel", "/blueprint/systemPrompt", "/blueprint/tools"),
        ),
    ),
    *accepted(
        "S8-forms",
        blueprint(maxTokens=1, extendedThinkingBudget=0.5, guardrails={}, thinkingPatterns=[""], architecture="solo"),
    ),
    *refused(
        "S8-forms",
        *((blueprint(maxTokens=value), "/blueprint/maxTokens") for value in (None, "1", True, [])),
        *((blueprint(extendedThinkingBudget=value), "/blueprint/extendedThinkingBudget") for value in (None, "1")),
        *((blueprint(guardrails=value), "/blueprint/guardrails") for value in NO_OBJECT),
        *((blueprint(thinkingPatterns=value), "/blueprint/thinkingPatterns") for value in NO_LIST),
        (blueprint(thinkingPatterns=["react", None]), "/blueprint/thinkingPatterns/1"),
        *((blueprint(architecture=value), "/blueprint/architecture") for value in NO_TEXT),
    ),
    *accepted("S8-architecture", *(blueprint(architecture=one) for one in ("solo", "orchestrator_workers"))),
    *accepted("S8-architecture", *(blueprint(architecture=one) for one in ("pipeline", "hierarchical"))),
    *refused("S8-architecture", *((blueprint(architecture=one), "/blueprint/architecture") for one in ("", "Solo"))),
    *accepted(
        "S8.1",
        *(blueprint(guardrails={"sideEffectGate": one}) for one in ("off", "confirm", "refuse")),
        blueprint(guardrails={"ours": {"deep": None}}),
    ),
    *refused(
        "S8.1",
        *(
            (blueprint(guardrails={"sideEffectGate": one}), "/blueprint/guardrails/sideEffectGate")
            for one in ("", "Confirm", "block", None, False, [])
        ),
    ),
    *accepted("R10", blueprint(skills=[]), blueprint(skills=[{"name": "s", "trigger": "", "recipe": ""}])),
    *refused(
        "R10",
        *((blueprint(skills=value), "/blueprint/skills") for value in NO_LIST),
        *((blueprint(skills=[SKILL, value]), "/blueprint/skills/1") for value in NO_OBJECT),
        *((blueprint(skills=[{**SKILL, "name": value}]), "/blueprint/skills/0/name") for value in ("", *NO_TEXT)),
        *((blueprint(skills=[{**SKILL, "trigger": value}]), "/blueprint/skills/0/trigger") for value in NO_TEXT),
        *((blueprint(skills=[{**SKILL, "recipe": value}]), "/blueprint/skills/0/recipe") for value in NO_TEXT),
        *((blueprint(skills=[without(SKILL, name)]), f"/blueprint/skills/0/{name}") for name in SKILL),
    ),
    *accepted("S8.2-forms", blueprint(skills=[{**SKILL, "verified": False, "proof": {}}])),
    *refused(
        "S8.2-forms",
        *((blueprint(skills=[{**SKILL, "verified": value}]), "/blueprint/skills/0/verified") for value in NO_FLAG),
        *((blueprint(skills=[{**SKILL, "proof": value}]), "/blueprint/skills/0/proof") for value in NO_OBJECT),
    ),
    *accepted("R11", blueprint(caveats=[]), blueprint(caveats=[{"requested": "", "doing": "", "why": ""}])),
    *refused(
        "R11",
        *((blueprint(caveats=value), "/blueprint/caveats") for value in NO_LIST),
        *((blueprint(caveats=[value]), "/blueprint/caveats/0") for value in NO_OBJECT),
        *(
            (blueprint(caveats=[{**CAVEAT, name: value}]), f"/blueprint/caveats/0/{name}")
            for name in CAVEAT
            for value in NO_TEXT
        ),
        *((blueprint(caveats=[without(CAVEAT, name)]), f"/blueprint/caveats/0/{name}") for name in CAVEAT),
    ),
    *accepted("S8.3-options", caveat(), caveat(OPTION, {"label": "", "detail": "", "recommended": False})),
    *refused(
        "S8.3-options",
        *((blueprint(caveats=[{**CAVEAT, "options": value}]), "/blueprint/caveats/0/options") for value in NO_LIST),
        (caveat(OPTION, "Keep"), "/blueprint/caveats/0/options/1"),
        (caveat({"label": "Keep"}), "/blueprint/caveats/0/options/0/detail"),
        (caveat({**OPTION, "label": 1}), "/blueprint/caveats/0/options/0/label"),
        (caveat({**OPTION, "recommended": "true"}), "/blueprint/caveats/0/options/0/recommended"),
    ),
    *accepted("S8.3-recommended", caveat({**OPTION, "recommended": True}, {**OPTION, "recommended": False})),
    *refused(
        "S8.3-recommended",
        (
            caveat(*[{**OPTION, "recommended": True}] * 3),
            ("/blueprint/caveats/0/options/1/recommended", "/blueprint/caveats/0/options/2/recommended"),
        ),
    ),
    *accepted("R7", tool("create_reminder"), tool(BUILTIN), tool(" ")),
    *refused("R7", *((tool(value), AT) for value in ("", None, 1, True, [], ["create_reminder"]))),
    *accepted("R8", *(tool(one) for one in (BUILTIN, MCP, WEBHOOK, NANGO))),
    *refused(
        "R8",
        *((tool({**BUILTIN, "kind": kind}), f"{AT}/kind") for kind in ("a2a", "", "Builtin", None, [], {})),
        (tool({"name": "x"}), f"{AT}/kind"),
        *((tool({**NANGO, "name": name}), f"{AT}/name") for name in ("", *NO_TEXT)),
        (tool({"kind": "builtin"}), f"{AT}/name"),
        (tool({}), (f"{AT}/kind", f"{AT}/name")),
        (blueprint(tools=["x", {"kind": "unknown", "name": "y"}]), "/blueprint/tools/1/kind"),
    ),
    *accepted("R9", tool(NANGO)),
    *refused(
        "R9",
        *((tool({**NANGO, "provider": value}), f"{AT}/provider") for value in ("", *NO_TEXT)),
        *((tool({**NANGO, "endpoint": value}), f"{AT}/endpoint") for value in ("", *NO_TEXT)),
        *((tool(without(NANGO, name)), f"{AT}/{name}") for name in ("provider", "endpoint")),
    ),
    *accepted("S19.3", tool("почта.отправить"), tool(NANGO, provider="почта mail", scopes=["Café.Read"]), tool("ß-x")),
    *refused(
        "S19.3",
        (tool("gmаil.send"), AT),  # with a letter of Cyrillic, as those below
        (tool(BUILTIN, name="fetch_\u200burl"), f"{AT}/name"),
        (tool(NANGO, provider="micrоsoft"), f"{AT}/provider"),
        (tool(NANGO, endpoint="/mе"), f"{AT}/endpoint"),
        (tool(MCP, server="@example/mail-ｓerver"), f"{AT}/server"),
        (tool(MCP, scopes=["mail", "Mаil.Read"]), f"{AT}/scopes/1"),
        (tool(WEBHOOK, url="https://exаmple.org/"), f"{AT}/url"),
    ),
    *accepted("S9.1", tool(BUILTIN, description=""), tool(BUILTIN, server=1, scopes=None)),
    *refused("S9.1", *((tool(BUILTIN, description=value), f"{AT}/description") for value in NO_TEXT)),
    *accepted("S9.2", tool(MCP), tool(MCP, scopes=[], provider="", description="", requiresUserAuth=False)),
    *refused(
        "S9.2",
        *((tool(without(MCP, name)), f"{AT}/{name}") for name in ("server", "requiresUserAuth")),
        *((tool(MCP, server=value), f"{AT}/server") for value in ("", *NO_TEXT)),
        *((tool(MCP, requiresUserAuth=value), f"{AT}/requiresUserAuth") for value in NO_FLAG),
        *((tool(MCP, scopes=value), f"{AT}/scopes") for value in NO_LIST),
        (tool(MCP, scopes=["a", 1]), f"{AT}/scopes/1"),
        *((tool(MCP, provider=value), f"{AT}/provider") for value in NO_TEXT),
        *((tool(MCP, description=value), f"{AT}/description") for value in NO_TEXT),
    ),
    *accepted("S9.3", tool(WEBHOOK), *(tool(WEBHOOK, method=one) for one in ("GET", "POST", "PUT", "DELETE"))),
    *refused(
        "S9.3",
        (tool(without(WEBHOOK, "url")), f"{AT}/url"),
        *((tool(WEBHOOK, url=value), f"{AT}/url") for value in ("", *NO_TEXT)),
        *((tool(WEBHOOK, method=value), f"{AT}/method") for value in ("PATCH", "get", "", None, [])),
        *((tool(WEBHOOK, requiresUserAuth=value), f"{AT}/requiresUserAuth") for value in NO_FLAG),
        *((tool(WEBHOOK, description=value), f"{AT}/description") for value in NO_TEXT),
    ),
    *accepted("S9.4", *(tool(NANGO, method=one) for one in ("GET", "POST", "PUT", "PATCH", "DELETE"))),
    *refused(
        "S9.4",
        (tool(without(NANGO, "requiresUserAuth")), f"{AT}/requiresUserAuth"),
        *((tool(NANGO, requiresUserAuth=value), f"{AT}/requiresUserAuth") for value in NO_FLAG),
        *((tool(NANGO, method=value), f"{AT}/method") for value in ("HEAD", "get", "", None, [])),
        *((tool(NANGO, scopes=value), f"{AT}/scopes") for value in NO_LIST),
        *((tool(NANGO, description=value), f"{AT}/description") for value in NO_TEXT),
    ),
    *accepted(
        "S9.4-endpoint",
        *(
            tool(NANGO, endpoint=one)
            for one in ("/me", "me/messages", "/v4/documents:batch", "docs:get", "/a?u=http://b")
        ),
    ),
    *refused(
        "S9.4-endpoint",
        *(
            (tool(NANGO, endpoint=one), f"{AT}/endpoint")
            for one in ("https://example.org/me", "//example.org", "\\\\example.org", " HTTP:\\/example.org", "/\\x")
        ),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}{case.pointers}")
def test_case(case: Case) -> None:
    judge(case)
