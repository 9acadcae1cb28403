"""The servers, each a process on the server core, told apart by nothing else.

The invariant: a server that was started is ended, by its own process id, however the run ends.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from bench.errors import BenchError
from bench.machine import program_version, running_on

ROOT = Path(__file__).parent.parent
START_WAIT = 60.0  # seconds
STOP_WAIT = 20.0
LOOPBACK = "127.0.0.1"
WELL_KNOWN = "/.well-known/agent-descriptor.json"

NGINX = """\
daemon off;
worker_processes 1;
pid {directory}/nginx.pid;
error_log stderr error;
{user}
events {{ worker_connections 1024; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_timeout 75s;
    keepalive_requests 100000000;
    default_type application/json;
    types {{ }}
    client_body_temp_path {directory}/temp;
    proxy_temp_path {directory}/temp;
    fastcgi_temp_path {directory}/temp;
    uwsgi_temp_path {directory}/temp;
    scgi_temp_path {directory}/temp;
    server {{
        listen {host}:{port};
        root {directory}/files;
    }}
}}
"""


@dataclass(frozen=True)
class Running:
    """A server that answers. `ready_after`: seconds from the start of the process."""

    name: str
    pid: int
    host: str
    port: int
    software: str
    ready_after: float


@contextmanager
def node(
    name: str,
    home: Path,
    directory: Path,
    core: int,
    *,
    within: Sequence[str] = (),
    listening: Sequence[str] = ("--host", LOOPBACK, "--port", "0"),
    environ: Mapping[str, str] | None = None,
) -> Iterator[Running]:
    """agent-node in `home`, as an operator runs it. `within`: what stands before the command, to run it elsewhere."""
    program = Path(sys.executable).with_name("agent-node")
    command = [*within, str(program), "run", "--home", str(home), *listening, "--log-format", "json"]
    software = f"agent-node {version('agent-node')}"
    with _process(name, software, command, directory, core, _port_told, environ) as running:
        yield running


@contextmanager
def starlette(name: str, file: Path, directory: Path, core: int) -> Iterator[Running]:
    """`bench.starlette_app` under uvicorn."""
    with _uvicorn(name, "bench.starlette_app:create", file, directory, core, "starlette") as running:
        yield running


@contextmanager
def a2a(name: str, file: Path, directory: Path, core: int) -> Iterator[Running]:
    """`bench.a2a_app` under uvicorn."""
    with _uvicorn(name, "bench.a2a_app:create", file, directory, core, "a2a-sdk") as running:
        yield running


@contextmanager
def nginx(name: str, file: Path, directory: Path, core: int) -> Iterator[Running]:
    """nginx, serving a copy of `file` from a directory of its own."""
    prefix = directory / name
    place = prefix / "files" / WELL_KNOWN.removeprefix("/")
    place.parent.mkdir(parents=True)
    place.write_bytes(file.read_bytes())
    port = _free_port()
    # Started by root, nginx would give its worker to a user who may not enter the directory.
    user = "user root;" if os.geteuid() == 0 else ""
    config = prefix / "nginx.conf"
    config.write_text(NGINX.format(directory=prefix, host=LOOPBACK, port=port, user=user))
    command = ["nginx", "-p", str(prefix), "-c", str(config), "-e", "stderr"]
    software = program_version("nginx", "-v").removeprefix("nginx version: ")
    with _process(name, software, command, directory, core, lambda _log: _listening(port)) as running:
        yield running


@contextmanager
def _uvicorn(name: str, application: str, file: Path, directory: Path, core: int, library: str) -> Iterator[Running]:
    port = _free_port()
    command = [sys.executable, "-m", "uvicorn", "--factory", application, "--app-dir", str(ROOT)]
    command += ["--host", LOOPBACK, "--port", str(port), "--workers", "1", "--loop", "uvloop", "--http", "httptools"]
    command += ["--no-access-log", "--log-level", "warning"]
    software = ", ".join(f"{one} {version(one)}" for one in (library, "uvicorn", "uvloop", "httptools"))
    environ = {"BENCH_FILE": str(file)}
    with _process(name, software, command, directory, core, lambda _log: _listening(port), environ) as running:
        yield running


@contextmanager
def _process(
    name: str,
    software: str,
    command: list[str],
    directory: Path,
    core: int,
    port_when_ready: Callable[[bytes], int | None],
    environ: Mapping[str, str] | None = None,
) -> Iterator[Running]:
    """Runs a command on a core until the context ends. `port_when_ready` is shown what it has written until then."""
    log = directory / f"{name}.log"
    with log.open("wb") as written, running_on(core):
        began = time.perf_counter()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=written, stderr=written, env={**os.environ, **(environ or {})}
        )
    try:
        port = None
        while port is None:
            if process.poll() is not None or time.perf_counter() - began > START_WAIT:
                raise BenchError(f"{name} does not start. It said: {log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.001)
            port = port_when_ready(log.read_bytes())
        yield Running(name, process.pid, LOOPBACK, port, software, time.perf_counter() - began)
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_WAIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _port_told(log: bytes) -> int | None:
    for line in log.splitlines(keepends=True):
        if line.startswith(b"{") and line.endswith(b"\n"):
            told = json.loads(line)
            if told["event"] == "ready":
                return int(told["url"].rpartition(":")[2])
    return None


def _listening(port: int) -> int | None:
    with closing(socket.socket()) as probe:
        probe.settimeout(1.0)
        return port if probe.connect_ex((LOOPBACK, port)) == 0 else None


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port
