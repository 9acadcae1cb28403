"""The table of rules as a whole: no rule without an accepted and a refused case."""

from __future__ import annotations

import pytest

import tests.descriptor.rules
from descriptor.rules.chapter import RULES
from tests.descriptor.rules.cases import Case
from tests.tables import cases_in, has_both_kinds

CASES: list[Case] = cases_in(tests.descriptor.rules)


@pytest.mark.parametrize("rule", [rule.id for rule in RULES])
def test_a_rule_has_an_accepted_and_a_refused_case(rule: str) -> None:
    has_both_kinds(rule, CASES)


def test_no_case_is_of_a_rule_that_is_none() -> None:
    assert {case.rule for case in CASES} <= {rule.id for rule in RULES}
