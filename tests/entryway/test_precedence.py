"""While admitted work goes on, all others take turns; while none does, nobody waits."""

from __future__ import annotations

import pytest
import trio

from entryway.precedence import AFTER, LONGEST, REMEMBERED, SHARE, Precedence
from entryway.protections import AddressLimits
from tests.entryway.parts import http, read_responses, serving, talk
from tests.entryway.test_server import Application

STRANGER, FRIEND = "192.0.2.7", "192.0.2.8"
COST = 0.001  # seconds of an answer


class Work:
    """Whether any goes on."""

    def __init__(self) -> None:
        self.going_on = True

    def __call__(self) -> bool:
        return self.going_on


@pytest.fixture
def work() -> Work:
    return Work()


@pytest.fixture
def turns(work: Work) -> Precedence:
    """Turns of which each costs `COST`."""
    precedence = Precedence(work)
    for _ in range(1000):
        precedence.took(COST)
    return precedence


def test_who_is_known_to_ask_for_work_never_waits(turns: Precedence) -> None:
    turns.know(FRIEND)
    assert turns.turn(STRANGER, 0.0) == 0.0
    assert [turns.turn(FRIEND, 0.0) for _ in range(5)] == [None] * 5


def test_who_is_not_counted_by_address_never_waits(turns: Precedence) -> None:
    turns.know(None)
    assert [turns.turn(None, 0.0) for _ in range(5)] == [None] * 5


def test_all_others_share_what_is_left_of_the_time_in_the_order_in_which_they_came(turns: Precedence) -> None:
    waits = [turns.turn(f"192.0.2.{number}", 5.0) for number in range(20)]
    assert waits == pytest.approx([number * COST / SHARE for number in range(20)], rel=1e-3)


def test_time_in_which_nobody_asked_is_not_saved_up(turns: Precedence) -> None:
    turns.turn(STRANGER, 0.0)
    assert turns.turn(STRANGER, 100.0) == 0.0
    assert turns.turn(STRANGER, 100.0) == pytest.approx(COST / SHARE, rel=1e-3)


def test_nobody_waits_for_longer_than_there_is_to_wait(turns: Precedence) -> None:
    waits = [turns.turn(STRANGER, 0.0) or 0.0 for _ in range(1000)]
    assert max(waits) == LONGEST


def test_turns_are_taken_for_a_moment_after_work_and_then_no_more(turns: Precedence, work: Work) -> None:
    turns.turn(STRANGER, 0.0)
    work.going_on = False
    assert turns.turn(STRANGER, AFTER / 2) is not None
    assert turns.turn(STRANGER, AFTER) is None
    work.going_on = True
    assert turns.turn(STRANGER, AFTER) is not None


def test_nobody_takes_turns_before_there_is_work(turns: Precedence, work: Work) -> None:
    work.going_on = False
    assert [turns.turn(STRANGER, at) for at in (0.0, 0.0, 1e9)] == [None] * 3


def test_the_addresses_that_were_known_longest_ago_are_forgotten_first(turns: Precedence) -> None:
    turns.know("first")
    turns.know("second")
    turns.know("first")
    for number in range(REMEMBERED - 1):
        turns.know(str(number))
    assert turns.turn("first", 0.0) is None
    assert turns.turn("second", 0.0) is not None


async def test_a_stranger_s_requests_are_answered_in_turns_and_those_of_a_friend_at_once(turns: Precedence) -> None:
    gap = COST / SHARE
    limits = AddressLimits(1000.0, 1000.0, 100, limit_loopback=True)
    asked = http("GET", "/a") * 9 + http("GET", "/b", Connection="close")
    took = {}
    async with serving(Application(), limits) as (server, port):
        server.precedence = turns
        for known in (False, True):
            if known:
                turns.know(limits.key("127.0.0.1"))
            began = trio.current_time()
            answers = read_responses(await talk(port, asked))
            took[known] = trio.current_time() - began
            assert [answer.status for answer in answers] == [200] * 10
    # Each costs less than `COST`, so that the gaps become shorter, and never as short as that.
    assert took[False] > 5 * gap > took[True]
