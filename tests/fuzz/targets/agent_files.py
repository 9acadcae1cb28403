"""An `.agent` file from anywhere: it is read or refused with findings, and what is read can be put to every use.

- `parse` raises nothing. There is a file exactly when no finding is an error; one place that breaks one rule is one
  finding, whose text is fit to be shown and whose pointer is one.
- A file that is read holds what the bytes hold. Built and read again it is the same; built to be shared it holds
  neither `brain` nor `memory`, and no member under `sources` that the format does not name.
- Its draft Descriptor has no error; of what it needs, renders and does about triggers, everything can be said.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from agentfile import AgentFile, Parsed, build, file_name, members, parse, shareable
from agentfile.credentials import credential_needs
from agentfile.draft import draft_of
from agentfile.model import SourceRequirement
from agentfile.parameters import fill, read, settle
from agentfile.parser import MOST_FINDINGS_OF_A_RULE
from agentfile.shapes import plan
from agentfile.triggers import trigger_reports
from agentfile.vocabulary import SCHEMA
from descriptor.canonical import canonical
from descriptor.checker import check
from descriptor.pointers import pointer_to, tokens
from tests.agentfile.strategies import NAMES, WORDS, objects
from tests.fuzz.mutation import of_json

NOW = 1_785_391_200.0
EXPORTED_AT = "2026-07-30T06:00:00.000Z"
_PRIVATE = """
locator credentialRef adapterId path url revision displayName sourceBinding CredentialRef credential_ref executable
capabilityCapsules properties $defs {{params.city}} {{ PARAMS.City }} on-run watch delete every-action
"""
TOKENS = (
    *NAMES,
    *filter(None, WORDS),
    *_PRIVATE.split(),
    "pаth",
    "ｕｒｌ",
    "sk-proj-a1b2c3d4e5f6g7h8i9j0k1l2",
    "/home/ada/book.xlsx",
)

mutate = of_json(TOKENS)


def one_input(data: bytes) -> None:
    parsed = parse(data)
    _assert_told(parsed)
    if parsed.file is None:
        return
    file, document = parsed.file, json.loads(data)
    assert canonical(members(file)) == canonical(document)
    now = replace(file, schema=SCHEMA, exported_at=EXPORTED_AT)
    assert parse(build(file, now=NOW, personal=True)).require() == now
    shared = build(file, now=NOW)
    assert parse(shared).require() == shareable(now)
    _assert_shareable(json.loads(shared))
    _assert_usable(file, document)


def _assert_told(parsed: Parsed) -> None:
    assert (parsed.file is None) == bool(parsed.errors)
    places = [(finding.rule, finding.pointer) for finding in parsed.findings]
    assert len(set(places)) == len(places)
    rules = [finding.rule for finding in parsed.findings]
    assert all(rules.count(rule) <= MOST_FINDINGS_OF_A_RULE for rule in set(rules))
    for finding in parsed.findings:
        assert finding.message.isprintable()
        assert 0 < len(finding.message) < 1_000
        assert finding.remedy
        assert pointer_to(*tokens(finding.pointer)) == finding.pointer


def _assert_shareable(document: dict[str, Any]) -> None:
    assert not {"brain", "memory"} & document.keys()
    for source in document.get("sources", ()):
        for model, held, _ in objects(SourceRequirement, source):
            assert held.keys() <= plan(model).names


def _assert_usable(file: AgentFile, document: dict[str, Any]) -> None:
    drafted = draft_of(file)
    report = check(json.dumps(drafted.members).encode())
    assert report.errors == ()
    for line in drafted.report:
        assert line.message.isprintable()
        assert pointer_to(*tokens(line.pointer)) == line.pointer
    assert file_name(file).endswith(".agent")
    asked = read(document.get("parameters", ()))
    settled = settle(asked, {})
    filled = fill(file.blueprint.system_prompt, settled.values)
    assert settled.ready <= all(not one.required or one.name in settled.values for one in asked)
    if not settled.values:
        assert filled.text == file.blueprint.system_prompt
    found = credential_needs(document["blueprint"]["tools"])
    asking = [
        one for one in document["blueprint"]["tools"] if isinstance(one, dict) and one.get("requiresUserAuth") is True
    ]
    assert len(found.unnamed) + sum(len(need.tools) for need in found.by_provider) <= len(asking)
    assert len(trigger_reports(document.get("triggers", ()))) == len(document.get("triggers", ()))
