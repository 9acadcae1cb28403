"""Work, asked for by the client: what goes out, what comes of it, and what is not believed of whatever answers."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import msgpack
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from descriptor.errors import DescriptorError
from descriptor.keys import Identity, SealingKey
from descriptor.strictjson import JsonValue
from descriptor.view import Money
from entryway.admission import Status
from entryway.asked import read_asked
from entryway.client import (
    Accepted,
    Agent,
    Budget,
    Caller,
    ClientError,
    ClientLimits,
    Completed,
    Failed,
    Outcome,
    Parcel,
    Refused,
    Resource,
    Work,
)
from entryway.client import agent as agent_module
from entryway.client.outcome import read_outcome
from entryway.client.request import work_payload
from entryway.codec import Codec
from entryway.envelope import new_uuid
from entryway.requests import refusal_payload
from entryway.roster import NO_POLICY, Entry, Policy, Stance, Tier
from entryway.sealing import Way, is_sealed, seal
from tests.entryway.parts import OTHER, OWNER, document
from tests.entryway.workplace import KEY, Workplace, at_work, in_thread, sealing, working
from tests.fuzz.promises import assert_fit_to_show

OWN = SealingKey.generate()
KNOWN = {OTHER.id: sealing("preferred", OWN, OTHER) | {"subject": {"id": OTHER.id}}}
CLEAR, SEALING = Caller(OTHER), Caller(OTHER, OWN)
HELLO = Work("shout", {"words": "hello"}, authority=())
NAP = Work("nap", {"url": "https://example.com/"})
REQUIRED, PREFERRED = working(**sealing("required")), working(**sealing("preferred"))


async def refusal_of(awaitable: Awaitable[object]) -> ClientError:
    with pytest.raises(ClientError) as caught:
        await awaitable
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 600
    return caught.value


async def found(url: str, caller: Caller = CLEAR) -> Agent:
    return await caller.discover(url, agent_id=OWNER.id)


# Who is asked.


async def test_an_agent_is_found_with_its_descriptor_read() -> None:
    place = Workplace()
    async with at_work(place) as url:
        agent = await found(url)
    assert (agent.id, agent.url, agent.descriptor.data) == (OWNER.id, url, place.data)
    assert [one.id for one in agent.view.offerings or ()] == ["shout", "nap"]


async def test_nothing_but_the_question_who_it_is_reaches_another_agent_than_the_one_meant() -> None:
    place = Workplace()
    async with at_work(place) as url:
        error = await refusal_of(CLEAR.discover(url, agent_id=OTHER.id))
    assert error.code == "NOT_VERIFIED"
    assert OWNER.id in error.message
    assert error.verdict is not None
    assert list(error.verdict.reasons) == ["one_agent"]
    assert place.asked == []


@pytest.mark.parametrize(
    ("data", "code"),
    [(document(sign=False), "NOT_VERIFIED"), (document().replace(b"receipts", b"everyone"), "NOT_VERIFIED")],
    ids=["unsigned", "changed"],
)
async def test_an_agent_whose_descriptor_does_not_verify_is_asked_nothing(data: bytes, code: str) -> None:
    async with at_work(Workplace(data)) as url:
        assert (await refusal_of(CLEAR.discover(url, agent_id=None))).code == code
        assert (await refusal_of(_known(url, data))).code == code


async def _known(url: str, data: bytes) -> Agent:
    return CLEAR.known(url, data)


async def test_an_agent_that_is_known_from_elsewhere_is_asked_without_being_asked_who_it_is() -> None:
    place = Workplace()
    async with at_work(place) as url:
        outcome = await CLEAR.known(url, place.data).request(HELLO)
    assert isinstance(outcome, Completed)
    with pytest.raises(DescriptorError):
        CLEAR.known("http://127.0.0.1", b"[]")


# The door.


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits looks again at once."""
    monkeypatch.setattr(agent_module, "FIRST_PAUSE", 0.02)


async def test_who_is_not_admitted_knocks_and_waits(impatient: None) -> None:
    place = Workplace(policy=NO_POLICY, data=working(access={"admission": "screened", "schemes": []}))

    async def admit() -> None:
        await trio.sleep(0.2)
        place.door.policy = policy_for(OTHER.id)

    async with at_work(place) as url, trio.open_nursery() as nursery:
        agent = await found(url)
        refused = await agent.request(HELLO)
        assert isinstance(refused, Refused)
        assert refused.code == "UNAUTHORIZED"
        assert (await agent.standing()).status is Status.NEVER_ASKED
        nursery.start_soon(admit)
        standing = await agent.admission()
        assert standing.status is Status.ADMITTED
        assert standing.envelope["to"] == OTHER.id
        assert isinstance(await agent.request(HELLO), Completed)


def policy_for(caller: str) -> Policy:
    return replace(NO_POLICY, entries={caller: Entry(caller, Stance.ALLOW, Tier.ROSTERED, None, 0.0, revoked=False)})


async def test_a_refusal_at_the_door_says_why() -> None:
    place = Workplace(policy=NO_POLICY, data=working(access={"admission": "allowlist", "schemes": []}))
    async with at_work(place) as url:
        standing = await (await found(url)).admission()
    assert (standing.status, standing.reason) == (Status.REFUSED, "allowlist")


# What goes out.

EVERYTHING = Work(
    "shout",
    {"words": "hello"},
    (Resource("git", "read", "https://git.example/house"), Resource("git", "read")),
    ("spends-money",),
    Money(1_250_000, "USD"),
    Budget(1_790_000_000.25, Money(1, "EUR"), 3),
    {"speed": 1},
    later=True,
)


def test_what_is_stated_travels_and_nothing_else() -> None:
    assert work_payload(Work("shout"), {}) == {"offering": "shout", "input": {}}
    assert work_payload(HELLO, {}) == {"offering": "shout", "input": {}, "authority": []}
    assert work_payload(EVERYTHING, "sealed") == {
        "offering": "shout",
        "input": "sealed",
        "resources": [
            {"kind": "git", "access": "read", "locator": "https://git.example/house"},
            {"kind": "git", "access": "read"},
        ],
        "authority": ["spends-money"],
        "spend_limit": {"amount_micro": 1_250_000, "currency": "USD"},
        "budget": {
            "revision": 3,
            "deadline": "2026-09-21T14:13:20.250Z",
            "cost_ceiling": {"amount_micro": 1, "currency": "EUR"},
        },
        "run_config": {"settings": {"speed": 1}},
        "async": True,
    }


WORD = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
MONEY = st.builds(Money, st.integers(0, 2**53), st.from_regex("[A-Z]{3}", fullmatch=True))
VALUE: st.SearchStrategy[JsonValue] = st.one_of(WORD, st.booleans(), st.integers(-(2**53), 2**53), st.just([]))
WORKS = st.builds(
    Work,
    WORD,
    st.dictionaries(WORD, VALUE),
    st.lists(st.builds(Resource, WORD, WORD, st.none() | WORD)).map(tuple),
    st.none() | st.lists(WORD).map(tuple),
    st.none() | MONEY,
    st.builds(Budget, st.none() | st.integers(0, 2**32).map(float), st.none() | MONEY, st.none() | st.integers(0, 99)),
    st.dictionaries(WORD, VALUE),
    st.booleans(),
)


@given(WORKS)
def test_an_agent_reads_what_its_caller_says(work: Work) -> None:
    given_input: JsonValue = dict(work.input)
    assert read_asked(work_payload(work, given_input), given_input) == work


def test_neither_the_input_nor_a_key_shows_in_a_repr() -> None:
    parcel = SEALING.known("http://127.0.0.1", PREFERRED).prepare(replace(HELLO, input={"words": "SECRET"}))
    for value in (parcel, replace(HELLO, input={"words": "SECRET"}), SEALING, Completed("SECRET", True, None, {})):
        assert "SECRET" not in repr(value)
        assert OWN.secret_text() not in repr(value)
        assert OTHER.seed_text() not in repr(value)


@pytest.mark.parametrize(
    ("data", "caller", "way", "answer_sealed"),
    [
        (working(), SEALING, Way.CLEAR, False),
        (PREFERRED, SEALING, Way.SEALED, True),
        (PREFERRED, CLEAR, Way.SEALED, False),
        (REQUIRED, SEALING, Way.SEALED, True),
        (REQUIRED, CLEAR, Way.SEALED, False),
        (working(**sealing("preferred") | {"encryption_key": OWN.public_text}), SEALING, Way.CLEAR, False),
    ],
    ids=[
        "no posture",
        "preferred",
        "preferred, no own key",
        "required",
        "required, no own key",
        "preferred, bad claim",
    ],
)
@pytest.mark.parametrize("codec", Codec)
async def test_a_request_is_sealed_as_the_posture_asks(
    data: bytes, caller: Caller, way: Way, answer_sealed: bool, codec: Codec
) -> None:
    place = Workplace(data, senders=KNOWN)
    async with at_work(place) as url:
        agent = await found(url, replace(caller, codec=codec))
        parcel = agent.prepare(HELLO)
        outcome = await agent.send(parcel)
    assert (parcel.way, parcel.answer_sealed) == (way, answer_sealed)
    assert is_sealed(input_of(parcel)) is (way is Way.SEALED)
    assert isinstance(outcome, Completed)
    assert (outcome.output, outcome.sealed) == ({"louder": "HELLO"}, answer_sealed)
    (job,) = place.begun.values()
    assert job.order.input == {"words": "hello"}


def input_of(parcel: Parcel) -> JsonValue:
    payload = parcel.request["payload"]
    assert isinstance(payload, dict)
    return payload["input"]


LOW_ORDER = SealingKey(bytes(32))
LOW_ORDER.public_text = "A" * 43


@pytest.mark.parametrize(
    "members",
    [
        sealing("required") | {"encryption_key": OWN.public_text},
        sealing("required") | {"trust": None},
        sealing("required", LOW_ORDER),
        {"sealing": "required"},
    ],
    ids=["another key", "no claim", "a key that is none", "no key"],
)
async def test_where_sealing_is_required_and_cannot_be_nothing_is_sent(members: dict[str, Any]) -> None:
    place = Workplace(working(**members))
    async with at_work(place) as url:
        error = await refusal_of((await found(url)).request(HELLO))
    assert error.code == "CANNOT_SEAL"
    assert "Nothing was sent" in error.message
    assert not error.maybe_sent
    assert place.asked == []


async def test_a_request_that_no_agent_takes_is_not_sent() -> None:
    place = Workplace()
    async with at_work(place) as url:
        agent = await found(url, replace(CLEAR, limits=ClientLimits(request_bytes=2_000)))
        error = await refusal_of(agent.request(replace(HELLO, input={"words": "x" * 2_000})))
    assert (error.code, place.asked) == ("TOO_LARGE", [])


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("value", [[1] * 4_097, [[]] * 4_000 + [[1] * 100]], ids=["a list", "lists"])
def test_a_request_of_more_values_than_any_node_reads_is_not_sent(value: JsonValue, codec: Codec) -> None:
    caller = replace(CLEAR, codec=codec)
    work = replace(HELLO, input={"words": "x", "table": value})
    with pytest.raises(ClientError) as caught:
        caller.known("http://127.0.0.1", working()).prepare(work)
    assert (caught.value.code, "4096 values" in caught.value.message) == ("TOO_LARGE", True)
    # What is sealed is one value to whoever reads the envelope.
    assert caller.known("http://127.0.0.1", REQUIRED).prepare(work).way is Way.SEALED


@pytest.mark.parametrize("data", [working(), REQUIRED], ids=["clear", "sealed"])
@pytest.mark.parametrize("value", [float("nan"), "\udc00"], ids=["NaN", "half a surrogate"])
def test_an_input_that_json_cannot_say_is_refused(data: bytes, value: JsonValue) -> None:
    with pytest.raises(DescriptorError) as caught:
        CLEAR.known("http://127.0.0.1", data).prepare(replace(HELLO, input={"words": value}))
    assert caught.value.code == "NOT_CANONICAL"


# What comes of it.


async def test_work_that_fails_says_so_by_its_agent() -> None:
    async with at_work(Workplace()) as url:
        outcome = await (await found(url)).request(replace(HELLO, input={"words": "psst"}))
    assert isinstance(outcome, Failed)
    assert (outcome.code, outcome.message, outcome.decided_by) == ("HANDLER_FAILED", "It was whispered.", "rule")
    assert outcome.envelope["from"] == OWNER.id


REFUSED: dict[str, tuple[Work, str, str | None, tuple[JsonValue, ...] | None]] = {
    "an offering that is not declared": (Work("sing"), "OFFERING_NOT_FOUND", None, ("shout", "nap")),
    "a resource": (
        replace(HELLO, resources=(Resource("folder", "read"),)),
        "SCOPE_REFUSED",
        "workspace",
        ({"kind": "git", "access": "read"},),
    ),
    "an access": (
        replace(HELLO, resources=(Resource("git", "read-write"),)),
        "SCOPE_REFUSED",
        "workspace",
        ({"kind": "git", "access": "read"},),
    ),
    "a missing input": (Work("shout", authority=()), "INPUT_INVALID", None, None),
    "an input of another kind": (replace(HELLO, input={"words": 1}), "INPUT_INVALID", None, None),
    "a setting": (replace(HELLO, settings={"speed": 1}), "RUN_CONFIG_REFUSED", None, ()),
    "an authority": (
        replace(HELLO, authority=("runs-commands",)),
        "SCOPE_REFUSED",
        "authority",
        ("reads-files", "spends-money"),
    ),
    "no spend_limit": (replace(HELLO, authority=("spends-money",)), "SCOPE_REFUSED", "spend_limit", None),
    "a spend_limit over the ceiling": (
        replace(HELLO, authority=("spends-money",), spend_limit=Money(5_000_001, "USD")),
        "SCOPE_REFUSED",
        "spend_limit",
        None,
    ),
}


@pytest.mark.parametrize("posture", ["none", "required"])
@pytest.mark.parametrize(("work", "code", "reason", "allowed"), REFUSED.values(), ids=REFUSED)
async def test_a_refusal_is_typed_and_known_beforehand(
    work: Work, code: str, reason: str | None, allowed: tuple[JsonValue, ...] | None, posture: str
) -> None:
    place = Workplace(REQUIRED if posture == "required" else working(), senders=KNOWN)
    async with at_work(place) as url:
        agent = await found(url, SEALING)
        beforehand = agent.refusal(work)
        outcome = await agent.request(work)
    assert isinstance(outcome, Refused)
    assert (outcome.code, outcome.reason, outcome.allowed) == (code, reason, allowed)
    assert (outcome.decided_by, outcome.offering, outcome.task_id) == ("rule", work.offering, None)
    assert place.begun == {}
    assert beforehand is not None
    assert refusal_payload(beforehand)["error"] == outcome.error


def test_what_is_in_order_is_known_beforehand_too() -> None:
    agent = CLEAR.known("http://127.0.0.1", working())
    assert agent.refusal(HELLO) is None
    late = agent.refusal(replace(HELLO, budget=Budget(time.time() - 1)))
    assert late is not None
    assert late.code == "DEADLINE_UNMEETABLE"
    long = CLEAR.known("http://127.0.0.1", working(limits={"max_inbound_chars": 100})).refusal(
        replace(HELLO, input={"words": "x" * 101})
    )
    assert long is not None
    assert long.code == "TOO_LARGE"


async def test_a_reply_key_of_somebody_unknown_is_refused_and_that_can_be_read() -> None:
    async with at_work(Workplace(REQUIRED)) as url:
        outcome = await (await found(url, SEALING)).request(HELLO)
    assert isinstance(outcome, Refused)
    assert outcome.code == "INPUT_INVALID"
    assert "reply_key" in outcome.message


# Jobs.


@pytest.mark.parametrize("data", [working(), REQUIRED], ids=["clear", "sealed"])
async def test_a_job_is_polled_for_until_it_has_ended(data: bytes) -> None:
    place = Workplace(data, senders=KNOWN)
    async with at_work(place) as url:
        agent = await found(url, SEALING)
        accepted = await agent.request(replace(HELLO, later=True))
        assert isinstance(accepted, Accepted)
        outcome = await agent.finished(accepted)
        by_id = await agent.poll(accepted.task_id)
    assert isinstance(outcome, Completed)
    assert isinstance(by_id, Completed)
    assert (outcome.output, outcome.task_id) == ({"louder": "HELLO"}, accepted.task_id)
    assert (by_id.output, by_id.sealed) == (outcome.output, outcome.sealed) == ({"louder": "HELLO"}, data == REQUIRED)


async def test_a_job_is_canceled_by_its_own_caller_alone() -> None:
    place = Workplace()
    async with at_work(place) as url:
        agent = await found(url)
        accepted = await agent.request(replace(NAP, later=True))
        assert isinstance(accepted, Accepted)
        standing = await agent.poll(accepted)
        assert isinstance(standing, Accepted)
        assert standing.state == "working"
        somebody = await found(url, Caller(Identity.generate()))
        for theirs in (await somebody.cancel(accepted.task_id), await somebody.poll(new_uuid())):
            assert isinstance(theirs, Refused)
            assert theirs.code == "NOT_FOUND"
        canceled = await agent.cancel(accepted)
    assert isinstance(canceled, Failed)
    assert (canceled.code, canceled.task_id) == ("CANCELED", accepted.task_id)


async def test_a_poll_that_comes_too_soon_is_made_again(impatient: None) -> None:
    replies = [{"status": "refused", "error": {"code": "RATE_LIMITED", "message": "Later.", "retryable": True}}] * 2
    place = Workplace()
    async with at_work(place) as url:
        agent = await found(url)
        accepted = await agent.request(replace(HELLO, later=True))
        assert isinstance(accepted, Accepted)
        place.lie = lambda payload: replies.pop() if replies else payload
        assert isinstance(await agent.finished(accepted), Completed)


# Deadlines, cancellation, and doubt.


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_a_deadline_ends_the_wait_and_leaves_nothing_behind() -> None:
    place = Workplace()
    async with at_work(place) as url:
        agent = await found(url)
        await agent.request(HELLO)
        gc.collect()
        files, tasks = open_files(), trio.lowlevel.current_statistics().tasks_living
        with trio.move_on_after(0.3) as scope:
            await agent.request(NAP)
        assert scope.cancelled_caught
        await trio.testing.wait_all_tasks_blocked(0.05)
        # The server sees the connection end; what it began for it is its own.
        for job in place.begun.values():
            job.scope.cancel()
        await trio.testing.wait_all_tasks_blocked(0.05)
        gc.collect()
        assert open_files() <= files
        assert trio.lowlevel.current_statistics().tasks_living <= tasks


async def test_the_wait_is_as_long_as_the_job_may_run() -> None:
    now = time.time()
    agent = CLEAR.known("http://127.0.0.1", working())
    assert agent.prepare(HELLO).wait == 30.0
    assert agent.prepare(NAP).wait == 310.0
    assert agent.prepare(replace(NAP, later=True)).wait == 10.0
    assert agent.prepare(replace(HELLO, budget=Budget(now + 5))).wait == pytest.approx(15, abs=1)
    assert agent.prepare(replace(HELLO, budget=Budget(now - 5))).wait == 10.0
    assert agent.prepare(replace(HELLO, budget=Budget(now + 500))).wait == 30.0


async def test_an_answer_that_does_not_come_leaves_open_whether_the_work_is_done() -> None:
    place = Workplace()
    async with at_work(place) as url:
        agent = await found(url, replace(CLEAR, limits=ClientLimits(wait=0.2, work_wait=0.2)))
        error = await refusal_of(agent.request(NAP))
        assert (error.code, error.maybe_sent) == ("TIMEOUT", True)
        assert len(place.begun) == 1
        for job in place.begun.values():
            job.scope.cancel()


async def test_where_nobody_listens_nothing_was_sent() -> None:
    error = await refusal_of(CLEAR.known("http://127.0.0.1:1", working()).request(HELLO))
    assert (error.code, error.maybe_sent) == ("UNREACHABLE", False)


async def test_a_parcel_that_is_sent_twice_is_done_once() -> None:
    place = Workplace()
    async with at_work(place) as url:
        agent = await found(url)
        parcel = agent.prepare(HELLO)
        assert isinstance(await agent.send(parcel), Completed)
        error = await refusal_of(agent.send(parcel))
    assert error.code == "REFUSED"
    assert error.error is not None
    assert error.error["code"] == "INVALID_ENVELOPE"
    assert len(place.begun) == 1
    assert [msgpack.unpackb(body)["id"] for body in place.asked] == [parcel.id] * 2


async def test_every_piece_of_work_has_an_id_of_its_own() -> None:
    agent = CLEAR.known("http://127.0.0.1", working())
    assert agent.prepare(HELLO).id != agent.prepare(HELLO).id


# Liars.

LIES: dict[str, tuple[dict[str, Any], str]] = {
    "another signer": ({"signed_by": OTHER}, "one_agent"),
    "an answer to another question": ({"in_reply_to": new_uuid()}, "answers_request"),
    "an old answer": ({"ts": lambda now: now - 602}, "fresh"),
    "an answer from the future": ({"ts": lambda now: now + 302}, "fresh"),
    "an answer for somebody else": ({"to": lambda _: OWNER.id}, "addressed"),
    "an answer for nobody": ({"to": lambda _: None}, "addressed"),
    "no status": ({"lie": lambda _: {"output": 1}}, "envelope"),
}


@pytest.mark.parametrize("posture", ["none", "required"])
@pytest.mark.parametrize(("lying", "check"), LIES.values(), ids=LIES)
async def test_a_lie_is_not_believed(lying: dict[str, Any], check: str, posture: str) -> None:
    place = Workplace(REQUIRED if posture == "required" else working(), senders=KNOWN, **lying)
    async with at_work(place) as url:
        error = await refusal_of((await found(url, SEALING)).request(HELLO))
    assert (error.code, error.maybe_sent) == ("NOT_VERIFIED", True)
    assert error.verdict is not None
    assert check in error.verdict.reasons


async def test_an_answer_that_was_recorded_is_not_believed_again() -> None:
    place = Workplace()
    async with at_work(place) as url:
        agent = await found(url)
        first = await agent.request(HELLO)
        place.in_reply_to = str(first.envelope["in_reply_to"])
        error = await refusal_of(agent.request(HELLO))
    assert error.verdict is not None
    assert list(error.verdict.reasons) == ["answers_request"]


def output(value: JsonValue) -> dict[str, Any]:
    return {"lie": lambda payload: {**payload, "output": value}}


SEALED_LIES: dict[str, tuple[dict[str, Any], str]] = {
    "in the clear": (output("hello"), "ANSWER_NOT_SEALED"),
    "nothing": (output(None), "ANSWER_NOT_SEALED"),
    "sealed to another key": (output(seal("hello", KEY.public_text)), "UNSEALING_FAILED"),
    "sealed to another key, and naming ours": (
        output(seal("hello", KEY.public_text, reply_key=OWN.public_text)),
        "UNSEALING_FAILED",
    ),
    "broken": (output({"v": "sealedpayload.v1", "epk": 1}), "UNSEALING_FAILED"),
    "changed": (output(seal("hello", OWN.public_text) | {"nonce": "A" * 32}), "UNSEALING_FAILED"),
}


@pytest.mark.parametrize(("lying", "code"), SEALED_LIES.values(), ids=SEALED_LIES)
async def test_an_answer_that_should_be_sealed_is_taken_no_other_way(lying: dict[str, Any], code: str) -> None:
    place = Workplace(PREFERRED, senders=KNOWN, **lying)
    async with at_work(place) as url:
        error = await refusal_of((await found(url, SEALING)).request(HELLO))
    assert (error.code, error.maybe_sent) == (code, True)
    assert "hello" not in error.message


async def test_a_request_whose_reply_key_was_swapped_on_the_way_is_not_taken() -> None:
    place = Workplace(PREFERRED, senders=KNOWN)
    async with at_work(place) as url:
        agent = await found(url, SEALING)
        parcel = agent.prepare(HELLO)
        swapped: dict[str, Any] = dict(parcel.request)
        swapped["payload"] = {
            **swapped["payload"],
            "input": {**swapped["payload"]["input"], "reply_key": KEY.public_text},
        }
        error = await refusal_of(agent.send(replace(parcel, request=swapped)))
    assert error.error is not None
    assert error.error["code"] == "INVALID_ENVELOPE"
    assert place.begun == {}


UNREADABLE: dict[str, dict[str, Any]] = {
    "a status that work does not have": {"status": "done"},
    "completed without an output": {"status": "completed", "task_id": "1"},
    "accepted without a task": {"status": "accepted", "state": "working"},
    "a task that is a number": {"status": "accepted", "task_id": 1, "state": "working"},
    "a task that moves the cursor": {"status": "accepted", "task_id": "\x1b[2J", "state": "working"},
    "an empty task": {"status": "accepted", "task_id": "", "state": "working"},
    "refused without an error": {"status": "refused"},
    "an error that is a text": {"status": "refused", "error": "no"},
    "an error without a code": {"status": "failed", "error": {"message": "no"}},
    "an error without a message": {"status": "failed", "error": {"code": "NO"}},
}


@pytest.mark.parametrize("payload", UNREADABLE.values(), ids=UNREADABLE)
async def test_an_answer_of_no_form_is_an_error(payload: dict[str, Any]) -> None:
    async with at_work(Workplace(lie=lambda _: payload)) as url:
        error = await refusal_of((await found(url)).request(HELLO))
    assert (error.code, error.maybe_sent) == ("UNREADABLE_REPLY", True)


def test_what_an_agent_says_is_fit_to_be_shown() -> None:
    hostile = "\x1b[2J\u202eNo.\r\n" * 500
    error: JsonValue = {
        "code": hostile,
        "message": hostile,
        "decided_by": hostile,
        "reason": hostile,
        "offering": hostile,
    }
    for status in ("refused", "failed"):
        outcome = read_outcome({"payload": {"status": status, "error": error}}, sealed=False, key=None)
        assert isinstance(outcome, Refused | Failed)
        for text in (outcome.code, outcome.message, outcome.decided_by):
            assert text is not None
            assert text.isprintable()
            assert len(text) < 2_100
    accepted = read_outcome(
        {"payload": {"status": "accepted", "task_id": "1", "state": hostile}}, sealed=None, key=None
    )
    assert isinstance(accepted, Accepted)
    assert accepted.state.isprintable()


NAMES = (
    "status",
    "task_id",
    "state",
    "output",
    "error",
    "code",
    "message",
    "decided_by",
    "reason",
    "allowed",
    "v",
    "ct",
)
ANYTHING: st.SearchStrategy[JsonValue] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.sampled_from(["completed", "accepted", "sealedpayload.v1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES) | st.text(), inner, max_size=5),
    max_leaves=10,
)
PAYLOADS = st.dictionaries(st.sampled_from(NAMES), ANYTHING).flatmap(
    lambda members: st.builds(
        lambda status: {**members, "status": status}, st.sampled_from(["completed", "accepted", "refused", "failed", 1])
    )
)


@given(PAYLOADS, st.sampled_from([True, False, None]), st.sampled_from([OWN, None]))
def test_whatever_is_said_of_work_it_is_an_outcome_fit_to_be_shown_or_an_error(
    payload: dict[str, JsonValue], sealed: bool | None, key: SealingKey | None
) -> None:
    try:
        outcome = read_outcome({"payload": payload}, sealed=sealed, key=key)
    except ClientError as error:
        assert_fit_to_show(error)
        return
    shown = [outcome.task_id]
    if isinstance(outcome, Refused | Failed):
        shown += [outcome.code, outcome.message, outcome.decided_by]
        assert outcome.code
    elif isinstance(outcome, Accepted):
        shown.append(outcome.state)
    else:
        assert sealed is not True
        assert outcome.sealed is False
    assert all(text is None or text.isprintable() for text in shown)


def test_an_output_is_opened_where_nobody_knows_any_more_whether_it_was_asked_for_sealed() -> None:
    def read(value: JsonValue, key: SealingKey | None) -> Outcome:
        return read_outcome({"payload": {"status": "completed", "output": value}}, sealed=None, key=key)

    sealed, clear = read(seal([1], OWN.public_text), OWN), read([1], OWN)
    assert isinstance(sealed, Completed)
    assert isinstance(clear, Completed)
    assert (sealed.output, sealed.sealed, clear.output, clear.sealed) == ([1], True, [1], False)
    with pytest.raises(ClientError) as caught:
        read(seal([1], OWN.public_text), None)
    assert caught.value.code == "UNSEALING_FAILED"


async def test_a_sealed_output_may_be_larger_than_a_descriptor() -> None:
    large = "x" * 2_000_000
    place = Workplace(PREFERRED, senders=KNOWN, **output(seal(large, OWN.public_text)))
    async with at_work(place) as url:
        outcome = await (await found(url, SEALING)).request(HELLO)
    assert isinstance(outcome, Completed)
    assert outcome.output == large


async def test_an_output_may_be_large_and_made_of_many_values() -> None:
    many: JsonValue = list(range(40_000))
    async with at_work(Workplace(**output(many))) as url:
        outcome = await (await found(url)).request(HELLO)
        assert isinstance(outcome, Completed)
        assert outcome.output == many
        limits = ClientLimits(output_bytes=1_000)
        assert (await refusal_of((await found(url, Caller(OTHER, limits=limits))).request(HELLO))).code == "TOO_LARGE"
        limits = ClientLimits(output_values=1_000)
        error = await refusal_of((await found(url, Caller(OTHER, limits=limits))).request(HELLO))
        assert error.code == "UNREADABLE_REPLY"


# The same on asyncio.


async def _walk(url: str) -> None:
    agent = await SEALING.discover(url, agent_id=OWNER.id)
    assert (await agent.admission()).status is Status.ADMITTED
    outcome = await agent.request(HELLO)
    assert isinstance(outcome, Completed)
    assert (outcome.output, outcome.sealed) == ({"louder": "HELLO"}, True)
    accepted = await agent.request(replace(HELLO, later=True))
    assert isinstance(accepted, Accepted)
    assert isinstance(await agent.finished(accepted), Completed)
    refused = await agent.request(Work("sing"))
    assert isinstance(refused, Refused)
    short = replace(SEALING, limits=ClientLimits(output_bytes=50))
    agent_of_little = short.known(url, REQUIRED)
    assert (await refusal_of(agent_of_little.request(HELLO))).code == "TOO_LARGE"
    hasty = replace(SEALING, limits=ClientLimits(wait=0.2, work_wait=0.0)).known(url, REQUIRED)
    assert (await refusal_of(hasty.request(NAP))).code == "TIMEOUT"


@pytest.mark.parametrize("run", [trio.run, lambda walk: asyncio.run(walk())], ids=["trio", "asyncio"])
def test_one_walk_on_either_event_loop(run: Any) -> None:
    with in_thread(Workplace(REQUIRED, senders=KNOWN)) as url:
        run(partial(_walk, url))


def test_a_deadline_of_asyncio_ends_the_wait_and_leaves_nothing_behind() -> None:
    async def walk(url: str) -> None:
        agent = await CLEAR.discover(url, agent_id=OWNER.id)
        before = len(asyncio.all_tasks())
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await agent.request(NAP)
        task = asyncio.create_task(agent.finished(new_uuid()))
        assert isinstance(await task, Refused)
        waiting = asyncio.create_task(agent.request(NAP))
        await asyncio.sleep(0.2)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert len(asyncio.all_tasks()) == before

    with in_thread(Workplace()) as url:
        asyncio.run(walk(url))
        gc.collect()
