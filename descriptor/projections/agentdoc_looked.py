"""An AgentDoc as it is looked at: its members, whatever they are, and what is at hand to hold it against.

The invariant: nothing here fails on what a document holds; what does not have its form reads as nothing. Each thing
that is asked of it is worked out once, however often it is asked: a document may have very many places to ask it for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from descriptor.digests import digest_of
from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.projections.agentdoc_sections import Read, read
from descriptor.strictjson import JsonValue
from descriptor.timestamps import parse_timestamp

Members: TypeAlias = Mapping[str, JsonValue]
Found: TypeAlias = tuple[Iterable[tuple[str, str]], bool]
"""What a check finds: each place with what is wrong there, and whether the check could be made."""


@dataclass(frozen=True)
class Looked:
    """An AgentDoc, and what is at hand to hold it against: the bytes of sources, by their id."""

    members: Members
    bytes_of: Mapping[str, bytes]
    now: float

    @cached_property
    def sections(self) -> Mapping[str, Members]:
        """The sections that are objects, by name."""
        return {name: one for name, one in object_of(self.members.get("sections")).items() if isinstance(one, dict)}

    @cached_property
    def sources(self) -> Mapping[str, Members]:
        """The sources, by id."""
        return {str(one.get("id")): one for _, one in objects_in(self.members.get("sources"))}

    @cached_property
    def digests(self) -> Mapping[str, str]:
        """The digests of the bytes at hand, by the id of their source."""
        return {name: digest_of(data) for name, data in self.bytes_of.items()}

    @cached_property
    def reading(self) -> tuple[str, Read] | None:
        """The id of the Descriptor among the sources, and what it gives; `None` when it is not at hand, or is none."""
        found = [name for name, one in self.sources.items() if one.get("kind") == "agent-descriptor"]
        data = self.bytes_of.get(found[0]) if len(found) == 1 else None
        try:
            return None if data is None else (found[0], read(Descriptor.read(data)))
        except DescriptorError:
            return None


def objects_in(value: JsonValue) -> Iterator[tuple[int, Members]]:
    """The objects of a list, each with its place."""
    for place, one in enumerate(value if isinstance(value, list) else ()):
        if isinstance(one, dict):
            yield place, one


def object_of(value: JsonValue) -> Members:
    """An object's members."""
    return value if isinstance(value, dict) else {}


def moment_of(value: JsonValue) -> float | None:
    """An RFC 3339 time, in seconds since 1970."""
    try:
        return parse_timestamp(value) if isinstance(value, str) else None
    except DescriptorError:
        return None
