"""What is asked of an agent, as it travels: the payload that `entryway.asked.read_asked` reads back.

Pure. The invariant: what a caller does not state does not travel, and what does is read as it was meant; a property
test holds writer and reader to each other.

Source: binding 5; chapter 6.11 (at the boundary).
"""

from __future__ import annotations

from typing import TypeAlias

from descriptor.strictjson import JsonValue
from descriptor.timestamps import format_timestamp
from descriptor.view import Money
from entryway.asked import Asked, Budget
from entryway.work import Resource

__all__ = ["Budget", "Resource", "Work", "work_payload"]

Work: TypeAlias = Asked
"""One piece of work: what an agent reads of a request is what its caller says in it."""


def work_payload(work: Work, given: JsonValue) -> dict[str, JsonValue]:
    """The payload of a request for `work`. `given`: its input, sealed or not."""
    members: dict[str, JsonValue] = {"offering": work.offering, "input": given}
    if work.resources:
        members["resources"] = [_resource(one) for one in work.resources]
    if work.authority is not None:
        members["authority"] = list(work.authority)
    if work.spend_limit is not None:
        members["spend_limit"] = _money(work.spend_limit)
    if budget := _budget(work.budget):
        members["budget"] = budget
    if work.settings:
        members["run_config"] = {"settings": dict(work.settings)}
    if work.later:
        members["async"] = True
    return members


def _resource(one: Resource) -> dict[str, JsonValue]:
    members: dict[str, JsonValue] = {"kind": one.kind, "access": one.access}
    return members if one.locator is None else {**members, "locator": one.locator}


def _budget(budget: Budget) -> dict[str, JsonValue]:
    members: dict[str, JsonValue] = {}
    if budget.revision is not None:
        members["revision"] = budget.revision
    if budget.deadline is not None:
        members["deadline"] = format_timestamp(budget.deadline)
    if budget.cost_ceiling is not None:
        members["cost_ceiling"] = _money(budget.cost_ceiling)
    return members


def _money(money: Money) -> dict[str, JsonValue]:
    return {"amount_micro": money.amount_micro, "currency": money.currency}
