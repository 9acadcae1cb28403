"""The `agentfile` commands, as somebody types them."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from agentfile.structures import Part
from node.errors import NodeError
from node.home import Home
from node.spreadsheets import parts_of
from tests.agentfile.cases import EXAMPLE, LEAST, WHOLE, encoded
from tests.node.parts import Told, new_home, told

CONTENT = {
    "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>'
    '<sheet name="Invoices" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>',
    "xl/sharedStrings.xml": '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    "<si><t>invoice_id</t></si><si><r><t>due</t></r><r><t>_date</t></r></si></sst>",
    "xl/worksheets/sheet1.xml": '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="inlineStr">'
    '<is><t>amount</t></is></c></row><row r="2"><c r="A2"><v>7</v></c></row></sheetData></worksheet>',
}


def workbook(**changes: str | None) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in {**CONTENT, **changes}.items():
            if text is not None:
                archive.writestr(name, text)
    return data.getvalue()


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


def test_check_says_whether_a_file_can_be_read(home: Home, example: Path, tmp_path: Path) -> None:
    sound = run(home, "check", example)
    assert (sound.exit_code, sound.out.splitlines()[-1]) == (0, f"{example} is sound.")
    broken = tmp_path / "broken.agent"
    broken.write_bytes(encoded({**LEAST, "$schema": "agent.v2", "name": 7}))
    refused = run(home, "check", broken, "--json")
    assert refused.exit_code == 1
    assert [finding["rule"] for finding in refused.document()["findings"]] == ["R2"]


def test_needs_shows_what_it_would_reach_before_anything_else(home: Home, example: Path) -> None:
    needs = run(home, "needs", example, "--json").document()
    assert needs["sign_ins"] == [
        {"provider": "microsoft-outlook", "scopes": ["Mail.Read"], "tools": ["outlook.list_messages"]}
    ]
    assert any(one["unattended"] for one in needs["triggers"])
    text = run(home, "needs", example).out
    assert "microsoft-outlook GET /me/messages" in text
    assert "It would run with nobody there." in text


def test_private_knowledge_is_warned_of(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "whole.agent"
    path.write_bytes(encoded(WHOLE))
    assert "WARNING   it holds private knowledge (brain, memory)" in run(home, "needs", path).out


def test_render_puts_the_parameters_into_the_prompt(home: Home, example: Path) -> None:
    missing = run(home, "render", example)
    assert missing.exit_code == 1
    given = run(home, "render", example, "company_name=Ad & Co", "--json")
    assert "for Ad & Co." in given.document()["prompt"]
    assert run(home, "render", example, "nonsense").exit_code == 2


def test_match_names_what_a_table_lacks(home: Home, example: Path, tmp_path: Path) -> None:
    name = next(one["name"] for one in EXAMPLE["parameters"] if "artifact" in one)
    book, table = tmp_path / "book.xlsx", tmp_path / "table.csv"
    book.write_bytes(workbook())
    table.write_text("something,else\n1,2\n")
    assert run(home, "match", example, name, table).exit_code == 1
    assert run(home, "match", example, name, book, "--json").document()["entries"]
    assert run(home, "match", example, "nobody", table).exit_code == 1
    assert run(home, "match", example, name, tmp_path / "none.csv").exit_code == 2


def test_a_header_is_read_of_csv_and_of_each_sheet() -> None:
    assert parts_of(workbook(), "book") == (Part('Sheet "Invoices"', ("invoice_id", "due_date", "amount")),)
    assert parts_of(b'\xef\xbb\xbfa,"b, c", ,d\n1,2,3,4\n', "t") == (Part(None, ("a", "b, c", "d")),)
    assert parts_of(b"", "t") == (Part(None, ()),)


@pytest.mark.parametrize(
    "data",
    [
        b"PK\x03\x04 nothing",
        workbook(**{"xl/workbook.xml": None}),
        workbook(**{"xl/worksheets/sheet1.xml": "<a>"}),
        workbook(**{"xl/worksheets/sheet1.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'}),
        b"\xff\xfe\x00",
    ],
)
def test_what_is_no_table_is_refused_and_not_expanded(data: bytes) -> None:
    with pytest.raises(NodeError) as raised:
        parts_of(data, "t")
    assert raised.value.code == "INPUT_UNREADABLE"


def test_import_asks_first_and_writes_a_draft_that_checks(home: Home, example: Path, tmp_path: Path) -> None:
    draft = tmp_path / "draft.json"
    declined = run(home, "import", example, "--output", draft, stdin=b"n\n")
    assert (declined.exit_code, draft.exists()) == (1, False)
    assert "sign-in   microsoft-outlook: Mail.Read" in declined.err
    done = run(home, "import", example, "--output", draft, stdin=b"y\n")
    assert done.exit_code == 0
    assert "left:" in done.out
    assert told("check", str(draft), home=home).exit_code == 0
    again = run(home, "import", example, "--output", draft, "--yes")
    assert (again.exit_code, "is there already" in again.err) == (2, True)
    assert run(home, "import", example, "--json").exit_code == 2


def test_export_leaves_out_what_is_private(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "whole.agent"
    path.write_bytes(encoded(WHOLE))
    shared = json.loads(run(home, "export", path).out)
    assert {"brain", "memory"}.isdisjoint(shared)
    assert {"brain", "memory"} <= set(json.loads(run(home, "export", path, "--personal").out))
    target = tmp_path / "out.agent"
    assert run(home, "export", path, "--output", target).exit_code == 0
    assert run(home, "check", target).exit_code == 0
    assert run(home, "export", path, "--output", target).exit_code == 2
