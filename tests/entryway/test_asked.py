"""A payload is read once and whole: every member has its type, and nothing that was said is passed over."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptor.timestamps import format_timestamp
from descriptor.view import Money
from entryway.asked import Asked, Budget, read_asked
from entryway.errors import EntrywayError
from entryway.payload import Inquiry, is_inquiry, read_inquiry
from entryway.work import Resource
from tests.entryway.parts import NOW
from tests.entryway.test_codec import JSON_VALUES
from tests.fuzz.promises import assert_fit_to_show

MONEY = {"amount_micro": 5, "currency": "EUR"}


def read(payload: dict[str, Any]) -> Asked:
    return read_asked(payload, payload.get("input"))


def test_a_whole_request_is_read() -> None:
    payload = {
        "offering": "sort",
        "input": {"letter": "x"},
        "resources": [{"kind": "git", "access": "read", "locator": "ssh://h/x"}, {"kind": "folder", "access": "odd"}],
        "authority": ["reads-files", "reads-minds"],
        "spend_limit": MONEY,
        "budget": {"deadline": format_timestamp(NOW), "cost_ceiling": MONEY, "revision": 0},
        "run_config": {"settings": {"voice": 7}},
        "async": True,
    }
    assert read(payload) == Asked(
        "sort",
        {"letter": "x"},
        (Resource("git", "read", "ssh://h/x"), Resource("folder", "odd")),
        ("reads-files", "reads-minds"),
        Money(5, "EUR"),
        Budget(NOW, Money(5, "EUR"), 0),
        {"voice": 7},
        later=True,
    )


def test_what_is_not_said_is_not_stated() -> None:
    assert read({"offering": "sort"}) == Asked("sort")
    assert read({"offering": "sort", "authority": [], "budget": {}, "run_config": {}}) == Asked("sort", authority=())


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"offering": ...}, "/offering"),
    *(({"offering": value}, "/offering") for value in (None, 7, "", " ", ["sort"])),
    *(({"input": value}, "/input") for value in (None, 7, "x", [], True)),
    *(({"resources": value}, "/resources") for value in (None, {}, "git")),
    ({"resources": [{"kind": "git", "access": "read"}, "git"]}, "/resources/1"),
    ({"resources": [{"access": "read"}]}, "/resources/0/kind"),
    ({"resources": [{"kind": "git"}]}, "/resources/0/access"),
    ({"resources": [{"kind": "git", "access": ["read"]}]}, "/resources/0/access"),
    ({"resources": [{"kind": "git", "access": "read", "locator": 7}]}, "/resources/0/locator"),
    ({"resources": [{"kind": "git", "access": "read", "path": "/only/here"}]}, "/resources/0"),
    *(({"authority": value}, "/authority") for value in (None, "spends-money", {})),
    ({"authority": ["reads-files", 7]}, "/authority/1"),
    *(({"spend_limit": value}, "/spend_limit") for value in (None, 5, "5 EUR")),
    *(
        ({"spend_limit": {**MONEY, "amount_micro": value}}, "/spend_limit/amount_micro")
        for value in (0.5, 5.0, -1, True, "5", None, 2.0**60)
    ),
    ({"spend_limit": {"amount_micro": 5}}, "/spend_limit/currency"),
    *(({"spend_limit": {**MONEY, "currency": value}}, "/spend_limit/currency") for value in ("eur", "EURO", "€", 978)),
    ({"spend_limit": {**MONEY, "per": "month"}}, "/spend_limit"),
    *(({"budget": value}, "/budget") for value in (None, [], 7, {"deadlin": "x"})),
    *(({"budget": {"revision": value}}, "/budget/revision") for value in (-1, 0.5, True, "1", None)),
    *(({"budget": {"deadline": value}}, "/budget/deadline") for value in (NOW, "soon", "2026-02-30T00:00:00Z", None)),
    ({"budget": {"cost_ceiling": {"amount_micro": 1.5, "currency": "EUR"}}}, "/budget/cost_ceiling/amount_micro"),
    *(({"run_config": value}, "/run_config") for value in (None, [], {"named": "x"})),
    *(({"run_config": {"settings": value}}, "/run_config/settings") for value in (None, [], "x")),
    *(({"async": value}, "/async") for value in (None, 1, "true")),
    *(({name: 1}, "") for name in ("athority", "spend_limt", "cancel", "dry_run", "exchange", "", "x" * 5_000)),
]


@pytest.mark.parametrize(("members", "pointer"), BROKEN, ids=lambda value: str(value)[:60])
def test_what_cannot_be_read_is_refused_with_its_place(members: dict[str, Any], pointer: str) -> None:
    payload = {name: value for name, value in {"offering": "sort", **members}.items() if value is not ...}
    with pytest.raises(EntrywayError) as raised:
        read(payload)
    assert (raised.value.code, raised.value.details) == ("INPUT_INVALID", {"pointer": pointer})
    assert_fit_to_show(raised.value)


def test_a_misspelled_member_is_told_its_name() -> None:
    with pytest.raises(EntrywayError, match="Did you mean `spend_limit`"):
        read({"offering": "buy", "spend_limt": MONEY})


@given(
    st.dictionaries(
        st.sampled_from(["offering", "input", "resources", "authority", "budget", "async", "x"]), JSON_VALUES
    )
)
def test_whatever_comes_is_read_or_refused(payload: dict[str, Any]) -> None:
    try:
        asked = read(payload)
    except EntrywayError as error:
        assert error.code == "INPUT_INVALID"
        assert_fit_to_show(error)
    else:
        assert asked.offering == payload["offering"]
        assert "x" not in payload


# About a job.


@pytest.mark.parametrize(
    ("payload", "inquiry"),
    [({"task_id": "t"}, Inquiry("t", cancel=False)), ({"task_id": "t", "cancel": True}, Inquiry("t", cancel=True))],
)
def test_a_question_about_a_job_is_read(payload: dict[str, Any], inquiry: Inquiry) -> None:
    assert is_inquiry(payload)
    assert read_inquiry(payload) == inquiry


@pytest.mark.parametrize(
    ("payload", "pointer"),
    [
        ({"task_id": 7}, "/task_id"),
        ({"task_id": ""}, "/task_id"),
        ({"task_id": None}, "/task_id"),
        *(({"task_id": "t", "cancel": value}, "/cancel") for value in (False, None, 1, "true")),
        ({"task_id": "t", "offering": "sort"}, ""),
        ({"task_id": "t", "input": {}}, ""),
    ],
)
def test_a_question_about_a_job_holds_nothing_else(payload: dict[str, Any], pointer: str) -> None:
    with pytest.raises(EntrywayError) as raised:
        read_inquiry(payload)
    assert (raised.value.code, raised.value.details) == ("INPUT_INVALID", {"pointer": pointer})
