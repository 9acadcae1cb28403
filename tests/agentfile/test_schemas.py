"""Section 11.2, `schema`: a value holds only if every keyword that could refuse it was applied."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfile.schemas import holds
from descriptor.strictjson import RoundedInteger

TREE = {"$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["id"]}}}

CASES: list[tuple[Any, list[Any], list[Any]]] = [
    (True, [None, 1, {}], []),
    (False, [], [None, 1, {}]),
    ({}, [None, [], "a"], []),
    ({"type": "null"}, [None], [0, False, ""]),
    ({"type": "boolean"}, [True, False], [0, 1, "true"]),
    ({"type": "number"}, [0, 1.5, RoundedInteger(2.0**60)], [True, "1"]),
    ({"type": "integer"}, [0, 1.0, RoundedInteger(2.0**60)], [1.5, True, "1"]),
    ({"type": ["string", "null"]}, ["", None], [0, []]),
    ({"type": "object"}, [{}], [[], None]),
    ({"type": "array"}, [[]], [{}, ""]),
    ({"enum": [1, "a", None, [1]]}, [1, 1.0, "a", None, [1.0]], [2, "b", False, True, [True], []]),
    ({"enum": []}, [], [None]),
    ({"const": {"a": [1]}}, [{"a": [1]}, {"a": [1.0]}], [{"a": [2]}, {"a": [True]}, {}]),
    ({"minimum": 1}, [1, 1.5, "0"], [0, 0.99]),
    ({"maximum": 1}, [1, -5, None], [1.01]),
    ({"exclusiveMinimum": 1}, [1.01], [1, 0]),
    ({"exclusiveMaximum": 1}, [0.99], [1, 2]),
    ({"multipleOf": 0.1}, [0.3, 1, 1e300, "x"], [0.35]),
    ({"multipleOf": 3}, [9, 0, -3.0], [10, 0.5]),
    ({"minLength": 2}, ["ab", "😀😀", 1], ["a", "😀"]),
    ({"maxLength": 1}, ["", "😀"], ["ab"]),
    ({"minItems": 1, "maxItems": 2}, [[1], [1, 2], {}], [[], [1, 2, 3]]),
    ({"minProperties": 1, "maxProperties": 1.0}, [{"a": 1}, []], [{}, {"a": 1, "b": 2}]),
    ({"uniqueItems": True}, [[], [1, 2], [1, True], [{"a": 1}, {"a": 2}], "aa"], [[1, 1.0], [[1], [1]]]),
    ({"uniqueItems": False}, [[1, 1]], []),
    ({"required": ["a", "b"]}, [{"a": 1, "b": None}, "x"], [{}, {"a": 1}]),
    ({"properties": {"a": {"type": "string"}}}, [{"a": "x"}, {"b": 1}, 3], [{"a": 1}]),
    ({"properties": {"a": False}}, [{}], [{"a": 1}]),
    ({"properties": {"a": True}, "additionalProperties": False}, [{}, {"a": 1}], [{"b": 1}]),
    ({"additionalProperties": {"type": "number"}}, [{"x": 1}], [{"x": "1"}]),
    ({"propertyNames": {"maxLength": 1}}, [{"a": 1}], [{"ab": 1}]),
    ({"items": {"type": "integer"}}, [[], [1], {"a": "b"}], [[1, "a"]]),
    ({"prefixItems": [{"type": "string"}], "items": False}, [[], ["a"]], [[1], ["a", 1]]),
    ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, [1, 2], [0, 3]),
    ({"anyOf": [{"type": "string"}, {"minimum": 5}]}, ["a", 5], [4]),
    ({"oneOf": [{"type": "integer"}, {"minimum": 5}]}, [1, 5.5], [5, 1.5]),
    ({"not": {"type": "string"}}, [1], ["a"]),
    ({"not": {}}, [], [1]),
    ({**TREE, "$ref": "#/$defs/node"}, [{"id": 1}, {"id": 1, "next": {"id": 2}}], [{}, {"id": 1, "next": {}}]),
    ({"$defs": {"a/b~c": {"type": "null"}}, "$ref": "#/$defs/a~1b~0c"}, [None], [1]),
    ({"properties": {"a": {"$ref": "#"}}, "required": ["b"]}, [{"b": 1, "a": {"b": 2}}], [{"b": 1, "a": {}}]),
    ({"$ref": "#/$defs/a", "minimum": 3, "$defs": {"a": {"maximum": 5}}}, [4], [2, 6]),
    ({"$schema": "x", "$id": "y", "title": 1, "format": "email", "default": 3, "x-own": "z"}, ["no e-mail"], []),
]
UNTOLD: list[Any] = [
    *({"pattern": "a"}, {"patternProperties": {}}, {"if": {}}, {"contains": {}}, {"dependentRequired": {}}),
    *({"unevaluatedProperties": False}, {"$dynamicRef": "#a"}, {"additionalItems": False}, {"$anchor": "a"}),
    *({"$ref": "https://example.org/schema"}, {"$ref": "#name"}, {"$ref": "#/$defs/none"}, {"$ref": 1}),
    *({"$ref": "other.json#/a"}, {"$ref": ""}, {"$ref": "#/%24defs"}, {"allOf": [{"$id": "a", "$ref": "#"}]}),
    *({"$ref": "#"}, {"allOf": [{"$ref": "#"}]}, {"not": {"$ref": "#"}}, {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}),
    *({"type": "text"}, {"type": []}, {"type": 1}, {"type": ["string", 1]}, {"enum": 1}, {"minimum": "1"}),
    *({"minimum": True}, {"minLength": -1}, {"minLength": 1.5}, {"multipleOf": 0}, {"uniqueItems": 1}, {"required": 1}),
    *({"properties": []}, {"items": [{}]}, {"prefixItems": {}}, {"allOf": {}}, {"not": 1}, {"anyOf": [None]}),
    *(None, 1, "a", []),
]


@pytest.mark.parametrize(("schema", "value"), [(schema, value) for schema, good, _ in CASES for value in good])
def test_holds(schema: Any, value: Any) -> None:
    answer = holds(schema, value)
    assert (answer.holds, answer.reasons) == (True, ())


@pytest.mark.parametrize(("schema", "value"), [(schema, value) for schema, _, bad in CASES for value in bad])
def test_does_not_hold_and_says_why(schema: Any, value: Any) -> None:
    answer = holds(schema, value)
    assert answer.holds is False
    assert answer.reasons


@pytest.mark.parametrize("schema", UNTOLD)
def test_cannot_be_told(schema: Any) -> None:
    for value in (1, "a", ["a"], {"a": 1}):
        answer = holds(schema, value)
        assert answer.holds is None
        assert len(answer.reasons) == 1


def test_a_reason_names_the_place() -> None:
    schema = {"properties": {"rows": {"items": {"required": ["a/b"]}}}}
    assert holds(schema, {"rows": [{"a/b": 1}, {}]}).reasons == ("'/rows/1' has no member 'a/b'",)
    assert holds({"type": "string"}, 1).reasons == ("the value is not of type string",)
    assert holds({"minItems": 2}, [1]).reasons == ("the value has 1 items, and not at least 2",)
    assert holds({"maxItems": 0}, [1]).reasons == ("the value has 1 items, and not at most 0",)


def test_reasons_are_bounded() -> None:
    assert len(holds({"items": {"type": "string"}}, [1] * 1_000).reasons) == 20


def deep(depth: int) -> dict[str, Any]:
    return {} if depth == 0 else {"allOf": [{"$ref": f"#/$defs/{depth - 1}"}] * 2}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"$defs": {str(depth): deep(depth) for depth in range(61)}, "$ref": "#/$defs/60"}, 1),
        ({"enum": [["a" * 1_000] for _ in range(1_000)], "allOf": [{"$ref": "#"}]}, ["b" * 1_000_000]),
        ({"allOf": [{"const": "a"}] * 50_000}, "a" * 1_000_000),
        ({"items": {"enum": list(range(1, 5_000))}}, [0] * 100_000),
        ({"items": {"required": ["a"] * 50_000}}, [{"a": 1}] * 10_000),
        ({"items": {"uniqueItems": True, "allOf": [{"uniqueItems": True}] * 1_000}}, [["a" * 900_000, 1]] * 50),
    ],
    ids=["doubling", "enum", "const", "items-enum", "required", "unique"],
)
def test_a_hostile_schema_ends(schema: Any, value: Any) -> None:
    began = time.process_time()
    assert holds(schema, value).holds is not True
    assert time.process_time() - began < 10


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-3, 3) | st.text(max_size=3),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=2), children, max_size=3),
    max_leaves=8,
)
WORDS = [
    *("type", "enum", "const", "minimum", "multipleOf", "minLength", "maxItems", "uniqueItems", "required", "$ref")
]
WORDS += [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "properties",
    "additionalProperties",
    "propertyNames",
    "prefixItems",
    "items",
]
SCHEMAS = st.recursive(
    st.booleans()
    | st.dictionaries(st.sampled_from(WORDS), JSON | st.sampled_from(["string", "#", "#/not"]), max_size=2),
    lambda children: st.dictionaries(
        st.sampled_from(WORDS),
        children | st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=2), children),
    ),
    max_leaves=8,
)


@given(SCHEMAS | JSON, JSON)
def test_any_schema_gets_an_answer(schema: Any, value: Any) -> None:
    answer = holds(schema, value)
    assert (answer.holds is True) == (answer.reasons == ())
    # What is held to hold is refused by its negation, and the other way round.
    negated = (
        holds({"not": schema}, value).holds if isinstance(schema, bool | dict) and "$ref" not in str(schema) else None
    )
    assert negated is None or answer.holds is None or negated is not answer.holds
