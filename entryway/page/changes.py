"""What changed between two versions, for people.

The invariant: what it costs is bounded. Documents over `MOST_BYTES` are not compared here, and of many changes the
first `MOST_CHANGES` are shown.

Source: binding 9 (`diff`); chapter 6.5.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from descriptor.difference import Change, ChangeKind, NewVersion, diff
from descriptor.document import Descriptor
from descriptor.pointers import tokens
from descriptor.projections.agentdoc_looked import Members
from descriptor.strictjson import JsonValue
from entryway.page import words

MOST_BYTES = 256 * 1024
MOST_CHANGES = 300

_KINDS = {ChangeKind.ADDED: "added", ChangeKind.REMOVED: "taken out", ChangeKind.CHANGED: "changed"}


@dataclass(frozen=True)
class Changes:
    """Two versions, `before` and `after`, and what is different. `note`: of our own words."""

    before: Descriptor
    after: Descriptor
    rows: Sequence[Mapping[str, object]]
    more: int
    note: str


def changes_of(before: Descriptor, after: Descriptor) -> Changes | None:
    """What changed; `None` where the documents are too large to be compared for a page."""
    if max(len(before.data), len(after.data)) > MOST_BYTES:
        return None
    found = diff(before.members, after.members)
    rows = [_row(change, before.members, after.members) for change in found[:MOST_CHANGES]]
    return Changes(before, after, rows, max(0, len(found) - MOST_CHANGES), _note(before, after, found))


def _row(change: Change, before: Members, after: Members) -> Mapping[str, object]:
    holder = before if change.kind is ChangeKind.REMOVED else after
    return {
        "place": _place(change.pointer, holder),
        "pointer": change.pointer,
        "kind": _KINDS[change.kind],
        "before": None if change.kind is ChangeKind.ADDED else _said(change.before),
        "after": None if change.kind is ChangeKind.REMOVED else _said(change.after),
    }


def _place(pointer: str, holder: Members) -> str:
    """A place in words: the member, and of an entry its own name."""
    value: JsonValue = dict(holder)
    said = []
    for step in tokens(pointer):
        if isinstance(value, list):
            value = value[int(step)]
            named = value if isinstance(value, dict) else {}
            name = named.get("name") or named.get("id")
            said.append(f"“{name}”" if isinstance(name, str) else f"entry {int(step) + 1}")
        else:
            value = value[step] if isinstance(value, dict) else None
            said.append(words.PLACES.get(step, step.replace("_", " ")))
    first, *rest = said
    return " › ".join([first[:1].upper() + first[1:], *rest])


def _said(value: JsonValue) -> str:
    """A text as it is, texts of a list line by line, and all else as the Descriptor has it."""
    if isinstance(value, list) and value and all(isinstance(one, str) and one for one in value):
        return "\n".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


def _note(before: Descriptor, after: Descriptor, found: Sequence[Change]) -> str:
    if not found:
        return "They say the same, in other words or another order of the same words."
    owed = {change.new_version for change in found}
    if before.agent_version == after.agent_version and owed != {NewVersion.NO}:
        certain = NewVersion.YES in owed
        return (
            "Both call themselves the same version, and what the agent declares of itself differs."
            if certain
            else "Both call themselves the same version. That is right if only the wording changed."
        )
    return ""
