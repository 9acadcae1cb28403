"""Bytes to JSON values, once, strictly.

The invariant: one byte sequence has one reading. Two readers that both accept a document see the same members
with the same values, so whatever JSON leaves open is refused here: a byte order mark, encodings beside UTF-8,
a member name given twice, half a surrogate pair, numbers that are no finite double. Size and nesting are
bounded before anything is built, so that the cost of a hostile document is the cost of reading it once.

`json` does the parsing; what it is too lenient for is checked around it, at the speed of C.
"""

from __future__ import annotations

import json
import math
import re
from array import array
from collections import Counter
from itertools import accumulate
from typing import Any, NoReturn, TypeAlias

from descriptor.errors import DescriptorError, quoted

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

MAX_BYTES = 1_048_576
MAX_DEPTH = 64

_LARGEST_EXACT = 2**53
_LONGEST_EXACT = len(str(-_LARGEST_EXACT))

# With every digit made a 0, every E an e and no + left: bytes that hold neither hold no integer of more than 15
# digits and no number above 10^(15 + 99), so that `int` and `float` read each of them right without a second look.
_DIGITS_AND_E = bytes.maketrans(b"123456789E", b"000000000e")
_MANY_DIGITS = b"0" * 16
_LARGE_EXPONENT = b"e000"

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")

_BRACKET_OR_QUOTE = b'[]{}"'
_OTHER_BYTES = bytes(byte for byte in range(256) if byte not in _BRACKET_OR_QUOTE)
_STEP = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")


class RoundedInteger(float):
    """An integer outside ±2^53, as the double it is read as. A type of its own, so that a checker can report it."""

    __slots__ = ()


def parse(data: bytes, *, max_bytes: int = MAX_BYTES, max_depth: int = MAX_DEPTH) -> JsonValue:
    """The JSON value that `data` spells, in UTF-8.

    Integers within ±2^53 come as `int`, others as `RoundedInteger`, all other numbers as `float`. `max_bytes`
    counts bytes; `max_depth` counts arrays and objects inside one another.

    Raises `DescriptorError`: `TOO_LARGE`, `BYTE_ORDER_MARK`, `NOT_UTF8`, `TOO_DEEP`, `DUPLICATE_MEMBER`,
    `NUMBER_OUT_OF_RANGE`, `LONE_SURROGATE`, and `NOT_JSON` for everything else, with line and column.

    Source: binding 2 (numbers), binding 10 (limits).
    """
    if len(data) > max_bytes:
        raise DescriptorError(
            "TOO_LARGE", f"The document is {len(data):,} bytes long; at most {max_bytes:,} bytes are read."
        )
    text = _decoded(data)
    _refuse_deep(data, max_depth)
    try:
        value: JsonValue = (_CAREFUL if _may_hold_large_numbers(data) else _PLAIN).decode(text)
    except json.JSONDecodeError as error:
        raise DescriptorError(
            "NOT_JSON", f"Not JSON at line {error.lineno}, column {error.colno}: {error.msg}."
        ) from None
    except RecursionError:
        raise _too_deep(max_depth) from None
    if _SURROGATE_ESCAPE.search(text):
        _refuse_lone_surrogates(value)
    return value


def _decoded(data: bytes) -> str:
    if data.startswith(b"\xef\xbb\xbf"):
        raise DescriptorError(
            "BYTE_ORDER_MARK", "The document begins with a byte order mark; save it as UTF-8 without one."
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DescriptorError(
            "NOT_UTF8", f"The document is not UTF-8 at byte {error.start}; save it as UTF-8."
        ) from None


def _refuse_deep(data: bytes, max_depth: int) -> None:
    if data.count(b"[") + data.count(b"{") <= max_depth:
        return
    unescaped = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Only brackets and quotes are left, and every other piece between quotes is a string. Quotes side by side have
    # nothing between them to tell apart, so dropping them in pairs keeps that order and leaves few pieces.
    marks = unescaped.translate(None, _OTHER_BYTES).replace(b'""', b"")
    brackets = b"".join(marks.split(b'"')[::2])
    if max(accumulate(array("b", brackets.translate(_STEP))), default=0) > max_depth:
        raise _too_deep(max_depth)


def _too_deep(max_depth: int) -> DescriptorError:
    return DescriptorError(
        "TOO_DEEP", f"Arrays and objects are nested more than {max_depth} deep; flatten the document."
    )


def _may_hold_large_numbers(data: bytes) -> bool:
    marks = data.translate(_DIGITS_AND_E, b"+")
    return _MANY_DIGITS in marks or _LARGE_EXPONENT in marks


def _refuse_lone_surrogates(value: JsonValue) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        half = ord(error.object[error.start])
        raise DescriptorError(
            "LONE_SURROGATE",
            f"A string holds \\u{half:04x}, one half of a surrogate pair without the other; write the whole character.",
        ) from None


def _integer(literal: str) -> int | RoundedInteger:
    if len(literal) <= _LONGEST_EXACT and abs(exact := int(literal)) <= _LARGEST_EXACT:
        return exact
    return RoundedInteger(_double(literal))


def _double(literal: str) -> float:
    number = float(literal)
    if math.isinf(number):
        raise DescriptorError(
            "NUMBER_OUT_OF_RANGE",
            f"The number {quoted(literal)} is larger than any IEEE 754 double; write it as a string or leave it out.",
        )
    return number


def _constant(name: str) -> NoReturn:
    raise DescriptorError("NUMBER_OUT_OF_RANGE", f"{name} is not a JSON number; state a number or leave it out.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if not pairs:
        return {}
    members = dict(pairs)
    if len(members) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name, count in counts.items() if count > 1)
        raise DescriptorError(
            "DUPLICATE_MEMBER", f"The member {quoted(twice)} stands twice in one object; keep one of them."
        )
    return members


_PLAIN = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)
_CAREFUL = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer, parse_float=_double
)
