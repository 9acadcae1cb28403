"""Section 10: what an owner has to give before a run, and where it goes in the prompt."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentfile.parameters import Parameter, Reason, Value, fill, read, settle, spelled
from descriptor.strictjson import RoundedInteger

VALUES = {"company_name": "Example & Co", "days": 3, "rate": 0.5, "strict": True, "empty": ""}


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("For {{params.company_name}}.", "For Example & Co."),
        ("{{params.company_name}}{{params.days}}", "Example & Co3"),
        ("{{ params.days }}", "3"),
        ("{{\t\nparams.days\r\n}}", "3"),
        ("{{\u00a0params.days\u2003}}", "3"),
        ("{{params.DAYS}} {{params.Days}}", "3 3"),
        ("{{{params.days}}}", "{3}"),
        ("{{{{params.days}}}}", "{{3}}"),
        ("{{params.rate}} {{params.strict}}", "0.5 true"),
        ("a{{params.empty}}b", "ab"),
    ],
)
def test_10_1_a_placeholder_is_replaced(prompt: str, text: str) -> None:
    filled = fill(prompt, VALUES)
    assert filled.text == text
    assert filled.left == ()


@pytest.mark.parametrize(
    "placeholder",
    [
        *(
            "{{params.nobody}}",
            "{{ params.nobody }}",
            "{{params.}}",
            "{{params.1}}",
            "{{params.days2}}",
            "{{params.day}}",
        ),
        *("{{params.company-name}}", "{{params.company name}}", "{{params.days.x}}", "{{params.days|upper}}"),
        *("{{PARAMS.days}}", "{{Params.days}}", "{{params. days}}", "{{params.da\u0443s}}", "{{params.day\u017f}}"),
    ],
)
def test_10_1_an_unknown_placeholder_stays_and_is_told(placeholder: str) -> None:
    filled = fill(f"a {placeholder} b {placeholder} c {{{{params.days}}}}", VALUES)
    assert filled.text == f"a {placeholder} b {placeholder} c 3"
    assert filled.left == (placeholder,)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{{",
        "}}",
        "{params.days}",
        "{{days}}",
        "{{param.days}}",
        "{{ params .days }}",
        "{{params.days}",
        "params.days",
    ],
)
def test_10_1_what_is_no_placeholder_is_text(text: str) -> None:
    assert fill(text, VALUES) == fill(text, {})
    assert (fill(text, VALUES).text, fill(text, VALUES).left) == (text, ())


def test_10_1_nothing_in_a_value_is_a_placeholder() -> None:
    values = {"a": "{{params.b}}", "b": "{{params.a}}", "open": "{{", "close": "params.a}}"}
    assert fill("{{params.a}}{{params.b}}", values).text == "{{params.b}}{{params.a}}"
    assert fill("{{params.open}}{{params.close}}", values).text == "{{params.a}}"
    assert fill("{{params.open}}params.a}}", values).text == "{{params.a}}"
    assert fill(r"{{params.a}}", {"a": r"\1 \g<0> $1"}).text == r"\1 \g<0> $1"


def test_a_letter_that_only_lowers_to_another_is_not_it() -> None:
    assert fill("{{params.k}}", {"\u212a": "x"}).left == ("{{params.k}}",)
    assert settle([parameter(name="k")], {"\u212a": "x"}).problems[0].reason is Reason.NOT_DECLARED


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *(("", ""), ("a b", "a b"), (True, "true"), (False, "false"), (0, "0"), (-12, "-12"), (1.0, "1"), (0.1, "0.1")),
        *((1e21, "1e+21"), (1e-7, "1e-7"), (-0.0, "0"), (2**60, "1152921504606846976"), (float("inf"), "inf")),
        (RoundedInteger(2.0**60), "1152921504606847000"),
    ],
)
def test_values_as_they_are_written(value: Value, text: str) -> None:
    assert spelled(value) == text


def parameter(**members: Any) -> Parameter:
    return Parameter(**{"name": "p", "label": "P", "type": "string", "required": False, **members})


ACCEPTED = [
    ("string", ["a", 1, True, " a ", "{{params.p}}"]),
    ("text", ["a\nb", 0.5]),
    ("number", ["12", 12, -0.5, "-0.5", "1e3", "0", 0, "1E+2"]),
    ("boolean", ["true", "false", True, False]),
    ("email", ["ada@example.org", "ada+x@localhost"]),
    ("url", ["https://example.org", "ftp://example.org/a?b", "HTTP://EXAMPLE.org"]),
    ("file", ["ledger", "ledger.csv"]),
    ("select", ["a", "2", 2, 2.0]),
]
REFUSED = [
    ("number", ["a", "1,5", "01", "+1", ".5", "1.", "0x10", "NaN", "Infinity", "1 ", True, float("nan"), "١"]),
    ("boolean", ["yes", "True", "1", 1, 0, "on"]),
    ("email", ["ada", "@example.org", "ada@", "a b@example.org", "a@b@c", True]),
    ("url", ["example.org", "//example.org", "https://", "https:// a", "mailto:ada@example.org", 1]),
]


def declared(kind: str, **members: Any) -> Parameter:
    return parameter(type=kind, options=("a", "2") if kind == "select" else (), **members)


@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind, values in ACCEPTED for value in values])
def test_10_a_value_of_its_type_is_taken(kind: str, value: Value) -> None:
    settled = settle([declared(kind, required=True)], {"p": value})
    assert settled.ready
    assert settled.values == {"p": spelled(value)}
    assert settle([declared(kind, required=True, default=value)], {}).values == settled.values


@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind, values in REFUSED for value in values])
def test_10_a_value_of_another_type_is_told(kind: str, value: Value) -> None:
    (problem,) = settle([declared(kind)], {"P": value}).problems
    assert (problem.name, problem.reason) == ("p", Reason.NOT_OF_ITS_TYPE)
    (problem,) = settle([declared(kind, default=value)], {}).problems
    assert problem.reason is Reason.NOT_OF_ITS_TYPE
    assert "default in the file" in problem.message


def test_10_what_is_no_option_is_told_with_the_options() -> None:
    settled = settle([declared("select")], {"p": "b"})
    assert [problem.reason for problem in settled.problems] == [Reason.NOT_AN_OPTION]
    assert settled.problems[0].message == "P ('p'): 'b' is not among its options; choose one of 'a', '2'."
    assert settled.values == {}


@pytest.mark.parametrize("kind", ["string", "text", "number", "boolean", "email", "url", "select", "file"])
@pytest.mark.parametrize(
    ("given", "reason"),
    [({}, "missing"), ({"p": None}, "missing"), ({"p": ""}, "empty"), ({"p": " \t\u3000"}, "empty")],
)
def test_10_required_is_a_value_that_is_not_empty(kind: str, given: dict[str, Value | None], reason: str) -> None:
    needed = settle([declared(kind, required=True)], given)
    assert [problem.reason.value for problem in needed.problems] == [reason]
    assert needed.values == {}
    assert settle([declared(kind)], given).ready


def test_a_name_that_is_not_declared_is_told_with_those_that_are() -> None:
    assert settle([], {"x": 1}).problems[0].message == "This agent has no parameter 'x'; it has none."
    assert settle([parameter()], {"x": 1}).problems[0].message == "This agent has no parameter 'x'; it has 'p'."


def test_10_false_and_zero_are_values() -> None:
    asked = [parameter(name="a", type="boolean", required=True), parameter(name="b", type="number", required=True)]
    assert settle(asked, {"a": False, "b": 0}).values == {"a": "false", "b": "0"}


def test_10_a_default_is_a_value_until_another_is_given() -> None:
    asked = parameter(required=True, default="x")
    assert settle([asked], {}).values == {"p": "x"}
    assert settle([asked], {"p": None}).values == {"p": "x"}
    assert settle([asked], {"p": "y"}).values == {"p": "y"}
    assert settle([asked], {"p": ""}).problems[0].reason is Reason.EMPTY
    assert settle([parameter(default="x")], {"p": ""}).values == {"p": ""}
    assert settle([parameter(type="number", default=1)], {"p": ""}).values == {}


def test_everything_is_told_at_once() -> None:
    asked = [
        parameter(name="a", required=True),
        parameter(name="b", required=True),
        parameter(name="c", type="number"),
        parameter(name="d", required=True),
    ]
    settled = settle(asked, {"b": "", "c": "x", "d": "1", "D": "2", "e": "3"})
    assert [(problem.name, problem.reason.value) for problem in settled.problems] == [
        ("D", "given-twice"),
        ("e", "not-declared"),
        ("a", "missing"),
        ("b", "empty"),
        ("c", "not-of-its-type"),
    ]
    assert not settled.ready


def test_reading_the_member() -> None:
    file = {"kind": "table", "accepts": [".csv"]}
    members: list[dict[str, Any]] = [
        {"name": "a", "label": "A", "type": "string", "required": True, "placeholder": "x", "x-other": {}},
        {"name": "b", "label": "B", "type": "select", "required": False, "options": [{"value": 1, "label": "One"}]},
        {"name": "c", "label": "C", "type": "boolean", "required": False, "default": False},
        {"name": "d", "label": "D", "type": "file", "required": False, "artifact": file},
    ]
    assert read(members) == (
        Parameter("a", "A", "string", True),
        Parameter("b", "B", "select", False, options=("1",)),
        Parameter("c", "C", "boolean", False, default=False),
        Parameter("d", "D", "file", False),
    )
    assert settle(read(members), {"a": "x"}).values == {"a": "x", "c": "false"}


# --- Properties

PROMPTS = st.lists(
    st.sampled_from(["{{", "}}", "{", "}", "params.", "PARAMS.", "days", "DAYS", "a", " ", "\n", "{{params.days}}"])
    | st.text(max_size=5)
).map("".join)
ANY_VALUES = st.dictionaries(
    st.sampled_from(["days", "a", "DAYS"]) | st.text(max_size=4),
    PROMPTS | st.integers() | st.booleans() | st.floats(),
)


@given(PROMPTS, ANY_VALUES)
@example("{{params.{{params.days}}}}", {"days": "days"})
def test_filling_never_raises_and_removes_nothing_it_was_not_given(prompt: str, values: dict[str, Value]) -> None:
    filled = fill(prompt, values)
    assert all(placeholder in filled.text for placeholder in filled.left)
    assert fill(prompt, {}).text == prompt


@given(st.text(), ANY_VALUES)
def test_a_text_without_placeholders_is_its_own_filling(text: str, values: dict[str, Value]) -> None:
    text = text.replace("{{", "{ {")
    filled = fill(text, values)
    assert (filled.text, filled.left) == (text, ())
    assert fill(filled.text, values) == filled


@given(
    st.lists(
        st.builds(
            Parameter,
            name=st.sampled_from(["a", "b", "C"]),
            label=st.text(max_size=3),
            type=st.sampled_from([kind for kind, _ in ACCEPTED]),
            required=st.booleans(),
            options=st.just(("a", "1")),
            default=st.none() | st.text(max_size=3) | st.integers() | st.booleans(),
        ),
        unique_by=lambda one: one.name,
    ),
    st.dictionaries(
        st.sampled_from(["a", "B", "c", "d"]), st.none() | st.text(max_size=4) | st.floats() | st.booleans()
    ),
)
def test_settling_never_raises_and_is_ready_only_with_what_is_required(
    asked: list[Parameter], given_values: dict[str, Value | None]
) -> None:
    settled = settle(asked, given_values)
    if settled.ready:
        assert {one.name for one in asked if one.required} <= {
            name for name, text in settled.values.items() if text.strip()
        }
    else:
        assert all(problem.message.endswith(".") for problem in settled.problems)
