"""Chapter 6.6: a bound document is signed by its subject, and a draft by nobody."""

from __future__ import annotations

import pytest

from tests.descriptor.rules.cases import (
    BOUND,
    DRAFT,
    OTHER_ID,
    Case,
    accepted,
    bound,
    draft,
    judge,
    refused,
    signed,
    statement,
)

CASES: list[Case] = [
    *accepted("D6.6-signature", bound()),
    *refused(
        "D6.6-signature",
        (signed(BOUND, by=OTHER_ID), "/signatures/0/by"),
        ({**BOUND, "signatures": {}}, "/signatures"),
        (signed(BOUND, alg="none"), "/signatures/0/alg"),
    ),
    *accepted("D6.6-unsigned", bound()),
    *refused(
        "D6.6-unsigned",
        (BOUND, "/signatures"),
        ({**BOUND, "signatures": []}, "/signatures"),
        ({**BOUND, "signatures": [{"tag": "vouched-v1", "by": OTHER_ID, "sig": "?"}]}, "/signatures"),
    ),
    *accepted("D6.6-draft-signature", draft(signatures=[{"tag": "vouched-v1"}])),
    *refused("D6.6-draft-signature", (draft(signatures=[{"tag": "vouched-v1"}, statement(DRAFT)]), "/signatures/1")),
    *accepted("D6.6-rounded-integer", draft(n=[2**53, -(2**53), 1e300])),
    *refused("D6.6-rounded-integer", (draft(unknown={"a/b": [2**53 + 1]}), "/unknown/a~1b/0")),
]


@pytest.mark.parametrize("case", CASES)
def test_the_signature(case: Case) -> None:
    judge(case)
