"""What is wrong with an `.agent` file: the findings, and the error that carries them to whoever needs a sound one.

The invariant: a message says what is wrong and where, and never more of the file than a few quoted characters: a file
from somewhere may hold what its author did not mean to give away (section 19, item 8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from descriptor.errors import DescriptorError
from descriptor.rules.table import Severity


@dataclass(frozen=True)
class Finding:
    """One place that breaks one rule.

    `pointer`: JSON Pointer (RFC 6901) of the place; of a missing member, where it would stand; `""` is the whole file.
    `rule`: the rule's id, stable. `section`: of the format, such as `"14.6"`. `number`: the rule of section 18 that it
    is, or is part of; `None` when section 18 does not list it. `severity`: an error refuses the file.
    """

    pointer: str
    rule: str
    section: str
    number: int | None
    severity: Severity
    message: str
    remedy: str


class AgentFileError(DescriptorError):
    """What should be an `.agent` file is none. `findings`: why, when it is for its rules; empty otherwise."""

    def __init__(self, code: str, message: str, pointer: str | None = None, findings: Sequence[Finding] = ()) -> None:
        super().__init__(code, message, pointer)
        self.findings = tuple(findings)

    @classmethod
    def of(cls, findings: Sequence[Finding]) -> AgentFileError:
        """`REFUSED`, with the errors among `findings`, of which there is one at least."""
        errors = [finding for finding in findings if finding.severity is Severity.ERROR]
        first = errors[0]
        more = f" There are {len(errors) - 1} more." if len(errors) > 1 else ""
        said = f"This is no `.agent` file that can be read. {first.rule} at {first.pointer or 'its top'}: "
        return cls("REFUSED", f"{said}{first.message}{more}", first.pointer, errors)
