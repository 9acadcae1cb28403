"""How a frozen dataclass and a JSON object stand for one another, member by member.

The invariant: what `read` takes from an object that the rules accept, `write` gives back: the same members with the
same values. A member that its class names is a field, `None` when it is absent; every other one stays in `other`,
as it is. A class without `other` is a closed schema: its objects hold the members it names and nothing else.

A field's name is the member's in snake case. What a member holds beside plain JSON is said in the field's metadata,
with `one`, `each`, `each_of` or `TEXTS`; what reads, writes and walks through a file follows from these alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Any, TypeAlias, TypeVar

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
    """One member that a model names: its `field` there, its `name` in JSON. `plain`: it holds JSON as it is."""

    field: str
    name: str
    shape: Shape
    plain: bool


@dataclass(frozen=True)
class Plan:
    """What `model` names: its `members` in its order, by their names too.

    `nested`: the names of the members that hold models, of which class their objects are, and whether they are lists.
    `direct`: the fields of the members that are read as they are, whatever they are, by the members' names.
    `defaults`: of its fields that have one, but `other`. `closed`: it has no `other`. `text`: it stands for a text.
    """

    model: type[Any]
    members: tuple[Member, ...]
    by_name: Mapping[str, Member]
    nested: tuple[tuple[str, Callable[[JsonValue], type[Any]], bool], ...]
    names: frozenset[str]
    direct: Mapping[str, str]
    defaults: Mapping[str, Any]
    closed: bool
    text: bool


def _plan(model: Any) -> Plan:
    named = [one for one in fields(model) if one.name != _OTHER]
    shapes = [(one.name, one.metadata.get(_KEY, Shape())) for one in named]
    members = tuple(
        Member(field, shape.name or _camel(field), shape, plain=shape.of is None and not shape.many)
        for field, shape in shapes
    )
    nested = tuple((one.name, one.shape.of, one.shape.many) for one in members if one.shape.of is not None)
    by_name = {member.name: member for member in members}
    direct = {one.name: one.field for one in members if one.plain and one.shape.fits is None}
    defaults = {one.name: one.default for one in named if one.default is not MISSING}
    closed = len(named) == len(fields(model))
    return Plan(
        model, members, by_name, nested, frozenset(by_name), direct, defaults, closed, text=issubclass(model, BareText)
    )


plan: Callable[[type[Any]], Plan] = cache(_plan)  # type: ignore[assignment]  # mypy: a class cannot be hashed
"""The plan of a model, which is a dataclass."""


def read(model: type[Model], value: JsonValue) -> Model:
    """`value`, which the rules have accepted, as a `model`."""
    known = plan(model)
    # As its constructor would make it, which sets each field of a frozen class by a call; a file has thousands.
    made = object.__new__(model)
    if known.text:
        made.__dict__["name"] = value
        return made
    stated = made.__dict__
    stated.update(known.defaults)
    other: dict[str, JsonValue] = {}
    members = value if isinstance(value, dict) else {}
    direct = known.direct
    for name, inner in members.items():
        if name in direct:
            stated[direct[name]] = inner
            continue
        member = known.by_name.get(name)
        if member is None or (member.shape.fits is not None and not member.shape.fits(inner)):
            other[name] = inner
        else:
            stated[member.field] = inner if member.plain else _read(member.shape, inner)
    if not known.closed:
        stated[_OTHER] = other
    return made


def write(value: object) -> JsonValue:
    """The JSON of a model: what it names, in its order, then `other`. What is `None` is left out.

    A member that a model names and `other` holds too is written as the model has it.
    """
    if isinstance(value, BareText):
        return value.name
    stated = [(one, getattr(value, one.field)) for one in plan(type(value)).members]
    named = {one.name: _written(one.shape, inner) for one, inner in stated if inner is not None}
    return {**named, **{name: inner for name, inner in getattr(value, _OTHER, {}).items() if name not in named}}


def unnamed(model: type[Any], members: Mapping[str, JsonValue]) -> list[tuple[type[Any], str, Path]]:
    """Every member that `model` and the models in it do not name, wherever they describe an object in `members`.

    Each with the class of its object and the object's path. `members`: any JSON.
    """
    found: list[tuple[type[Any], str, Path]] = []
    _look(plan(model), members, None, found)
    return found


_Place: TypeAlias = tuple["_Place | None", str | int]  # of an object: that of its holder, and the step from there


def _look(known: Plan, members: Mapping[str, JsonValue], place: _Place | None, found: list[Any]) -> None:
    if not members.keys() <= known.names:
        path = _path(place)
        found += ((known.model, name, path) for name in members if name not in known.names)
    for name, of, many in known.nested:
        value = members.get(name)
        if isinstance(value, dict) and not many:
            _look(plan(of(value)), value, (place, name), found)
        elif isinstance(value, list) and many:
            at = (place, name)
            for index, entry in enumerate(value):
                if isinstance(entry, dict):
                    inner = plan(of(entry))
                    if inner.nested or not entry.keys() <= inner.names:
                        _look(inner, entry, (at, index), found)


def _path(place: _Place | None) -> Path:
    steps: list[str | int] = []
    while place is not None:
        place, step = place
        steps.append(step)
    return tuple(reversed(steps))


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
