"""A projection as it is built: each value with the places of the Descriptor that it comes from.

The invariant: nothing stands in a projection without saying where it is from. A value is `said` by members of the
Descriptor, or it is `fixed`: a word of the projection's own format, or a fact of how the agent is served. Where the
Descriptor is silent the member is left out; where the format does not allow that, its `neutral` value stands there and
says that nothing was stated.

    tree of Said, dict and Entries  ->  lay_out(tree)  ->  Projection: the document, and every value with its source

Source: chapters 6.1, 6.4 (rule 2) and 6.8.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from descriptor.strictjson import JsonValue

Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """A value and the JSON Pointers of what says it; `""` is the document as bytes.

    `value` is None where the member is left out; the pointers are then where it would be said. `stated` is False where
    the Descriptor says nothing, whether the member is left out or holds its neutral value.
    """

    value: JsonValue
    pointers: tuple[str, ...] = ()
    stated: bool = True

    def or_neutral(self, value: JsonValue) -> Said:
        """The same, with a value for silence, for a member that the format requires."""
        return self if self.stated else replace(self, value=value)


@dataclass(frozen=True, slots=True)
class Entries:
    """A list of objects that are told apart by their member `key`.

    They stand for the entries of the Descriptor's list at `pointer`; None where they stand for none.
    """

    entries: Sequence[Mapping[str, Tree]]
    key: str
    pointer: str | None = None


Tree: TypeAlias = "Said | Mapping[str, Tree] | Entries"


def said(value: JsonValue, *pointers: str) -> Said:
    """What the members at `pointers` say; None where they say nothing."""
    return Said(value, pointers, stated=value is not None)


def fixed(value: JsonValue) -> Said:
    """What no member of the Descriptor says. None leaves the member out."""
    return Said(value)


@dataclass(frozen=True, slots=True)
class Projection:
    """A document, and the tree that says of each of its values where it comes from."""

    members: dict[str, JsonValue]
    tree: Mapping[str, Tree] = field(repr=False)

    def leaves(self) -> Iterator[tuple[Path, Said]]:
        """Every value by its path, and every member that is left out by the path where it would stand."""
        return _leaves(self.tree, ())


def lay_out(tree: Mapping[str, Tree]) -> Projection:
    """The projection that a tree describes. An object that nothing is said in is left out."""
    members = value_of(tree)
    return Projection(members if isinstance(members, dict) else {}, tree)


def value_of(tree: Tree) -> JsonValue:
    """What a tree looks like in the document; None where it is left out."""
    if isinstance(tree, Said):
        return tree.value
    if isinstance(tree, Mapping):
        members: dict[str, JsonValue] = {name: value_of(one) for name, one in tree.items()}
        return {name: value for name, value in members.items() if value is not None} or None
    return [value_of(one) or {} for one in tree.entries]


def _leaves(tree: Tree, path: Path) -> Iterator[tuple[Path, Said]]:
    if isinstance(tree, Said):
        yield path, tree
        return
    for step, one in tree.items() if isinstance(tree, Mapping) else enumerate(tree.entries):
        yield from _leaves(one, (*path, step))
