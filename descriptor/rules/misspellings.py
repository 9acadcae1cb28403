"""Names that may be a member misspelled, in every object whose members the chapter names.

What is misspelled is not stated, and nothing else would say so: members that nobody knows are allowed everywhere. Left
out are the objects that hold keys and signatures, which are made by programs.

Source: chapters 6.2, 6.9 and 6.11.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
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


def misspelled(document: Document, besides: Collection[str]) -> Iterator[Problem]:
    """Each name that is like a member of the object it stands in, and is none.

    `besides`: names of the document's own that are somebody else's business.
    """
    for path, name, part in islice(_unknown(document, besides), _LOOKED_AT):
        near = get_close_matches(name, part.members, 1, _LIKE)
        if near:
            yield (
                pointer_to(*path, name),
                f"`{name}` is no member of {part.whole}, and looks like `{near[0]}` misspelled.",
            )


def _unknown(document: Document, besides: Collection[str]) -> Iterator[tuple[Path, str, _Part]]:
    for part in _PARTS:
        for path, members in _objects(dict(document), part.way.split(), ()):
            for name in members:
                if len(name) <= _LONGEST and name not in part.members and (path or name not in besides):
                    yield path, name, part


def _objects(value: JsonValue, way: list[str], path: Path) -> Iterator[tuple[Path, dict[str, JsonValue]]]:
    """The objects that `way` leads to from `value`, which stands at `path`."""
    if not way:
        if isinstance(value, dict):
            yield path, value
        return
    step, *rest = way
    if step == _EVERY and isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _objects(inner, rest, (*path, index))
    elif isinstance(value, dict):
        for name in value.keys() if step == _EVERY else value.keys() & {step}:
            yield from _objects(value[name], rest, (*path, name))
