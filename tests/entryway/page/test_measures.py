"""Amounts as people read them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entryway.page import measures


@pytest.mark.parametrize(
    ("function", "value", "said"),
    [
        (measures.seconds, 1, "1 second"),
        (measures.seconds, 90, "90 seconds"),
        (measures.seconds, 120, "2 minutes"),
        (measures.seconds, 3600, "1 hour"),
        (measures.seconds, 172_800, "2 days"),
        (measures.size, 1, "1 byte"),
        (measures.size, 999, "999 bytes"),
        (measures.size, 200_000, "200 kB"),
        (measures.size, 20_000_000, "20 MB"),
        (measures.size, 1_048_576, "1.049 MB"),
        (measures.size, 10**15, "1,000,000,000,000,000 bytes"),
        (measures.number, 2.5, "2.5"),
        (measures.number, 1e300, "1e+300"),
        (measures.number, 20_000, "20,000"),
        (measures.money, {"amount_micro": 20_000_000, "currency": "USD"}, "20.00 USD"),
        (measures.money, {"amount_micro": 1, "currency": "EUR"}, "0.000001 EUR"),
        (measures.money, {"amount_micro": 2**53, "currency": "JPY"}, "9,007,199,254.740992 JPY"),
        (measures.money, {"amount_micro": 1_250_000, "currency": "EUR"}, "1.25 EUR"),
        (measures.duration, "PT15M", "15 minutes"),
        (measures.duration, "P1DT12H", "1 day and 12 hours"),
        (measures.duration, "P", "P"),
        (measures.duration, "P1Y", "P1Y"),
        (measures.moment, "2026-12-01T04:51:51.905Z", "1 December 2026, 04:51 UTC"),
        (measures.moment, "2026-12-01T00:30:00+02:00", "30 November 2026, 22:30 UTC"),
        (measures.moment, "soon", "soon"),
    ],
)
def test_an_amount_in_words(function: Any, value: Any, said: str) -> None:
    assert function(value) == said


@given(st.integers(0, 2**53))
def test_money_is_never_rounded(amount: int) -> None:
    said = measures.money({"amount_micro": amount, "currency": "USD"}).removesuffix(" USD").replace(",", "")
    whole, _, micro = said.partition(".")
    assert int(whole) * 10**6 + int(micro.ljust(6, "0")) == amount
