"""Which processes there are, as /proc has it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def alive(pid: int) -> bool:
    """Whether there is a process with this number, dead ones that nobody has asked after among them."""
    return Path(f"/proc/{pid}").exists()


def descendants(pid: int) -> list[int]:
    """The children of a process and theirs, from the oldest generation to the youngest."""
    children: dict[int, list[int]] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended meanwhile
            # Behind the name, which may hold anything: state, parent.
            parent = int(file.read_text(errors="replace").rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(file.parent.name))
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found[1:]
