"""The registration manifest: what it repeats, and that a key goes with its claim or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from descriptor.projections.registration import registration_of
from descriptor.projections.serving import Serving
from tests.descriptor.projections.cases import DOCUMENTS, SERVING, descriptor
from tests.descriptor.rules.cases import BOUND, ID, OFFERING, SEALED, without

GLOBAL = Serving(("http://8.8.8.8:7420",), None, "/entryway", "-", "-")


def registration(members: dict[str, Any], serving: Serving = SERVING) -> dict[str, Any]:
    return registration_of(descriptor(members), serving).members


def test_it_points_at_the_current_descriptor_and_names_its_digest() -> None:
    one = descriptor(BOUND)
    made = registration_of(one, SERVING).members
    location = "http://192.168.1.20:7420/.well-known/agent-descriptor.json"
    assert made["descriptor"] == {"digest": one.digest, "location": location}
    assert made["subject"] == {"id": ID, "handle": "reader.example"}


def test_an_address_that_may_not_be_named_is_left_out() -> None:
    assert set(registration(BOUND, GLOBAL)["descriptor"]) == {"digest"}


def test_a_posture_comes_with_the_key_and_the_claim_to_it() -> None:
    made = registration(SEALED)
    assert {name: made[name] for name in ("sealing", "encryption_key", "trust")} == {
        name: SEALED[name] for name in ("sealing", "encryption_key", "trust")
    }


@pytest.mark.parametrize(
    "members",
    [
        without(SEALED, "trust"),
        without(SEALED, "encryption_key"),
        {**SEALED, "trust": {**SEALED["trust"], "issued_at": "2026-07-25T00:00:01.000Z"}},
        {**SEALED, "encryption_key": "A" * 43},
        {**SEALED, "subject": {"id": ID[:-1] + "A"}},
    ],
)
def test_a_key_whose_claim_does_not_verify_is_not_passed_on(members: dict[str, Any]) -> None:
    made = registration(members)
    assert made["sealing"] == "preferred"
    assert "encryption_key" not in made
    assert "trust" not in made


@pytest.mark.parametrize(
    ("members", "scope"),
    [
        ({}, {}),
        ({"scope": "task-specific"}, {"scope": "task-specific"}),
        ({"scope": "open-with-focus", "focus": "data"}, {"scope": "open-with-focus"}),
        ({"scope": "open-with-focus", "focus": "cooking"}, {"scope": "open-ended"}),
        ({"scope": "unheard-of"}, {"scope": "open-ended"}),
        ({"scope": 7}, {"scope": "open-ended"}),
    ],
)
def test_the_scope_of_each_offering_is_as_a_reader_takes_it_and_silence_stays_silent(
    members: dict[str, Any], scope: dict[str, str]
) -> None:
    assert registration({**BOUND, "offerings": [{**OFFERING, **members}]})["offerings"] == [{"id": "read", **scope}]


def test_no_offerings_and_none_stated_are_two_answers() -> None:
    assert registration({**BOUND, "offerings": []})["offerings"] == []
    assert "offerings" not in registration(BOUND)


# Older documents, as chapter 6.12 reads them.


def test_what_the_shape_says_of_a_fleet_is_projected_and_nothing_else_of_it_is() -> None:
    old, new = registration(DOCUMENTS["page-0.2"]), registration(DOCUMENTS["shape"])
    assert (old.pop("fleet", None), new.pop("fleet")) == (None, True)
    assert without(old, "descriptor") == without(new, "descriptor")
    governed = registration({**DOCUMENTS["shape"], "fleet": False})
    assert governed["fleet"] is False


def test_whom_an_older_agent_acts_for_is_not_guessed() -> None:
    assert "acts_for" not in registration(DOCUMENTS["page-0.2"])
