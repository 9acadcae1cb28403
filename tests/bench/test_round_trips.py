"""The round trips of the bench are what they say: work that is asked for and done, sealed where it says so."""

from __future__ import annotations

from bench.round_trips import SIZES, measure


def test_each_size_is_measured_sealed_and_clear() -> None:
    report = measure(0.01)
    assert list(report) == [str(size) for size in SIZES]
    for figures in report.values():
        assert set(figures) == {"clear_per_second", "sealed_per_second", "sealing_us"}
        assert min(figures["clear_per_second"], figures["sealed_per_second"]) > 0
