"""The load: many connections that ask again as soon as they are answered.

`wrk` where it is installed, the bundled generator where it is not. Both ask the same questions over the same number of
kept connections, from the load core, and report the same figures; the bundled one needs more of its core for each
request, and so can be what limits a fast server. Whether it was shows in `server_core_share`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bench.errors import BenchError
from bench.generator import Sample, run
from bench.machine import program_version

CONNECTIONS = 32

# wrk tells percentiles to programs only through Lua. What it is asked for by `request` costs it some speed, so that is
# used only where more than one question is asked.
DONE = """\
done = function(summary, latency, requests)
    local e = summary.errors
    io.write(string.format(
        '{"requests":%d,"microseconds":%d,"p50_us":%d,"p99_us":%d,"failed":%d}\\n',
        summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
        e.connect + e.read + e.write + e.timeout + e.status))
end
"""
ONE = "wrk.method = {method}\nwrk.body = {body}\nwrk.headers = {{ {headers} }}\n"
MANY = """\
local requests, next = {{}}, 0
init = function()
    for path in io.lines({file}) do requests[#requests + 1] = wrk.format("GET", path) end
end
request = function()
    next = next % #requests + 1
    return requests[next]
end
"""


@dataclass(frozen=True)
class Question:
    """What is asked: one request, or one GET for each of several paths, in their order."""

    paths: Sequence[str]
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


class Load(Protocol):
    """One way to make a load. `about`: which, for the report."""

    about: Mapping[str, object]

    def put_on(self, host: str, port: int, question: Question, seconds: float) -> Sample:
        """Asks for so long, and returns what was measured. Raises BenchError when a request fails."""


def load_for(directory: Path) -> Load:
    """The best one this machine has. Scripts for it are written into `directory`."""
    return Wrk(directory) if shutil.which("wrk") else Bundled()


class Wrk:
    """wrk, with one thread."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        version = program_version("wrk", "-v").partition(" ")[2].partition(" Copyright")[0]
        self.about: Mapping[str, object] = {"name": "wrk", "version": version, "connections": CONNECTIONS}

    def put_on(self, host: str, port: int, question: Question, seconds: float) -> Sample:
        """Runs wrk once. Its durations are whole seconds."""
        duration = max(1, round(seconds))
        script = self._directory / "load.lua"
        script.write_text(self._script(question))
        url = f"http://{host}:{port}{question.paths[0]}"
        command = ["wrk", "-t", "1", "-c", str(CONNECTIONS), "-d", f"{duration}s", "-s", str(script), url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=duration + 30, check=False)
        return read_wrk(done.stdout, done.stderr)

    def _script(self, question: Question) -> str:
        if len(question.paths) > 1:
            paths = self._directory / "paths"
            paths.write_text("\n".join(question.paths) + "\n")
            return MANY.format(file=lua_text(str(paths).encode())) + DONE
        headers = ", ".join(
            f"[{lua_text(name.encode())}] = {lua_text(value.encode())}" for name, value in question.headers.items()
        )
        body = lua_text(question.body) if question.body else "nil"
        return ONE.format(method=lua_text(question.method.encode()), body=body, headers=headers) + DONE


class Bundled:
    """`bench.generator`."""

    about: Mapping[str, object] = {"name": "bundled", "connections": CONNECTIONS}

    def put_on(self, host: str, port: int, question: Question, seconds: float) -> Sample:
        """Runs the generator in this process."""
        return run(host, port, requests_for(host, port, question), seconds, CONNECTIONS)


def read_wrk(stdout: str, stderr: str = "") -> Sample:
    """The sample in what wrk wrote. Raises BenchError when there is none, or a request failed."""
    line = stdout.strip().rpartition("\n")[2]
    if not line.startswith("{"):
        raise BenchError(f"wrk did not finish. It said: {(stderr or stdout).strip()[-500:]}")
    told = json.loads(line)
    if told["failed"] or not told["requests"]:
        raise BenchError(f"{told['failed']} requests failed beside {told['requests']} that were answered.")
    return Sample(told["requests"], told["microseconds"] / 1e6, told["p50_us"], told["p99_us"])


def requests_for(host: str, port: int, question: Question) -> list[bytes]:
    """The bytes of each request of a question."""
    headers = {"Host": f"{host}:{port}", **question.headers}
    if question.body:
        headers["Content-Length"] = str(len(question.body))
    fields = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return [f"{question.method} {path} HTTP/1.1\r\n{fields}\r\n".encode() + question.body for path in question.paths]


def lua_text(data: bytes) -> str:
    """Bytes as a Lua string: each one written by its number, so that none needs thought."""
    return '"' + "".join(f"\\{byte:03}" for byte in data) + '"'
