"""The canonical form is JCS, with every number an IEEE 754 double."""

import json
import math
import struct
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from descriptor.canonical import canonical
from descriptor.errors import DescriptorError
from descriptor.strictjson import RoundedInteger, parse

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=30,
)

FORMS = [
    (2**53 - 1, b"9007199254740991"),
    (2**53, b"9007199254740992"),
    (2**53 + 1, b"9007199254740992"),
    (-(2**53) - 1, b"-9007199254740992"),
    (RoundedInteger("9007199254740993"), b"9007199254740992"),
    (10**21, b"1e+21"),
    ([10**20, {"a": 10**22}], b'[100000000000000000000,{"a":1e+22}]'),
    (-0.0, b"0"),
    (5e-324, b"5e-324"),
    (1.7976931348623157e308, b"1.7976931348623157e+308"),
    (1e-6, b"0.000001"),
    (1e-7, b"1e-7"),
    ({"b": 1, "a": 2, "": 3}, b'{"":3,"a":2,"b":1}'),
    ('\u0000\u001f\u007f"\\/\b\f\n\r\t', b'"\\u0000\\u001f\x7f\\"\\\\/\\b\\f\\n\\r\\t"'),
    ([True, False, None, [], {}], b"[true,false,null,[],{}]"),
    (True, b"true"),
    ([0.5, -0.0001, 9.9e-05, 1234.25, 1.0, 9007199254740991.5], b"[0.5,-0.0001,0.000099,1234.25,1,9007199254740992]"),
    ({"\U0001f600": 1, "\uffff": 2, "\ud7ff": 3}, '{"\ud7ff":3,"\U0001f600":1,"\uffff":2}'.encode()),
]


@pytest.mark.parametrize(("value", "form"), FORMS)
def test_the_form_is_the_one_of_rfc_8785(value: object, form: bytes) -> None:
    assert canonical(value) == form


def endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


WITHOUT_A_FORM = [
    math.nan,
    math.inf,
    10**400,
    [10**400],
    "\ud800",
    {"\ud800": 1},
    {1: 2},
    {"a": b"bytes"},
    {1, 2},
    endless(),
    [2**60, endless()],
]


@pytest.mark.parametrize("value", WITHOUT_A_FORM, ids=range(len(WITHOUT_A_FORM)))
def test_what_json_cannot_say_has_no_canonical_form(value: object) -> None:
    with pytest.raises(DescriptorError) as raised:
        canonical(value)
    assert raised.value.code == "NOT_CANONICAL"
    raised.value.message.encode()


# RFC 8785 appendix B: the bits of a double, and what ECMAScript writes for it.
APPENDIX_B = [
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("c340000000000000", "-9007199254740992"),
    ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555554", "333333333.33333325"),
    ("41b3de4355555555", "333333333.3333333"),
    ("41b3de4355555556", "333333333.3333334"),
    ("41b3de4355555557", "333333333.33333343"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
]


@pytest.mark.parametrize(("bits", "text"), APPENDIX_B)
def test_doubles_are_written_as_rfc_8785_appendix_b_writes_them(bits: str, text: str) -> None:
    (double,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical(double) == text.encode()


@given(VALUES)
def test_the_canonical_form_of_a_canonical_form_is_itself(value: object) -> None:
    form = canonical(value)
    assert canonical(parse(form)) == form


@given(VALUES)
def test_integers_are_their_doubles_and_all_else_is_as_rfc8785_has_it(value: object) -> None:
    assert canonical(value) == rfc8785.dumps(json.loads(json.dumps(value), parse_int=float))


@given(st.dictionaries(TEXT, st.integers(min_value=0, max_value=9)))
def test_member_order_does_not_matter(members: dict[str, int]) -> None:
    assert canonical(members) == canonical(dict(reversed(members.items())))
