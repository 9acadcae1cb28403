"""The door of a real node: knocks that survive it, decisions that hold at once, and what nobody finds out."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from descriptor.keys import Identity
from entryway.door import DAY, KEPT
from entryway.envelope import request_envelope
from entryway.roster import sign_roster
from node.home import Home
from store import Knock, Reader, Store
from tests.end_to_end.harness import ControlConnection, Node, command, fresh_home, question, running
from tests.node.parts import draft, identity_of, published, told, verified_envelope

SCREENED = {"access": {"admission": "screened", "schemes": []}}
ALICE, BOB = Identity.generate(), Identity.generate()


@contextmanager
def node(**members: Any) -> Iterator[Node]:
    """A node that runs, with a Descriptor."""
    with fresh_home() as home:
        published(home, draft("1", **(members or SCREENED)))
        with running(home) as one:
            yield one


def asked(one: Node, caller: Identity | None, exchange: int | str, **more: Any) -> dict[str, Any]:
    """The payload of a reply whose signature verifies, or the error."""
    owner = None if caller is None else identity_of(one.home).id
    request = request_envelope({"exchange": exchange, **more}, time.time(), to=owner, identity=caller)
    answer = one.post("/entryway", json.dumps(request).encode(), "application/json")
    if answer.status != 200:
        return dict(answer.json()["error"])
    envelope = verified_envelope(answer.json()["envelope"])
    assert envelope["in_reply_to"] == request["id"]
    return dict(envelope["payload"])


def status(one: Node, caller: Identity) -> str:
    return str(asked(one, caller, 5)["status"])


def decide(home: Home, *arguments: str) -> None:
    end = told("roster", *arguments, "--json", home=home)
    assert end.exit_code == 0, end.out


def knocks(home: Home, *flags: str) -> list[dict[str, Any]]:
    return list(told("knocks", *flags, "--json", home=home).document()["knocks"])


def test_a_knock_waits_through_a_crash_and_is_decided_on_while_the_node_runs() -> None:
    with fresh_home() as home:
        published(home, draft("1", **SCREENED))
        with running(home) as one:
            assert status(one, ALICE) == "never-asked"
            assert asked(one, ALICE, 3) == {"status": "waiting"}
            # What was told is on the disk already.
            one.process.kill()
            one.stopped()
        with running(home) as one:
            assert status(one, ALICE) == "waiting"
            assert asked(one, ALICE, 3) == {"status": "waiting"}
            assert [(row["subject"], row["count"]) for row in knocks(home)] == [(ALICE.id, 1)]
            decide(home, "admit", ALICE.id)
            assert status(one, ALICE) == "admitted"
            assert knocks(home, "--all") == []
            assert one.logged("roster_changed")["subject"] == ALICE.id
            decide(home, "revoke", ALICE.id)
            assert asked(one, ALICE, 5) == {"status": "refused", "reason": "revoked"}
            one.signal(signal.SIGTERM)
            assert one.stopped() == 0
        with running(home) as one:
            assert asked(one, ALICE, 3) == {"status": "refused", "reason": "revoked"}


def test_what_is_decided_while_the_node_is_down_holds_when_it_is_back() -> None:
    with fresh_home() as home:
        published(home, draft("1", **SCREENED))
        decide(home, "admit", ALICE.id)
        with running(home) as one:
            assert (status(one, ALICE), status(one, BOB)) == ("admitted", "never-asked")


def test_ask_knocks_with_this_homes_key_and_says_where_it_stands() -> None:
    with node() as one, fresh_home() as asking:
        me = identity_of(asking)

        def ask(exchange: str) -> dict[str, Any]:
            ended = command("ask", one.url, "--exchange", exchange, "--json", home=asking)
            assert ended.exit_code == 0, ended
            document = ended.document()
            assert document["verified"]
            assert document["envelope"].get("to") == (me.id if exchange in "35" else None)
            return dict(document["envelope"]["payload"])

        assert ask("5") == {"status": "never-asked"}
        assert ask("3") == {"status": "waiting"}
        assert [row["subject"] for row in knocks(one.home)] == [me.id]
        decide(one.home, "admit", me.id)
        assert ask("5") == {"status": "admitted"}
        assert ask("1")["status"] == ask("help")["status"] == "described"
        assert ask("4")["admission"] == "screened"
        shown = command("ask", one.url, "--exchange", "1", home=asking).out.decode()
        assert "does: Reads letters." in shown
        assert "not stated: " in shown


def test_ask_says_what_a_refusal_at_the_door_means() -> None:
    with fresh_home() as home, fresh_home() as asking:
        published(home, draft(access={"admission": "allowlist", "schemes": []}))
        with running(home) as node:
            for exchange in "35":
                shown = command("ask", node.url, "--exchange", exchange, home=asking).out.decode()
                assert "Only callers whom its owner added are let in" in shown


def test_ask_signs_nothing_for_an_agent_that_is_not_the_one_it_should_be() -> None:
    with node() as one, fresh_home() as asking:
        ended = command("ask", one.url, "--exchange", "3", "--id", BOB.id, home=asking)
        assert ended.exit_code == 1
        assert knocks(one.home, "--all") == []


def test_a_roster_that_was_tampered_with_is_not_gone_by_and_everybody_is_told() -> None:
    with fresh_home() as home:
        published(home, draft("1", **SCREENED))
        decide(home, "admit", ALICE.id)
        owner = identity_of(home).id
        with Reader.open(home.database) as reader:
            signed = reader.roster(owner)
        assert signed is not None
        for tampered in (signed.replace(ALICE.id.encode(), BOB.id.encode()), sign_roster({"entries": []}, BOB, 0)):
            with Store.open(home.database) as store:
                store.put_roster(owner, tampered, 0.0)
            with running(home) as one:
                assert "agent-node roster import" in one.logged("roster_not_enforced")["remedy"]
                state = told("status", "--json", home=home).document()["roster"]
                assert state.startswith("not enforced, the conservative defaults hold: ")
                assert [status(one, caller) for caller in (ALICE, BOB)] == ["never-asked"] * 2
                assert told("doctor", home=home).exit_code == 1
                refused = told("roster", "admit", BOB.id, "--json", home=home)
                assert refused.error()["code"] == "ROSTER_NOT_ENFORCED"
        with running(home) as one:
            whole = json.dumps({"act": "import", "document": signed.decode()}).encode()
            assert one.asks("POST", "/roster", whole).status == 200
            assert [status(one, caller) for caller in (ALICE, BOB)] == ["admitted", "never-asked"]
            assert told("status", "--json", home=home).document()["roster"] == "enforced"


def test_an_admission_that_the_roster_does_not_apply_is_refused_by_a_running_node() -> None:
    with node() as one:
        data = draft("2", access={"admission": "open"})
        refused = told("publish", "-", "--json", home=one.home, stdin=data)
        assert refused.error()["code"] == "ADMISSION_NOT_APPLIED"
        assert asked(one, None, 4)["admission"] == "screened"
        decide(one.home, "defaults", "--registered", "allow")
        # Until the new one is published, the declared admission still holds.
        assert asked(one, ALICE, 3) == {"status": "waiting"}
        published(one.home, data)
        assert asked(one, None, 4)["admission"] == "open"
        assert asked(one, BOB, 3) == {"status": "admitted"}
        decide(one.home, "block", BOB.id)
        assert asked(one, BOB, 3) == {"status": "refused", "reason": "closed"}


def test_the_limits_of_knocking_are_settings_and_are_taken_anew() -> None:
    with fresh_home() as home:
        published(home, draft("1", **SCREENED))
        settings = home.config.read_text()
        home.config.write_text(f"{settings}\n[limits]\nknocks_per_day = 1\n")
        with running(home) as one:
            assert asked(one, ALICE, 3) == {"status": "waiting"}
            assert asked(one, BOB, 3) == {"status": "refused", "reason": "busy"}
            home.config.write_text(f"{settings}\n[limits]\nknocks_per_day = 2\n")
            one.signal(signal.SIGHUP)
            one.logged("settings_reloaded")
            assert asked(one, BOB, 3) == {"status": "waiting"}


def test_old_knocks_fall_away_from_the_disk() -> None:
    with fresh_home() as home:
        published(home, draft("1", **SCREENED))
        now = time.time()
        with Store.open(home.database) as store:
            for caller, ago in ((ALICE, KEPT + 60), (BOB, KEPT - DAY)):
                store.put_knock(Knock(caller.id, now - ago, now - ago, 1), forgotten_until=0.0)
        with running(home) as one:
            assert [status(one, caller) for caller in (ALICE, BOB)] == ["never-asked", "waiting"]
            assert asked(one, Identity.generate(), 3) == {"status": "waiting"}
            with Reader.open(home.database) as reader:
                assert ALICE.id not in {row.subject for row in reader.knocks()}


def test_the_hourly_cap_binds_whom_the_roster_allows() -> None:
    with node() as one:
        decide(one.home, "admit", ALICE.id)
        decide(one.home, "defaults", "--hourly", "3")
        told_so = [asked(one, ALICE, 5) for _ in range(4)]
        assert [answer.get("status") or answer["code"] for answer in told_so] == ["admitted"] * 3 + ["RATE_LIMITED"]
        assert status(one, BOB) == "never-asked"


def replies(one: Node, caller: Identity) -> list[Any]:
    """What a caller gets to see of every exchange, without what differs between any two replies."""
    seen = []
    for exchange in (5, 3, 5, 3, 5, 1, 2, 4, "help"):
        owner = identity_of(one.home).id
        request = request_envelope({"exchange": exchange}, time.time(), to=owner, identity=caller)
        answer = one.post("/entryway", json.dumps(request).encode(), "application/json")
        reply = answer.json()
        for name in ("id", "ts", "sig", "in_reply_to", "to"):
            reply["envelope"].pop(name)
        headers = {name: value for name, value in answer.headers.items() if name != "date"}
        seen.append((answer.status, headers, reply))
    return seen


@pytest.mark.parametrize("act", ["block", "hold"])
def test_a_blocked_caller_sees_what_an_unknown_one_sees(act: str) -> None:
    with node() as one:
        decide(one.home, act, BOB.id)
        assert replies(one, ALICE) == replies(one, BOB)


def test_nothing_a_stranger_sends_leaves_more_than_one_row() -> None:
    with node() as one:
        for exchange in (1, 2, 4, 5, "help", 99, "x"):
            asked(one, ALICE, exchange)
        asked(one, ALICE, 3, offering="sort", input={"letter": "x" * 1_000})
        assert knocks(one.home, "--all") == []
        for _ in range(3):
            asked(one, ALICE, 3)
        unsigned = question(3)
        assert one.post("/entryway", json.dumps(unsigned).encode(), "application/json").status == 400
        (row,) = knocks(one.home, "--all")
        assert (row["subject"], row["count"]) == (ALICE.id, 1)


def test_many_who_knock_at_once_are_each_kept_while_a_publish_goes_on() -> None:
    with node() as one:
        callers = [Identity.generate() for _ in range(20)]
        with closing(ControlConnection(one.home)) as control:
            control.request("POST", "/publish", draft("2", **SCREENED))
            assert {asked(one, caller, 3)["status"] for caller in callers} == {"waiting"}
            assert control.getresponse().status == 200
        assert {row["subject"] for row in knocks(one.home)} == {caller.id for caller in callers}
