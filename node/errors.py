"""The error family of floor 4: what an operator is told when a command or the daemon cannot go on.

The invariant: every mistake an operator can make ends in a `NodeError`, whose message is one clear sentence
(what is wrong, what to do), whose code is stable, and neither of which holds a secret. The command line
prints the message, puts the code in its JSON, and exits with `exit_code`; no traceback is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from descriptor.errors import DescriptorError
from entryway.errors import EntrywayError
from node.shapes import finding_document
from store.errors import StoreError


class Exit(IntEnum):
    """What the process answers its caller with. Source: binding 9."""

    DONE = 0
    NO = 1
    """The answer is no: findings, refused, not found."""
    UNREADABLE = 2
    """Usage, or input that cannot be read."""
    UNREACHED = 3
    """The node or the peer could not be reached."""


class NodeError(Exception):
    """A refusal of floor 4.

    `code` is UPPER_SNAKE and stable, `message` is for people, `exit_code` is what the process exits with, and
    `details` are members for the JSON form of the error.
    """

    def __init__(
        self,
        code: str,
        message: str,
        exit_code: Exit = Exit.NO,
        details: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.exit_code = exit_code
        self.details = details


Refusal = NodeError | DescriptorError | StoreError | EntrywayError
"""The exception families of all floors: what can be said to an operator."""

UNREADABLE_INPUT = frozenset(
    {
        "BYTE_ORDER_MARK",
        "DUPLICATE_MEMBER",
        "LONE_SURROGATE",
        "NOT_AN_OBJECT",
        "NOT_JSON",
        "NOT_UTF8",
        "NUMBER_OUT_OF_RANGE",
        "TOO_DEEP",
        "TOO_LARGE",
        "BAD_DIGEST",
        "BAD_KEY",
        "BAD_POINTER",
        "BAD_REFERENCE",
        "NOT_A_PROJECTION",
    }
)
"""Codes of floor 1 that say the input was no document at all."""


def as_node_error(error: Refusal) -> NodeError:
    """A refusal of any floor as this floor's, its code and message unchanged."""
    if isinstance(error, NodeError):
        return error
    exit_code = Exit.UNREADABLE if error.code in UNREADABLE_INPUT else Exit.NO
    details: dict[str, object] = {}
    if isinstance(error, DescriptorError) and error.pointer is not None:
        details["pointer"] = error.pointer
    findings = getattr(error, "findings", ())
    if findings:
        details["findings"] = [finding_document(finding) for finding in findings]
    return NodeError(error.code, error.message, exit_code, details or None)
