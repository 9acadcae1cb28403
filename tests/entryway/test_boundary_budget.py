"""How often a caller may ask, and what one job may use up: the tighter wins, and money is never converted."""

from __future__ import annotations

from typing import Any

import pytest

from descriptor.view import Money, View, view
from entryway import protections
from entryway.asked import Asked, Budget
from entryway.errors import EntrywayError
from entryway.protections import HOUR, HourlyCounts
from entryway.work import Bounds
from tests.descriptor.rules.cases import OFFERING, draft
from tests.entryway.judged import judged, ordered, refused
from tests.entryway.parts import NOW

PRICE = {"amount_micro": 20_000_000, "currency": "USD"}
USD = Money(20_000_000, "USD")
CEILINGS: dict[str, Any] = {
    "job_seconds": {"most": 3600, "decided_by": "rule"},
    "cost_per_job": {"most": PRICE, "decided_by": "model"},
    "messages_per_job": {"most": 2},
}
READ = Asked("read")


def agent(ceilings: dict[str, Any] | None = None, **members: Any) -> View:
    return view(draft(offerings=[{**OFFERING, "inputs": [], "ceilings": ceilings or {}}], **members))


def with_budget(deadline: float | None = None, cost: Money | None = None) -> Asked:
    return Asked("read", budget=Budget(deadline, cost, 1))


# Limits for each caller.


def limited(limit: Any, **more: Any) -> View:
    return agent(limits={"requests_per_hour": limit, **more})


@pytest.mark.parametrize("limit", [2, 2.9, {"most": 2, "decided_by": "rule"}, {"most": 2}])
def test_a_caller_asks_as_often_as_the_descriptor_says(limit: Any) -> None:
    counts = HourlyCounts()
    bound = limited(limit, past_them="Refused, or ask the operator.")
    for _ in range(2):
        ordered(bound, READ, counts=counts)
    error = judged(bound, READ, counts=counts, now=NOW + 10)
    assert isinstance(error, EntrywayError)
    assert (error.code, error.headers) == ("RATE_LIMITED", (("Retry-After", "3590"),))
    assert error.details == {"offering": "read", "most": 2, "past_them": "Refused, or ask the operator."}
    assert error.message.endswith("Past them: Refused, or ask the operator.")
    ordered(bound, READ, counts=counts, now=NOW + HOUR)


def test_callers_are_counted_apart() -> None:
    counts = HourlyCounts()
    for caller in ("A", "B"):
        ordered(limited(1), READ, counts=counts, caller=caller)
        refused(limited(1), READ, "RATE_LIMITED", counts=counts, caller=caller)


def test_a_limit_of_none_an_hour_takes_nobody_and_says_nothing_that_is_not_stated() -> None:
    assert refused(limited(0), READ, "RATE_LIMITED") == {"offering": "read", "most": 0}


@pytest.mark.parametrize(
    "limits", [None, {}, {"requests_per_hour": {"most": 0, "decided_by": "model"}}, {"past_them": "x"}]
)
def test_what_is_not_stated_or_left_to_a_model_is_not_counted_here(limits: Any) -> None:
    counts = HourlyCounts()
    for _ in range(200):
        ordered(agent(**({} if limits is None else {"limits": limits})), READ, counts=counts)


def test_the_memory_of_callers_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protections, "SENDERS", 3)
    counts = HourlyCounts()
    for number in range(10):
        ordered(limited(1), READ, counts=counts, caller=str(number), now=NOW + number)
    refused(limited(1), READ, "RATE_LIMITED", counts=counts, caller="9", now=NOW + 10)
    ordered(limited(1), READ, counts=counts, caller="0", now=NOW + 10)


# One job.


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        (READ, 3600),
        (with_budget(NOW + 3600), 3600),
        (with_budget(NOW + 3600.5), 3600),
        (with_budget(NOW + 3599.5), 3599.5),
        (with_budget(NOW + 0.25), 0.25),
    ],
)
def test_the_earlier_end_of_a_job_holds(asked: Asked, seconds: float) -> None:
    assert ordered(agent(CEILINGS), asked).bounds.seconds == seconds


@pytest.mark.parametrize("deadline", [NOW, NOW - 0.001, 0.0, -1e9])
@pytest.mark.parametrize("ceilings", [None, CEILINGS])
def test_a_deadline_that_is_over_cannot_be_met(deadline: float, ceilings: Any) -> None:
    estimate = {} if ceilings is None else {"cost": PRICE, "seconds": 3600}
    assert refused(agent(ceilings), with_budget(deadline), "DEADLINE_UNMEETABLE") == {
        "offering": "read",
        "estimate": estimate,
    }


@pytest.mark.parametrize(
    ("ceiling", "holds"),
    [(None, USD), (USD, USD), (Money(20_000_001, "USD"), USD), (Money(19_999_999, "USD"), Money(19_999_999, "USD"))],
)
def test_the_lower_cost_holds(ceiling: Money | None, holds: Money) -> None:
    assert ordered(agent(CEILINGS), with_budget(cost=ceiling)).bounds.cost == holds


@pytest.mark.parametrize("ceiling", [Money(20_000_000, "EUR"), Money(10**15, "EUR"), Money(0, "USD"), Money(0, "EUR")])
def test_a_ceiling_in_another_currency_or_of_nothing_is_insufficient(ceiling: Money) -> None:
    assert refused(agent(CEILINGS), with_budget(cost=ceiling), "BUDGET_INSUFFICIENT") == {
        "offering": "read",
        "estimate": {"cost": PRICE, "seconds": 3600},
    }


def test_work_that_costs_nothing_fits_into_a_budget_of_nothing() -> None:
    free = agent({"cost_per_job": {"most": {"amount_micro": 0, "currency": "USD"}, "decided_by": "rule"}})
    assert ordered(free, with_budget(cost=Money(0, "USD"))).bounds.cost == Money(0, "USD")


def test_what_only_the_request_states_holds() -> None:
    bounds = ordered(agent(), with_budget(NOW + 5, Money(3, "JPY"))).bounds
    assert bounds == Bounds(seconds=5.0, cost=Money(3, "JPY"), deadline=NOW + 5)


def test_what_nobody_states_is_not_bounded() -> None:
    assert ordered(agent(), READ).bounds == Bounds()


def test_bounds_say_which_of_them_are_applied_by_rule() -> None:
    assert ordered(agent(CEILINGS), READ).bounds == Bounds(3600, USD, None, 2, frozenset({"job_seconds"}))
