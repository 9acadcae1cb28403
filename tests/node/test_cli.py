"""The command line: what each command tells people, and programs with --json, and where its home and settings are."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import click
import pytest

from descriptor.checker import Report, Severity, check
from descriptor.digests import digest_of
from descriptor.rules.chapter import RULES
from node.cli import COMMANDS, main
from node.control import control_listener
from node.home import Home
from tests.node.parts import damage, digests, draft, filled, identity_of, new_home, published, told, verified_document

# The table of commands.


def test_the_commands_of_the_binding_are_there() -> None:
    named = {"init", "run", "status", "check", "publish", "rollback", "history", "show", "diff", "ask", "doctor"}
    assert named | {"backup", "restore", "roster", "knocks"} <= set(COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [(["pubish"], "publish"), (["roster", "admitt"], "admit"), (["agentfile", "imprt"], "import")],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_of_a_command_that_nobody_knows_the_nearest_is_named(arguments: list[str], meant: str) -> None:
    end = told(*arguments)
    assert (end.exit_code, f"Did you mean '{meant}'?" in end.err) == (2, True)
    assert f"Did you mean '{meant}'?" in told(*arguments, "--json").error()["message"]
    assert "Did you mean" not in told("xyzzy").err


@pytest.mark.parametrize("group", [[], ["roster"], ["agentfile"]], ids=" ".join)
def test_a_group_lists_its_commands_in_whole_sentences(group: list[str]) -> None:
    listed = told(*group, "--help").out
    assert "Commands:" in listed
    assert "..." not in listed.partition("Commands:")[2]


def every_command() -> Iterator[click.Command]:
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        assert command is not None
        assert command.name == name
        yield from with_those_below(command)


def with_those_below(command: click.Command) -> Iterator[click.Command]:
    """A command, or those of a group, which says what it is for and takes nothing itself."""
    if not isinstance(command, click.Group):
        yield command
        return
    assert command.help
    assert not command.params
    for one in command.commands.values():
        yield from with_those_below(one)


def test_every_command_and_every_option_says_what_it_does() -> None:
    for command in every_command():
        assert command.help
        assert command.get_short_help_str(200).endswith(".")
        for option in command.params:
            assert not isinstance(option, click.Option) or option.help, f"{command.name} {option.name}"


def test_every_command_takes_json_and_home() -> None:
    for command in every_command():
        assert {"as_json", "home_flag"} <= {option.name for option in command.params}


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], *([name, "--help"] for name in COMMANDS)])
def test_help_is_shown(arguments: list[str]) -> None:
    end = told(*arguments)
    assert (end.exit_code, end.err) == (0, "")
    assert end.out.startswith("Usage: ")


def test_the_version_is_the_distributions() -> None:
    assert told("--version").out == f"agent-node, version {version('agent-node')}\n"


@pytest.mark.parametrize(
    ("module", "without"),
    [
        ("node.cli", {"trio", "httpx", "nacl", "sqlite3"}),
        ("node.commands.check", {"trio", "httpx", "prometheus_client", "sqlite_utils"}),
        ("entryway.client", {"descriptor.view", "entryway.boundary"}),
        ("node.commands.run", {"httpx", "prometheus_client", "sqlite_utils", "descriptor.rules.chapter", "jinja2"}),
    ],
)
def test_a_command_does_not_pay_for_what_it_does_not_use(module: str, without: set[str]) -> None:
    asked = f"import sys, {module}; print(*({without!r} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout == "\n"


# What is told with --json when it succeeds.

PUBLISHED = {"digest", "agent_version", "previous_digest", "published_at", "changed", "healed", "warnings"}
VERSION = {"number", "digest", "agent_version", "published_at", "size", "current"}

CARD = {
    *("name", "description", "version", "supportedInterfaces", "capabilities", "defaultInputModes"),
    *("defaultOutputModes", "skills", "signatures"),
}
REGISTRATION = {
    *("registration", "subject", "descriptor", "acts_for", "interaction", "offerings"),
    *("sealing", "encryption_key", "trust"),
}
REFERENCE = {"reference", "digest", "location", "members"}
DRIFT = {"projection", "descriptor", "generated_from", "signature", "reason", "agrees", "differences"}

SUCCESSES: list[tuple[list[str], set[str]]] = [
    (["init", "--home", "{new}"], {"id", "home", "config", "draft"}),
    (["check", "{draft}"], {"file", "verdict", "findings"}),
    (["publish", "{draft}"], PUBLISHED),
    (["rollback", "{old}", "--as", "3"], PUBLISHED),
    (["history"], {"versions", "next"}),
    (["show"], {"digest", "size", "descriptor"}),
    (["show", "{old}"], {"digest", "size", "descriptor"}),
    (["diff", "{old}", "{old}"], {"a", "b", "changes"}),
    (["diff", "{draft}", "{draft}"], {"a", "b", "changes"}),
    (["card"], CARD),
    (["registration"], REGISTRATION),
    (["reference", "/does"], {"reference", "digest", "members"}),
    (["reference", "", "/subject/id", "--digest", "{old}", "--location", "http://a"], REFERENCE),
    (["drift", "{card}"], DRIFT),
    (["drift", "{card}", "--descriptor", "{current}"], DRIFT),
    (["doctor"], {"healthy", "seen"}),
    (["backup", "{new}"], {"backup", "files", "with_identity"}),
    (["passphrase", "--remove"], {"sealed"}),
]


@pytest.mark.parametrize(("arguments", "members"), SUCCESSES, ids=[" ".join(case[0]) for case in SUCCESSES])
def test_success_is_one_document_with_json_and_never_json_without(
    home: Home, arguments: list[str], members: set[str]
) -> None:
    own_home = None if "--home" in arguments else home
    end = told(*filled(home, arguments), "--json", home=own_home)
    assert (end.exit_code, set(end.document())) == (0, members)


@pytest.mark.parametrize(("arguments", "_members"), SUCCESSES, ids=[" ".join(case[0]) for case in SUCCESSES])
def test_success_is_told_to_people_in_lines(home: Home, arguments: list[str], _members: set[str]) -> None:
    end = told(*filled(home, arguments), home=None if "--home" in arguments else home)
    assert end.exit_code == 0
    assert end.out.endswith("\n")
    assert not end.out.startswith("{")


def test_check_has_the_shape_of_the_binding(tmp_path: Path) -> None:
    file = tmp_path / "d.json"
    file.write_bytes(draft(format="x"))
    end = told("check", file, "--json")
    document = end.document()
    assert (end.exit_code, document["file"], document["verdict"]) == (1, str(file), "findings")
    assert [set(finding) for finding in document["findings"]] == [
        {"pointer", "rule", "section", "severity", "message", "remedy"}
    ]


@pytest.mark.parametrize(
    ("data", "arguments", "exit_code", "verdict"),
    [
        (draft(), [], 0, "clean"),
        (draft(), ["--strict"], 0, "clean"),
        (draft(format="x"), [], 1, "findings"),
        (b"{", [], 2, "unreadable"),
        (b'{"a": 1, "a": 2}', [], 2, "unreadable"),
    ],
)
def test_check_exits_as_the_binding_says(data: bytes, arguments: list[str], exit_code: int, verdict: str) -> None:
    end = told("check", "-", *arguments, "--json", stdin=data)
    assert (end.exit_code, end.document()["verdict"]) == (exit_code, verdict)
    assert told("check", "-", *arguments, stdin=data).exit_code == exit_code


def test_a_warning_alone_is_a_no_only_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    (finding,) = check(draft(format="x"), RULES).findings
    warning = type(finding)(finding.pointer, finding.rule, "6.2", Severity.WARNING, "said", "do")
    monkeypatch.setattr("node.commands.check.check", lambda data: Report((warning,), check(data).descriptor))
    assert told("check", "-", stdin=draft()).exit_code == 0
    assert told("check", "-", "--strict", stdin=draft()).exit_code == 1


def test_publish_prints_the_digest_and_nothing_else_on_stdout(home: Home) -> None:
    end = told("publish", "-", home=home, stdin=draft("3"))
    assert (end.exit_code, end.out) == (0, digests(home)[0] + "\n")


@pytest.mark.parametrize("damaged", [False, True])
def test_publishing_the_same_again_says_so(home: Home, damaged: bool) -> None:
    digest = digests(home)[0]
    if damaged:
        damage(home.database, digest)
    end = told("publish", home.draft, home=home)
    assert (end.exit_code, end.out) == (0, digest + "\n")
    assert end.err == ("The store is repaired.\n" if damaged else "This version is current already.\n")
    assert told("show", "--raw", home=home).exit_code == 0


def test_publish_takes_what_is_stated_for_it(tmp_path: Path) -> None:
    home = new_home(tmp_path / "h", "")
    assert told("publish", "-", "--json", home=home, stdin=draft()).error()["code"] == "ACTS_FOR_NOT_STATED"
    published(home, draft(), "--acts-for", "organization", "--organization-name", "Willow Street Library")
    document = verified_document(told("show", "--raw", home=home).out.encode())
    assert (document["acts_for"], document["organization_name"]) == ("organization", "Willow Street Library")


def test_a_rollback_is_published(home: Home) -> None:
    end = told("rollback", digests(home)[-1], "--as", "3", "--json", home=home)
    assert end.document()["agent_version"] == "3"
    assert end.document()["digest"] == digests(home)[0]


def test_history_is_newest_first_and_pages_on(home: Home) -> None:
    document = told("history", "--limit", "1", "--json", home=home).document()
    (newest,) = document["versions"]
    assert set(newest) == VERSION
    assert (newest["agent_version"], newest["current"], document["next"]) == ("2", True, newest["number"])
    older = told("history", "--before", str(document["next"]), "--json", home=home).document()
    assert [row["agent_version"] for row in older["versions"]] == ["1"]
    assert older["next"] is None
    assert f"--before {newest['number']}" in told("history", "--limit", "1", home=home).out


def test_show_raw_is_the_exact_bytes(home: Home) -> None:
    for digest in digests(home):
        assert digest_of(told("show", digest, "--raw", home=home).out.encode()) == digest


def test_raw_and_json_are_not_asked_for_at_once(home: Home) -> None:
    end = told("show", "--raw", "--json", home=home)
    assert (end.exit_code, end.error()["code"]) == (2, "USAGE")


def test_show_takes_bare_hex(home: Home) -> None:
    digest = digests(home)[0]
    end = told("show", digest.removeprefix("sha256:"), "--json", home=home)
    assert end.document()["digest"] == digest


def test_show_shows_the_document(home: Home) -> None:
    document = told("show", "--json", home=home).document()
    assert document["descriptor"] == json.loads(told("show", "--raw", home=home).out)
    assert document["size"] == len(told("show", "--raw", home=home).out.encode())


def test_diff_names_every_member_that_differs(home: Home) -> None:
    new, old = digests(home)
    end = told("diff", old, new, "--json", home=home)
    assert end.exit_code == 1
    changes = {change["pointer"]: change for change in end.document()["changes"]}
    assert changes["/agent_version"] == {
        "pointer": "/agent_version",
        "kind": "changed",
        "before": "1",
        "after": "2",
        "new_version": "no",
    }
    people = told("diff", old, new, home=home)
    assert (people.exit_code, '~ /agent_version: "1" -> "2"' in people.out) == (1, True)


def test_diff_says_which_changes_oblige_a_new_agent_version(home: Home, tmp_path: Path) -> None:
    drafts = [tmp_path / "a.json", tmp_path / "b.json"]
    drafts[0].write_bytes(draft("1", fleet=False))
    drafts[1].write_bytes(draft("1", fleet=True))
    people = told("diff", *map(str, drafts), home=home)
    assert people.out.splitlines() == [
        "! ~ /fleet: false -> true",
        "Both say agent_version 1. B describes a changed agent and needs one of its own.",
    ]
    drafts[1].write_bytes(draft("1", does="Says it otherwise.", fleet=False))
    assert told("diff", *map(str, drafts), home=home).out.splitlines()[1:] == [
        "Both say agent_version 1. B needs one of its own if the agent changed."
    ]


def test_check_explains_a_rule(home: Home) -> None:
    end = told("check", "--explain", "d6.12-SHAPE", "--json", home=home).document()
    assert (end["rule"], end["section"], end["severity"]) == ("D6.12-shape", "6.12", "error")
    people = told("check", "--explain", "D6.12-shape", home=home)
    assert end["sentence"] in people.out
    assert end["remedy"] in people.out


def test_check_wants_one_file_or_one_rule(home: Home) -> None:
    for arguments in ([], ["x.json", "--explain", "D6.2-format"]):
        assert "Give a FILE to check, or --explain RULE." in told("check", *arguments, home=home).err
    unknown = told("check", "--explain", "D6.2-fromat", home=home)
    assert (unknown.exit_code, "Did you mean D6.2-format" in unknown.err) == (1, True)


def test_diff_compares_a_file_with_what_is_kept(home: Home) -> None:
    end = told("diff", home.draft, digests(home)[0], "--json", home=home)
    assert {change["kind"] for change in end.document()["changes"]} == {"added"}


@pytest.mark.parametrize("command", [["history"], ["show"], ["show", "--raw"]])
def test_before_the_first_publish_nothing_is_published_yet(tmp_path: Path, command: list[str]) -> None:
    end = told(*command, home=new_home(tmp_path / "h"))
    assert "Nothing is published yet: agent-node publish FILE" in end.out + end.err
    assert end.exit_code == (0 if command == ["history"] else 1)


# Homes and settings.


def test_init_makes_a_home_that_publishes(tmp_path: Path) -> None:
    home = Home(tmp_path / "h")
    (tmp_path / "mine.json").write_bytes(draft("7"))
    end = told(
        "init", "--handle", "paperwork.home", "--acts-for", "person", "--from", tmp_path / "mine.json", home=home
    )
    assert end.exit_code == 0
    assert identity_of(home).id in end.out
    published(home, home.draft.read_bytes())
    document = verified_document(told("show", "--raw", home=home).out.encode())
    assert document["subject"] == {"id": identity_of(home).id, "handle": "paperwork.home"}
    assert (document["acts_for"], document["agent_version"]) == ("person", "7")


@pytest.mark.parametrize("name", ["h", "a home"])
def test_what_init_says_comes_next_works_as_it_is_printed(tmp_path: Path, name: str) -> None:
    lines = told("init", "--acts-for", "person", home=Home(tmp_path / name)).out.splitlines()
    commands = [line.split(": agent-node ", 1)[1] for line in lines if ": agent-node " in line]
    backup, publish = (
        shlex.split(command.replace("DEST", shlex.quote(str(tmp_path / "copy")))) for command in commands
    )
    assert (backup[0], publish[0]) == ("backup", "publish")
    assert told(*publish).exit_code == 0
    assert told(*backup).exit_code == 0


def test_a_first_draft_that_nobody_wrote_on_is_told_of(tmp_path: Path) -> None:
    home = Home(tmp_path / "h")
    told("init", "--acts-for", "person", home=home)
    for command in ("check", "publish"):
        end = told(command, home.draft, home=home)
        assert (end.exit_code, "what `init` wrote" in end.err) == (0, True)
    (tmp_path / "mine.json").write_bytes(draft("2"))
    assert "what `init` wrote" not in told("publish", tmp_path / "mine.json", home=home).err


def test_the_platforms_own_home_needs_no_naming(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert "--home" not in told("init", "--acts-for", "person").out


def test_the_first_draft_can_be_published_as_it_is(tmp_path: Path) -> None:
    home = Home(tmp_path / "h")
    told("init", "--acts-for", "person", home=home)
    assert told("check", home.draft).exit_code == 0
    assert told("publish", home.draft, home=home).exit_code == 0


def test_an_init_that_was_cut_short_is_finished_by_the_same_command(tmp_path: Path) -> None:
    home = Home(tmp_path / "h")
    told("init", "--acts-for", "person", home=home)
    agent = identity_of(home).id
    home.seal_seed.unlink()
    home.draft.unlink()
    end = told("init", "--acts-for", "person", "--json", home=home)
    assert (end.exit_code, end.document()["id"]) == (0, agent)
    assert home.draft.exists()
    assert "was there already" in end.err  # the settings


def test_init_overwrites_nothing(home: Home) -> None:
    before = {path: path.read_bytes() for path in home.path.rglob("*") if path.is_file()}
    assert told("init", "--acts-for", "anyone", home=home).exit_code == 1
    assert {path: path.read_bytes() for path in before if path != home.lock_file} == {
        path: data for path, data in before.items() if path != home.lock_file
    }


def test_the_environment_names_the_home_and_the_flag_stands_over_it(home: Home, tmp_path: Path) -> None:
    env = {"AGENT_NODE_HOME": str(home.path)}
    assert len(told("history", "--json", env=env).document()["versions"]) == 2
    other = new_home(tmp_path / "o")
    assert told("history", "--json", home=other, env=env).document()["versions"] == []


@pytest.mark.parametrize(
    ("settings", "env", "named"),
    [
        ("[agent]\nhandel = 'x'\n", {}, ["handel", "handle"]),
        ("[agnet]\n", {}, ["agnet", "agent"]),
        ("[http]\nhandle = 'x'\n", {}, ["handle", "[agent]"]),
        ("", {"AGENT_NODE_ACT_FOR": "person"}, ["AGENT_NODE_ACT_FOR", "AGENT_NODE_ACTS_FOR"]),
    ],
)
def test_an_unknown_setting_is_refused_with_the_nearest_known_one(
    home: Home, settings: str, env: dict[str, str], named: list[str]
) -> None:
    home.config.write_text(settings)
    end = told("publish", "-", "--json", home=home, stdin=draft("3"), env=env)
    assert (end.exit_code, end.error()["code"]) == (2, "SETTING_UNKNOWN")
    assert all(name in end.error()["message"] for name in named)


def test_the_environment_stands_over_the_file(tmp_path: Path) -> None:
    home = new_home(tmp_path / "h", 'acts_for = "person"')
    env = {"AGENT_NODE_ACTS_FOR": "anyone"}
    assert told("publish", "-", home=home, stdin=draft(), env=env).exit_code == 0
    assert json.loads(told("show", "--raw", home=home).out)["acts_for"] == "anyone"


@pytest.mark.parametrize("command", [["history"], ["show"], ["publish", "-"], ["backup", "{new}"], ["status"], ["run"]])
def test_a_home_that_is_open_to_others_is_not_used(home: Home, command: list[str]) -> None:
    arguments = filled(home, command)
    home.path.chmod(0o777)
    end = told(*arguments, "--json", home=home, stdin=draft("3"))
    assert (end.exit_code, end.error()["code"]) == (1, "HOME_LOOSE")


def test_a_home_that_somebody_uses_is_named_with_who(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("node.operate.PAUSE", 0.0)
    with home.lock():
        end = told("publish", "-", "--json", home=home, stdin=draft("3"))
    assert (end.exit_code, end.error()["code"]) == (1, "HOME_IN_USE")
    assert str(end.error()["pid"]) in end.error()["message"]


@pytest.mark.filterwarnings("ignore:.*unclosed <socket")  # httpcore forgets the one that was refused
def test_a_stale_socket_does_not_keep_a_command_from_the_store(home: Home) -> None:
    control_listener(home).close()
    assert published(home, draft("3")) == digests(home)[0]
