"""What neighbors cost: how soon a node knows a whole network of them, and how little it does when nothing changes.

The node and the crowd (`bench.crowd`) are two hosts, network namespaces with a cable between them, so nothing is
measured of the network that this machine is on, and nothing is said to it. That takes root and iproute2.
"""

from __future__ import annotations

import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import httpx

from bench.documents import FilledHome
from bench.errors import BenchError
from bench.machine import cpu_seconds, memory
from bench.servers import ROOT, STOP_WAIT, Running, node

PEERS = 200
FIRST, PREFIX = IPv4Address("10.77.1.1"), 16
OWN = "10.77.0.1"
LONGEST = 120.0  # seconds until all are verified
LOOK = 0.05  # seconds between two looks
SETTLE = 15.0  # seconds from the last verification until the node counts as at rest
WAIT = 20.0  # seconds for a command


def why_not() -> str | None:
    """Why hosts cannot be made here; None when they can."""
    if shutil.which("ip") is None:
        return "iproute2 is not installed"
    try:
        with _hosts():
            return None
    except (BenchError, OSError) as error:
        return str(error)


def measure(home: FilledHome, directory: Path, core: int, rest: float) -> dict[str, Any]:
    """Seconds until `PEERS` announced peers are verified, counted from when the node is ready; what it costs at rest.

    `rest`: seconds that are measured then. `cpu_percent_at_rest` is of one core. Raises BenchError when not every peer
    comes to be verified, or one is lost.
    """
    with _hosts() as (own, others), _crowd(others) as crowd_ready, ExitStack() as stack:
        within = ("ip", "netns", "exec", own)
        running = stack.enter_context(node("neighbors", home.path, directory, core, within=within, listening=()))
        client = stack.enter_context(
            httpx.Client(
                transport=httpx.HTTPTransport(uds=str(home.path / "control.sock")),
                base_url="http://node",
                timeout=WAIT,
                trust_env=False,
            )
        )
        took = _until_verified(client)
        time.sleep(SETTLE)
        percent = _at_rest(running, rest)
        if (left := _verified(client)) != PEERS:
            raise BenchError(f"Of {PEERS} peers {left} were verified in the end.")
        return {
            "peers": PEERS,
            "announced_in_seconds": round(crowd_ready, 1),
            "all_verified_seconds": round(took, 2),
            "cpu_percent_at_rest": round(percent, 2),
            "rss_mib": memory(running.pid)["rss_mib"],
        }


def _until_verified(client: httpx.Client) -> float:
    began = time.perf_counter()
    while (verified := _verified(client)) < PEERS:
        if time.perf_counter() - began > LONGEST:
            raise BenchError(f"Of {PEERS} peers {verified} were verified in {LONGEST:g} seconds.")
        time.sleep(LOOK)
    return time.perf_counter() - began


def _verified(client: httpx.Client) -> int:
    return int(client.get("/status").json()["peers"])


def _at_rest(running: Running, seconds: float) -> float:
    before, began = cpu_seconds(running.pid), time.perf_counter()
    time.sleep(seconds)
    return (cpu_seconds(running.pid) - before) / (time.perf_counter() - began) * 100


@contextmanager
def _hosts() -> Iterator[tuple[str, str]]:
    """Two hosts on one cable, by the names of their namespaces; the second has an address for each peer."""
    tag = f"an{secrets.token_hex(4)}"
    own, others = f"{tag}-node", f"{tag}-crowd"
    made = []
    try:
        for name in (own, others):
            _ip("netns", "add", name)
            made.append(name)
            _ip("-n", name, "link", "set", "lo", "up")
        _ip("-n", own, "link", "add", "lan0", "type", "veth", "peer", "name", "lan0", "netns", others)
        _ip("-n", own, "address", "add", f"{OWN}/{PREFIX}", "brd", "+", "dev", "lan0")
        lines = "".join(f"address add {address}/{PREFIX} brd + dev lan0\n" for address in _addresses())
        _ip("-n", others, "-batch", "-", stdin=lines)
        for name in (own, others):
            _ip("-n", name, "link", "set", "lan0", "up")
            _ip("-n", name, "route", "add", "default", "dev", "lan0")
        yield own, others
    finally:
        for name in made:
            _ip("netns", "delete", name)


@contextmanager
def _crowd(host: str) -> Iterator[float]:
    """The crowd on its host, all announced; gives the seconds that it took them."""
    command = ["ip", "netns", "exec", host, sys.executable, "-m", "bench.crowd", *_addresses()]
    began = time.perf_counter()
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        try:
            if process.stdout.readline() != b"ready\n":
                raise BenchError("The crowd did not come together.")
            yield time.perf_counter() - began
        finally:
            process.stdin.close()
            try:
                process.wait(STOP_WAIT)
            except subprocess.TimeoutExpired:
                process.kill()


def _addresses() -> list[str]:
    return [str(FIRST + number) for number in range(PEERS)]


def _ip(*arguments: str, stdin: str = "") -> None:
    try:
        subprocess.run(["ip", *arguments], input=stdin, check=True, capture_output=True, text=True, timeout=WAIT)
    except subprocess.CalledProcessError as error:
        raise BenchError(f"A network cannot be made here, which takes root: {' '.join(error.stderr.split())}") from None
