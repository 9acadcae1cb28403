"""The canonical form that signatures are over: JCS (RFC 8785).

The invariant: every number is an IEEE 754 double. An integer that no double holds exactly is canonicalized as
the double that a reader of the JSON text gets, so that signer and verifier agree whatever integers their
languages have.
"""

from __future__ import annotations

from typing import Any

import rfc8785

from descriptor.errors import DescriptorError

_LARGEST_SAFE = 2**53 - 1


def canonical(value: object) -> bytes:
    """The JCS form of a JSON value (`None`, `bool`, `int`, `float`, `str`, `list`, `dict`), in UTF-8.

    Raises `DescriptorError` `NOT_CANONICAL` for what has none: a number that is no finite double, half a
    surrogate pair, a member name that is no string, a type JSON does not have.

    Source: binding 2.
    """
    try:
        try:
            return _dumps(value)
        except rfc8785.IntegerDomainError:
            return _dumps(_with_doubles(value))
    except (ValueError, OverflowError, RecursionError) as error:
        raise DescriptorError("NOT_CANONICAL", f"The value has no canonical form: {error}.") from None


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
