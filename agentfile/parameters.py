"""The parameters of an `.agent` file: what its owner has to give before a run, and where that goes in the prompt.

The invariant: a placeholder is replaced by the value that was given for it, or stays as it stands. It is never
removed, and nothing in a value is ever read as a placeholder: the prompt is gone over once.

    declared members  --read-->  Parameter        what the file asks
    Parameter, given  --settle-> Settled          the values as text, and every reason not to run yet
    prompt, values    --fill-->  Filled           the prompt of this run, and the placeholders left in it

The format gives each parameter a type and does not say how a value of it looks. Here a value is judged as it is
written, since a form and a command line give only text:

    string, text, file   any text
    number               a JSON number: 12, -0.5, 1e3
    boolean              true or false
    email                something@something, without blanks
    url                  scheme://something, without blanks
    select               the value of one of its options

Source: `.agent` format 10 and 10.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from descriptor.canonical import canonical
from descriptor.errors import DescriptorError, quoted
from descriptor.strictjson import JsonValue

Value: TypeAlias = str | int | float | bool

# Braces end what stands between them, so no text is gone over twice.
_PLACEHOLDER = re.compile(r"\{\{\s*(?P<word>[Pp][Aa][Rr][Aa][Mm][Ss])\.(?P<name>[^{}]*)\}\}")
_SHAPES = {
    "number": (re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII), "a number, such as 12 or -0.5"),
    "boolean": (re.compile("true|false"), "true or false"),
    "email": (re.compile(r"[^\s@]+@[^\s@]+"), "an e-mail address"),
    "url": (re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+"), "a URL, such as https://example.org"),
}
_EMPTY_IS_A_VALUE = ("string", "text")


@dataclass(frozen=True)
class Parameter:
    """One entry of `parameters`. `options`: of a `select`, the values as text. `default`: `None` when it has none."""

    name: str
    label: str
    type: str
    required: bool
    options: tuple[str, ...] = ()
    default: Value | None = None


class Reason(StrEnum):
    """Why a parameter keeps its agent from running."""

    MISSING = "missing"
    EMPTY = "empty"
    NOT_OF_ITS_TYPE = "not-of-its-type"
    NOT_AN_OPTION = "not-an-option"
    NOT_DECLARED = "not-declared"
    GIVEN_TWICE = "given-twice"


@dataclass(frozen=True)
class Problem:
    """One reason not to run yet. `name`: as the file declares it, or as it was given when the file does not."""

    name: str
    reason: Reason
    message: str


@dataclass(frozen=True)
class Settled:
    """The values of one run as text, by parameter name, and every reason not to run with them."""

    values: Mapping[str, str]
    problems: tuple[Problem, ...]

    @property
    def ready(self) -> bool:
        return not self.problems


@dataclass(frozen=True)
class Filled:
    """A prompt with its values in it. `left`: the placeholders that stayed, as they are written, each once."""

    text: str
    left: tuple[str, ...]


def read(parameters: Iterable[Mapping[str, JsonValue]]) -> tuple[Parameter, ...]:
    """The entries of a `parameters` member that the parser has accepted, in their order."""
    return tuple(
        Parameter(
            name=str(one["name"]),
            label=str(one["label"]),
            type=str(one["type"]),
            required=one["required"] is True,
            options=_option_values(one.get("options")),
            default=_value(one.get("default")),
        )
        for one in parameters
    )


def settle(parameters: Iterable[Parameter], given: Mapping[str, Value | None]) -> Settled:
    """What these parameters are in a run for which the owner gave `given`, by name in any case; `None`: not given.

    What is not given has its default. An empty text is a value of an optional `string` or `text`, which takes it out
    of the prompt as its owner said, and no value of any other type. A text of blanks is empty.

    Source: 10, `required`.

    >>> asked = Parameter("company_name", "Company name", "string", required=True)
    >>> settle([asked], {}).problems[0].message
    "Company name ('company_name') has no value; it is needed before this agent can run."
    >>> settle([asked], {"COMPANY_NAME": "Example"}).values
    {'company_name': 'Example'}
    """
    by_key: dict[str, Value | None] = {}
    values: dict[str, str] = {}
    problems: list[Problem] = []
    declared = tuple(parameters)
    known = {_key(one.name) for one in declared}
    for name, value in given.items():
        if _key(name) in by_key:
            said = f"A value for {quoted(name)} is given twice, in names that differ only in case; give it once."
            problems.append(Problem(name, Reason.GIVEN_TWICE, said))
        elif _key(name) not in known:
            said = f"This agent has no parameter {quoted(name)}; it has {_listed(one.name for one in declared)}."
            problems.append(Problem(name, Reason.NOT_DECLARED, said))
        by_key[_key(name)] = value
    for one in declared:
        value = by_key.get(_key(one.name))
        own = value is not None
        text = spelled(value) if value is not None else None if one.default is None else spelled(one.default)
        problem = _problem(one, text, own)
        if problem is not None:
            problems.append(problem)
        elif text is not None and (text.strip() or one.type in _EMPTY_IS_A_VALUE):
            values[one.name] = text
    return Settled(values, tuple(problems))


def fill(prompt: str, values: Mapping[str, Value]) -> Filled:
    """`prompt` with the value of each `{{params.name}}` in its place, by name in any case. Raises nothing.

    Blanks are allowed next to the braces. The word `params` is in small letters.

    Source: 10.1.

    >>> fill("For {{ params.Company }} by {{params.day}}", {"company": "{{params.day}}"})
    Filled(text='For {{params.day}} by {{params.day}}', left=('{{params.day}}',))
    """
    texts = {_key(name): spelled(value) for name, value in values.items()}
    left: dict[str, None] = {}

    def value_of(match: re.Match[str]) -> str:
        text = texts.get(_key(match["name"].rstrip())) if match["word"] == "params" else None
        if text is None:
            left[match[0]] = None
            return match[0]
        return text

    return Filled(_PLACEHOLDER.sub(value_of, prompt), tuple(left))


def spelled(value: Value) -> str:
    """A value as it stands in a prompt: text as it is, `true` or `false`, integers exactly.

    Other numbers are as in JSON's canonical form.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int):
        return str(value)
    try:
        return canonical(value).decode()
    except DescriptorError:
        return str(value)  # infinite or no number, so that no parameter of type number takes it


def _problem(one: Parameter, text: str | None, own: bool) -> Problem | None:
    """`own`: whether the text is the owner's, and not the file's default."""
    shown = f"{one.label} ({quoted(one.name)})"
    if text is None or not text.strip():
        reason, lacks = (Reason.MISSING, "has no value") if text is None else (Reason.EMPTY, "is empty")
        said = f"{shown} {lacks}; it is needed before this agent can run."
        return Problem(one.name, reason, said) if one.required else None
    whose = f"{quoted(text)}" if own else f"{quoted(text)}, the default in the file,"
    if one.type == "select" and text not in one.options:
        said = f"{shown}: {whose} is not among its options; choose one of {_listed(one.options)}."
        return Problem(one.name, Reason.NOT_AN_OPTION, said)
    shape, what = _SHAPES.get(one.type, (None, ""))
    if shape is not None and not shape.fullmatch(text):
        return Problem(one.name, Reason.NOT_OF_ITS_TYPE, f"{shown}: {whose} is not {what}.")
    return None


def _option_values(options: JsonValue) -> tuple[str, ...]:
    entries = options if isinstance(options, list) else []
    values = (_value(entry.get("value")) for entry in entries if isinstance(entry, dict))
    return tuple(spelled(value) for value in values if value is not None)


def _value(value: JsonValue) -> Value | None:
    return value if isinstance(value, Value) else None


def _key(name: str) -> str:
    """Names are ASCII: letters that only lower to one, such as the Kelvin sign, are not the letter."""
    return name.lower() if name.isascii() else name


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(quoted, names)) or "none"
