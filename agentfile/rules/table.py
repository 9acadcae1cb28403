"""What a rule of the `.agent` format is: one sentence of it, and the function that finds what breaks it.

The invariant: a rule never raises, whatever JSON object it is given, and is silent about what is another rule's
business: one mistake is one finding. Unknown members break nothing, but for section 14, whose objects are closed.

A rule that section 18 numbers is named after its number, `R7`. One that it does not, or that is one of the many which
its rules 21 and 22 gather, is named after its section, `S14.6.3`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from agentfile.model import AgentFile
from agentfile.shapes import unnamed
from descriptor.rules.table import Problem, Severity
from descriptor.strictjson import JsonValue

__all__ = ["Check", "Document", "Problem", "Rule", "Severity"]

Path: TypeAlias = tuple[str | int, ...]


class Document(dict[str, JsonValue]):
    """The members of a file, and what several rules ask of all of it, found once."""

    @cached_property
    def requirements(self) -> list[tuple[Mapping[str, JsonValue], Path]]:
        """The sources that are objects, each with its path."""
        listed = self.get("sources")
        entries = enumerate(listed if isinstance(listed, list) else ())
        return [(entry, ("sources", index)) for index, entry in entries if isinstance(entry, dict)]

    @cached_property
    def unnamed(self) -> list[tuple[type[Any], str, Path]]:
        """Every member that the format does not name, with the class of its object and the object's path."""
        return unnamed(AgentFile, self)


@dataclass(frozen=True)
class Rule:
    """One rule. `number`: in section 18, `None` when not there. `sentence`: it in our words. `remedy`: what to do.

    `severity`: `ERROR` where the format says MUST or gives a member its form, `WARNING` where it says SHOULD, or where
    what is found may be meant.
    """

    id: str
    section: str
    number: int | None
    severity: Severity
    sentence: str
    remedy: str


@dataclass(frozen=True)
class Check(Rule):
    """A rule about the members. `find` is given them and yields a `Problem` for each place that breaks the rule."""

    find: Callable[[Document], Iterator[Problem]]
