"""What it costs to read an `.agent` file of 50 KiB and to check it by every rule, and to turn it into a draft.

Two kinds of file are read, both sound to the last member. The *usual* one is made up as the export of a working agent
is: 60 % prompt and recipes in prose, a dozen tools of all kinds, ten parameters, of which two are files, six sources
with all their contracts, eight checks, three triggers, skills and caveats. The *dense* one is what costs most in 50
KiB, thousands of the smallest entries there are. Which list of the format that is, is not for anybody to choose: each
of `DENSE` is filled in turn, no two entries the same, and the figure is that of the slowest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from agentfile import parse
from agentfile.draft import draft_of
from bench.checking import milliseconds
from bench.documents import PADDING
from bench.errors import BenchError

BYTES = 51_200
ROUNDS = 100

_SOURCES, _TOOLS, _PARAMETERS, _SKILLS, _CHECKS = 30, 50, 40, 20, 20

Members = dict[str, Any]


def usual() -> bytes:
    """A sound file of `BYTES`, as people export them; its prompt fills what the rest leaves."""
    return _padded(_usual, indent=2)


def every_list() -> bytes:
    """A sound file of `BYTES` with declarations in every list, so many that little is left for the prompt."""
    return _padded(_members, indent=1)


def dense() -> dict[str, bytes]:
    """Sound files of `BYTES`, or of one entry less, each with as many small entries as fit in the list it is named
    after, and `every_list`."""
    return {"every list": every_list(), **{name: _filled(put, entry) for name, (put, entry) in DENSE.items()}}


def _padded(members: Callable[[str], Members], indent: int) -> bytes:
    def encoded(prompt: int) -> bytes:
        text = (PADDING * (prompt // len(PADDING) + 1))[:prompt]
        return json.dumps(members(text), indent=indent).encode()

    data = encoded(1 + BYTES - len(encoded(1)))
    if len(data) != BYTES:
        raise BenchError(f"The file of {BYTES} bytes came out at {len(data)}.")
    return data


def _filled(put: Callable[[Members, list[Any]], None], entry: Callable[[int], Any]) -> bytes:
    def encoded(entries: list[Any]) -> bytes:
        members = _least()
        put(members, entries)
        return json.dumps(members, separators=(",", ":")).encode()

    each = len(encoded([entry(0), entry(1)])) - len(encoded([entry(0)]))
    entries = [entry(number) for number in range((BYTES - len(encoded([]))) // each)]
    while len(encoded(entries)) > BYTES:  # later entries are longer, by the digits of their numbers
        del entries[-max(1, (len(encoded(entries)) - BYTES) // (2 * each)) :]
    return encoded(entries)


def _least() -> Members:
    whole = _members("p")
    whole["blueprint"] = {"primaryModel": "a-model", "systemPrompt": "p", "tools": []}
    named = ("$schema", "id", "name", "description", "version", "exportedAt", "blueprint", "inputs", "outputs")
    return {name: whole[name] for name in named}


def _at(*way: str) -> Callable[[Members, list[Any]], None]:
    """Puts a list where this way leads."""

    def put(members: Members, entries: list[Any]) -> None:
        for step in way[:-1]:
            members = members.setdefault(step, {})
        members[way[-1]] = entries

    return put


def _in_source(contract: str, name: str, shape: Callable[[list[Any]], Any] = list) -> Any:
    """Puts a list into this member of one source."""

    def put(members: Members, entries: list[Any]) -> None:
        source: Members = {"id": "a", "label": "A", "role": "working", "kind": "file", "required": True}
        source["access"] = {"capabilities": ["read"]}
        source.setdefault(contract, {})[name] = shape(entries)
        members["sources"] = [source]

    return put


def _options(members: Members, entries: list[Any]) -> None:
    choice = {"name": "a", "label": "a", "type": "select", "required": True}
    members["parameters"] = [{**choice, "options": entries}]


def _checks(members: Members, entries: list[Any]) -> None:
    members["evaluation"] = {"version": 1, "failurePolicy": "warn", "checks": entries}


def _unnamed(members: Members, entries: list[Any]) -> None:
    members.update(dict.fromkeys(entries, 1))


DENSE: Mapping[str, tuple[Callable[[Members, list[Any]], None], Callable[[int], Any]]] = {
    "bare tools": (_at("blueprint", "tools"), lambda number: f"t{number}"),
    "tools": (_at("blueprint", "tools"), lambda number: {"kind": "builtin", "name": f"t{number}"}),
    "tools in another script": (_at("blueprint", "tools"), lambda number: f"{chr(0x4E00 + number)}{number}"),
    "thinking patterns": (_at("blueprint", "thinkingPatterns"), lambda number: f"p{number}"),
    "skills": (_at("blueprint", "skills"), lambda number: {"name": f"s{number}", "trigger": "", "recipe": ""}),
    "caveats": (_at("blueprint", "caveats"), lambda number: {"requested": f"{number}", "doing": "", "why": ""}),
    "parameters": (
        _at("parameters"),
        lambda number: {"name": f"p{number}", "label": "P", "type": "text", "required": True},
    ),
    "options": (_options, lambda number: {"value": number, "label": ""}),
    "triggers": (_at("triggers"), lambda number: {"type": f"t{number}"}),
    "reads": (_at("connectivity", "reads"), lambda number: {"provider": "p", "resource": f"r{number}"}),
    "columns": (_in_source("structure", "required"), lambda number: f"a.b{number}: c"),
    "formats": (_in_source("accepts", "extensions"), lambda number: f".x{number}"),
    "boundaries": (_in_source("access", "boundaries"), lambda number: f"/D/{number}"),
    "schemas in a schema": (
        _in_source("structure", "schema", lambda entries: {"properties": {name: {"a": 1} for name in entries}}),
        lambda number: f"c{number:05}",
    ),
    "checks": (
        _checks,
        lambda number: {"id": f"{number}", "name": "", "type": "freshness", "phase": "bind", "severity": "error"},
    ),
    "members that the format does not name": (_unnamed, lambda number: f"x{number}"),
}


def _usual(prompt: str) -> Members:
    prose = "Read what came in since the last run. Group it by customer, and say of each what is open. " * 6
    mcp = {"kind": "mcp", "name": "mail.send", "server": "@example/mail-server", "requiresUserAuth": True}
    mcp["scopes"] = ["send"]
    nango = {**_tool(1), "description": "Lists what came in, the newest first."}
    skill = {"trigger": "when asked to chase", "recipe": prose, "verified": True}
    webhook = {"kind": "webhook", "name": "notify", "url": "https://hooks.example.org/chase", "method": "POST"}
    workbook = {"kind": "table", "accepts": [".xlsx", ".csv"], "structure": ['Sheet "Invoices": invoice_id, due_date']}
    file = {"name": "workbook", "label": "Workbook", "type": "file", "required": True, "artifact": workbook}
    text = {"label": "Company name", "type": "string", "required": True, "description": "As it stands on an invoice."}
    whole = _members(prompt)
    whole["blueprint"] |= {
        "tools": ["create_reminder", "fetch_url", *([mcp] * 3), *([nango] * 5), *([webhook] * 2)],
        "skills": [{**skill, "name": f"skill_{number}"} for number in range(8)],
        "caveats": whole["blueprint"]["caveats"] * 3,
    }
    whole["parameters"] = [
        *({**file, "name": f"workbook_{number}"} for number in range(2)),
        *(_parameter(number) for number in range(3)),
        *({**text, "name": f"text_{number}"} for number in range(5)),
    ]
    whole["sources"] = [_source(number) for number in range(6)]
    whole["evaluation"]["checks"] = [{**_check(number), "sourceIds": [f"book_{number % 6}"]} for number in range(8)]
    return whole


def _members(prompt: str) -> dict[str, Any]:
    return {
        "$schema": "https://agentmug.com/schemas/agent.v1.json",
        "id": "bench-0001",
        "name": "Bench",
        "description": "Declares as much as a file of its size can.",
        "version": "1.0.0",
        "exportedAt": "2026-07-30T06:00:00Z",
        "blueprint": {
            "primaryModel": "a-model",
            "systemPrompt": prompt,
            "guardrails": {"sideEffectGate": "confirm"},
            "tools": [_tool(number) for number in range(_TOOLS)],
            "skills": [
                {"name": f"skill_{number}", "trigger": "when asked", "recipe": "1. Look. 2. Say."}
                for number in range(_SKILLS)
            ],
            "caveats": [{"requested": "Send it", "doing": "Drafting it", "why": "No sender is connected."}],
        },
        "parameters": [_parameter(number) for number in range(_PARAMETERS)],
        "inputs": {"accepts": ["text"]},
        "outputs": {"shape": "text"},
        "triggers": [{"type": "manual"}, {"type": "schedule", "cron": "0 7 * * 1-5", "timezone": "Asia/Riyadh"}],
        "connectivity": {"reads": [{"provider": "mail", "resource": "inbox"}]},
        "sources": [_source(number) for number in range(_SOURCES)],
        "evaluation": {
            "version": 1,
            "failurePolicy": "block",
            "checks": [_check(number) for number in range(_CHECKS)],
        },
        "metadata": {"tags": ["finance"], "pricing": {"kind": "free"}},
    }


def _tool(number: int) -> dict[str, Any]:
    return {
        "kind": "nango",
        "name": f"mail.list_{number}",
        "provider": "mail",
        "endpoint": f"/me/messages/{number}",
        "method": "GET",
        "scopes": ["Mail.Read"],
        "requiresUserAuth": True,
    }


def _parameter(number: int) -> dict[str, Any]:
    return {
        "name": f"choice_{number}",
        "label": "A choice",
        "type": "select",
        "required": True,
        "default": "eu",
        "options": [{"value": "eu", "label": "Europe"}, {"value": "us", "label": "America"}],
    }


def _source(number: int) -> dict[str, Any]:
    return {
        "id": f"book_{number}",
        "label": f"Book {number}",
        "role": "working",
        "kind": "file",
        "required": True,
        "accepts": {"extensions": [".xlsx", ".csv"]},
        "structure": {"required": ['Sheet "Invoices": invoice_id, due_date']},
        "freshness": {"mode": "on-run", "onStale": "fail"},
        "truth": {"authority": "authoritative", "conflictPolicy": "ask", "citations": "required"},
        "access": {"capabilities": ["read", "cite", "sync", "append"], "boundaries": ['Sheet "Summary": B2:H40']},
        "approval": {"write": "every-run", "destructive": "forbidden"},
        "sharing": {"strategy": "rebind", "derivedKnowledge": "exclude"},
    }


def _check(number: int) -> dict[str, Any]:
    return {
        "id": f"check_{number}",
        "name": "The book is there",
        "type": "source-ready",
        "phase": "pre-run",
        "severity": "error",
        "sourceIds": [f"book_{number}"],
    }


def measure(usual_file: bytes, dense_files: Mapping[str, bytes]) -> dict[str, Any]:
    """The milliseconds that reading and checking takes, of the usual file and of the slowest dense one, and drafting.

    `dense_each_ms`: of each dense file. Raises BenchError when a file is not clean.
    """

    def read(data: bytes) -> None:
        if parse(data).findings:
            raise BenchError("The file that is read here is not clean.")

    file = parse(usual_file).require()
    each = {name: round(milliseconds(partial(read, data), ROUNDS), 3) for name, data in dense_files.items()}
    slowest = max(each, key=lambda name: each[name])
    return {
        "bytes": len(usual_file),
        "usual_ms": round(milliseconds(partial(read, usual_file), ROUNDS), 3),
        "dense_ms": each[slowest],
        "dense_slowest": slowest,
        "dense_each_ms": each,
        "draft_ms": round(milliseconds(partial(draft_of, file), ROUNDS), 3),
    }
