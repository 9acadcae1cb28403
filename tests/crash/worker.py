"""The process that is killed: it forks a child for each round, and the child publishes until it ends.

Run by `harness.Worker` with the shim of `writes.c` preloaded. A round is a line of JSON on stdin; what the child
reported, and how it ended, is a line of JSON on stdout. What the child says it acknowledged went through a pipe
before the next operation on the disk, so that nobody can kill it in between unnoticed.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import sqlite_utils  # noqa: F401  # imported once here, not by each child that migrates

from store import Reader, Store, StoreError, backup
from tests.crash.documents import SUBJECT, digest, document, publish

T = TypeVar("T")

shim = ctypes.CDLL(os.environ["CRASH_SHIM"])
shim.crash_disarm.restype = ctypes.c_long
shim.crash_arm.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_long, ctypes.c_int, ctypes.c_char_p]


class Child:
    """One round, from the child's side."""

    def __init__(self, pipe: int, directory: Path) -> None:
        self.pipe = pipe
        self.directory = directory
        self.path = directory / "node.db"
        self.published = 0
        self.is_open = False

    def report(self, *line: object) -> None:
        os.write(self.pipe, (json.dumps(line) + "\n").encode())

    def acknowledge(self, what: object) -> None:
        self.report("acknowledged", what)
        shim.crash_mark(str(what).encode())

    def attempt(self, act: Callable[[], T]) -> T:
        """Does it; when the disk refuses, looks whether what was published is served, and does it again."""
        try:
            return act()
        except StoreError as error:
            self.report("refused", error.code)
            if self.is_open:
                self.still_served()
            shim.crash_disarm()
            return act()

    def still_served(self) -> None:
        with Reader.open(self.path) as reader:
            current = reader.current(SUBJECT)
            assert (current.digest if current else None) == (digest(self.published) if self.published else None)
            if current:
                assert reader.artifact(current.digest) == document(self.published)
            assert reader.last_event_seq() == self.published

    @contextmanager
    def store(self) -> Iterator[Store]:
        with self.attempt(lambda: Store.open(self.path)) as store:
            self.is_open = True
            yield store
            self.is_open = False

    def publish_next(self, store: Store) -> None:
        number = self.published + 1
        self.attempt(lambda: publish(store, number))
        self.published = number
        self.acknowledge(number)


def ordinary(child: Child) -> None:
    """A new store; two publishes; closed and opened again; two more, each followed by a checkpoint."""
    with child.store() as store:
        for _ in range(2):
            child.publish_next(store)
    with child.store() as store:
        store._connection.execute("PRAGMA wal_autocheckpoint = 1")
        for _ in range(2):
            child.publish_next(store)


def hasty(child: Child) -> None:
    """What must be caught: it acknowledges before it publishes."""
    with Store.open(child.path) as store:
        for number in range(1, 4):
            child.acknowledge(number)
            publish(store, number)


def careless(child: Child) -> None:
    """What must be caught: it does not wait for the disk at a commit."""
    with Store.open(child.path) as store:
        store._connection.execute("PRAGMA synchronous = NORMAL")
        for _ in range(3):
            child.publish_next(store)


def joining(child: Child) -> None:
    """Two more publishes, to a store that holds one and that another process is reading."""
    child.published = 1
    with child.store() as store:
        for _ in range(2):
            child.publish_next(store)


def copying(child: Child) -> None:
    """A backup between two publishes."""
    with child.store() as store:
        child.publish_next(store)
        child.attempt(lambda: backup(child.path, child.directory / "copy.db"))
        child.acknowledge("copy")
        child.publish_next(store)


SCENARIOS = {act.__name__: act for act in (ordinary, hasty, careless, joining, copying)}


def run_child(pipe: int, round_: dict[str, str], how: int, at: int, error: int) -> None:
    child = Child(pipe, Path(round_["directory"]))
    try:
        shim.crash_arm(round_["directory"].encode(), how, at, error, round_["record"].encode())
        SCENARIOS[round_["scenario"]](child)
        child.report("operations", shim.crash_disarm())
    except BaseException:  # whatever it is, the parent is to read it
        child.report("failed", traceback.format_exc())
    finally:
        os._exit(0)


def main() -> None:
    # A collection in a child would copy the pages it shares with this process.
    gc.disable()
    gc.freeze()
    for line in sys.stdin:
        round_ = json.loads(line)
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            run_child(writing, round_, round_["how"], round_["at"], round_["error"])
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            reports = [json.loads(report) for report in pipe]
        _, status = os.waitpid(pid, 0)
        sys.stdout.write(json.dumps({"reports": reports, "status": os.waitstatus_to_exitcode(status)}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
