"""`docs/rules.md` and `check --explain`: the checker's rules, and every MUST and SHOULD of the chapter beside them.

The invariant: what is said of a rule here is what the rule says of itself.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from descriptor.rules.chapter import RULES
from descriptor.rules.obligations import OBLIGATIONS, Obligation
from descriptor.rules.table import Rule

_WIDTH = 110
# How the specification names the sections that have rules or obligations.
_TITLES = {
    "6.1": "Primary, and others bind",
    "6.2": "The document",
    "6.3": "Kinds",
    "6.4": "The rules",
    "6.5": "Versioning and the digest",
    "6.6": "The signature",
    "6.7": "Serving and discovery",
    "6.8": "Projections and consumers",
    "6.9": "The wider declaration set",
    "6.10": "The declaration doctrine",
    "6.11": "Scope and authority",
    "6.12": "Retiring shape",
}


def explained(rule: Rule) -> list[str]:
    """A rule for people, in lines: what it asks, where that comes from, and what to do about a finding."""
    return [
        f"{rule.id}: {rule.severity} by section {rule.section}, {_TITLES[rule.section]}",
        rule.sentence,
        f"To mend it: {rule.remedy}",
    ]


def render_rules() -> str:
    """The reference of rules, `docs/rules.md`."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield from (
        "# What the checker checks",
        "",
        "<!-- Made from descriptor/rules/ by `python -m node.reference`. Changes here are lost. -->",
        "",
        *textwrap.wrap(
            "Each section of chapter 6 first lists what it obliges, each MUST and SHOULD on a line, beside the rule "
            "that checks it or why none can: much of the chapter binds readers, registries and running nodes. "
            "Then come the rules of the section. An error keeps a document from being published; a warning and a note "
            "do not. `agent-node check --explain RULE` prints one rule.",
            _WIDTH,
        ),
    )
    for section, title in _TITLES.items():
        obligations = [one for one in OBLIGATIONS if one.section == section]
        rules = [one for one in RULES if one.section == section]
        if obligations or rules:
            yield from ("", f"## {section} {title}")
        if obligations:
            yield from (
                "",
                "| | the chapter obliges | checked by |",
                "|---|---|---|",
                *map(_obligation_row, obligations),
            )
        for rule in rules:
            yield from ("", f"### `{rule.id}`", "", f"*{rule.severity}*", "")
            yield from textwrap.wrap(rule.sentence, _WIDTH)
            yield from ("", *textwrap.wrap(f"Remedy: {rule.remedy}", _WIDTH))


def _obligation_row(one: Obligation) -> str:
    told = [", ".join(f"`{rule}`" for rule in one.rules), one.elsewhere or ""]
    return f"| {one.strength} | {one.sentence} | {'. '.join(filter(None, told))} |"
