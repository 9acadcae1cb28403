"""Whether a place that was written to is inside a boundary that an `.agent` file declares.

The invariant: a place is inside only if the boundary says so for all of it. Nothing widens a boundary: not a comma in
a name, not `..` in a path, not a folder whose name begins with another's.

    boundary                     holds
    Sheet "Summary": B2:H40      cells and ranges of that sheet within the range
    Sheet "Summary"              everything of that sheet
    folder: /Drafts, /Drafts     that folder and what is below it
    anything else                the same text

What stands before the colon is compared as in 14.7; of what follows, ranges without case, and all else as written.

Source: `.agent` format 14.1, `boundaries`; 19, item 4.
"""

from __future__ import annotations

import re

from agentfile.structures import folded, split_qualifier

_RANGE = re.compile(r"\$?([A-Za-z]{1,3})\$?([1-9][0-9]{0,6})(?::\$?([A-Za-z]{1,3})\$?([1-9][0-9]{0,6}))?")


def inside(place: str, boundary: str) -> bool:
    """Whether `place`, written as boundaries are, is wholly inside `boundary`. Raises nothing.

    >>> inside('Sheet "Summary": C3:D4', 'sheet "summary": B2:H40'), inside("folder: /Drafts2/a", "folder: /Drafts")
    (True, False)
    """
    (place_kind, place_rest), (kind, rest) = _split(place), _split(boundary)
    if kind is None:
        return _inside_named(place_kind, place_rest, rest)
    if place_kind is None or folded(place_kind) != folded(kind):
        return False
    inner, outer = _corners(place_rest), _corners(rest)
    if inner and outer:
        return outer[0] <= inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2] and inner[3] <= outer[3]
    if rest.startswith("/"):
        return _below(place_rest, rest)
    return place_rest == rest


def _split(text: str) -> tuple[str | None, str]:
    """As `split_qualifier` does; a name with nothing after its colon is a name without one."""
    kind, rest = split_qualifier(text)
    return (kind, rest) if rest else (None, kind or "")


def _inside_named(place_kind: str | None, place_rest: str, name: str) -> bool:
    """A boundary without a colon is a path, or the name of something with everything in it."""
    if name.startswith("/"):
        return place_kind is None and _below(place_rest, name)
    return bool(name) and folded(name) == folded(place_rest if place_kind is None else place_kind)


def _corners(text: str) -> tuple[int, int, int, int] | None:
    """Left, top, right and bottom of a range, the sides in order; columns and rows from 1."""
    match = _RANGE.fullmatch(text)
    if match is None:
        return None
    columns = sorted((_column(match[1]), _column(match[3] or match[1])))
    rows = sorted((int(match[2]), int(match[4] or match[2])))
    return columns[0], rows[0], columns[1], rows[1]


def _column(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def _below(path: str, folder: str) -> bool:
    steps, above = _steps(path), _steps(folder)
    plain = path.startswith("/") and "\\" not in path and ".." not in (*steps, *above)
    return plain and steps[: len(above)] == above


def _steps(path: str) -> list[str]:
    return [step for step in path.split("/") if step not in ("", ".")]
