"""Amounts as people read them. What cannot be said more plainly is said as it stands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from descriptor.errors import DescriptorError
from descriptor.strictjson import JsonValue
from descriptor.timestamps import format_timestamp, parse_timestamp

_DURATION = re.compile(r"P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")
_UNITS = ("week", "day", "hour", "minute", "second")
_STEPS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def number(value: float) -> str:
    """A number, with its thousands apart."""
    return f"{value:,}" if isinstance(value, int) or not value.is_integer() or abs(value) >= 1e15 else f"{value:,.0f}"


def count(value: float, unit: str) -> str:
    """A number of things. `unit`: one of them."""
    return f"{number(value)} {unit}" if value == 1 else f"{number(value)} {unit}s"


def seconds(value: float) -> str:
    """A time in the largest unit that it is a whole number of, such as `2 hours`."""
    for size, unit in _STEPS:
        if value >= size and value % size == 0:
            return count(value // size, unit)
    return count(value, "second")


def size(value: float) -> str:
    """Bytes, in units of a thousand."""
    for unit, limit in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if value >= limit:
            return f"{value / limit:,.4g} {unit}" if value < 1e15 else count(value, "byte")
    return count(value, "byte")


def money(value: Mapping[str, JsonValue]) -> str:
    """An amount with its currency. Whoever calls has seen that it is money."""
    amount = value["amount_micro"]
    assert isinstance(amount, int)
    units = Decimal(amount).scaleb(-6)
    shown = f"{units:,.2f}" if units == units.quantize(Decimal("0.01")) else f"{units:,f}".rstrip("0")
    return f"{shown} {value['currency']}"


def duration(text: str) -> str:
    """An ISO 8601 duration in words; one of another form as it stands."""
    match = _DURATION.fullmatch(text) if len(text) < 60 else None
    parts = [] if match is None else zip(match.groups(), _UNITS, strict=True)
    said = [count(int(amount), unit) for amount, unit in parts if amount is not None]
    return " and ".join(said) or text


def moment(text: str) -> str:
    """An RFC 3339 time as a date and a time of day, in UTC; anything else as it stands."""
    try:
        utc = format_timestamp(parse_timestamp(text))
    except DescriptorError:
        return text
    return f"{int(utc[8:10])} {_MONTHS[int(utc[5:7]) - 1]} {utc[:4]}, {utc[11:16]} UTC"
