"""What the bench makes of pages is what a node would make."""

from __future__ import annotations

import pytest

from bench import showing
from bench.showing import _largest, measure
from entryway.page.changes import MOST_BYTES


def test_every_page_is_made_and_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(showing, "ROUNDS", {})
    monkeypatch.setattr(showing, "FEW_ROUNDS", 1)
    found = measure(1_790_000_000.0)
    assert set(found) == {*("agentdoc_ms_4096", "page_ms_4096", "agentdoc_ms_1048576", "page_ms_1048576", "changes_ms")}
    assert all(value > 0 for value in found.values())


def test_what_is_compared_is_as_large_as_is_compared() -> None:
    assert MOST_BYTES * 0.98 < len(_largest("a").data) <= MOST_BYTES
