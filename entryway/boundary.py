"""The boundary of one offering: what a request hands over and allows, against what the offering declares.

Pure, by rule, and before anything that thinks sees the request. In this order:

    resources      every one of a kind that a workspace entry names, with an access no wider than that entry's
    authority      every value the request allows is one that the offering declares
    spend_limit    there where spending is allowed, and no higher than the offering's own ceiling

A check applies to every offering that declares the member checked, whatever its scope. What an offering does not
declare it may not be handed and may not do: an offering without a workspace takes no resources.

Source: chapter 6.11 (at the boundary).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from descriptor.strictjson import JsonValue
from descriptor.view import Money, Offering, View

_WIDER = {"read": ("read",), "read-write": ("read", "read-write")}


@dataclass(frozen=True)
class Resource:
    """A resource that a request hands over: its `kind`, and `access`, `read` or `read-write`."""

    kind: str
    access: str


@dataclass(frozen=True)
class Asked:
    """What a request says of itself, as far as the boundary judges it.

    `authority` is `None` when the request does not narrow it: then it allows the offering's whole list.
    """

    offering: str
    resources: Sequence[Resource] = ()
    authority: Sequence[str] | None = None
    spend_limit: Money | None = None


@dataclass(frozen=True)
class Admitted:
    """The request is inside every bound. `authority` is what the job runs under; `None` when none is declared."""

    offering: Offering
    authority: tuple[str, ...] | None
    spend_limit: Money | None


@dataclass(frozen=True)
class Refused:
    """The request is not. `code`: `OFFERING_NOT_FOUND` or `SCOPE_REFUSED`, always decided by rule.

    `reason`: `workspace`, `authority` or `spend_limit`, of `SCOPE_REFUSED` only. `allowed`: what the offering declares,
    where the reason has a list.
    """

    code: str
    message: str
    offering: str
    reason: str | None = None
    allowed: tuple[JsonValue, ...] | None = None
    decided_by: str = field(default="rule", init=False)

    def details(self) -> Mapping[str, JsonValue]:
        """The members of the refusal beside code and message, as they travel."""
        told: dict[str, JsonValue] = {"decided_by": self.decided_by, "offering": self.offering}
        if self.reason is not None:
            told["reason"] = self.reason
        if self.allowed is not None:
            told["allowed"] = list(self.allowed)
        return told


def judge(agent: View, asked: Asked) -> Admitted | Refused:
    """Whether a request is inside what the agent declares. Raises nothing. Source: chapters 4.6 and 6.11."""
    offering = agent.offering(asked.offering)
    if offering is None:
        return Refused(
            "OFFERING_NOT_FOUND",
            "This agent declares no such offering, and there is no default one. Its Descriptor lists what it offers.",
            asked.offering,
        )
    return (
        _resources(offering, asked)
        or _authority(offering, asked)
        or _spending(offering, asked)
        or Admitted(offering, _narrowed(offering, asked), asked.spend_limit)
    )


def _narrowed(offering: Offering, asked: Asked) -> tuple[str, ...] | None:
    if asked.authority is None or offering.authority is None:
        return offering.authority
    return tuple(value for value in offering.authority if value in asked.authority)


def _resources(offering: Offering, asked: Asked) -> Refused | None:
    entries = [entry for entry in offering.workspace or () if entry.kind is not None and entry.access is not None]
    for resource in asked.resources:
        fits = any(
            entry.kind == resource.kind and resource.access in _WIDER.get(entry.access or "", ()) for entry in entries
        )
        if not fits:
            listed: tuple[JsonValue, ...] = tuple({"kind": entry.kind, "access": entry.access} for entry in entries)
            return Refused(
                "SCOPE_REFUSED",
                f"The offering takes no resource of the kind {resource.kind!r} with the access {resource.access!r}. "
                + ("It takes those that are listed here." if listed else "It takes none at all."),
                asked.offering,
                "workspace",
                listed,
            )
    return None


def _authority(offering: Offering, asked: Asked) -> Refused | None:
    declared = offering.authority or ()
    beyond = [value for value in asked.authority or () if value not in declared]
    if not beyond:
        return None
    return Refused(
        "SCOPE_REFUSED",
        f"The request allows {beyond[0]!r}, which the offering does not declare. Allow only what is listed here.",
        asked.offering,
        "authority",
        declared,
    )


def _spending(offering: Offering, asked: Asked) -> Refused | None:
    """A job that may spend carries a limit: the offering's own ceiling bounds it, and one without a ceiling may not."""
    if "spends-money" not in (_narrowed(offering, asked) or ()):
        return None
    ceiling = offering.ceilings.get("spend_per_job")
    most = ceiling.most if ceiling is not None else None
    limit = asked.spend_limit
    if limit is None:
        message = "The request allows spending and states no spend_limit. State the most the job may commit."
    elif not isinstance(most, Money):
        message = "The offering declares no readable ceiling on spending, so no job of it may spend."
    elif limit.currency != most.currency:
        message = (
            f"The spend_limit is in {limit.currency}, and the offering's ceiling in {most.currency}. State it in that."
        )
    elif limit.amount_micro > most.amount_micro:
        message = f"The spend_limit is over what one job of the offering may spend, {most.amount_micro} micro-units."
    else:
        return None
    return Refused("SCOPE_REFUSED", message, asked.offering, "spend_limit")
