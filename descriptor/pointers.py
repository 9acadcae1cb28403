"""JSON Pointers (RFC 6901): how this floor names a place in a document.

The invariant: `tokens(pointer_to(*path))` gives the path back, whatever the members are called. `""` is the whole
document. A pointer may name a member that is missing: the place where it would stand.
"""

from __future__ import annotations


def pointer_to(*path: str | int) -> str:
    """The pointer of the place reached through these member names and list indexes.

    >>> pointer_to("offerings", 0, "a/b")
    '/offerings/0/a~1b'
    """
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def tokens(pointer: str) -> list[str]:
    """The member names and list indexes of a pointer, as texts, from the outermost in."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
