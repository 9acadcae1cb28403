"""What a job left is removed, whatever it is and whoever removes it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import structlog

from node.handlers.leavings import remove_tree

NOBODY = 65534


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory for jobs that belongs to whoever is no root."""
    with tempfile.TemporaryDirectory() as name:
        if os.geteuid() == 0:
            os.chown(name, NOBODY, NOBODY)
        with no_root():
            yield Path(name)


@contextmanager
def no_root() -> Iterator[None]:
    """Root may do everything, and so shows nothing."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_what_a_job_closed_to_its_owner_is_opened(place: Path) -> None:
    job = place / "job"
    for closed in ("a/b/c", "a/b/d", "a", "e"):
        (job / closed).mkdir(parents=True, exist_ok=True)
        (job / closed / "file").write_text("")
    for closed in ("a/b/c", "a/b", "a", "e", "."):
        (job / closed).chmod(0)
    remove_tree(job)
    assert list(place.iterdir()) == []


def test_a_link_is_removed_and_not_followed(place: Path) -> None:
    outside, job = place / "outside", place / "job"
    outside.mkdir()
    (outside / "file").write_text("stays")
    (job / "a").mkdir(parents=True)
    for link in (job / "top", job / "a" / "inner"):
        link.symlink_to(outside)
    remove_tree(job)
    assert list(place.iterdir()) == [outside]
    remove_tree(place / "nothing")
    job.symlink_to(outside)
    remove_tree(job)
    assert (outside / "file").read_text() == "stays"
    assert list(place.iterdir()) == [outside]


def test_what_lies_deeper_than_a_path_reaches_goes_as_well(place: Path) -> None:
    job = place / "job"
    job.mkdir()
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(job)
        for _ in range(3000):
            Path("x" * 200).mkdir()
            os.chdir("x" * 200)
        Path("file").write_text("")
    finally:
        os.fchdir(here)
        os.close(here)
    remove_tree(job)
    assert list(place.iterdir()) == []


def test_names_that_look_like_those_given_on_the_way_are_no_trouble(place: Path) -> None:
    job = place / "job"
    for name in ("0-/0-/1-", "1-/0-", "2-"):
        (job / name).mkdir(parents=True, exist_ok=True)
    (job / "1-" / "1-").write_text("")
    (job / "3-").write_text("")
    remove_tree(job)
    assert list(place.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can leave what somebody else may not remove")
def test_what_cannot_be_removed_is_in_the_log_and_the_rest_goes(place: Path) -> None:
    job = place / "job"
    (job / "mine").mkdir(parents=True)
    os.seteuid(0)
    (job / "kept").mkdir()
    (job / "kept" / "file").write_text("")
    os.seteuid(NOBODY)
    with structlog.testing.capture_logs() as lines:
        remove_tree(job)
    assert [(line["event"], line["reason"]) for line in lines] == [("job_directory_left", "Operation not permitted")]
    assert [entry.name for entry in job.iterdir()] == ["kept"]
