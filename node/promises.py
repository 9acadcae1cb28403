"""What a Descriptor promises of the work that is done here, against what this node and its handlers apply.

| the Descriptor                              | held to by                                       | else    |
|---------------------------------------------|--------------------------------------------------|---------|
| an offering                                 | a handler                                        | warning |
| `job_seconds` by rule                       | the node; of a service, the service (`enforces`) | error   |
| another ceiling by rule                     | the program (`enforces`)                         | error   |
| `authority_decided_by`: rule                | the program (`enforces`)                         | error   |
| `limits.model_budget_per_day` by rule       | the programs (`enforces`)                        | error   |
| `data_use.retention`                        | `jobs_keep_days`, no longer than that            | error   |
| `data_use.memory`: starts-clean-each-job    | the node; of a service, the service (`enforces`) | warning |
| `revisions`                                 | nothing here                                     | warning |

An offering without a handler promises nothing that could be broken: it is answered as unavailable. Whether a program
does what its operator says that it enforces cannot be seen from here; it is his word, as the Descriptor is.

Pure. Source: chapters 6.2 (revisions), 6.9 and 6.11.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from descriptor.checker import Finding, Severity
from descriptor.errors import quoted
from descriptor.strictjson import JsonValue
from descriptor.view import Offering, View, view
from node.handlers.settings import AUTHORITY, CLEAN_START, MODEL_BUDGET, Handler, Handlers, Served

_TO_ENFORCE = "Have the program stop at the value it is given and state {name} in its enforces, or declare {instead}."


def unapplied(document: Mapping[str, JsonValue], served: Served) -> tuple[Finding, ...]:
    """What is promised and not applied. Raises nothing."""
    return tuple(_findings(view(document), served))


def _findings(agent: View, served: Served) -> Iterator[Finding]:
    declared = {one.id: one for one in agent.offerings or () if one.id is not None}
    working = {name: handler for name, handler in served.handlers.items() if name in declared}
    for name, offering in declared.items():
        if name in working:
            yield from _of_offering(offering, working[name])
        else:
            yield _warning(
                offering.pointer,
                "served-no-handler",
                "6.2",
                f"Nothing stands behind the offering {quoted(name)}: who asks for it is told that it is unavailable.",
                f"State what does it, in [handlers.{quoted(name)}] of node.toml, or take the offering out.",
            )
    for name in served.handlers:
        if name not in declared:
            yield _warning(
                "/offerings",
                "served-no-offering",
                "6.2",
                f"There is a handler for {quoted(name)}, which the Descriptor does not offer: nobody can ask for it.",
                "Declare the offering, or take the handler out of node.toml.",
            )
    yield from _of_agent(agent, working, served.keep_days)


def _of_offering(offering: Offering, handler: Handler) -> Iterator[Finding]:
    for name, ceiling in offering.ceilings.items():
        applied = name in handler.enforces or (name == "job_seconds" and handler.http is None)
        if ceiling.enforced and not applied:
            yield _error(
                f"{offering.pointer}/ceilings/{name}/decided_by",
                "served-ceiling",
                "6.11",
                f"The ceiling {name} of {quoted(offering.id or '')} is declared by rule, and nothing here stops a job "
                "at it.",
                _TO_ENFORCE.format(name=name, instead='"decided_by": "model"'),
            )
    if offering.authority_decided_by == "rule" and AUTHORITY not in handler.enforces:
        yield _error(
            f"{offering.pointer}/authority_decided_by",
            "served-authority",
            "6.11",
            f"The authority of {quoted(offering.id or '')} is declared by rule, and nothing here keeps its program "
            "from touching what the list leaves out.",
            f"Run the program where it cannot, and state {AUTHORITY} in its enforces, or take "
            "authority_decided_by out.",
        )
    if offering.revisions is not None:
        yield _warning(
            f"{offering.pointer}/revisions",
            "served-revisions",
            "6.2",
            "A change to delivered work is declared, and this node takes no request that names an earlier job.",
            "Take revisions out, or agree on them outside of this node.",
        )


def _of_agent(agent: View, working: Handlers, keep_days: float) -> Iterator[Finding]:
    if not working:
        return
    budget = None if agent.limits is None else agent.limits.model_budget_per_day
    unbound = [name for name, handler in working.items() if MODEL_BUDGET not in handler.enforces]
    if budget is not None and budget.enforced and unbound:
        yield _error(
            f"/limits/{MODEL_BUDGET}/decided_by",
            "served-budget",
            "6.2",
            f"A daily model budget is declared by rule, and nothing holds {', '.join(map(quoted, unbound))} to it.",
            _TO_ENFORCE.format(name=MODEL_BUDGET, instead='"decided_by": "model"'),
        )
    if agent.data_use is None:
        return
    if agent.data_use.max_days is not None and keep_days > agent.data_use.max_days:
        yield _error(
            "/data_use/retention/max_days",
            "served-retention",
            "6.9",
            f"A retention of {agent.data_use.max_days} days is declared, and what a job delivered is kept for "
            f"{keep_days:g} days here.",
            "Lower jobs_keep_days in node.toml, or declare as many days.",
        )
    lasting = [name for name, one in working.items() if one.http is not None and CLEAN_START not in one.enforces]
    if agent.data_use.memory == CLEAN_START and lasting:
        yield _warning(
            "/data_use/memory",
            "served-memory",
            "6.9",
            f"Every job is said to start clean, and {', '.join(map(quoted, lasting))} is done by a service that goes "
            "on from one job to the next.",
            f"See to it that it keeps nothing, and state {CLEAN_START} in its enforces, or declare that it remembers.",
        )


def _error(pointer: str, rule: str, section: str, message: str, remedy: str) -> Finding:
    return Finding(pointer, rule, section, Severity.ERROR, message, remedy)


def _warning(pointer: str, rule: str, section: str, message: str, remedy: str) -> Finding:
    return Finding(pointer, rule, section, Severity.WARNING, message, remedy)
