"""Chapter 6.9: a guest sells nothing; who asks to be sealed to shows a key, and that it is the subject's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from descriptor.checker import check
from tests.descriptor.rules.cases import BOUND, OFFERING, SEALED, Case, accepted, draft, judge, refused, signed, without

PRICED = {
    "included": {"count": 1, "window_days": 30},
    "flat": {"amount_micro": 1_000_000, "currency": "EUR"},
}

NO_CLAIM: tuple[Any, ...] = (None, [], "a claim")

CASES: list[Case] = [
    *accepted("D6.9-standing", draft(standing="guest")),
    *refused("D6.9-standing", *((draft(standing=word), "/standing") for word in ("resident", "Guest", None, True))),
    *accepted("D6.9-guest", draft(standing="guest", offerings=[]), draft(price_ref="the price list")),
    *refused(
        "D6.9-guest",
        (draft(standing="guest", offerings=[OFFERING]), "/offerings"),
        (draft(standing="guest", price_ref="the price list"), "/price_ref"),
        (draft(standing="guest", price_ref={"digest": "sha256:" + "0a" * 32}), "/price_ref"),
        (
            draft(standing="guest", offerings=[{**OFFERING, "revisions": PRICED}], price_ref="the price list"),
            ("/offerings", "/price_ref"),
        ),
    ),
    *accepted("D6.9-sealing", draft(sealing="required"), signed(SEALED)),
    *refused("D6.9-sealing", *((draft(sealing=word), "/sealing") for word in ("Required", "none", True, None))),
    *accepted("D6.9-sealing-key", signed(SEALED), draft(sealing="required")),
    *refused("D6.9-sealing-key", (signed({**BOUND, "sealing": "required"}), "/sealing")),
    *accepted("D6.9-key-claim", signed(SEALED), signed(without(SEALED, "sealing"))),
    *refused(
        "D6.9-key-claim",
        (signed({**SEALED, "trust": {**SEALED["trust"], "signature": "A" * 86}}), "/trust/signature"),
        (signed({**SEALED, "encryption_key": "A" * 43}), "/trust/signature"),
        (signed(without(SEALED, "trust")), "/encryption_key"),
        *(
            (signed({**SEALED, "encryption_key": key}), "/encryption_key")
            for key in ("A" * 42, "A" * 42 + "=", 7, None)
        ),
        *((signed({**SEALED, "trust": trust}), "/trust") for trust in NO_CLAIM),
        (signed({**SEALED, "trust": {}}), "/trust/issued_at"),
        (signed({**SEALED, "trust": {**SEALED["trust"], "issued_at": "today"}}), "/trust/issued_at"),
    ),
    *accepted("D6.9-draft-key", draft(sealing="preferred")),
    *refused(
        "D6.9-draft-key",
        (draft(encryption_key=SEALED["encryption_key"]), "/encryption_key"),
        (draft(trust={}), "/trust"),
    ),
]


@pytest.mark.parametrize(
    ("document", "rule"),
    [
        (draft(standing="guest", offerings={}), "D6.2-offering"),
        (draft(standing="guest", price_ref=None), "D6.2-ref"),
        (signed({**BOUND, "sealing": "always"}), "D6.9-sealing"),
    ],
)
def test_one_mistake_is_told_once(document: dict[str, Any], rule: str) -> None:
    assert [finding.rule for finding in check(json.dumps(document).encode()).findings] == [rule]


def test_a_subject_that_is_no_key_is_not_told_of_again_by_the_claim() -> None:
    report = check(json.dumps(signed({**SEALED, "subject": {"id": "U"}})).encode())
    assert "D6.2-subject" in {finding.rule for finding in report.findings}
    assert "D6.9-key-claim" not in {finding.rule for finding in report.findings}


@pytest.mark.parametrize("case", CASES)
def test_standing_and_sealing(case: Case) -> None:
    judge(case)
