"""How an `.agent` file wants to be started, and what of it this node does: it answers requests, and nothing else.

The invariant: no trigger is dropped in silence. Each has one line that says what will not happen, a type that
nobody here knows included; a file is never refused for it.

Source: `.agent` format 12; 19, item 5; 20.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from descriptor.errors import quoted
from descriptor.pointers import pointer_to
from descriptor.strictjson import JsonValue


class Support(StrEnum):
    """What this node does about a trigger. `answered`: a person's request starts the agent, as declared."""

    ANSWERED = "answered"
    NOT_HONORED = "not-honored"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class TriggerType:
    """One row of the table. `unattended`: whether the agent may run with nobody present. `effect`: for people.

    `shown`: the member that tells the trigger from others of its type, `None` when its type has none.
    """

    support: Support
    unattended: bool
    shown: str | None
    effect: str


TRIGGER_TYPES: Mapping[str, TriggerType] = {
    "manual": TriggerType(
        Support.ANSWERED,
        False,
        None,
        "A person starts it by sending this node a request; nothing else is needed.",
    ),
    "schedule": TriggerType(
        Support.NOT_HONORED,
        True,
        "cron",
        "This node keeps no schedule, so it will not run by itself. Have a scheduler of your own send the request.",
    ),
    "webhook": TriggerType(
        Support.NOT_HONORED,
        True,
        "path",
        "This node opens no such path, so a call to it will start nothing. Send the request to the entryway instead.",
    ),
    "api": TriggerType(
        Support.NOT_HONORED,
        True,
        "endpoint",
        "This node opens no endpoint of the file's choosing. Send the request to the entryway instead.",
    ),
}
_UNKNOWN = TriggerType(
    Support.UNKNOWN,
    True,
    None,
    "This node does not know this type of trigger, so it will start nothing. A newer version may know it.",
)


@dataclass(frozen=True)
class TriggerReport:
    """What becomes of one entry of `triggers`. `pointer`: JSON Pointer of it in the file. `message`: for people."""

    pointer: str
    type: str
    support: Support
    unattended: bool
    message: str


def trigger_reports(triggers: Iterable[Mapping[str, JsonValue]]) -> tuple[TriggerReport, ...]:
    """One report for each entry of a `triggers` member that the parser has accepted, in their order. Raises nothing.

    A type that is not known is taken to run unattended, which is the case to be careful with.

    >>> trigger_reports([{"type": "schedule", "cron": "0 7 * * *"}])[0].message
    "Trigger 'schedule' ('0 7 * * *') is not honored. This node keeps no schedule, so it will not run by itself. Have \
a scheduler of your own send the request."
    """
    return tuple(_report(place, trigger) for place, trigger in enumerate(triggers))


def _report(place: int, trigger: Mapping[str, JsonValue]) -> TriggerReport:
    name = str(trigger.get("type"))
    known = TRIGGER_TYPES.get(name, _UNKNOWN)
    told = None if known.shown is None else trigger.get(known.shown)
    which = f"Trigger {quoted(name)}" + (f" ({quoted(told)})" if isinstance(told, str) else "")
    verb = "is answered" if known.support is Support.ANSWERED else "is not honored"
    return TriggerReport(
        pointer_to("triggers", place), name, known.support, known.unattended, f"{which} {verb}. {known.effect}"
    )
