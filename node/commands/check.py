"""`check`: what is wrong with a Descriptor, before anybody else sees it."""

from __future__ import annotations

from difflib import get_close_matches

import click

from descriptor.checker import Report, Severity, check
from descriptor.errors import quoted
from descriptor.rules.chapter import RULES
from node.console import Console, finding_lines, operator_command, read_input
from node.errors import Exit, NodeError
from node.first_draft import UNWRITTEN, is_unwritten
from node.rules_page import explained
from node.settings import served_of
from node.shapes import finding_document


@click.command("check")
@click.argument("file", required=False)
@click.option("--strict", is_flag=True, help="Exit 1 for a warning too.")
@click.option("--as-served", is_flag=True, help="Hold its promises against the handlers and settings of this node too.")
@click.option("--explain", metavar="RULE", help="Print what a rule asks for, and check nothing.")
@operator_command
def check_command(console: Console, file: str | None, strict: bool, as_served: bool, explain: str | None) -> None:
    """Check a Descriptor, draft or bound. FILE may be - for stdin.

    With --as-served a node's settings are read as well (--home): an offering that nothing does is a warning, and a
    promise by rule that nothing applies an error, as `publish` has it.

    Every finding says what is wrong, where (a JSON Pointer), by which rule and section of chapter 6, and what to do.
    Exit 0: clean, or warnings only; 1: errors; 2: unreadable.
    """
    if explain is not None and file is None:
        _explain(console, explain)
    elif file is None or explain is not None:
        raise NodeError("USAGE", "Give a FILE to check, or --explain RULE.", Exit.UNREADABLE)
    else:
        _check(console, file, strict, as_served)


def _explain(console: Console, name: str) -> None:
    rules = {rule.id.casefold(): rule for rule in RULES}
    rule = rules.get(name.casefold())
    if rule is None:
        near = [rules[match].id for match in get_close_matches(name.casefold(), rules, n=3)]
        known = f" Did you mean {' or '.join(near)}?" if near else " docs/rules.md lists them."
        raise NodeError("NOT_FOUND", f"There is no rule {quoted(name)}.{known}")
    document = {
        "rule": rule.id,
        "section": rule.section,
        "severity": rule.severity,
        "sentence": rule.sentence,
        "remedy": rule.remedy,
    }
    console.result(document, explained(rule))


def _check(console: Console, file: str, strict: bool, as_served: bool) -> None:
    report = check(read_input(file))
    found = report.findings
    if as_served and report.descriptor is not None:
        from node.promises import unapplied  # noqa: PLC0415  # loads the reader of Descriptors

        found = (*found, *unapplied(report.descriptor.members, served_of(console.settings())))
    report = Report(found, report.descriptor)
    findings = [finding_document(finding) for finding in report.findings]
    warned = any(finding.severity is Severity.WARNING for finding in report.findings)
    summary = {
        "clean": f"{file} is clean.",
        "findings": f"{_counted(len(findings), 'finding')} in {file}, "
        f"{_counted(len(report.errors), 'error')} among them.",
        "unreadable": f"{file} cannot be read as a Descriptor.",
    }
    lines = [*finding_lines(findings), summary[report.verdict]]
    if report.descriptor is not None and is_unwritten(report.descriptor.members):
        console.note(UNWRITTEN)
    console.result({"file": file, "verdict": report.verdict, "findings": findings}, lines)
    if report.verdict == "unreadable":
        raise SystemExit(Exit.UNREADABLE)
    if report.errors or (strict and warned):
        raise SystemExit(Exit.NO)


def _counted(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"
