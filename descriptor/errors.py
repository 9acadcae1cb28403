"""The one exception family of this floor.

Whatever is wrong with a document, a key or a text form leaves here as a `DescriptorError`: a stable `code`
for programs, which reaches the wire and the command line unchanged, and a `message` for people. The
invariant: no message ever holds a secret, nor text of unbounded length from the input.
"""

from __future__ import annotations

_QUOTED_AT_MOST = 60


class DescriptorError(Exception):
    """Something about a document, a key or a text form is wrong.

    `code`: UPPER_SNAKE and stable. `message`: what is wrong and what to do, in one or two sentences.
    `pointer`: JSON Pointer (RFC 6901) of the place in the document, `None` when no place is known.
    """

    def __init__(self, code: str, message: str, pointer: str | None = None) -> None:
        super().__init__(code, message, pointer)
        self.code = code
        self.message = message
        self.pointer = pointer

    def __str__(self) -> str:
        return self.message


def quoted(text: str) -> str:
    """`text` from the input, made safe to stand in a message: printable, quoted, and cut when it is long."""
    if len(text) <= _QUOTED_AT_MOST:
        return repr(text)
    return repr(text[:_QUOTED_AT_MOST]) + "…"
