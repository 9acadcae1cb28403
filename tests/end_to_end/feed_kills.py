"""Readers of a feed whose node is killed (-9) and started again, over and over: none misses an event or has one twice.

    python -m tests.end_to_end.feed_kills --rounds 50 [--seed N]

Three readers go on through all rounds: `curl -N`, begun again behind the last id that it showed, as any client of a few
lines would do it; `docs/follow_events.py`; and a node that follows. In each round versions are published until the node
is killed at a random moment, in the middle of a publish as often as not. In the end each reader holds exactly the log.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any

from descriptor.strictjson import parse
from entryway.feed import Message, StreamParser
from node.home import Home
from store import Event, Reader
from tests.end_to_end.harness import ROOT, WAIT, Node, asked_control, command, environment, fresh_home, running
from tests.node.parts import draft, identity_of, published

MOST_PUBLISHES = 8
"""Publishes of a round that are sure to end before the kill, fewer than these; the kill comes within the next two."""


class Curl:
    """`curl -N`, as often as it takes. `got`: each event as it came."""

    def __init__(self, url: str) -> None:
        self.got: list[Message] = []
        self.runs = 0
        self._url = url
        self._over = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._over.set()
        if self._process is not None:
            self._process.kill()
        self._thread.join(WAIT)

    def lines(self) -> list[str]:
        return [line_of(one.id, one.event, one.data) for one in self.got]

    def _read(self) -> None:
        while not self._over.wait(0.05):
            self.runs += 1
            last = self.got[-1].id if self.got else "0"
            arguments = ["curl", "-sN", "-H", f"Last-Event-ID: {last}", f"{self._url}/events"]
            with subprocess.Popen(arguments, stdout=subprocess.PIPE) as self._process:
                assert self._process.stdout is not None
                parser = StreamParser()
                while piece := self._process.stdout.read1():  # type: ignore[attr-defined]  # a pipe is buffered
                    self.got += parser.feed(piece)


class Script:
    """`docs/follow_events.py`, once. What it prints is a line an event."""

    def __init__(self, url: str) -> None:
        self._printed: list[str] = []
        self._process = subprocess.Popen(
            [sys.executable, str(ROOT / "docs" / "follow_events.py"), url, "0"],
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._process.kill()
        self._process.wait(WAIT)
        self._thread.join(WAIT)

    def lines(self) -> list[str]:
        return [*self._printed]

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as printed:
            self._printed += (line.rstrip("\n") for line in printed)


def line_of(number: str, event: str, data: str) -> str:
    """An event as `docs/follow_events.py` prints it."""
    envelope = parse(data.encode())
    assert isinstance(envelope, dict)
    payload = envelope["payload"]
    assert isinstance(payload, dict)
    return f"{number} {event} {payload['agent_version']} {payload['digest']}"


def run(rounds: int, seed: int) -> dict[str, int]:
    """Raises AssertionError for a reader that does not hold the log. Returns what was counted."""
    chance = random.Random(seed)
    with fresh_home() as home, fresh_home() as followers_home, ExitStack() as opened:
        published(home, draft("0"))
        with running(home) as node:
            port, url = node.port, node.url
            assert command("follow", url, home=followers_home).exit_code == 0
        follower = opened.enter_context(running(followers_home))
        readers: list[Curl | Script] = [Script(url)]
        if shutil.which("curl"):
            readers.append(Curl(url))
        for reader in readers:
            opened.callback(reader.end)
        acknowledged = 1
        for number in range(1, rounds + 1):
            with running(home, f"--port={port}") as node:
                acknowledged += one_round(node, chance, number)
        with running(home, f"--port={port}"):
            log = log_of(home)
            assert len(log) >= acknowledged, f"{acknowledged} were acknowledged, and {len(log)} are in the log"
            said = [line_of(str(one.seq), one.type, one.data) for one in log]
            for reader in readers:
                holds(reader.lines, said, type(reader).__name__)
            digests = [line.rpartition(" ")[2] for line in said]
            holds(lambda: kept(followers_home, home), digests, "the node that follows")
        reports = [line for line in follower.log if line["event"] == "follow_report"]
        assert not reports, reports
        restarts = sum(reader.runs for reader in readers if isinstance(reader, Curl))
    return {"kills": rounds, "events": len(log), "acknowledged": acknowledged, "curl_runs": restarts}


def one_round(node: Node, chance: random.Random, number: int) -> int:
    """Publishes a few times, and kills the node within the next. Returns how many publishes were acknowledged."""
    acknowledged, took = 0, 0.0
    sure = chance.randrange(MOST_PUBLISHES)
    killer: threading.Timer | None = None
    with suppress(OSError, http.client.HTTPException):
        while True:
            if acknowledged == sure:
                killer = threading.Timer(chance.uniform(0.0, 1.5) * took, node.process.kill)
                killer.start()
            began = time.monotonic()
            answer = asked_control(node.home, "POST", "/publish", draft(f"{number}.{acknowledged + 1}"))
            assert answer.status == 200, answer.body
            acknowledged, took = acknowledged + 1, time.monotonic() - began
    assert killer is not None, "the node ended by itself; look at its log"
    killer.join()
    assert node.process.wait(WAIT) == -signal.SIGKILL
    return acknowledged


def log_of(home: Home) -> tuple[Event, ...]:
    with Reader.open(home.database) as reader:
        rows = reader.events_after(0, 10**6)
    assert [row.seq for row in rows] == [*range(1, len(rows) + 1)]
    return rows


def kept(home: Home, followed: Home) -> list[str]:
    """The digests that are kept of another home's agent, the oldest first."""
    with Reader.open(home.database) as reader:
        rows, _ = reader.history(identity_of(followed).id, 10**6)
    return [row.digest for row in reversed(rows)]


def holds(held: Callable[[], list[Any]], expected: list[Any], who: str) -> None:
    """Waits until a reader has what it should; what it has too often or in another order does not go away."""
    until = time.monotonic() + 2 * WAIT
    while (have := held()) != expected:
        assert time.monotonic() < until, f"{who} has {len(have)} of {len(expected)}: {have[-3:]} and {expected[-3:]}"
        time.sleep(0.05)


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--rounds", type=int, default=50)
    arguments.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    asked = arguments.parse_args()
    print(f"{asked.rounds} rounds, seed {asked.seed}", flush=True)
    print("All held. " + json.dumps(run(asked.rounds, asked.seed)))


if __name__ == "__main__":
    main()
