"""From an `.agent` file to a node that serves its agent: as somebody does it who has never seen the format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from node.home import Home
from tests.end_to_end.harness import ROOT, WELL_KNOWN, command, running, short_directory
from tests.node.parts import verified_document

FILES = sorted([*(ROOT / "tests/agentfile/samples").iterdir(), ROOT / "tests/agentfile/section_21.agent"])


def test_there_are_the_example_and_five_others() -> None:
    assert len(FILES) >= 6


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_a_file_becomes_an_agent_that_is_served(file: Path) -> None:
    with short_directory() as directory:
        home, draft = Home(directory / "h"), directory / "draft.json"
        imported = command("agentfile", "import", file, "--yes", "--output", draft, "--json")
        assert imported.exit_code == 0, imported.err
        assert imported.document()["draft"] == str(draft)
        checked = command("check", draft, "--json").document()
        # That a recording may be any document is all that is left to say of a sound draft: the file does not say it.
        assert {finding["rule"] for finding in checked["findings"]} <= {"D6.9-modes"}
        made = command("init", "--acts-for", "person", "--from", draft, home=home)
        assert made.exit_code == 0, made.err
        digest = command("publish", home.draft, home=home).out.decode().strip()
        with running(home) as node:
            assert node.ready["digest"] == digest
            answer = node.get(WELL_KNOWN)
            assert answer.sha256 == digest
            served = verified_document(answer.body)
            asked = command("ask", node.url, "--id", node.ready["id"])
            assert (asked.exit_code, asked.err) == (0, "")
        stated = json.loads(draft.read_bytes())
        assert {name: served[name] for name in stated} == stated
        assert served.keys() - stated.keys() == {"subject", "acts_for", "signatures"}
