"""Edits on a document's text keep every byte they are not about."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptor.errors import DescriptorError
from descriptor.strictjson import JsonValue, parse
from descriptor.text import append_members, remove_member, replace_member

SUBJECT: dict[str, JsonValue] = {"id": "U1", "handle": "h"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(b'{"a": 1}', b'{"a": 1, "s": {"id": "U1", "handle": "h"}, "t": [1]}', id="one line, spaced"),
        pytest.param(b'{"a":1}', b'{"a":1,"s":{"id":"U1","handle":"h"},"t":[1]}', id="one line, compact"),
        pytest.param(
            b'{ "a" : 1 , "b" : 2 }',
            b'{ "a" : 1 , "b" : 2 , "s" : {"id" : "U1", "handle" : "h"} , "t" : [1] }',
            id="one line, the separators in use",
        ),
        pytest.param(
            b'{\n  "a": 1\n}\n',
            b'{\n  "a": 1,\n  "s": {"id": "U1", "handle": "h"},\n  "t": [1]\n}\n',
            id="a line each, trailing newline",
        ),
        pytest.param(
            b'{\r\n\t"a": 1,\r\n\t"b": 2\r\n}',
            b'{\r\n\t"a": 1,\r\n\t"b": 2,\r\n\t"s": {"id": "U1", "handle": "h"},\r\n\t"t": [1]\r\n}',
            id="CRLF and tabs",
        ),
        pytest.param(
            b'\n{\n\n   "a":1,"b":2}',
            b'\n{\n\n   "a":1,"b":2,\n   "s":{"id":"U1","handle":"h"},\n   "t":[1]}',
            id="the first member decides",
        ),
        pytest.param(
            b'{"a": 1,\n "b": 2}',
            b'{"a": 1,\n "b": 2,\n "s": {"id": "U1", "handle": "h"},\n "t": [1]}',
            id="the first member beside the brace",
        ),
        pytest.param(b"{}", b'{"s": {"id": "U1", "handle": "h"}, "t": [1]}', id="empty"),
        pytest.param(b"{ }", b'{ "s": {"id": "U1", "handle": "h"}, "t": [1] }', id="empty, spaced"),
        pytest.param(b"{\n}\n", b'{\n  "s": {"id": "U1", "handle": "h"},\n  "t": [1]\n}\n', id="empty, two lines"),
        pytest.param(
            b'{"a":\n1}', b'{"a":\n1, "s": {"id": "U1", "handle": "h"}, "t": [1]}', id="a value on its own line"
        ),
    ],
)
def test_appended_members_follow_the_documents_style(before: bytes, after: bytes) -> None:
    assert append_members(before, {"s": SUBJECT, "t": [1]}) == after
    assert remove_member(remove_member(after, "t"), "s") == before


@pytest.mark.parametrize(
    ("before", "name", "after"),
    [
        (b'{\n  "v": "1",\n  "b": [1,\n 2]\n}\n', "v", b'{\n  "v": {"x": [1, null]},\n  "b": [1,\n 2]\n}\n'),
        (b'{"b":"\\u00e9","v" :\t-1.50e3 }', "v", b'{"b":"\\u00e9","v" :\t{"x":[1,null]} }'),
        (b'{"\\u0076": "}", "b": "v"}', "v", b'{"\\u0076": {"x": [1, null]}, "b": "v"}'),
    ],
)
def test_a_replaced_value_stands_where_the_old_one_stood(before: bytes, name: str, after: bytes) -> None:
    assert replace_member(before, name, {"x": [1, None]}) == after


@pytest.mark.parametrize(
    ("before", "name", "after"),
    [
        (b'{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n', "a", b'{\n  "b": 2,\n  "c": 3\n}\n'),
        (b'{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n', "b", b'{\n  "a": 1,\n  "c": 3\n}\n'),
        (b'{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n', "c", b'{\n  "a": 1,\n  "b": 2\n}\n'),
        (b'{"a":{"b":","} , "c":[]}', "a", b'{"c":[]}'),
        (b'{ "a": 1 }', "a", b"{ }"),
    ],
)
def test_a_removed_member_takes_one_comma_along(before: bytes, name: str, after: bytes) -> None:
    assert remove_member(before, name) == after


def test_characters_are_written_as_themselves() -> None:
    assert append_members('{"a":"é"}'.encode(), {"b": "ü🚀"}) == '{"a":"é","b":"ü🚀"}'.encode()


def test_numbers_of_any_length_are_stepped_over() -> None:
    number = b"9" * 5_000
    assert append_members(b'{"a":' + number + b"}", {"b": 1}) == b'{"a":' + number + b',"b":1}'


def test_a_member_is_not_appended_twice() -> None:
    with pytest.raises(DescriptorError) as refused:
        append_members(b'{"\\u0061": 1}', {"a": 2})
    assert refused.value.code == "MEMBER_PRESENT"


@pytest.mark.parametrize("edit", [remove_member, lambda data, name: replace_member(data, name, 1)])
def test_a_member_that_is_absent_is_not_edited(edit: Any) -> None:
    with pytest.raises(DescriptorError) as refused:
        edit(b'{"a": {"b": 1}}', "b")
    assert refused.value.code == "MEMBER_ABSENT"


@pytest.mark.parametrize("edit", [{"b": "\udc80"}, {"\ud800": 1}])
def test_text_that_is_no_unicode_is_refused(edit: dict[str, JsonValue]) -> None:
    with pytest.raises(DescriptorError) as refused:
        append_members(b'{"a": 1}', edit)
    assert refused.value.code == "LONE_SURROGATE"


# Documents as people and programs write them: each formatting writes the same members in its own way.

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
blanks = st.text(" \t\r\n", max_size=3)


@st.composite
def documents(draw: st.DrawFn, min_size: int = 0) -> tuple[bytes, dict[str, Any]]:
    """A document and what it says."""
    members = draw(st.dictionaries(names, values, min_size=min_size, max_size=5))
    ascii_only = draw(st.booleans())
    indent = draw(st.sampled_from([None, 0, 2, "\t"]))
    texts = {name: json.dumps(value, ensure_ascii=ascii_only, indent=indent) for name, value in members.items()}
    formatting = draw(st.sampled_from(["dumps", "compact", "crlf", "scattered"]))
    if formatting == "dumps":
        text = json.dumps(members, ensure_ascii=ascii_only, indent=indent)
    elif formatting == "compact":
        text = "{" + ",".join(f"{json.dumps(name)}:{text}" for name, text in texts.items()) + "}"
    elif formatting == "crlf":
        text = "{\r\n    " + ",\r\n    ".join(f"{json.dumps(n)}: {t}" for n, t in texts.items()) + "\r\n}\r\n"
    else:
        text = _scattered(draw, texts)
    return text.encode(), members


def _scattered(draw: st.DrawFn, texts: dict[str, str]) -> str:
    def blank() -> str:
        return draw(blanks)

    written = [f"{blank()}{json.dumps(n)}{blank()}:{blank()}{t}{blank()}" for n, t in texts.items()]
    return blank() + "{" + (",".join(written) or blank()) + "}" + blank()


def _value_texts(data: bytes) -> dict[str, str]:
    """The text of each member's value, found by eating the document from its start."""
    text = data.decode().strip()[1:]
    found: dict[str, str] = {}
    decoder = json.JSONDecoder()
    while not (text := text.lstrip(" \t\r\n,")).startswith("}"):
        name, end = decoder.raw_decode(text)
        text = text[end:].lstrip(" \t\r\n")[1:].lstrip(" \t\r\n")
        _, end = decoder.raw_decode(text)
        found[name], text = text[:end], text[end:]
    return found


@given(documents(), st.dictionaries(names, values, min_size=1, max_size=3))
def test_appending_says_more_and_changes_nothing_else(
    document: tuple[bytes, dict[str, Any]], new: dict[str, Any]
) -> None:
    data, members = document
    new = {name: value for name, value in new.items() if name not in members}
    before = _value_texts(data)
    appended = append_members(data, new)
    assert parse(appended) == {**members, **new}
    assert list(parse(appended)) == [*members, *new]  # type: ignore[arg-type]  # an object, as the line before says
    assert {name: text for name, text in _value_texts(appended).items() if name in members} == before
    for name in reversed(new):
        appended = remove_member(appended, name)
    assert appended == data


@given(documents(min_size=1), values, st.data())
def test_replacing_and_removing_touch_one_member(
    document: tuple[bytes, dict[str, Any]], value: Any, data: st.DataObject
) -> None:
    text, members = document
    name = data.draw(st.sampled_from(sorted(members)))
    before = _value_texts(text)
    others = {other: written for other, written in before.items() if other != name}

    replaced = replace_member(text, name, value)
    assert parse(replaced) == {**members, name: value}
    assert {other: written for other, written in _value_texts(replaced).items() if other != name} == others
    if text.count(before[name].encode()) == 1:
        head, tail = text.split(before[name].encode())
        assert replaced.startswith(head)
        assert replaced.endswith(tail)

    removed = remove_member(text, name)
    assert parse(removed) == {other: members[other] for other in members if other != name}
    assert _value_texts(removed) == others
