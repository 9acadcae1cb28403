"""The payload of a request: which members it may have, and how one that cannot be read is refused.

The invariant: nothing that was said is passed over. A member that is unknown here, or is not what it should be,
refuses the whole request: it may be one that narrows what the caller allows, a misspelled `authority` or `spend_limit`,
and work done without it would go beyond what was said.

    asks for work            offering, input, resources, authority, spend_limit, budget, run_config, async
    asks how a job stands    task_id
    ends a job               task_id, cancel: true

The first kind is read by `entryway.asked`, and by a caller who is admitted alone.

Source: binding 5.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from descriptor.errors import quoted
from descriptor.pointers import pointer_to
from descriptor.rules import forms
from descriptor.rules.forms import Path
from descriptor.rules.table import Problem
from descriptor.strictjson import JsonValue
from entryway.errors import EntrywayError

MEND = "Mend it, and send it under a new id."


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question about a job that was begun, or the word that ends it."""

    task_id: str
    cancel: bool


def is_inquiry(payload: Mapping[str, JsonValue]) -> bool:
    """Whether a payload is about a job that was begun, and asks for no new one."""
    return "task_id" in payload


def read_inquiry(payload: Mapping[str, JsonValue]) -> Inquiry:
    """Raises EntrywayError INPUT_INVALID, with the place in the payload."""
    refuse_unknown(payload, ("task_id", "cancel"), ())
    refuse_first(forms.text(payload, "task_id", ()))
    cancel = payload.get("cancel")
    if "cancel" in payload and cancel is not True:
        raise unreadable("/cancel", "`cancel` is true, or is left out to ask how the job stands.")
    return Inquiry(str(payload["task_id"]), cancel is True)


def refuse_unknown(holder: Mapping[str, JsonValue], known: Collection[str], path: Path) -> None:
    """Refuses an object that has another member than those `known`. `path` leads to it. Raises EntrywayError."""
    for name in holder:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            meant = f"Did you mean `{near[0]}`?" if near else f"What can stand there: {', '.join(known)}."
            raise unreadable(
                pointer_to(*path), f"{quoted(name)} is not known here, and what is said is not passed over. {meant}"
            )


def refuse_first(problems: Iterator[Problem]) -> None:
    """Raises the first of these problems, if any, as an EntrywayError."""
    for pointer, message in problems:
        raise unreadable(pointer, message)


def unreadable(pointer: str, message: str) -> EntrywayError:
    """The refusal of a payload. `pointer`: a JSON Pointer into it; "" is the whole."""
    return EntrywayError("INPUT_INVALID", f"The request cannot be read. {message} {MEND}", {"pointer": pointer})
