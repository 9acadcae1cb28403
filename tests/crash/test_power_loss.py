"""The power goes at any operation, and the disk keeps what it likes of what was not synced."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from store import StoreError
from tests.crash.harness import How, Worker
from tests.crash.power_loss import Disk, Operation, judge_loss, losses, read_record, record_run


@pytest.mark.parametrize("scenario", ["ordinary", "copying"])
def test_nothing_acknowledged_is_lost(worker: Worker, directory: Path, thorough: bool, scenario: str) -> None:
    record = record_run(worker, scenario, directory)
    for _, _, acknowledged, files in losses(record, seeds=20 if thorough else 1):
        judge_loss(directory / "found", acknowledged, files)


def test_this_test_catches_a_writer_that_does_not_wait_for_the_disk(worker: Worker, directory: Path) -> None:
    record = record_run(worker, "careless", directory)
    with pytest.raises((AssertionError, StoreError)):
        for _, _, acknowledged, files in losses(record, seeds=2):
            judge_loss(directory / "found", acknowledged, files)


def test_the_record_is_everything_that_was_written(worker: Worker, directory: Path) -> None:
    home = directory / "home"
    home.mkdir()
    worker.run("ordinary", home, How.RECORD, record=directory / "record")
    disk = Disk()
    for operation in read_record(directory / "record"):
        disk.do(operation)
    disk.do(Operation("S", "", 0, b""))
    disk.do(Operation("S", "node.db", 0, b""))
    assert disk.lose_power(random.Random(0)) == {"node.db": (home / "node.db").read_bytes()}


ZEROS = (bytes(512), bytes(513), bytes(512) + b"y")


def write(name: str, at: int, data: bytes) -> Operation:
    return Operation("W", name, at, data)


@pytest.mark.parametrize(
    ("operations", "possible"),
    [
        pytest.param([Operation("C", "a", 0, b"")], [{}, {"a": b""}], id="a name that was not synced"),
        pytest.param(
            [Operation("C", "a", 0, b""), Operation("S", "", 0, b""), write("a", 0, b"x")],
            [{"a": b""}, {"a": b"x"}, {"a": b"\0"}],
            id="bytes that were not synced: absent, there, or only their length",
        ),
        pytest.param(
            [Operation("C", "a", 0, b""), write("a", 0, b"x"), Operation("S", "a", 0, b""), Operation("S", "", 0, b"")],
            [{"a": b"x"}],
            id="what was synced",
        ),
        pytest.param(
            [
                Operation("C", "a", 0, b""),
                write("a", 0, b"x"),
                Operation("S", "a", 0, b""),
                Operation("S", "", 0, b""),
                Operation("R", "a", 0, b"b"),
            ],
            [{"a": b"x"}, {"b": b"x"}],
            id="a rename that was not synced",
        ),
        pytest.param(
            [
                Operation("C", "a", 0, b""),
                Operation("S", "", 0, b""),
                write("a", 0, b"xy"),
                Operation("S", "a", 0, b""),
                Operation("T", "a", 1, b""),
            ],
            [{"a": b"xy"}, {"a": b"x"}],
            id="a truncation that was not synced",
        ),
        pytest.param(
            [Operation("C", "a", 0, b""), Operation("S", "", 0, b""), write("a", 511, b"xy")],
            [{"a": content} for content in (b"", bytes(511) + b"x", bytes(511) + b"x\0", bytes(511) + b"xy", *ZEROS)],
            id="a write over a sector's edge is torn",
        ),
    ],
)
def test_the_disk_loses_what_was_not_synced_and_nothing_else(
    operations: list[Operation], possible: list[dict[str, bytes]]
) -> None:
    disk = Disk()
    for operation in operations:
        disk.do(operation)
    found = [disk.lose_power(random.Random(seed)) for seed in range(300)]
    assert all(files in possible for files in found)
    assert all(files in found for files in possible)
