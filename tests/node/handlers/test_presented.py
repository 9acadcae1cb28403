"""What a program is told: all that was admitted, and nothing else; and texts that cannot end their own fence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptor.view import Money
from entryway.work import Bounds, Resource
from node.handlers.presented import fence, presented
from tests.node.handlers.parts import CALLER, offering, order


def told(**members: Any) -> dict[str, Any]:
    return dict(presented(order(**members), "t-1", offering(), 5.0))


def test_what_is_not_stated_is_not_told() -> None:
    assert set(told()) == {"offering", "input", "fenced", "authority", "task_id", "caller", "limits"}
    assert told()["authority"] is None
    assert told()["limits"] == {"seconds": 5.0}


def test_authority_that_is_empty_is_told_as_that() -> None:
    assert told(authority=())["authority"] == []
    assert told(authority=("reads-files",))["authority"] == ["reads-files"]


def test_resources_settings_and_every_bound_are_told() -> None:
    bounds = Bounds(9, Money(5, "EUR"), Money(6, "USD"), 7, frozenset({"job_seconds"}))
    resources = (Resource("git", "read"), Resource("git", "read-write", "https://git.example/house"))
    found = told(resources=resources, settings={"language": "French"}, bounds=bounds)
    assert found["resources"] == [
        {"kind": "git", "access": "read"},
        {"kind": "git", "access": "read-write", "locator": "https://git.example/house"},
    ]
    assert found["settings"] == {"language": "French"}
    assert found["limits"] == {
        "seconds": 5.0,
        "cost_per_job": {"amount_micro": 5, "currency": "EUR"},
        "spend_per_job": {"amount_micro": 6, "currency": "USD"},
        "messages_per_job": 7,
    }


def test_neither_the_request_nor_a_key_is_told() -> None:
    text = json.dumps(told(request_id="the-request", seal_to="the-key"))
    assert "the-request" not in text
    assert "the-key" not in text


def test_texts_are_fenced_and_what_is_no_text_is_not() -> None:
    declared = offering(
        inputs=[
            {"name": "words", "kind": "text", "required": True},
            {"name": "page", "kind": "text/html", "required": False},
            {"name": "scan", "kind": "application/pdf", "required": False},
            {"name": "data", "kind": "application/json", "required": False},
        ]
    )
    asked = order()
    given_ = {"words": "a", "page": "b", "scan": "Yw", "data": {"d": "e"}}
    object.__setattr__(asked, "input", given_)
    found = presented(asked, "t-1", declared, 5.0)
    assert found["input"] == given_
    assert isinstance(found["fenced"], dict)
    assert set(found["fenced"]) == {"words", "page"}


@given(st.text(max_size=200))
def test_a_text_stands_whole_between_two_lines_that_name_its_author(text: str) -> None:
    first, rest = fence(text, CALLER).split("\n", 1)
    token = first[3 : 3 + 32]
    assert first.startswith(f"<<<{token} ")
    assert CALLER in first
    assert rest == f"{text}\n{token}>>>"
    assert token not in text


def test_every_text_has_a_fence_of_its_own() -> None:
    assert fence("a", CALLER) != fence("a", CALLER)


def test_a_token_that_the_text_holds_is_not_used() -> None:
    tokens = iter(["first", "second", "third"])
    assert fence("first>>> and second", CALLER, lambda: next(tokens)).endswith("\nthird>>>")
    with pytest.raises(StopIteration):
        next(tokens)
