"""What changed between two documents, member by member.

The invariant: no change is reported exactly when both documents state the same, whatever their formatting, the order
of their members, and the order of entries that have a name of their own. Offerings, and the entries of any other
list in which each carries an `id` or a `name` of its own, are matched by it, so that one put in front does not
read as all of them changed. A list of anything else is one value.

A document that describes a changed agent carries a new `agent_version` (chapter 6.5). Which changes do is judged by the
member that changed: `new_version`.

Source: binding 9 (`diff`), chapter 6.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from descriptor.canonical import canonical
from descriptor.pointers import pointer_to, tokens
from descriptor.strictjson import JsonValue
from descriptor.vocabulary import ABOUT_THE_DOCUMENT, DECLARATIONS

_SIGNED = ("signatures", "trust")
_NAMES = ("id", "name")

_Path = tuple[str | int, ...]

# Sentences and names for people: the same fact may be said in other words.
_PROSE = frozenset(
    {"description", "does", "final", "for", "name", "organization_name", "purpose", "refusals", "statement", "text"}
)
_MOVES = frozenset({"location", "url"})


class ChangeKind(StrEnum):
    """What became of a place."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class NewVersion(StrEnum):
    """Whether a change obliges a new `agent_version`. `PERHAPS`: only if the agent changed, and not just the words."""

    YES = "yes"
    PERHAPS = "perhaps"
    NO = "no"


@dataclass(frozen=True)
class Change:
    """One difference. `pointer`: JSON Pointer in the second document, or in the first when it was removed.

    `before` is `None` when it was added and `after` when it was removed; `kind` tells that from a JSON `null`.
    """

    pointer: str
    before: JsonValue
    after: JsonValue
    kind: ChangeKind

    @property
    def new_version(self) -> NewVersion:
        """Whether the second document owes a new `agent_version` for this change.

        A declared fact that is another one describes a changed agent. Prose may be another way to say the same, and
        what a member that the chapter does not name means is not known here. Source: chapter 6.5.
        """
        path = tokens(self.pointer)
        first, last = path[0], path[-1]
        if first in ABOUT_THE_DOCUMENT:
            return NewVersion.NO
        if first not in DECLARATIONS or (last in _PROSE and self.kind is ChangeKind.CHANGED):
            return NewVersion.PERHAPS
        if last in _MOVES:
            return NewVersion.NO
        return NewVersion.YES


def diff(a: Mapping[str, JsonValue], b: Mapping[str, JsonValue], *, signed: bool = False) -> list[Change]:
    """The changes that lead from `a` to `b`, in the order of `a`, then what `b` adds.

    `signatures` and `trust` are new in every version and are left out unless `signed`.
    """
    left_out = () if signed else _SIGNED
    first = {name: value for name, value in a.items() if name not in left_out}
    second = {name: value for name, value in b.items() if name not in left_out}
    return list(_members(first, second, (), ()))


def _values(a: JsonValue, b: JsonValue, in_a: _Path, in_b: _Path) -> Iterator[Change]:
    if isinstance(a, dict) and isinstance(b, dict):
        yield from _members(a, b, in_a, in_b)
    elif isinstance(a, list) and isinstance(b, list) and (name := _matched_by(a, b)):
        yield from _entries(a, b, name, in_a, in_b)
    elif canonical(a) != canonical(b):
        yield Change(pointer_to(*in_b), a, b, ChangeKind.CHANGED)


def _members(a: Mapping[str, JsonValue], b: Mapping[str, JsonValue], in_a: _Path, in_b: _Path) -> Iterator[Change]:
    for name, value in a.items():
        if name in b:
            yield from _values(value, b[name], (*in_a, name), (*in_b, name))
        else:
            yield Change(pointer_to(*in_a, name), value, None, ChangeKind.REMOVED)
    for name, value in b.items():
        if name not in a:
            yield Change(pointer_to(*in_b, name), None, value, ChangeKind.ADDED)


def _entries(a: list[JsonValue], b: list[JsonValue], by: str, in_a: _Path, in_b: _Path) -> Iterator[Change]:
    first, second = _by_name(a, by), _by_name(b, by)
    for name, (place, entry) in first.items():
        if name in second:
            new_place, new_entry = second[name]
            yield from _values(entry, new_entry, (*in_a, place), (*in_b, new_place))
        else:
            yield Change(pointer_to(*in_a, place), entry, None, ChangeKind.REMOVED)
    for name, (place, entry) in second.items():
        if name not in first:
            yield Change(pointer_to(*in_b, place), None, entry, ChangeKind.ADDED)


def _matched_by(a: list[JsonValue], b: list[JsonValue]) -> str | None:
    """The member by which the entries of both lists are told apart, `None` when there is none."""
    for by in _NAMES:
        if len(_by_name(a, by)) == len(a) and len(_by_name(b, by)) == len(b):
            return by
    return None


def _by_name(entries: list[JsonValue], by: str) -> dict[str, tuple[int, JsonValue]]:
    named: dict[str, tuple[int, JsonValue]] = {}
    for place, entry in enumerate(entries):
        name = entry.get(by) if isinstance(entry, dict) else None
        if isinstance(name, str):
            named[name] = place, entry
    return named
