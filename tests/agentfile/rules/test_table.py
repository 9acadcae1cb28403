"""The table of rules as a whole: no rule of section 18 or 14 is missing, and none is without its cases."""

from __future__ import annotations

import pytest

import tests.agentfile.rules
from agentfile.rules import RULES
from tests.agentfile.cases import Case
from tests.tables import cases_in, has_both_kinds

CASES: list[Case] = cases_in(tests.agentfile.rules)


@pytest.mark.parametrize("rule", [rule.id for rule in RULES])
def test_a_rule_has_an_accepted_and_a_refused_case(rule: str) -> None:
    has_both_kinds(rule, CASES)


def test_no_case_is_of_a_rule_that_is_none() -> None:
    assert {case.rule for case in CASES} <= {rule.id for rule in RULES}


def test_every_rule_of_section_18_is_a_rule_of_its_number() -> None:
    assert {rule.id for rule in RULES if rule.id.startswith("R")} == {f"R{number}" for number in range(1, 25)}
    assert all(rule.id == f"R{rule.number}" for rule in RULES if rule.id.startswith("R"))


def test_every_rule_of_section_14_is_part_of_rule_21() -> None:
    of_21 = {rule.id for rule in RULES if rule.number == 21}
    assert of_21 == {rule.id for rule in RULES if rule.id.startswith("S14")} | {"R21"}
    assert {f"S14.{part}" for part in (1, 2, 3, 4, 5)} | {f"S14.6.{row}" for row in range(1, 11)} <= of_21


def test_rules_say_what_they_are() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.id.startswith(("R", f"S{rule.section}"))
        assert rule.sentence.endswith(".")
        assert rule.remedy.endswith(".")
