"""An input is made small, and still breaks the same promise."""

from __future__ import annotations

import pytest

from tests.fuzz.shrink import shrunk


def one_input(data: bytes) -> None:
    assert b"\x00" not in data
    assert not (b"a" in data and data.endswith(b"b"))


@pytest.mark.parametrize(
    ("data", "small"),
    [
        (b"xxaxxaxxxb", b"ab"),
        (b"ab" * 500, b"ab"),
        (b"a\x00b" * 7, b"\x00"),
    ],
)
def test_what_is_left_is_what_the_failure_needs(data: bytes, small: bytes) -> None:
    assert shrunk(one_input, data) == small


def test_an_input_without_a_failure_is_refused() -> None:
    with pytest.raises(ValueError, match="breaks no promise"):
        shrunk(one_input, b"ba")
