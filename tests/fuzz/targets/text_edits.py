"""Edits on a document's text: they change the member they are about and no other byte.

- On any object that was accepted, they raise `DescriptorError` or give an object that is accepted again.
- Read, the result differs from the document in that one member.
- Taking out what was appended gives the first bytes back; replacing a member changes nothing that is left when it is
  taken out.
"""

from __future__ import annotations

from collections.abc import Callable

from descriptor.errors import DescriptorError
from descriptor.strictjson import JsonValue, parse
from descriptor.text import append_members, remove_member, replace_member
from tests.fuzz.mutation import of_json

TOKENS = (
    *('{"', '":', '","', '": ', "{}", "[]", "{ }", "\\n", '\\"', "\\u0022", "\\u005c", "\\u007d", "\\\\", "}", "]"),
    *("\n", "\r\n", "\r", "\t", "  ", "\n  ", "\x7f", "\u2028", "😀", "1e5", "-0", "1234567890" * 3, ",", "true"),
    *("null", "agent_version", "signatures", "subject"),
)
ABSENT = 'never a member \\" {},: 😀'

MOST = 3  # members that are edited in each way; every edit reads the whole document again

mutate = of_json(TOKENS)


def one_input(data: bytes) -> None:
    try:
        members = parse(data, max_depth=32)
    except DescriptorError:
        return
    if not isinstance(members, dict) or ABSENT in members:
        return
    values: list[JsonValue] = [{"id": "U1", "list": [1, "a\n", None]}, *list(members.values())[:2]]
    for value in values:
        _assert_appended(data, members, value)
    for name in list(members)[:MOST]:
        without = remove_member(data, name)
        assert _parsed(without) == [(other, value) for other, value in members.items() if other != name]
        for value in values:
            replaced = replace_member(data, name, value)
            assert _parsed(replaced) == list({**members, name: value}.items())
            assert remove_member(replaced, name) == without
    _assert_refused(data)


def _assert_appended(data: bytes, members: dict[str, JsonValue], value: JsonValue) -> None:
    appended = append_members(data, {ABSENT: value, ABSENT + "2": value})
    assert _parsed(appended) == [*members.items(), (ABSENT, value), (ABSENT + "2", value)]
    assert remove_member(remove_member(appended, ABSENT + "2"), ABSENT) == data
    assert append_members(data, {}) == data


def _assert_refused(data: bytes) -> None:
    edits: list[tuple[str, Callable[[], bytes]]] = [
        ("MEMBER_ABSENT", lambda: remove_member(data, ABSENT)),
        ("MEMBER_ABSENT", lambda: replace_member(data, ABSENT, 1)),
        ("LONE_SURROGATE", lambda: append_members(data, {ABSENT: "\udc80"})),
    ]
    for code, edit in edits:
        try:
            edit()
        except DescriptorError as error:
            assert error.code == code
        else:
            raise AssertionError(f"{code} was not raised")


def _parsed(data: bytes) -> list[tuple[str, JsonValue]]:
    """The members in their order."""
    value = parse(data)
    assert isinstance(value, dict)
    return list(value.items())
