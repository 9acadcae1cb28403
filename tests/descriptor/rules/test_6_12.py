"""Chapter 6.12: what is written now does not carry `shape`."""

from __future__ import annotations

import json

import pytest

from descriptor.checker import check
from tests.descriptor.rules.cases import Case, accepted, draft, judge, refused

CASES: list[Case] = [
    *accepted("D6.12-shape", draft(unknown={"shape": 1})),
    *refused("D6.12-shape", *((draft(shape=shape), "/shape") for shape in ({"kind": "model"}, {}, None, "fixed"))),
]


@pytest.mark.parametrize("case", CASES)
def test_retiring_shape(case: Case) -> None:
    judge(case)


@pytest.mark.parametrize(
    ("member", "successor"),
    [
        ("memory", "data_use.memory"),
        ("model", "data_use.processors"),
        ("steps", "`scope` of each offering"),
        ("tools_runtime", "`authority` of each offering"),
        ("fleet", "beside `subject`"),
        ("kind", "nowhere"),
        ("harness", "nowhere"),
    ],
)
def test_what_replaces_a_former_member_is_said_where_it_is_carried(member: str, successor: str) -> None:
    (carried,) = check(json.dumps(draft(shape={member: "x", "unknown": 7})).encode()).findings
    (bare,) = check(json.dumps(draft(shape={"unknown": 7})).encode()).findings
    assert f"`{member}`" in carried.message
    assert successor in carried.message
    assert successor not in bare.message
