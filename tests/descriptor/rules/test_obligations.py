"""Every MUST and SHOULD of the chapter is told, with the rule that checks it or the reason why none can."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from descriptor.rules.chapter import RULES
from descriptor.rules.obligations import OBLIGATIONS, Obligation
from descriptor.rules.table import Severity
from tests.descriptor.rules.cases import Case

CASES: list[Case] = []
CHAPTER = Path(__file__).parents[4] / "shared/spec/agent-descriptor-chapter-6.txt"
# How often the chapter says MUST (NOT), REQUIRED or REQUIRES, and SHOULD, in each section.
SAID = {
    ("6.2", "MUST"): 14,
    ("6.2", "SHOULD"): 2,
    ("6.3", "MUST"): 1,
    ("6.4", "MUST"): 2,
    ("6.5", "MUST"): 1,
    ("6.6", "MUST"): 1,
    ("6.6", "SHOULD"): 1,
    ("6.7", "MUST"): 4,
    ("6.7", "SHOULD"): 6,
    ("6.8", "MUST"): 1,
    ("6.9", "MUST"): 27,
    ("6.9", "SHOULD"): 5,
    ("6.11", "MUST"): 16,
    ("6.11", "SHOULD"): 1,
}


def test_the_table_has_an_entry_for_each_key_word_of_the_chapter() -> None:
    assert Counter((one.section, one.strength) for one in OBLIGATIONS) == SAID


@pytest.mark.skipif(not CHAPTER.is_file(), reason="the specification is not beside this checkout")
def test_the_counts_are_the_chapters() -> None:
    _, *sections = re.split(r"(?m)^(6\.\d+) .*#$", CHAPTER.read_text(encoding="utf-8"))
    said = Counter(
        (section, "SHOULD" if word == "SHOULD" else "MUST")
        for section, text in zip(sections[::2], sections[1::2], strict=True)
        for word in re.findall(r"\b(MUST|SHOULD|REQUIRED|REQUIRES)\b", text)
    )
    assert said == SAID


@pytest.mark.parametrize("one", OBLIGATIONS, ids=lambda one: one.sentence)
def test_an_obligation_has_a_rule_or_a_reason(one: Obligation) -> None:
    assert one.rules or one.elsewhere
    assert set(one.rules) <= {rule.id for rule in RULES}
    for said in (one.sentence, one.elsewhere or "Kept."):
        assert said.endswith(".")


def test_what_breaks_a_must_is_an_error() -> None:
    severities = {rule.id: rule.severity for rule in RULES}
    for one in OBLIGATIONS:
        if one.strength == "MUST" and one.elsewhere is None:
            assert {severities[rule] for rule in one.rules} == {Severity.ERROR}, one
