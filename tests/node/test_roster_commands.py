"""`roster` and `knocks`: the owner's acts, on a home whose node does not run."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from descriptor.keys import Identity
from entryway.door import DAY, KEPT
from entryway.roster import read_roster, sign_roster
from node.console import FAMILIES
from node.home import Home
from node.roster import RosterKeeper
from store import Knock, Reader, Store
from tests.node.parts import HOSTILE, draft, identity_of, published, told

ALICE, BOB = Identity.generate().id, Identity.generate().id


def listed(home: Home) -> dict[str, Any]:
    return told("roster", "list", "--json", home=home).document()


def done(home: Home, *arguments: str) -> dict[str, Any]:
    end = told("roster", *arguments, "--json", home=home)
    assert end.exit_code == 0, end.out
    return end.document()


def entries(home: Home) -> dict[str, dict[str, Any]]:
    return {one["subject"]: one for one in listed(home)["entries"]}


def knock(home: Home, subject: str, ago: float = 0.0, count: int = 1) -> None:
    at = time.time() - ago
    with Store.open(home.database) as store:
        store.put_knock(Knock(subject, at, at, count), forgotten_until=0.0)


def waiting(home: Home, *flags: str) -> list[str]:
    return [one["subject"] for one in told("knocks", *flags, "--json", home=home).document()["knocks"]]


def test_a_node_without_a_roster_has_the_conservative_defaults(home: Home) -> None:
    assert listed(home) == {
        "kept": False,
        "enforced": False,
        "problem": None,
        "defaults": {"rostered": "allow", "contact": "allow", "registered": "hold", "anonymous": "block"},
        "limits": {"per_sender_hourly": 120},
        "entries": [],
        "admission_problem": None,
    }
    assert "the conservative defaults hold" in told("roster", "list", home=home).out


@pytest.mark.parametrize(
    ("act", "stance", "tier", "revoked"),
    [
        ("admit", "allow", "rostered", False),
        ("hold", "hold", "rostered", False),
        ("block", "block", "rostered", False),
        ("contact", None, "contact", False),
    ],
)
def test_an_act_is_an_entry_in_a_document_that_this_agent_signed(
    home: Home, act: str, stance: str | None, tier: str, revoked: bool
) -> None:
    document = done(home, act, ALICE, "--note", "From the fair.")
    (entry,) = document["entries"]
    assert entry.pop("time")
    assert entry == {"subject": ALICE, "stance": stance, "tier": tier, "note": "From the fair.", "revoked": revoked}
    with Reader.open(home.database) as reader:
        kept = reader.roster(identity_of(home).id)
    assert kept is not None
    assert list(read_roster(kept, identity_of(home).id).entries) == [ALICE]
    assert document["enforced"]


def test_a_later_word_stands_in_the_place_of_an_earlier_one(home: Home) -> None:
    for act in ("block", "hold", "admit"):
        done(home, act, ALICE)
    done(home, "block", BOB)
    assert {subject: one["stance"] for subject, one in entries(home).items()} == {ALICE: "allow", BOB: "block"}


def test_admission_can_be_taken_back_from_who_has_it(home: Home) -> None:
    assert told("roster", "revoke", ALICE, "--json", home=home).error()["code"] == "NOT_ADMITTED"
    for act in ("admit", "contact"):
        done(home, act, ALICE)
        done(home, "revoke", ALICE)
        assert (entries(home)[ALICE]["stance"], entries(home)[ALICE]["revoked"]) == ("block", True)
    done(home, "admit", ALICE)
    assert entries(home)[ALICE]["revoked"] is False


def test_the_defaults_are_set_one_by_one(home: Home) -> None:
    done(home, "defaults", "--registered", "block")
    done(home, "defaults", "--contact", "hold", "--hourly", "7")
    found = listed(home)
    assert found["defaults"] == {"rostered": "allow", "contact": "hold", "registered": "block", "anonymous": "block"}
    assert found["limits"] == {"per_sender_hourly": 7}


def test_the_own_agent_is_not_on_its_roster(home: Home) -> None:
    end = told("roster", "block", identity_of(home).id, "--json", home=home)
    assert (end.exit_code, end.error()["code"]) == (1, "OWN_AGENT")


# Whole out, whole in.


def test_what_is_exported_is_imported_whole(home: Home, tmp_path: Path) -> None:
    done(home, "admit", ALICE, "--note", "Grüße! 🚀")
    done(home, "defaults", "--registered", "block", "--hourly", "9")
    exported = told("roster", "export", home=home).out
    before = listed(home)
    done(home, "import", "--empty")
    assert entries(home) == {}
    file = tmp_path / "roster.json"
    file.write_text(json.dumps(json.loads(exported), indent=2))
    assert done(home, "import", str(file))["entries"] == before["entries"]
    assert listed(home) == before
    assert told("roster", "export", home=home).out == exported


def test_a_roster_that_was_changed_is_not_taken(home: Home) -> None:
    done(home, "block", ALICE)
    changed = told("roster", "export", home=home).out.replace('"block"', '"allow"')
    end = told("roster", "import", "-", "--json", home=home, stdin=changed.encode())
    assert (end.exit_code, end.error()["code"]) == (1, "ROSTER_NOT_SIGNED")
    assert entries(home)[ALICE]["stance"] == "block"


def spoil(home: Home) -> None:
    """Somebody with access to the file has put in a roster of his own."""
    with Store.open(home.database) as store:
        store.put_roster(identity_of(home).id, sign_roster({"entries": []}, Identity.generate(), 0), 0.0)


def test_a_roster_that_is_not_enforced_is_said_and_never_built_upon(home: Home) -> None:
    spoil(home)
    found = listed(home)
    assert (found["kept"], found["enforced"]) == (True, False)
    assert "another key" in found["problem"]
    assert "NOT enforced" in told("roster", "list", home=home).out
    end = told("roster", "admit", ALICE, "--json", home=home)
    assert end.error()["code"] == "ROSTER_NOT_ENFORCED"
    assert "roster import" in end.error()["message"]
    seen = told("doctor", "--json", home=home)
    assert seen.exit_code == 1
    (roster,) = [one for one in seen.document()["seen"] if one["subject"] == "roster"]
    assert roster["state"] == "bad"
    assert "not enforced" in roster["message"]


def test_it_can_be_begun_anew(home: Home) -> None:
    spoil(home)
    done(home, "import", "--empty")
    done(home, "admit", ALICE)
    assert list(entries(home)) == [ALICE]
    assert told("doctor", home=home).exit_code == 0


# Who knocked.


def test_who_knocked_is_listed_with_when_and_how_often(home: Home) -> None:
    knock(home, ALICE, ago=DAY, count=3)
    (one,) = told("knocks", "--json", home=home).document()["knocks"]
    assert (one["subject"], one["count"], one["stance"], one["decided"]) == (ALICE, 3, "hold", False)
    assert set(one) == {"subject", "first_at", "last_at", "count", "stance", "decided"}
    assert ALICE in told("knocks", home=home).out


def test_nobody_waits_on_whom_there_is_a_decision(home: Home) -> None:
    for subject in (ALICE, BOB):
        knock(home, subject)
    done(home, "block", ALICE)
    done(home, "admit", BOB)
    assert waiting(home) == []
    # A blocked caller's knock stays, as an unknown one's would; who is let in has nothing to wait for.
    assert waiting(home, "--all") == [ALICE]
    assert "Nobody waits." in told("knocks", home=home).out


def test_a_knock_of_thirty_days_ago_has_fallen_away(home: Home) -> None:
    knock(home, ALICE, ago=KEPT + 1)
    knock(home, BOB, ago=KEPT - 3600)
    assert waiting(home, "--all") == [BOB]


def test_before_the_first_publish_there_is_a_roster_too(home: Home) -> None:
    home.database.unlink()
    assert waiting(home) == []
    assert listed(home)["entries"] == []
    done(home, "admit", ALICE)
    assert list(entries(home)) == [ALICE]


# What is declared, and what the roster does.


def test_an_open_agent_is_published_when_the_roster_lets_whoever_signs_in(home: Home) -> None:
    data = draft("3", access={"admission": "open"})
    end = told("publish", "-", "--json", home=home, stdin=data)
    assert (end.exit_code, end.error()["code"]) == (1, "ADMISSION_NOT_APPLIED")
    done(home, "defaults", "--registered", "allow")
    published(home, data)


def test_a_roster_that_no_longer_fits_what_is_declared_is_said(home: Home) -> None:
    published(home, draft("3", access={"admission": "screened"}))
    end = told("roster", "defaults", "--registered", "allow", home=home)
    assert end.exit_code == 0
    assert "does not fit this roster" in end.err
    assert "screened" in listed(home)["admission_problem"]
    assert "does not fit this roster" in told("roster", "list", home=home).out
    seen = told("doctor", "--json", home=home).document()["seen"]
    assert [one["state"] for one in seen if one["subject"] == "roster"] == ["good", "bad"]


# Text of the owner, and text from elsewhere.


def test_a_note_is_shown_harmless_and_is_whole_in_json(home: Home) -> None:
    done(home, "admit", ALICE, "--note", HOSTILE)
    assert entries(home)[ALICE]["note"] == HOSTILE
    shown = told("roster", "list", home=home).out
    assert all(char.isprintable() or char == "\n" for char in shown)


# The keeper itself, as the control socket drives it.


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"act": "frobnicate"},
        {"act": 7},
        {"act": ["admit"]},
        {"act": "admit"},
        {"act": "admit", "subject": 7},
        {"act": "admit", "subject": ALICE, "note": 7},
        {"act": "defaults"},
        {"act": "defaults", "defaults": []},
        {"act": "defaults", "defaults": {"registered": "maybe"}},
        {"act": "defaults", "defaults": {"everybody": "allow"}},
        {"act": "defaults", "per_sender_hourly": "many"},
        {"act": "defaults", "per_sender_hourly": 0},
        {"act": "defaults", "per_sender_hourly": True},
        {"act": "import"  , "document": {}},
        {"act": "import", "document": "{"},
        {"act": "import", "document": "[]"},
    ],
)  # fmt: skip
def test_a_change_that_is_none_is_refused_and_changes_nothing(home: Home, change: dict[str, Any]) -> None:
    identity = identity_of(home)
    with Store.open(home.database) as store, Reader.open(home.database) as reader:
        keeper = RosterKeeper(store, reader, identity, time.time)
        keeper.change({"act": "block", "subject": BOB})
        before = reader.roster(identity.id)
        with pytest.raises(FAMILIES) as caught:
            keeper.change(change)
        error: Any = caught.value
        assert error.code in {"INPUT_INVALID", "ROSTER_INVALID", "NOT_JSON"}
        assert reader.roster(identity.id) == before


def test_a_roster_is_bounded(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("node.roster.MAX_BYTES", 700)
    done(home, "admit", ALICE)
    end = told("roster", "admit", BOB, "--note", "x" * 400, "--json", home=home)
    assert end.error()["code"] == "ROSTER_TOO_LARGE"
    assert list(entries(home)) == [ALICE]
