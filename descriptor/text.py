"""Edits on the text of a JSON object, with every other byte kept.

An operator's file is the operator's: publishing adds members to it and a rollback replaces one, and the rest
(member order, indentation, escapes, line breaks, the trailing newline) stays as it was written. So nothing here
serializes a document anew. An edit finds where each top-level member stands, with the standard library's own
scanner, and splices text there in the style the document already uses.

Invariant: text outside the edited member, and the comma that joins it to its neighbor, is copied and never
rebuilt. Taking out what was appended gives the first bytes back.

Every function expects bytes that `descriptor.strictjson.parse` has accepted as an object: UTF-8, no byte order
mark, no duplicate member names.

Source: chapter 6.5 (the digest is over exact bytes); binding 2.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from descriptor.errors import DescriptorError, quoted
from descriptor.strictjson import JsonValue

# Numbers are stepped over, never read: an integer of thousands of digits has a place in the text like any other.
_SCANNER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
_BLANK = re.compile(r"[ \t\r\n]*")
_LINE_START = re.compile(r"(?:\r\n|\r|\n)[ \t]*\Z")


@dataclass(frozen=True)
class _Member:
    """Where one member stands: `"name"` from `start` to `name_end`, its value from `value_start` to `end`."""

    name: str
    start: int
    name_end: int
    value_start: int
    end: int


@dataclass(frozen=True)
class _Layout:
    """A document's text, the place after its `{`, the place of what follows, and its members in order."""

    text: str
    opening: int
    first: int
    members: tuple[_Member, ...]

    def member(self, name: str) -> _Member:
        for member in self.members:
            if member.name == name:
                return member
        raise DescriptorError("MEMBER_ABSENT", f"The document has no member {quoted(name)}, so it cannot be changed.")


@dataclass(frozen=True)
class _Style:
    """How the document joins two members, a name and its value, and two items written on one line."""

    joint: str
    colon: str
    item: str

    def value(self, value: JsonValue) -> str:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(self.item, self.colon))

    def member(self, name: str, value: JsonValue) -> str:
        return json.dumps(name, ensure_ascii=False) + self.colon + self.value(value)


def append_members(data: bytes, members: Mapping[str, JsonValue]) -> bytes:
    """`data` with `members` after its last member, in their own order.

    Where the first member of the document stands on a line of its own, so does each new one, with the same line
    break and indentation; otherwise they are joined as the last two members are. Nested values take one line.

    Raises `DescriptorError`: `MEMBER_PRESENT` when a name is already there (two members of one name are no
    readable document), `LONE_SURROGATE` for what is no Unicode text.
    """
    layout = _layout(data)
    present = {member.name for member in layout.members}
    for name in members:
        if name in present:
            raise DescriptorError("MEMBER_PRESENT", f"The document already has a member {quoted(name)}.")
    if not members:
        return data
    style = _style(layout)
    written = style.joint.join(style.member(name, value) for name, value in members.items())
    if layout.members:
        return _splice(layout.text, layout.members[-1].end, layout.members[-1].end, style.joint + written)
    # Nothing to follow: the first new member starts as the joint would start it, without its comma.
    blank = layout.text[layout.opening : layout.first]
    lead = style.joint[1:] if _LINE_START.search(blank) else blank
    return _splice(layout.text, layout.opening, layout.opening, lead + written)


def replace_member(data: bytes, name: str, value: JsonValue) -> bytes:
    """`data` with another value for the member `name`, in the same place, written on one line.

    Raises `DescriptorError`: `MEMBER_ABSENT`; `LONE_SURROGATE` for what is no Unicode text.
    """
    layout = _layout(data)
    member = layout.member(name)
    return _splice(layout.text, member.value_start, member.end, _style(layout).value(value))


def remove_member(data: bytes, name: str) -> bytes:
    """`data` without the member `name` and without the one comma that joined it.

    Raises `DescriptorError`: `MEMBER_ABSENT`.
    """
    layout = _layout(data)
    member = layout.member(name)
    place = layout.members.index(member)
    if place > 0:
        return _splice(layout.text, layout.members[place - 1].end, member.end, "")
    if len(layout.members) > 1:
        return _splice(layout.text, member.start, layout.members[1].start, "")
    return _splice(layout.text, layout.opening, member.end, "")


def _splice(text: str, start: int, end: int, new: str) -> bytes:
    try:
        written = new.encode()
    except UnicodeEncodeError:
        raise DescriptorError(
            "LONE_SURROGATE", f"{quoted(new)} is not Unicode text; check the encoding it was given in."
        ) from None
    return text[:start].encode() + written + text[end:].encode()


def _layout(data: bytes) -> _Layout:
    text = data.decode()
    opening = _past_blank(text, 0) + 1
    first = at = _past_blank(text, opening)
    members: list[_Member] = []
    while text[at] != "}":
        name, name_end = _SCANNER.raw_decode(text, at)
        value_start = _past_blank(text, _past_blank(text, name_end) + 1)
        _, end = _SCANNER.raw_decode(text, value_start)
        members.append(_Member(name, at, name_end, value_start, end))
        at = _past_blank(text, end)
        if text[at] == ",":
            at = _past_blank(text, at + 1)
    return _Layout(text, opening, first, tuple(members))


def _past_blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    assert found is not None, "the pattern matches the empty text"
    return found.end()


def _style(layout: _Layout) -> _Style:
    text, members = layout.text, layout.members
    own_line = _LINE_START.search(text[layout.opening : layout.first])
    colon = text[members[0].name_end : members[0].value_start] if members else ": "
    if "\n" in colon or "\r" in colon:
        colon = ": "
    item = "," if colon.endswith(":") else ", "
    if own_line:
        # An empty object over two lines shows its line break and no indentation: two spaces are the usual one.
        joint = "," + own_line.group() + ("" if members else "  ")
    elif len(members) > 1:
        joint = text[members[-2].end : members[-1].start]
    else:
        joint = item
    return _Style(joint, colon, item)
