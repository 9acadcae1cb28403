"""A registry takes what its subject signed and may be served, and refuses the rest by the checker's own rules."""

from __future__ import annotations

import json
from typing import Any

import pytest

from descriptor.intake import REFUSED, intake
from descriptor.rules.chapter import RULES
from tests.descriptor.rules.cases import BOUND, DRAFT, OFFERING, SEALED, bound, draft, signed, without

SIGNED: list[dict[str, Any]] = [
    bound(),
    signed(SEALED),
    bound(offerings=[OFFERING]),
    bound(interaction="sometimes"),
    bound(offerings=[{"id": "x", "scope": "anything"}]),
    bound(data_use={"promises": {"no_training": False}}),
    bound(access={"admission": "everybody"}),
    bound(description="Reads."),
]
REFUSALS: list[tuple[dict[str, Any], str]] = [
    (DRAFT, "D6.2-subject"),
    (draft(offerings=[OFFERING]), "D6.2-subject"),
    (BOUND, "D6.6-unsigned"),
    ({**bound(), "does": "Says something else."}, "D6.6-signature"),
    (signed(without(BOUND, "acts_for")), "D6.2-acts_for"),
    (bound(sealing="required"), "D6.9-sealing-key"),
    (signed({**SEALED, "trust": {}}), "D6.9-key-claim"),
    (bound(standing="guest", offerings=[OFFERING]), "D6.9-guest"),
    (bound(standing="guest", price_ref="the price list"), "D6.9-guest"),
    (bound(offerings=[{**OFFERING, "authority": ["reads-minds"]}]), "D6.11-authority"),
    (bound(access={"statement": "The password: hunter2hunter"}), "D6.9-access-secret"),
    (bound(notes="ada@example.org"), "D6.4-shapes-only"),
    (bound(scope="open-ended"), "D6.11-agent-level"),
]


@pytest.mark.parametrize("document", SIGNED)
def test_a_registry_takes_what_may_be_served(document: dict[str, Any]) -> None:
    data = json.dumps(document).encode()
    taken = intake(data)
    assert taken.refusals == ()
    assert taken.descriptor is not None
    assert taken.descriptor.data == data


@pytest.mark.parametrize(("document", "rule"), REFUSALS)
def test_a_registry_refuses_what_may_not(document: dict[str, Any], rule: str) -> None:
    refused = intake(json.dumps(document).encode())
    assert refused.descriptor is None
    assert [finding.rule for finding in refused.refusals] == [rule]


@pytest.mark.parametrize(
    ("data", "code"), [(b"{", "NOT_JSON"), (b"[]", "NOT_AN_OBJECT"), (b'{"a":1,"a":2}', "DUPLICATE_MEMBER")]
)
def test_unreadable_bytes_are_refused_as_such(data: bytes, code: str) -> None:
    refused = intake(data)
    assert (refused.descriptor, [finding.rule for finding in refused.refusals]) == (None, [code])


def test_every_refusal_is_a_rule_of_the_checker_and_has_a_case() -> None:
    assert {rule.id for rule in RULES} >= REFUSED
    assert {rule for _, rule in REFUSALS} >= REFUSED - {"D6.2-format", "D6.2-agent_version", "D6.2-does"}


@pytest.mark.parametrize("name", ["format", "agent_version", "does"])
def test_what_nobody_can_place_is_refused(name: str) -> None:
    refused = intake(json.dumps(signed(without(BOUND, name))).encode())
    assert [finding.rule for finding in refused.refusals] == [f"D6.2-{name}"]
