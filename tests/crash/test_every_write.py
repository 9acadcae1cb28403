"""The process dies at any operation on its files: before it, or with half of its bytes written."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from store import Reader, Store
from tests.crash.documents import SUBJECT, digest, document, judge, publish
from tests.crash.harness import How, Round, Worker
from tests.crash.power_loss import Operation, record_run

RUNAWAY = 2_000


def killed(worker: Worker, scenario: str, home: Path, how: How, at: int) -> Round:
    """One round in the fresh directory `home`, which must not have been refused anything."""
    home.mkdir()
    round_ = worker.run(scenario, home, how, at)
    assert round_.refused == ()
    return round_


def halves(record: list[Operation]) -> list[int]:
    """The numbers of the operations that can be half done."""
    counted = [operation for operation in record if operation.kind != "M"]
    return [n for n, operation in enumerate(counted, 1) if operation.kind == "W" and len(operation.data) > 1]


def test_killed_before_any_operation_nothing_acknowledged_is_lost(worker: Worker, directory: Path) -> None:
    home = directory / "home"
    held = set()
    for number in range(1, RUNAWAY):
        round_ = killed(worker, "ordinary", home, How.KILL_BEFORE, number)
        held.add((round_.versions, judge(home / "node.db", round_.versions)))
        shutil.rmtree(home)
        if not round_.killed:
            break
    assert round_.operations == number - 1
    # Kills fell on both sides of every commit: not there, there and not yet acknowledged, acknowledged.
    assert held == {(n, n) for n in range(5)} | {(n, n + 1) for n in range(4)}


def test_killed_in_the_middle_of_any_write_nothing_acknowledged_is_lost(worker: Worker, directory: Path) -> None:
    home = directory / "home"
    for number in halves(record_run(worker, "ordinary", directory)):
        round_ = killed(worker, "ordinary", home, How.KILL_HALFWAY, number)
        assert round_.killed
        judge(home / "node.db", round_.versions)
        shutil.rmtree(home)


def test_killed_while_another_process_reads_the_reader_goes_on_with_what_was_acknowledged(
    worker: Worker, directory: Path
) -> None:
    home = directory / "home"
    for number in range(1, RUNAWAY):
        home.mkdir()
        with Store.open(home / "node.db") as store:
            publish(store, 1)
        with Reader.open(home / "node.db") as reader:
            assert reader.last_event_seq() == 1
            round_ = worker.run("joining", home, How.KILL_BEFORE, number)
            current = reader.current(SUBJECT)
            assert current is not None
            assert current.seq - 1 - round_.versions in {0, 1}
            assert reader.artifact(current.digest) == document(current.seq)
            assert reader.last_event_seq() == current.seq
            judge(home / "node.db", 1 + round_.versions)
        shutil.rmtree(home)
        if not round_.killed:
            break
    assert round_.versions == 2


def test_killed_during_a_backup_its_name_holds_the_whole_copy_or_nothing(worker: Worker, directory: Path) -> None:
    counted = [operation for operation in record_run(worker, "copying", directory) if operation.kind != "M"]
    copying = [n for n, operation in enumerate(counted, 1) if "copy.db" in operation.name]
    home = directory / "home"
    for number in range(copying[0], copying[-1] + 2):
        round_ = killed(worker, "copying", home, How.KILL_BEFORE, number)
        copy = home / "copy.db"
        if "copy" in round_.acknowledged or (copy.exists() and copy.stat().st_size > 0):
            assert judge(copy, 1) == 1
        judge(home / "node.db", round_.versions)
        shutil.rmtree(home)


def test_this_test_catches_a_writer_that_acknowledges_too_early(worker: Worker, directory: Path) -> None:
    home = directory / "home"
    with pytest.raises(AssertionError, match="acknowledged"):
        for number in range(1, RUNAWAY):
            round_ = killed(worker, "hasty", home, How.KILL_BEFORE, number)
            judge(home / "node.db", round_.versions)
            shutil.rmtree(home)
            if not round_.killed:
                break


def test_what_is_published_here_differs_from_version_to_version() -> None:
    assert len({digest(number) for number in range(1, 7)}) == 6
