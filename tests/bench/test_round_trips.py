"""The round trips of the bench are what they say: work that is asked for and done, sealed where it says so."""

from __future__ import annotations

from bench.round_trips import SIZES, measure


def test_each_size_is_measured_sealed_and_clear() -> None:
    report = measure(0.01)
    assert list(report) == [str(size) for size in SIZES]
    for figures in report.values():
        assert set(figures) == {f"{way}_{figure}" for way in ("clear", "sealed") for figure in ("per_second", "cpu_us")}
        assert min(figures.values()) > 0
