"""The service manager: what it is told, what it waits for, and the unit that runs the node."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from node.config import RESERVED
from node.passphrase import CREDENTIAL, MODERATE
from node.settings import DECLARED, Settings
from node.systemd import Notifier, watchdog_interval

UNIT = Path(__file__).parents[2] / "configs" / "agent-node.service"
ANALYZE = shutil.which("systemd-analyze")


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[socket.socket, Notifier]]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.settimeout(5)
        if request.param == "path":
            address = str(tmp_path / "notify")
            listening.bind(address)
        else:
            listening.bind("")  # the kernel chooses an abstract name
            address = "@" + listening.getsockname()[1:].decode()
        yield listening, Notifier.from_environ({"NOTIFY_SOCKET": address})


@pytest.mark.parametrize(
    ("tell", "said"),
    [
        (lambda notifier: notifier.ready("serving 1.0"), b"READY=1\nSTATUS=serving 1.0"),
        (lambda notifier: notifier.stopping(), b"STOPPING=1"),
        (lambda notifier: notifier.watchdog(), b"WATCHDOG=1"),
    ],
)
def test_the_service_manager_is_told(
    manager: tuple[socket.socket, Notifier], tell: Callable[[Notifier], bool], said: bytes
) -> None:
    listening, notifier = manager
    assert tell(notifier) is True
    assert listening.recv(4096) == said


def test_a_reload_says_when_it_began(manager: tuple[socket.socket, Notifier]) -> None:
    listening, notifier = manager
    before = time.monotonic_ns() // 1000
    assert notifier.reloading() is True
    first, second = listening.recv(4096).decode().split("\n")
    assert first == "RELOADING=1"
    name, microseconds = second.split("=")
    assert name == "MONOTONIC_USEC"
    assert before <= int(microseconds) <= time.monotonic_ns() // 1000


def test_a_status_is_one_line_whatever_a_handle_holds(manager: tuple[socket.socket, Notifier]) -> None:
    listening, notifier = manager
    notifier.ready("serving\nMAINPID=1\r\ud800")
    assert listening.recv(4096) == b"READY=1\nSTATUS=serving MAINPID=1 \\ud800"


@pytest.mark.parametrize("environ", [{}, {"NOTIFY_SOCKET": ""}, {"NOTIFY_SOCKET": "vsock:2:1234"}])
def test_without_a_service_manager_nothing_happens(environ: dict[str, str]) -> None:
    assert Notifier.from_environ(environ).ready("serving") is False


@pytest.mark.parametrize("address", ["/nobody/listens/here", "@nobody-listens-here", "/" + "x" * 200])
def test_a_service_manager_that_is_gone_disturbs_nothing(address: str) -> None:
    assert Notifier.from_environ({"NOTIFY_SOCKET": address}).watchdog() is False


def test_a_service_manager_that_does_not_read_is_not_waited_for_long(tmp_path: Path) -> None:
    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(address)
        notifier = Notifier.from_environ({"NOTIFY_SOCKET": address})
        started = time.monotonic()
        assert any(not notifier.watchdog() for _ in range(10_000))
        assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("environ", "seconds"),
    [
        ({"WATCHDOG_USEC": "30000000"}, 15.0),
        ({"WATCHDOG_USEC": "1000000", "WATCHDOG_PID": str(os.getpid())}, 0.5),
        ({"WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "x"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "-1"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({}, None),
    ],
)
def test_a_sign_of_life_comes_twice_in_the_time_the_watchdog_waits(
    environ: dict[str, str], seconds: float | None
) -> None:
    assert watchdog_interval(environ) == seconds


def unit() -> dict[str, list[str]]:
    """The unit's directives, those that are commented out included."""
    stated: dict[str, list[str]] = {}
    for line in UNIT.read_text(encoding="utf-8").splitlines():
        name, equals, value = line.removeprefix("#").partition("=")
        if equals and name.isalnum():
            stated.setdefault(name, []).append(value)
    return stated


def test_the_unit_sets_only_variables_that_the_node_knows() -> None:
    known = {one.variable for one in DECLARED.values()} | set(RESERVED)
    assert {value.partition("=")[0] for value in unit()["Environment"]} <= known


def test_the_unit_hands_the_passphrase_over_under_the_name_the_node_reads() -> None:
    for directive in ("LoadCredential", "LoadCredentialEncrypted"):
        assert [value.partition(":")[0] for value in unit()[directive]] == [CREDENTIAL]


def test_the_unit_leaves_time_to_drain_and_memory_to_open_seeds() -> None:
    assert float(unit()["TimeoutStopSec"][0]) > Settings().limits.drain_wait
    assert int(unit()["MemoryMax"][0].removesuffix("M")) * 2**20 > MODERATE.mem + 100 * 2**20
    assert int(unit()["LimitNOFILE"][0]) > Settings().limits.connections * 2


def test_the_unit_does_not_start_a_node_again_that_cannot_read_its_settings() -> None:
    assert unit()["RestartPreventExitStatus"] == ["2"]


@pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze is not installed")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    assert ANALYZE is not None
    # The program of the unit is not installed here; any other stands in for it.
    stand_in = tmp_path / UNIT.name
    stand_in.write_text(UNIT.read_text(encoding="utf-8").replace("/opt/agent-node/bin/agent-node", "/bin/true"))
    run = subprocess.run([ANALYZE, "verify", stand_in], capture_output=True, check=False, text=True, timeout=60)
    assert (run.returncode, run.stderr) == (0, "")
