"""The disk refuses any operation: once, or from then on."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from tests.crash.documents import judge
from tests.crash.harness import How, Worker

RUNAWAY = 2_000


@pytest.mark.parametrize("scenario", ["ordinary", "copying"])
@pytest.mark.parametrize(
    ("how", "error", "code"),
    [
        pytest.param(How.FAIL_ONE, errno.EIO, "STORE_IO", id="one operation fails"),
        pytest.param(How.FAIL_FROM, errno.ENOSPC, "STORE_FULL", id="the disk is full"),
    ],
)
def test_a_refusal_of_the_disk_is_typed_and_leaves_what_was_there(
    worker: Worker, directory: Path, thorough: bool, scenario: str, how: How, error: int, code: str
) -> None:
    """In the worker: what was current is served while the disk refuses, and the same publish succeeds after."""
    home = directory / "home"
    refused: set[str] = set()
    step = 1 if thorough else 4
    for number in range(1, RUNAWAY, step):
        home.mkdir()
        round_ = worker.run(scenario, home, how, number, error)
        assert round_.status == 0
        refused.update(round_.refused)
        assert judge(home / "node.db", round_.versions) == round_.versions == (4 if scenario == "ordinary" else 2)
        if scenario == "copying":
            assert judge(home / "copy.db", 1) == 1
            assert {path.name for path in home.iterdir()} == {"node.db", "copy.db"}
        shutil.rmtree(home)
        assert round_.operations is not None
        if not round_.refused and number > round_.operations:
            break
    # SQLite does not always say why a file could not be made or grown.
    assert code in refused
    assert refused <= {code, "STORE_IO", "STORE_UNREADABLE"}
