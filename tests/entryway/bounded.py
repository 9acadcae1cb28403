"""What holds of every order, whatever was asked: it is inside what is declared, and inside what is allowed."""

from __future__ import annotations

from typing import Any

from descriptor.view import View
from entryway.asked import Asked
from entryway.work import Bounds, Order
from tests.entryway.parts import NOW


def assert_inside(agent: View, asked: Asked, order: Order) -> None:
    """Nothing in an order is beyond what the Descriptor declares, nor beyond what the request allows."""
    offering = agent.offering(order.offering)
    assert offering is not None
    assert set(order.authority or ()) <= set(offering.authority or ())
    assert asked.authority is None or set(order.authority or ()) <= set(asked.authority)
    assert set(order.input) <= {one.name for one in offering.inputs or ()}
    assert {one.name for one in offering.inputs or () if one.required and one.one_of is None} <= set(order.input)
    assert {resource.kind for resource in order.resources} <= {entry.kind for entry in offering.workspace or ()}
    declared = {} if agent.run_config is None else agent.run_config.settings
    assert set(order.settings) == set(declared)
    for name, value in order.settings.items():
        assert value == declared[name].default or (declared[name].job_may_set and value == asked.settings[name])
    assert_bounded(offering.ceilings, asked, order.bounds, spends="spends-money" in (order.authority or ()))


def assert_bounded(ceilings: Any, asked: Asked, bounds: Bounds, *, spends: bool) -> None:
    """Each bound is the tighter of the two that are stated."""
    most = {name: ceiling.most for name, ceiling in ceilings.items()}
    left = None if asked.budget.deadline is None else asked.budget.deadline - NOW
    assert bounds.seconds == min((one for one in (most.get("job_seconds"), left) if one is not None), default=None)
    assert bounds.seconds is None or bounds.seconds > 0
    assert bounds.deadline == asked.budget.deadline
    costs = [one for one in (most.get("cost_per_job"), asked.budget.cost_ceiling) if one is not None]
    assert bounds.cost == min(costs, key=lambda one: one.amount_micro, default=None)
    assert len({one.currency for one in costs}) <= 1
    assert bounds.messages == most.get("messages_per_job")
    assert bounds.spend == (asked.spend_limit if spends else None)
    if spends:
        assert bounds.spend is not None
        assert bounds.spend.currency == most["spend_per_job"].currency
        assert bounds.spend.amount_micro <= most["spend_per_job"].amount_micro
