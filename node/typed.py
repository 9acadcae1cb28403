"""What an operator types, as values: amounts, times, resources, and inputs by their kind.

Pure but for the files that are named. The invariant: money is counted in whole millionths from its text on and never
passes through a float, and a text that could be read in two ways is refused.

| typed              | is                                                                                |
|--------------------|-----------------------------------------------------------------------------------|
| `NAME=VALUE`       | the text; `@@` at its beginning is one `@`                                        |
| `NAME=@FILE`       | what is in the file, or on stdin for `-`: as its text, its JSON, or its bytes     |
| `NAME:=JSON`       | the value that the JSON says                                                      |

Source: binding 5 and 9; chapter 6.3 (kinds); 5.4 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from descriptor.encoding import b64url_encode
from descriptor.errors import DescriptorError, quoted
from descriptor.strictjson import MAX_BYTES, JsonValue, parse
from descriptor.timestamps import parse_timestamp
from descriptor.view import Money
from descriptor.vocabulary import WORKSPACE_ACCESS
from entryway.client import Resource
from entryway.texts import is_file, is_json
from node.console import read_input
from node.errors import Exit, NodeError

MICRO_DIGITS = 6
_AMOUNT = re.compile(r"(?P<whole>[0-9]{1,9})(\.(?P<part>[0-9]{1,6}))? ?(?P<currency>[A-Z]{3})")
_SPAN = re.compile(r"(?P<count>[0-9]{1,9})(?P<unit>[smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def money(text: str) -> Money:
    """An amount such as `5.00USD`. Raises NodeError INPUT_INVALID."""
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        raise _invalid(
            f"{quoted(text)} is no amount. Write it with a point and its currency behind it, such as 5.00USD; it is "
            "counted in millionths, so six places at most."
        )
    micro = f"{found['whole']}{(found['part'] or '').ljust(MICRO_DIGITS, '0')}"
    return Money(int(micro), found["currency"])


def written(value: Money) -> str:
    """Money as people write it: `5.00 USD`."""
    whole, part = divmod(value.amount_micro, 10**MICRO_DIGITS)
    places = f"{part:0{MICRO_DIGITS}}".rstrip("0").ljust(2, "0")
    return f"{whole}.{places} {value.currency}"


def moment(text: str, now: float) -> float:
    """A time, in seconds since 1970: so long from `now`, such as `10m`, or RFC 3339. Raises NodeError INPUT_INVALID."""
    span = _SPAN.fullmatch(text.strip())
    if span is not None:
        return now + int(span["count"]) * _SECONDS[span["unit"]]
    try:
        return parse_timestamp(text.strip())
    except DescriptorError:
        raise _invalid(
            f"{quoted(text)} is no deadline. Write how long from now, such as 90s, 10m, 2h or 1d, or a time such as "
            "2026-12-24T18:00:00Z."
        ) from None


def resource(text: str) -> Resource:
    """A resource such as `git:read:https://git.example/house`. Raises NodeError INPUT_INVALID."""
    kind, _, rest = text.partition(":")
    access, _, locator = rest.partition(":")
    if not kind or not locator or access not in WORKSPACE_ACCESS:
        raise _invalid(
            f"{quoted(text)} is no resource. Write its kind, read or read-write, and where it is, such as "
            "git:read:https://git.example/house."
        )
    return Resource(kind, access, locator)


@dataclass(frozen=True, slots=True)
class Given:
    """A name and what is given under it. `form`: `text`, `file` or `json`, which say what `value` is."""

    name: str
    form: str
    value: str


def given(text: str) -> Given:
    """What `NAME=VALUE` says, in its three forms. Raises NodeError INPUT_INVALID."""
    name, separator, value = text.partition("=")
    form = "text"
    if name.endswith(":"):
        name, form = name[:-1], "json"
    elif value.startswith("@@"):
        value = value[1:]
    elif value.startswith("@"):
        value, form = value[1:], "file"
    if not separator or not name:
        raise _invalid(f"{quoted(text)} gives no value. Write NAME=VALUE, NAME=@FILE or NAME:=JSON.")
    return Given(name, form, value)


def input_value(one: Given, kind: str | None) -> JsonValue:
    """The value of an input of a kind; `None` for a kind that is not stated, which is taken for text.

    A file of a media type travels as its bytes, base64url. Raises NodeError INPUT_INVALID, INPUT_UNREADABLE.
    """
    if one.form == "json":
        return _json(one.value.encode(errors="surrogateescape"), one.name)
    if one.form == "text":
        if kind is not None and is_file(kind):
            raise _invalid(f"{quoted(one.name)} is {kind}, which is the bytes of a file. Give it as {one.name}=@FILE.")
        return _text(one.value.encode(errors="surrogateescape"), f"The value of {quoted(one.name)}")
    data = read_input(one.value)
    if len(data) > MAX_BYTES:
        raise _invalid(f"{one.value} has more than the {MAX_BYTES} bytes that a request may have.")
    if kind is not None and is_file(kind):
        return b64url_encode(data)
    return _json(data, one.name) if kind is not None and is_json(kind) else _text(data, one.value)


def setting_value(one: Given) -> JsonValue:
    """The value of a setting. Raises NodeError INPUT_INVALID."""
    return input_value(one, None)


def _text(data: bytes, what: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise _invalid(f"{what} is not UTF-8 text, which this input takes.") from None


def _json(data: bytes, name: str) -> JsonValue:
    try:
        return parse(data)
    except DescriptorError as error:
        raise _invalid(f"What is given as {quoted(name)} is no JSON. {error.message}") from None


def _invalid(message: str) -> NodeError:
    return NodeError("INPUT_INVALID", message, Exit.UNREADABLE)
