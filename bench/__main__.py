"""The command line of the bench: one JSON document on stdout, progress on stderr.

Exit codes: 0 measured, 1 a target is missed and `--check` was given, 2 usage, 3 it could not be measured.
"""

from __future__ import annotations

import json
import shutil
import signal
import sys
import time
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import NoReturn

import click

from bench import neighbors
from bench import servers as start
from bench.alone import ALONE, Place
from bench.documents import DOCUMENT_BYTES, FilledHome, fill_home
from bench.errors import BenchError
from bench.load import load_for
from bench.machine import Cores, facts, memory, running_on
from bench.report import Document, measurements, percentiles, spread, targets
from bench.rounds import SERVER_OF, Schedule, contestant, run_rounds
from bench.servers import Running
from bench.single import publish_milliseconds, start_seconds
from descriptor.timestamps import format_timestamp

PARTS = (*SERVER_OF, "start", "memory", "publish", *ALONE)
VERSIONS = {"node_10": 10, "node_100000": 100_000}
FULL = Schedule(rounds=3, seconds=5, warm_up=1)
QUICK = Schedule(rounds=1, seconds=1, warm_up=1)
STARTS, PUBLISHES = 5, 200
SETTLE = 5.0  # seconds from the last start until a node counts as idle
LONGEST = 900  # seconds in which everything is over, one way or the other


@click.command()
@click.option("--quick", is_flag=True, help="One round of a second each: whether it works, not how fast it is.")
@click.option("--only", multiple=True, type=click.Choice(PARTS), help="Measure this; several times.")
@click.option("--check", is_flag=True, help="Exit with 1 when a target is missed.")
def main(quick: bool, only: tuple[str, ...], check: bool) -> None:
    """Measure the node on this machine, side by side with other servers."""
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGALRM, _stop)
    signal.alarm(LONGEST)
    try:
        report = _run(QUICK if quick else FULL, set(only or PARTS))
    except (BenchError, OSError) as error:
        click.echo(f"bench: {error}", err=True)
        raise SystemExit(3) from None
    click.echo(json.dumps(report, indent=2))
    missed = [one["name"] for one in report["targets"] if one["met"] is False]
    for name in missed:
        _tell(f"missed: {name}")
    if check and missed:
        raise SystemExit(1)


def _run(schedule: Schedule, wanted: set[str]) -> Document:
    began = time.monotonic()
    report: Document = {"measured_at": format_timestamp(time.time())}
    if "nginx" in wanted and shutil.which("nginx") is None:
        _tell("nginx is not installed, and is left out")
        wanted = wanted - {"nginx"}
    if "neighbors" in wanted and (why := neighbors.why_not()) is not None:
        _tell(f"neighbors are left out: {why}")
        wanted = wanted - {"neighbors"}
    cores = Cores.of_this_process()
    with TemporaryDirectory(prefix="agent-node-bench-") as named, running_on(cores.load), ExitStack() as stack:
        directory = Path(named)
        load = load_for(directory)
        report |= {"machine": facts(cores), "load": dict(load.about), "document_bytes": DOCUMENT_BYTES}
        report["schedule"] = asdict(schedule)
        names = [name for name in SERVER_OF if name in wanted]
        needed = {SERVER_OF[name] for name in names} | ({"node_10"} if wanted & {"memory", "publish"} else set())
        homes = _homes(directory, needed)
        starts = None
        if "start" in wanted:
            _tell(f"starting a node {STARTS + 1} times")
            starts = start_seconds(homes["node_10"].path, directory, cores.server, STARTS)
            report["start_seconds"] = spread(starts, 3)
        running = _servers(stack, needed, homes, directory, cores.server)
        if running:
            time.sleep(SETTLE)
        idle = {name: memory(one.pid) for name, one in running.items()}
        contestants = {name: contestant(name, homes) for name in names}
        measured = run_rounds(contestants, running, load, schedule, _tell)
        report["measurements"] = measurements(measured)
        report["servers"] = {
            name: {"software": one.software, "memory_idle": idle[name], "memory_after_load": memory(one.pid)}
            for name, one in running.items()
        }
        if "publish" in wanted:
            report["publish_milliseconds"] = {
                name: percentiles(_published(name, homes[name])) for name in homes if name in running
            }
        place = Place(directory, cores.server, schedule)
        for name, (doing, measure) in ALONE.items():
            if name in wanted:
                _tell(doing)
                report[name] = measure(place)
        idle_rss = idle["node_10"]["rss_mib"] if "node_10" in idle else None
        report["targets"] = targets(measured, idle_rss, starts, report)
    report["took_seconds"] = round(time.monotonic() - began, 1)
    return report


def _homes(directory: Path, needed: set[str]) -> dict[str, FilledHome]:
    """The small home always: what the others serve is its current version."""
    homes = {}
    for name, versions in VERSIONS.items():
        if name == "node_10" or name in needed:
            _tell(f"making a home with {versions} versions")
            homes[name] = fill_home(directory / name, versions)
    return homes


def _servers(
    stack: ExitStack, needed: set[str], homes: dict[str, FilledHome], directory: Path, core: int
) -> dict[str, Running]:
    file = directory / "descriptor.json"
    file.write_bytes(homes["node_10"].current)
    running = {}
    for name in dict.fromkeys(SERVER_OF.values()):
        if name not in needed:
            continue
        _tell(f"starting {name}")
        match name:
            case "starlette":
                server = start.starlette(name, file, directory, core)
            case "a2a":
                server = start.a2a(name, file, directory, core)
            case "nginx":
                server = start.nginx(name, file, directory, core)
            case _:
                server = start.node(name, homes[name].path, directory, core)
        running[name] = stack.enter_context(server)
    return running


def _published(name: str, home: FilledHome) -> list[float]:
    _tell(f"publishing {PUBLISHES} versions on {name}")
    return publish_milliseconds(home, PUBLISHES)


def _tell(line: str) -> None:
    click.echo(line, err=True)


def _stop(number: int, _frame: FrameType | None) -> NoReturn:
    """Ends the run in order: every context is left, every process that was started is ended."""
    raise BenchError("It took too long." if number == signal.SIGALRM else "It was told to stop.")


if __name__ == "__main__":
    sys.exit(main())
