"""The jobs of the bench are what they say: work that a real node admitted, did and kept, alone and in a flood."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench.errors import BenchError
from bench.generator import Sample
from bench.jobs import measure
from bench.machine import Cores

SECONDS = 0.3


@pytest.mark.skipif(sys.platform != "linux", reason="the bench binds servers to a core, as Linux can")
def test_jobs_are_measured_alone_and_in_a_flood_that_is_refused(tmp_path: Path) -> None:
    report = measure(tmp_path, Cores.of_this_process().server, SECONDS)
    for offering in ("call", "start"):
        assert min(report[offering].values()) > 0
        assert report[offering]["p50_ms"] <= report[offering]["p99_ms"]
    flood = report["beside_a_flood"]
    assert min(flood.values()) > 0
    assert flood["p99_ratio"] == pytest.approx(flood["p99_ms_in_the_flood"] / flood["p99_ms_alone"], abs=0.02)


def test_an_answer_that_is_no_job_done_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.jobs.run", lambda *_: Sample(5, 1.0, 1.0, 1.0))
    with pytest.raises(BenchError, match="Of 5 answers only 0"):
        measure(tmp_path, Cores.of_this_process().server, SECONDS)
