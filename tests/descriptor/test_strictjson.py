"""Strict JSON: one byte sequence has one reading, and a hostile one is refused at the cost of reading it once."""

import contextlib
import json
import math
import time
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from descriptor.errors import DescriptorError
from descriptor.strictjson import MAX_BYTES, MAX_DEPTH, RoundedInteger, parse

ACCEPTED: list[tuple[bytes, object]] = [
    (b"null", None),
    (b"true", True),
    (b" \t\r\n[1 , 2]\n", [1, 2]),
    (b'{"a":{"b":[]}}', {"a": {"b": []}}),
    (b'""', ""),
    ('"é😀"'.encode(), "é😀"),
    (b'"\\u00e9\\ud83d\\ude00"', "é😀"),
    (b'"\\\\ud83d"', "\\ud83d"),
    (b'{"\\ud83d\\ude00":"\\ud83d\\ude00"}', {"😀": "😀"}),
    (b'"\\u0000"', "\0"),
    ('"\ufeff"'.encode(), "\ufeff"),
    (b'[{"a":1},{"a":1}]', [{"a": 1}, {"a": 1}]),
    (b'{"a":{"a":{"a":1}}}', {"a": {"a": {"a": 1}}}),
    (b'{"a":1,"A":2}', {"a": 1, "A": 2}),
    ('{"é":1,"e\u0301":2}'.encode(), {"é": 1, "e\u0301": 2}),
]


@pytest.mark.parametrize(("data", "value"), ACCEPTED)
def test_json_is_read(data: bytes, value: object) -> None:
    assert parse(data) == value


REFUSED = [
    ("NOT_JSON", b""),
    ("NOT_JSON", b"  \n"),
    ("NOT_JSON", b"{} {}"),
    ("NOT_JSON", b"{}x"),
    ("NOT_JSON", b"x{}"),
    ("NOT_JSON", b"\x00{}"),
    ("NOT_JSON", b"{}\x00"),
    ("NOT_JSON", b"[1,]"),
    ("NOT_JSON", b'{"a":1,}'),
    ("NOT_JSON", b"{a:1}"),
    ("NOT_JSON", b"{'a':1}"),
    ("NOT_JSON", b'{"a" 1}'),
    ("NOT_JSON", b"[1 2]"),
    ("NOT_JSON", b"[1]]"),
    ("NOT_JSON", b"[1}"),
    ("NOT_JSON", b'"a'),
    ("NOT_JSON", b'"\\'),
    ("NOT_JSON", b'"\\x"'),
    ("NOT_JSON", b'"\\u12"'),
    ("NOT_JSON", b'"a\nb"'),
    ("NOT_JSON", b'"\x00"'),
    ("NOT_JSON", b"01"),
    ("NOT_JSON", b"-"),
    ("NOT_JSON", b"+1"),
    ("NOT_JSON", b".5"),
    ("NOT_JSON", b"1."),
    ("NOT_JSON", b"1e"),
    ("NOT_JSON", b"0x10"),
    ("NOT_JSON", b"1_000"),
    ("NOT_JSON", "١".encode()),
    ("NOT_JSON", "\u00a0{}".encode()),
    ("NOT_JSON", b"True"),
    ("NOT_JSON", b"nul"),
    ("NOT_JSON", b"// c\n{}"),
    ("NOT_JSON", '{"a":1}'.encode("utf-16-le")),
    ("NOT_UTF8", '{"a":1}'.encode("utf-16")),
    ("NOT_UTF8", b'"\xff"'),
    ("NOT_UTF8", b'"\xc0\x80"'),
    ("NOT_UTF8", b'"\xed\xa0\x80"'),
    ("NOT_UTF8", b'"\xf4\x90\x80\x80"'),
    ("NOT_UTF8", b'"\xc3'),
    ("BYTE_ORDER_MARK", b"\xef\xbb\xbf{}"),
    ("DUPLICATE_MEMBER", b'{"a":1,"a":1}'),
    ("DUPLICATE_MEMBER", b'{"a":1,"b":2,"\\u0061":3}'),
    ("DUPLICATE_MEMBER", b'[[{"b":{"":1,"":2}}]]'),
    ("NUMBER_OUT_OF_RANGE", b"NaN"),
    ("NUMBER_OUT_OF_RANGE", b"[Infinity]"),
    ("NUMBER_OUT_OF_RANGE", b'{"a":-Infinity}'),
    ("NUMBER_OUT_OF_RANGE", b"[9007199254740993,NaN]"),
    ("NUMBER_OUT_OF_RANGE", b"1e999"),
    ("NUMBER_OUT_OF_RANGE", b"-1E+999"),
    ("NUMBER_OUT_OF_RANGE", b"1e0999"),
    ("NUMBER_OUT_OF_RANGE", b"1.7976931348623159e308"),
    ("NUMBER_OUT_OF_RANGE", b"1" * 310),
    ("NUMBER_OUT_OF_RANGE", b"1" * 310 + b".5"),
    ("NUMBER_OUT_OF_RANGE", b"-" + b"9" * 100_000),
    ("LONE_SURROGATE", b'"\\ud800"'),
    ("LONE_SURROGATE", b'"\\uDFFF"'),
    ("LONE_SURROGATE", b'"\\ude00\\ud83d"'),
    ("LONE_SURROGATE", b'"\\ud83d\\ud83d\\ude00"'),
    ("LONE_SURROGATE", b'{"\\ud83d":1}'),
    ("LONE_SURROGATE", b'[{"a":["\\ud83dx"]}]'),
    ("LONE_SURROGATE", b'"\\\\\\ud800"'),
]


@pytest.mark.parametrize(("code", "data"), REFUSED)
def test_what_json_leaves_open_is_refused(code: str, data: bytes) -> None:
    with pytest.raises(DescriptorError) as raised:
        parse(data)
    assert raised.value.code == code
    assert len(raised.value.message) < 250
    raised.value.message.encode()


def test_not_json_is_said_with_line_and_column() -> None:
    with pytest.raises(DescriptorError, match="line 3, column 8"):
        parse(b'{\n  "a": 1,\n  "b": nope\n}')


@pytest.mark.parametrize(
    ("data", "named"),
    [(b'{"acts_for":1,"x":2,"acts_for":3}', "'acts_for'"), (b'{"a\\nb":1,"a\\nb":2}', r"'a\\nb'")],
)
def test_a_duplicate_member_is_named(data: bytes, named: str) -> None:
    with pytest.raises(DescriptorError) as raised:
        parse(data)
    assert named.replace("\\\\", "\\") in raised.value.message


def test_a_duplicate_member_named_by_half_a_surrogate_pair_makes_a_message_that_prints() -> None:
    with pytest.raises(DescriptorError) as raised:
        parse(b'{"\\ud800":1,"\\ud800":2}')
    assert raised.value.message.encode("utf-8")


INTEGERS = [
    (b"0", int, 0),
    (b"-0", int, 0),
    (b"9007199254740991", int, 2**53 - 1),
    (b"9007199254740992", int, 2**53),
    (b"-9007199254740992", int, -(2**53)),
    (b"9007199254740993", RoundedInteger, 2.0**53),
    (b"-9007199254740993", RoundedInteger, -(2.0**53)),
    (b"9007199254740994", RoundedInteger, 2.0**53 + 2),
    (b"123456789012345680000", RoundedInteger, 123456789012345680000.0),
    (b"1" + b"0" * 300, RoundedInteger, 1e300),
    (b"9007199254740993.0", float, 2.0**53),
    (b"1e2", float, 100.0),
    (b"1e0000000000002", float, 100.0),
    (b"1e-999", float, 0.0),
    (b"1.0", float, 1.0),
    (b"0." + b"1" * 100_000, float, 0.1111111111111111),
    (b"1.7976931348623157e308", float, 1.7976931348623157e308),
    (b"999999999999999e99", float, 999999999999999e99),
]


@pytest.mark.parametrize(("data", "kind", "value"), INTEGERS, ids=lambda part: str(part)[:24])
def test_numbers_are_doubles_and_integers_outside_their_range_say_so(data: bytes, kind: type, value: float) -> None:
    [alone] = [parse(data)]
    assert type(alone) is kind
    assert alone == value
    within = parse(b'{"n":[' + data + b"]}")
    assert within == {"n": [value]}


def nested(depth: int, opening: bytes = b"[", closing: bytes = b"]") -> bytes:
    return opening * depth + b"1" + closing * depth


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}"), (b'[ "]]" , ', b"]")])
def test_nesting_up_to_the_limit_is_read_and_one_more_is_refused(opening: bytes, closing: bytes) -> None:
    parse(nested(MAX_DEPTH, opening, closing))
    with pytest.raises(DescriptorError) as raised:
        parse(nested(MAX_DEPTH + 1, opening, closing))
    assert raised.value.code == "TOO_DEEP"


NOT_NESTING = [
    b"[" + b",".join([b"[]"] * 1000) + b"]",
    b'"' + b"[" * 1000 + b'"',
    b'["\\"' + b"[" * 1000 + b'","' + b"{" * 1000 + b'"]',
    b'["\\\\",[[]],"' + b"[" * 1000 + b'\\\\"]',
    b'["\\\\\\"[","\\\\",' + b'"[",' * 1000 + b'"]"]',
    b'["",["",["a",[]]],"' + b"[" * 1000 + b'",""]',
]


@pytest.mark.parametrize("data", NOT_NESTING, ids=range(len(NOT_NESTING)))
def test_brackets_in_strings_and_side_by_side_are_not_nesting(data: bytes) -> None:
    assert parse(data) == json.loads(data)


DEEP = [
    b"[" * MAX_BYTES,
    b'{"a":' * (MAX_BYTES // 5),
    b'["\\\\",' * (MAX_BYTES // 7),
    b'["]",' * (MAX_BYTES // 5),
    b'["\\"]",' * (MAX_BYTES // 7),
    b'["","",' * (MAX_BYTES // 7),
    b"[]" * 100 + b"[" * 2000,
]


@pytest.mark.parametrize("data", DEEP, ids=range(len(DEEP)))
def test_deep_nesting_never_reaches_the_parser(data: bytes) -> None:
    with pytest.raises(DescriptorError) as raised:
        parse(data)
    assert raised.value.code == "TOO_DEEP"


def test_nesting_beyond_what_the_interpreter_stands_is_refused_whatever_the_limit() -> None:
    with pytest.raises(DescriptorError) as raised:
        parse(nested(200_000), max_depth=1_000_000)
    assert raised.value.code == "TOO_DEEP"


def test_a_document_of_exactly_the_limit_is_read_and_one_byte_more_is_refused() -> None:
    parse(b'"' + b"a" * (MAX_BYTES - 2) + b'"')
    with pytest.raises(DescriptorError) as raised:
        parse(b'"' + b"a" * (MAX_BYTES - 1) + b'"')
    assert raised.value.code == "TOO_LARGE"


def test_size_is_judged_before_anything_else() -> None:
    with pytest.raises(DescriptorError) as raised:
        parse(b"\xff" * 11, max_bytes=10)
    assert raised.value.code == "TOO_LARGE"


OFFERING = {"id": "report", "about": 'Reads \u00e9 \\ " [ and answers. ' * 6, "takes": [{"max": 10, "rate": 0.5}]}
SLOW_TO_READ_NAIVELY = [
    json.dumps([OFFERING] * 3000).encode()[: MAX_BYTES - 1] + b"]",
    json.dumps([OFFERING] * 2500).encode(),
    b"[" * 40 + b'"' + b'\\"' * (MAX_BYTES // 2 - 50),
    b"[]" * 40 + b'"' * (MAX_BYTES - 100),
    b"[" * 80 + b"\\" * (MAX_BYTES - 100),
    b"1" * MAX_BYTES,
    b"[" + b"-" + b"9" * (MAX_BYTES - 3) + b"]",
    b"1e" + b"9" * (MAX_BYTES - 2),
    b"0." + b"3" * (MAX_BYTES - 2),
    b" " * MAX_BYTES,
]


@pytest.mark.parametrize("data", SLOW_TO_READ_NAIVELY, ids=range(len(SLOW_TO_READ_NAIVELY)))
def test_a_mebibyte_is_judged_in_time_that_grows_with_its_size_alone(data: bytes) -> None:
    assert len(data) <= MAX_BYTES
    started = time.process_time()
    with contextlib.suppress(DescriptorError):
        parse(data)
    assert time.process_time() - started < 1.0  # a tenth of a second is usual; quadratic work takes minutes


JSON_BYTES = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.text(alphabet='{}[]",:\\u0123456789.eE+-dD8 \n\ttrufalsn', max_size=80).map(str.encode),
)


@given(JSON_BYTES)
@example(b"\xff\xfe")
def test_no_bytes_raise_anything_but_the_error_of_this_floor(data: bytes) -> None:
    try:
        parse(data, max_depth=4)
    except DescriptorError as error:
        assert error.code.isupper()
        error.message.encode()


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(min_value=-(2**53), max_value=2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=30,
)


@given(JSON_VALUES, st.booleans(), st.sampled_from([None, 0, 3]))
@settings(max_examples=200)
def test_what_the_standard_library_writes_is_read_as_the_standard_library_reads_it(
    value: Any, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    read = parse(text.encode())
    assert read == json.loads(text)
    assert repr(read) == repr(json.loads(text))


@given(st.from_regex(r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?", fullmatch=True))
def test_a_number_is_the_double_its_text_names(literal: str) -> None:
    expected = float(literal)
    if math.isinf(expected):
        with pytest.raises(DescriptorError):
            parse(literal.encode())
        return
    number = parse(literal.encode())
    assert isinstance(number, int | float)
    assert float(number) == expected
    if isinstance(number, int):
        assert str(number) == literal.replace("-0", "0")


BRACKET_TEXT = st.text(alphabet='[]{}"\\a,:', max_size=8)
NESTED_VALUES = st.recursive(
    BRACKET_TEXT, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(BRACKET_TEXT, inner, max_size=4)
)


def depth_of(value: object) -> int:
    match value:
        case list():
            return 1 + max(map(depth_of, value), default=0)
        case dict():
            return 1 + max(map(depth_of, value.values()), default=0)
        case _:
            return 0


@given(NESTED_VALUES)
def test_nesting_is_counted_exactly_whatever_stands_in_the_strings(value: object) -> None:
    data = json.dumps([value]).encode()
    depth = depth_of([value])
    assert parse(data, max_depth=depth) == [value]
    with pytest.raises(DescriptorError) as raised:
        parse(data, max_depth=depth - 1)
    assert raised.value.code == "TOO_DEEP"
