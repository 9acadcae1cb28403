"""What a table of rules has to show, whichever table it is: each rule is kept by one case and broken by another."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from types import ModuleType
from typing import Any


def cases_in(package: ModuleType) -> list[Any]:
    """The `CASES` of every module of tests in `package`, but for the one that looks at the table as a whole."""
    modules = [module.name for module in pkgutil.iter_modules(package.__path__)]
    return [
        case
        for name in modules
        if name.startswith("test_") and name != "test_table"
        for case in importlib.import_module(f"{package.__name__}.{name}").CASES
    ]


def has_both_kinds(rule: str, cases: Sequence[Any]) -> None:
    """Asserts that a case keeps `rule` and that a case breaks it."""
    mine = [case for case in cases if case.rule == rule]
    assert any(not case.pointers for case in mine), "no accepted case"
    assert any(case.pointers for case in mine), "no refused case"
