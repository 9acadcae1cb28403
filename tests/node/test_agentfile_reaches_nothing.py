"""No command about an `.agent` file dials, resolves or starts anything, whatever addresses the file is full of.

Python tells an audit hook of every name that is resolved, every connection and every process; a hook cannot be taken
back, so the commands run in a process of their own. What would dial such an address has to ask `agentfile.targets`.

Source: `.agent` format 19, items 2 and 5.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from agentfile.targets import Refusal, ToConnect, ToResolve, follow, judge_target
from tests.end_to_end.harness import ROOT, environment

FILES = sorted((ROOT / "tests/agentfile/samples").iterdir())
FULL = ROOT / "tests/agentfile/samples/full-of-addresses.agent"

WATCHED = r"""
import json, sys
seen = []
REACHING = ("socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "urllib.",
            "http.client.", "ftplib.", "smtplib.", "webbrowser.", "ctypes.dlopen")
sys.addaudithook(lambda event, arguments: seen.append(event) if event.startswith(REACHING) else None)

from click.testing import CliRunner
from node.cli import main

told = {}
for arguments in json.load(sys.stdin):
    seen.clear()
    result = CliRunner().invoke(main, arguments)
    assert not isinstance(result.exception, Exception), result.exception
    told[" ".join(arguments[:2])] = {"exit": result.exit_code, "seen": list(seen)}

import socket
seen.clear()
try:
    socket.create_connection(("127.0.0.1", 1), timeout=1)
except OSError:
    pass
print(json.dumps({"told": told, "control": list(seen)}))
"""


def watched(*commands: list[str]) -> tuple[dict[str, dict[str, object]], list[str]]:
    """What each command did, by its name, and what the same hook saw of a connection that is made on purpose."""
    done = subprocess.run(
        [sys.executable, "-c", WATCHED],
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment(),
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    return answer["told"], answer["control"]


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_nothing_is_reached(file: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("id,amount\n")
    home = ["--home", str(tmp_path / "h")]
    told, control = watched(
        ["agentfile", "check", str(file), *home],
        ["agentfile", "needs", str(file), *home],
        ["agentfile", "render", str(file), *home],
        ["agentfile", "match", str(file), "nobody", str(table), *home],
        ["agentfile", "import", str(file), "--yes", "--output", str(tmp_path / "draft.json"), *home],
        ["agentfile", "export", str(file), "--output", str(tmp_path / "out.agent"), *home],
    )
    assert {name: one["seen"] for name, one in told.items()} == {name: [] for name in told}
    assert [told[f"agentfile {name}"]["exit"] for name in ("check", "needs", "import", "export")] == [0, 0, 0, 0]
    assert (tmp_path / "draft.json").is_file()
    assert {"socket.getaddrinfo", "socket.connect"} <= {*control}


def test_what_would_dial_the_addresses_of_such_a_file_is_refused_first() -> None:
    tools = json.loads(FULL.read_bytes())["blueprint"]["tools"]
    judged = {tool["name"]: judge_target(tool["url"]) for tool in tools if tool["kind"] == "webhook"}
    assert {name: one.code for name, one in judged.items() if isinstance(one, Refusal)} == {
        "meta": "ADDRESS_REFUSED",
        "here": "ADDRESS_REFUSED",
        "hex": "URL_HOST",
        "mapped": "ADDRESS_REFUSED",
    }


OUTSIDE = frozenset(
    ("socket", "ssl", "trio", "httpx", "http", "urllib", "ftplib", "smtplib", "subprocess", "webbrowser")
)
DIALING = ("entryway.client", "entryway.feed", "node.handlers", "node.operate", "node.following", "node.targets")


def imported(module: Path) -> set[str]:
    """Every module that is imported anywhere in this one, with the names taken from it."""
    names: set[str] = set()
    for one in ast.walk(ast.parse(module.read_bytes())):
        if isinstance(one, ast.Import):
            names.update(alias.name for alias in one.names)
        elif isinstance(one, ast.ImportFrom) and one.module is not None:
            names.update((one.module, *(f"{one.module}.{alias.name}" for alias in one.names)))
    return names


def test_no_module_that_knows_such_files_can_dial_at_all() -> None:
    """Whoever writes the first one has to come by here, and to ask `agentfile.targets` before each connection."""
    modules = [
        path
        for room in ("agentfile", "descriptor", "store", "entryway", "node")
        for path in (ROOT / room).rglob("*.py")
    ]
    knowing = {path for path in modules if any(name.split(".")[0] == "agentfile" for name in imported(path))}
    outside = {path for path in knowing if not path.is_relative_to(ROOT / "agentfile")}
    assert {path.relative_to(ROOT).as_posix() for path in outside} == {
        "node/agent_needs.py",
        "node/commands/agentfile.py",
        "node/spreadsheets.py",
    }
    for path in knowing:
        reached = {name for name in imported(path) if name.split(".")[0] in OUTSIDE or name.startswith(DIALING)}
        # The guard takes URLs apart, which needs nobody else.
        assert reached <= {"urllib.parse", "urllib.parse.urljoin"}, path


def test_the_guard_alone_says_which_address_to_connect_to() -> None:
    """What holds an address to dial is made by it, from every address of a name, and by nothing else."""
    makers = [
        path.relative_to(ROOT).as_posix()
        for room in ("agentfile", "entryway", "node")
        for path in (ROOT / room).rglob("*.py")
        if "ToConnect(" in path.read_text()
    ]
    assert makers == ["agentfile/targets.py"]
    step = follow("https://hooks.example.org/a")
    assert isinstance(step, ToResolve)
    assert isinstance(step.resolved(["93.184.215.14", "::ffff:10.0.0.1"]), Refusal)
    connect = step.resolved(["93.184.215.14"])
    assert isinstance(connect, ToConnect)
    again = connect.redirected("https://other.example.org/")
    assert isinstance(again, ToResolve)  # to be resolved anew, and judged again by what it resolves to
    assert isinstance(again.resolved(["64:ff9b::7f00:1"]), Refusal)
