"""The `--json` shapes that more than one command prints. Source: binding 9."""

from __future__ import annotations

from descriptor.checker import Finding


def finding_document(finding: Finding) -> dict[str, str]:
    """A finding."""
    return {
        "pointer": finding.pointer,
        "rule": finding.rule,
        "section": finding.section,
        "severity": finding.severity.value,
        "message": finding.message,
        "remedy": finding.remedy,
    }
