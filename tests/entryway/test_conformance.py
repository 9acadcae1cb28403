"""The five cases of 6.11, put to an agent that keeps to its word, and to those that do not."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from descriptor.document import Descriptor
from descriptor.strictjson import JsonValue
from descriptor.view import Offering, view
from descriptor.vocabulary import AUTHORITY
from entryway.client import Caller, ClientError, ClientLimits
from entryway.client.conformance import HARMLESS, INVENTED, Evidence, Held, cases, put, samples, undeclared
from entryway.work import Declined, Ending, Order
from tests.entryway.parts import OTHER, OWNER
from tests.entryway.workplace import Workplace, at_work, sealing, working

CALLER = Caller(OTHER)
NAMES = ["undeclared-offering", "workspace", "authority", "spend-limit", "inside-every-bound"]


def offering(**members: Any) -> Offering:
    found = view(Descriptor.read(working(offerings=[{"id": "o", "name": "O", "description": "O.", **members}])))
    one = found.offering("o")
    assert one is not None
    return one


async def put_all(place: Workplace, *, run: bool = True, only: str = "shout") -> list[Evidence]:
    async with at_work(place) as url:
        agent = await CALLER.discover(url, agent_id=OWNER.id)
        declared = agent.view.offering(only)
        assert declared is not None
        put_to = [undeclared("conformance-x"), *cases(declared, {}, run=run)]
        return [await put(agent, case, time.time) for case in put_to]


def told(found: Sequence[Evidence]) -> dict[str, str]:
    return {one.case.name: one.held.value for one in found}


@pytest.mark.parametrize("posture", [None, "preferred", "required"])
async def test_an_agent_that_keeps_to_what_it_declares_holds_in_all_five(posture: str | None) -> None:
    place = Workplace(working() if posture is None else working(**sealing(posture)))
    found = await put_all(place)
    assert told(found) == dict.fromkeys(NAMES, "holds")
    for one in found:
        assert one.digest == Descriptor.read(place.data).digest
        assert one.request is not None
        assert one.reply is not None
        assert one.reply["in_reply_to"] == one.request["id"]
    (job,) = place.begun.values()
    assert job.order.authority == ()
    assert job.payload is not None  # it was canceled, or had ended


async def test_without_consent_no_work_is_begun() -> None:
    place = Workplace()
    found = await put_all(place, run=False)
    assert told(found) == {**dict.fromkeys(NAMES[:4], "holds"), "inside-every-bound": "not tried"}
    assert (found[-1].request, place.begun) == (None, {})


async def test_an_agent_without_a_boundary_fails_the_four_and_all_it_began_is_canceled() -> None:
    place = Workplace(lax=True)
    found = await put_all(place)
    assert told(found) == {**dict.fromkeys(NAMES[:4], "does not hold"), "inside-every-bound": "holds"}
    assert all("It was admitted. It was canceled: CANCELED." in one.came for one in found)
    allowed = [job.order.authority for job in place.begun.values()]
    assert allowed == [(), (), ("reads-systems",), ("spends-money",), ()]
    assert all(job.payload is not None for job in place.begun.values())


async def test_an_agent_without_a_boundary_that_keeps_to_deadlines_begins_nothing_of_the_four() -> None:
    place = Workplace(lax=True, punctual=True)
    found = await put_all(place)
    assert told(found) == {**dict.fromkeys(NAMES[:4], "does not hold"), "inside-every-bound": "holds"}
    assert [job.order.authority for job in place.begun.values()] == [()]


def error(**members: JsonValue) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """What changes the members of a refusal; `None` takes one away."""

    def lie(payload: dict[str, Any]) -> dict[str, Any]:
        if payload["status"] != "refused":
            return payload
        changed = {**payload["error"], **members}
        return {**payload, "error": {name: value for name, value in changed.items() if value is not None}}

    return lie


SCOPED = ["workspace", "authority", "spend-limit"]
FAULTS: dict[str, tuple[Callable[[dict[str, Any]], dict[str, Any]], list[str], str]] = {
    "a model decided": (error(decided_by="model"), NAMES[:4], "does not say that a rule decided"),
    "nobody decided": (error(decided_by=None), NAMES[:4], "decided by nobody who is named"),
    "another code": (error(code="NO"), NAMES[:4], "another refusal"),
    "another reason": (error(reason="focus"), NAMES[:4], "another refusal"),
    "no reason": (error(reason=None), SCOPED, "another refusal"),
    "another offering": (error(offering="nap"), SCOPED, "does not name the offering"),
    "no list": (error(allowed=None), ["workspace", "authority"], "does not say what is allowed"),
    "another list": (error(allowed=["reads-files"]), ["workspace", "authority"], "not what the offering declares"),
    "after it had begun": (lambda payload: {**payload, "task_id": "1"}, NAMES[:4], "names a job"),
    "no answer": (lambda _: {"status": "refused"}, NAMES, "not why"),
}


@pytest.mark.parametrize(("lie", "failing", "words"), FAULTS.values(), ids=FAULTS)
async def test_a_refusal_that_is_not_the_one_that_is_owed_does_not_hold(
    lie: Callable[[dict[str, Any]], dict[str, Any]], failing: list[str], words: str
) -> None:
    found = await put_all(Workplace(lie=lie))
    assert [one.case.name for one in found if one.held is Held.FAILS] == failing
    assert all(words in one.came for one in found if one.held is Held.FAILS)


async def test_a_reply_that_does_not_verify_holds_in_nothing() -> None:
    found = await put_all(Workplace(signed_by=OTHER), run=False)
    assert told(found) == {**dict.fromkeys(NAMES[:4], "does not hold"), "inside-every-bound": "not tried"}
    assert all(one.reply is not None for one in found[:4])


async def test_an_agent_that_does_not_answer_in_time_owes_its_refusals_still() -> None:
    place = Workplace(silent=True)
    async with at_work(place) as url:
        hasty = replace(CALLER, limits=ClientLimits(wait=0.2))
        agent = hasty.known(url, place.data)
        declared = agent.view.offering("shout")
        assert declared is not None
        found = [await put(agent, case, time.time) for case in cases(declared, {}, run=True)]
    assert told(found) == {**dict.fromkeys(NAMES[1:4], "does not hold"), "inside-every-bound": "not tried"}
    with pytest.raises(ClientError):
        await put(hasty.known("http://127.0.0.1:1", place.data), undeclared("x"), time.time)


@pytest.mark.parametrize("code", ["RATE_LIMITED", "AGENT_UNAVAILABLE", "INPUT_INVALID"])
async def test_what_is_refused_for_another_cause_shows_nothing(code: str) -> None:
    found = await put_all(Workplace(lie=lambda _: {"status": "refused", "error": {"code": code, "message": "No."}}))
    assert told(found) == dict.fromkeys(NAMES, "not tried")


async def test_a_model_that_judges_the_focus_judges_what_the_boundary_admitted() -> None:
    async def decline(order: Order) -> Ending:
        return Declined("That is no software.")

    place = Workplace(work=decline)
    async with at_work(place) as url:
        agent = await CALLER.discover(url, agent_id=OWNER.id)
        declared = agent.view.offering("shout")
        assert declared is not None
        *_, inside = cases(declared, {}, run=True)
        assert inside.work is not None
        found = await put(agent, replace(inside, work=replace(inside.work, later=False)), time.time)
    assert found.held is Held.HOLDS
    assert "a model judges what has passed there" in found.came


async def test_a_case_about_what_is_not_declared_is_not_put() -> None:
    found = await put_all(Workplace(), run=False, only="nap")
    assert told(found)["authority"] == "holds"
    assert told(found)["workspace"] == told(found)["spend-limit"] == "does not apply"


# What is asked.


@pytest.mark.parametrize("declared", [[], ["reads-files"], [*HARMLESS], list(AUTHORITY), ["spends-money"]])
def test_no_case_allows_more_than_it_is_about_and_none_sends_messages(declared: list[str]) -> None:
    one = offering(authority=declared, workspace=[])
    for case in cases(one, {}, run=True):
        if case.work is None:
            continue
        allowed = case.work.authority
        assert allowed is not None
        assert case.work.later
        assert case.work.spend_limit is None
        assert "sends-messages" not in allowed
        if case.name == "spend-limit":
            assert allowed == ("spends-money",)
        elif case.name == "authority":
            (value,) = allowed
            assert value not in declared
            assert value in (*HARMLESS, INVENTED)
        else:
            assert allowed == ()


def test_a_case_applies_where_its_member_is_declared() -> None:
    def held(**members: Any) -> list[str]:
        return [case.name for case in cases(offering(**members), {}, run=True) if case.work is not None]

    assert held() == ["inside-every-bound"]
    assert held(workspace=[]) == ["workspace", "inside-every-bound"]
    assert held(authority=[]) == ["authority", "inside-every-bound"]
    assert held(authority=["flies"]) == ["inside-every-bound"]
    assert held(authority=["spends-money"]) == ["authority", "spend-limit", "inside-every-bound"]


def test_a_kind_that_the_workspace_names_is_not_handed_over() -> None:
    one = offering(workspace=[{"kind": "conformance-kind-1", "access": "read", "for": "x"}])
    workspace = next(cases(one, {}, run=False))
    assert workspace.work is not None
    assert [resource.kind for resource in workspace.work.resources] == ["conformance-kind-2"]


INPUTS: list[tuple[list[dict[str, Any]], dict[str, JsonValue], set[str]]] = [
    ([{"name": "a", "kind": "text", "required": True}, {"name": "b", "kind": "text", "required": False}], {}, {"a"}),
    ([{"name": "a", "kind": "text", "one_of": "g"}, {"name": "b", "kind": "text", "one_of": "g"}], {}, {"a"}),
    ([{"name": "a", "kind": "text", "one_of": "g"}, {"name": "b", "kind": "text", "one_of": "g"}], {"b": "x"}, {"b"}),
    ([{"name": "a", "kind": "text", "required": True, "external": True}], {}, set()),
    ([{"name": "a", "kind": "text", "required": True}], {"a": "x"}, {"a"}),
    ([], {}, set()),
]


@pytest.mark.parametrize(("inputs", "given", "names"), INPUTS)
def test_an_input_is_made_for_each_that_has_to_arrive(
    inputs: list[dict[str, Any]], given: dict[str, JsonValue], names: set[str]
) -> None:
    made = samples(offering(inputs=inputs), given)
    assert set(made) == names
    assert given.items() <= made.items()


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("text", "A confor"),
        ("identifier", "A confor"),
        ("text/markdown", "A confor"),
        ("url", "https://example.com/"),
        ("document", "https://example.com/"),
        ("application/json", {}),
        ("application/vnd.agentmesh.run-context+json", {}),
        ("application/pdf", "QSBjb25mb3I"),
    ],
)
def test_an_input_is_made_by_its_kind_and_within_its_size(kind: str, value: JsonValue) -> None:
    one = offering(inputs=[{"name": "a", "kind": kind, "required": True, "max_bytes": 8}])
    assert samples(one, {}) == {"a": value}
