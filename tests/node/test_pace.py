"""The pace of an address: what it is asked, and what waiting for it costs."""

from __future__ import annotations

import heapq

from node.pace import BURST, LONGEST, MOST, PACE, Pace


def tried(pace: Pace, waiting: int, seconds: float, *, queued: bool = True) -> tuple[int, int]:
    """How many of so many who want to ask one address have asked it by then, and how often they tried."""
    due = [(0.0, number) for number in range(waiting)]
    asked = tries = 0
    while due and due[0][0] <= seconds:
        now, number = heapq.heappop(due)
        tries += 1
        wait = pace.wait("10.0.0.2", now, queued=queued)
        if wait:
            heapq.heappush(due, (now + wait, number))
        else:
            asked += 1
    return asked, tries


def test_who_waits_tries_once_more_and_that_is_when_it_is_its_turn() -> None:
    asked, tries = tried(Pace(), 200, 200.0)
    assert asked == 200
    assert tries == 200 + 200 - BURST


def test_without_turns_everybody_would_try_each_time() -> None:
    _, tries = tried(Pace(), 200, 200.0, queued=False)
    assert tries > 10_000


def test_an_address_is_asked_no_more_than_its_pace() -> None:
    asked, _ = tried(Pace(), 1000, 60.0)
    assert BURST + 60 * PACE - 1 <= asked <= BURST + 60 * PACE


def test_nobody_waits_longer_than_the_longest() -> None:
    pace = Pace()
    waits = [pace.wait("10.0.0.2", 0.0, queued=True) for _ in range(2 * int(LONGEST))]
    assert max(waits) == LONGEST


def test_who_is_not_queued_goes_before_all_who_wait() -> None:
    pace = Pace()
    for _ in range(100):
        pace.wait("10.0.0.2", 0.0, queued=True)
    assert pace.wait("10.0.0.2", 0.0, queued=False) == 1.0 / PACE
    assert pace.wait("10.0.0.2", 1.0 / PACE, queued=False) == 0.0


def test_one_address_waits_for_no_other_and_turns_that_are_over_are_forgotten() -> None:
    pace = Pace()
    for number in range(3 * MOST):
        host = f"10.0.{number // 256}.{number % 256}"
        now = float(number)
        waits = [pace.wait(host, now, queued=True) for _ in range(BURST + 1)]
        assert waits == [0.0] * BURST + [1.0 / PACE]
    assert len(pace._turns) <= MOST
