"""The boundary, limits and budget: how often a caller may ask, and what one job may use up.

Pure: the counts and the time are handed in. The tighter of two bounds wins, and money is compared in one currency only,
in whole micro-units; nothing is converted.

| of one job | the offering says  | the request says      | the bound is    | refused when                        |
|------------|--------------------|-----------------------|-----------------|-------------------------------------|
| seconds    | `job_seconds`      | `budget.deadline`     | the earlier end | the deadline is not in the future   |
| cost       | `cost_per_job`     | `budget.cost_ceiling` | the lower       | another currency, or a ceiling of 0 |
| spend      | `spend_per_job`    | `spend_limit`         | the limit       | by `entryway.boundary`              |
| messages   | `messages_per_job` |                       | the ceiling     |                                     |

What a job will take is not known before it is done. The `estimate` of a refusal is what the Descriptor says that one
job takes at the most.

Source: binding 5; chapters 6.2 (limits) and 6.11 (ceilings); 5.4 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

import math

from descriptor.strictjson import JsonValue
from descriptor.timestamps import format_timestamp
from descriptor.view import Limits, Money, Offering
from entryway.asked import Asked
from entryway.errors import EntrywayError
from entryway.protections import HourlyCounts
from entryway.work import Bounds


def count_request(limits: Limits | None, asked: Asked, caller: str, now: float, counts: HourlyCounts) -> None:
    """Counts one request of `caller` in, where the Descriptor bounds how many it takes of each in an hour.

    A bound that a model keeps to is the model's; one of which nothing says who holds it is held here. What the operator
    counts by other measures (`model_budget_per_day`) is counted where the work is done.

    Raises EntrywayError RATE_LIMITED, with `past_them` as the Descriptor has it, and the time to come back.
    """
    limit = None if limits is None else limits.requests_per_hour
    if limits is None or limit is None or limit.decided_by == "model":
        return
    most = math.floor(limit.most)
    wait = counts.take(caller, now, most)
    if not wait:
        return
    past_them = "" if limits.past_them is None else f" Past them: {limits.past_them}"
    told = {} if limits.past_them is None else {"past_them": limits.past_them}
    raise EntrywayError(
        "RATE_LIMITED",
        f"This agent takes {most} requests an hour from one caller, and you have made them. Come back in "
        f"{math.ceil(wait)} seconds.{past_them}",
        {"offering": asked.offering, "most": most, **told},
        headers=(("Retry-After", str(math.ceil(wait))),),
    )


def bounds(offering: Offering, asked: Asked, now: float, *, spend: Money | None) -> Bounds:
    """What the job may not go beyond. `spend`: what it may commit, where it may at all.

    Raises EntrywayError BUDGET_INSUFFICIENT, DEADLINE_UNMEETABLE, with the estimate.
    """
    cost = _cost(offering, asked)
    ceilings = offering.ceilings
    messages = ceilings["messages_per_job"].most if "messages_per_job" in ceilings else None
    return Bounds(
        seconds=_seconds(offering, asked, now),
        cost=cost,
        spend=spend,
        messages=messages if isinstance(messages, int) else None,
        by_rule=frozenset(name for name, ceiling in ceilings.items() if ceiling.enforced),
        deadline=asked.budget.deadline,
    )


def _cost(offering: Offering, asked: Asked) -> Money | None:
    own, given = _money(offering, "cost_per_job"), asked.budget.cost_ceiling
    if own is None or given is None:
        return own or given
    if given.currency != own.currency:
        raise _beyond(
            "BUDGET_INSUFFICIENT",
            f"The cost_ceiling is in {given.currency} and what a job costs in {own.currency}; currencies are not "
            f"converted. State it in {own.currency}: one job costs {own.amount_micro} millionths at most.",
            offering,
            asked,
        )
    if given.amount_micro == 0 < own.amount_micro:
        raise _beyond(
            "BUDGET_INSUFFICIENT",
            f"The cost_ceiling is 0, and one job of the offering costs up to {own.amount_micro} millionths of "
            f"{own.currency}. State what this one may cost.",
            offering,
            asked,
        )
    return min(own, given, key=lambda money: money.amount_micro)


def _seconds(offering: Offering, asked: Asked, now: float) -> float | None:
    ceiling, deadline = offering.ceilings.get("job_seconds"), asked.budget.deadline
    most = ceiling.most if ceiling is not None and isinstance(ceiling.most, int) else None
    if deadline is None:
        return most
    if deadline <= now:
        raise _beyond(
            "DEADLINE_UNMEETABLE",
            f"The deadline is over: it is {format_timestamp(now)} here. State a later one, or leave it out.",
            offering,
            asked,
        )
    return deadline - now if most is None else min(deadline - now, most)


def _money(offering: Offering, name: str) -> Money | None:
    ceiling = offering.ceilings.get(name)
    return ceiling.most if ceiling is not None and isinstance(ceiling.most, Money) else None


def _beyond(code: str, message: str, offering: Offering, asked: Asked) -> EntrywayError:
    return EntrywayError(code, message, {"offering": asked.offering, "estimate": _estimate(offering)})


def _estimate(offering: Offering) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    cost, ceiling = _money(offering, "cost_per_job"), offering.ceilings.get("job_seconds")
    if cost is not None:
        found["cost"] = {"amount_micro": cost.amount_micro, "currency": cost.currency}
    if ceiling is not None and isinstance(ceiling.most, int):
        found["seconds"] = ceiling.most
    return found
