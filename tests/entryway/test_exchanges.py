"""The exchanges, asked through the routes: what each says, to whom, and what nobody can find out by asking."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from descriptor.keys import Identity
from entryway.codec import Codec, decode
from entryway.description import described, door_statement, usage
from entryway.door import Door, KnockLimits
from entryway.envelope import request_envelope
from entryway.errors import EntrywayError
from entryway.exchanges import EXCHANGES, NEED_SIGNATURE
from entryway.http import Request, Response
from entryway.roster import CONSERVATIVE, NO_POLICY, Entry, Policy, Stance, Tier
from entryway.routes import Entryway
from entryway.snapshot import Damaged, NonePublished, Published
from entryway.verdict import STATUSES, judge_reply
from tests.entryway.parts import (
    NOW,
    OTHER,
    OWNER,
    MemoryKnocks,
    answer_of,
    document,
    door,
    post,
    roster_door,
    snapshot_of,
)
from tests.entryway.test_routes import check_reply

SCREENED = document(access={"admission": "screened", "schemes": []}, interaction="service", offerings=[])
PUBLISHED = snapshot_of(SCREENED)
ANONYMOUS = [number for number in EXCHANGES if number not in NEED_SIGNATURE]


def declaring(admission: str | None) -> Published:
    return snapshot_of(document() if admission is None else document(access={"admission": admission}))


def policy(stance: Stance | None = None, caller: str = OTHER.id, *, revoked: bool = False, **more: Any) -> Policy:
    entry = Entry(caller, stance, Tier.ROSTERED, None, NOW, revoked=revoked)
    return replace(Policy(CONSERVATIVE, 120, {} if stance is None else {caller: entry}), **more)


async def asked(
    entryway: Entryway, exchange: int | str, identity: Identity | None = None, codec: Codec = Codec.JSON, **more: Any
) -> dict[str, Any]:
    """The payload of a reply that verifies, or the error."""
    to = None if identity is None else OWNER.id
    request = request_envelope({"exchange": exchange, **more}, NOW, to=to, identity=identity)
    got = await answer_of(entryway, post(request, codec))
    reply: Any = decode(got.body, codec)
    if got.status != 200:
        return dict(reply["error"])
    payload = check_reply(reply, request)
    beside = entryway.snapshot.beside.data if exchange == 2 and isinstance(entryway.snapshot, Published) else None
    assert judge_reply(reply, request, NOW, beside).verified
    assert payload["status"] in STATUSES[exchange]
    return payload


# What each says.


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("identity", [None, OTHER])
async def test_what_is_declared_is_told_to_whoever_asks(codec: Codec, identity: Identity | None) -> None:
    entryway = door(PUBLISHED)
    told = {number: await asked(entryway, number, identity, codec) for number in (1, 4, "help")}
    assert told == {
        1: described(PUBLISHED.descriptor),
        4: door_statement(PUBLISHED.descriptor.members),
        "help": usage(PUBLISHED.descriptor),
    }


@pytest.mark.parametrize(("number", "status"), [(1, "none-published"), (2, "none-published"), (4, "not-stated")])
async def test_an_agent_that_has_published_nothing_says_so(number: int, status: str) -> None:
    assert await asked(door(NonePublished()), number) == {"status": status}


async def test_help_of_an_agent_that_has_published_nothing_says_so() -> None:
    assert await asked(door(NonePublished()), "help") == {"status": "none-published"}


@pytest.mark.parametrize("number", EXCHANGES)
async def test_while_the_descriptor_is_damaged_nothing_is_said_that_could_be_false(number: int | str) -> None:
    kept = MemoryKnocks()
    entryway = door(Damaged("sha256:" + "0" * 64, 1), roster=roster_door(knocks=kept))
    assert (await asked(entryway, number, OTHER))["code"] == "AGENT_UNAVAILABLE"
    assert not kept.rows


async def test_a_knock_is_kept_and_then_waits() -> None:
    kept = MemoryKnocks()
    entryway = door(PUBLISHED, roster=roster_door(knocks=kept))
    assert await asked(entryway, 5, OTHER) == {"status": "never-asked"}
    assert not kept.rows
    assert await asked(entryway, 3, OTHER) == {"status": "waiting"}
    assert list(kept.rows) == [OTHER.id]
    assert await asked(entryway, 5, OTHER) == {"status": "waiting"}
    assert await asked(entryway, 3, OTHER) == {"status": "waiting"}
    assert kept.rows[OTHER.id].count == 1


@pytest.mark.parametrize(
    ("admission", "stance", "revoked", "told"),
    [
        ("open", None, False, {"status": "waiting"}),
        ("allowlist", None, False, {"status": "refused", "reason": "allowlist"}),
        ("screened", None, False, {"status": "waiting"}),
        ("negotiated", None, False, {"status": "refused", "reason": "negotiated"}),
        (None, None, False, {"status": "waiting"}),
        *((admission, Stance.ALLOW, False, {"status": "admitted"}) for admission in ("allowlist", "negotiated", None)),
        *((admission, Stance.BLOCK, True, {"status": "refused", "reason": "revoked"}) for admission in ("open", None)),
    ],
)
async def test_a_knock_is_answered_by_what_is_declared_and_the_roster(
    admission: str | None, stance: Stance | None, revoked: bool, told: dict[str, Any]
) -> None:
    entryway = door(declaring(admission), roster=roster_door(policy(stance, revoked=revoked)))
    assert await asked(entryway, 3, OTHER) == told
    assert await asked(entryway, 5, OTHER) == told


async def test_where_the_roster_allows_whoever_signs_an_open_agent_admits_him() -> None:
    allowing = policy(defaults={**CONSERVATIVE, Tier.REGISTERED: Stance.ALLOW})
    assert await asked(door(declaring("open"), roster=roster_door(allowing)), 3, OTHER) == {"status": "admitted"}


async def test_a_full_day_turns_new_callers_away() -> None:
    entryway = door(PUBLISHED, roster=roster_door(limits=KnockLimits(per_day=0)))
    assert await asked(entryway, 3, OTHER) == {"status": "refused", "reason": "busy"}
    assert await asked(entryway, 5, OTHER) == {"status": "never-asked"}


async def test_what_the_owner_decides_holds_from_then_on() -> None:
    roster = roster_door()
    entryway = door(PUBLISHED, roster=roster)
    for own, told in ((policy(Stance.ALLOW), "admitted"), (policy(Stance.BLOCK, revoked=True), "refused")):
        roster.policy = own
        assert (await asked(entryway, 5, OTHER))["status"] == told


async def test_a_knock_that_cannot_be_kept_is_unavailable() -> None:
    kept = MemoryKnocks(failing=EntrywayError("AGENT_UNAVAILABLE", "Knock again later."))
    error = await asked(door(PUBLISHED, roster=roster_door(knocks=kept)), 3, OTHER)
    assert (error["code"], error["retryable"]) == ("AGENT_UNAVAILABLE", True)


# What is refused.


@pytest.mark.parametrize(
    "more", [{"offering": "sort"}, {"input": {}}, {"message": "Please."}, {"": None}, {"x": 1, "y": 2}]
)
async def test_a_knock_carries_no_work(more: dict[str, Any]) -> None:
    kept = MemoryKnocks()
    entryway = door(PUBLISHED, roster=roster_door(policy(Stance.ALLOW), kept))
    assert (await asked(entryway, 3, OTHER, **more))["code"] == "INPUT_INVALID"
    assert not kept.rows


@pytest.mark.parametrize("number", sorted(NEED_SIGNATURE))
async def test_who_asks_about_himself_has_to_sign(number: int) -> None:
    kept = MemoryKnocks()
    assert (await asked(door(PUBLISHED, roster=roster_door(knocks=kept)), number))["code"] == "INVALID_ENVELOPE"
    assert not kept.rows


@pytest.mark.parametrize("number", sorted(NEED_SIGNATURE))
async def test_beyond_the_hourly_cap_a_sender_is_told_when_to_come_back(number: int) -> None:
    for own in (policy(Stance.ALLOW, hourly=2), policy(Stance.BLOCK, hourly=2), policy(hourly=2)):
        entryway = door(PUBLISHED, roster=roster_door(own))
        codes = [(await asked(entryway, number, OTHER)).get("code") for _ in range(3)]
        assert codes == [None, None, "RATE_LIMITED"]
        request = request_envelope({"exchange": number}, NOW, to=OWNER.id, identity=OTHER)
        got = await answer_of(entryway, post(request))
        assert (got.status, got.headers["retry-after"]) == (429, "3600")


@pytest.mark.parametrize("number", ANONYMOUS)
async def test_what_is_declared_is_answered_whatever_the_callers_standing(number: int | str) -> None:
    entryway = door(PUBLISHED, roster=roster_door(policy(Stance.BLOCK, hourly=1, revoked=True)))
    told = [await asked(entryway, number, OTHER) for _ in range(3)]
    assert told[0] == told[1] == told[2] == await asked(entryway, number)


# What nobody can find out.

UNKNOWN = Identity.generate()
ROSTERS: dict[str, Policy] = {
    "none": NO_POLICY,
    "blocked": policy(Stance.BLOCK),
    "held": policy(Stance.HOLD),
    "many": replace(
        policy(Stance.BLOCK),
        entries={
            one: Entry(one, Stance.BLOCK, Tier.ROSTERED, "x" * 100, NOW, revoked=False)
            for one in (OTHER.id, *(f"U{number:055}" for number in range(5_000)))
        },
    ),
}


def without_what_is_new(body: bytes, codec: Codec) -> bytes:
    """A reply without what differs between any two: its id and signature, and the question it names."""
    reply: Any = decode(body, codec)
    for name in ("id", "sig", "in_reply_to"):
        assert reply["envelope"].pop(name)
    return json.dumps(reply, sort_keys=True).encode()


@pytest.mark.parametrize("admission", ["open", "allowlist", "screened", "negotiated", None])
@pytest.mark.parametrize("codec", Codec)
async def test_a_blocked_caller_is_answered_like_an_unknown_one_byte_for_byte(
    admission: str | None, codec: Codec
) -> None:
    transcripts = set()
    for own in ROSTERS.values():
        entryway = door(declaring(admission), roster=roster_door(own))
        transcript = []
        for exchange in (5, 3, 5, 3, 1, 2, 4, "help"):
            request = request_envelope({"exchange": exchange}, NOW, to=OWNER.id, identity=OTHER)
            got = await answer_of(entryway, post(request, codec))
            transcript.append((got.status, tuple(got.headers.items()), without_what_is_new(got.body, codec)))
        transcripts.add(tuple(transcript))
    assert len(transcripts) == 1


async def test_a_block_leaves_what_an_unknown_caller_leaves() -> None:
    left = []
    for own in ROSTERS.values():
        kept = MemoryKnocks()
        await asked(door(PUBLISHED, roster=roster_door(own, kept)), 3, OTHER)
        left.append((kept.rows, kept.forgotten_until))
    assert all(one == left[0] for one in left)


async def test_nobody_is_told_of_anybody_else() -> None:
    entryway = door(PUBLISHED, roster=roster_door(policy(Stance.ALLOW)))
    await asked(entryway, 3, UNKNOWN)
    for number in EXCHANGES:
        told = json.dumps([await asked(entryway, number, identity) for identity in (UNKNOWN, OTHER)])
        assert OTHER.id not in told
        assert UNKNOWN.id not in told


SAMPLES = 150


def timed(roster: Callable[[], Door], exchange: int, callers: list[Identity]) -> list[int]:
    """The processor time, in nanoseconds, of each answer to one question of each caller. Nothing is waited for."""
    entryway = door(PUBLISHED, roster=roster())
    asking = [post(request_envelope({"exchange": exchange}, NOW, to=OWNER.id, identity=one)) for one in callers]
    return [_one(entryway, request) for request in asking]


def _one(entryway: Entryway, request: Request) -> int:
    began = time.thread_time_ns()
    answer = entryway.router.respond(request)
    if not isinstance(answer, Response):
        with pytest.raises(StopIteration) as ended:
            answer.__await__().send(None)
        answer = ended.value.value
    took = time.thread_time_ns() - began
    assert answer.status == 200
    return took


class Slow(Door):
    """A door that looks at an entry for longer: what the measure has to find."""

    def count(self, caller: str, admission: str | None, now: float) -> None:
        super().count(caller, admission, now)
        if caller in self.policy.entries:
            until = time.thread_time_ns() + 300_000
            while time.thread_time_ns() < until:
                pass


class AtOnce(MemoryKnocks):
    """Keeps without a turn of the loop, so that what is measured is the node's own work."""

    async def keep(self, knock: Any, forgotten_until: float) -> None:
        self.rows[knock.subject] = knock


def apart(kind: type[Door], exchange: int) -> float:
    """How far the median times of unknown and of blocked callers are from each other, as a part of the whole."""
    callers = [Identity.generate() for _ in range(SAMPLES)]
    entries = {one.id: Entry(one.id, Stance.BLOCK, Tier.ROSTERED, None, NOW, revoked=False) for one in callers}
    times: dict[str, list[int]] = {"unknown": [], "blocked": []}
    for part in range(0, SAMPLES, 15):
        # In turns, so that whatever else the machine does falls on both.
        for name, own in (("unknown", NO_POLICY), ("blocked", replace(NO_POLICY, entries=entries))):
            some = callers[part : part + 15]
            times[name] += timed(lambda own=own: kind(own, (), AtOnce().keep), exchange, some)  # type: ignore[misc]  # bound now
    unknown, blocked = (statistics.median(times[name]) for name in ("unknown", "blocked"))
    return abs(unknown - blocked) / unknown


@pytest.mark.parametrize("exchange", [3, 5])
def test_a_block_costs_no_time_that_could_be_measured(exchange: int) -> None:
    # A machine that is busy may disturb one measure, and several; it does not disturb twelve in the same way.
    assert any(apart(Door, exchange) < 0.03 for _ in range(12))


@pytest.mark.parametrize("exchange", [3, 5])
def test_the_measure_finds_a_difference_where_there_is_one(exchange: int) -> None:
    assert not any(apart(Slow, exchange) < 0.03 for _ in range(12))
