"""The examples in the docstrings of these modules are true."""

from __future__ import annotations

import doctest
from types import ModuleType

import pytest

from agentfile import (
    addresses,
    artifacts,
    boundaries,
    credentials,
    evaluation,
    lookalikes,
    parameters,
    schemas,
    structures,
    targets,
    triggers,
)

MODULES = [
    *(addresses, artifacts, boundaries, credentials, evaluation, lookalikes, parameters, schemas, structures, targets),
    triggers,
]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_examples(module: ModuleType) -> None:
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0
