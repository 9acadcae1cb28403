"""Names that may be a member misspelled, in every object whose members the chapter names.

What is misspelled is not stated, and nothing else would say so: members that nobody knows are allowed everywhere. Left
out are the objects that hold keys and signatures, which are made by programs.

Source: chapters 6.2, 6.9 and 6.11.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import islice

from descriptor.pointers import pointer_to
from descriptor.rules.forms import Path
from descriptor.rules.section_6_2_members import LIMITS, REFS
from descriptor.rules.section_6_9_data_use import JURISDICTIONS
from descriptor.rules.section_6_9_offerings import NEEDS
from descriptor.rules.table import Document, Problem
from descriptor.strictjson import JsonValue
from descriptor.vocabulary import ABOUT_THE_DOCUMENT, CEILINGS, DECLARATIONS, OFFERING_MEMBERS

_EVERY = "*"  # of a list, each entry; of an object, each member
_LONGEST = 24  # characters of a name that may be a member misspelled
_LOOKED_AT = 1000  # names: to compare two takes a tenth of a millisecond, and a document may have a hundred thousand
_LIKE = 0.85  # of two names, from 0 to 1: one letter left out, doubled or exchanged in all but the shortest


@dataclass(frozen=True)
class _Part:
    """A kind of object in a Descriptor: the way to it, what it is called, and the members that it may have."""

    way: str
    whole: str
    members: Collection[str]


_PARTS = (
    _Part("", "a Descriptor", ABOUT_THE_DOCUMENT | DECLARATIONS),
    _Part("subject", "a subject", ("id", "handle")),
    _Part("offerings *", "an offering", OFFERING_MEMBERS),
    _Part(
        "offerings * inputs *",
        "an input",
        ("name", "kind", "required", "external", "via", "one_of", "max_bytes", "fields"),
    ),
    _Part("offerings * outputs *", "an output", ("name", "kind", "when", "working")),
    _Part("offerings * workspace *", "a workspace", ("kind", "access", "for", "system")),
    _Part("offerings * ceilings", "the ceilings", CEILINGS),
    _Part("offerings * ceilings *", "a ceiling", ("most", "decided_by")),
    _Part("offerings * needs *", "a need", (*NEEDS, "access", "protocol", "scope", "description")),
    _Part("offerings * delivers", "`delivers`", ("final", "interim", "in_resource")),
    _Part("offerings * reporting", "`reporting`", ("level", "every")),
    _Part("offerings * revisions", "`revisions`", ("included", "flat", "steps")),
    _Part("offerings * revisions included", "what is included", ("count", "window_days")),
    _Part("systems *", "a system", ("name", "role", "access", "needs")),
    _Part("limits", "the limits", (*LIMITS, "past_them", "max_inbound_chars")),
    *(_Part(f"limits {name}", "a limit", ("most", "decided_by")) for name in LIMITS),
    _Part("run_config", "`run_config`", ("settings", "tested_models", "named", "replay")),
    _Part("run_config settings *", "a setting", ("name", "kind", "default", "allowed", "job_may_set")),
    _Part("run_config named *", "a named configuration", ("name", "settings", "digest")),
    _Part("data_use", "`data_use`", ("promises", "retention", "memory", "processors", *JURISDICTIONS)),
    _Part("data_use retention", "the retention", ("max_days",)),
    _Part("data_use processors *", "a processor", ("name", "purpose")),
    _Part("compliance *", "a claim", ("standard", "scope", "attestation")),
    _Part("compliance * attestation", "an attestation", ("by", "url", "expires_at")),
    _Part("access", "`access`", ("admission", "statement", "schemes")),
    _Part("access schemes *", "a scheme", ("id", "transport", "type", "in", "name", "scheme", "description")),
    *(_Part(name, f"`{name}`", ("digest", "location")) for name in REFS),
)


@dataclass
class _Place:
    """A place in a Descriptor: what may stand there, and the places in it."""

    part: _Part | None = None
    inner: dict[str, _Place] = field(default_factory=dict)


def _whole() -> _Place:
    whole = _Place()
    for part in _PARTS:
        place = whole
        for step in part.way.split():
            place = place.inner.setdefault(step, _Place())
        place.part = part
    return whole


_WHOLE = _whole()


def misspelled(document: Document) -> Iterator[Problem]:
    """Each name that is like a member of the object it stands in, and is none."""
    for path, name, part in islice(_unknown(dict(document), _WHOLE, ()), _LOOKED_AT):
        near = get_close_matches(name, part.members, 1, _LIKE)
        if near:
            yield (
                pointer_to(*path, name),
                f"`{name}` is no member of {part.whole}, and looks like `{near[0]}` misspelled.",
            )


def _unknown(value: JsonValue, place: _Place, path: Path) -> Iterator[tuple[Path, str, _Part]]:
    """The names in a value at `path` that are no members."""
    if isinstance(value, dict) and place.part is not None:
        for name in value:
            if name not in place.part.members and len(name) <= _LONGEST:
                yield path, name, place.part
    for step, one in _entries(value) if place.inner else ():
        below = place.inner.get(str(step)) or place.inner.get(_EVERY)
        if below is not None:
            yield from _unknown(one, below, (*path, step))


def _entries(value: JsonValue) -> Iterable[tuple[str | int, JsonValue]]:
    """What is in an object, by name, or in a list, by its place."""
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()
