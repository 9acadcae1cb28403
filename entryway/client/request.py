"""What is asked of an agent: one piece of work, as its caller states it and as it travels.

Pure. The invariant: what a caller does not state does not travel, and money is whole millionths of a unit from the
moment it is read. Whether what is asked is allowed is not judged here.

Source: binding 5; chapter 6.11 (at the boundary); 5.4 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from descriptor.strictjson import JsonValue
from descriptor.timestamps import format_timestamp
from descriptor.view import Money


@dataclass(frozen=True, slots=True)
class Resource:
    """A shared resource that is handed over for one job.

    `access`: `read` or `read-write`. `locator`: where it is, which only a request ever says.
    """

    kind: str
    access: str
    locator: str | None = field(default=None, repr=False)

    def member(self) -> dict[str, JsonValue]:
        """As it travels."""
        located: dict[str, JsonValue] = {} if self.locator is None else {"locator": self.locator}
        return {"kind": self.kind, "access": self.access, **located}


@dataclass(frozen=True, slots=True)
class Budget:
    """What one job may take. `deadline`: seconds since 1970. `revision`: which budget this is."""

    deadline: float | None = None
    cost_ceiling: Money | None = None
    revision: int | None = None

    def member(self) -> dict[str, JsonValue]:
        """As it travels."""
        members: dict[str, JsonValue] = {}
        if self.revision is not None:
            members["revision"] = self.revision
        if self.deadline is not None:
            members["deadline"] = format_timestamp(self.deadline)
        if self.cost_ceiling is not None:
            members["cost_ceiling"] = money_member(self.cost_ceiling)
        return members


@dataclass(frozen=True, slots=True)
class Work:
    """One piece of work.

    `offering`: the id of a declared one. `input`: values by the names of its inputs. `authority`: what the job may
    touch; `None` allows all that the offering declares, `()` nothing. `spend_limit`: the most that it may commit.
    `settings`: of its run configuration. `later`: whether it is accepted now and its end asked for later (`async`).
    """

    offering: str
    input: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)
    resources: tuple[Resource, ...] = ()
    authority: tuple[str, ...] | None = None
    spend_limit: Money | None = None
    budget: Budget = Budget()
    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    later: bool = False

    def payload(self, given: JsonValue) -> dict[str, JsonValue]:
        """The payload of the request. `given`: the input, sealed or not."""
        members: dict[str, JsonValue] = {"offering": self.offering, "input": given}
        if self.resources:
            members["resources"] = [one.member() for one in self.resources]
        if self.authority is not None:
            members["authority"] = list(self.authority)
        if self.spend_limit is not None:
            members["spend_limit"] = money_member(self.spend_limit)
        if budget := self.budget.member():
            members["budget"] = budget
        if self.settings:
            members["run_config"] = {"settings": dict(self.settings)}
        if self.later:
            members["async"] = True
        return members


def money_member(money: Money) -> dict[str, JsonValue]:
    """Money as it travels."""
    return {"amount_micro": money.amount_micro, "currency": money.currency}
