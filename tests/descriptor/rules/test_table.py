"""The table of rules as a whole: no rule without an accepted and a refused case."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import tests.descriptor.rules
from descriptor.rules.chapter import RULES
from tests.descriptor.rules.cases import Case

CASES: list[Case] = [
    case
    for module in pkgutil.iter_modules(tests.descriptor.rules.__path__)
    if module.name.startswith("test_") and module.name != "test_table"
    for case in importlib.import_module(f"{tests.descriptor.rules.__name__}.{module.name}").CASES
]


@pytest.mark.parametrize("rule", [rule.id for rule in RULES])
def test_a_rule_has_an_accepted_and_a_refused_case(rule: str) -> None:
    mine = [case for case in CASES if case.rule == rule]
    assert any(not case.pointers for case in mine), "no accepted case"
    assert any(case.pointers for case in mine), "no refused case"


def test_no_case_is_of_a_rule_that_is_none() -> None:
    assert {case.rule for case in CASES} <= {rule.id for rule in RULES}
