"""`conformance`: evidence for people and for programs, and an exit code that says no when a case does not hold."""

from __future__ import annotations

import json
from typing import Any

import pytest

from entryway.roster import NO_POLICY
from node.home import Home
from tests.entryway.parts import OWNER, document
from tests.entryway.workplace import Workplace, in_thread, sealing, working
from tests.node.parts import Told, identity_of, told, verified_envelope


def conformance(home: Home, place: Workplace, *arguments: str) -> Told:
    with in_thread(place) as url:
        return told("conformance", url, "--id", OWNER.id, *arguments, home=home)


@pytest.mark.parametrize("members", [{}, sealing("required")], ids=["clear", "sealed"])
def test_the_evidence_is_signed_and_whole(home: Home, members: dict[str, Any]) -> None:
    place = Workplace(working(**members))
    place.senders[identity_of(home).id] = json.loads(told("show", "--raw", home=home).out)
    end = conformance(home, place, "--run", "--json")
    assert end.exit_code == 0
    found = end.document()
    assert found["digest"] == place.snapshot.descriptor.digest
    verdicts = [(one["case"], one["offering"].partition("-")[0], one["verdict"]) for one in found["cases"]]
    assert verdicts == [
        ("undeclared-offering", "conformance", "holds"),
        ("workspace", "shout", "holds"),
        ("authority", "shout", "holds"),
        ("spend-limit", "shout", "holds"),
        ("inside-every-bound", "shout", "holds"),
        ("workspace", "nap", "does not apply"),
        ("authority", "nap", "holds"),
        ("spend-limit", "nap", "does not apply"),
        ("inside-every-bound", "nap", "holds"),
    ]
    for one in found["cases"]:
        if one["verdict"] == "holds":
            request, reply = verified_envelope(one["request"]), verified_envelope(one["reply"])
            assert (reply["from"], reply["in_reply_to"]) == (OWNER.id, request["id"])
            assert ("ct" in request["payload"]["input"]) is bool(members)
        else:
            assert (one["request"], one["reply"]) == (None, None)
    assert all(job.payload is not None for job in place.begun.values())


def test_people_see_what_was_asked_owed_and_came_and_no_score(home: Home) -> None:
    end = conformance(home, Workplace())
    assert end.exit_code == 0
    assert "authority, shout: holds" in end.out
    assert "    expected  refused, SCOPE_REFUSED, reason authority, decided by rule" in end.out
    assert '"authority": ["reads-systems"]' in end.out
    assert "inside-every-bound, shout: not tried" in end.out
    assert "It begins real work, which nobody has agreed to." in end.out
    assert not any(word in end.out for word in ("%", "score", "passed", "5 of"))


def test_a_case_that_does_not_hold_is_exit_1(home: Home) -> None:
    place = Workplace(lax=True)
    end = conformance(home, place, "--offering", "shout")
    assert end.exit_code == 1
    assert "workspace, shout: does not hold" in end.out
    assert "It was admitted. It was canceled: CANCELED." in end.out
    assert "nap" not in end.out


def test_inputs_are_taken_where_made_up_ones_do_not_do(home: Home) -> None:
    place = Workplace()
    conformance(home, place, "--run", "words=psst", "--offering", "shout")
    (job,) = place.begun.values()
    assert job.order.input == {"words": "psst"}


def test_who_is_not_admitted_is_told_and_puts_nothing(home: Home) -> None:
    place = Workplace(working(access={"admission": "screened", "schemes": []}), policy=NO_POLICY)
    end = conformance(home, place)
    assert (end.exit_code, end.out, place.asked) == (1, "", [])
    assert "[UNAUTHORIZED]" in end.err
    assert "--exchange 3" in end.err


def test_an_offering_that_is_not_there_is_said(home: Home) -> None:
    end = conformance(home, Workplace(), "--offering", "sing")
    assert (end.exit_code, "[OFFERING_NOT_FOUND]" in end.err, "shout, nap" in end.err) == (1, True, True)


def test_an_agent_that_declares_nothing_of_the_kind_has_one_case(home: Home) -> None:
    end = conformance(home, Workplace(document(offerings=[])), "--json")
    assert [one["case"] for one in end.document()["cases"]] == ["undeclared-offering"]
    assert "only the first case applies" in end.err


def test_an_address_is_not_a_name_here_either(home: Home) -> None:
    place = Workplace()
    with in_thread(place) as url:
        end = told("conformance", url, home=home)
    assert (end.exit_code, "[AGENT_NOT_NAMED]" in end.err, place.asked) == (1, True, [])
