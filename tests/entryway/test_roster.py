"""The roster: what its document says, when it is enforced, and what a caller is told because of it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st
from nacl.signing import VerifyKey

from descriptor.canonical import canonical
from descriptor.errors import DescriptorError
from descriptor.keys import Identity
from descriptor.timestamps import format_timestamp
from descriptor.vocabulary import ADMISSION
from entryway.admission import (
    ADMITTED,
    NEVER_ASKED,
    REFUSED,
    WAITING,
    Position,
    Reason,
    Status,
    knocking,
    position,
    unapplied,
)
from entryway.roster import (
    CONSERVATIVE,
    HOURLY,
    LONGEST_NOTE,
    NO_POLICY,
    ROSTER_TAG,
    Entry,
    Policy,
    Stance,
    Standing,
    Tier,
    enforced,
    read_roster,
    sign_roster,
    standing,
    with_defaults,
    with_entry,
)
from tests.entryway.parts import NOW, OTHER, OWNER
from tests.entryway.test_codec import JSON_VALUES

ALLOW, HOLD, BLOCK = Stance
STRANGER = Identity.generate().id
ADMISSIONS = (*ADMISSION, None)


def policy_of(document: bytes) -> Policy:
    return read_roster(document, OWNER.id)


def policy(registered: Stance = HOLD, contact: Stance = ALLOW, **entries: Any) -> Policy:
    """A policy with these defaults and, for OTHER, this entry."""
    kept = {OTHER.id: Entry(OTHER.id, **{**ENTRY, **entries})} if entries else {}
    return Policy({**CONSERVATIVE, Tier.REGISTERED: registered, Tier.CONTACT: contact}, HOURLY, kept)


ENTRY: dict[str, Any] = {"stance": None, "tier": Tier.ROSTERED, "note": None, "time": NOW, "revoked": False}


def signed(**members: Any) -> bytes:
    return sign_roster(members, OWNER, NOW)


def entry(subject: str = OTHER.id, **members: Any) -> dict[str, Any]:
    return {"subject": subject, "time": format_timestamp(NOW), **members}


# The owner's stance.


def test_with_no_policy_contacts_are_allowed_the_registered_held_and_the_anonymous_blocked() -> None:
    assert CONSERVATIVE[Tier.CONTACT] is ALLOW
    assert standing(NO_POLICY, OTHER.id) == Standing(HOLD, Tier.REGISTERED)
    assert standing(NO_POLICY, None) == Standing(BLOCK, Tier.ANONYMOUS)
    assert NO_POLICY.hourly == HOURLY


@pytest.mark.parametrize("registered", Stance)
@pytest.mark.parametrize("stance", Stance)
@pytest.mark.parametrize("tier", [Tier.ROSTERED, Tier.CONTACT])
def test_an_explicit_entry_beats_every_tier(registered: Stance, stance: Stance, tier: Tier) -> None:
    found = standing(policy(registered, contact=registered, stance=stance, tier=tier), OTHER.id)
    assert found == Standing(stance, tier, explicit=True)


@pytest.mark.parametrize("contact", Stance)
def test_an_entry_without_a_stance_leaves_it_to_its_tier(contact: Stance) -> None:
    assert standing(policy(contact=contact, tier=Tier.CONTACT), OTHER.id) == Standing(contact, Tier.CONTACT)
    assert standing(policy(contact=contact, tier=Tier.ROSTERED), OTHER.id) == Standing(ALLOW, Tier.ROSTERED)


def test_an_entry_is_about_one_agent() -> None:
    assert standing(policy(stance=BLOCK), STRANGER) == Standing(HOLD, Tier.REGISTERED)


# What a knock comes to.

CLOSED, LISTED, ARRANGED, REVOKED = (
    REFUSED[reason] for reason in (Reason.CLOSED, Reason.ALLOWLIST, Reason.NEGOTIATED, Reason.REVOKED)
)
OF_A_STRANGER = {
    ALLOW: (ADMITTED, LISTED, WAITING, ARRANGED, ADMITTED),
    HOLD: (WAITING, LISTED, WAITING, ARRANGED, WAITING),
    BLOCK: (CLOSED, LISTED, CLOSED, ARRANGED, CLOSED),
}


@pytest.mark.parametrize("registered", Stance)
@pytest.mark.parametrize("place", range(5))
def test_a_stranger_is_told_what_the_table_says(registered: Stance, place: int) -> None:
    assert knocking(policy(registered), STRANGER, ADMISSIONS[place]) is OF_A_STRANGER[registered][place]


@pytest.mark.parametrize("registered", Stance)
@pytest.mark.parametrize("admission", ADMISSIONS)
def test_whom_the_owner_allows_is_admitted_under_every_admission(registered: Stance, admission: str | None) -> None:
    assert knocking(policy(registered, stance=ALLOW), OTHER.id, admission) is ADMITTED
    assert knocking(policy(registered, tier=Tier.CONTACT), OTHER.id, admission) is ADMITTED


@pytest.mark.parametrize("registered", Stance)
@pytest.mark.parametrize("admission", ADMISSIONS)
@pytest.mark.parametrize("stance", [HOLD, BLOCK])
@pytest.mark.parametrize("knocked", [False, True])
def test_whom_the_owner_holds_or_blocks_is_told_what_a_stranger_is(
    registered: Stance, admission: str | None, stance: Stance, knocked: bool
) -> None:
    own = policy(registered, stance=stance)
    if knocking(own, STRANGER, admission) is ADMITTED:
        # There is no other true answer than one that differs.
        assert knocking(own, OTHER.id, admission) == (WAITING if stance is HOLD else CLOSED)
    else:
        assert knocking(own, OTHER.id, admission) is knocking(own, STRANGER, admission)
        told = (position(own, caller, admission, knocked=knocked) for caller in (OTHER.id, STRANGER))
        assert len(set(told)) == 1


@pytest.mark.parametrize("admission", ADMISSIONS)
@pytest.mark.parametrize("knocked", [False, True])
def test_who_is_revoked_is_told_so(admission: str | None, knocked: bool) -> None:
    own = policy(ALLOW, stance=BLOCK, revoked=True)
    assert knocking(own, OTHER.id, admission) is REVOKED
    assert position(own, OTHER.id, admission, knocked=knocked) is REVOKED


@pytest.mark.parametrize("admission", ADMISSIONS)
def test_who_never_knocked_has_never_asked_unless_it_is_admitted(admission: str | None) -> None:
    assert position(policy(), STRANGER, admission, knocked=False) is NEVER_ASKED
    assert position(policy(stance=ALLOW), OTHER.id, admission, knocked=False) is ADMITTED


@pytest.mark.parametrize("word", ["Open", "public", "", "OPEN "])
def test_an_admission_that_nobody_knows_is_not_open(word: str) -> None:
    assert knocking(NO_POLICY, STRANGER, word) is WAITING


# Which roster applies which admission.


@pytest.mark.parametrize(
    ("admission", "registered", "contact", "applied"),
    [
        ("open", ALLOW, ALLOW, True),
        ("open", HOLD, ALLOW, False),
        ("open", BLOCK, ALLOW, False),
        ("open", ALLOW, HOLD, False),
        ("allowlist", HOLD, ALLOW, True),
        ("allowlist", BLOCK, BLOCK, True),
        ("allowlist", ALLOW, ALLOW, False),
        ("negotiated", HOLD, ALLOW, True),
        ("negotiated", BLOCK, ALLOW, True),
        ("negotiated", ALLOW, ALLOW, False),
        ("screened", HOLD, ALLOW, True),
        ("screened", ALLOW, ALLOW, False),
        ("screened", BLOCK, ALLOW, False),
        *((None, registered, ALLOW, True) for registered in Stance),
    ],
)
def test_a_roster_applies_an_admission_or_says_what_to_do(
    admission: str | None, registered: Stance, contact: Stance, applied: bool
) -> None:
    why = unapplied(policy(registered, contact), admission)
    assert (why is None) is applied
    if why is not None:
        assert "agent-node roster defaults --" in why
        assert f'"{admission}"' in why


@pytest.mark.parametrize("admission", ADMISSION)
@pytest.mark.parametrize("registered", Stance)
def test_what_is_applied_is_what_a_stranger_meets(admission: str, registered: Stance) -> None:
    own = policy(registered)
    if unapplied(own, admission) is None:
        told = {"open": ADMITTED, "allowlist": LISTED, "screened": WAITING, "negotiated": ARRANGED}[admission]
        assert knocking(own, STRANGER, admission) is told


# The document.


def test_a_signed_roster_is_enforced_and_says_what_it_says() -> None:
    document = signed(
        defaults={"registered": "block"},
        limits={"per_sender_hourly": 7},
        entries=[entry(stance="allow", note="The neighbor's."), entry(STRANGER, tier="contact")],
    )
    found = enforced(document, OWNER.id)
    assert found.problem is None
    assert found.policy.defaults == {**CONSERVATIVE, Tier.REGISTERED: BLOCK}
    assert found.policy.hourly == 7
    assert found.policy.entries == {
        OTHER.id: Entry(OTHER.id, ALLOW, Tier.ROSTERED, "The neighbor's.", NOW, revoked=False),
        STRANGER: Entry(STRANGER, None, Tier.CONTACT, None, NOW, revoked=False),
    }


def test_the_signature_is_one_that_others_verify() -> None:
    members = json.loads(signed(entries=[entry(stance="block")]))
    (signature,) = members.pop("signatures")
    assert (signature["tag"], signature["by"], signature["alg"]) == (ROSTER_TAG, OWNER.id, "ed25519")
    assert (members["by"], members["issued_at"]) == (OWNER.id, format_timestamp(NOW))
    message = b"agentmesh-roster-v1\n" + rfc8785.dumps(members)
    VerifyKey(OWNER.public).verify(message, base64.b64decode(signature["sig"], validate=True))


def test_no_document_is_no_problem() -> None:
    found = enforced(None, OWNER.id)
    assert (found.policy, found.problem) == (NO_POLICY, None)


def by_another() -> bytes:
    return sign_roster({"entries": []}, OTHER, NOW)


def changed(change: Callable[[dict[str, Any]], object], document: bytes | None = None) -> bytes:
    members = json.loads(document or signed(entries=[entry(stance="block")]))
    change(members)
    return json.dumps(members).encode()


@pytest.mark.parametrize(
    "document",
    [
        by_another(),
        changed(lambda members: members.update(by=OTHER.id)),
        changed(lambda members: members.update(by=OWNER.id), by_another()),
        changed(lambda members: members["entries"][0].update(stance="allow")),
        changed(lambda members: members["entries"].clear()),
        changed(lambda members: members.update(added=None)),
        changed(lambda members: members.update(issued_at="2030-01-01T00:00:00.000Z")),
        changed(lambda members: members.pop("signatures")),
        changed(lambda members: members["signatures"].clear()),
        changed(lambda members: members["signatures"].append(members["signatures"][0])),
        changed(lambda members: members["signatures"][0].update(by=OTHER.id)),
        changed(lambda members: members["signatures"][0].update(tag="descriptor-statement-v1")),
        changed(lambda members: members["signatures"][0].update(sig="A" * 86)),
        changed(lambda members: members["signatures"][0].update(sig=7)),
        changed(lambda members: members["signatures"][0].pop("sig")),
        changed(lambda members: members.update(signatures={})),
    ],
)
def test_a_document_whose_signature_fails_is_not_enforced_and_the_conservative_defaults_are(document: bytes) -> None:
    found = enforced(document, OWNER.id)
    assert found.policy is NO_POLICY
    assert found.problem is not None
    with pytest.raises(DescriptorError) as caught:
        read_roster(document, OWNER.id)
    assert caught.value.code in ("ROSTER_NOT_SIGNED", "ROSTER_INVALID")


def test_a_signature_of_another_kind_beside_it_is_passed_over() -> None:
    document = changed(lambda members: members["signatures"].append({"tag": "other-v1"}))
    assert enforced(document, OWNER.id).problem is None


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"defaults": []}, "/defaults"),
        ({"defaults": {"registered": "maybe"}}, "/defaults/registered"),
        ({"defaults": {"registered": None}}, "/defaults/registered"),
        ({"defaults": {"anonymous": ["block"]}}, "/defaults/anonymous"),
        ({"limits": 7}, "/limits"),
        ({"limits": {"per_sender_hourly": 0}}, "/limits/per_sender_hourly"),
        ({"limits": {"per_sender_hourly": True}}, "/limits/per_sender_hourly"),
        ({"limits": {"per_sender_hourly": 1.5}}, "/limits/per_sender_hourly"),
        ({"limits": {"per_sender_hourly": 10**7}}, "/limits/per_sender_hourly"),
        ({"entries": {}}, "/entries"),
        ({"entries": ["x"]}, "/entries/0"),
        ({"entries": [entry(), entry()]}, "/entries/1/subject"),
        ({"entries": [entry(), {"subject": STRANGER}]}, "/entries/1/time"),
        ({"entries": [{"time": format_timestamp(NOW)}]}, "/entries/0/subject"),
        ({"entries": [entry("U123")]}, "/entries/0"),
        ({"entries": [entry(time="yesterday")]}, "/entries/0"),
        ({"entries": [entry(stance="mute")]}, "/entries/0/stance"),
        ({"entries": [entry(stance=None)]}, "/entries/0/stance"),
        ({"entries": [entry(tier="anonymous")]}, "/entries/0/tier"),
        ({"entries": [entry(tier={})]}, "/entries/0/tier"),
        ({"entries": [entry(note=7)]}, "/entries/0/note"),
        ({"entries": [entry(note=None)]}, "/entries/0/note"),
        ({"entries": [entry(revoked="yes")]}, "/entries/0/revoked"),
        ({"entries": [entry(stance="allow", revoked=True)]}, "/entries/0/revoked"),
    ],
)
def test_a_document_that_cannot_be_read_anywhere_is_not_enforced_in_part(members: dict[str, Any], pointer: str) -> None:
    document = signed(**members)
    with pytest.raises(DescriptorError) as caught:
        read_roster(document, OWNER.id)
    assert (caught.value.code, caught.value.pointer) == ("ROSTER_INVALID", pointer)
    found = enforced(document, OWNER.id)
    assert found.policy is NO_POLICY
    assert found.problem == caught.value.message


@pytest.mark.parametrize("document", [b"", b"{", b"[]", b"7", b"\xff", b'{"a":1,"a":2}', b'{"format":"x"}', b"[" * 99])
def test_what_is_no_roster_at_all_is_not_enforced(document: bytes) -> None:
    found = enforced(document, OWNER.id)
    assert found.policy is NO_POLICY
    assert found.problem


# Changes of it.


def test_a_new_word_on_an_agent_stands_in_the_place_of_the_one_before() -> None:
    first = policy_of(signed(entries=[entry(stance="block", note="Noisy."), entry(STRANGER, stance="hold")]))
    second = policy_of(sign_roster(with_entry(first, OTHER.id, ALLOW, NOW + 1), OWNER, NOW + 1))
    assert second.entries[OTHER.id] == Entry(OTHER.id, ALLOW, Tier.ROSTERED, None, NOW + 1, revoked=False)
    assert second.entries[STRANGER] == first.entries[STRANGER]
    assert len(second.entries) == 2


def test_what_is_unknown_here_is_carried() -> None:
    document = signed(more={"n": [1.5, None]}, limits={"other": 1}, entries=[entry(stance="hold", seen_at="the fair")])
    kept = policy_of(document)
    for members in (
        with_entry(kept, OTHER.id, BLOCK, NOW, revoked=True),
        with_defaults(kept, {Tier.REGISTERED: BLOCK}, 5),
    ):
        again = json.loads(sign_roster(members, OWNER, NOW))
        assert again["more"] == {"n": [1.5, None]}
        assert again["limits"]["other"] == 1
        assert again["entries"][0]["seen_at"] == "the fair"


def test_a_note_is_bounded() -> None:
    assert with_entry(NO_POLICY, OTHER.id, ALLOW, NOW, note="x" * LONGEST_NOTE)
    with pytest.raises(DescriptorError, match="longer than 500"):
        with_entry(NO_POLICY, OTHER.id, ALLOW, NOW, note="x" * (LONGEST_NOTE + 1))


def test_only_an_agent_can_be_entered() -> None:
    with pytest.raises(DescriptorError) as caught:
        with_entry(NO_POLICY, "U123", ALLOW, NOW)
    assert caught.value.code == "BAD_KEY"


# Whatever is kept, and whoever asks.

SUBJECTS = st.sampled_from([OTHER.id, OWNER.id, STRANGER])
ENTRIES = st.builds(
    lambda subject, stance, tier, note, revoked: entry(
        subject, **stance, **tier, **note, **({"revoked": True} if revoked and stance == {"stance": "block"} else {})
    ),
    SUBJECTS,
    st.sampled_from([{}, *({"stance": stance.value} for stance in Stance)]),
    st.sampled_from([{}, {"tier": "rostered"}, {"tier": "contact"}]),
    st.just({}) | st.text(st.characters(codec="utf-8"), max_size=9).map(lambda text: {"note": text}),
    st.booleans(),
)
ROSTERS = st.fixed_dictionaries(
    {"entries": st.lists(ENTRIES, unique_by=lambda one: one["subject"])},
    optional={
        "defaults": st.dictionaries(st.sampled_from([*Tier]), st.sampled_from([*Stance])),
        "limits": st.fixed_dictionaries({}, optional={"per_sender_hourly": st.integers(1, 1_000_000)}),
        "unknown": JSON_VALUES,
    },
)


@settings(deadline=None)
@given(ROSTERS)
def test_what_is_exported_imports_to_the_same_policy(members: dict[str, Any]) -> None:
    exported = signed(**members)
    found = policy_of(exported)
    assert policy_of(json.dumps(json.loads(exported), indent=3).encode()) == found
    assert sign_roster(found.members, OWNER, NOW) == exported


@settings(deadline=None)
@given(ROSTERS, SUBJECTS | st.none(), st.sampled_from(ADMISSIONS) | st.text(max_size=5), st.booleans())
def test_every_decision_is_total(
    members: dict[str, Any], caller: str | None, admission: str | None, knocked: bool
) -> None:
    own = policy_of(signed(**members))
    assert isinstance(standing(own, caller), Standing)
    assert unapplied(own, admission) is None or isinstance(unapplied(own, admission), str)
    if caller is not None:
        told = position(own, caller, admission, knocked=knocked)
        assert isinstance(told, Position)
        assert (told.reason is not None) is (told.status is Status.REFUSED)
        assert (told is ADMITTED) is (knocking(own, caller, admission) is ADMITTED)


PLACES = st.sampled_from(["defaults", "limits", "entries", "signatures", "by", "format", "issued_at"])


@settings(deadline=None)
@given(ROSTERS, PLACES, JSON_VALUES)
def test_whatever_is_kept_the_door_has_a_policy(members: dict[str, Any], place: str, value: Any) -> None:
    changed_afterwards = canonical({**json.loads(signed(**members)), place: value})
    signed_so = signed(**{**members, place: value})
    for document in (changed_afterwards, signed_so):
        found = enforced(document, OWNER.id)
        assert (found.problem is None) or found.policy is NO_POLICY
        assert isinstance(standing(found.policy, OTHER.id), Standing)


@settings(deadline=None)
@given(st.binary(max_size=60) | JSON_VALUES.map(lambda value: json.dumps(value).encode()))
def test_bytes_of_any_kind_are_a_problem_and_never_a_failure(document: bytes) -> None:
    found = enforced(document, OWNER.id)
    assert found.policy is NO_POLICY
    assert found.problem
