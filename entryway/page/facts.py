"""From an AgentDoc to what a page shows: plain words, in the order in which a stranger asks.

The invariant: a fact is a wording of one value of the document, or of its absence. Nothing is read from anywhere else,
and silence is worded as silence. Long lists are cut, and say so.

The document is one that `descriptor.projections.agentdoc` assembled, so what stands in it has its form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from descriptor.projections.agentdoc_looked import Members, moment_of, object_of, objects_in
from descriptor.strictjson import JsonValue
from entryway.page import measures, words
from entryway.page.text import link

MOST_ENTRIES = 50
"""Of a list a page shows so many entries; the Descriptor itself has them all."""


@dataclass(frozen=True)
class Fact:
    """A label and what is said under it. `value` is `None` where it is not stated; `link`: where it leads, if anywhere.

    `note`: what stands beside it, of our own words.
    """

    label: str
    value: str | None
    note: str = ""
    link: str | None = None


@dataclass(frozen=True)
class Held:
    """A bound, and who holds the agent to it; `None` where that is not stated."""

    label: str
    most: str
    by: str | None


@dataclass(frozen=True)
class Listed:
    """The entries of a list, and how many more there are. `entries` is `None` where the list is not stated."""

    entries: Sequence[Mapping[str, object]] | None
    more: int = 0


class Document:
    """An AgentDoc, asked by section."""

    def __init__(self, members: Members) -> None:
        self.members = members
        self._sections = object_of(members.get("sections"))
        self.not_stated = [path for path in list_of(members.get("not_stated")) if isinstance(path, str)]
        self.unreadable = {one.get("pointer") for _, one in objects_in(members.get("unreadable"))}

    def get(self, section: str, *steps: str) -> JsonValue:
        """A value of a section; `None` where it is not stated."""
        value: JsonValue = dict(object_of(self._sections.get(section)))
        for step in steps:
            value = object_of(value).get(step)
        return value

    def text(self, section: str, *steps: str) -> str | None:
        """A text of a section."""
        return text_of(self.get(section, *steps))

    def offerings(self) -> list[dict[str, Members]]:
        """Each offering, as what each section has of it."""
        sold = list_of(self.get("sells", "offerings"))
        found: list[dict[str, Members]] = []
        for place in range(len(sold)):
            parts = {}
            for section in ("asked", "role", "sells", "refuses", "reaches", "leaves"):
                listed = list_of(self.get(section, "offerings"))
                parts[section] = object_of(listed[place]) if place < len(listed) else {}
            found.append(parts)
        return found


def text_of(value: JsonValue) -> str | None:
    """A text, or nothing."""
    return value if isinstance(value, str) else None


def held_by(value: JsonValue) -> str | None:
    """Who holds the agent to something."""
    return words.DECIDED_BY[value] if isinstance(value, str) else None


def few(values: Sequence[JsonValue]) -> str:
    """A list in a line: what stands in it, or that nothing does."""
    said = ", ".join(str(one) for one in values[:MOST_ENTRIES])
    more = len(values) - MOST_ENTRIES
    return f"{said}, and {more:,} more" if more > 0 else said or "none"


def listed(value: JsonValue, read: Callable[[Members], Mapping[str, object]]) -> Listed:
    """The first entries of a list, each as it is shown."""
    if not isinstance(value, list):
        return Listed(None)
    entries = [one for one in value if isinstance(one, dict)]
    return Listed([read(one) for one in entries[:MOST_ENTRIES]], max(0, len(entries) - MOST_ENTRIES))


def readable(value: JsonValue) -> JsonValue:
    """A list without the entries that could not be read, which keep their place as `{}`."""
    return [one for one in value if one != {}] if isinstance(value, list) else value


def when(value: JsonValue) -> str | None:
    """A time in words; `None` for what is none."""
    return measures.moment(str(value)) if moment_of(value) is not None else None


def listing(value: JsonValue) -> str | None:
    return few(value) if isinstance(value, list) else None


def reference(label: str, value: JsonValue) -> Fact:
    """A pointer to another document."""
    if isinstance(value, dict):
        location = text_of(value.get("location"))
        digest = f"The document with the digest {value.get('digest')}"
        return Fact(label, digest) if location is None else Fact(label, location, digest, link(location))
    text = text_of(value)
    return Fact(label, text, link=None if text is None else link(text))


def list_of(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
