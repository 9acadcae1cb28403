"""The home: found, made closed, refused when it is not the operator's own, and held by one process at a time."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from node.errors import NodeError
from node.home import SECRET_BYTES, SOCKET_PATH_BYTES, Home, read_secret


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    return home


@pytest.fixture(params=[0o000, 0o022, 0o777])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def seed(home: Home, text: str = "S\n", bits: int = 0o600) -> Path:
    home.agent_seed.write_text(text)
    home.agent_seed.chmod(bits)
    return home.agent_seed


def refused(code: str, call: object, *arguments: object) -> NodeError:
    assert callable(call)
    with pytest.raises(NodeError) as caught:
        call(*arguments)
    assert caught.value.code == code, caught.value.message
    return caught.value


@pytest.mark.parametrize(
    ("flag", "environ", "found"),
    [
        ("/flag", {"AGENT_NODE_HOME": "/variable"}, "/flag"),
        (None, {"AGENT_NODE_HOME": "/variable"}, "/variable"),
        (None, {"AGENT_NODE_HOME": ""}, "/state/agent-node"),
        (None, {}, "/state/agent-node"),
        ("~/node", {}, "/people/ada/node"),
    ],
)
def test_the_home_is_the_flag_s_or_the_variable_s_or_the_platform_s(
    monkeypatch: pytest.MonkeyPatch, flag: str | None, environ: dict[str, str], found: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    monkeypatch.setenv("HOME", "/people/ada")
    assert Home.locate(flag, environ).path == Path(found)


def test_a_relative_home_is_made_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert Home.locate("here", {}).path == tmp_path / "here"


@pytest.mark.parametrize("flag", ["", "~there-is-no-such-user/node"])
def test_a_flag_that_names_no_directory_is_refused(flag: str) -> None:
    assert refused("HOME_UNUSABLE", Home.locate, flag, {}).exit_code == 2


def test_a_home_holds_what_the_binding_says(tmp_path: Path) -> None:
    home = Home(tmp_path)
    paths = (home.config, home.agent_seed, home.seal_seed, home.database, home.socket)
    assert [str(path.relative_to(tmp_path)) for path in paths] == [
        "node.toml",
        "identity/agent.seed",
        "identity/seal.seed",
        "node.db",
        "control.sock",
    ]


def test_a_new_home_is_closed_to_others_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    home = Home(tmp_path / "home")
    home.create()
    assert (mode(home.path), mode(home.identity_dir)) == (0o700, 0o700)
    home.check()


def test_making_a_home_again_changes_nothing(home: Home) -> None:
    home.path.chmod(0o755)
    home.database.write_bytes(b"kept")
    home.create()
    assert mode(home.path) == 0o755
    assert home.database.read_bytes() == b"kept"
    home.check()


def test_a_home_below_a_file_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused("HOME_UNUSABLE", Home(tmp_path / "file" / "home").create)


def test_a_missing_home_is_said_to_be_missing(tmp_path: Path) -> None:
    home = Home(tmp_path / "absent")
    message = refused("HOME_MISSING", home.check).message
    assert all(way in message for way in ("agent-node init", "--home", "AGENT_NODE_HOME"))
    refused("HOME_MISSING", home.lock().__enter__)


def test_a_home_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused("HOME_UNUSABLE", Home(tmp_path / "file").check)


@pytest.mark.parametrize("uid", [0, 1000])
def test_a_home_of_somebody_else_is_refused_to_anybody_and_to_root(
    home: Home, monkeypatch: pytest.MonkeyPatch, uid: int
) -> None:
    owner = os.geteuid()
    if owner == uid:
        uid += 1
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    message = refused("HOME_NOT_YOURS", home.check).message
    assert f"uid {owner}" in message
    assert f"uid {uid}" in message


@pytest.mark.parametrize(
    ("directory", "bits", "code"),
    [
        ("", 0o755, None),
        ("", 0o775, "HOME_LOOSE"),
        ("", 0o702, "HOME_LOOSE"),
        ("identity", 0o700, None),
        ("identity", 0o710, "HOME_LOOSE"),
        ("identity", 0o701, "HOME_LOOSE"),
    ],
)
def test_a_directory_open_to_others_is_refused_with_the_command_that_closes_it(
    home: Home, directory: str, bits: int, code: str | None
) -> None:
    path = home.path / directory
    path.chmod(bits)
    if code is None:
        home.check()
    else:
        assert refused(code, home.check).message.endswith(f"chmod 700 {path}")


@pytest.mark.parametrize("bits", [0o640, 0o604, 0o620, 0o602, 0o644, 0o610])
def test_a_seed_open_to_others_is_refused_with_the_command_that_closes_it(home: Home, bits: int) -> None:
    path = seed(home, bits=bits)
    for call in (home.check, lambda: read_secret(path)):
        assert refused("KEY_LOOSE", call).message.endswith(f"chmod 600 {path}")
    path.chmod(0o600)
    home.check()


def test_a_seed_of_somebody_else_is_refused(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    path = seed(home)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    refused("HOME_NOT_YOURS", read_secret, path)


@pytest.mark.parametrize("target", ["elsewhere", "nowhere"])
def test_a_seed_that_is_a_symbolic_link_is_refused(home: Home, tmp_path: Path, target: str) -> None:
    (tmp_path / "elsewhere").write_text("S\n")
    (tmp_path / "elsewhere").chmod(0o600)
    home.agent_seed.symlink_to(tmp_path / target)
    assert "symbolic link" in refused("KEY_UNREADABLE", home.check).message
    refused("KEY_UNREADABLE", read_secret, home.agent_seed)


@pytest.mark.parametrize("make", [lambda path: os.mkfifo(path, 0o600), lambda path: path.mkdir(0o700)])
def test_a_seed_that_is_no_regular_file_is_refused_at_once(home: Home, make: object) -> None:
    assert callable(make)
    make(home.agent_seed)
    refused("KEY_UNREADABLE", read_secret, home.agent_seed)


def test_a_seed_that_cannot_be_opened_is_unreadable(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    path = seed(home)
    monkeypatch.setattr(os, "open", denied)
    assert "Permission denied" in refused("KEY_UNREADABLE", read_secret, path).message


def test_a_missing_seed_is_said_to_be_missing(home: Home) -> None:
    refused("KEY_MISSING", read_secret, home.agent_seed)
    home.check()


@pytest.mark.parametrize(
    ("text", "fits"), [("x" * SECRET_BYTES, True), ("x" * (SECRET_BYTES + 1), False), ("ü", False)]
)
def test_a_seed_file_is_short_ascii(home: Home, text: str, fits: bool) -> None:
    path = seed(home, text)
    if fits:
        assert read_secret(path) == text
    else:
        refused("KEY_DAMAGED", read_secret, path)


def test_a_home_is_held_once_and_the_holder_is_named(home: Home) -> None:
    with home.lock():
        error = refused("HOME_IN_USE", home.lock().__enter__)
        assert f"process {os.getpid()}" in error.message
        assert error.details == {"pid": os.getpid()}
    with home.lock():
        assert mode(home.lock_file) == 0o600


def test_a_home_is_free_again_after_an_error(home: Home) -> None:
    with pytest.raises(ZeroDivisionError), home.lock():
        raise ZeroDivisionError
    with home.lock():
        pass


def test_a_holder_without_a_name_is_still_a_holder(home: Home) -> None:
    with home.lock():
        home.lock_file.write_text("nonsense")
        error = refused("HOME_IN_USE", home.lock().__enter__)
        assert error.details is None
        assert "in use;" in error.message


def test_a_killed_holder_lets_go(home: Home) -> None:
    script = (
        "import sys, time\nfrom pathlib import Path\nfrom node.home import Home\n"
        "with Home(Path(sys.argv[1])).lock():\n    sys.stdout.write('held\\n')\n"
        "    sys.stdout.flush()\n    time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(home.path)], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert refused("HOME_IN_USE", home.lock().__enter__).details == {"pid": holder.pid}
        holder.kill()
    with home.lock():
        pass


def test_a_lock_that_is_a_symbolic_link_is_not_followed(home: Home, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("kept")
    home.lock_file.symlink_to(tmp_path / "kept")
    refused("HOME_UNUSABLE", home.lock().__enter__)
    assert (tmp_path / "kept").read_text() == "kept"


@pytest.mark.parametrize(("extra", "fits"), [(0, True), (1, False)])
def test_a_home_too_deep_for_a_socket_is_refused(tmp_path: Path, extra: int, fits: bool) -> None:
    room = SOCKET_PATH_BYTES - len(os.fsencode(tmp_path / "x" / "control.sock")) + 1
    home = Home(tmp_path / ("h" * (room + extra)))
    if fits:
        home.create()
        home.check()
    else:
        refused("HOME_PATH_TOO_LONG", home.create)
        refused("HOME_PATH_TOO_LONG", home.check)
        assert not home.path.exists()
