"""What every command shares: one result, one sentence for a refusal, text that cannot drive a terminal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from descriptor.checker import check
from descriptor.errors import DescriptorError
from descriptor.publishing import PublishError
from entryway.errors import EntrywayError
from node.console import Console, columns, finding_lines, operator_command, plain, read_input, refuse
from node.errors import Exit, NodeError, as_node_error
from node.home import Home
from node.shapes import finding_document
from store import StoreError
from tests.node.parts import HOSTILE, draft


def ran(act: Callable[[Console], object], *arguments: str, stdin: bytes = b"") -> Result:
    """Runs `act` as a command."""

    @click.command()
    @operator_command
    def command(console: Console) -> None:
        act(console)

    return CliRunner().invoke(command, arguments, input=stdin)


def raising(error: Exception) -> Callable[[Console], object]:
    def act(_console: Console) -> None:
        raise error

    return act


# Text that cannot drive a terminal.


@given(st.text())
def test_plain_text_is_printable_whatever_comes(text: str) -> None:
    assert all(char.isprintable() or char == "\t" for char in plain(text))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Grüße 🚀\tto you", "Grüße 🚀\tto you"),
        ("\x1b[2J", "\\x1b[2J"),
        ("a\nb\r", "a\\nb\\r"),
        ("\u202eevil", "\\u202eevil"),
        ("\udcff", "\\udcff"),
        ("\x9b2J", "\\x9b2J"),
    ],
)
def test_what_is_not_printable_shows_as_its_escape(text: str, shown: str) -> None:
    assert plain(text) == shown


@pytest.mark.parametrize("act", [lambda console: console.result({}, [HOSTILE]), lambda console: console.note(HOSTILE)])
def test_results_and_remarks_are_plain(act: Callable[[Console], object]) -> None:
    result = ran(act)
    assert result.output == plain(HOSTILE) + "\n"


def test_a_refusal_is_plain() -> None:
    result = ran(raising(NodeError("NOT_FOUND", HOSTILE)))
    assert result.stderr == f"agent-node: {plain(HOSTILE)} [NOT_FOUND]\n"


# One result.


def test_people_get_lines_and_programs_one_document() -> None:
    def act(console: Console) -> None:
        console.note("a remark")
        console.result({"digest": HOSTILE}, ["one", "two"])

    assert ran(act).stdout == "one\ntwo\n"
    result = ran(act, "--json")
    assert (json.loads(result.stdout), result.stderr) == ({"digest": HOSTILE}, "a remark\n")
    assert result.stdout.count("\n") == 1


def test_raw_is_byte_for_byte() -> None:
    assert ran(lambda console: console.raw(b"\xff\r\n\x00")).stdout_bytes == b"\xff\r\n\x00"


@pytest.mark.parametrize("arguments", [[], ["--json"]])
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_an_answer_that_cannot_be_written_is_a_refusal_on_stderr(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    @click.command()
    @operator_command
    def command(console: Console) -> None:
        console.result({"a": 1}, ["a"])

    # Without a buffer: what could not be written would be tried again, and reported, when the file is closed.
    with Path("/dev/full").open("wb", buffering=0) as full:
        monkeypatch.setattr("sys.stdout", type("Stream", (), {"buffer": full})())
        with pytest.raises(SystemExit) as ended:
            command.main(arguments, standalone_mode=False)
    assert ended.value.code == 1
    assert "[STDOUT_UNWRITABLE]" in capfd.readouterr().err


# Refusals.

REFUSALS: list[tuple[Any, Exit]] = [
    (NodeError("HOME_IN_USE", "said"), Exit.NO),
    (NodeError("SETTING_INVALID", "said", Exit.UNREADABLE), Exit.UNREADABLE),
    (NodeError("NODE_NOT_RUNNING", "said", Exit.UNREACHED), Exit.UNREACHED),
    (StoreError("STORE_FULL", "said"), Exit.NO),
    (EntrywayError("INVALID_ENVELOPE", "said"), Exit.NO),
    (PublishError("SAME_AGENT_VERSION", "said"), Exit.NO),
    (DescriptorError("MEMBER_ABSENT", "said"), Exit.NO),
    *(
        (DescriptorError(code, "said"), Exit.UNREADABLE)
        for code in (
            "BYTE_ORDER_MARK",
            "DUPLICATE_MEMBER",
            "LONE_SURROGATE",
            "NOT_AN_OBJECT",
            "NOT_JSON",
            "NOT_UTF8",
            "NUMBER_OUT_OF_RANGE",
            "TOO_DEEP",
            "TOO_LARGE",
            "BAD_DIGEST",
        )
    ),
]


@pytest.mark.parametrize(("error", "exit_code"), REFUSALS, ids=[case[0].code for case in REFUSALS])
def test_every_refusal_has_its_exit_code_and_keeps_its_code(error: Any, exit_code: Exit) -> None:
    people, programs = ran(raising(error)), ran(raising(error), "--json")
    assert people.exit_code == programs.exit_code == exit_code
    assert (people.stdout, people.stderr) == ("", f"agent-node: said [{error.code}]\n")
    assert json.loads(programs.stdout) == {"error": {"code": error.code, "message": "said"}}
    assert programs.stderr == ""


def test_a_refusal_says_where_in_the_document_it_is() -> None:
    error = json.loads(ran(raising(DescriptorError("MEMBER_ABSENT", "said", "/does")), "--json").stdout)["error"]
    assert error["pointer"] == "/does"


def test_a_refusal_for_findings_tells_them_all() -> None:
    report = check(draft(format="x", does=""))
    error = PublishError.of(report)
    people, programs = ran(raising(error)), ran(raising(error), "--json")
    findings = [finding_document(finding) for finding in report.findings]
    assert json.loads(programs.stdout)["error"]["findings"] == findings
    for finding in findings:
        assert finding["remedy"] in people.stderr
        assert f"at {finding['pointer']}" in people.stderr


def test_an_error_of_this_floor_is_itself() -> None:
    error = NodeError("NOT_FOUND", "said")
    assert as_node_error(error) is error


def test_refuse_returns_the_exit_code() -> None:
    assert refuse(NodeError("NODE_NOT_RUNNING", "said", Exit.UNREACHED), as_json=True) == 3


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(13, "Permission denied", "identity"), "identity: Permission denied."),
        (OSError(5, "Input/output error"), "Input/output error."),
    ],
)
def test_what_the_system_refuses_unforeseen_is_a_refusal(error: OSError, message: str) -> None:
    result = ran(raising(error), "--json")
    assert (result.exit_code, json.loads(result.stdout)["error"]) == (
        1,
        {"code": "SYSTEM_REFUSED", "message": message},
    )


def test_a_reader_who_has_read_enough_is_no_refusal() -> None:
    assert ran(raising(BrokenPipeError(32, "Broken pipe"))).output == ""


def test_a_fault_of_the_program_is_not_passed_off_as_a_refusal() -> None:
    result = ran(raising(ZeroDivisionError()))
    assert isinstance(result.exception, ZeroDivisionError)


# What is shown, and read.


def test_columns_are_aligned_and_lines_end_where_their_text_does() -> None:
    assert columns([("a", "bb", ""), ("ccc", "d", "e")]) == ["a    bb", "ccc  d   e"]


def test_a_finding_is_told_with_its_place_its_rule_and_what_to_do() -> None:
    (finding,) = check(draft(does="")).findings
    lines = list(finding_lines([finding_document(finding)]))
    assert lines[0] == f"error: {finding.message}"
    assert "at /does" in lines[1]
    assert f"rule {finding.rule}, section 6.2" in lines[1]
    assert lines[2].strip() == finding.remedy


def test_a_finding_about_the_whole_document_says_so() -> None:
    (finding,) = check(b"{").findings
    assert "(the document)" in list(finding_lines([finding_document(finding)]))[1]


def test_input_is_a_file_or_stdin(tmp_path: Path) -> None:
    path = tmp_path / "draft.json"
    path.write_bytes(b"\xff\r\n")
    assert read_input(str(path)) == b"\xff\r\n"
    seen: list[bytes] = []
    ran(lambda _console: seen.append(read_input("-")), stdin=b"\xff\r\n")
    assert seen == [b"\xff\r\n"]


@pytest.mark.parametrize("name", ["missing", ".", "a" * 300, "missing/deeper"])
def test_input_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(NodeError) as caught:
        read_input(f"{tmp_path}/{name}")
    assert (caught.value.code, caught.value.exit_code) == ("INPUT_UNREADABLE", 2)
    assert name in caught.value.message


# The home of a command.


def test_the_flag_names_the_home_before_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_NODE_HOME", str(tmp_path / "by-variable"))
    seen: list[Home] = []
    for arguments in (["--home", str(tmp_path / "by-flag")], []):
        assert ran(lambda console: seen.append(console.home), *arguments).exit_code == 0
    assert [home.path.name for home in seen] == ["by-flag", "by-variable"]


def test_a_home_that_cannot_be_named_is_a_refusal() -> None:
    result = ran(lambda _console: None, "--home", "", "--json")
    assert (result.exit_code, json.loads(result.stdout)["error"]["code"]) == (2, "HOME_UNUSABLE")
