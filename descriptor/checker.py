"""What is wrong with a Descriptor that somebody is about to publish, and what to do about it.

The rules are a table (`descriptor.rules`); this module reads the bytes, lets every rule look at them, and puts what
they found in the order of the document. The invariant: `check` never raises, whatever the bytes are, and one place
that breaks one rule is one finding.

The checker judges a document as it is written now, under this version of the specification: it is stricter than
a reader, who ignores what it does not know. Whether the agent behaves as declared is another question, for others.

Source: chapter 6.8, last paragraph.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.pointers import tokens
from descriptor.rules.table import Rule, Severity
from descriptor.strictjson import JsonValue

__all__ = ["Finding", "Report", "Rule", "Severity", "check"]

# A document full of one mistake is shown its first hundred: enough to see it, and bounded for whoever stores it.
MOST_FINDINGS_OF_A_RULE = 100

_READABLE = "Write the document as one JSON object, in UTF-8, with each member once."


@dataclass(frozen=True)
class Finding:
    """One place that breaks one rule.

    `pointer`: JSON Pointer (RFC 6901) of the place; of a missing member, where it would stand; `""` is the whole
    document. `rule`: the rule's id, or the code of the `DescriptorError` when the bytes are unreadable. `section`: of
    chapter 6, such as `"6.2"`. `message` and `remedy`: for people who have not read the chapter.
    """

    pointer: str
    rule: str
    section: str
    severity: Severity
    message: str
    remedy: str


@dataclass(frozen=True)
class Report:
    """What `check` found, in the order of the document. `descriptor` is `None` when the bytes are unreadable."""

    findings: tuple[Finding, ...]
    descriptor: Descriptor | None

    @property
    def verdict(self) -> str:
        """`"clean"` (no finding at all), `"findings"` or `"unreadable"`. Source: binding 9."""
        if self.descriptor is None:
            return "unreadable"
        return "findings" if self.findings else "clean"

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that break a MUST: with one of these a document is not published."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)


def check(data: bytes, rules: Sequence[Rule] | None = None) -> Report:
    """What `rules` say about the document in `data`: without them, all of the chapter's. Raises nothing.

    Source: chapter 6.8.
    """
    try:
        descriptor = Descriptor.read(data)
    except DescriptorError as error:
        unreadable = Finding(error.pointer or "", error.code, "6.2", Severity.ERROR, error.message, _READABLE)
        return Report((unreadable,), None)
    chosen = _chapter() if rules is None else rules
    found = [finding for rule in chosen for finding in _findings(rule, descriptor)]
    places = _Places(descriptor.members)
    return Report(tuple(sorted(found, key=lambda finding: places.of(finding.pointer))), descriptor)


def _chapter() -> Sequence[Rule]:
    from descriptor.rules.chapter import RULES  # noqa: PLC0415  # a node serves what was checked, without the rules

    return RULES


def _findings(rule: Rule, descriptor: Descriptor) -> list[Finding]:
    problems: dict[str, str] = {}
    for pointer, message in rule.find(descriptor.members):
        problems.setdefault(pointer, message)  # a rule says one thing of a place: its first
        if len(problems) > MOST_FINDINGS_OF_A_RULE:
            break
    findings = [
        Finding(pointer, rule.id, rule.section, rule.severity, message, rule.remedy)
        for pointer, message in islice(problems.items(), MOST_FINDINGS_OF_A_RULE)
    ]
    if len(problems) > MOST_FINDINGS_OF_A_RULE:
        more = f" There are more like this; the first {MOST_FINDINGS_OF_A_RULE} are listed."
        findings[-1] = replace(findings[-1], message=findings[-1].message + more)
    return findings


class _Places:
    """Where a pointer leads in the document's own order, as something to sort by. A missing member comes last."""

    def __init__(self, members: Mapping[str, JsonValue]) -> None:
        self._members: dict[str, JsonValue] = dict(members)
        self._orders: dict[int, dict[str, int]] = {}

    def of(self, pointer: str) -> tuple[int, ...]:
        here: JsonValue = self._members
        place: list[int] = []
        for token in tokens(pointer):
            at = self._order(here).get(token, sys.maxsize)
            place.append(at)
            if at == sys.maxsize:
                here = None
            elif isinstance(here, dict):
                here = here[token]
            elif isinstance(here, list):
                here = here[at]
        return tuple(place)

    def _order(self, here: JsonValue) -> dict[str, int]:
        if not isinstance(here, dict | list):
            return {}
        # Kept, because a hundred findings may stand in one object of very many members.
        order = self._orders.get(id(here))
        if order is None:
            steps = here if isinstance(here, dict) else map(str, range(len(here)))
            order = self._orders[id(here)] = {step: place for place, step in enumerate(steps)}
        return order
