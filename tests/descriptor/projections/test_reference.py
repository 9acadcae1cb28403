"""References: what they name, that they hold for those bytes alone, and what they say of others."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from descriptor.canonical import canonical
from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.pointers import pointer_to
from descriptor.projections.reference import MemberState, Reference, verify_reference
from descriptor.signatures import Signature
from tests.descriptor.projections.cases import DOCUMENTS, descriptor
from tests.descriptor.rules.cases import BOUND, DRAFT, bound, offering
from tests.descriptor.test_mutations import members

WHOLE = descriptor(DOCUMENTS["whole"])
SIGNED = json.dumps(bound(offerings=offering()["offerings"]), indent=1).encode()
POINTERS = ("/offerings/0/inputs", "/does")
REFERENCE = Reference.to(Descriptor.read(SIGNED), POINTERS)


def test_a_reference_names_bytes_and_members_by_code_that_is_not_ours() -> None:
    document = Reference.to(WHOLE, POINTERS, "http://desk.local:7420/x").document()
    read = json.loads(WHOLE.data)
    assert document == {
        "reference": "v1",
        "digest": "sha256:" + hashlib.sha256(WHOLE.data).hexdigest(),
        "location": "http://desk.local:7420/x",
        "members": [
            {"pointer": pointer, "canonical_digest": "sha256:" + hashlib.sha256(rfc8785.dumps(value)).hexdigest()}
            for pointer, value in ((POINTERS[0], read["offerings"][0]["inputs"]), (POINTERS[1], read["does"]))
        ],
    }


def test_it_restates_nothing_and_its_location_may_be_absent() -> None:
    document = REFERENCE.document()
    assert set(document) == {"reference", "digest", "members"}
    assert "contract" not in json.dumps(document)


def test_each_pointer_is_named_once() -> None:
    assert [pointer for pointer, _ in Reference.to(WHOLE, ["/does", "", "/does"]).members] == ["/does", ""]


def test_a_reference_holds_for_the_bytes_it_names() -> None:
    verified = verify_reference(REFERENCE, SIGNED)
    assert verified.holds
    assert verified.signature.state is Signature.VERIFIED
    assert verified.members == tuple((pointer, MemberState.HOLDS) for pointer in POINTERS)


def test_every_member_of_a_document_can_be_referenced() -> None:
    pointers = [pointer_to(*path) for path, _ in members(DOCUMENTS["whole"])]
    reference = Reference.read(Reference.to(WHOLE, pointers).document())
    assert verify_reference(reference, WHOLE.data).holds


def test_other_bytes_of_the_same_document_are_not_the_ones() -> None:
    verified = verify_reference(REFERENCE, json.dumps(json.loads(SIGNED)).encode())
    assert not verified.holds
    assert verified.found != verified.expected
    assert {state for _, state in verified.members} == {MemberState.HOLDS}


def test_of_another_version_it_says_which_members_are_the_same() -> None:
    later = bound(does="Reads letters.")
    verified = verify_reference(REFERENCE, json.dumps(later).encode())
    assert dict(verified.members) == {"/offerings/0/inputs": MemberState.MISSING, "/does": MemberState.DIFFERS}
    assert not verified.holds


def test_a_place_that_is_named_often_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[object] = []

    def counting(value: Any) -> bytes:
        looked.append(value)
        return canonical(value)

    monkeypatch.setattr("descriptor.projections.reference.canonical", counting)
    named = REFERENCE.members
    often = replace(REFERENCE, members=(*named, (named[0][0], "sha256:" + 64 * "0"), ("/nowhere", named[0][1])) * 100)
    verified = verify_reference(often, SIGNED)
    assert verified.members[:4] == (
        (POINTERS[0], MemberState.HOLDS),
        (POINTERS[1], MemberState.HOLDS),
        (POINTERS[0], MemberState.DIFFERS),
        ("/nowhere", MemberState.MISSING),
    )
    assert verified.members == verified.members[:4] * 100
    assert len(looked) == len(POINTERS)


def test_a_reference_that_was_edited_does_not_hold() -> None:
    digest = REFERENCE.members[1][1]
    for changed in ((("/does", REFERENCE.members[0][1]),), (("/nowhere", digest),), (("does", digest),)):
        assert not verify_reference(Reference(REFERENCE.digest, None, changed), SIGNED).holds


@pytest.mark.parametrize("document", [DRAFT, {**DRAFT, "subject": {}}, {**DRAFT, "subject": {"handle": "x"}}])
def test_nothing_binds_to_a_draft(document: dict[str, Any]) -> None:
    one = descriptor(document)
    with pytest.raises(DescriptorError) as caught:
        Reference.to(one, ["/does"])
    assert caught.value.code == "NOT_BOUND"
    made = Reference(one.digest, None, ())
    assert (verify_reference(made, one.data).bound, verify_reference(made, one.data).holds) == (False, False)


def test_an_unsigned_descriptor_can_be_referenced_and_one_whose_signature_fails_does_not_hold() -> None:
    unsigned = descriptor(BOUND)
    assert verify_reference(Reference.to(unsigned, ["/does"]), unsigned.data).holds
    broken = descriptor({**bound(), "does": "Changed."})
    verified = verify_reference(Reference.to(broken, ["/does"]), broken.data)
    assert (verified.holds, verified.signature.state) == (False, Signature.FAILED)


@pytest.mark.parametrize(
    ("pointer", "code"),
    [
        ("does", "BAD_POINTER"),
        ("/a~2", "BAD_POINTER"),
        ("/a~", "BAD_POINTER"),
        ("#/does", "BAD_POINTER"),
        ("/nothing", "NOT_THERE"),
        ("/", "NOT_THERE"),
        ("/does/0", "NOT_THERE"),
        ("/offerings/9", "NOT_THERE"),
        ("/offerings/-", "NOT_THERE"),
        ("/offerings/00", "NOT_THERE"),
        ("/offerings/-1", "NOT_THERE"),
        ("/offerings/+0", "NOT_THERE"),
        ("/offerings/٠", "NOT_THERE"),
        ("/offerings/" + "9" * 5000, "NOT_THERE"),
    ],
)
def test_a_pointer_that_leads_nowhere_is_refused(pointer: str, code: str) -> None:
    with pytest.raises(DescriptorError) as caught:
        Reference.to(WHOLE, [pointer])
    assert caught.value.code == code


SOUND = REFERENCE.document()


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"reference": "v2"}, ""),
        ({"digest": None}, ""),
        ({"digest": "a" * 64}, ""),
        ({"location": 7}, "/location"),
        ({"members": None}, "/members"),
        ({"members": ["/does"]}, "/members/0"),
        ({"members": [*SOUND["members"], {"pointer": "/does"}]}, "/members/2"),
        ({"members": [{"pointer": 7, "canonical_digest": REFERENCE.digest}]}, "/members/0"),
        ({"members": [{"pointer": "/does", "canonical_digest": "sha256:A"}]}, "/members/0"),
    ],
)
def test_what_is_no_reference_is_refused(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(DescriptorError) as caught:
        Reference.read({**SOUND, **changes})
    assert (caught.value.code, caught.value.pointer) == ("BAD_REFERENCE", pointer)


def test_unknown_members_are_somebody_elses_business() -> None:
    assert Reference.read({**SOUND, "proposal": 1}) == REFERENCE


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_a_reference_to_any_value_holds(value: Any) -> None:
    one = descriptor({**BOUND, "somebody_elses": value})
    pointers = [pointer_to("somebody_elses", *path) for path, _ in [((), None), *members(value)]]
    assert verify_reference(Reference.read(Reference.to(one, pointers).document()), one.data).holds
