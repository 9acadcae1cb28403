"""Which targets are met."""

from __future__ import annotations

import pytest

from bench.report import RATIOS, spread, targets
from bench.rounds import SERVER_OF, Measured


def rounds(*rates: float, cpu: float = 50.0) -> list[Measured]:
    return [Measured(1000, rate, 10.0, 20.0, cpu, 1.0) for rate in rates]


def found(name: str, **measured: list[Measured]) -> dict[str, object]:
    return next(one for one in targets(measured, None, None, {}) if one["name"] == name)


def test_every_ratio_is_of_contestants() -> None:
    assert {one.one for one in RATIOS} | {one.other for one in RATIOS} <= set(SERVER_OF)


@pytest.mark.parametrize(("rate", "met"), [(1300.0, True), (1299.0, False)])
def test_a_ratio_is_of_medians_and_met_at_its_bound(rate: float, met: bool) -> None:
    one = found("well_known/starlette", well_known=rounds(1, rate, 9999), starlette=rounds(1, 1000, 1001))
    assert (one["figure"], one["met"]) == (rate / 1000, met)


def test_beside_a_ratio_stands_what_the_processor_says() -> None:
    one = found("well_known/starlette", well_known=rounds(1, cpu=20), starlette=rounds(1, cpu=50))
    assert one["by_processor"] == 2.5


def test_what_was_not_measured_has_no_verdict() -> None:
    assert {(one["figure"], one["met"]) for one in targets({"well_known": rounds(1)}, None, None, {})} == {(None, None)}


@pytest.mark.parametrize(("rss", "met"), [(59.9, True), (60.0, False)])
def test_an_idle_node_is_under_60_mib(rss: float, met: bool) -> None:
    one = next(one for one in targets({}, rss, None, {}) if one["name"] == "idle_rss_mib")
    assert one["met"] is met


@pytest.mark.parametrize(("starts", "met"), [([0.5, 0.9, 4.0], True), ([0.5, 1.0, 1.0], False)])
def test_a_node_is_ready_within_a_second_by_the_median(starts: list[float], met: bool) -> None:
    one = next(one for one in targets({}, None, starts, {}) if one["name"] == "start_seconds")
    assert one["met"] is met


def test_a_spread_names_the_middle_and_the_ends() -> None:
    assert spread([3.0, 1.0, 2.04]) == {"median": 2.0, "lowest": 1.0, "highest": 3.0}


@pytest.mark.parametrize(("milliseconds", "met"), [(149.9, True), (150.0, False)])
def test_a_check_is_judged_by_its_time_and_its_memory(milliseconds: float, met: bool) -> None:
    checked = {
        1_048_576: {"check_ms": milliseconds, "memory_times_size": 12.5},
        4096: {"check_ms": 1.0, "memory_times_size": 2},
    }
    told = {one["name"]: one["met"] for one in targets({}, None, None, {"check": checked})}
    assert told["check_ms_1048576"] is met
    assert told["check_ms_4096"]
    assert told["check_memory_times_size"] is False


@pytest.mark.parametrize(("cpu", "met"), [(4_999.0, True), (5_000.0, False)])
def test_the_page_costs_no_more_than_5_ms(cpu: float, met: bool) -> None:
    assert found("page_request_ms", page=rounds(1, cpu=cpu))["met"] is met


@pytest.mark.parametrize(("percent", "met"), [(0.99, True), (1.0, False)])
def test_a_node_among_neighbors_rests_on_less_than_a_hundredth_of_a_core(percent: float, met: bool) -> None:
    around = {"cpu_percent_at_rest": percent}
    one = next(one for one in targets({}, None, None, {"neighbors": around}) if one["name"] == "cpu_percent_at_rest")
    assert one["met"] is met
