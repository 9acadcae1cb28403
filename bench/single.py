"""What is not a load: how long a node takes to start, and to publish."""

from __future__ import annotations

import time
from pathlib import Path

import httpx

from bench.documents import FilledHome
from bench.errors import BenchError
from bench.servers import node

MAJOR = "2"  # what is published here comes after what `fill_home` stored


def start_seconds(home: Path, directory: Path, core: int, times: int) -> list[float]:
    """Seconds from the start of the process to the line that says it is ready, `times` times, the first one left out.

    The first one reads the program from the disk; the others find it in memory, as on a machine that restarts it.
    """
    measured = []
    for number in range(times + 1):
        with node(f"start_{number}", home, directory, core) as running:
            measured.append(running.ready_after)
    return measured[1:]


def publish_milliseconds(home: FilledHome, times: int) -> list[float]:
    """Milliseconds that a publish takes over the control socket, from question to answer, on the node of `home`.

    Each one is a new version: bound, signed, checked, on the disk and served when the answer comes.
    """
    measured = []
    transport = httpx.HTTPTransport(uds=str(home.path / "control.sock"))
    with httpx.Client(transport=transport, base_url="http://node", timeout=30, trust_env=False) as client:
        for number in range(1, times + 1):
            draft = home.drafts.draft(MAJOR, number)
            began = time.perf_counter()
            answer = client.post("/publish", content=draft)
            measured.append((time.perf_counter() - began) * 1e3)
            if answer.status_code != 200 or not answer.json()["changed"]:
                raise BenchError(f"A publish was refused: {answer.text[:500]}")
    return measured
