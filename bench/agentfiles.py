"""What it costs to read an `.agent` file of 50 KiB and to check it by every rule, and to turn it into a draft.

The file is of the kind that costs: many members rather than a long text, in all the lists that a file has. It is sound
and nothing is found; each part of it, changed, has to be found, which is what the tests of this file see to.
"""

from __future__ import annotations

import json
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


def document() -> bytes:
    """A sound file of `BYTES`, of which the prompt fills what the declarations leave."""
    without = len(_encoded(1))
    data = _encoded(1 + BYTES - without)
    if len(data) != BYTES:
        raise BenchError(f"The file of {BYTES} bytes came out at {len(data)}.")
    return data


def _encoded(prompt: int) -> bytes:
    text = (PADDING * (prompt // len(PADDING) + 1))[:prompt]
    return json.dumps(_members(text), indent=1).encode()


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


def measure(data: bytes) -> dict[str, float]:
    """The milliseconds that reading and checking `data` takes, and drafting what was read.

    Raises BenchError when it is not sound.
    """

    def read() -> None:
        if parse(data).findings:
            raise BenchError("The file that is read here is not clean.")

    file = parse(data).require()
    return {
        "bytes": len(data),
        "parse_ms": round(milliseconds(read, ROUNDS), 3),
        "draft_ms": round(milliseconds(partial(draft_of, file), ROUNDS), 3),
    }
