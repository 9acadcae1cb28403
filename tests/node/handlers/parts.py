"""What the tests of handlers are made of: an offering, an order, a home with programs, and a look at what is left."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from descriptor.strictjson import JsonValue
from descriptor.view import Offering, view
from entryway.work import Order
from node.handlers.settings import Handler, read_handlers
from node.home import Home

CALLER = "U" + "A" * 55
WAIT = 30.0
OUTPUTS = [{"name": "answer", "kind": "text", "when": "per_task"}]


def offering(**members: Any) -> Offering:
    """An offering that takes a text and gives one, with other members where they are stated."""
    declared = {
        "id": "count-words",
        "inputs": [{"name": "words", "kind": "text", "required": True}],
        "outputs": OUTPUTS,
        **members,
    }
    found = view({"offerings": [declared]}).offering(declared["id"])
    assert found is not None
    return found


def order(words: str = "one two", offering_id: str = "count-words", **members: Any) -> Order:
    """An order for it, of one caller."""
    given: Mapping[str, JsonValue] = {"words": words}
    return Order(members.pop("caller", CALLER), members.pop("request_id", "r-1"), offering_id, given, **members)


def handler(**members: Any) -> Handler:
    """A handler as the file would state it."""
    return read_handlers({"count-words": members})["count-words"]


def python(code: str) -> list[str]:
    """A command that runs `code`, in an interpreter that starts quickly."""
    return [sys.executable, "-I", "-S", "-c", code]


def module(home: Home, code: str, name: str = "words") -> None:
    """A module for Python handlers."""
    home.handlers.mkdir(exist_ok=True, mode=0o700)
    (home.handlers / f"{name}.py").write_text(code)


def processes(mark: str) -> list[int]:
    """The processes whose arguments or environment hold a mark, but for this one."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdecimal() and int(path.name) != os.getpid():
            try:
                told = (path / "cmdline").read_bytes() + (path / "environ").read_bytes()
            except OSError:
                continue
            if mark.encode() in told:
                found.append(int(path.name))
    return found


def children() -> list[tuple[int, str]]:
    """The processes below this one, with their states."""
    parents: dict[int, tuple[int, str]] = {}
    for path in Path("/proc").iterdir():
        if path.name.isdecimal():
            try:
                state, parent = (path / "stat").read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            parents[int(path.name)] = int(parent), state
    below = {os.getpid()}
    while more := {pid for pid, (parent, _) in parents.items() if parent in below} - below:
        below |= more
    return sorted((pid, parents[pid][1]) for pid in below - {os.getpid()})


def files() -> int:
    """How many files this process has open."""
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208  # the files themselves are not looked at


@contextmanager
def as_before() -> Iterator[None]:
    """Sees to it that a block leaves no process, no zombie and no open file."""
    had, open_files = children(), files()
    yield
    until = time.monotonic() + WAIT
    while (children() != had or files() != open_files) and time.monotonic() < until:
        time.sleep(0.01)
    assert [pid for pid, _ in children()] == [pid for pid, _ in had]
    assert files() == open_files
