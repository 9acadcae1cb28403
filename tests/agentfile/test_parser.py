"""The reader: the version first, everything that is wrong at once, and never anything but findings."""

from __future__ import annotations

import copy
import doctest
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentfile.parser
from agentfile import AgentFile, AgentFileError, Parsed, members, parse
from agentfile.model import BuiltinTool, LegacyTool, McpTool, NangoTool, OtherTrigger, ScheduleTrigger, WebhookTool
from agentfile.parser import MAX_BYTES, MOST_FINDINGS_OF_A_RULE
from agentfile.shapes import plan
from descriptor.canonical import canonical
from descriptor.pointers import pointer_to
from descriptor.rules.table import Severity
from tests.agentfile.cases import (
    EXAMPLE,
    EXAMPLE_BYTES,
    LEGACY_SCHEMA,
    SCHEMA,
    SCHEMA_V2,
    SOURCE,
    WHOLE,
    Path,
    blueprint,
    encoded,
    evaluation,
    file,
    places,
)
from tests.agentfile.strategies import OPEN_PLACES, at, documents, extended, mutations, objects, values

GARBAGE = {"executable": "rm -rf /", "id": 7, "blueprint": None, "sources": [{"path": "/srv"}], "capabilityCapsules": 1}


def broken(parsed: Parsed) -> list[tuple[str, str]]:
    return [(finding.rule, finding.pointer) for finding in parsed.findings]


# What a file says


def test_the_example_of_section_21_is_read_as_it_is_written() -> None:
    parsed = parse(EXAMPLE_BYTES)
    assert parsed.findings == ()
    read = parsed.require()
    assert members(read) == EXAMPLE
    assert (read.id, read.emoji, read.exported_at) == ("agent_invoice_chaser_01", "📄", "2026-07-30T06:00:00Z")
    first, second = read.blueprint.tools
    assert (first, first.kind) == (LegacyTool("create_reminder"), "builtin")
    assert isinstance(second, NangoTool)
    assert (second.provider, second.scopes, second.requires_user_auth) == ("microsoft-outlook", ("Mail.Read",), True)
    assert read.blueprint.guardrails is not None
    assert read.blueprint.guardrails.side_effect_gate == "confirm"
    assert read.parameters is not None
    assert read.parameters[0].artifact is None
    assert read.parameters[1].artifact is not None
    assert read.parameters[1].artifact.accepts == (".xlsx", ".csv")
    assert read.triggers is not None
    assert isinstance(read.triggers[0], OtherTrigger)
    assert isinstance(read.triggers[1], ScheduleTrigger)
    assert read.triggers[1].timezone == "Asia/Riyadh"
    assert read.sources is not None
    assert read.sources[0].access.capabilities == ("read", "cite", "sync")
    assert (read.brain, read.memory, read.other) == (None, None, {})


def test_tools_come_in_every_shape() -> None:
    tools = parse(encoded(WHOLE)).require().blueprint.tools
    assert [type(one) for one in tools] == [LegacyTool, BuiltinTool, McpTool, WebhookTool, NangoTool]


def test_a_trigger_that_nobody_knows_is_kept() -> None:
    strange = {"type": "on-the-full-moon", "cron": 7, "path": None}
    parsed = parse(encoded(file(triggers=[strange])))
    assert parsed.findings == ()
    assert parsed.require().triggers == (OtherTrigger(type="on-the-full-moon", other={"cron": 7, "path": None}),)


def test_unknown_members_are_kept_where_they_stand() -> None:
    document = copy.deepcopy(WHOLE)
    strange = {"deep": [None, True, 1.5, {"executable": "text of somebody else's"}]}
    for path in OPEN_PLACES:
        at(document, path)["x-strange"] = strange
    parsed = parse(encoded(document))
    assert {finding.rule for finding in parsed.findings} == {"S17-private"}
    assert members(parsed.require()) == document
    assert parsed.require().blueprint.other == {"x-strange": strange}


def test_metadata_of_another_form_is_kept_and_not_read() -> None:
    strange = {"tags": "finance", "sourceUrl": 7, "pricing": {"kind": "free", "amountUsd": "0"}}
    parsed = parse(encoded(file(metadata=strange)))
    assert {finding.severity for finding in parsed.findings} == {Severity.WARNING}
    metadata = parsed.require().metadata
    assert metadata is not None
    assert (metadata.tags, metadata.source_url) == (None, None)
    assert metadata.pricing is not None
    assert metadata.pricing.amount_usd is None
    assert members(parsed.require())["metadata"] == strange


def test_what_is_private_is_in_no_repr() -> None:
    shown = repr(parse(encoded(file(**{name: WHOLE[name] for name in ("brain", "memory")}))).require())
    assert "Customers" not in shown
    assert "formal" not in shown
    assert "You read." not in shown


# The version


@pytest.mark.parametrize("schema", [SCHEMA, LEGACY_SCHEMA])
def test_both_addresses_of_version_1_are_read(schema: str) -> None:
    assert parse(encoded(file(**{"$schema": schema}))).require().schema == schema


FIRST = b'{"$schema": "' + SCHEMA_V2.encode() + b'"'


@pytest.mark.parametrize(
    "data",
    [
        encoded({"$schema": SCHEMA_V2, **GARBAGE}),
        encoded({**GARBAGE, "$schema": SCHEMA_V2}),
        encoded({"$schema": "https://example.org/agent", **GARBAGE}),
        encoded({"$schema": None, **GARBAGE}),
        encoded(GARBAGE),
        b" \r\n\t{\n" + FIRST[1:] + b", not JSON at all",
        FIRST,
        FIRST + b', "name": "a", "name": "b"}',
        FIRST + b', "a": \xff}',
        FIRST + b', "a": ' + b"[" * 10_000,
        FIRST + b', "a": "' + b"x" * MAX_BYTES + b'"}',
        FIRST.replace(b"agent.v2", b"agent\\u002ev2") + b", garbage",
    ],
    ids=str,
)
def test_of_a_file_of_another_version_nothing_but_the_version_is_told(data: bytes) -> None:
    parsed = parse(data)
    assert broken(parsed) == [("R2", "/$schema")]
    assert parsed.file is None


def test_a_schema_that_is_escaped_is_read_as_json_reads_it() -> None:
    assert parse(EXAMPLE_BYTES.replace(b"agent.v1", b"agent\\u002ev1")).findings == ()
    assert broken(parse(b'{"$schema": "\\x"}')) == [("S5", "")]
    assert broken(parse(b'{"$schema": "\xff"}')) == [("S5", "")]


def test_a_file_of_version_2_is_told_so() -> None:
    (finding,) = parse(encoded(file(**{"$schema": SCHEMA_V2}))).findings
    assert "version 2" in finding.message


# Everything at once


def test_all_findings_come_at_once_and_in_the_order_of_the_format() -> None:
    document = evaluation(checks=[])
    document |= {"emoji": 1, "inputs": {"accepts": ["smell"]}, "memory": {}, "sources": [{**SOURCE, "locator": "x"}]}
    document["blueprint"] = {"systemPrompt": "", "tools": [7, {"kind": "unheard-of", "name": "x"}]}
    del document["name"]
    parsed = parse(encoded(document))
    assert parsed.file is None
    assert broken(parsed) == [
        ("R3", "/name"),
        ("R4", "/emoji"),
        ("R6", "/blueprint/primaryModel"),
        ("R7", "/blueprint/tools/0"),
        ("R8", "/blueprint/tools/1/kind"),
        ("R13", "/inputs/accepts/0"),
        ("S14-private", "/sources/0/locator"),
        ("R22", "/evaluation/checks"),
        ("R23", "/memory"),
        ("S17-private", "/memory"),
    ]
    assert [finding.number for finding in parsed.findings] == [3, 4, 6, 7, 8, 13, 21, 22, 23, None]
    assert [finding.rule for finding in parsed.warnings] == ["S17-private"]


def test_a_mistake_made_very_often_is_listed_a_hundred_times() -> None:
    findings = parse(encoded(blueprint(tools=[""] * (MOST_FINDINGS_OF_A_RULE + 1)))).findings
    assert len(findings) == MOST_FINDINGS_OF_A_RULE
    assert "more like this" in findings[-1].message
    assert "more like this" not in findings[-2].message
    findings = parse(encoded(blueprint(tools=[""] * MOST_FINDINGS_OF_A_RULE))).findings
    assert "more like this" not in findings[-1].message


def test_a_refused_file_is_an_error_to_whoever_needs_it() -> None:
    with pytest.raises(AgentFileError) as raised:
        parse(encoded(file(id=..., emoji=1, outputs=...))).require()
    assert raised.value.code == "REFUSED"
    assert raised.value.pointer == "/id"
    assert [finding.rule for finding in raised.value.findings] == ["R3", "R4"]
    assert "R3 at /id" in str(raised.value)
    assert "1 more" in str(raised.value)


def test_the_limits_are_the_caller_s() -> None:
    assert broken(parse(EXAMPLE_BYTES, max_bytes=len(EXAMPLE_BYTES) - 1)) == [("S19.10", "")]
    assert broken(parse(EXAMPLE_BYTES, max_depth=5)) == [("S19.10", "")]
    assert parse(EXAMPLE_BYTES, max_bytes=len(EXAMPLE_BYTES), max_depth=6).findings == ()


def test_the_example_in_the_docstring_is_true() -> None:
    found = doctest.testmod(agentfile.parser)
    assert found.attempted > 0
    assert found.failed == 0


# Every member of the format, each corrupted


WRONG: tuple[Any, ...] = (None, True, -7, "", [], {})
# Where any value may stand: in plain JSON, and in what may be one of several types.
FREE = ("/schema/", "/proof/", "/config/", "/parameters/0/default", "/options/0/value")
MEMBERS = [(path, value) for path, value in places(WHOLE) if not any(one in f"{pointer_to(*path)}" for one in FREE)]


def kind_of(value: Any) -> str:
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


def changed(path: Path, value: Any) -> dict[str, Any]:
    document = copy.deepcopy(WHOLE)
    at(document, path[:-1])[path[-1]] = value
    return document


def test_the_whole_file_is_sound_and_names_every_member_of_the_format() -> None:
    parsed = parse(encoded(WHOLE))
    assert {finding.rule for finding in parsed.findings} == {"S17-private"}
    assert members(parsed.require()) == WHOLE
    found: dict[type[Any], set[str]] = {}
    for model, held, _ in objects(AgentFile, WHOLE):
        found.setdefault(model, set()).update(held)
    assert {model: plan(model).names - held for model, held in found.items()} == {model: set() for model in found}
    assert set(models(AgentFile)) - {LegacyTool} == set(found)


def models(model: type[Any]) -> Iterator[type[Any]]:
    """Every class that a file may be made of."""
    yield model
    for member in plan(model).members:
        if member.shape.of is not None:
            entries: list[Any] = ["text", {}, *at_name(member.name)]
            for inner in {member.shape.of(entry).model for entry in entries}:
                yield from models(inner) if inner is not LegacyTool else (inner,)


def at_name(name: str) -> list[Any]:
    found = (value for path, value in places(WHOLE) if path[-1] == name and isinstance(value, list))
    return [entry for entries in found for entry in entries]


def test_a_member_of_the_wrong_type_is_found_where_it_stands() -> None:
    corruptions = [(path, wrong) for path, value in MEMBERS for wrong in WRONG if kind_of(wrong) != kind_of(value)]
    assert len(corruptions) > 900
    missed = []
    for path, wrong in corruptions:
        pointer = pointer_to(*path)
        found = {finding.pointer for finding in parse(encoded(changed(path, wrong))).findings}
        # Where an object may stand, an empty one lacks what belongs in it, and that is what is said.
        if not any(one == pointer or (wrong == {} and one.startswith(f"{pointer}/")) for one in found):
            missed.append((pointer, wrong))
    assert missed == []


def test_an_unknown_member_is_refused_under_sources_and_nowhere_else() -> None:
    for model, _, path in objects(AgentFile, WHOLE):
        found = broken(parse(encoded(changed((*path, "unheard-of"), None))))
        closed = [("S14-closed", pointer_to(*path, "unheard-of"))] if plan(model).closed else []
        assert [one for one in found if one[0] != "S17-private"] == closed


def test_an_executable_is_refused_in_every_object_of_the_format() -> None:
    for model, _, path in objects(AgentFile, WHOLE):
        parsed = parse(encoded(changed((*path, "executable"), "x")))
        rule = "S14-closed" if plan(model).closed else "S8.2-executable"
        assert [(one.rule, one.pointer) for one in parsed.errors] == [(rule, pointer_to(*path, "executable"))]


# Whatever comes


def judge(data: bytes) -> None:
    parsed = parse(data)
    assert (parsed.file is None) == bool(parsed.errors)
    for finding in parsed.findings:
        assert finding.pointer == "" or finding.pointer.startswith("/")
        assert 0 < len(finding.message) < 1_000
    if parsed.file is not None:
        assert canonical(members(parsed.file)) == canonical(json.loads(data))


@given(st.binary())
def test_any_bytes_are_judged(data: bytes) -> None:
    assert parse(data).errors


@given(st.integers(0, len(EXAMPLE_BYTES)), st.integers(0, 8), st.binary(max_size=8))
def test_any_damage_to_the_bytes_is_judged(start: int, length: int, replacement: bytes) -> None:
    parsed = parse(EXAMPLE_BYTES[:start] + replacement + EXAMPLE_BYTES[start + length :])
    assert (parsed.file is None) == bool(parsed.errors)


@given(values)
def test_any_json_is_judged(value: Any) -> None:
    assert parse(encoded(value)).errors


@given(documents)
def test_any_object_of_version_1_is_judged(document: dict[str, Any]) -> None:
    judge(encoded(document))


@given(mutations())
def test_any_change_of_a_sound_file_is_judged(document: dict[str, Any]) -> None:
    judge(encoded(document))


@given(extended())
def test_unknown_members_never_refuse_a_file(document: dict[str, Any]) -> None:
    assert {finding.rule for finding in parse(encoded(document)).findings} == {"S17-private"}
