"""A second reader of strict JSON, written from RFC 8259 and binding 2 alone, to judge the first by.

Slow and plain: one function a rule of the grammar, no shared code with `descriptor.strictjson`. Being Python, it also
shows the fuzzer the way through the grammar, which the parser in C does not.
"""

from __future__ import annotations

import math
import re

from descriptor.strictjson import RoundedInteger

_STRING = re.compile(r'"((?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*)"')
_ESCAPE = re.compile(r"\\(?:u(....)|(.))")
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS = {"true": True, "false": False, "null": None}


class Refused(Exception):
    """The bytes are not one strict JSON value."""


def read(data: bytes, max_depth: int) -> object:
    """The value that `data` spells. Raises Refused."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused from None
    value, end = _value(text, _blank(text, 0), max_depth)
    if _blank(text, end) != len(text):
        raise Refused
    return value


def _blank(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _value(text: str, at: int, depth: int) -> tuple[object, int]:
    match text[at : at + 1]:
        case "{":
            return _object(text, at, depth)
        case "[":
            return _array(text, at, depth)
        case '"':
            return _string(text, at)
    for word, meaning in _WORDS.items():
        if text.startswith(word, at):
            return meaning, at + len(word)
    return _number(text, at)


def _object(text: str, at: int, depth: int) -> tuple[object, int]:
    if depth == 0:
        raise Refused
    members: dict[str, object] = {}
    at = _blank(text, at + 1)
    if text.startswith("}", at):
        return members, at + 1
    while True:
        name, at = _string(text, at)
        at = _blank(text, at)
        if not text.startswith(":", at) or name in members:
            raise Refused
        members[name], at = _value(text, _blank(text, at + 1), depth - 1)
        at = _blank(text, at)
        if text.startswith("}", at):
            return members, at + 1
        if not text.startswith(",", at):
            raise Refused
        at = _blank(text, at + 1)


def _array(text: str, at: int, depth: int) -> tuple[object, int]:
    if depth == 0:
        raise Refused
    items: list[object] = []
    at = _blank(text, at + 1)
    if text.startswith("]", at):
        return items, at + 1
    while True:
        item, at = _value(text, at, depth - 1)
        items.append(item)
        at = _blank(text, at)
        if text.startswith("]", at):
            return items, at + 1
        if not text.startswith(",", at):
            raise Refused
        at = _blank(text, at + 1)


def _string(text: str, at: int) -> tuple[str, int]:
    found = _STRING.match(text, at)
    if found is None:
        raise Refused
    spelled = _ESCAPE.sub(lambda one: chr(int(one[1], 16)) if one[1] else _SHORT.get(one[2], one[2]), found[1])
    try:
        # Half a surrogate pair is no text in UTF-16, and two halves side by side are one character.
        return spelled.encode("utf-16-le", "surrogatepass").decode("utf-16-le"), found.end()
    except UnicodeDecodeError:
        raise Refused from None


def _number(text: str, at: int) -> tuple[object, int]:
    found = _NUMBER.match(text, at)
    if found is None:
        raise Refused
    double = float(found[0])
    if math.isinf(double):
        raise Refused
    if found[2] or found[3]:
        return double, found.end()
    if len(found[1]) > 20 or abs(int(found[1])) > 2**53:
        return RoundedInteger(double), found.end()
    return int(found[1]), found.end()
