"""The boundary, inputs: what a request sends, against the inputs that the offering declares.

Pure. In this order: all that is required is there; of each group that a `one_of` names, one is; each value is what its
kind says; none is larger than its `max_bytes`; nothing came that is not declared.

| kind                         | value                                          | counted by `max_bytes`   |
|------------------------------|------------------------------------------------|--------------------------|
| text, text/*                 | a text                                         | its UTF-8                |
| identifier                   | a text that is not blank                       | its UTF-8                |
| url, document                | an absolute address; nothing is fetched here   | its UTF-8                |
| application/json, */*+json   | any JSON value                                 | its UTF-8, without blanks|
| any other media type         | bytes: base64url without padding, a bin in msgpack | the bytes            |

An input that is `external` is reached and not furnished, so it never has to arrive, and a group that has one may be met
by it. A member of a group is not required on its own. An offering that declares no inputs takes none.

Source: binding 5; chapters 6.2 (inputs) and 6.3.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping

from descriptor.encoding import b64url_decode
from descriptor.errors import DescriptorError, quoted
from descriptor.strictjson import JsonValue
from descriptor.view import Offering
from descriptor.view.values import Input
from entryway.asked import Asked
from entryway.errors import EntrywayError
from entryway.texts import is_file, is_json

SHOWN, SHOWN_CHARS = 8, 500  # names of a list that a message shows, and characters of them
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x1f\x7f]+")


def check_inputs(offering: Offering, asked: Asked) -> None:
    """Raises EntrywayError INPUT_INVALID for the first input that is not as declared."""
    declared = {one.name: one for one in offering.inputs or () if one.name is not None}
    for check in (_missing, _groups, _kinds, _sizes, _undeclared):
        for name, message, more in check(declared, asked.input):
            about = {} if name is None else {"input": name}
            raise EntrywayError("INPUT_INVALID", message, {"offering": asked.offering, **about, **more})


Declared = Mapping[str, Input]
Given = Mapping[str, JsonValue]
Fault = tuple[str | None, str, dict[str, JsonValue]]
"""The input that is at fault, `None` for a group; what to do about it, for people; what else a program is told."""


def _missing(declared: Declared, given: Given) -> Iterator[Fault]:
    for name, one in declared.items():
        if one.required and one.one_of is None and not one.external and name not in given:
            kind = "" if one.kind is None else f", of the kind {one.kind}"
            yield name, f"The input {quoted(name)} is required and did not come. Send it{kind}.", {}


def _groups(declared: Declared, given: Given) -> Iterator[Fault]:
    for group in dict.fromkeys(one.one_of for one in declared.values() if one.one_of is not None):
        members = [one for one in declared.values() if one.one_of == group]
        if not any(one.external or one.name in given for one in members):
            names = [name for name, one in declared.items() if one.one_of == group]
            yield (
                None,
                f"None of the inputs came of which one is needed. Send {listed(names, 'or')}.",
                {"allowed": [*names]},
            )


def _kinds(declared: Declared, given: Given) -> Iterator[Fault]:
    for name, value in given.items():
        kind = declared[name].kind if name in declared else None
        if kind is not None and (wanted := _wanted(kind, value)) is not None:
            yield name, f"The input {quoted(name)} is of the kind {kind}. Send {wanted}.", {"kind": kind}


def _sizes(declared: Declared, given: Given) -> Iterator[Fault]:
    for name, value in given.items():
        one = declared.get(name)
        if one is None or one.max_bytes is None:
            continue
        size = size_of(one.kind, value)
        if size > one.max_bytes:
            yield (
                name,
                f"The input {quoted(name)} is {size} bytes, and {one.max_bytes} are taken at most. Send less: none of "
                "it was read, because part of it would be part of the work.",
                {"max_bytes": one.max_bytes},
            )


def _undeclared(declared: Declared, given: Given) -> Iterator[Fault]:
    for name in given:
        if name not in declared:
            takes = f"Send only {listed([*declared], 'and')}." if declared else "It takes none; leave `input` out."
            yield name, f"The offering takes no input {quoted(name)}. {takes}", {"allowed": [*declared]}


def size_of(kind: str | None, value: JsonValue) -> int:
    """How many bytes a value of that kind is, by the table of this module. `None`: a kind that is not stated."""
    if isinstance(value, str):
        return len(value) * 3 // 4 if kind is not None and is_file(kind) else len(value.encode())
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _wanted(kind: str, value: JsonValue) -> str | None:
    """What a value of a kind has to be, for people; `None` when this one is."""
    if is_json(kind):
        return None
    wanted, right = _BYTES if is_file(kind) else _BY_KIND.get(kind, _TEXT)
    return None if isinstance(value, str) and right(value) else wanted


def _is_bytes(text: str) -> bool:
    try:
        b64url_decode(text)
    except DescriptorError:
        return False
    return True


_TEXT: tuple[str, Callable[[str], bool]] = ("a text", lambda _: True)
_BYTES: tuple[str, Callable[[str], bool]] = (
    "its bytes: in JSON as base64url without padding, in msgpack as a bin",
    _is_bytes,
)
_ADDRESSED: tuple[str, Callable[[str], bool]] = (
    "an absolute address, such as https://example.net/report, without blanks",
    lambda text: _ADDRESS.fullmatch(text) is not None,
)
_BY_KIND = {
    "identifier": ("a name: a text that is not blank", lambda text: bool(text.strip())),
    "url": _ADDRESSED,
    "document": _ADDRESSED,
}


def listed(names: list[str], word: str) -> str:
    """Some names, quoted, for people. `word` stands before the last."""
    return series([quoted(name) for name in names], word)


def series(values: list[str], word: str) -> str:
    """Some values in one line: all of a short list, the first of a long one. `word` stands before the last."""
    most = SHOWN
    while most > 1 and sum(map(len, values[:most])) > SHOWN_CHARS:
        most //= 2
    shown = values[:most]
    if len(values) > most:
        shown.append(f"{len(values) - most} more")
    return "".join(shown) if len(shown) < 2 else f"{', '.join(shown[:-1])} {word} {shown[-1]}"
