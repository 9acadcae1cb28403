"""What admitted work costs, and what it is worth while strangers flood the door.

A real node with two offerings whose work is nothing: a Python function that returns, and a program that prints. What is
measured is the node's own part: the boundary, two rows on the disk, a process begun and ended, a signed answer. Every
job is counted in the node's own store afterwards, so a refusal is never taken for work.

The flood comes from another address of this machine, by callers whom nobody admitted, each request signed and whole. It
shares the load core with the one admitted caller and yields to him, so what he waits for is the node.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from bench import boundary
from bench.boundary import STRANGERS
from bench.errors import BenchError
from bench.generator import Sample, run
from bench.load import CONNECTIONS, Question, requests_for
from bench.servers import Running, node
from descriptor.keys import Identity
from entryway.codec import Codec, encode
from entryway.envelope import request_envelope
from entryway.roster import MOST_HOURLY
from node.home import Home
from node.identity import load as load_keys

PARALLEL = 8
ROUNDS = 3
LEAD = 0.5  # seconds that a flood is there before it counts, and afterwards
ELSEWHERE = "127.0.0.2"
MOST_A_SECOND = 1_500  # jobs that are laid out for each second: each may be asked for once
FUNCTION = "def nothing(job):\n    return {'nothing': ''}\n"
SETTINGS = """
[agent]
acts_for = "person"

[handlers.call]
python = "work:nothing"
parallel = {parallel}

[handlers.start]
command = ["/bin/echo", '{{"nothing": ""}}']
parallel = {parallel}

[jobs]
jobs_parallel = {parallel}
jobs_kept = 1000000
"""
OFFERINGS = [
    {
        "id": name,
        "name": name,
        "description": "Does nothing.",
        "inputs": [{"name": "words", "kind": "text", "required": True}],
        "outputs": [{"name": "nothing", "kind": "text", "when": "per_task"}],
    }
    for name in ("call", "start")
]
DRAFT = {
    "format": "agent-descriptor-v1",
    "agent_version": "1",
    "does": "Does nothing, as quickly as it can.",
    "interaction": "service",
    "access": {"admission": "screened", "schemes": []},
    "offerings": OFFERINGS,
}


def measure(directory: Path, core: int, seconds: float) -> dict[str, Any]:
    """Jobs a second of both kinds, one after the other and several at once; then beside a flood. Raises BenchError."""
    caller = Identity.generate()
    home = _home(directory / "jobs", caller)
    to = load_keys(home, None, {}).identity.id
    report: dict[str, Any] = {}
    # Nobody is refused for his address: a flood from many looks the same, and is what no such limit holds off.
    unlimited = {f"AGENT_NODE_{name}": "1000000" for name in ("ANSWERS_PER_SECOND", "ANSWERS_BURST")}
    environ = {**unlimited, "AGENT_NODE_LIMIT_LOOPBACK": "true"}
    with node("jobs", home.path, directory, core, environ=environ) as running:
        at = _Place(running, caller, to, home)
        for offering in ("call", "start"):
            alone, together = at.work(offering, seconds, 1), at.work(offering, seconds, PARALLEL)
            report[offering] = {
                "one_after_another_per_second": round(alone.requests / alone.seconds, 1),
                "at_once_per_second": round(together.requests / together.seconds, 1),
                "p50_ms": round(alone.p50_us / 1e3, 2),
                "p99_ms": round(alone.p99_us / 1e3, 2),
            }
        report["beside_a_flood"] = _beside_a_flood(at, seconds)
    return report


class _Place:
    """The node, as the one caller whom it has admitted sees it."""

    def __init__(self, running: Running, caller: Identity, to: str, home: Home) -> None:
        self.running = running
        self.to = to
        self._caller = caller
        self._home = home

    def work(self, offering: str, seconds: float, connections: int) -> Sample:
        """As many jobs as there is time for, over so many connections. Raises BenchError unless each was done."""
        payload = {"offering": offering, "input": {"words": "nothing"}}
        laid_out = [self._request(payload) for _ in range(round(MOST_A_SECOND * seconds))]
        before = self._done()
        sample = run(self.running.host, self.running.port, laid_out, seconds, connections)
        if sample.requests > len(laid_out) - connections:
            raise BenchError("More was done than was laid out to be asked for.")
        if (done := self._done() - before) < sample.requests:
            raise BenchError(f"Of {sample.requests} answers only {done} tell of a job that was done.")
        return sample

    def _request(self, payload: dict[str, Any]) -> bytes:
        body = encode(request_envelope(payload, time.time(), to=self.to, identity=self._caller), Codec.JSON)
        question = Question(["/requests"], "POST", {"Content-Type": Codec.JSON.value}, body)
        return requests_for(self.running.host, self.running.port, question)[0]

    def _done(self) -> int:
        with closing(sqlite3.connect(f"file:{self._home.database}?mode=ro", uri=True)) as store:
            return int(store.execute("SELECT count(*) FROM jobs WHERE state = 'completed'").fetchone()[0])


def _beside_a_flood(at: _Place, seconds: float) -> dict[str, float]:
    """The admitted caller alone and in a flood, in turns, one job after the other."""
    alone, flooded, refused = [], [], []
    for _ in range(ROUNDS):
        alone.append(at.work("call", seconds, 1).p99_us)
        with _flood(at, seconds) as told:
            flooded.append(at.work("call", seconds, 1).p99_us)
        flood = told.result()
        refused.append(flood.requests / flood.seconds)
    return {
        "p99_ms_alone": round(median(alone) / 1e3, 2),
        "p99_ms_in_the_flood": round(median(flooded) / 1e3, 2),
        "p99_ratio": round(median(flooded) / median(alone), 2),
        "refused_per_second": round(median(refused)),
    }


@contextmanager
def _flood(at: _Place, seconds: float) -> Iterator[Future[Sample]]:
    """Strangers, from before the block until after `seconds` of it."""
    strangers, now = [Identity.generate() for _ in range(STRANGERS)], time.time()
    lasts = seconds + 2 * LEAD
    laid_out = [
        requests_for(at.running.host, at.running.port, boundary.question(strangers[number % STRANGERS], at.to, now))[0]
        for number in range(round(boundary.MOST_A_SECOND * lasts))
    ]
    # Whom it shares the load core with goes first, so that what it takes of that core is not taken for the node's.
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, mp_context=fork, initializer=os.nice, initargs=(19,)) as pool:
        sample = pool.submit(run, at.running.host, at.running.port, laid_out, lasts, CONNECTIONS, ELSEWHERE)
        time.sleep(LEAD)
        yield sample


def _home(path: Path, caller: Identity) -> Home:
    """A home with both offerings and what stands behind them, where `caller` is admitted and as often as he likes."""
    home = Home(path)
    _agent_node(home, "init", "--handle", "bench.jobs")
    home.config.write_text(SETTINGS.format(parallel=PARALLEL))
    home.handlers.mkdir(mode=0o700)
    (home.handlers / "work.py").write_text(FUNCTION)
    _agent_node(home, "publish", "-", stdin=json.dumps(DRAFT).encode())
    _agent_node(home, "roster", "admit", caller.id)
    _agent_node(home, "roster", "defaults", "--hourly", str(MOST_HOURLY))
    return home


def _agent_node(home: Home, *arguments: str, stdin: bytes = b"") -> bytes:
    program = Path(sys.executable).with_name("agent-node")
    done = subprocess.run(
        [program, *arguments, "--home", home.path], input=stdin, capture_output=True, timeout=60, check=False
    )
    if done.returncode:
        raise BenchError(f"agent-node {arguments[0]} failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
