"""Chapter 6.12: what is written now does not carry `shape`."""

from __future__ import annotations

import pytest

from tests.descriptor.rules.cases import Case, accepted, draft, judge, refused

CASES: list[Case] = [
    *accepted("D6.12-shape", draft(unknown={"shape": 1})),
    *refused("D6.12-shape", (draft(shape={"kind": "model"}), "/shape")),
]


@pytest.mark.parametrize("case", CASES)
def test_retiring_shape(case: Case) -> None:
    judge(case)
