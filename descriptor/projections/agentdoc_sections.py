"""From a Descriptor to the sections of an AgentDoc: where each member goes, and what nobody said.

The invariant: a value stands in a section exactly as it stands in the Descriptor, and every member that the reader's
view looks for is in one of two places: in its section, or in `not_stated`. Both come from one table and one reading, so
that silence has no way to become a value. What is there and cannot be read is not stated, and is named in `unreadable`
besides.

A member of the Descriptor at `/data_use/memory` stands in the sections at `/handling/data_use/memory`: its section,
then its own place. An entry of a list that cannot be read stands there as `{}`, so that the places of the others hold.

Source: chapters 6.4 (rule 2), 6.9, 6.10 and 6.12; section 9 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.pointers import tokens
from descriptor.rules.section_6_9_access import RULES as ACCESS_RULES
from descriptor.strictjson import JsonValue
from descriptor.view import View, view
from descriptor.vocabulary import CEILINGS

SECTIONS = (
    *("identity", "shape", "asked", "role", "sells", "told"),
    *("access", "refuses", "reaches", "leaves", "handling", "standing"),
)
"""The sections, in their order."""

# What a section carries of a member: all of it (None), some members of an object, or of each object of a list. A value
# that may be an object or something plainer is carried whole where it is the plainer thing.
Shape: TypeAlias = "dict[str, Shape] | list[dict[str, Shape]] | None"
Path: TypeAlias = tuple[str | int, ...]


def _members(names: str, /, **shapes: Shape) -> dict[str, Shape]:
    """An object with members that are carried whole, and some that have a shape of their own."""
    return {**dict.fromkeys(names.split()), **shapes}


def _offering_shapes(section: dict[str, Shape]) -> list[dict[str, Shape]]:
    """What a section carries of each offering: one shape, or none."""
    shape = section.get("offerings")
    return shape if isinstance(shape, list) else []


_BOUND = _members("most decided_by")
_REFERENCE = _members("digest location")

PLACES: Mapping[str, dict[str, Shape]] = {
    "identity": _members(
        "format agent_version does acts_for organization_name",
        subject=_members("id handle"),
    ),
    "shape": _members("interaction fleet hosted_in interfaces"),
    "asked": _members(
        "default_input_modes",
        offerings=[
            _members(
                "scope focus input_modes",
                inputs=[_members("name kind required external via one_of max_bytes fields")],
                needs=[_members("resource file tool credential text access protocol scope description")],
            )
        ],
    ),
    "role": _members("role", offerings=[_members("role")]),
    "sells": {
        "offerings": [
            _members(
                "id name description",
                revisions=_members("flat", included=_members("count window_days"), steps=[_members("step price")]),
                reporting=_members("level every"),
            )
        ],
        "price_ref": _REFERENCE,
        "samples_ref": _REFERENCE,
    },
    "told": {
        "run_config": _members(
            "tested_models replay",
            settings=[_members("name kind default allowed job_may_set")],
            named=[_members("name settings digest")],
        )
    },
    "access": _members(
        "sealing encryption_key",
        access=_members(
            "admission statement",
            schemes=[_members("id transport type in name scheme description")],
        ),
    ),
    "refuses": _members(
        "refusals",
        limits=_members("past_them max_inbound_chars", requests_per_hour=_BOUND, model_budget_per_day=_BOUND),
        offerings=[{"ceilings": dict.fromkeys(CEILINGS, _BOUND)}],
    ),
    "reaches": _members(
        "",
        systems=[_members("name access needs")],
        offerings=[_members("authority authority_decided_by", workspace=[_members("kind access for system")])],
    ),
    "leaves": _members(
        "default_output_modes",
        offerings=[
            _members(
                "output_modes",
                outputs=[_members("name kind when working")],
                delivers=_members("final interim in_resource"),
            )
        ],
    ),
    "handling": _members(
        "",
        data_use=_members(
            "promises memory processed_in",
            retention=_members("max_days"),
            processors=[_members("name purpose")],
        ),
        handling_ref=_REFERENCE,
        compliance=[_members("standard scope", attestation=_members("by url expires_at"))],
    ),
    "standing": _members("standing"),
}
"""By section, what it carries of each member of a Descriptor. A place is in one section, but for `offerings` itself."""

# The section of each member of a Descriptor, and of each member of an offering.
_STATED = {member: section for section, members in PLACES.items() for member in members if member != "offerings"}
_OFFERED = {
    member: section
    for section, members in PLACES.items()
    for offering in _offering_shapes(members)
    for member in offering
}
_RANK = {section: place for place, section in enumerate(SECTIONS)}

MOST_NOT_STATED = 50_000
"""An agent says nothing of that many places only if its Descriptor was made to be a burden."""

_SYSTEM_ALIAS = re.compile(r"(/systems/[0-9]+)/role")
_SECRET = next(rule for rule in ACCESS_RULES if rule.id == "D6.9-access-secret")


@dataclass(frozen=True)
class Read:
    """What a Descriptor gives to each section. Pointers in `not_stated` and `former` are into `sections`.

    `unreadable`: pointers into the Descriptor. `former`: where an older document said, in `shape`, what stands here.
    """

    sections: Mapping[str, Mapping[str, JsonValue]]
    not_stated: tuple[str, ...]
    unreadable: tuple[str, ...]
    former: Mapping[str, str]


def read(descriptor: Descriptor) -> Read:
    """The sections of a Descriptor.

    Raises `DescriptorError` `TOO_LARGE` for one that leaves more than `MOST_NOT_STATED` places unsaid.
    """
    seen = view(descriptor)
    members = _as_read(descriptor.members, seen)
    unreadable = {*seen.unreadable(), *_withheld(descriptor, seen)}
    absent = {_named_now(pointer) for pointer in (*seen.not_stated(), *unreadable)}
    if "encryption_key" not in members:
        absent.add("/encryption_key")
    absent = {pointer for pointer in absent if absent.isdisjoint(_above(pointer))}
    if len(absent) > MOST_NOT_STATED:
        raise DescriptorError(
            "TOO_LARGE",
            f"The Descriptor leaves {len(absent):,} places unsaid; an AgentDoc lists at most {MOST_NOT_STATED:,}.",
        )
    sections: dict[str, Mapping[str, JsonValue]] = {}
    for section in SECTIONS:
        found = _carried(members, PLACES[section], "", absent)
        assert isinstance(found, dict)
        if section != "sells" and not any(_entries(found)):
            found.pop("offerings", None)
        sections[section] = found
    return Read(
        sections,
        tuple(sorted((path for pointer in absent for path in _paths(pointer)), key=_in_order)),
        tuple(sorted(unreadable, key=_in_order)),
        {path: then for now, then in seen.former.items() for path in _paths(now)},
    )


def _carried(value: JsonValue, shape: Shape, pointer: str, absent: set[str]) -> JsonValue:
    """What a section carries of a value; `{}` in a list for an entry that cannot be read."""
    if isinstance(shape, list) and isinstance(value, list):
        return [
            {} if (place := f"{pointer}/{index}") in absent else _carried(one, shape[0], place, absent)
            for index, one in enumerate(value)
        ]
    if isinstance(shape, dict) and isinstance(value, dict):
        return {
            name: _carried(value[name], inner, place, absent)
            for name, inner in shape.items()
            if name in value and (place := f"{pointer}/{name}") not in absent
        }
    return value


def _as_read(members: Mapping[str, JsonValue], seen: View) -> dict[str, JsonValue]:
    """The members with each fact under the name it has now: aliases, and what an older document says in `shape`."""
    found = dict(members)
    if "/fleet" in seen.former:
        found["fleet"] = seen.fleet
    systems = members.get("systems")
    if isinstance(systems, list):
        found["systems"] = [_renamed(one, "role", "name") for one in systems]
    block = members.get("data_use")
    if seen.data_use is not None:
        own = _renamed(block, "jurisdictions", "processed_in")
        former: dict[str, JsonValue] = {}
        if "/data_use/memory" in seen.former:
            former["memory"] = seen.data_use.memory
        if "/data_use/processors" in seen.former:
            former["processors"] = [one.name for one in seen.data_use.processors or ()]
        found["data_use"] = {**former, **(own if isinstance(own, dict) else {})}
    return found


def _renamed(value: JsonValue, alias: str, name: str) -> JsonValue:
    """An object with `alias` under its name, which stands over it."""
    if not isinstance(value, dict) or alias not in value:
        return value
    found = {name if member == alias else member: inner for member, inner in value.items() if member != name}
    return {**found, name: value[name]} if name in value else found


def _entries(section: Mapping[str, JsonValue]) -> list[JsonValue]:
    listed = section.get("offerings")
    return listed if isinstance(listed, list) else []


def _named_now(pointer: str) -> str:
    """A place under the name that its member has now."""
    return _SYSTEM_ALIAS.sub(r"\1/name", pointer)


def _above(pointer: str) -> Iterator[str]:
    """The places that a place stands in."""
    while pointer := pointer.rpartition("/")[0]:
        yield pointer


def _withheld(descriptor: Descriptor, seen: View) -> Iterator[str]:
    """What is not told on: a door with a secret in it is dropped whole, and nobody seals to a key without its claim."""
    if next(_SECRET.find(dict(descriptor.members)), None) is not None:
        yield "/access"
    if "encryption_key" in descriptor.members and seen.sealing_key() is None:
        yield "/encryption_key"


def _paths(pointer: str) -> Iterator[str]:
    """The place in the sections of a place in a Descriptor, if it has one; what is offered is among what is sold."""
    steps = tokens(pointer)
    if steps[0] == "offerings":
        section = _OFFERED.get(steps[2]) if len(steps) > 2 else "sells"
    else:
        section = _STATED.get(steps[0])
    if section is not None and (len(steps) <= 2 or _has_place(PLACES[section], steps)):
        yield f"/{section}{pointer}"


def _has_place(shape: Shape, steps: list[str]) -> bool:
    for step in steps:
        if isinstance(shape, list):
            (shape,) = shape
        elif shape is None:
            return True
        elif step in shape:
            shape = shape[step]
        else:
            return False
    return True


def _in_order(pointer: str) -> tuple[int, list[tuple[int, str]]]:
    """Sorts by section, and the second entry before the tenth."""
    steps = tokens(pointer)
    return _RANK.get(steps[0], -1), [(int(step), "") if step.isdecimal() else (-1, step) for step in steps]
