"""The door: which knocks are kept, for how long, and how much one caller may do to it."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from descriptor.keys import Identity
from entryway.admission import ADMITTED, NEVER_ASKED, REFUSED, WAITING, Position, Reason
from entryway.door import DAY, KEPT, Door, KnockLimits
from entryway.errors import EntrywayError
from entryway.protections import HOUR
from entryway.roster import CONSERVATIVE, NO_POLICY, Entry, Policy, Stance, Tier
from store import Knock
from tests.entryway.parts import NOW, OTHER, MemoryKnocks, roster_door

BUSY, CLOSED, LISTED = REFUSED[Reason.BUSY], REFUSED[Reason.CLOSED], REFUSED[Reason.ALLOWLIST]
CALLERS = [Identity.generate().id for _ in range(6)]
FIRST, SECOND, THIRD, *_ = CALLERS


def policy(hourly: int = 120, **stances: Stance) -> Policy:
    """A policy with entries on FIRST, SECOND, …, in the order in which they are given."""
    entries = {
        caller: Entry(caller, stance, Tier.ROSTERED, None, NOW, revoked=name == "revoked")
        for caller, (name, stance) in zip(CALLERS, stances.items(), strict=False)
    }
    return Policy(CONSERVATIVE, hourly, entries)


async def knocked(door: Door, caller: str, now: float = NOW, admission: str | None = "screened") -> Position:
    told = door.knock(caller, admission, now)
    return told if isinstance(told, Position) else await told


# What is kept.


async def test_a_knock_is_who_when_and_how_often() -> None:
    kept = MemoryKnocks()
    door = roster_door(knocks=kept)
    assert await knocked(door, FIRST) is WAITING
    assert kept.rows == {FIRST: Knock(FIRST, NOW, NOW, 1)}
    assert await knocked(door, FIRST, NOW + 3 * DAY) is WAITING
    assert kept.rows == {FIRST: Knock(FIRST, NOW, NOW + 3 * DAY, 2)}
    assert kept.forgotten_until == NOW + 3 * DAY - KEPT


async def test_waiting_is_said_when_the_knock_is_kept_and_not_before() -> None:
    kept, told = MemoryKnocks(), []
    door = roster_door(knocks=kept)
    later = door.knock(FIRST, "screened", NOW)
    assert not isinstance(later, Position)
    assert not kept.rows
    told.append(await later)
    assert (told, list(kept.rows)) == ([WAITING], [FIRST])


async def test_a_knock_that_cannot_be_kept_is_not_waiting_and_may_be_tried_again() -> None:
    kept = MemoryKnocks(failing=EntrywayError("AGENT_UNAVAILABLE", "The disk is full."))
    door = roster_door(knocks=kept, limits=KnockLimits(per_day=1))
    with pytest.raises(EntrywayError, match="full"):
        await knocked(door, FIRST)
    assert door.where(FIRST, "screened", NOW) is NEVER_ASKED
    kept.failing = None
    assert await knocked(door, FIRST, NOW + 1) is WAITING


async def test_a_second_knock_that_cannot_be_kept_leaves_the_first() -> None:
    kept = MemoryKnocks()
    door = roster_door(knocks=kept)
    await knocked(door, FIRST)
    kept.failing = EntrywayError("AGENT_UNAVAILABLE", "The disk is full.")
    with pytest.raises(EntrywayError):
        await knocked(door, FIRST, NOW + 2 * DAY)
    assert door.waiting(NOW + 2 * DAY) == (Knock(FIRST, NOW, NOW, 1),)
    assert door.where(FIRST, "screened", NOW + 2 * DAY) is WAITING


async def test_a_knock_whose_caller_hangs_up_is_kept_or_not_counted() -> None:
    started, kept = trio.Event(), MemoryKnocks()

    async def never(_knock: Knock, _until: float) -> None:
        started.set()
        await trio.sleep_forever()

    door = Door(NO_POLICY, (), never, KnockLimits(per_day=1))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(knocked, door, FIRST)
        await started.wait()
        assert await knocked(door, SECOND) is BUSY
        nursery.cancel_scope.cancel()
    assert door.waiting(NOW) == ()
    door._keep = kept.keep
    assert await knocked(door, SECOND) is WAITING


@pytest.mark.parametrize(
    ("admission", "told"), [("allowlist", LISTED), ("negotiated", REFUSED[Reason.NEGOTIATED]), (None, WAITING)]
)
async def test_a_knock_that_is_refused_is_kept_too_so_that_it_was_asked(admission: str | None, told: Position) -> None:
    kept = MemoryKnocks()
    door = roster_door(knocks=kept)
    assert door.where(FIRST, admission, NOW) is NEVER_ASKED
    assert await knocked(door, FIRST, admission=admission) is told
    assert door.where(FIRST, admission, NOW) is told
    assert list(kept.rows) == [FIRST]


async def test_whoever_is_admitted_or_revoked_leaves_nothing() -> None:
    kept = MemoryKnocks()
    door = roster_door(policy(allowed=Stance.ALLOW, revoked=Stance.BLOCK), kept)
    assert door.knock(FIRST, "screened", NOW) is ADMITTED
    assert door.knock(SECOND, "screened", NOW) is REFUSED[Reason.REVOKED]
    assert not kept.rows
    assert door.waiting(NOW) == ()


# How often.


@pytest.mark.parametrize(
    ("later", "count"), [(0.0, 1), (1.0, 1), (DAY - 0.001, 1), (DAY, 2), (DAY + 1, 2), (-60.0, 1), (-2 * DAY, 1)]
)
async def test_one_knock_a_day_of_a_sender_counts(later: float, count: int) -> None:
    kept = MemoryKnocks()
    door = roster_door(knocks=kept)
    assert await knocked(door, FIRST) is WAITING
    assert await knocked(door, FIRST, NOW + later) is WAITING
    assert kept.rows[FIRST].count == count


async def test_so_many_knocks_a_day_of_all_senders_are_kept_and_then_the_door_is_busy() -> None:
    kept = MemoryKnocks()
    door = roster_door(knocks=kept, limits=KnockLimits(per_day=2))
    assert [await knocked(door, caller, NOW + number) for number, caller in enumerate(CALLERS[:4])] == [
        *(WAITING, WAITING, BUSY, BUSY)
    ]
    assert list(kept.rows) == [FIRST, SECOND]
    assert door.where(THIRD, "screened", NOW + 9) is NEVER_ASKED
    # Who waits already is not told otherwise because the others are many.
    assert await knocked(door, FIRST, NOW + 10) is WAITING
    assert await knocked(door, THIRD, NOW + DAY - 0.001) is BUSY
    assert await knocked(door, THIRD, NOW + DAY) is WAITING
    assert await knocked(door, FIRST, NOW + DAY) is WAITING
    assert kept.rows[FIRST].count == 1
    assert await knocked(door, FIRST, NOW + DAY + 1) is WAITING
    assert kept.rows[FIRST].count == 2


async def test_a_thousand_a_day_unless_set_otherwise() -> None:
    assert KnockLimits() == KnockLimits(wait=86_400.0, per_day=1_000)
    kept = MemoryKnocks()
    door = roster_door(knocks=kept)
    told = [await knocked(door, str(number), NOW + number) for number in range(1_001)]
    assert (told.count(WAITING), told[-1]) == (1_000, BUSY)
    assert len(kept.rows) == 1_000


async def test_the_day_is_counted_across_a_restart() -> None:
    kept = MemoryKnocks()
    limits = KnockLimits(per_day=2)
    for number, caller in enumerate((FIRST, SECOND)):
        await knocked(roster_door(knocks=kept, limits=limits), caller, NOW + number)
    again = roster_door(knocks=kept, limits=limits)
    assert await knocked(again, THIRD, NOW + 2) is BUSY
    assert again.where(FIRST, "screened", NOW + 2) is WAITING
    assert await knocked(again, THIRD, NOW + DAY) is WAITING


async def test_copies_that_come_at_once_are_one_knock() -> None:
    kept = MemoryKnocks()
    door = roster_door(knocks=kept, limits=KnockLimits(per_day=1))
    told: list[Position] = []

    async def one(caller: str) -> None:
        told.append(await knocked(door, caller))

    async with trio.open_nursery() as nursery:
        for caller in (FIRST, FIRST, FIRST, SECOND):
            nursery.start_soon(one, caller)
    assert sorted(told.count(one) for one in (WAITING, BUSY)) == [1, 3]
    assert [row.count for row in kept.rows.values()] == [1]


async def test_limits_that_change_bind_the_next_knock() -> None:
    door = roster_door(limits=KnockLimits(per_day=0))
    assert await knocked(door, FIRST) is BUSY
    door.limits = KnockLimits(wait=1.0, per_day=10)
    assert await knocked(door, FIRST) is WAITING
    assert await knocked(door, FIRST, NOW + 1) is WAITING
    assert [one.count for one in door.waiting(NOW + 1)] == [2]


# How long.


@pytest.mark.parametrize(("later", "told"), [(KEPT - 0.001, WAITING), (KEPT, NEVER_ASKED), (KEPT + 1, NEVER_ASKED)])
async def test_a_knock_falls_away_after_thirty_days_without_another(later: float, told: Position) -> None:
    door = roster_door()
    await knocked(door, FIRST)
    assert door.where(FIRST, "screened", NOW + later) is told
    assert bool(door.waiting(NOW + later)) is (told is WAITING)


async def test_another_knock_begins_the_thirty_days_anew() -> None:
    door = roster_door()
    await knocked(door, FIRST)
    await knocked(door, FIRST, NOW + 20 * DAY)
    assert door.where(FIRST, "screened", NOW + KEPT) is WAITING
    assert door.where(FIRST, "screened", NOW + 20 * DAY + KEPT) is NEVER_ASKED


async def test_who_comes_back_after_that_is_new() -> None:
    kept = MemoryKnocks()
    door = roster_door(knocks=kept)
    await knocked(door, FIRST)
    await knocked(door, FIRST, NOW + KEPT)
    assert kept.rows[FIRST] == Knock(FIRST, NOW + KEPT, NOW + KEPT, 1)


async def test_what_fell_away_takes_no_memory() -> None:
    door = roster_door()
    for number in range(100):
        await knocked(door, str(number), NOW + number)
    await knocked(door, "a", NOW + 50 + KEPT)
    assert len(door._knocks) == 50
    assert len(door._lately) == 1


async def test_a_decision_settles_a_knock() -> None:
    door = roster_door()
    await knocked(door, FIRST)
    door.policy = policy(allowed=Stance.ALLOW)
    door.forget(FIRST)
    assert door.where(FIRST, "screened", NOW) is ADMITTED
    assert door.waiting(NOW) == ()
    door.policy = policy(blocked=Stance.BLOCK)
    assert door.where(FIRST, "screened", NOW) is NEVER_ASKED


# One caller over time, through every act of the owner: the table of `entryway.admission`.


async def test_the_states_of_a_caller_are_those_of_the_table() -> None:
    for act, then in (("hold", WAITING), ("block", WAITING), ("allow", ADMITTED), ("revoked", REFUSED[Reason.REVOKED])):
        door = roster_door()
        await knocked(door, FIRST)
        stances = {act: Stance.BLOCK if act == "revoked" else Stance(act)}
        door.policy = policy(120, **stances)
        assert door.where(FIRST, "screened", NOW) is then
        assert await knocked(door, FIRST, NOW + 1) is then
        assert door.where(FIRST, "screened", NOW + KEPT) is (NEVER_ASKED if then is WAITING else then)


# Who may hand in work.


@pytest.mark.parametrize("admission", ["open", "allowlist", "screened", "negotiated", None])
def test_only_who_is_admitted_may_hand_in_work(admission: str | None) -> None:
    door = roster_door(policy(allowed=Stance.ALLOW, blocked=Stance.BLOCK))
    assert door.admits(FIRST, admission)
    assert not door.admits(SECOND, admission)
    assert not door.admits(THIRD, admission)
    assert not door.admits(None, admission)


def test_nobody_who_does_not_sign_is_admitted_even_where_the_anonymous_are_allowed() -> None:
    door = roster_door(Policy(dict.fromkeys(Tier, Stance.ALLOW), 1, {}))
    assert door.admits(OTHER.id, "open")
    assert not door.admits(None, "open")


def counted(door: Door, caller: str, now: float = NOW) -> str | None:
    """The Retry-After of a message that is one too many; None for one that is taken."""
    try:
        door.count(caller, "screened", now)
    except EntrywayError as error:
        assert error.code == "RATE_LIMITED"
        return dict(error.headers)["Retry-After"]
    return None


def test_the_hourly_cap_holds_for_the_admitted_too() -> None:
    door = roster_door(policy(hourly=2, allowed=Stance.ALLOW, blocked=Stance.BLOCK))
    for caller in (FIRST, SECOND, THIRD):
        assert [counted(door, caller, NOW + second) for second in (0, 1, 2.5)] == [None, None, "3598"]
        assert counted(door, caller, NOW + HOUR) is None


def test_strangers_do_not_push_an_admitted_caller_out_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("entryway.protections.SENDERS", 3)
    door = roster_door(policy(hourly=1, allowed=Stance.ALLOW))
    assert counted(door, FIRST) is None
    for number in range(10):
        assert counted(door, str(number)) is None
    assert counted(door, FIRST) == "3600"


# Whatever happens, in whatever order.

STEPS = st.lists(
    st.tuples(st.sampled_from(CALLERS[:4]), st.floats(0, 2 * DAY), st.sampled_from(["open", "screened", "x", None])),
    max_size=30,
)


@settings(deadline=None, max_examples=60)
@given(steps=STEPS, per_day=st.integers(0, 3))
def test_no_day_keeps_more_than_it_may_and_every_answer_is_true(steps: list[Any], per_day: int) -> None:
    async def run() -> None:
        kept = MemoryKnocks()
        door = roster_door(policy(allowed=Stance.ALLOW, blocked=Stance.BLOCK), kept, KnockLimits(per_day=per_day))
        now, times = NOW, []
        for caller, pause, admission in steps:
            now += pause
            before = dict(kept.rows)
            told = await knocked(door, caller, now, admission)
            if kept.rows != before:
                assert set(kept.rows) - set(before) <= {caller}
                times.append(now)
            assert (told is ADMITTED) is (caller == FIRST)
            assert told is BUSY or door.where(caller, admission, now) is told
            assert sum(now - at < DAY for at in times) <= per_day

    trio.run(run)
