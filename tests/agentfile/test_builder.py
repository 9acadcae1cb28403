"""The writer: what it writes is what a reader reads, and nothing private leaves by itself."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfile import AgentFile, AgentFileError, build, file_name, members, parse, shareable
from agentfile.model import Blueprint, BuiltinTool, Fact, Inputs, LegacyTool, Metadata, OtherTrigger, Outputs
from agentfile.parser import MAX_BYTES
from descriptor.canonical import canonical
from descriptor.errors import DescriptorError
from tests.agentfile.cases import EXAMPLE, EXAMPLE_BYTES, LEGACY_SCHEMA, SCHEMA, WHOLE, encoded, file
from tests.agentfile.strategies import documents, extended, mutations

NOW = 1_785_391_200.0  # 2026-07-30T06:00:00Z
LEAST = AgentFile(
    id="a1b2c3d4e5",
    name="Invoice Chaser",
    description="Chases.",
    version="1.0.0",
    blueprint=Blueprint(primary_model="a-model", system_prompt="You chase.", tools=()),
    inputs=Inputs(accepts=("text",)),
)


def test_a_file_is_written_with_what_it_says_and_nothing_else() -> None:
    assert json.loads(build(LEAST, now=NOW)) == {
        "$schema": SCHEMA,
        "id": "a1b2c3d4e5",
        "name": "Invoice Chaser",
        "description": "Chases.",
        "version": "1.0.0",
        "exportedAt": "2026-07-30T06:00:00.000Z",
        "blueprint": {"primaryModel": "a-model", "systemPrompt": "You chase.", "tools": []},
        "inputs": {"accepts": ["text"]},
    }


def test_the_schema_stands_first_and_is_the_current_one() -> None:
    read = parse(encoded({**EXAMPLE, "$schema": LEGACY_SCHEMA})).require()
    data = build(read, now=NOW)
    assert next(iter(json.loads(data).items())) == ("$schema", SCHEMA)
    assert data.startswith(b'{\n  "$schema"')
    assert data.endswith(b"}\n")


def test_text_is_written_as_it_is() -> None:
    assert '"emoji": "📄"'.encode() in build(parse(EXAMPLE_BYTES).require(), now=NOW)


def test_the_example_survives() -> None:
    data = build(parse(EXAMPLE_BYTES).require(), now=NOW)
    assert json.loads(data) == {**EXAMPLE, "exportedAt": "2026-07-30T06:00:00.000Z"}


def test_a_large_file_is_written_without_blanks() -> None:
    # Of these, blanks would make more than is read.
    facts = tuple(Fact(key=f"k{number}", value="x" * 60) for number in range(80_000))
    data = build(replace(LEAST, memory=facts), now=NOW, personal=True)
    assert len(data) < MAX_BYTES
    assert f'{{"key":"k0","value":"{"x" * 60}"}},'.encode() in data
    assert parse(data).require().memory == facts


def test_an_empty_list_is_not_an_absent_one() -> None:
    document = file(parameters=[], triggers=[], sources=[])
    assert json.loads(build(parse(encoded(document)).require(), now=NOW)).keys() == document.keys()


@pytest.mark.parametrize("now", [float("nan"), float("inf"), 1e12])
def test_a_time_that_is_none_is_refused(now: float) -> None:
    with pytest.raises(DescriptorError) as raised:
        build(LEAST, now=now)
    assert raised.value.code == "BAD_TIMESTAMP"


# What is private


def test_only_a_personal_export_holds_what_is_private() -> None:
    read = parse(encoded(WHOLE)).require()
    shared = json.loads(build(read, now=NOW))
    assert not {"brain", "memory"} & shared.keys()
    assert b"They pay late" not in build(read, now=NOW)
    personal = json.loads(build(read, now=NOW, personal=True))
    assert {name: personal[name] for name in ("brain", "memory")} == {name: WHOLE[name] for name in ("brain", "memory")}
    assert {**shared, **{name: WHOLE[name] for name in ("brain", "memory")}} == personal


def test_what_is_shareable_is_public_and_the_rest_stays() -> None:
    read = parse(encoded(WHOLE)).require()
    shared = shareable(read)
    assert (shared.brain, shared.memory) == (None, None)
    assert replace(shared, brain=read.brain, memory=read.memory) == read
    assert shared.blueprint.skills == read.blueprint.skills
    assert shared.blueprint.caveats == read.blueprint.caveats


def test_what_is_private_does_not_leave_as_an_unknown_member() -> None:
    with pytest.raises(AgentFileError) as raised:
        build(replace(LEAST, other={"memory": [{"key": "tone", "value": "formal"}]}), now=NOW)
    assert raised.value.code == "NOT_THE_SAME"


# What is not written


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        (replace(LEAST, name=""), "R3"),
        (replace(LEAST, outputs=Outputs(shape="picture")), "R14"),
        (replace(LEAST, memory=(Fact(key="", value=""),)), "R23"),
        (replace(LEAST, other={"executable": "x"}), "S8.2-executable"),
        (replace(LEAST, other={"sourceBindings": []}), "S3-binding"),
        (replace(LEAST, other={"n": "x" * MAX_BYTES}), "S19.10"),
        (replace(LEAST, blueprint=replace(LEAST.blueprint, tools=(LegacyTool(""),))), "R7"),
    ],
)
def test_a_file_that_no_reader_would_take_is_not_written(wrong: AgentFile, rule: str) -> None:
    with pytest.raises(AgentFileError) as raised:
        build(wrong, now=NOW, personal=True)
    assert raised.value.code == "REFUSED"
    assert [finding.rule for finding in raised.value.findings] == [rule]


def deep(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), {1, 2}, b"x", "\ud800", deep(100_000)], ids=lambda value: type(value).__name__
)
def test_what_json_does_not_have_is_not_written(value: Any) -> None:
    with pytest.raises(AgentFileError) as raised:
        build(replace(LEAST, other={"x": value}), now=NOW)
    assert raised.value.code == "NOT_JSON"


@pytest.mark.parametrize(
    "wrong",
    [
        replace(LEAST, other={"id": "another"}),
        replace(LEAST, other={"emoji": "x"}),
        replace(LEAST, other={"n": 2**53 + 1}),
        replace(LEAST, other={"n": (1, 2)}),
        replace(LEAST, triggers=(OtherTrigger(type="schedule", other={"cron": ""}),)),
        replace(LEAST, inputs=Inputs(accepts=["text"])),  # type: ignore[arg-type]  # what a caller without types passes
        replace(LEAST, metadata=Metadata(other={"tags": ["a"]})),
    ],
)
def test_a_file_that_would_be_read_as_another_is_not_written(wrong: AgentFile) -> None:
    with pytest.raises(AgentFileError) as raised:
        build(wrong, now=NOW)
    assert raised.value.code == "NOT_THE_SAME"


def test_a_tool_keeps_its_shape() -> None:
    tools = (LegacyTool("create_reminder"), BuiltinTool(name="create_reminder"))
    data = build(replace(LEAST, blueprint=replace(LEAST.blueprint, tools=tools)), now=NOW)
    assert json.loads(data)["blueprint"]["tools"] == ["create_reminder", {"kind": "builtin", "name": "create_reminder"}]
    assert parse(data).require().blueprint.tools == tools


# The way there and back


def returns(document: dict[str, Any]) -> bool:
    """Whether the document is accepted; if it is, it is the same after it was written and read again."""
    read = parse(encoded(document)).file
    if read is None:
        return False
    data = build(read, now=NOW, personal=True)
    again = parse(data).require()
    assert again == replace(read, schema=SCHEMA, exported_at="2026-07-30T06:00:00.000Z")
    assert build(again, now=NOW, personal=True) == data
    stated = {**document, "$schema": SCHEMA, "exportedAt": "2026-07-30T06:00:00.000Z"}
    assert canonical(members(again)) == canonical(json.loads(encoded(stated)))
    return True


def test_the_whole_file_returns() -> None:
    assert returns(WHOLE)


@given(extended())
def test_a_file_with_unknown_members_returns(document: dict[str, Any]) -> None:
    assert returns(document)


@given(mutations())
def test_a_changed_file_returns_if_it_is_accepted(document: dict[str, Any]) -> None:
    returns(document)


@given(documents)
def test_a_file_with_any_members_beside_the_needed_ones_returns_if_it_is_accepted(document: dict[str, Any]) -> None:
    returns({**file(), **{name: value for name, value in document.items() if name not in file()}})


# Its name


@pytest.mark.parametrize(
    ("name", "id_", "expected"),
    [
        ("Invoice Chaser", "a1b2c3d4e5f6", "invoice-chaser-a1b2c3d4.agent"),
        ("Invoice Chaser", "agent_invoice_chaser_01", "invoice-chaser-agent-in.agent"),
        ("  Invoice — Chaser!  ", "A1", "invoice-chaser-a1.agent"),
        ("../../etc/passwd", "..", "etc-passwd.agent"),
        ("C:\\nul", "\x00", "c-nul.agent"),
        ("قارئ العقود", "a1b2c3d4", "قارئ-العقود-a1b2c3d4.agent"),
        ("Ｒｅａｄｅｒ ①", "id", "reader-1-id.agent"),
        ("📄", "📄", "agent.agent"),
        ("a\u202etxt.exe", "id", "a-txt-exe-id.agent"),
        ("word " * 40, "id", "word-word-word-word-word-word-word-word-id.agent"),
    ],
)
def test_a_file_is_named_after_its_agent(name: str, id_: str, expected: str) -> None:
    assert file_name(replace(LEAST, name=name, id=id_)) == expected


@given(st.text(min_size=1), st.text(min_size=1))
def test_a_name_is_one_that_every_file_system_takes(name: str, id_: str) -> None:
    made = file_name(replace(LEAST, name=name, id=id_))
    assert made.endswith(".agent")
    assert made[0] not in ".-"
    assert len(made.encode("utf-8")) <= 255
    assert not set(made) & set('/\\:*?"<>|\x00\n\u202e ')
