"""From measurements to the report: medians, spreads, and the targets.

A figure that was not measured, because it was not asked for or a program is not installed, has no verdict: `met` is
`null`, and only `false` is a miss.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from bench.generator import percentile
from bench.rounds import SERVER_OF, Measured

Document = dict[str, Any]

DIGITS = {"requests_per_second": 0, "p50_us": 0, "p99_us": 0, "cpu_us_per_request": 1, "server_core_share": 2}
"""What is reported of a contestant, and to how many digits."""


@dataclass(frozen=True)
class Ratio:
    """How many times as many requests a second `one` answers as `other`, and how many it has to."""

    one: str
    other: str
    at_least: float


RATIOS = (
    Ratio("well_known", "starlette", 1.3),
    Ratio("well_known", "a2a_card", 15),
    Ratio("well_known", "nginx", 0.25),
    Ratio("exchange_2_msgpack", "a2a_card", 8),
    Ratio("by_digest_100000", "by_digest_10", 0.8),
)
IDLE_RSS_MIB = 60.0
START_SECONDS = 1.0
CHECK_MILLISECONDS = {4096: 2.0, 1_048_576: 150.0}  # by the size of the document, in bytes
AGENTFILE_MILLISECONDS = 5.0  # to read and check an `.agent` file of 50 KiB
READER_KIB = 32.0  # of memory for each reader of events
RESTING_PERCENT = 1.0  # of a core, among many neighbors of whom nothing is new
CHECK_MEMORY = 12.0  # times the size of the document
FLOODED = 1.5  # times what admitted work takes at the 99th percentile, while strangers flood the door
PAGE_MILLISECONDS = 5.0  # of the processor for `GET /`


def spread(values: Sequence[float], digits: int = 1) -> Document:
    """The middle of the values, and how far they lie apart."""
    return {
        "median": _round(median(values), digits),
        "lowest": _round(min(values), digits),
        "highest": _round(max(values), digits),
    }


def percentiles(values: Sequence[float]) -> Document:
    """The middle of many values, and what one in a hundred goes beyond."""
    ordered = sorted(values)
    return {"count": len(ordered), "p50": round(percentile(ordered, 50), 2), "p99": round(percentile(ordered, 99), 2)}


def measurements(measured: Mapping[str, Sequence[Measured]]) -> Document:
    """For each contestant its server, all its answers, and the spread of each figure over the rounds."""
    return {
        name: {
            "server": SERVER_OF[name],
            "answers": sum(one.requests for one in rounds),
            **{figure: spread([getattr(one, figure) for one in rounds], digits) for figure, digits in DIGITS.items()},
        }
        for name, rounds in measured.items()
    }


def targets(
    measured: Mapping[str, Sequence[Measured]],
    idle_rss_mib: float | None,
    start: Sequence[float] | None,
    alone: Mapping[str, Any],
) -> list[Document]:
    """Every target with its figure and whether it is met. `alone`: what `bench.alone` measured, by name.

    A ratio is of the medians of requests a second. Beside it stands `by_processor`: the same ratio if each server had
    its core to itself, from the time of the processor that a request takes; other load on the machine moves it less.
    """
    checked, listening = alone.get("check", {}), alone.get("subscribers", {})
    return [
        *(_ratio(one, measured) for one in RATIOS),
        _target("idle_rss_mib", idle_rss_mib, "under", IDLE_RSS_MIB),
        _target("start_seconds", None if start is None else median(start), "under", START_SECONDS),
        *(
            _target(f"check_ms_{size}", checked[size]["check_ms"] if size in checked else None, "under", most)
            for size, most in CHECK_MILLISECONDS.items()
        ),
        *(
            _target(f"agentfile_{kind}", alone.get("agentfile", {}).get(kind), "under", AGENTFILE_MILLISECONDS)
            for kind in ("usual_ms", "dense_ms")
        ),
        _target(
            "kib_each_reader",
            max(
                (one["kib_each"] for one in listening.values() if isinstance(one, dict)),
                default=None,
            ),
            "under",
            READER_KIB,
        ),
        _target("cpu_percent_at_rest", alone.get("neighbors", {}).get("cpu_percent_at_rest"), "under", RESTING_PERCENT),
        _target(
            "work_p99_in_a_flood/alone",
            alone.get("jobs", {}).get("beside_a_flood", {}).get("p99_ratio"),
            "under",
            FLOODED,
        ),
        _target(
            "page_request_ms",
            _middle(measured["page"], "cpu_us_per_request") / 1000 if "page" in measured else None,
            "under",
            PAGE_MILLISECONDS,
        ),
        _target(
            "check_memory_times_size",
            max((one["memory_times_size"] for one in checked.values()), default=None),
            "under",
            CHECK_MEMORY,
        ),
    ]


def _ratio(ratio: Ratio, measured: Mapping[str, Sequence[Measured]]) -> Document:
    name = f"{ratio.one}/{ratio.other}"
    if ratio.one not in measured or ratio.other not in measured:
        return _target(name, None, "at least", ratio.at_least)
    one, other = measured[ratio.one], measured[ratio.other]
    figure = _middle(one, "requests_per_second") / _middle(other, "requests_per_second")
    by_processor = _middle(other, "cpu_us_per_request") / _middle(one, "cpu_us_per_request")
    return {**_target(name, figure, "at least", ratio.at_least), "by_processor": round(by_processor, 3)}


def _target(name: str, figure: float | None, compared: str, bound: float) -> Document:
    """`figure` is as it was measured; it is judged before it is rounded."""
    document: Document = {"name": name, "figure": None, "target": f"{compared} {bound:g}", "met": None}
    if figure is not None:
        met = figure >= bound if compared == "at least" else figure < bound
        document |= {"figure": round(figure, 3), "met": met}
    return document


def _middle(rounds: Sequence[Measured], figure: str) -> float:
    return float(median(getattr(one, figure) for one in rounds))


def _round(value: float, digits: int) -> float:
    return round(value, digits or None)
