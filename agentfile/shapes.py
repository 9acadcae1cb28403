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
from itertools import chain
from typing import Any, TypeAlias, TypeVar

from descriptor.strictjson import JsonValue

Path = tuple[str | int, ...]
Model = TypeVar("Model")

_KEY = "shape"
_OTHER = "other"


@dataclass(frozen=True, slots=True)
class BareText:
    """Base of a class that stands for a text, where others of its kind stand for objects."""

    name: str


@dataclass(frozen=True)
class Shape:
    """What a member holds. `of`: the plan of an object or entry in it; `None`: plain JSON, or texts in a list.

    `models`: all that these may be. `name`: the member's name where the field's does not give it. `fits`: a value that
    does not fit stays in `other`; without it, the rules have refused what does not.
    """

    of: Callable[[JsonValue], Plan] | None = None
    models: tuple[Plan, ...] = ()
    many: bool = False
    name: str | None = None
    fits: Callable[[JsonValue], bool] | None = None


def shaped(shape: Shape) -> Mapping[str, Shape]:
    """`shape` as the metadata of a field."""
    return {_KEY: shape}


def one(model: type[Any], fits: Callable[[JsonValue], bool] | None = None) -> Mapping[str, Shape]:
    """The member is an object."""
    known = plan(model)
    return shaped(Shape(lambda _: known, (known,), fits=fits))


def each(model: type[Any]) -> Mapping[str, Shape]:
    """The member is a list of objects."""
    known = plan(model)
    return shaped(Shape(lambda _: known, (known,), many=True))


def each_of(
    models: Mapping[str, type[Any]], by: str, otherwise: type[Any], text: type[BareText] | None = None
) -> Mapping[str, Shape]:
    """The member is a list of objects whose member `by` says which model each is. `text`: of an entry that is text."""

    plans, other = {word: plan(model) for word, model in models.items()}, plan(otherwise)
    bare = other if text is None else plan(text)

    def choose(entry: JsonValue) -> Plan:
        if isinstance(entry, dict):
            word = entry.get(by)
            return plans.get(word, other) if isinstance(word, str) else other
        return bare

    return shaped(Shape(choose, (*plans.values(), other), many=True))


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

    `nested`: of each member that holds models its name, what plan its objects have, whether it is a list, and the
    names in which all these plans agree.
    `direct`: the fields of the members that are read as they are, whatever they are, by the members' names.
    `defaults`: of its fields that have one, but `other`. `closed`: it has no `other`.
    """

    model: type[Any]
    members: tuple[Member, ...]
    by_name: Mapping[str, Member]
    nested: tuple[tuple[str, Callable[[JsonValue], Plan], bool, frozenset[str]], ...]
    names: frozenset[str]
    direct: Mapping[str, str]
    defaults: Mapping[str, Any]
    closed: bool


def _plan(model: Any) -> Plan:
    named = [one for one in fields(model) if one.name != _OTHER]
    shapes = [(one.name, one.metadata.get(_KEY, Shape())) for one in named]
    members = tuple(
        Member(field, shape.name or _camel(field), shape, plain=shape.of is None and not shape.many)
        for field, shape in shapes
    )
    nested = tuple(
        (one.name, one.shape.of, one.shape.many, _common(one.shape)) for one in members if one.shape.of is not None
    )
    by_name = {member.name: member for member in members}
    direct = {one.name: one.field for one in members if one.plain and one.shape.fits is None}
    defaults = {one.name: one.default for one in named if one.default is not MISSING}
    closed = len(named) == len(fields(model))
    return Plan(model, members, by_name, nested, frozenset(by_name), direct, defaults, closed)


def _common(shape: Shape) -> frozenset[str]:
    """What every model in it names as a member that holds no model: of an object with no others nothing is unnamed."""
    return frozenset.intersection(*(one.names.difference(name for name, *_ in one.nested) for one in shape.models))


plan: Callable[[type[Any]], Plan] = cache(_plan)  # type: ignore[assignment]  # mypy: a class cannot be hashed
"""The plan of a model, which is a dataclass."""


def read(model: type[Model], value: JsonValue) -> Model:
    """`value`, which the rules have accepted, as a `model`."""
    made: Model = _made(plan(model), value)
    return made


def _made(known: Plan, value: JsonValue) -> Any:
    # As its constructor would make it, which sets each field of a frozen class by a call; a file has thousands.
    if not isinstance(value, dict):  # the rules have accepted it, so it is a text that stands for a model
        return known.model(value)
    made = object.__new__(known.model)
    stated = made.__dict__
    if known.defaults:
        stated.update(known.defaults)
    if not known.closed:
        stated[_OTHER] = {}
    direct = known.direct
    for name, inner in value.items():
        if name in direct:
            stated[direct[name]] = inner
            continue
        member = known.by_name.get(name)
        if member is None or (member.shape.fits is not None and not member.shape.fits(inner)):
            stated[_OTHER][name] = inner
        else:
            stated[member.field] = inner if member.plain else _read(member.shape, inner)
    return made


def planned(model: type[Any]) -> set[type[Any]]:
    """`model` and every model in it."""
    found: set[type[Any]] = set()
    left = [model]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += (inner.model for member in plan(one).members for inner in member.shape.models)
    return found


def write(value: object) -> JsonValue:
    """The JSON of a model: what it names, in its order, then `other`. What is `None` is left out.

    A member that a model names and `other` holds too is written as the model has it.
    """
    if isinstance(value, BareText):
        return value.name
    stated = [(one, getattr(value, one.field)) for one in plan(type(value)).members]
    named = {one.name: _written(one.shape, inner) for one, inner in stated if inner is not None}
    return {**named, **{name: inner for name, inner in getattr(value, _OTHER, {}).items() if name not in named}}


def unnamed(model: type[Any], members: Mapping[str, JsonValue]) -> list[tuple[type[Any], Path, list[str]]]:
    """Every object in `members`, any JSON, that has members which `model`, or the model in it for that object, does not
    name: its class, its path and the names."""
    found: list[tuple[type[Any], Path, list[str]]] = []
    _look(plan(model), members, None, found)
    return found


_Place: TypeAlias = tuple["_Place | None", str | int]  # of an object: that of its holder, and the step from there


def _look(known: Plan, members: Mapping[str, JsonValue], place: _Place | None, found: list[Any]) -> None:
    if not members.keys() <= known.names:
        found.append((known.model, _path(place), [name for name in members if name not in known.names]))
    for name, of, many, common in known.nested:
        value = members.get(name)
        if isinstance(value, dict) and not many:
            _look(of(value), value, (place, name), found)
        elif isinstance(value, list) and many:
            if common.issuperset(chain.from_iterable([entry for entry in value if isinstance(entry, dict)])):
                continue
            at = (place, name)
            for index, entry in enumerate(value):
                if isinstance(entry, dict):
                    inner = of(entry)
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
        entries, of = value if isinstance(value, list) else [], shape.of
        if of is None:
            return tuple(entries)
        return tuple([_made(of(entry), entry) for entry in entries])
    return value if shape.of is None else _made(shape.of(value), value)


def _written(shape: Shape, value: Any) -> JsonValue:
    if shape.many:
        return list(value) if shape.of is None else [write(entry) for entry in value]
    written: JsonValue = value if shape.of is None else write(value)
    return written


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.title, rest))
