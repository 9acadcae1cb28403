"""What is measured of projections are sound ones, made of the documents that are named."""

from __future__ import annotations

import pytest

from bench import checking, projecting
from bench.checking import LARGE, SMALL, documents
from bench.errors import BenchError
from descriptor.keys import Identity


def test_every_projection_of_every_size_has_its_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(checking.ROUNDS, LARGE, 1)
    measured = projecting.measure(documents(1_700_000_000.0), Identity.generate())
    assert set(measured) == {SMALL, LARGE}
    for figures in measured.values():
        assert set(figures) == {"cards_per_second", "registrations_per_second", "references_per_second", "drift_ms"}
        assert min(figures.values()) > 0
    assert measured[SMALL]["cards_per_second"] > measured[LARGE]["cards_per_second"]


def test_a_card_that_does_not_agree_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    small = {SMALL: documents(1_700_000_000.0)[SMALL]}
    other = projecting.card_bytes
    monkeypatch.setattr(projecting, "card_bytes", lambda *about: other(*about).replace(b"letters", b"numbers"))
    with pytest.raises(BenchError):
        projecting.measure(small, Identity.generate())
