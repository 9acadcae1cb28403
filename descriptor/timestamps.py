"""Times as text: RFC 3339.

The invariant: the clock is never read here. Seconds come in as an argument, and a text that is not a moment
by RFC 3339 is refused, never guessed at.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from descriptor.errors import DescriptorError, quoted

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RFC3339 = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]+)?"
    r"(?:[Zz]|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))"
)


def format_timestamp(unix_seconds: float) -> str:
    """The moment in UTC with milliseconds, `"2026-07-25T00:00:00.000Z"`.

    Raises `DescriptorError` `BAD_TIMESTAMP` outside the years 1 to 9999.

    Source: binding 4.
    """
    try:
        seconds, milliseconds = divmod(round(unix_seconds * 1000), 1000)
        return f"{_written(seconds)}.{milliseconds:03d}Z"
    except (ValueError, OverflowError):
        raise DescriptorError(
            "BAD_TIMESTAMP", f"{unix_seconds} seconds is no moment of the years 1 to 9999; check the clock."
        ) from None


def parse_timestamp(text: str) -> float:
    """The moment `text` names, in seconds since 1970-01-01T00:00:00Z.

    A leap second counts as the first second of the next minute, as Unix time has it.

    Raises `DescriptorError` `BAD_TIMESTAMP` for what is not RFC 3339, dates that no calendar has, and the
    year 0.

    Source: binding 4; RFC 3339 section 5.6.
    """
    match = _RFC3339.fullmatch(text)
    if match is None:
        raise _bad(text)
    try:
        seconds = _read(match[1])
    except ValueError:
        raise _bad(text) from None
    if match[3]:
        offset = int(match[4]) * 3600 + int(match[5]) * 60
        seconds -= offset if match[3] == "+" else -offset
    if match[1].endswith(":60") and not _begins_month(seconds):
        raise _bad(text)
    return seconds + float(match[2] or 0)


# A node that answers thousands of envelopes a second meets the same second thousands of times.


@lru_cache(maxsize=16)
def _written(seconds: int) -> str:
    return (_EPOCH + timedelta(seconds=seconds)).isoformat()[:-6]


@lru_cache(maxsize=256)
def _read(text: str) -> int:
    """The seconds of `YYYY-MM-DDTHH:MM:SS`; of a leap second, those of the one after it. Raises ValueError."""
    leap = text.endswith(":60")
    local = datetime.fromisoformat(f"{text[:-2]}59" if leap else text).replace(tzinfo=UTC)
    return (local - _EPOCH) // timedelta(seconds=1) + leap


def _begins_month(seconds: int) -> bool:
    """Whether these seconds are midnight on the first of a month, where alone a leap second can stand before."""
    try:
        moment = _EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        return False
    return moment.day == 1 and seconds % 86_400 == 0


def _bad(text: str) -> DescriptorError:
    return DescriptorError(
        "BAD_TIMESTAMP", f"{quoted(text)} is no RFC 3339 timestamp; write it as 2026-07-25T00:00:00.000Z."
    )
