"""Chapter 6.9: who asks to be sealed to shows a key, and shows that it is the subject's."""

from __future__ import annotations

import pytest

from tests.descriptor.rules.cases import BOUND, SEALED, Case, accepted, draft, judge, refused, signed, without

CASES: list[Case] = [
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
def test_the_sealing_posture(case: Case) -> None:
    judge(case)
