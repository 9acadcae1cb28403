"""The `agentfile` commands, as somebody types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from node.home import Home
from tests.agentfile.cases import EXAMPLE, LEAST, WHOLE, encoded
from tests.node.parts import Told, new_home, told
from tests.node.test_spreadsheets import workbook


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
    book.write_bytes(workbook(("Invoices", [["invoice_id", "due_date", "amount"]])))
    table.write_text("something,else\n1,2\n")
    assert run(home, "match", example, name, table).exit_code == 1
    assert run(home, "match", example, name, book, "--json").document()["entries"]
    assert run(home, "match", example, "nobody", table).exit_code == 1
    assert run(home, "match", example, name, tmp_path / "none.csv").exit_code == 2


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
