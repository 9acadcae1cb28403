"""A node takes as many open files as its limits need and it is allowed, and says so where that is too few."""

from __future__ import annotations

import resource
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from node.open_files import OWN, allow_open_files
from node.settings import Limits

LIMITS = replace(Limits(), connections=500, subscribers=1000)
NEEDED = 1500 + OWN
NO_LIMIT = resource.RLIM_INFINITY


@pytest.mark.parametrize(
    ("soft", "hard", "then", "warned"),
    [
        (1024, 20_000, NEEDED, False),
        (1024, NO_LIMIT, NEEDED, False),
        (1024, 1200, 1200, True),
        (NEEDED, NEEDED, None, False),
        (20_000, 20_000, None, False),
        (NO_LIMIT, NO_LIMIT, None, False),
        (1024, 1024, None, True),
    ],
)
def test_the_soft_limit_is_raised_as_far_as_needed_and_allowed(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, then: int | None, warned: bool
) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _which, limits: asked.append(limits))
    with capture_logs() as logs:
        allow_open_files(LIMITS)
    assert asked == ([] if then is None else [(then, hard)])
    assert [line["event"] for line in logs] == (["open_files_too_few"] if warned else [])
