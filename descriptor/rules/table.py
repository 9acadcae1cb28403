"""What a rule of the checker is: one sentence of the chapter, and the function that finds what breaks it.

The invariant: a rule never raises, whatever JSON object it is given. A member of the wrong type is either what
the rule reports or none of its business, and the helpers below make the second easy to say.

A section's module ends in its table, `RULES`. To add a rule, write its function there and a row in the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from descriptor.errors import quoted
from descriptor.leaks import Family, leaks
from descriptor.pointers import pointer_to
from descriptor.strictjson import JsonValue

_SEARCHED = 400  # characters: more than a message shows, and than a credential is long

Document: TypeAlias = Mapping[str, JsonValue]
Problem: TypeAlias = tuple[str, str]
"""A JSON Pointer (where a member is missing: where it would stand), and what is wrong there, for people."""


class Severity(StrEnum):
    """`ERROR`: the document breaks a MUST. `WARNING`: a SHOULD. `NOTE`: worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Rule:
    """One rule. `id`: stable, `D` + section + name. `sentence`: the rule in our words. `remedy`: what to do.

    `find` is given the document's members and yields a `Problem` for each place that breaks the rule.
    """

    id: str
    section: str
    severity: Severity
    sentence: str
    remedy: str
    find: Callable[[Document], Iterator[Problem]]


def is_draft(document: Document) -> bool:
    """Whether the document is a draft: it has no `subject` member. Source: chapter 6.2."""
    return "subject" not in document


def objects(value: JsonValue) -> Iterator[tuple[int, dict[str, JsonValue]]]:
    """The objects in a list with their indexes; nothing when it is no list."""
    listed = value if isinstance(value, list) else ()
    return iter([(index, item) for index, item in enumerate(listed) if isinstance(item, dict)])


def offerings(document: Document) -> Iterator[tuple[int, dict[str, JsonValue]]]:
    """The offerings that are objects, each with its index in `offerings`."""
    return objects(document.get("offerings"))


def described(value: JsonValue) -> str:
    """A value in a message: short, whatever it is, and no secret: a message is printed, logged and kept."""
    match value:
        case str():
            # What is shown is its beginning, so no more than that is searched.
            secret = any(leak.family is not Family.ADDRESS for leak in leaks(value[:_SEARCHED]))
            return "a text that gives something away" if secret else quoted(value)
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case _:
            return "an object"


def text_problems(document: Document, name: str) -> Iterator[Problem]:
    """What keeps the member `name` from being a text that says something."""
    if name not in document:
        yield pointer_to(name), f"`{name}` is missing."
        return
    value = document[name]
    if not isinstance(value, str):
        yield pointer_to(name), f"`{name}` is {described(value)}; it has to be text."
    elif not value.strip():
        yield pointer_to(name), f"`{name}` is empty."
