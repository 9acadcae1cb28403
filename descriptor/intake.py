"""What a registry refuses at its door.

A registry takes a Descriptor from anybody, keeps its bytes for as long as it serves the subject, and so refuses what
must not be served: a document that is nobody's, that its subject did not sign as it stands, or that declares what
cannot be kept, read or unsaid. It is no second checker: what only concerns a writer is not its business, and every
refusal here is one of the checker's own rules.

Source: chapters 6.2, 6.7, 6.9 and 6.11.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from descriptor.checker import Finding, Report, check
from descriptor.document import Descriptor
from descriptor.rules.table import Rule, Severity

REFUSED: frozenset[str] = frozenset(
    {
        # Nobody can tell what it is, whose, or which version.
        *("D6.2-format", "D6.2-agent_version", "D6.2-does", "D6.2-subject", "D6.2-acts_for"),
        # It may not be its subject's: a registry takes it from anybody, so an unsigned one proves nothing.
        *("D6.6-signature", "D6.6-unsigned"),
        # A posture that cannot be kept.
        *("D6.9-sealing-key", "D6.9-key-claim"),
        # A guest that sells.
        "D6.9-guest",
        # Blocks that are dropped whole when a part is unreadable or a secret is in them: bytes are served as they came.
        *("D6.9-access-secret", "D6.11-authority"),
        # What has no place in any Descriptor, whoever wrote it.
        "D6.4-shapes-only",
        # A fact of every offering, spelled for the agent.
        "D6.11-agent-level",
    }
)
"""The ids of the checker's rules that a registry refuses by."""

_DRAFT = Finding(
    "/subject",
    "D6.2-subject",
    "6.2",
    Severity.ERROR,
    "The document names no subject, and a registry keeps no draft.",
    "Publish the draft on its node, which binds and signs it, and hand over what is served there.",
)


@dataclass(frozen=True)
class Intake:
    """What a registry makes of a document: `descriptor` when it is taken, and otherwise why it is not."""

    descriptor: Descriptor | None
    refusals: tuple[Finding, ...]


def intake(data: bytes) -> Intake:
    """Whether a registry stores `data` as its subject's Descriptor. Raises nothing. Source: chapters 6.2 and 6.7."""
    report: Report = check(data, _rules())
    if report.descriptor is not None and report.descriptor.is_draft:
        return Intake(None, (_DRAFT, *report.findings))
    return Intake(None if report.findings else report.descriptor, report.findings)


@cache
def _rules() -> tuple[Rule, ...]:
    from descriptor.rules.chapter import RULES  # noqa: PLC0415  # only a node with the registry role needs them

    return tuple(rule for rule in RULES if rule.id in REFUSED)
