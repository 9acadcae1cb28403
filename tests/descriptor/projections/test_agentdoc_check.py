"""Each check of an AgentDoc fails on what it is for, and on nothing else."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from descriptor.digests import digest_of
from descriptor.errors import DescriptorError
from descriptor.keys import Identity
from descriptor.projections.agentdoc import Observation, sign_assembly
from descriptor.projections.agentdoc_check import CHECKS, Checked, check
from descriptor.projections.agentdoc_looked import Looked
from descriptor.signatures import SignatureReport, verify_statement
from tests.descriptor.projections.samples import sample
from tests.descriptor.projections.test_agentdoc import CARD, NOW, OWNER, doc_of, fetched
from tests.descriptor.test_view import JSON
from tests.vectors import NKEYS

DESCRIPTOR = sample("demo")
SEEN = Observation("What is kept.", NOW, {"versions": [{"digest": DESCRIPTOR.digest}]})
DOC = doc_of(DESCRIPTOR, card=fetched(CARD), observations=[SEEN], stale_after=NOW + 60)
BYTES = {"descriptor": DESCRIPTOR.data, "card": json.dumps(CARD).encode()}
OTHER = Identity.from_seed_text(NKEYS[1]["seed"])

Change = Callable[[dict[str, Any]], object]


def checked(change: Change, *, signed: bool = True, bytes_of: dict[str, bytes] | None = None) -> Checked:
    """What is found of the document with a change in it, signed anew unless it says otherwise."""
    members: dict[str, Any] = copy.deepcopy(dict(DOC.members))
    change(members)
    if signed:
        members["signatures"] = [sign_assembly(members, OWNER)]
    return check(json.dumps(members).encode(), BYTES if bytes_of is None else bytes_of, NOW)


def nothing(members: dict[str, Any]) -> None:
    pass


def put(*path: Any) -> Change:
    """A change: a value, the last of `path`, at the place that the others lead to."""
    *steps, name, value = path

    def change(members: Any) -> None:
        for step in steps:
            members = members[step]
        if value is ...:
            del members[name]
        elif isinstance(members, list) and name == len(members):
            members.append(value)
        else:
            members[name] = value

    return change


# What is changed, which checks fail, and where.
BROKEN: list[tuple[Change, dict[str, str]]] = [
    (put("agentdoc", "v2"), {"form": "/agentdoc"}),
    (put("subject", {}), {"form": "/subject/id"}),
    (put("assembled_at", "yesterday"), {"form": "/assembled_at"}),
    (put("sources", "none"), {"form": "/sources", "from": "/sections/identity/from"}),
    (put("sources", 0, "kind", ...), {"sources": "/sources/0/kind"}),
    (put("sources", 0, "url", ...), {"sources": "/sources/0"}),
    (
        put("sources", 1, "id", "descriptor"),
        {
            "sources": "/sources/1/id",
            "from": "/sections/access/interfaces_served_from",
            "digests": "/sources/1/digest",
        },
    ),
    (put("sources", 0, "signature", "fine"), {"sources": "/sources/0/signature", "digests": "/sources/0/signature"}),
    (put("sources", 0, "fetched_at", "then"), {"sources": "/sources/0/fetched_at"}),
    (put("sources", 1, "digest", "sha256:00"), {"sources": "/sources/1/digest", "digests": "/sources/1/digest"}),
    (put("sections", "refuses", "from", "hearsay"), {"from": "/sections/refuses/from"}),
    (put("sections", "refuses", "from", ...), {"from": "/sections/refuses/from"}),
    (put("sections", "refuses", "ghost_from", "card"), {"from": "/sections/refuses/ghost_from"}),
    (put("sources", 0, "digest", "sha256:" + "0" * 64), {"digests": "/sources/0/digest"}),
    (put("sources", 0, "signature", "failed"), {"digests": "/sources/0/signature"}),
    (put("sources", 1, "signature", "verified"), {"digests": "/sources/1/signature"}),
    (put("sections", "identity", "does", "Everything."), {"values": "/sections/identity/does"}),
    (put("sections", "access", "access", "admission", "open"), {"values": "/sections/access/access"}),
    (put("sections", "access", "access", "open", True), {"values": "/sections/access/access"}),
    (put("sections", "asked", "mood", "sunny"), {"values": "/sections/asked/mood"}),
    (
        put("sections", "access", "interfaces_served", [{"url": "https://b.example"}]),
        {"values": "/sections/access/interfaces_served"},
    ),
    (
        put("sections", "refuses", "refusals", ...),
        {"not_stated": "/sections/refuses/refusals"},
    ),
    (put("not_stated", 0, "/identity/does"), {"not_stated": "/sections/identity/does"}),
    (put("not_stated", []), {"not_stated": "/sections/shape/fleet"}),
    (
        put("sections", "standing", "standing", "guest"),
        {"values": "/sections/standing/standing", "not_stated": "/sections/standing/standing"},
    ),
    (put("trust_score", 5), {"no_grade": "/trust_score"}),
    (put("sources", 0, "rating", "good"), {"no_grade": "/sources/0/rating"}),
    (
        put("sections", "standing", "versions", 0, "verifiedBadge", True),
        {"no_grade": "/sections/standing/versions/0/verifiedBadge"},
    ),
    (
        put("sections", "standing", "peer", {"reputation": 1}),
        {"no_grade": "/sections/standing/peer/reputation", "values": "/sections/standing/peer"},
    ),
    (put("stale_after", "2020-01-01T00:00:00Z"), {"fresh": "/stale_after"}),
]


def test_a_document_as_it_is_assembled_passes() -> None:
    found = checked(nothing)
    assert found.remarks == ()
    assert found.holds
    assert tuple(found.checks) == CHECKS
    assert set(found.checks.values()) == {True}


@pytest.mark.parametrize(("change", "failing"), BROKEN)
def test_each_check_fails_on_what_it_is_for(change: Change, failing: dict[str, str]) -> None:
    found = checked(change)
    first = {remark.check: remark.pointer for remark in reversed(found.remarks)}
    assert first == failing
    assert {name for name, held in found.checks.items() if held is False} == set(failing)
    assert not found.holds


def test_every_check_has_something_that_it_fails_on() -> None:
    assert {name for _, failing in BROKEN for name in failing} | {"signature"} == set(CHECKS)


@pytest.mark.parametrize(
    "change",
    [
        put("sections", "identity", "does", "Everything."),
        put("signatures", ...),
        put("signatures", []),
        put("signatures", 0, "by", OTHER.id),
        put("signatures", 0, "sig", "AAAA"),
        put("signatures", 0, "sig", 7),
        put("signatures", 0, "tag", "descriptor-statement-v1"),
        put("assembled_by", OTHER.id),
        put("signatures", 1, sign_assembly({**DOC.members, "agentdoc": "v2"}, OWNER)),
    ],
)
def test_what_was_changed_after_it_was_signed_does_not_verify(change: Change) -> None:
    assert checked(change, signed=False).checks["signature"] is False


def test_what_is_not_at_hand_is_not_checked_and_does_not_hold_by_that() -> None:
    found = checked(nothing, bytes_of={})
    assert (found.checks["digests"], found.checks["values"]) == (None, None)
    assert found.checks["not_stated"] is True
    assert found.holds
    assert checked(put("stale_after", ...)).checks["fresh"] is None


def test_without_the_descriptor_the_outermost_places_are_still_accounted_for() -> None:
    found = checked(put("sections", "handling", "data_use", ...), bytes_of={})
    assert [(one.check, one.pointer) for one in found.remarks] == [("not_stated", "/sections/handling/data_use")]


def test_some_of_a_member_is_no_other_value() -> None:
    assert checked(put("sections", "refuses", "limits", "past_them", ...)).checks["values"] is True


def test_a_source_given_under_its_id_has_to_be_that_source() -> None:
    found = checked(nothing, bytes_of={"descriptor": sample("whole").data})
    assert found.checks["digests"] is False


def test_a_source_that_is_listed_often_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[bytes] = []
    verified: list[object] = []

    def digest_counted(data: bytes) -> str:
        hashed.append(data)
        return digest_of(data)

    def verify_counted(members: Any) -> SignatureReport:
        verified.append(members)
        return verify_statement(members)

    monkeypatch.setattr("descriptor.projections.agentdoc_looked.digest_of", digest_counted)
    monkeypatch.setattr("descriptor.projections.agentdoc_content.verify_statement", verify_counted)
    found = checked(lambda members: members.update(sources=members["sources"] * 100))
    assert found.checks["sources"] is False
    assert found.checks["digests"] is True
    assert (len(hashed), len(verified)) == (len(BYTES), 1)


def test_what_is_made_of_a_document_is_made_once() -> None:
    looked = Looked(DOC.members, BYTES, NOW)
    for name in ("sections", "sources", "digests", "reading"):
        assert getattr(looked, name) is getattr(looked, name)


def test_what_the_operator_calls_a_setting_is_no_grade() -> None:
    descriptor = sample("odd")
    assert b'"grade"' in descriptor.data
    assert check(doc_of(descriptor).data, {"descriptor": descriptor.data}, NOW).checks["no_grade"] is True


@pytest.mark.parametrize("data", [b"", b"[]", b'"x"', b'{"a":1,"a":2}'])
def test_what_is_no_object_is_refused(data: bytes) -> None:
    with pytest.raises(DescriptorError):
        check(data, {}, NOW)


@settings(max_examples=150)
@given(
    st.dictionaries(st.sampled_from(sorted(DOC.members)), JSON, max_size=4),
    st.dictionaries(st.sampled_from(sorted(DOC.members["sections"])), JSON, max_size=4),
    st.booleans(),
)
def test_whatever_stands_in_it_is_found_wanting_and_never_fails(
    members: dict[str, Any], sections: dict[str, Any], at_hand: bool
) -> None:
    document = {**DOC.members, "sections": {**DOC.members["sections"], **sections}, **members}
    found = check(json.dumps(document).encode(), BYTES if at_hand else {}, NOW)
    assert set(found.checks) == set(CHECKS)
    assert all((found.checks[remark.check] is False) for remark in found.remarks)
