"""`check`: what is wrong with a Descriptor, before anybody else sees it."""

from __future__ import annotations

import click

from descriptor.checker import Severity, check
from node.console import Console, finding_lines, operator_command, read_input
from node.errors import Exit
from node.shapes import finding_document


@click.command("check")
@click.argument("file")
@click.option("--strict", is_flag=True, help="Exit 1 for a warning too.")
@operator_command
def check_command(console: Console, file: str, strict: bool) -> None:
    """Check a Descriptor, draft or bound. FILE may be - for stdin.

    Every finding says what is wrong, where (a JSON Pointer), by which rule and section of chapter 6, and what to do.
    Exit 0: clean, or warnings only; 1: errors; 2: unreadable.
    """
    report = check(read_input(file))
    findings = [finding_document(finding) for finding in report.findings]
    warned = any(finding.severity is Severity.WARNING for finding in report.findings)
    summary = {
        "clean": f"{file} is clean.",
        "findings": f"{len(findings)} findings in {file}, {len(report.errors)} of them errors.",
        "unreadable": f"{file} cannot be read as a Descriptor.",
    }
    lines = [*finding_lines(findings), summary[report.verdict]]
    console.result({"file": file, "verdict": report.verdict, "findings": findings}, lines)
    if report.verdict == "unreadable":
        raise SystemExit(Exit.UNREADABLE)
    if report.errors or (strict and warned):
        raise SystemExit(Exit.NO)
