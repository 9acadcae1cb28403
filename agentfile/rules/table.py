"""What a rule of the `.agent` format is: one sentence of it, and the function that finds what breaks it.

The invariant: a rule never raises, whatever JSON object it is given, and is silent about what is another rule's
business: one mistake is one finding. Unknown members break nothing, but for section 14, whose objects are closed.

A rule that section 18 numbers is named after its number, `R7`. One that it does not, or that is one of the many which
its rules 21 and 22 gather, is named after its section, `S14.6.3`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from agentfile.columns import Places
from agentfile.lookalikes import skeletons
from agentfile.model import AgentFile
from agentfile.shapes import plan, unnamed
from descriptor.rules.table import Problem, Severity
from descriptor.strictjson import JsonValue

__all__ = ["Check", "Document", "Problem", "Rule", "Severity"]

Path: TypeAlias = tuple[str | int, ...]

Stray: TypeAlias = tuple[type[Any], str, Path]  # a member's name, with its object's class and path

MOST_SOURCES = 30
_LONGEST_NAME = 40


class Document(dict[str, JsonValue]):
    """The members of a file, and what several rules ask of all of it, found once."""

    @cached_property
    def top(self) -> Places:
        """The file itself."""
        # Of a copy, so that nothing here leads back to the document, and it goes as soon as it has been read.
        return Places([dict(self)], lambda: [()])

    @cached_property
    def blueprint(self) -> Places:
        return self.top.one("blueprint")

    @cached_property
    def tools(self) -> Places:
        """The tools that are objects."""
        return self.blueprint.each("tools")

    @cached_property
    def nango_tools(self) -> Places:
        return self.tools.where("kind", "nango")

    @cached_property
    def parameters(self) -> Places:
        return self.top.each("parameters")

    @cached_property
    def triggers(self) -> Places:
        return self.top.each("triggers")

    @cached_property
    def checks(self) -> Places:
        return self.top.one("evaluation").each("checks")

    @cached_property
    def requirements(self) -> Places:
        """The sources, as many as there may be: of more the first are enough."""
        return self.top.each("sources").first(MOST_SOURCES)

    @cached_property
    def _strays(self) -> list[tuple[type[Any], Path, list[str]]]:
        return unnamed(AgentFile, self)

    @cached_property
    def looks(self) -> frozenset[str]:
        """The skeletons (`agentfile.lookalikes`) of all members that the format does not name, but for long ones: no
        name of the format, or of a binding, is."""
        names = (name for _, _, names in self._strays for name in names)
        return frozenset(look for look in skeletons(names) if len(look) <= _LONGEST_NAME)

    def unnamed(self) -> Iterator[Stray]:
        """Every member that the format does not name, where others may stand."""
        return ((model, name, path) for model, path, names in self._strays if not plan(model).closed for name in names)

    def undeclared(self) -> Iterator[Stray]:
        """Every member that the format does not name, where no others may stand."""
        return ((model, name, path) for model, path, names in self._strays if plan(model).closed for name in names)


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
