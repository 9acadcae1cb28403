"""The canonical form that signatures are over: JCS (RFC 8785).

The invariant: every number is an IEEE 754 double. An integer that no double holds exactly is canonicalized as
the double that a reader of the JSON text gets, so that signer and verifier agree whatever integers their
languages have.

`rfc8785` is the authority. Most of what is canonicalized here is text and small numbers, whose form the standard
library's encoder writes as well, at the speed of C; a property test holds the two to the same bytes.
"""

from __future__ import annotations

import json
from typing import Any

import rfc8785

from descriptor.errors import DescriptorError
from descriptor.levels import levels

_LARGEST_SAFE = 2**53 - 1

_NUMBERS = {int, float}
_PLAIN_KINDS = {str, bool, type(None), dict, list} | _NUMBERS
_PLAIN = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, sort_keys=True, separators=(",", ":")
)


def canonical(value: object) -> bytes:
    """The JCS form of a JSON value (`None`, `bool`, `int`, `float`, `str`, `list`, `dict`), in UTF-8.

    Raises `DescriptorError` `NOT_CANONICAL` for what has none: a number that is no finite double, half a
    surrogate pair, a member name that is no string, a type JSON does not have.

    Source: binding 2.
    """
    try:
        if _is_plain(value):
            return _PLAIN.encode(value).encode()
        try:
            return _dumps(value)
        except rfc8785.IntegerDomainError:
            return _dumps(_with_doubles(value))
    except (ValueError, OverflowError, RecursionError) as error:
        raise DescriptorError("NOT_CANONICAL", f"The value has no canonical form: {error}.") from None


def _is_plain(value: Any) -> bool:
    """Whether `json` writes the canonical form: no number that it spells and no name that it sorts otherwise."""
    for names, values in levels(value):
        kinds = set(map(type, values))
        if not kinds <= _PLAIN_KINDS or not set(map(type, names)) <= {str}:
            return False
        # Names sort by UTF-16 code units, which is the order of their characters up to the surrogates.
        if any(not name.isascii() and max(name) >= "\ud800" for name in names):
            return False
        if not kinds.isdisjoint(_NUMBERS) and not all(_is_plain_number(one) for one in values if type(one) in _NUMBERS):
            return False
    return True


def _is_plain_number(number: float) -> bool:
    if isinstance(number, int):
        return -_LARGEST_SAFE <= number <= _LARGEST_SAFE
    # Python writes 1e-05, 1e+16 and 1.0 where ECMAScript writes 0.00001, 10000000000000000 and 1.
    return 1e-4 <= abs(number) < 1e16 and not number.is_integer()


def _dumps(value: Any) -> bytes:
    return rfc8785.dumps(value)


def _with_doubles(value: object) -> object:
    if isinstance(value, dict):
        return {name: _with_doubles(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_with_doubles(item) for item in value]
    if isinstance(value, int) and abs(value) > _LARGEST_SAFE:
        return float(value)
    return value
