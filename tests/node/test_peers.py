"""What a peer is worth: each line of the table, in its order, for a reason of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from descriptor.digests import digest_of
from entryway.verdict import Verdict, judge_reply
from node.discovery.record import Heard
from node.peers import Answered, Kept, NoAnswer, PeerState, State, judge, pinned_form
from node.sightings import Sighting, entries, peer_document
from store import Peer
from tests.entryway.parts import NOW, OTHER, OWNER, document
from tests.entryway.test_verdict import REQUEST, reply_by

DATA = document()
HANDLE = "paperwork.home"
HEARD = Heard("lan0", "paperwork-X", OWNER.id, HANDLE, "1.4.0", digest_of(DATA), "", 7420, ("10.0.0.2",))
REFUSAL = {"error": {"code": "PRIVATE", "message": "It is private.", "retryable": False}}


def verdict(reply: dict[str, Any], data: bytes | None = DATA, now: float = NOW) -> Verdict:
    return judge_reply(reply, REQUEST, now, data, expected_id=OWNER.id)


def said(data: bytes) -> Verdict:
    """The honest reply of the owner with this Descriptor."""
    return verdict(reply_by(OWNER, data), data)


def version(agent_version: str, **members: Any) -> bytes:
    return document(agent_version=agent_version, **members)


def unsigned(reply: dict[str, Any]) -> dict[str, Any]:
    return {"envelope": {name: value for name, value in reply["envelope"].items() if name != "sig"}}


def forged(reply: dict[str, Any]) -> dict[str, Any]:
    return {"envelope": {**reply["envelope"], "id": REQUEST["id"]}}


HONEST = said(DATA)
NEWER = Kept("2.0.0", digest_of(version("2.0.0")))
ELSEWHERE = {HANDLE: OTHER.id}

CASES: list[tuple[str, Heard, Answered | None, Kept | None, dict[str, str], State, str]] = [
    (
        "a record without an id",
        replace(HEARD, id=None, problem="Its record states no agent's id."),
        None,
        None,
        {},
        State.MISMATCH,
        "states no agent's id",
    ),
    ("a record that claims a pinned handle", HEARD, None, None, ELSEWHERE, State.CONFLICT, f"belongs to {OTHER.id}"),
    ("the same, though it verifies", HEARD, HONEST, None, ELSEWHERE, State.CONFLICT, "Its record claims the handle"),
    ("a record alone", HEARD, None, None, {}, State.HEARD, "not been asked"),
    ("silence", HEARD, NoAnswer("TIMEOUT", "No answer."), None, {}, State.UNREACHABLE, "No answer."),
    ("no connection", HEARD, NoAnswer("UNREACHABLE", "Refused."), None, {}, State.UNREACHABLE, "Refused."),
    ("a refusal", HEARD, verdict(REFUSAL, None), None, {}, State.UNREACHABLE, "It is private. [PRIVATE]"),
    ("another program", HEARD, NoAnswer("UNREADABLE_REPLY", "HTML."), None, {}, State.MISMATCH, "no entryway. HTML."),
    ("an unsigned reply", HEARD, verdict(unsigned(reply_by())), None, {}, State.UNSIGNED, "reply is not signed"),
    ("a changed reply", HEARD, verdict(forged(reply_by())), None, {}, State.MISMATCH, "does not verify"),
    (
        "the id of somebody else",
        HEARD,
        verdict(reply_by(OTHER, document(OTHER)), document(OTHER)),
        None,
        {},
        State.MISMATCH,
        f"claims to be {OWNER.id}; what answers there is {OTHER.id}.",
    ),
    (
        "a reply to another question",
        HEARD,
        verdict(reply_by(in_reply_to="0")),
        None,
        {},
        State.MISMATCH,
        "answers another question",
    ),
    ("a reply that was kept for an hour", HEARD, verdict(reply_by(), now=NOW + 3600), None, {}, State.MISMATCH, "old"),
    ("other bytes", HEARD, verdict(reply_by(), DATA + b" "), None, {}, State.MISMATCH, "have the digest"),
    ("nothing published", HEARD, verdict(reply_by(OWNER, None), None), None, {}, State.UNSIGNED, "no Descriptor"),
    (
        "an unsigned Descriptor",
        HEARD,
        said(document(sign=False)),
        None,
        {},
        State.UNSIGNED,
        "Descriptor is unsigned",
    ),
    (
        "a Descriptor whose signature fails",
        HEARD,
        said(DATA.replace(b"receipts", b"diaries.")),
        None,
        {},
        State.MISMATCH,
        "signature of the Descriptor failed",
    ),
    (
        "a Descriptor of another handle",
        replace(HEARD, handle="else.home"),
        HONEST,
        None,
        {},
        State.MISMATCH,
        f"claims the handle 'else.home', and its Descriptor states '{HANDLE}'",
    ),
    (
        "a pinned handle that only the Descriptor claims",
        replace(HEARD, handle=None),
        HONEST,
        None,
        ELSEWHERE,
        State.CONFLICT,
        "Its Descriptor claims the handle",
    ),
    ("an older version than before", HEARD, HONEST, NEWER, {}, State.ROLLBACK, "1.4.0, which is below 2.0.0"),
    ("the honest reply", HEARD, HONEST, None, {}, State.VERIFIED, ""),
    ("the same as before", HEARD, HONEST, Kept("1.4.0", digest_of(DATA)), {HANDLE: OWNER.id}, State.VERIFIED, ""),
    (
        "another document under the version that was seen",
        HEARD,
        HONEST,
        Kept("1.4.0", digest_of(b"")),
        {},
        State.VERIFIED,
        "under the same agent_version",
    ),
    (
        "a record that lags behind",
        replace(HEARD, digest=digest_of(b"")),
        HONEST,
        None,
        {},
        State.VERIFIED,
        "still announces another digest",
    ),
    ("a record that claims little", replace(HEARD, handle=None, digest=None), HONEST, None, {}, State.VERIFIED, ""),
]


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_each_line_of_the_table(
    case: tuple[str, Heard, Answered | None, Kept | None, dict[str, str], State, str],
) -> None:
    _name, heard, answer, kept, pins, state, reason = case
    judged = judge(heard, answer, kept, pins)
    assert judged.state is state, judged.reason
    assert reason in judged.reason and bool(judged.reason) == bool(reason)
    assert judged.reason.isprintable()
    if state is State.VERIFIED:
        assert (judged.handle, judged.agent_version, judged.digest) == (HANDLE, "1.4.0", digest_of(DATA))
    else:
        assert (judged.handle, judged.agent_version, judged.digest) == (None, None, None)


def test_every_state_has_a_case_but_gone_which_is_not_judged() -> None:
    assert {case[5] for case in CASES} == set(State) - {State.GONE}


@pytest.mark.parametrize(
    ("before", "now", "state"),
    [
        ("1.9", "1.10", State.VERIFIED),
        ("1.10", "1.9", State.ROLLBACK),
        # Under one order it is later, and nobody said that it is not the one in use.
        ("1.0.0-rc1", "1.0.0", State.VERIFIED),
        ("1.0.0", "1.0.0-rc1", State.VERIFIED),
        ("26.4", "2026.04", State.VERIFIED),
    ],
)
def test_a_version_is_older_when_every_order_says_so(before: str, now: str, state: State) -> None:
    assert judge(HEARD, said(version(now)), Kept(before, digest_of(b"")), {}).state is state


def test_spellings_of_one_handle_are_one_pin() -> None:
    assert judge(replace(HEARD, handle="PaperWork.Home"), None, None, ELSEWHERE).state is State.CONFLICT
    assert pinned_form("STRASSE.home") == pinned_form("straße.home")


def test_hostile_text_of_a_reply_is_shown_without_its_control_characters() -> None:
    named = said(document(subject={"id": OWNER.id, "handle": "a\x1b[2J\nb"}))
    reason = judge(HEARD, named, None, {}).reason
    assert reason.isprintable() and "a [2J b" in reason


# The entries that are made of it.

AT = 1_790_000_000.0


def sighting(state: State, *addresses: str, seen: float = AT, heard: Heard = HEARD) -> Sighting:
    return Sighting(heard, PeerState(state, f"{state} it is."), AT, seen, 0.0, addresses)


KEPT = Peer(OWNER.id, HANDLE, "verified", "", "1.4.0", digest_of(DATA), ("10.0.0.2:7420",), AT - 9, AT)


def test_an_agent_on_two_links_is_one_entry() -> None:
    one, two = sighting(State.VERIFIED, "10.0.0.2:7420"), sighting(State.VERIFIED, "10.1.0.2:7420", seen=AT + 3)
    (entry,) = entries(OWNER.id, KEPT, [one, two])
    assert entry.addresses == ("10.0.0.2:7420", "10.1.0.2:7420")
    assert (entry.first_seen, entry.last_seen, entry.digest) == (AT - 9, AT + 3, digest_of(DATA))


def test_one_link_that_does_not_lead_there_does_not_hide_the_other() -> None:
    (entry,) = entries(OWNER.id, KEPT, [sighting(State.UNREACHABLE, "a:1"), sighting(State.VERIFIED, "b:1")])
    assert (entry.state, entry.addresses) == ("verified", ("b:1",))


@pytest.mark.parametrize("state", [State.MISMATCH, State.CONFLICT, State.UNSIGNED])
def test_a_record_that_does_not_hold_is_an_entry_beside_the_agent_s(state: State) -> None:
    own, beside = entries(OWNER.id, KEPT, [sighting(state, "evil:1"), sighting(State.VERIFIED, "b:1")])
    assert (own.state, own.addresses, own.reason) == ("verified", ("b:1",), "verified it is.")
    assert (beside.state, beside.addresses, beside.digest, beside.agent_version) == (state, ("evil:1",), None, None)


def test_an_agent_that_verified_and_is_only_imitated_is_gone() -> None:
    gone, beside = entries(OWNER.id, KEPT, [sighting(State.MISMATCH, "evil:1")])
    assert (gone.state, gone.digest, gone.addresses) == ("gone", digest_of(DATA), ("10.0.0.2:7420",))
    assert beside.state == "mismatch"


def test_an_agent_that_never_verified_is_what_its_record_is() -> None:
    unverified = replace(KEPT, handle="old.home", digest=None, agent_version=None)
    (entry,) = entries(OWNER.id, unverified, [sighting(State.MISMATCH, "evil:1")])
    assert (entry.state, entry.handle) == ("mismatch", HANDLE)


def test_an_entry_in_json_is_what_the_binding_says() -> None:
    document_of = peer_document(entries(OWNER.id, KEPT, [])[0])
    assert document_of == {
        "id": OWNER.id,
        "handle": HANDLE,
        "state": "gone",
        "reason": "Its record is gone.",
        "agent_version": "1.4.0",
        "digest": digest_of(DATA),
        "addresses": ["10.0.0.2:7420"],
        "first_seen": "2026-09-21T14:13:11.000Z",
        "last_seen": "2026-09-21T14:13:20.000Z",
    }
