"""What keeps a node from starting: one clear sentence, an exit code, and nothing damaged."""

from __future__ import annotations

import os
import re
import signal
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from node.home import Home
from node.identity import create
from node.passphrase import LEAST
from tests.end_to_end.harness import begun, command, fresh_home, running, short_directory
from tests.node.parts import Told, draft, published, told

PASSPHRASE = "correct horse"


@pytest.fixture
def home() -> Iterator[Home]:
    with fresh_home() as home:
        published(home, draft())
        yield home


def run(home: Home, *flags: str, env: dict[str, str] | None = None) -> Told:
    """Tries to run a node that cannot, in this process."""
    return told("run", "--port", "0", "--host", "127.0.0.1", "--log-format", "json", *flags, home=home, env=env)


def refused(ended: Told, code: str, exit_code: int = 1) -> str:
    """That a command ended with one sentence; returns it."""
    (line,) = ended.err.splitlines()
    assert (ended.exit_code, ended.out) == (exit_code, "")
    assert line.startswith("agent-node: ")
    assert line.endswith(f" [{code}]")
    return line


def everything(home: Home) -> dict[str, bytes]:
    """All files that matter; SQLite's logs and the lock come and go."""
    files = [path for path in home.path.rglob("*") if path.is_file() and path != home.lock_file]
    return {str(path): path.read_bytes() for path in files if not path.name.endswith(("-wal", "-shm"))}


def test_two_daemons_on_one_home(home: Home) -> None:
    with running(home) as first:
        digest = first.get().sha256
        line = refused(run(home), "HOME_IN_USE")
        assert str(first.process.pid) in line
        assert first.get().sha256 == digest
        assert first.asks("GET", "/status").json()["pid"] == first.process.pid


def test_status_is_for_people_who_read_no_python(home: Home) -> None:
    with running(home):
        shown = told("status", home=home)
    assert shown.exit_code == 0
    assert not re.search(r"True|False|None|\{|\[\]| $", shown.out, re.MULTILINE)


def test_a_node_that_has_nothing_to_say_tells_its_operator_what_to_do() -> None:
    with fresh_home() as home, running(home) as node:
        assert node.logged("nothing_published")["remedy"] == "agent-node publish FILE"


def test_a_port_that_is_used(home: Home) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = other.getsockname()[1]
        assert str(port) in refused(run(home, "--port", str(port)), "PORT_IN_USE")
    with running(home, "--port", str(port)) as node:  # nothing of the attempt is in the way
        assert node.port == port


def test_a_stale_control_socket_is_no_obstacle(home: Home) -> None:
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(home.socket))
    with running(home) as node:
        assert node.asks("GET", "/status").status == 200
    assert not home.socket.exists()


@pytest.mark.filterwarnings("ignore:.*unclosed <socket")  # httpcore forgets the one that was refused
def test_what_a_killed_node_leaves_is_no_obstacle(home: Home) -> None:
    with running(home) as node:
        node.process.kill()
        node.stopped()
    assert home.socket.exists()
    assert told("status", "--json", home=home).error()["code"] == "NODE_NOT_RUNNING"
    with running(home) as node:
        assert node.get().status == 200


def test_something_else_at_the_control_socket_is_left_alone(home: Home) -> None:
    home.socket.write_text("kept")
    assert "not a socket" in refused(run(home), "HOME_UNUSABLE")
    assert home.socket.read_text() == "kept"


def lose(path: Path) -> None:
    path.unlink()


def loosen(path: Path) -> None:
    path.chmod(0o640)


def spoil(path: Path) -> None:
    text = path.read_text()
    path.write_text(text[:-3] + ("AA\n" if text[-3:] != "AA\n" else "BB\n"))


def blank(path: Path) -> None:
    path.write_text("")


def fill(path: Path) -> None:
    path.write_bytes(os.urandom(100_000))


def link(path: Path) -> None:
    path.rename(path.with_suffix(".real"))
    path.symlink_to(path.with_suffix(".real"))


@pytest.mark.parametrize("name", ["agent.seed", "seal.seed"])
@pytest.mark.parametrize(
    ("harm", "code"),
    [
        (lose, "KEY_MISSING"),
        (loosen, "KEY_LOOSE"),
        (blank, "KEY_DAMAGED"),
        (fill, "KEY_DAMAGED"),
        (link, "KEY_UNREADABLE"),
    ],
)
def test_a_key_that_cannot_be_used(home: Home, harm: Callable[[Path], None], code: str, name: str) -> None:
    seed = home.identity_dir / name
    harm(seed)
    before = everything(home)
    assert seed.name in refused(run(home), code)
    assert everything(home) == before


def test_a_key_with_a_wrong_character_is_not_another_key(home: Home) -> None:
    secret = home.agent_seed.read_text().strip()
    spoil(home.agent_seed)
    line = refused(run(home), "KEY_DAMAGED")
    assert secret[:20] not in line
    assert home.agent_seed.read_text().strip()[:20] not in line


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a home to somebody else")
@pytest.mark.parametrize("what", [".", "identity", "identity/agent.seed"])
def test_a_home_that_is_somebody_elses(home: Home, what: str) -> None:
    before = everything(home)
    os.chown(home.path / what, 65534, 65534)
    try:
        assert "uid 65534" in refused(run(home), "HOME_NOT_YOURS")
        for arguments in (["publish", "-"], ["history"], ["backup", home.path.parent / "b"], ["init"], ["status"]):
            ended = told(*arguments, "--json", home=home, stdin=draft("2"))
            assert ended.exit_code == 1
            assert ended.error()["code"] in ("HOME_NOT_YOURS", "IDENTITY_EXISTS")
    finally:
        os.chown(home.path / what, 0, 0)
    assert everything(home) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else for a moment")
@pytest.mark.parametrize("closed", [".", "identity"])
def test_a_home_that_may_not_be_entered(home: Home, closed: str) -> None:
    told("doctor", home=home)  # imports what somebody else may not be able to read
    home.path.parent.chmod(0o755)
    for path in (home.path, *home.path.rglob("*")):
        os.chown(path, 65534, 65534)
    (home.path / closed).chmod(0o600)
    os.seteuid(65534)
    try:
        for arguments in (["history"], ["show"], ["doctor"]):
            ended = told(*arguments, "--json", "--home", home.path)
            assert ended.exit_code == 1
            assert "Permission denied" in ended.out
    finally:
        os.seteuid(0)


def test_a_store_by_a_newer_program_is_left_as_it_is(home: Home) -> None:
    with closing(sqlite3.connect(home.database)) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = everything(home)
    assert "newer agent-node" in refused(run(home), "STORE_NEWER")
    assert told("publish", "-", "--json", home=home, stdin=draft("2")).error()["code"] == "STORE_NEWER"
    assert told("history", "--json", home=home).error()["code"] == "STORE_NEWER"
    assert everything(home) == before


def test_a_file_that_is_no_store_is_left_as_it_is(home: Home) -> None:
    home.database.write_bytes(b"SQLite format 4\x00" + b"else" * 2000)
    before = everything(home)
    refused(run(home), "NOT_A_STORE")
    assert everything(home) == before


@pytest.mark.parametrize(
    ("settings", "code"),
    [("[http]\nprot = 1\n", "SETTING_UNKNOWN"), ("[http]\nport = -1\n", "SETTING_INVALID"), ("[", "CONFIG_UNREADABLE")],
)
def test_settings_that_cannot_be_read(home: Home, settings: str, code: str) -> None:
    home.config.write_text(settings)
    assert str(home.config) in refused(run(home), code, exit_code=2)


def test_a_home_that_is_not_there() -> None:
    with short_directory() as directory:
        assert "agent-node init" in refused(run(Home(directory / "missing")), "HOME_MISSING")
        assert not list(directory.iterdir())


def test_a_home_with_too_long_a_path() -> None:
    with short_directory() as directory:
        home = Home(directory / ("a" * 100))
        refused(told("init", home=home), "HOME_PATH_TOO_LONG")
        assert not list(directory.iterdir())


# Sealed keys.


@pytest.fixture(scope="module")
def sealed() -> Iterator[Home]:
    with short_directory() as directory:
        home = Home(directory / "h")
        create(home, PASSPHRASE, LEAST)
        home.config.write_text('[agent]\nacts_for = "person"\n')
        yield home


def test_sealed_keys_open_with_the_passphrase(sealed: Home) -> None:
    env = {"AGENT_NODE_PASSPHRASE": PASSPHRASE}
    digest = command("publish", "-", home=sealed, stdin=draft(), env=env).out.decode().strip()
    with running(sealed, env=env) as node:
        assert node.get().sha256 == digest
        # What needs no key asks for none: the running node has it, and history is no secret.
        later = command("publish", "-", home=sealed, stdin=draft("2"))
        assert (later.exit_code, node.get().sha256) == (0, later.out.decode().strip())
        assert command("history", home=sealed).exit_code == 0


def test_sealed_keys_open_with_a_systemd_credential(sealed: Home) -> None:
    with short_directory() as credentials:
        (credentials / "agent-node-passphrase").write_text(PASSPHRASE + "\n")
        with running(sealed, env={"CREDENTIALS_DIRECTORY": str(credentials)}) as node:
            assert node.asks("GET", "/status").status == 200


@pytest.mark.parametrize(
    ("env", "code"),
    [({"AGENT_NODE_PASSPHRASE": "wrong donkey"}, "PASSPHRASE_WRONG"), ({}, "PASSPHRASE_NEEDED")],
)
def test_sealed_keys_do_not_open_without_it(sealed: Home, env: dict[str, str], code: str) -> None:
    line = refused(run(sealed, env=env), code)
    assert "wrong donkey" not in line


def test_how_long_a_start_takes(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is asked of it here; `scripts/bench` does that."""
    began = time.monotonic()
    with running(home) as node:
        seconds = time.monotonic() - began
        assert node.get().status == 200
    with capsys.disabled():
        print(f"\nready {seconds:.2f} s after the start, on this machine as it is now")


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_a_standard_stream_that_is_closed_is_no_reason_to_fall(home: Home, closed: int) -> None:
    ended = command("history", home=home, stdin=b"", preexec_fn=lambda: os.close(closed))
    assert ended.exit_code == 0


def test_a_stream_that_takes_nothing_is_told_no_traceback(home: Home) -> None:
    with Path("/dev/full").open("wb") as full, Path(os.devnull).open("rb") as nothing:
        for arguments in (["history"], ["history", "--json"], ["status", "--json"]):
            with begun(*arguments, home=home, stdin=nothing, stdout=full) as process:
                _, err = process.communicate(timeout=60)
            assert process.returncode in (1, 3)
            assert b"Traceback" not in err


def test_a_node_takes_away_no_socket_but_its_own(home: Home) -> None:
    with running(home) as node:
        home.socket.unlink()
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(home.socket))
            node.signal(signal.SIGTERM)
            node.stopped()
            assert home.socket.is_socket()
