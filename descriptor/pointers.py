"""JSON Pointers (RFC 6901): how this floor names a place in a document.

The invariant: `tokens(pointer_to(*path))` gives the path back, whatever the members are called. `""` is the whole
document. A pointer may name a member that is missing: the place where it would stand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from descriptor.errors import DescriptorError, quoted
from descriptor.strictjson import JsonValue

_POINTER = re.compile(r"(/([^/~]|~[01])*)*")
_INDEX = re.compile(r"0|[1-9][0-9]{0,15}")


def pointer_to(*path: str | int) -> str:
    """The pointer of the place reached through these member names and list indexes.

    >>> pointer_to("offerings", 0, "a/b")
    '/offerings/0/a~1b'
    """
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def tokens(pointer: str) -> list[str]:
    """The member names and list indexes of a pointer, as texts, from the outermost in."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def resolve(document: Mapping[str, JsonValue], pointer: str) -> JsonValue:
    """The value at a pointer that was written by somebody else.

    Raises DescriptorError `BAD_POINTER` for what is none, and `NOT_THERE` when nothing stands at that place.
    Source: RFC 6901.
    """
    if not _POINTER.fullmatch(pointer):
        raise DescriptorError(
            "BAD_POINTER",
            f"{quoted(pointer)} is no JSON Pointer; write the way to a member, such as /offerings/0/inputs.",
        )
    value: JsonValue = dict(document)
    for step in tokens(pointer):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and _INDEX.fullmatch(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            raise DescriptorError("NOT_THERE", f"Nothing stands at {quoted(pointer)} in this document.", pointer)
    return value
