"""Timestamps are RFC 3339, and the clock is the caller's."""

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptor.errors import DescriptorError
from descriptor.timestamps import format_timestamp, parse_timestamp

WRITTEN = [
    (0.0, "1970-01-01T00:00:00.000Z"),
    (1784937600.0, "2026-07-25T00:00:00.000Z"),
    (1784937600.1234, "2026-07-25T00:00:00.123Z"),
    (1784937600.9996, "2026-07-25T00:00:01.000Z"),
    (-0.001, "1969-12-31T23:59:59.999Z"),
    (-62135596800.0, "0001-01-01T00:00:00.000Z"),
    (253402300799.999, "9999-12-31T23:59:59.999Z"),
]


@pytest.mark.parametrize(("seconds", "text"), WRITTEN)
def test_a_moment_is_written_in_utc_with_milliseconds(seconds: float, text: str) -> None:
    assert format_timestamp(seconds) == text


@pytest.mark.parametrize("seconds", [math.nan, math.inf, -math.inf, 1e300, 253402300800.0, -62135596801.0])
def test_what_is_no_moment_of_the_calendar_is_not_written(seconds: float) -> None:
    with pytest.raises(DescriptorError) as raised:
        format_timestamp(seconds)
    assert raised.value.code == "BAD_TIMESTAMP"


READ = [
    ("2026-07-25T00:00:00.000Z", 1784937600.0),
    ("2026-07-25T00:00:00Z", 1784937600.0),
    ("2026-07-25t00:00:00z", 1784937600.0),
    ("2026-07-25T02:00:00+02:00", 1784937600.0),
    ("2026-07-24T18:30:00-05:30", 1784937600.0),
    ("2026-07-25T00:00:00-00:00", 1784937600.0),
    ("2026-07-25T00:00:00.5Z", 1784937600.5),
    ("2026-07-25T00:00:00.123456789123Z", 1784937600.123456789),
    ("1969-12-31T23:59:58.5Z", -1.5),
    ("2024-02-29T00:00:00Z", 1709164800.0),
    ("0001-01-01T00:00:00+23:59", -62135596800.0 - 86340),
    ("9999-12-31T23:59:59-23:59", 253402300799.0 + 86340),
    ("1990-12-31T23:59:60Z", 662688000.0),
    ("1990-12-31T15:59:60-08:00", 662688000.0),
    ("1990-12-31T23:59:60.25Z", 662688000.25),
]


@pytest.mark.parametrize(("text", "seconds"), READ)
def test_rfc_3339_is_read(text: str, seconds: float) -> None:
    assert parse_timestamp(text) == seconds


REFUSED = [
    "",
    "2026-07-25",
    "2026-07-25T00:00:00",
    "2026-07-25 00:00:00Z",
    "2026-07-25T00:00Z",
    "2026-07-25T00:00:00.Z",
    "2026-07-25T00:00:00,5Z",
    "2026-07-25T00:00:00+0200",
    "2026-07-25T00:00:00+02",
    "2026-07-25T00:00:00+24:00",
    "2026-07-25T00:00:00+02:60",
    "2026-07-25T00:00:00+02:00Z",
    "2026-07-25T24:00:00Z",
    "2026-07-25T00:60:00Z",
    "2026-07-25T00:00:61Z",
    "2026-07-25T00:00:60Z",
    "2026-07-25T23:59:60Z",
    "2026-07-01T12:34:60Z",
    "1990-12-31T23:59:60+01:00",
    "9999-12-31T23:59:60-23:59",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "0000-01-01T00:00:00Z",
    "26-07-25T00:00:00Z",
    "2026-7-25T00:00:00Z",
    "+2026-07-25T00:00:00Z",
    "20260725T000000Z",
    "2026-W30-6T00:00:00Z",
    "2026-07-25T00:00:00Z\n",
    " 2026-07-25T00:00:00Z",
    "２026-07-25T00:00:00Z",
    "1784937600",
]


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_rfc_3339_is_refused(text: str) -> None:
    with pytest.raises(DescriptorError) as raised:
        parse_timestamp(text)
    assert raised.value.code == "BAD_TIMESTAMP"


@given(st.integers(min_value=-62135596800_000, max_value=253402300799_999))
def test_milliseconds_survive_the_round_trip(milliseconds: int) -> None:
    text = format_timestamp(milliseconds / 1000)
    assert parse_timestamp(text) == pytest.approx(milliseconds / 1000, abs=1e-4)
    assert format_timestamp(parse_timestamp(text)) == text


@given(st.datetimes(), st.integers(min_value=-1439, max_value=1439))
def test_an_offset_is_read_as_the_standard_library_reads_it(local: datetime, minutes: int) -> None:
    moment = local.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert parse_timestamp(moment.isoformat()) == pytest.approx(
        (moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds(), abs=1e-4
    )


@given(st.text(max_size=30) | st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+-]..:..)"))
def test_any_text_is_a_moment_or_refused(text: str) -> None:
    try:
        assert math.isfinite(parse_timestamp(text))
    except DescriptorError as error:
        assert error.code == "BAD_TIMESTAMP"
