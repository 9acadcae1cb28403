"""Whether a JSON value is what a JSON Schema asks, as far as that can be told without guessing.

The invariant: a value is said to hold only if every keyword that could refuse it was applied. A keyword of JSON Schema
that is not applied here, a reference out of the document and a malformed schema give no answer (`Answer.holds` is
`None`), and so does a schema that takes more than a bounded number of steps, as one that refers to itself can.

Not applied: regular expressions, which a hostile file can make endless; conditions; what depends on the draft or on
what another keyword has looked at. As JSON Schema says, `format` and unknown keywords refuse nothing.

Source: `.agent` format 11.2, `schema`; JSON Schema 2020-12.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from descriptor.canonical import canonical
from descriptor.errors import quoted
from descriptor.pointers import pointer_to, tokens
from descriptor.strictjson import JsonValue

MAX_STEPS = 250_000
"""How much may be looked at, in members, items and schemas, before there is no answer."""

_MAX_DEPTH = 128
_MOST_PROBLEMS = 20
_BYTES_A_STEP = 64

_NOT_APPLIED = frozenset(
    {
        *("$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef", "$vocabulary"),
        *("additionalItems", "contains", "dependencies", "dependentRequired", "dependentSchemas", "disallow"),
        *("divisibleBy", "else", "extends", "if", "maxContains", "minContains", "pattern", "patternProperties"),
        *("then", "unevaluatedItems", "unevaluatedProperties"),
    }
)

Members: TypeAlias = Mapping[str, JsonValue]
Path: TypeAlias = tuple[str | int, ...]
Problems: TypeAlias = Generator[str, None, None]


@dataclass(frozen=True)
class Answer:
    """Whether a value holds; `None`: that cannot be told.

    `reasons`: for people. Of a value that does not hold, the first of them, each with the JSON Pointer of its place.
    """

    holds: bool | None
    reasons: tuple[str, ...]


class _UntoldError(Exception):
    """What keeps this schema from being applied."""


def holds(schema: JsonValue, value: JsonValue) -> Answer:
    """Whether `value` is what `schema` asks, both as `strictjson` reads them. Raises nothing.

    >>> holds({"properties": {"rows": {"items": {"type": "integer"}}}}, {"rows": [1, "2"]}).reasons
    ("'/rows/1' is not of type integer",)
    >>> holds({"pattern": "^a"}, "a").holds is None
    True
    """
    reasons: list[str] = []
    try:
        with closing(_Check(schema).problems(schema, value, ())) as problems:
            for reason in problems:
                reasons.append(reason)
                if len(reasons) == _MOST_PROBLEMS:
                    break
    except _UntoldError as why:
        return Answer(None, (str(why),))
    return Answer(not reasons, tuple(reasons))


class _Check:
    """One schema document, and what its application may still take."""

    def __init__(self, root: JsonValue) -> None:
        self.root = root
        self.steps_left = MAX_STEPS
        self.depth = 0

    def problems(self, schema: JsonValue, value: JsonValue, path: Path) -> Problems:
        if schema is True:
            return
        if schema is False:
            yield f"{_at(path)} is not allowed"
            return
        members = _object(schema, "schema")
        _refuse_unread(members, is_root=schema is self.root)
        self.spend(1 + _size(value) + sum(map(_size, members.values())))
        self.depth += 1
        try:
            for keyword in members:
                if keyword in _KEYWORDS:
                    yield from _KEYWORDS[keyword](self, members, value, path)
        finally:
            self.depth -= 1

    def fits(self, schema: JsonValue, value: JsonValue, path: Path) -> bool:
        with closing(self.problems(schema, value, path)) as problems:
            return next(problems, None) is None

    def spend(self, steps: int) -> None:
        self.steps_left -= steps
        if self.steps_left < 0 or self.depth >= _MAX_DEPTH:
            raise _UntoldError("the schema takes more steps than it is given")

    def form(self, value: JsonValue) -> bytes:
        """What two equal JSON values have in common: 1 is 1.0, and true is not 1."""
        form = canonical(value)
        self.spend(len(form) // _BYTES_A_STEP)
        return form


def _refuse_unread(members: Members, *, is_root: bool) -> None:
    unread = sorted(_NOT_APPLIED & members.keys())
    if "$id" in members and not is_root:
        unread.append("$id")
    if unread:
        raise _UntoldError(f"the schema uses {', '.join(map(quoted, unread))}, which is not applied here")


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Mapping[str, Callable[[JsonValue], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "number": _is_number,
    "integer": lambda value: _is_number(value) and isinstance(value, int | float) and float(value).is_integer(),
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def _type(check: _Check, members: Members, value: JsonValue, path: Path) -> Problems:
    argument = members["type"]
    names = [_text(name, "type") for name in (argument if isinstance(argument, list) else [argument])]
    if not names or not _TYPES.keys() >= set(names):
        raise _malformed("type")
    if not any(_TYPES[name](value) for name in names):
        yield f"{_at(path)} is not of type {' or '.join(names)}"


def _enum(check: _Check, members: Members, value: JsonValue, path: Path) -> Problems:
    form = check.form(value)
    if all(form != check.form(one) for one in _array(members["enum"], "enum")):
        yield f"{_at(path)} is none of the values that are allowed"


def _const(check: _Check, members: Members, value: JsonValue, path: Path) -> Problems:
    if check.form(value) != check.form(members["const"]):
        yield f"{_at(path)} is not the one value that is allowed"


def _compared(keyword: str, compare: Callable[[float, float], bool], said: str) -> Keyword:
    def apply(check: _Check, members: Members, value: JsonValue, path: Path) -> Problems:
        bound = _number(members[keyword], keyword)
        if _is_number(value) and not compare(_number(value, keyword), bound):
            yield f"{_at(path)} is not {said} {bound}"

    return apply


def _multiple_of(check: _Check, members: Members, value: JsonValue, path: Path) -> Problems:
    unit = _number(members["multipleOf"], "multipleOf")
    if unit <= 0:
        raise _malformed("multipleOf")
    # As the numbers are written in decimal: 0.3 is a multiple of 0.1, though no double nearest to it is.
    if _is_number(value) and Fraction(repr(value)) % Fraction(repr(unit)):
        yield f"{_at(path)} is no multiple of {unit}"


def _counted(keyword: str, kind: type[str | list[JsonValue] | dict[str, JsonValue]], said: str) -> Keyword:
    at_least = keyword.startswith("min")

    def apply(check: _Check, members: Members, value: JsonValue, path: Path) -> Problems:
        bound = _number(members[keyword], keyword)
        if bound < 0 or not float(bound).is_integer():
            raise _malformed(keyword)
        if isinstance(value, kind) and (len(value) < bound if at_least else len(value) > bound):
            yield f"{_at(path)} has {len(value)} {said}, and not at {'least' if at_least else 'most'} {int(bound)}"

    return apply


def _unique(check: _Check, members: Members, value: JsonValue, path: Path) -> Problems:
    if not isinstance(members["uniqueItems"], bool):
        raise _malformed("uniqueItems")
    if members["uniqueItems"] and isinstance(value, list) and len(set(map(check.form, value))) < len(value):
        yield f"{_at(path)} has an item twice"


def _required(check: _Check, members: Members, value: JsonValue, path: Path) -> Problems:
    for name in _array(members["required"], "required"):
        if isinstance(value, dict) and _text(name, "required") not in value:
            yield f"{_at(path)} has no member {quoted(_text(name, 'required'))}"


def _ref(check: _Check, members: Members, value: JsonValue, path: Path) -> Problems:
    reference = _text(members["$ref"], "$ref")
    if not (reference == "#" or reference.startswith("#/")) or "%" in reference:
        raise _UntoldError(f"the schema refers to {quoted(reference)}, which is no JSON Pointer into itself")
    schema = check.root
    for step in tokens(reference[1:]):
        if not isinstance(schema, dict) or step not in schema:
            raise _UntoldError(f"the schema refers to {quoted(reference)}, which is not there")
        schema = schema[step]
    yield from check.problems(schema, value, path)


def _all_of(check: _Check, members: Members, value: JsonValue, path: Path) -> Problems:
    for schema in _array(members["allOf"], "allOf"):
        yield from check.problems(schema, value, path)


def _any_of(check: _Check, members: Members, value: JsonValue, path: Path) -> Problems:
    if not any(check.fits(schema, value, path) for schema in _array(members["anyOf"], "anyOf")):
        yield f"{_at(path)} fits none of the schemas of which it has to fit one"


def _one_of(check: _Check, members: Members, value: JsonValue, path: Path) -> Problems:
    fitting = sum(check.fits(schema, value, path) for schema in _array(members["oneOf"], "oneOf"))
    if fitting != 1:
        yield f"{_at(path)} fits {fitting} of the schemas of which it has to fit exactly one"


def _not(check: _Check, members: Members, value: JsonValue, path: Path) -> Problems:
    if check.fits(members["not"], value, path):
        yield f"{_at(path)} fits a schema that it must not fit"


def _properties(check: _Check, members: Members, value: JsonValue, path: Path) -> Problems:
    for name, schema in _object(members["properties"], "properties").items():
        if isinstance(value, dict) and name in value:
            yield from check.problems(schema, value[name], (*path, name))


def _additional(check: _Check, members: Members, value: JsonValue, path: Path) -> Problems:
    named = _object(members.get("properties", {}), "properties")
    for name, member in value.items() if isinstance(value, dict) else ():
        if name not in named:
            yield from check.problems(members["additionalProperties"], member, (*path, name))


def _names(check: _Check, members: Members, value: JsonValue, path: Path) -> Problems:
    for name in value if isinstance(value, dict) else ():
        yield from check.problems(members["propertyNames"], name, (*path, name))


def _prefix(check: _Check, members: Members, value: JsonValue, path: Path) -> Problems:
    schemas = _array(members["prefixItems"], "prefixItems")
    for place, (schema, item) in enumerate(zip(schemas, value if isinstance(value, list) else (), strict=False)):
        yield from check.problems(schema, item, (*path, place))


def _items(check: _Check, members: Members, value: JsonValue, path: Path) -> Problems:
    if isinstance(members["items"], list):
        raise _malformed("items")
    start = len(_array(members.get("prefixItems", []), "prefixItems"))
    for place, item in enumerate(value if isinstance(value, list) else ()):
        if place >= start:
            yield from check.problems(members["items"], item, (*path, place))


Keyword: TypeAlias = Callable[[_Check, Members, JsonValue, Path], Problems]

_KEYWORDS: Mapping[str, Keyword] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "minimum": _compared("minimum", operator.ge, "at least"),
    "maximum": _compared("maximum", operator.le, "at most"),
    "exclusiveMinimum": _compared("exclusiveMinimum", operator.gt, "more than"),
    "exclusiveMaximum": _compared("exclusiveMaximum", operator.lt, "less than"),
    "multipleOf": _multiple_of,
    "minLength": _counted("minLength", str, "characters"),
    "maxLength": _counted("maxLength", str, "characters"),
    "minItems": _counted("minItems", list, "items"),
    "maxItems": _counted("maxItems", list, "items"),
    "minProperties": _counted("minProperties", dict, "members"),
    "maxProperties": _counted("maxProperties", dict, "members"),
    "uniqueItems": _unique,
    "required": _required,
    "$ref": _ref,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "properties": _properties,
    "additionalProperties": _additional,
    "propertyNames": _names,
    "prefixItems": _prefix,
    "items": _items,
}

KEYWORDS = (
    frozenset(_KEYWORDS)
    | _NOT_APPLIED
    | frozenset(
        (
            *("$schema", "$id", "$comment", "$defs", "definitions", "title", "description", "default", "examples"),
            *("format", "deprecated", "readOnly", "writeOnly"),
            *("contentEncoding", "contentMediaType", "contentSchema"),
        )
    )
)
"""Every keyword of JSON Schema 2020-12, and those that came before."""


def _at(path: Path) -> str:
    return quoted(pointer_to(*path)) if path else "the value"


def _size(value: JsonValue) -> int:
    return len(value) if isinstance(value, list | dict) else 0


def _malformed(keyword: str) -> _UntoldError:
    return _UntoldError(f"the schema has a {quoted(keyword)} that is not what JSON Schema 2020-12 makes of it")


def _object(value: JsonValue, keyword: str) -> Members:
    if not isinstance(value, dict):
        raise _malformed(keyword)
    return value


def _array(value: JsonValue, keyword: str) -> list[JsonValue]:
    if not isinstance(value, list):
        raise _malformed(keyword)
    return value


def _text(value: JsonValue, keyword: str) -> str:
    if not isinstance(value, str):
        raise _malformed(keyword)
    return value


def _number(value: JsonValue, keyword: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _malformed(keyword)
    return value
