"""What became of each part of an `.agent` file in a draft, told so that somebody who never saw the format follows.

The invariant: no member of a file goes untold. A part that the drafting says nothing of is told as left out, with the
reason why a Descriptor has no place for it, and a member that the format does not name is told as such.

Source: `.agent` format 6, 8, 11, 13 and 20.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from descriptor.errors import quoted
from descriptor.leaks import leaks
from descriptor.pointers import pointer_to
from descriptor.strictjson import JsonValue


class Became(StrEnum):
    """What became of a part of the file."""

    CARRIED = "carried"
    COARSENED = "coarsened"
    LEFT = "left"


@dataclass(frozen=True)
class Line:
    """One line of the report. `pointer`: JSON Pointer in the `.agent` file. `message`: for people, one sentence."""

    became: Became
    pointer: str
    message: str


class Notes:
    """A report as it is written."""

    def __init__(self) -> None:
        self.lines: list[Line] = []

    def carried(self, pointer: str, message: str) -> None:
        self.lines.append(Line(Became.CARRIED, pointer, message))

    def coarsened(self, pointer: str, message: str) -> None:
        self.lines.append(Line(Became.COARSENED, pointer, message))

    def left(self, pointer: str, message: str) -> None:
        self.lines.append(Line(Became.LEFT, pointer, message))

    def text(self, text: str | None, pointer: str, what: str) -> str | None:
        """`text` on one line, to stand in a draft; `None`, and told, when it gives something away.

        `what`: how the text is called in the report, to begin a sentence.
        """
        said = " ".join((text or "").split())
        leak = next(leaks(said), None) if said else None
        if leak is not None:
            self.left(pointer, f"{what} holds {leak.what}, which no Descriptor may; say it without.")
        return said if said and leak is None else None


def slug(text: str) -> str:
    """Small ASCII letters and digits with `-` between, 60 characters at most; `run` where that leaves nothing."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return "-".join(re.findall(r"[a-z0-9]+", plain))[:60].strip("-") or "run"


_HOW = "says how the agent works, and stays with whatever runs it; a Descriptor says what it does."
_COST = "is for whatever runs the agent to keep; what you hold a job to, state as a ceiling of the offering."
_FORM = "is shown in a form to its user; a Descriptor has no forms."
_SCHEMA = "stays out: a Descriptor says of which kind a thing is, and not its schema."
# Why a Descriptor has no place for a member, to follow its name.
_WHY: Mapping[str, str] = {
    "/id": "names the agent where the file comes from; here it is named by its key.",
    "/name": "gives something away that a Descriptor may not hold.",
    "/emoji": "stays out: a Descriptor has no pictures.",
    "/exportedAt": "tells when the file was written; the node dates what it publishes by itself.",
    "/metadata": "tells of the file and where it comes from, and not of what the agent does.",
    "/parameters": "is empty: nothing has to be set.",
    "/triggers": "is empty: nothing starts the agent by itself.",
    "/sources": "is empty: the agent works from no source.",
    "/brain": "is empty.",
    "/memory": "is empty.",
    "/blueprint/tools": "is empty: the agent has no tools.",
    "/blueprint/caveats": "is empty: what was asked for is done.",
    "/blueprint/maxTokens": _COST,
    "/blueprint/extendedThinkingBudget": _COST,
    "/blueprint/thinkingPatterns": _HOW,
    "/blueprint/architecture": _HOW,
    "/blueprint/skills": _HOW,
    "/blueprint/guardrails": "is empty: nothing is guarded.",
    "/inputs/placeholder": _FORM,
    "/inputs/schema": _SCHEMA,
    "/outputs/schema": _SCHEMA,
    "/outputs/description": "stays out: if it says more than the description of the offering, say it there.",
    "/connectivity": "is empty.",
    "/connectivity/identities": "says over which channel its owner is reached: that is the runtime's to know.",
    "/connectivity/reads": "is empty.",
    "/connectivity/delivers": "says how its owner has the result; who asks the agent here has it as the answer.",
}
# The objects of which every member is told by itself.
_OPENED = ("blueprint", "inputs", "outputs", "connectivity")


def untold(members: Mapping[str, JsonValue], lines: Iterable[Line]) -> Iterator[Line]:
    """A line for every member that none of `lines` is about, in the order of the file. `members`: of the file."""
    told = {line.pointer for line in lines}
    told |= {pointer[:end] for pointer in told for end, char in enumerate(pointer) if char == "/" and end}
    for name, value in members.items():
        if name == "$schema":
            continue
        pointer = pointer_to(name)
        if isinstance(value, dict) and name in _OPENED and value:
            for inner in value:
                place = pointer_to(name, inner)
                if place not in told:
                    yield _left_out(place, inner)
        elif pointer not in told:
            yield _left_out(pointer, name)


def _left_out(pointer: str, name: str) -> Line:
    why = _WHY.get(pointer, "is no member that the format names; nothing is made of it.")
    return Line(Became.LEFT, pointer, f"{quoted(name)} {why}")
