"""What a request sends is what the offering declares: all that is needed, of its kind and size, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptor.encoding import b64url_encode
from descriptor.view import View, view
from entryway.asked import Asked
from entryway.boundary_inputs import size_of
from tests.descriptor.rules.cases import OFFERING, draft
from tests.entryway.judged import ordered, refused


def taking(*inputs: dict[str, Any]) -> View:
    return view(draft(offerings=[{**OFFERING, "inputs": list(inputs)}]))


def one(kind: str, **members: Any) -> View:
    return taking({"name": "it", "kind": kind, "required": True, **members})


def read(**given: Any) -> Asked:
    return Asked("read", given)


GROUP = taking(
    {"name": "page", "kind": "url", "one_of": "source"},
    {"name": "words", "kind": "text", "one_of": "source", "required": True},
    {"name": "tone", "kind": "text", "one_of": "manner"},
    {"name": "note", "kind": "text"},
)


def test_what_is_required_has_to_come() -> None:
    assert refused(one("text"), read(), "INPUT_INVALID") == {"offering": "read", "input": "it"}
    ordered(one("text"), read(it=""))
    ordered(one("text", required=False), read())
    ordered(taking({"name": "it", "kind": "text"}), read())


def test_what_is_reached_and_not_furnished_never_has_to_come() -> None:
    ordered(one("url", external=True), read())
    ordered(taking({"name": "a", "kind": "url", "one_of": "g", "external": True}), read())


@pytest.mark.parametrize(
    ("given", "allowed"),
    [
        ({"words": "x", "tone": "x"}, None),
        ({"page": "https://a.example/", "words": "x", "tone": "x"}, None),
        ({"page": "https://a.example/", "tone": "x"}, None),
        ({"tone": "x", "note": "x"}, ["page", "words"]),
        ({"page": "https://a.example/"}, ["tone"]),
    ],
)
def test_of_a_group_one_has_to_come_and_none_is_required_by_itself(
    given: dict[str, Any], allowed: list[str] | None
) -> None:
    if allowed is None:
        ordered(GROUP, read(**given))
    else:
        assert refused(GROUP, read(**given), "INPUT_INVALID") == {"offering": "read", "allowed": allowed}


KINDS: list[tuple[str, list[Any], list[Any]]] = [
    ("text", ["", "Grüße", "a\nb"], [None, 7, True, [], {}]),
    ("text/markdown", ["# Title", ""], [7, ["x"]]),
    ("TEXT/CSV", ["a,b"], [None]),
    ("identifier", ["paperwork.home", "7"], ["", " \t", 7, None]),
    ("url", ["https://a.example/x?y=1", "mailto:a", "git+ssh://h/x"], ["", "a.example", "https:", "https://a b", 7]),
    ("document", ["https://a.example/x.pdf"], ["x.pdf", "http://a\x00b", ["https://a.example/"]]),
    ("application/json", [{"a": [1]}, [], 7, None, "x", True], []),
    ("application/vnd.agentmesh.run-context+json", [{"focus": "x"}], []),
    ("application/pdf", ["", "JVBERg", b64url_encode(bytes(range(256)))], ["JVBERi=", "a b", "+/", "A", {}, 7, None]),
    ("Image/PNG", ["iVBORw"], ["iVBORw==", "…"]),
]


@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind, right, _ in KINDS for value in right], ids=repr)
def test_a_value_of_its_kind_is_taken(kind: str, value: Any) -> None:
    assert ordered(one(kind), read(it=value)).input == {"it": value}


@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind, _, wrong in KINDS for value in wrong], ids=repr)
def test_a_value_of_another_kind_is_refused(kind: str, value: Any) -> None:
    assert refused(one(kind), read(it=value), "INPUT_INVALID") == {"offering": "read", "input": "it", "kind": kind}


@pytest.mark.parametrize(
    ("kind", "fits", "over"),
    [
        ("text", "x" * 8, "x" * 9),
        ("text", "ü" * 4, "ü" * 4 + "x"),
        ("text/plain", "🚀🚀", "🚀🚀x"),
        ("url", "http:a/b", "http:a/bc"),
        ("application/pdf", b64url_encode(bytes(8)), b64url_encode(bytes(9))),
        ("application/json", {"a": 10}, {"a": 100}),
    ],
)
def test_exactly_as_many_bytes_as_may_be_are_taken(kind: str, fits: Any, over: Any) -> None:
    agent = one(kind, max_bytes=8)
    ordered(agent, read(it=fits))
    assert refused(agent, read(it=over), "INPUT_INVALID") == {"offering": "read", "input": "it", "max_bytes": 8}


@given(st.binary(max_size=100))
def test_a_file_is_as_large_as_its_bytes(data: bytes) -> None:
    assert size_of("application/pdf", b64url_encode(data)) == len(data)


def test_what_is_not_declared_is_not_taken() -> None:
    assert refused(one("text"), read(it="x", more="y"), "INPUT_INVALID")["allowed"] == ["it"]
    assert refused(view(draft(offerings=[{**OFFERING, "inputs": []}])), read(it="x"), "INPUT_INVALID")["allowed"] == []


def test_an_offering_that_says_nothing_of_its_inputs_takes_none() -> None:
    silent = view(draft(offerings=[{name: value for name, value in OFFERING.items() if name != "inputs"}]))
    ordered(silent, read())
    refused(silent, read(it="x"), "INPUT_INVALID")


def test_a_message_names_a_few_of_many_inputs() -> None:
    many = taking(*({"name": f"input-{number}", "kind": "text"} for number in range(50)))
    assert len(refused(many, read(it="x"), "INPUT_INVALID")["allowed"]) == 50
