"""What is measured by itself, beside no other server: one row each, in the order in which it is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import agentfiles, boundary, checking, jobs, neighbors, projecting, round_trips, showing, subscribers
from bench.documents import fill_home
from bench.rounds import Schedule
from descriptor.keys import Identity

RESTS = 12.0  # times the seconds of a round that a node among neighbors is watched


@dataclass(frozen=True)
class Place:
    """Where and how long: a directory for homes, the core that servers have to themselves, and the schedule."""

    directory: Path
    core: int
    schedule: Schedule


Figures = Mapping[Any, Any]
Measure = Callable[[Place], Figures]


def _subscribers(at: Place) -> Figures:
    return subscribers.measure(fill_home(at.directory / "events", 1), at.directory, at.core)


def _neighbors(at: Place) -> Figures:
    home = fill_home(at.directory / "neighbors", 1)
    return neighbors.measure(home, at.directory, at.core, RESTS * at.schedule.seconds)


def _strangers(at: Place) -> Figures:
    home = fill_home(at.directory / "strangers", 1)
    return boundary.refusals(home, at.directory, at.core, at.schedule.seconds)


ALONE: Mapping[str, tuple[str, Measure]] = {
    "check": ("checking Descriptors", lambda _: checking.measure(checking.documents(time.time()))),
    "agentfile": ("reading .agent files", lambda _: agentfiles.measure(agentfiles.usual(), agentfiles.dense())),
    "projections": (
        "making projections",
        lambda _: projecting.measure(checking.documents(time.time()), Identity.generate()),
    ),
    "show": ("making pages", lambda _: showing.measure()),
    "subscribers": ("listening to events", _subscribers),
    "neighbors": (f"meeting {neighbors.PEERS} neighbors", _neighbors),
    "boundary": ("judging requests", lambda _: boundary.decisions()),
    "strangers": ("refusing strangers", _strangers),
    "jobs": (
        "doing work, alone and in a flood of strangers",
        lambda at: jobs.measure(at.directory, at.core, at.schedule.seconds),
    ),
    "round_trips": (
        "asking for work, sealed and in the clear",
        lambda at: round_trips.measure(4 * at.schedule.seconds),
    ),
}
"""By name: what is said while it is measured, and what measures it."""
