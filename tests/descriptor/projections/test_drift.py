"""Drift: a fresh projection has none, every change of it is one, and every other member is not looked at."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.keys import Identity
from descriptor.pointers import pointer_to
from descriptor.projections.card import card_of
from descriptor.projections.card_signature import sign_card
from descriptor.projections.drift import Kind, drift_of, subject_of
from descriptor.projections.registration import registration_of
from descriptor.projections.serving import Serving
from descriptor.signatures import Signature
from tests.descriptor.projections.cases import DOCUMENTS, SERVING, descriptor
from tests.descriptor.projections.test_projections import MADE, NOT_FROM_A_MEMBER
from tests.descriptor.rules.cases import BOUND, DRAFT, ID, OFFERING, SEED

IDENTITY = Identity.from_seed_text(SEED)
NOWHERE = Serving((), None, "/entryway", "-", "-")
WHOLE = descriptor(DOCUMENTS["whole"])


def found(document: dict[str, Any], one: Descriptor = WHOLE) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(diff.kind.value, diff.pointer, diff.sources) for diff in drift_of(document, one).differences]


def changed(document: dict[str, Any], path: tuple[str | int, ...], value: Any = ...) -> dict[str, Any]:
    other: Any = copy.deepcopy(document)
    holder = other
    for step in path[:-1]:
        holder = holder[step]
    if value is ...:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return dict(other)


@pytest.mark.parametrize("serving", [SERVING, NOWHERE], ids=["somewhere", "nowhere"])
@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_fresh_projection_agrees(name: str, make: Callable[..., Any], serving: Serving) -> None:
    one = descriptor(DOCUMENTS[name])
    drift = drift_of(json.loads(json.dumps(make(one, serving).members)), one)
    assert drift.differences == ()
    assert drift.agrees
    assert drift.generated_from == one.digest == drift.descriptor
    assert subject_of(make(one, serving).members) == ID


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_every_change_of_what_comes_from_the_descriptor_is_found_where_it_is(make: Callable[..., Any]) -> None:
    projection = make(WHOLE, SERVING)
    looked = 0
    for path, leaf in projection.leaves():
        if not leaf.pointers or leaf.value is None:
            continue
        looked += 1
        key = path[-1] == "id" and len(path) == 3
        other = changed(projection.members, path, ["another"] if isinstance(leaf.value, list) else "another")
        kinds = ["missing", "unsaid"] if key else ["differs" if leaf.stated else "unsaid"]
        place = pointer_to(*path[:2]) if key else pointer_to(*path)
        assert [(kind, at) for kind, at, _ in found(other)] == [(kind, place) for kind in kinds]
        if leaf.stated and not key:
            assert found(changed(projection.members, path)) == [("missing", pointer_to(*path), leaf.pointers)]
    assert looked > 8


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_what_is_no_fact_of_the_descriptor_is_not_looked_at(make: Callable[..., Any]) -> None:
    projection = make(WHOLE, SERVING)
    for path, leaf in projection.leaves():
        if pointer_to(*path) in NOT_FROM_A_MEMBER - {"/registration", "/capabilities/extensions/0/uri"} and leaf.value:
            assert found(changed(projection.members, path, "another")) == []
    members = {
        **projection.members,
        "iconUrl": "http://a",
        "securitySchemes": {"a": {}},
        "documentationUrl": "http://b",
    }
    assert found(members) == []


CARD: dict[str, Any] = card_of(WHOLE, SERVING).members
SILENT = descriptor(BOUND)


@pytest.mark.parametrize(
    ("members", "difference"),
    [
        (
            {"provider": {"organization": "Somebody"}},
            ("unsaid", "/provider/organization", ("/organization_name", "/acts_for")),
        ),
        ({"defaultInputModes": ["image/png"]}, ("unsaid", "/defaultInputModes", ("/default_input_modes",))),
        ({"skills": [{"id": "sell", "name": "Sell"}]}, ("unsaid", "/skills/0", ("/offerings",))),
        ({"skills": ["sell"]}, ("unsaid", "/skills/0", ("/offerings",))),
        ({"description": "Sells everything."}, ("differs", "/description", ("/does",))),
        ({"version": "2"}, ("differs", "/version", ("/agent_version",))),
    ],
)
def test_what_a_card_says_and_its_descriptor_does_not_is_named(
    members: dict[str, Any], difference: tuple[str, str, tuple[str, ...]]
) -> None:
    assert found({**card_of(SILENT, SERVING).members, **members}, SILENT) == [difference]


def test_silence_that_a_card_leaves_out_is_no_difference() -> None:
    card = card_of(SILENT, SERVING).members
    assert found({name: value for name, value in card.items() if "Modes" not in name}, SILENT) == []


def test_entries_are_matched_by_their_id_and_words_by_themselves() -> None:
    turned = {**CARD, "skills": [*reversed(CARD["skills"])]}
    assert found(turned) == []
    turned["skills"] = [{**one, "outputModes": [*reversed(one["outputModes"])]} for one in turned["skills"]]
    assert found(turned) == []
    first = turned["skills"][0]
    changed_name = {**turned, "skills": [{**first, "name": "X"}, *turned["skills"][1:]]}
    assert found(changed_name) == [("differs", "/skills/0/name", ("/offerings/2/name",))]


def test_an_entry_that_comes_twice_stands_for_nothing_the_second_time() -> None:
    skills = CARD["skills"]
    assert found({**CARD, "skills": [*skills, skills[0]]}) == [("unsaid", "/skills/3", ("/offerings",))]
    assert found({**CARD, "skills": skills[1:]}) == [("missing", "/skills/0", ("/offerings",))]


def test_a_card_of_another_version_names_the_bytes_it_was_made_from() -> None:
    later = descriptor({**DOCUMENTS["whole"], "agent_version": "3.2"})
    drift = drift_of(CARD, later)
    assert (drift.generated_from, drift.descriptor) == (WHOLE.digest, later.digest)
    assert [(one.pointer, one.kind) for one in drift.differences] == [
        ("/version", Kind.DIFFERS),
        ("/capabilities/extensions/0/params/digest", Kind.DIFFERS),
    ]
    assert (drift.differences[0].stands, drift.differences[0].expected) == ("3.1", "3.2")


def test_a_signature_is_judged_by_the_descriptors_subject() -> None:
    signed = sign_card(CARD, IDENTITY)
    verified, unsigned = drift_of(signed, WHOLE), drift_of(CARD, WHOLE)
    assert verified.signature is not None
    assert unsigned.signature is not None
    assert (verified.signature.state, verified.agrees) == (Signature.VERIFIED, True)
    assert (unsigned.signature.state, unsigned.agrees) == (Signature.UNSIGNED, True)
    moved = drift_of({**signed, "iconUrl": "http://a"}, WHOLE)
    assert moved.signature is not None
    assert (moved.signature.state, moved.differences, moved.agrees) == (Signature.FAILED, (), False)
    assert drift_of(registration_of(WHOLE, SERVING).members, WHOLE).signature is None


@pytest.mark.parametrize("document", [{}, {"reference": "v1"}, {"agentdoc": "v1"}, dict(BOUND)])
def test_what_is_no_projection_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(DescriptorError) as caught:
        drift_of(document, WHOLE)
    assert caught.value.code == "NOT_A_PROJECTION"


def test_a_draft_has_no_projection_to_compare() -> None:
    for document in ({"skills": []}, {"registration": "v1"}):
        with pytest.raises(DescriptorError) as caught:
            drift_of(document, descriptor(DRAFT))
        assert caught.value.code == "NOT_BOUND"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "uri", "params", "x"]), inner),
    max_leaves=8,
)
NAMES = st.sampled_from([*CARD, *registration_of(WHOLE, SERVING).members, "extensions", "signatures"])


@given(st.dictionaries(NAMES, JSON | st.fixed_dictionaries({"extensions": JSON})))
def test_whatever_a_document_holds_it_is_compared(document: dict[str, Any]) -> None:
    for kind in ({"skills": []}, {"registration": "v1"}):
        drift = drift_of({**kind, **document}, descriptor({**BOUND, "offerings": [OFFERING]}))
        assert not drift.agrees
        subject_of({**kind, **document})
