"""The boundary: what a request hands over, allows and sets, against what the offering declares.

Pure, by rule, and before anything that thinks sees the request. The invariant: what passes is an `Order`, and each of
its values is one that the Descriptor declares and the request allows. In this order; the first that does not hold is
the refusal:

    offering       declared; there is no default one
    input          all that is required, of its kind and size, and nothing else       (`boundary_inputs`)
    resources      every one of a kind that a workspace entry names, with an access no wider than that entry's
    authority      every value the request allows is one that the offering declares
    spend_limit    there where spending is allowed, and no higher than the offering's own ceiling
    run_config     settings that are declared, that a job may set, and values they take (`boundary_settings`)
    limits         as many requests of one caller in an hour as the Descriptor says    (`boundary_budget`)
    budget         a deadline to come, a cost ceiling to work with                     (`boundary_budget`)

A check applies to every offering that declares the member checked, whatever its scope. What an offering does not
declare it may not be handed and may not do: an offering without a workspace takes no resources. A standing system is
bound where the agent is installed and reached by its name, so a workspace entry that names one takes none either.

Source: binding 5; chapters 4.6 and 6.11 (at the boundary).
"""

from __future__ import annotations

from collections.abc import Mapping

from descriptor.errors import quoted
from descriptor.strictjson import JsonValue
from descriptor.view import Money, Offering, View
from descriptor.view.values import Workspace
from entryway.asked import Asked
from entryway.boundary_budget import bounds, count_request
from entryway.boundary_inputs import check_inputs, listed
from entryway.boundary_settings import resolve_settings
from entryway.errors import EntrywayError
from entryway.protections import HourlyCounts
from entryway.work import Order

SPENDS = "spends-money"
_WIDER = {"read": ("read",), "read-write": ("read", "read-write")}


def judge(
    agent: View,
    asked: Asked,
    *,
    caller: str,
    request_id: str,
    now: float,
    counts: HourlyCounts,
    seal_to: str | None = None,
) -> Order:
    """The order that a request comes to, inside everything the agent declares.

    `caller`: a verified agent id. `now`: seconds since 1970. `counts`: the requests of each caller so far; one that
    comes as far as its limit is counted in. `seal_to`: see `Order`.

    Raises EntrywayError, always decided by rule, with `offering` in its details: OFFERING_NOT_FOUND, INPUT_INVALID,
    SCOPE_REFUSED, RUN_CONFIG_REFUSED, RATE_LIMITED, BUDGET_INSUFFICIENT, DEADLINE_UNMEETABLE.
    """
    offering = agent.offering(asked.offering)
    if offering is None:
        raise _no_offering(agent, asked)
    check_inputs(offering, asked)
    _check_resources(offering, asked)
    _check_authority(offering, asked)
    authority = _narrowed(offering, asked)
    spends = SPENDS in (authority or ())
    if spends:
        _check_spending(offering, asked)
    settings = resolve_settings(agent.run_config, asked)
    count_request(agent.limits, asked, caller, now, counts)
    return Order(
        caller=caller,
        request_id=request_id,
        offering=asked.offering,
        input=asked.input,
        resources=asked.resources,
        authority=authority,
        settings=settings,
        bounds=bounds(offering, asked, now, spend=asked.spend_limit if spends else None),
        seal_to=seal_to,
    )


def _no_offering(agent: View, asked: Asked) -> EntrywayError:
    offered = [one.id for one in agent.offerings or () if one.id is not None]
    what = f"Ask for {listed(offered, 'or')}." if offered else "It offers nothing; read its Descriptor again later."
    return EntrywayError(
        "OFFERING_NOT_FOUND",
        f"This agent declares no offering {quoted(asked.offering)}, and there is no default one. {what}",
        {"offering": asked.offering, "allowed": offered},
    )


def _narrowed(offering: Offering, asked: Asked) -> tuple[str, ...] | None:
    if asked.authority is None:
        return offering.authority
    return tuple(value for value in offering.authority or () if value in asked.authority)


def _check_resources(offering: Offering, asked: Asked) -> None:
    entries = offering.workspace or ()
    for resource in asked.resources:
        if not any(
            entry.kind == resource.kind and resource.access in _WIDER.get(entry.access or "", ()) for entry in entries
        ):
            takes = [f"{entry.kind} ({entry.access})" for entry in entries if entry.kind is not None]
            raise _scope_refused(
                asked.offering,
                "workspace",
                f"The offering takes no resource of the kind {quoted(resource.kind)} with the access "
                f"{quoted(resource.access)}. "
                + (f"Hand over only {listed(takes, 'and')}." if takes else "It takes none; leave `resources` out."),
                [_declared(entry) for entry in entries],
            )


def _declared(entry: Workspace) -> dict[str, JsonValue]:
    return {"kind": entry.kind, "access": entry.access} if entry.system is None else {"system": entry.system}


def _check_authority(offering: Offering, asked: Asked) -> None:
    declared = offering.authority or ()
    for value in asked.authority or ():
        if value not in declared:
            raise _scope_refused(
                asked.offering,
                "authority",
                f"The request allows {quoted(value)}, which the offering does not declare. "
                + (
                    f"Allow only {listed([*declared], 'and')}, or leave `authority` out to allow all of it."
                    if declared
                    else "It declares none; leave `authority` out."
                ),
                list(declared),
            )


def _check_spending(offering: Offering, asked: Asked) -> None:
    """A job that may spend carries a limit: the offering's own ceiling bounds it, and one without a ceiling may not."""
    ceiling = offering.ceilings.get("spend_per_job")
    most = ceiling.most if ceiling is not None else None
    limit = asked.spend_limit
    if not isinstance(most, Money):
        message = (
            "The offering declares no readable ceiling on spending, so no job of it may spend. State an `authority` "
            f"without {SPENDS}."
        )
    elif limit is None:
        message = (
            f"The request allows spending and states no spend_limit. State the most this job may commit, up to "
            f"{most.amount_micro} millionths of {most.currency}, or do not allow {SPENDS}."
        )
    elif limit.currency != most.currency:
        message = (
            f"The spend_limit is in {limit.currency} and the offering's ceiling in {most.currency}; currencies are not "
            f"converted. State it in {most.currency}."
        )
    elif limit.amount_micro > most.amount_micro:
        message = (
            f"The spend_limit is over what one job of the offering may spend. State {most.amount_micro} millionths of "
            f"{most.currency} at most."
        )
    else:
        return
    raise _scope_refused(asked.offering, "spend_limit", message)


def _scope_refused(offering: str, reason: str, message: str, allowed: list[JsonValue] | None = None) -> EntrywayError:
    told: Mapping[str, JsonValue] = {} if allowed is None else {"allowed": allowed}
    return EntrywayError("SCOPE_REFUSED", message, {"offering": offering, "reason": reason, **told})
