"""What a disk holds when the power goes, and whether the store survives it.

A run of the worker is recorded, operation by operation. `Disk` plays the record up to any point and then loses
the power: what was synced is there; of what was not, each write may be there, absent, or torn between sectors,
each change of a name in the directory may or may not have happened, whatever order they were given in.

    python -m tests.crash.power_loss --seeds 1000

tries that many losses at every point of the record, beyond the few of the test suite.
"""

from __future__ import annotations

import argparse
import random
import shutil
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.crash.documents import judge
from tests.crash.harness import How, Worker, build, scratch, unavailable

SECTOR = 512
_HEAD = struct.Struct("=cIQQ")


@dataclass(frozen=True)
class Operation:
    """`kind`: W(rite), T(runcate), S(ync), C(reate), U(nlink), R(ename) or M(ark: something was acknowledged)."""

    kind: str
    name: str
    at: int
    data: bytes


def read_record(path: Path) -> list[Operation]:
    """The record of a run, as writes.c writes it."""
    content = path.read_bytes()
    operations = []
    position = 0
    while position < len(content):
        kind, name_length, at, size = _HEAD.unpack_from(content, position)
        position += _HEAD.size
        name = content[position : position + name_length].decode()
        position += name_length
        operations.append(Operation(kind.decode(), name, at, content[position : position + size]))
        position += size
    return operations


@dataclass
class File:
    """One file's bytes: what is on the platter, and what was given to the system since the last sync."""

    synced: bytearray = field(default_factory=bytearray)
    waiting: list[Operation] = field(default_factory=list)

    def sync(self) -> None:
        for operation in self.waiting:
            _apply(self.synced, operation)
        self.waiting.clear()

    def lost(self, chance: random.Random) -> bytes:
        """The bytes that may be found after the power came back."""
        content = bytearray(self.synced)
        present = chance.choice((0.0, 0.5, 0.5, 0.9, 1.0))
        torn = chance.random() < 0.5
        for operation in self.waiting:
            for part in _sectors(operation) if torn else (operation,):
                if chance.random() < present:
                    _apply(content, part)
                elif operation.kind == "W" and chance.random() < 0.25:
                    # The length reached the disk, and the bytes did not.
                    content.extend(bytes(max(0, part.at + len(part.data) - len(content))))
        return bytes(content)


class Disk:
    """One directory, as the process sees it and as the platter has it."""

    def __init__(self) -> None:
        self._seen: dict[str, File] = {}
        self._synced: dict[str, File] = {}
        self._waiting: list[Operation] = []
        self._created: dict[int, File] = {}

    def do(self, operation: Operation) -> None:
        """Plays one operation."""
        match operation.kind:
            case "W" | "T":
                self._seen[operation.name].waiting.append(operation)
            case "S" if operation.name:
                self._seen[operation.name].sync()
            case "S":
                for waiting in self._waiting:
                    self._rename(self._synced, waiting)
                self._waiting.clear()
            case "C" | "U" | "R":
                if operation.kind == "C":
                    self._created[id(operation)] = File()
                self._rename(self._seen, operation)
                self._waiting.append(operation)

    def lose_power(self, chance: random.Random) -> dict[str, bytes]:
        """Every file that may be found, with its bytes."""
        names = dict(self._synced)
        happened = chance.choice((0.0, 0.5, 1.0))
        for operation in self._waiting:
            if chance.random() < happened:
                self._rename(names, operation)
        # The wal-index is shared memory that nobody syncs: whatever is found is to be taken for garbage.
        return {
            name: chance.randbytes(chance.choice((0, 3, 32768))) if name.endswith("-shm") else file.lost(chance)
            for name, file in names.items()
        }

    def _rename(self, names: dict[str, File], operation: Operation) -> None:
        match operation.kind:
            case "C":
                names[operation.name] = self._created[id(operation)]
            case "U":
                names.pop(operation.name, None)
            case "R":
                file = names.pop(operation.name, None)
                if file is not None:
                    names[operation.data.decode()] = file


def losses(record: list[Operation], seeds: int) -> Iterator[tuple[int, int, list[str], dict[str, bytes]]]:
    """Loses the power `seeds` times before each operation and after the last.

    Yields the operation's number, the seed, what was acknowledged until then, and the files that are left.
    """
    disk = Disk()
    acknowledged: list[str] = []
    for number in range(len(record) + 1):
        if number == len(record) or record[number].kind != "M":
            for seed in range(seeds):
                yield number, seed, list(acknowledged), disk.lose_power(random.Random(f"{number} {seed}"))
        if number < len(record):
            if record[number].kind == "M":
                acknowledged.append(record[number].name)
            disk.do(record[number])


def judge_loss(directory: Path, acknowledged: list[str], files: dict[str, bytes]) -> None:
    """Lays `files` out in the new `directory` and judges them as the next start would. Raises AssertionError."""
    directory.mkdir()
    for name, content in files.items():
        (directory / name).write_bytes(content)
    if "copy" in acknowledged:
        # Taken after one publish, and judged first: it is a store of its own.
        assert judge(directory / "copy.db", 1) == 1
    judge(directory / "node.db", sum(what.isdigit() for what in acknowledged))
    shutil.rmtree(directory)


def record_run(worker: Worker, scenario: str, directory: Path) -> list[Operation]:
    """Runs `scenario` to its end and returns what it did."""
    home = directory / f"recorded-{scenario}"
    home.mkdir()
    round_ = worker.run(scenario, home, How.RECORD, record=directory / f"{scenario}.record")
    assert round_.status == 0
    return read_record(directory / f"{scenario}.record")


def _apply(content: bytearray, operation: Operation) -> None:
    end = operation.at + len(operation.data)
    if operation.kind == "T":
        del content[operation.at :]
    content.extend(bytes(max(0, end - len(content))))
    if operation.kind == "W":
        content[operation.at : end] = operation.data


def _sectors(operation: Operation) -> Iterator[Operation]:
    if operation.kind != "W":
        yield operation
        return
    end = operation.at + len(operation.data)
    start = operation.at
    while start < end:
        stop = min(end, (start // SECTOR + 1) * SECTOR)
        yield Operation("W", operation.name, start, operation.data[start - operation.at : stop - operation.at])
        start = stop


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=20, help="losses at every point of the record")
    parser.add_argument("--scenario", choices=("ordinary", "copying"), default="ordinary")
    options = parser.parse_args()
    reason = unavailable()
    if reason:
        raise SystemExit(f"not here: {reason}")
    started = time.monotonic()
    tried = 0
    with scratch() as directory:
        with Worker(build(directory)) as worker:
            record = record_run(worker, options.scenario, directory)
        for number, seed, acknowledged, files in losses(record, options.seeds):
            try:
                judge_loss(directory / "found", acknowledged, files)
            except Exception as error:  # whatever it is, it is told where it was met
                raise SystemExit(f"lost at operation {number}, seed {seed}: {error}") from error
            tried += 1
    print(f"{tried} losses of power at {len(record)} operations, {time.monotonic() - started:.0f} s: nothing lost")


if __name__ == "__main__":
    main()
