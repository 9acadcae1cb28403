"""What a case of a rule of the `.agent` format is, and the files that cases are made from.

A module of `tests.agentfile.rules` lists its cases in `CASES` and hands them to `judge`. Every rule has at least one
accepted and one refused case: `test_table.py` there sees to it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from agentfile import parse

SCHEMA = "https://agentmug.com/schemas/agent.v1.json"
LEGACY_SCHEMA = "https://agentlit.dahshanlabs.com/schemas/agent.v1.json"
SCHEMA_V2 = "https://agentmug.com/schemas/agent.v2.json"

EXAMPLE_BYTES = FilePath(__file__).with_name("section_21.agent").read_bytes()
EXAMPLE: dict[str, Any] = json.loads(EXAMPLE_BYTES)

LEAST: dict[str, Any] = {
    "$schema": SCHEMA,
    "id": "a1b2c3d4e5",
    "name": "Reader",
    "description": "Reads.",
    "version": "1.0.0",
    "exportedAt": "2026-07-30T06:00:00Z",
    "blueprint": {"primaryModel": "a-model", "systemPrompt": "You read.", "tools": []},
    "inputs": {"accepts": ["text"]},
    "outputs": {"shape": "text"},
}
SOURCE: dict[str, Any] = {
    "id": "book",
    "label": "Book",
    "role": "working",
    "kind": "file",
    "required": True,
    "access": {"capabilities": ["read"]},
}
CHECK: dict[str, Any] = {
    "id": "ready",
    "name": "Ready",
    "type": "source-ready",
    "phase": "pre-run",
    "severity": "error",
}
PARAMETER: dict[str, Any] = {"name": "city", "label": "City", "type": "string", "required": True}
ARTIFACT: dict[str, Any] = {"kind": "table", "accepts": [".csv"]}
SKILL: dict[str, Any] = {"name": "chase", "trigger": "When asked.", "recipe": "1. Look."}
CAVEAT: dict[str, Any] = {"requested": "Send it", "doing": "Drafting it", "why": "No sender."}
MCP: dict[str, Any] = {"kind": "mcp", "name": "mail.send", "server": "mail-server", "requiresUserAuth": True}
WEBHOOK: dict[str, Any] = {"kind": "webhook", "name": "notify", "url": "https://example.org/hook"}
NANGO: dict[str, Any] = {
    "kind": "nango",
    "name": "mail.list",
    "provider": "mail",
    "endpoint": "/me/messages",
    "requiresUserAuth": True,
}

# Every member that the format names, each at least once.
WHOLE: dict[str, Any] = {
    **LEAST,
    "emoji": "📄",
    "blueprint": {
        "primaryModel": "a-model",
        "systemPrompt": "You read for {{params.company}}.",
        "tools": [
            "create_reminder",
            {"kind": "builtin", "name": "fetch_url", "description": "Fetches."},
            {**MCP, "scopes": ["mail.send"], "provider": "mail", "description": "Sends."},
            {**WEBHOOK, "method": "PUT", "requiresUserAuth": False, "description": "Notifies."},
            {**NANGO, "method": "PATCH", "scopes": ["Mail.Read"], "description": "Lists."},
        ],
        "maxTokens": 8192,
        "extendedThinkingBudget": 1024.5,
        "guardrails": {"sideEffectGate": "confirm"},
        "thinkingPatterns": ["react"],
        "architecture": "solo",
        "skills": [{**SKILL, "verified": True, "proof": {"runs": 3}}],
        "caveats": [
            {
                **CAVEAT,
                "options": [
                    {"label": "Connect", "detail": "Sends.", "recommended": True},
                    {"label": "Keep", "detail": "Safer.", "recommended": False},
                ],
            }
        ],
    },
    "parameters": [
        {**PARAMETER, "description": "Where.", "default": "Riyadh", "placeholder": "A city"},
        {**PARAMETER, "name": "Region", "type": "select", "options": [{"value": "eu", "label": "Europe"}]},
        {
            **PARAMETER,
            "name": "ledger",
            "type": "file",
            "artifact": {"kind": "table", "accepts": [".csv", "text/csv"], "structure": ["id, amount"]},
        },
    ],
    "inputs": {"accepts": ["text", "audio", "image"], "placeholder": "Ask", "schema": {"type": "object"}},
    "outputs": {"shape": "json", "schema": {"type": "object"}, "description": "A list."},
    "triggers": [
        {"type": "manual"},
        {"type": "schedule", "cron": "0 7 * * 1-5", "prompt": "Chase.", "timezone": "Asia/Riyadh", "label": "Daily"},
        {"type": "webhook", "path": "/start"},
        {"type": "api", "endpoint": "/run"},
    ],
    "connectivity": {
        "identities": [{"role": "owner", "channel": "whatsapp"}],
        "reads": [{"provider": "mail", "resource": "inbox"}],
        "delivers": [{"channel": "whatsapp", "to": "owner", "via": "whatsapp.send"}],
    },
    "sources": [
        {
            **SOURCE,
            "role": "output",
            "description": "The book.",
            "accepts": {"extensions": [".csv"], "mediaTypes": ["text/csv"], "providerTypes": ["sheet"]},
            "structure": {"required": ["id, amount"], "optional": ["note"], "schema": {"type": "object"}},
            "freshness": {"mode": "on-run", "onStale": "warn", "maxAgeSeconds": 3600},
            "truth": {
                "authority": "supporting",
                "priority": 50,
                "conflictPolicy": "ask",
                "citations": "required",
            },
            "access": {
                "capabilities": ["read", "cite", "sync", "append", "delete"],
                "boundaries": ['Sheet "Summary": B2:H40'],
            },
            "approval": {"read": "on-bind", "write": "every-run", "destructive": "every-action"},
            "sharing": {"strategy": "rebind", "derivedKnowledge": "exclude", "recipientMayOverride": False},
        }
    ],
    "evaluation": {
        "version": 1,
        "failurePolicy": "block",
        "minimumScore": 0.5,
        "checks": [
            {**CHECK, "sourceIds": ["book"], "description": "Is it there?", "config": {"tries": 2}},
            {**CHECK, "id": "once", "type": "invariant", "assertion": "No row is listed twice."},
        ],
    },
    "metadata": {
        "sourceUrl": "https://example.org/agents/1",
        "sourceUserId": "u1",
        "tags": ["finance"],
        "pricing": {"kind": "one-time", "amountUsd": 4.5},
    },
    "brain": [
        {
            "title": "Customers",
            "content": "They pay late.",
            "slug": "customers",
            "summary": "Late.",
            "links": ["suppliers"],
            "sources": ["book"],
        }
    ],
    "memory": [{"key": "tone", "value": "formal", "importance": 0.5}],
}

Path = tuple[str | int, ...]

PRIVATE = "S17-private"


@dataclass(frozen=True)
class Case:
    """A file, and where it breaks `rule` and no other rule. `pointers` is empty: it is clean."""

    rule: str
    file: dict[str, Any] | bytes
    pointers: tuple[str, ...] = ()


def accepted(rule: str, *files: dict[str, Any] | bytes) -> list[Case]:
    """Files that keep `rule` where it looks, and every other rule too."""
    return [Case(rule, one) for one in files]


def refused(rule: str, *broken: tuple[dict[str, Any] | bytes, str | tuple[str, ...]]) -> list[Case]:
    """Files that break `rule` alone, each with the pointer or pointers of its findings."""
    return [Case(rule, one, (pointers,) if isinstance(pointers, str) else pointers) for one, pointers in broken]


def judge(case: Case) -> None:
    """The test of one case. That private members are there is said of every file that has them, and is no fault."""
    parsed = parse(case.file if isinstance(case.file, bytes) else encoded(case.file))
    found = [(one.rule, one.pointer) for one in parsed.findings if one.rule == case.rule or one.rule != PRIVATE]
    assert found == [(case.rule, pointer) for pointer in case.pointers]
    assert (parsed.file is None) == bool(parsed.errors)


def encoded(document: object) -> bytes:
    """The bytes of a file."""
    return json.dumps(document).encode()


def file(**members: Any) -> dict[str, Any]:
    """A sound file with these members; one that is `...` is left out."""
    return {name: value for name, value in {**LEAST, **members}.items() if value is not ...}


def blueprint(**members: Any) -> dict[str, Any]:
    """A sound file with these members in its blueprint."""
    return file(blueprint=_with(LEAST["blueprint"], members))


def tool(value: Any, **members: Any) -> dict[str, Any]:
    """A sound file with this one tool, at `/blueprint/tools/0`."""
    return blueprint(tools=[_with(value, members) if members else value])


def parameter(**members: Any) -> dict[str, Any]:
    """A sound file with this one parameter, at `/parameters/0`."""
    return file(parameters=[_with(PARAMETER, members)])


def source(**members: Any) -> dict[str, Any]:
    """A sound file with this one source, at `/sources/0`."""
    return file(sources=[_with(SOURCE, members)])


def check(**members: Any) -> dict[str, Any]:
    """A sound file with this one check, at `/evaluation/checks/0`, and one source, `book`."""
    return evaluation(checks=[_with(CHECK, members)])


def evaluation(**members: Any) -> dict[str, Any]:
    """A sound file with an evaluation that has these members, and one source, `book`."""
    whole = {"version": 1, "failurePolicy": "block", "checks": [CHECK]}
    return file(sources=[SOURCE], evaluation=_with(whole, members))


def places(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every member and entry within a value, with its path."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*path, step), inner
        yield from places(inner, (*path, step))


def _with(members: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**members, **changes}.items() if value is not ...}
