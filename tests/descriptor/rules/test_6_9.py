"""Chapter 6.9: a guest sells nothing; who asks to be sealed to shows a key, and that it is the subject's."""

from __future__ import annotations

import pytest

from tests.descriptor.rules.cases import BOUND, OFFERING, SEALED, Case, accepted, draft, judge, refused, signed, without

CASES: list[Case] = [
    *accepted("D6.9-standing", draft(standing="guest")),
    *refused("D6.9-standing", *((draft(standing=word), "/standing") for word in ("resident", "Guest", None, True))),
    *accepted("D6.9-guest", draft(standing="guest", offerings=[]), draft(price_ref="the price list")),
    *refused(
        "D6.9-guest",
        (draft(standing="guest", offerings=[OFFERING]), "/offerings"),
        (draft(standing="guest", price_ref="the price list"), "/price_ref"),
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
    ),
    *accepted("D6.9-draft-key", draft(sealing="preferred")),
    *refused(
        "D6.9-draft-key",
        (draft(encryption_key=SEALED["encryption_key"]), "/encryption_key"),
        (draft(trust={}), "/trust"),
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_standing_and_sealing(case: Case) -> None:
    judge(case)
