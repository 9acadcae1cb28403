"""The machine: its cores, and what a process uses of it, from /proc. Linux only."""

from __future__ import annotations

import os
import platform
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CLOCK_TICK = 1.0 / os.sysconf("SC_CLK_TCK")
PROC = Path("/proc")


@dataclass(frozen=True)
class Cores:
    """The core that servers run on, and the core of the load. They are one where the machine has only one."""

    server: int
    load: int

    @classmethod
    def of_this_process(cls) -> Cores:
        """The last and the first of the cores that this process may use."""
        cores = sorted(os.sched_getaffinity(0))
        return cls(server=cores[-1], load=cores[0])


@contextmanager
def running_on(core: int) -> Iterator[None]:
    """Binds this thread to a core; what it starts meanwhile stays bound."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def family(pid: int) -> list[int]:
    """A process and its children, as nginx has one."""
    children = (PROC / str(pid) / "task" / str(pid) / "children").read_text().split()
    return [pid, *map(int, children)]


def cpu_seconds(pid: int) -> float:
    """What a process and its children have used of the processor: all threads, user and system."""
    ticks = 0
    for member in family(pid):
        # Behind the name, which may hold anything: utime and stime are fields 14 and 15 of proc_pid_stat(5).
        fields = (PROC / str(member) / "stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks * CLOCK_TICK


def memory(pid: int) -> dict[str, float]:
    """Resident memory of a process and its children in MiB: `rss`, and `pss`, which shares what is shared."""
    rss = pss = 0
    for member in family(pid):
        rss += _kibibytes(PROC / str(member) / "status", "VmRSS:")
        pss += _kibibytes(PROC / str(member) / "smaps_rollup", "Pss:")
    return {"rss_mib": round(rss / 1024, 1), "pss_mib": round(pss / 1024, 1)}


def facts(cores: Cores) -> dict[str, object]:
    """What a reader needs to know of the machine to read the figures."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "server_core": cores.server,
        "load_core": cores.load,
        "load_average": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }


def program_version(*command: str) -> str:
    """The first line that a program says about itself."""
    said = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    return (said.stdout or said.stderr).partition("\n")[0].strip()


def _kibibytes(path: Path, name: str) -> int:
    for line in path.read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    return 0  # a process without memory of its own: it is ending


def _processor() -> str:
    for line in (PROC / "cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
