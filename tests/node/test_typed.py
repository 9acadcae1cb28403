"""What an operator types: amounts to the millionth, times, resources, and values by their kind."""

from __future__ import annotations

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from descriptor.strictjson import JsonValue
from descriptor.view import Money
from entryway.client import Resource
from node.errors import Exit, NodeError
from node.typed import Given, given, input_value, moment, money, resource, written

NOW = 1_790_000_000.0


def refused(error: NodeError) -> None:
    assert (error.code, error.exit_code) == ("INPUT_INVALID", Exit.UNREADABLE)
    assert error.message.isprintable()


@pytest.mark.parametrize(
    ("text", "micro", "currency"),
    [
        ("5.00USD", 5_000_000, "USD"),
        ("5USD", 5_000_000, "USD"),
        (" 5.00 USD ", 5_000_000, "USD"),
        ("0.1EUR", 100_000, "EUR"),
        ("0.000001EUR", 1, "EUR"),
        ("0EUR", 0, "EUR"),
        ("999999999.999999JPY", 999_999_999_999_999, "JPY"),
        # As a float it would be 0.29 * 1e6 = 289999.99999999994.
        ("0.29USD", 290_000, "USD"),
        ("4.35USD", 4_350_000, "USD"),
    ],
)
def test_an_amount_is_whole_millionths(text: str, micro: int, currency: str) -> None:
    assert money(text) == Money(micro, currency)


@pytest.mark.parametrize(
    "text",
    [
        *("", "5", "USD", "USD5", "$5", "5 usd", "5,00USD", "1,000USD", "1_000USD", "-5USD", "+5USD", "5e3USD"),
        *("0.0000001USD", "1000000000USD", ".5USD", "5.USD", "5USDT", "5  USD", "٥USD", "5.00USD 6.00USD", "NaNUSD"),
    ],
)
def test_what_could_be_another_amount_is_none(text: str) -> None:
    with pytest.raises(NodeError) as caught:
        money(text)
    refused(caught.value)
    assert "5.00USD" in caught.value.message


@drawn(st.integers(0, 10**15 - 1), st.from_regex("[A-Z]{3}", fullmatch=True))
def test_an_amount_that_is_written_reads_back(micro: int, currency: str) -> None:
    assert money(written(Money(micro, currency))) == Money(micro, currency)


def test_an_amount_is_written_as_people_write_it() -> None:
    assert [written(Money(micro, "USD")) for micro in (0, 1, 1_500_000, 5_000_000, 1_234_560)] == [
        *("0.00 USD", "0.000001 USD", "1.50 USD", "5.00 USD", "1.23456 USD"),
    ]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", NOW + 90),
        ("10m", NOW + 600),
        ("2h", NOW + 7_200),
        ("1d", NOW + 86_400),
        ("2026-09-21T14:13:20Z", NOW),
        ("2026-09-21T16:13:20.250+02:00", NOW + 0.25),
    ],
)
def test_a_time_is_from_now_or_stands_by_itself(text: str, seconds: float) -> None:
    assert moment(text, NOW) == seconds


@pytest.mark.parametrize("text", ["", "soon", "10", "10 m", "1.5h", "-1h", "1w", "2026-09-21", "2026-09-21T14:13:20"])
def test_what_could_be_another_time_is_none(text: str) -> None:
    with pytest.raises(NodeError) as caught:
        moment(text, NOW)
    refused(caught.value)


def test_a_resource_is_a_kind_an_access_and_a_place() -> None:
    assert resource("git:read:https://git.example:8443/a") == Resource("git", "read", "https://git.example:8443/a")
    assert resource("folder:read-write:/srv") == Resource("folder", "read-write", "/srv")


@pytest.mark.parametrize("text", ["", "git", "git:read", "git:read:", ":read:x", "git:write:x", "git::x"])
def test_what_is_no_resource_is_said(text: str) -> None:
    with pytest.raises(NodeError) as caught:
        resource(text)
    refused(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b", Given("a", "text", "b")),
        ("a=", Given("a", "text", "")),
        ("a=b=c", Given("a", "text", "b=c")),
        ("a=@b", Given("a", "file", "b")),
        ("a=@@b", Given("a", "text", "@b")),
        ("a:=1", Given("a", "json", "1")),
        ("a:=@b", Given("a", "json", "@b")),
        ("two words=b", Given("two words", "text", "b")),
    ],
)
def test_a_value_is_given_in_three_forms(text: str, expected: Given) -> None:
    assert given(text) == expected


@pytest.mark.parametrize(
    ("one", "kind", "value"),
    [
        (Given("a", "text", "x"), "text", "x"),
        (Given("a", "text", "x"), None, "x"),
        (Given("a", "text", "1"), "application/json", "1"),
        (Given("a", "json", "1"), "text", 1),
        (Given("a", "json", '"QQ"'), "application/pdf", "QQ"),
    ],
)
def test_a_value_is_what_was_given(one: Given, kind: str | None, value: JsonValue) -> None:
    assert input_value(one, kind) == value


@pytest.mark.parametrize(
    ("one", "kind"),
    [
        (Given("a", "text", "x"), "application/pdf"),
        (Given("a", "text", "\udcff"), "text"),
        (Given("a", "json", "{"), "text"),
        (Given("a", "json", "NaN"), "text"),
        (Given("a", "json", '{"a":1,"a":2}'), "text"),
    ],
)
def test_what_is_no_value_of_its_kind_is_said(one: Given, kind: str) -> None:
    with pytest.raises(NodeError) as caught:
        input_value(one, kind)
    refused(caught.value)
