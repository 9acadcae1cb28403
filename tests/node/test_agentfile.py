"""The `agentfile` commands, as somebody types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from node.home import Home
from tests.agentfile.cases import EXAMPLE, LEAST, LEGACY_SCHEMA, PARAMETER, SCHEMA_V2, WHOLE, blueprint, encoded
from tests.node.parts import Told, new_home, told
from tests.node.test_spreadsheets import workbook

SAMPLES = Path(__file__).parents[1] / "agentfile" / "samples"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return new_home(tmp_path / "h")


@pytest.fixture
def example(tmp_path: Path) -> Path:
    path = tmp_path / "chaser.agent"
    path.write_bytes(encoded(EXAMPLE))
    return path


def run(home: Home, *arguments: str | Path, **how: Any) -> Told:
    return told("agentfile", *map(str, arguments), home=home, **how)


def test_check_says_whether_a_file_is_sound(home: Home, example: Path, tmp_path: Path) -> None:
    sound = run(home, "check", example)
    assert (sound.exit_code, sound.out) == (0, f"{example} is a sound .agent file.\n")
    assert run(home, "check", example, "--json").document()["verdict"] == "clean"
    broken = tmp_path / "broken.agent"
    broken.write_bytes(encoded({**LEAST, "emoji": 7, "version": "latest"}))
    refused = run(home, "check", broken, "--json")
    assert (refused.exit_code, refused.document()["verdict"]) == (1, "findings")
    told = [(one["rule"], one["number"], one["severity"]) for one in refused.document()["findings"]]
    assert told == [("R4", 4, "error"), ("S6-version", None, "warning")]
    assert f"{broken} is refused: 1 error, 1 warning." in run(home, "check", broken).out


def test_a_warning_refuses_a_file_only_where_that_is_asked(home: Home, tmp_path: Path) -> None:
    warned = tmp_path / "warned.agent"
    warned.write_bytes(encoded({**LEAST, "version": "latest"}))
    assert run(home, "check", warned).exit_code == 0
    assert "is a sound .agent file, with 1 warning." in run(home, "check", warned).out
    assert run(home, "check", warned, "--strict").exit_code == 1


AS_PEOPLE_HAVE_THEM: dict[str, tuple[bytes, int, str]] = {
    "legacy address": (encoded({**LEAST, "$schema": LEGACY_SCHEMA}), 0, "is a sound .agent file."),
    "CRLF": (json.dumps(EXAMPLE, indent=2).replace("\n", "\r\n").encode(), 0, "is a sound .agent file."),
    "bare tools": (encoded(blueprint(tools=["fetch_url", "create_reminder"])), 0, "is a sound .agent file."),
    "a byte order mark": (b"\xef\xbb\xbf" + encoded(LEAST), 2, "begins with a byte order mark; save it as UTF-8"),
    "UTF-16": (json.dumps(LEAST).encode("utf-16"), 2, "is not UTF-8"),
    "a member twice": (encoded(LEAST)[:-1] + b', "name": "B"}', 2, "'name' stands twice in one object"),
    "nothing": (b" \n", 2, "The file is empty."),
    "comments": (b"// mine\n" + encoded(LEAST), 2, "JSON has no comments, and no comma before } or ]."),
    "no JSON": (b"name: Reader\n", 2, "Not JSON at line 1, column 1"),
    "a list": (b"[]", 2, "an `.agent` file is one JSON object"),
    "version 2": (encoded({**LEAST, "$schema": SCHEMA_V2, "name": 7}), 1, "This is a file of version 2"),
    "no .agent file": (b"{}", 1, "`$schema` is missing"),
    "deep": (encoded(LEAST)[:-1] + b', "n":' + b"[" * 99 + b"]" * 99 + b"}", 2, "nested more than 64 deep"),
    "nine megabytes": (encoded({**LEAST, "n": "x" * 9 * 2**20}), 2, "at most 8,388,608 bytes are read"),
    "five megabytes of pages": (
        encoded({**LEAST, "brain": [{"title": "A customer", "content": "They pay late. " * 150}] * 2_300}),
        0,
        "is a sound .agent file, with 1 warning.",
    ),
    "thousands of parameters": (
        encoded({**LEAST, "parameters": [{**PARAMETER, "name": f"p{number}"} for number in range(5_000)]}),
        0,
        "is a sound .agent file.",
    ),
    "a parameter that looks like another": (
        encoded({**LEAST, "parameters": [PARAMETER, {**PARAMETER, "name": "сity"}]}),  # with a letter of Cyrillic
        1,
        "it has to begin with a letter and go on in letters, digits and _",
    ),
    "a member that looks like another": (encoded({**LEAST, "оutputs": {}}), 0, "is not `outputs`, which it looks like"),
}


@pytest.mark.parametrize("name", AS_PEOPLE_HAVE_THEM)
def test_a_file_as_people_have_it(name: str, home: Home, tmp_path: Path) -> None:
    data, exit_code, said = AS_PEOPLE_HAVE_THEM[name]
    path = tmp_path / "their.agent"
    path.write_bytes(data)
    checked = run(home, "check", path)
    assert checked.exit_code == exit_code
    assert said in checked.out
    draft = tmp_path / "draft.json"
    imported = run(home, "import", path, "--yes", "--output", draft)
    assert imported.exit_code == exit_code
    assert draft.exists() == (exit_code == 0)
    if exit_code:
        assert said in imported.err
        assert ("is refused" if exit_code == 1 else "cannot be read as an .agent file") in imported.err
    else:
        assert told("check", str(draft), home=home).exit_code == 0


def test_needs_shows_what_it_would_reach_before_anything_else(home: Home, example: Path) -> None:
    needs = run(home, "needs", example, "--json").document()
    (sign_in,) = needs["sign_ins"]
    assert (sign_in["provider"], sign_in["scopes"]) == ("microsoft-outlook", ["Mail.Read"])
    assert any(one["unattended"] for one in needs["triggers"])
    text = run(home, "needs", example).out
    assert "calls microsoft-outlook GET /me/messages" in text
    assert "microsoft-outlook  Mail.Read  for outlook.list_messages" in text
    assert "Invoice workbook (file)  read, cite, sync" in text
    assert "start it with nobody there, which this node does not:" in text
    assert "Because:  Sending on your behalf" in text


def test_a_tool_that_leads_to_a_machine_at_home_is_told_as_such(home: Home, tmp_path: Path) -> None:
    hook = {"kind": "webhook", "name": "printer", "url": "http://192.168.1.20/print", "method": "POST"}
    server = {"kind": "mcp", "name": "files", "server": "http://localhost:3000/mcp", "requiresUserAuth": False}
    public = {**hook, "name": "hook", "url": "https://hooks.example.org/x"}
    package = {**server, "name": "npm", "server": "@example/files"}
    path = tmp_path / "home.agent"
    path.write_bytes(encoded(blueprint(tools=["fetch_url", hook, server, public, package])))
    tools = run(home, "needs", path, "--json").document()["tools"]
    assert [one["name"] for one in tools if one["refusal"] is not None] == ["printer", "files"]
    text = run(home, "needs", path).out
    assert "calls POST http://192.168.1.20/print; WARNING: 192.168.1.20 is not public: it is private." in text
    assert "'localhost' is this machine" in text


def test_what_may_be_changed_is_shown_with_its_bounds(home: Home) -> None:
    text = run(home, "needs", SAMPLES / "stock-keeper.agent").out
    assert "read, sync, write, append" in text
    assert 'write approval every-run, destructive approval forbidden; only within Sheet "Stock": B2:B5000' in text
    triage = run(home, "needs", SAMPLES / "support-triage.agent").out
    assert "runs or asks the server @example/gmail-mcp" in triage
    assert "https://www.googleapis.com/auth/gmail.compose" in triage


def test_private_knowledge_and_warnings_are_shown_where_it_is_decided(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "whole.agent"
    path.write_bytes(encoded({**WHOLE, "version": "latest"}))
    for answer in (run(home, "needs", path).out, run(home, "import", path, stdin=b"n\n").err):
        assert "WARNING: the file holds private knowledge of its owner (brain and memory)." in answer
        assert "rule S6-version" in answer


def test_render_puts_the_parameters_into_the_prompt(home: Home, example: Path) -> None:
    missing = run(home, "render", example)
    assert missing.exit_code == 1
    assert missing.out.startswith("You chase overdue invoices for {{params.company_name}}.")
    assert "Company name ('company_name') has no value" in missing.err
    assert "Left as it stands, since it has no value: {{params.company_name}}" in missing.err
    given = run(home, "render", example, "company_name=Ad & Co", "invoice_workbook=book.xlsx", "--json")
    assert (given.exit_code, given.err) == (0, "")
    assert "for Ad & Co." in given.document()["prompt"]
    assert run(home, "render", example, "nonsense").exit_code == 2
    twice = run(home, "render", example, "company_name=a", "company_name=b")
    assert (twice.exit_code, "company_name is given twice" in twice.err) == (2, True)


def test_match_names_what_a_table_lacks(home: Home, example: Path, tmp_path: Path) -> None:
    name = next(one["name"] for one in EXAMPLE["parameters"] if "artifact" in one)
    book, table = tmp_path / "book.xlsx", tmp_path / "table.csv"
    book.write_bytes(workbook(("Invoices", [["invoice_id", "due_date", "amount"]])))
    table.write_text("something,else\n1,2\n")
    assert run(home, "match", example, name, table).exit_code == 1
    assert run(home, "match", example, name, book, "--json").document()["entries"]
    said = run(home, "match", example, name, table).out
    assert said.endswith(f"{table} does not fit. It has one table with 2 columns.\n")
    book.write_bytes(workbook(("Invoice", [["id"]]), *((f"S{number}", []) for number in range(10))))
    assert "It has 'Sheet \"Invoice\"' with 1 column, 'Sheet \"S0\"' with no columns" in (
        run(home, "match", example, name, book).out
    )
    assert run(home, "match", example, name, book).out.endswith("with no columns, 1 more.\n")
    table.write_text("invoice_id,due_date,customer,amount\n")
    assert "is in the table, which has no name, as none in CSV has" in run(home, "match", example, name, table).out
    unknown = run(home, "match", example, "nobody", table)
    assert (unknown.exit_code, "It asks for one of: invoice_workbook." in unknown.err) == (1, True)
    assert run(home, "match", example, name, tmp_path / "none.csv").exit_code == 2


def test_import_asks_first_and_writes_a_draft_that_checks(home: Home, example: Path, tmp_path: Path) -> None:
    draft = tmp_path / "draft.json"
    declined = run(home, "import", example, "--output", draft, stdin=b"n\n")
    assert (declined.exit_code, draft.exists()) == (1, False)
    assert "microsoft-outlook  Mail.Read" in declined.err
    done = run(home, "import", example, "--output", draft, stdin=b"y\n")
    assert done.exit_code == 0
    assert "Left out, or left for you to state:" in done.out
    assert f"agent-node check {draft}" in done.out
    assert told("check", str(draft), home=home).exit_code == 0
    again = run(home, "import", example, "--output", draft, "--yes")
    assert (again.exit_code, "is there already" in again.err) == (2, True)
    nobody = run(home, "import", example, "--output", tmp_path / "other", stdin=b"")
    assert (nobody.exit_code, "give --yes" in nobody.err) == (2, True)
    assert run(home, "import", example, "--json").exit_code == 2
    assert not (tmp_path / "other").exists()


def test_export_leaves_out_what_is_private(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "whole.agent"
    path.write_bytes(encoded(WHOLE))
    shared = run(home, "export", path)
    assert {"brain", "memory"}.isdisjoint(json.loads(shared.out))
    assert "Left out as private: brain, memory." in shared.err
    assert "metadata: sourceUrl, sourceUserId" in shared.err
    personal = run(home, "export", path, "--personal")
    assert {"brain", "memory"} <= set(json.loads(personal.out))
    assert "rule S17-private" in personal.err
    assert "They pay late" not in shared.out + shared.err
    target = tmp_path / "out.agent"
    assert run(home, "export", path, "--output", target).exit_code == 0
    assert run(home, "check", target).exit_code == 0
    again = run(home, "export", path, "--output", target)
    assert (again.exit_code, "is there already" in again.err) == (2, True)
    document = run(home, "export", path, "--json").document()
    assert (document["name"], document["file"]["name"]) == ("reader-a1b2c3d4.agent", "Reader")
    assert run(home, "export", path, "--output", tmp_path / "no" / "x", "--json").exit_code == 2
