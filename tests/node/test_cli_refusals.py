"""What the command line refuses: one sentence or one JSON document, an exit code, and text that cannot do harm."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from descriptor.keys import Identity
from descriptor.publishing import Terms, bind
from entryway.roster import sign_roster
from node.console import plain
from node.home import Home
from tests.node.parts import HOSTILE, Told, digests, draft, filled, new_home, published, told

NOWHERE = "127.0.0.1:1"
"""Where nobody answers: a port that is never given out."""


# What is told when it does not.

OTHER = Identity(bytes(range(32)))
STRANGER = bind(draft("3"), Terms(OTHER, acts_for="person"), 0)

KNOWN_TO_NOBODY = b'{"reference": "v1", "digest": "sha256:%s", "members": []}' % (b"0" * 64)
ABOUT_ANOTHER = b'{"registration": "v1", "subject": {"id": "%s"}}' % OTHER.id.encode()
OTHER_AGENT = OTHER.id
NO_ROSTER_OF_OURS = sign_roster({"entries": []}, OTHER, 0)

REFUSALS: list[tuple[list[str], bytes, int, str]] = [
    (["init"], b"", 1, "IDENTITY_EXISTS"),
    (["init", "--home", "{new}", "--from", "missing.json"], b"", 2, "INPUT_UNREADABLE"),
    (["init", "--home", "{new}", "--acts-for", "person", "--organization-name", "L"], b"", 2, "SETTING_INVALID"),
    (["init", "--home", "{new}", "--handle", "two words"], b"", 2, "SETTING_INVALID"),
    (["init", "--home", "{new}", "--with-passphrase"], b"", 2, "PASSPHRASE_NEEDED"),
    (["run", "--home", "{new}"], b"", 1, "HOME_MISSING"),
    (["run", "--port", "65536"], b"", 2, "SETTING_INVALID"),
    (["run", "--host", "two words"], b"", 2, "SETTING_INVALID"),
    (["status"], b"", 3, "NODE_NOT_RUNNING"),
    (["status", "--home", "{new}"], b"", 1, "HOME_MISSING"),
    (["check", "missing.json"], b"", 2, "INPUT_UNREADABLE"),
    (["publish", "missing.json"], b"", 2, "INPUT_UNREADABLE"),
    (["publish", "-"], b"", 2, "NOT_JSON"),
    (["publish", "-"], b'{"a": 1, "a": 2}', 2, "DUPLICATE_MEMBER"),
    (["publish", "-"], b" " * (2**20 + 1), 2, "TOO_LARGE"),
    (["publish", "-"], b"[" * 100, 2, "TOO_DEEP"),
    (["publish", "-"], draft("1"), 1, "OLDER_AGENT_VERSION"),
    (["publish", "-"], draft("2", does="Else."), 1, "SAME_AGENT_VERSION"),
    (["publish", "-"], draft("3", format="x"), 1, "FINDINGS"),
    (["publish", "-"], STRANGER, 1, "ANOTHER_SUBJECT"),
    (["publish", "-", "--organization-name", "L"], draft("3"), 2, "ORGANIZATION_NAME_ALONE"),
    (["publish", "-", "--acts-for", "organization", "--organization-name", ""], draft("3"), 1, "NAME_EMPTY"),
    (["publish", "-", "--home", "{new}"], draft(), 1, "HOME_MISSING"),
    (["rollback", "sha256:00", "--as", "3"], b"", 2, "BAD_DIGEST"),
    (["rollback", "0" * 64, "--as", "3"], b"", 1, "NOT_FOUND"),
    (["rollback", "{old}", "--as", "1"], b"", 1, "OLDER_AGENT_VERSION"),
    (["history", "--home", "{new}"], b"", 1, "HOME_MISSING"),
    (["show", "0" * 64], b"", 1, "NOT_FOUND"),
    (["show", "latest"], b"", 2, "BAD_DIGEST"),
    (["diff", "{old}", "0" * 64], b"", 1, "NOT_FOUND"),
    (["diff", "{old}", "missing.json"], b"", 1, "NOT_FOUND"),
    (["diff", "{old}", "a" * 300], b"", 1, "NOT_FOUND"),
    (["diff", "{old}", "-"], b"{", 2, "NOT_JSON"),
    (["ask", NOWHERE], b"", 3, "UNREACHABLE"),
    (["ask", "two words"], b"", 2, "BAD_TARGET"),
    (["ask", "ftp://127.0.0.1"], b"", 2, "BAD_TARGET"),
    (["ask", NOWHERE, "--exchange", "9" * 5000], b"", 3, "UNREACHABLE"),
    (["ask", NOWHERE, "--exchange", "9" * 20], b"", 3, "UNREACHABLE"),
    (["card", "--home", "{new}"], b"", 1, "HOME_MISSING"),
    (["card", "--save", "{home}/nowhere/card.json"], b"", 2, "OUTPUT_UNWRITABLE"),
    (["registration", "--home", "{new}"], b"", 1, "HOME_MISSING"),
    (["reference"], b"", 2, "USAGE"),
    (["reference", "does"], b"", 2, "BAD_POINTER"),
    (["reference", "/does", "/nothing"], b"", 1, "NOT_THERE"),
    (["reference", "/does", "--digest", "0" * 64], b"", 1, "NOT_FOUND"),
    (["reference", "--verify", "missing.json"], b"", 2, "INPUT_UNREADABLE"),
    (["reference", "--verify", "{draft}"], b"", 2, "BAD_REFERENCE"),
    (["reference", "--verify", "-"], b"[]", 2, "INPUT_UNREADABLE"),
    (["reference", "--verify", "-", "a", "b"], b"", 2, "USAGE"),
    (["reference", "--verify", "-"], KNOWN_TO_NOBODY, 1, "NOT_FOUND"),
    (["reference", "--verify", "-", NOWHERE], KNOWN_TO_NOBODY, 3, "UNREACHABLE"),
    (["reference", "--verify", "-", "{draft}"], b"{", 2, "INPUT_UNREADABLE"),
    (["drift"], b"", 3, "NODE_UNREACHED"),
    (["drift", "{draft}"], b"", 2, "NOT_A_PROJECTION"),
    (["drift", "-"], b"{", 2, "INPUT_UNREADABLE"),
    (["drift", "-"], ABOUT_ANOTHER, 1, "NOT_FOUND"),
    (["drift", "{card}", "--descriptor", "{draft}"], b"", 1, "NOT_BOUND"),
    (["drift", NOWHERE], b"", 3, "UNREACHABLE"),
    (["roster", "admit", "U123"], b"", 2, "BAD_KEY"),
    (["roster", "revoke", OTHER_AGENT], b"", 1, "NOT_ADMITTED"),
    (["roster", "defaults"], b"", 1, "INPUT_INVALID"),
    (["roster", "hold", OTHER_AGENT, "--note", "x" * 501], b"", 1, "ROSTER_INVALID"),
    (["roster", "export"], b"", 1, "NOT_FOUND"),
    (["roster", "import", "missing.json"], b"", 2, "INPUT_UNREADABLE"),
    (["roster", "import", "-"], b"{", 2, "NOT_JSON"),
    (["roster", "import", "-"], b"{}", 1, "ROSTER_INVALID"),
    (["roster", "import", "-"], NO_ROSTER_OF_OURS, 1, "ROSTER_NOT_SIGNED"),
    (["roster", "list", "--home", "{new}"], b"", 1, "HOME_MISSING"),
    (["knocks", "--home", "{new}"], b"", 1, "HOME_MISSING"),
    (["ask", NOWHERE, "--exchange", "3"], b"", 3, "UNREACHABLE"),
    (["backup", "{home}"], b"", 1, "BACKUP_EXISTS"),
    (["backup", "{new}", "--home", "{new}"], b"", 1, "HOME_MISSING"),
    (["restore", "{home}"], b"", 1, "STORE_EXISTS"),
    (["passphrase"], b"", 2, "PASSPHRASE_NEEDED"),
]


def named(cases: list[Any]) -> list[str]:
    return [f"{case[-1]} {' '.join(case[0])}"[:60] for case in cases]


@pytest.mark.parametrize(("arguments", "stdin", "exit_code", "code"), REFUSALS, ids=named(REFUSALS))
def test_a_refusal_is_one_sentence_or_one_document_with_its_exit_code(
    home: Home, arguments: list[str], stdin: bytes, exit_code: int, code: str
) -> None:
    own_home = None if "--home" in arguments else home
    filled_in = filled(home, arguments)
    people = told(*filled_in, home=own_home, stdin=stdin)
    programs = told(*filled_in, "--json", home=own_home, stdin=stdin)
    assert (programs.exit_code, programs.error()["code"], programs.err) == (exit_code, code, "")
    first, *findings = people.err.splitlines()
    assert (people.exit_code, people.out) == (exit_code, "")
    assert first == f"agent-node: {plain(programs.error()['message'])} [{code}]"
    assert bool(findings) == (code == "FINDINGS")


def test_a_refusal_changes_nothing(home: Home) -> None:
    before = {path: path.read_bytes() for path in home.path.rglob("*") if path.is_file()}
    versions = digests(home)
    for arguments, stdin, _, _ in REFUSALS:
        told(*filled(home, arguments), home=None if "--home" in arguments else home, stdin=stdin)
    assert digests(home) == versions
    for path in (home.config, home.draft, home.agent_seed, home.seal_seed, home.agent_id):
        assert path.read_bytes() == before[path]
    assert not (home.path.parent / "new").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["publish"],
        ["publish", "a", "b"],
        ["publish", "a", "--resepll"],
        ["rollback", "sha256:00"],
        ["history", "--limit", "0"],
        ["history", "--limit", "many"],
        ["init", "--acts-for", "nobody"],
        ["run", "--port", "http"],
        ["restore", "missing"],
        ["roster", "admit"],
        ["roster", "defaults", "--registered", "maybe"],
        ["roster", "defaults", "--hourly", "0"],
        ["roster", "import"],
        ["roster", "import", "a", "--empty"],
        ["roster", "frobnicate"],
        ["ask"],
        ["frobnicate"],
    ],
)
def test_a_mistake_in_the_arguments_is_told_and_exits_2(arguments: list[str]) -> None:
    people, programs = told(*arguments), told(*arguments, "--json")
    assert (people.exit_code, people.out) == (2, "")
    assert "Usage: " in people.err
    assert (programs.exit_code, programs.error()["code"], programs.err) == (2, "USAGE", "")
    assert programs.error()["message"] in people.err


# Text from elsewhere.


def hostile_home(tmp_path: Path) -> Home:
    home = new_home(tmp_path / "h")
    published(home, draft(HOSTILE, does=HOSTILE))
    return home


@pytest.mark.parametrize(
    "act",
    [
        lambda home: told("history", home=home),
        lambda home: told("show", home=home),
        lambda home: told("doctor", home=home),
        lambda home: told("publish", "-", home=home, stdin=draft(HOSTILE, does="Else.")),
        lambda home: told("publish", "-", home=home, stdin=draft("0", format=HOSTILE, interaction=HOSTILE)),
        lambda home: told("check", "-", stdin=draft(format=HOSTILE, interaction=HOSTILE)),
        lambda home: told("diff", digests(home)[0], "-", home=home, stdin=draft("2", does="\x1b[2J")),
        lambda home: told("show", HOSTILE, home=home),
        lambda home: told("check", HOSTILE),
        lambda home: told("ask", HOSTILE),
    ],
)  # fmt: skip
def test_hostile_text_is_shown_harmless(tmp_path: Path, act: Callable[[Home], Told]) -> None:
    end = act(hostile_home(tmp_path))
    shown = end.out + end.err
    assert "\\x1b" in shown or "\\u202e" in shown or "1\\x1b" in shown
    assert all(char.isprintable() or char in "\t\n" for char in shown)


def test_hostile_text_is_whole_in_json(tmp_path: Path) -> None:
    (version_,) = told("history", "--json", home=hostile_home(tmp_path)).document()["versions"]
    assert version_["agent_version"] == HOSTILE


def test_a_name_that_is_no_utf8_is_shown_as_its_escape() -> None:
    end = told("check", "\udcff.json")
    assert (end.exit_code, "\\udcff.json" in end.err) == (2, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ["publish", "{file}"],
        ["diff", "{old}", "{file}"],
        ["drift", "{file}"],
        ["reference", "--verify", "{file}"],
        ["agentdoc", "--check", "{file}"],
        ["agentfile", "check", "{file}"],
        ["roster", "import", "{file}"],
        ["seal", "--key", "{file}", "{config}"],
        ["unseal", "{file}"],
        ["check", "{file}"],
    ],
    ids=" ".join,
)
def test_a_file_that_is_no_json_is_named(arguments: list[str], home: Home, tmp_path: Path) -> None:
    file = tmp_path / "broken.json"
    file.write_bytes(b"{")
    end = told(*(text.format(file=file, old=digests(home)[0], config=home.config) for text in arguments), home=home)
    assert (end.exit_code, f"{file} cannot be read" in end.err + end.out) == (2, True), end.err
