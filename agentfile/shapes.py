"""How a frozen dataclass and a JSON object stand for one another, member by member.

The invariant: what `read` takes from an object that the rules accept, `write` gives back: the same members with the
same values. A member that its class names is a field, `None` when it is absent; every other one stays in `other`,
as it is. A class without `other` is a closed schema: its objects hold the members it names and nothing else.

A field's name is the member's in snake case. What a member holds beside plain JSON is said in the field's metadata,
with `one`, `each`, `each_of` or `TEXTS`; what reads, writes and walks through a file follows from these alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, TypeVar

from descriptor.strictjson import JsonValue

Path = tuple[str | int, ...]
Model = TypeVar("Model")

_KEY = "shape"
_OTHER = "other"


@dataclass(frozen=True)
class BareText:
    """Base of a class that stands for a text, where others of its kind stand for objects."""

    name: str


@dataclass(frozen=True)
class Shape:
    """What a member holds. `of`: the class of an object or entry in it; `None`: plain JSON, or texts in a list.

    `name`: the member's name where the field's does not give it. `fits`: a value that does not fit stays in `other`;
    without it, the rules have refused what does not.
    """

    of: Callable[[JsonValue], type[Any]] | None = None
    many: bool = False
    name: str | None = None
    fits: Callable[[JsonValue], bool] | None = None


def shaped(shape: Shape) -> Mapping[str, Shape]:
    """`shape` as the metadata of a field."""
    return {_KEY: shape}


def one(model: type[Any], fits: Callable[[JsonValue], bool] | None = None) -> Mapping[str, Shape]:
    """The member is an object."""
    return shaped(Shape(lambda _: model, fits=fits))


def each(model: type[Any]) -> Mapping[str, Shape]:
    """The member is a list of objects."""
    return shaped(Shape(lambda _: model, many=True))


def each_of(
    models: Mapping[str, type[Any]], by: str, otherwise: type[Any], text: type[BareText] | None = None
) -> Mapping[str, Shape]:
    """The member is a list of objects whose member `by` says which model each is. `text`: of an entry that is text."""

    def choose(entry: JsonValue) -> type[Any]:
        if text is not None and isinstance(entry, str):
            return text
        word = entry.get(by) if isinstance(entry, dict) else None
        return models.get(word, otherwise) if isinstance(word, str) else otherwise

    return shaped(Shape(choose, many=True))


TEXTS = shaped(Shape(many=True))


@dataclass(frozen=True)
class Member:
    """One member that a model names: its `field` there, its `name` in JSON."""

    field: str
    name: str
    shape: Shape


@dataclass(frozen=True)
class Plan:
    """What a model names: its `members` in its order, which of them hold models, and their names.

    `closed`: it has no `other`.
    """

    members: tuple[Member, ...]
    nested: tuple[Member, ...]
    names: frozenset[str]
    closed: bool


def plan(model: type[Any]) -> Plan:
    """The plan of `model`, which is a dataclass."""
    return _plan(model)  # type: ignore[arg-type]  # mypy has it that a class cannot be hashed


@cache
def _plan(model: Any) -> Plan:
    named = [one for one in fields(model) if one.name != _OTHER]
    shapes = [(one.name, one.metadata.get(_KEY, Shape())) for one in named]
    members = tuple(Member(field, shape.name or _camel(field), shape) for field, shape in shapes)
    nested = tuple(member for member in members if member.shape.of is not None)
    names = frozenset(member.name for member in members)
    return Plan(members, nested, names, closed=len(named) == len(fields(model)))


def read(model: type[Model], value: JsonValue) -> Model:
    """`value`, which the rules have accepted, as a `model`."""
    if issubclass(model, BareText):
        return model(str(value))
    members = dict(value) if isinstance(value, dict) else {}
    found = {
        one.field: _read(one.shape, members.pop(one.name))
        for one in plan(model).members
        if one.name in members and (one.shape.fits is None or one.shape.fits(members[one.name]))
    }
    make: Callable[..., Model] = model
    return make(**found) if plan(model).closed else make(**found, other=members)


def write(value: object) -> JsonValue:
    """The JSON of a model: what it names, in its order, then `other`. What is `None` is left out.

    A member that a model names and `other` holds too is written as the model has it.
    """
    if isinstance(value, BareText):
        return value.name
    stated = [(one, getattr(value, one.field)) for one in plan(type(value)).members]
    named = {one.name: _written(one.shape, inner) for one, inner in stated if inner is not None}
    return {**named, **{name: inner for name, inner in getattr(value, _OTHER, {}).items() if name not in named}}


def objects(
    model: type[Any], members: Mapping[str, JsonValue], path: Path = ()
) -> Iterator[tuple[type[Any], Mapping[str, JsonValue], Path]]:
    """Every object within `members` that `model` or a model in it describes, itself first. Any JSON will do."""
    yield model, members, path
    for member in plan(model).nested:
        value, of, place = members.get(member.name), member.shape.of, (*path, member.name)
        if of is None:
            continue
        if isinstance(value, dict) and not member.shape.many:
            yield from objects(of(value), value, place)
        elif isinstance(value, list) and member.shape.many:
            for index, entry in enumerate(value):
                if not isinstance(entry, dict):
                    continue
                if plan(inner := of(entry)).nested:
                    yield from objects(inner, entry, (*place, index))
                else:
                    yield inner, entry, (*place, index)


def _read(shape: Shape, value: JsonValue) -> Any:
    if shape.many:
        entries = value if isinstance(value, list) else []
        return tuple(entries) if shape.of is None else tuple(read(shape.of(entry), entry) for entry in entries)
    return value if shape.of is None else read(shape.of(value), value)


def _written(shape: Shape, value: Any) -> JsonValue:
    if shape.many:
        return list(value) if shape.of is None else [write(entry) for entry in value]
    written: JsonValue = value if shape.of is None else write(value)
    return written


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.title, rest))
