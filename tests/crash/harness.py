"""Building the shim, and talking to the process that is killed under it."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from types import TracebackType
from typing import Self

SIGKILLED = -9


class How(IntEnum):
    """`enum mode` of writes.c."""

    COUNT = 1
    KILL_BEFORE = 2
    KILL_HALFWAY = 3
    FAIL_ONE = 4
    FAIL_FROM = 5
    RECORD = 6


@dataclass(frozen=True)
class Round:
    """How one child ended, and what it reported until then."""

    acknowledged: tuple[object, ...]
    refused: tuple[str, ...]
    operations: int | None
    status: int

    @property
    def killed(self) -> bool:
        return self.status == SIGKILLED

    @property
    def versions(self) -> int:
        """How many versions were acknowledged."""
        return sum(isinstance(what, int) for what in self.acknowledged)


@functools.cache
def unavailable() -> str | None:
    """Why these tests cannot run here; `None` when they can."""
    if sys.platform != "linux":
        return "the shim is written for Linux"
    if shutil.which("cc") is None and shutil.which("gcc") is None:
        return "no C compiler to build the shim with"
    return None


def build(directory: Path) -> Path:
    """Compiles the shim into `directory`."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler is not None
    shim = directory / "writes.so"
    source = Path(__file__).with_name("writes.c")
    subprocess.run(
        [compiler, "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", shim, source, "-ldl"],
        check=True,
    )
    return shim


@contextmanager
def scratch() -> Iterator[Path]:
    """A directory in memory where there is one: these tests open a store some thousand times."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as directory:
        yield Path(directory).resolve()


class Worker:
    """The process of `worker.py`, which forks a child for each round."""

    def __init__(self, shim: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.worker"],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "LD_PRELOAD": str(shim), "CRASH_SHIM": str(shim)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def run(
        self, scenario: str, directory: Path, how: How, at: int = 0, error: int = 0, record: Path | None = None
    ) -> Round:
        """Runs `scenario` in the empty `directory`, its operation number `at` meeting what `how` says."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {
            "scenario": scenario,
            "directory": str(directory),
            "how": how,
            "at": at,
            "error": error,
            "record": str(record or ""),
        }
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        reports: dict[str, list[object]] = {}
        for kind, what in answer["reports"]:
            reports.setdefault(kind, []).append(what)
        assert "failed" not in reports, reports["failed"][0]
        operations = reports.get("operations", [None])[0]
        assert operations is None or isinstance(operations, int)
        return Round(
            acknowledged=tuple(reports.get("acknowledged", ())),
            refused=tuple(map(str, reports.get("refused", ()))),
            operations=operations,
            status=answer["status"],
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.communicate()
