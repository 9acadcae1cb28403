"""`request`: what goes out of a home, what is said of it to people and to programs, and what is refused at home."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from entryway.client import agent as agent_module
from entryway.envelope import new_uuid
from entryway.roster import NO_POLICY, Entry, Policy, Stance, Tier
from node.home import Home
from store import Peer, Store
from tests.entryway.parts import OTHER, OWNER
from tests.entryway.workplace import Workplace, in_thread, sealing, working
from tests.node.parts import HOSTILE, Told, draft, identity_of, published, told


@dataclass
class Asked:
    """A workplace that runs, and a home that asks it."""

    place: Workplace
    url: str
    home: Home

    def request(self, *arguments: str | Path, stdin: bytes = b"", named: bool = True) -> Told:
        known = ["--id", OWNER.id] if named else []
        return told("request", self.url, *known, *arguments, home=self.home, stdin=stdin)

    def document(self, *arguments: str | Path) -> dict[str, Any]:
        return self.request(*arguments, "--json").document()


@contextmanager
def asking(home: Home, place: Workplace | None = None) -> Iterator[Asked]:
    place = place or Workplace()
    with in_thread(place) as url:
        yield Asked(place, url, home)


def descriptor_of(home: Home) -> dict[str, Any]:
    """The Descriptor of a home, which declares a sealing key."""
    document: dict[str, Any] = json.loads(told("show", "--raw", home=home).out)
    assert "encryption_key" in document
    return document


# What is printed.


def test_the_output_alone_is_on_stdout(home: Home) -> None:
    with asking(home) as one:
        end = one.request("shout", "words=hello", "--authority", "none")
    assert (end.exit_code, end.out) == (0, '{\n  "louder": "HELLO"\n}\n')
    assert end.err == "The agent has not asked to be sealed to, so the request goes in the clear.\n"


def test_a_text_comes_exactly_as_it_is(home: Home) -> None:
    with asking(home, Workplace(lie=lambda payload: {**payload, "output": HOSTILE})) as one:
        end = one.request("shout", "words=hello", "--authority", "none")
    assert end.out == HOSTILE.replace("\r\n", "\n")  # click's runner reads it so


def test_json_has_the_reply_as_it_was_signed(home: Home) -> None:
    with asking(home) as one:
        document = one.document("shout", "words=hello", "--authority", "none")
        (request,) = one.place.asked
    assert document["status"] == "completed"
    assert document["output"] == {"louder": "HELLO"}
    assert (document["sealed"], document["output_sealed"]) == (False, False)
    assert document["agent"] == document["envelope"]["from"] == OWNER.id
    assert document["envelope"]["in_reply_to"] == document["request_id"]
    assert document["request_id"].encode() in request


def test_it_is_sealed_both_ways_where_both_declare_a_key(home: Home) -> None:
    place = Workplace(working(**sealing("required")))
    place.senders[identity_of(home).id] = descriptor_of(home)
    with asking(home, place) as one:
        end = one.request("shout", "words=hello", "--authority", "none")
        document = one.document("shout", "words=hello", "--authority", "none")
    assert (end.exit_code, end.err) == (0, "")
    assert json.loads(end.out) == {"louder": "HELLO"}
    assert (document["sealed"], document["output_sealed"]) == (True, True)
    assert document["envelope"]["payload"]["output"]["v"] == "sealedpayload.v1"
    assert all(b"hello" not in body for body in place.asked)


def test_an_answer_in_the_clear_is_said_beforehand(home: Home) -> None:
    published(home, draft("9"))
    with asking(home, Workplace(working(**sealing("required")))) as one:
        end = one.request("shout", "words=hello", "--authority", "none")
    assert end.exit_code == 0
    assert "its answer comes in the clear. It is sealed too where" in end.err


def test_an_agent_that_does_not_know_us_is_asked_to_answer_in_the_clear(home: Home) -> None:
    with asking(home, Workplace(working(**sealing("required")), lie=pointing_at_the_reply_key)) as one:
        refused = one.request("shout", "words=hello", "--authority", "none")
        taken = one.request("shout", "words=hello", "--authority", "none", "--clear-answer")
    assert refused.exit_code == 1
    assert "--clear-answer" in refused.err
    assert taken.exit_code == 0, taken


def pointing_at_the_reply_key(payload: dict[str, Any]) -> dict[str, Any]:
    """The payload with the place that is wrong, as a node says it."""
    if payload["status"] == "refused":
        payload["error"]["pointer"] = "/input/reply_key"
    return payload


# Inputs.


def sent(home: Home, *inputs: str | Path, stdin: bytes = b"") -> Any:
    """The input that arrives."""
    place = Workplace()
    with asking(home, place) as one:
        end = one.request("shout", "--authority", "none", *inputs, stdin=stdin)
    assert end.exit_code == 0, end
    (job,) = place.begun.values()
    return job.order.input


def test_inputs_travel_by_their_kind(home: Home, tmp_path: Path) -> None:
    scan, words, table = tmp_path / "scan.pdf", tmp_path / "words.txt", tmp_path / "table.json"
    scan.write_bytes(bytes(range(256)))
    words.write_text("Grüße! 🚀\n")
    table.write_text('{"a": [1, 2]}')
    assert sent(home, "words=a=b:=c") == {"words": "a=b:=c"}
    assert sent(home, f"words=@{words}") == {"words": "Grüße! 🚀\n"}
    assert sent(home, "words=@-", stdin=b"from stdin") == {"words": "from stdin"}
    assert sent(home, "words=@@home") == {"words": "@home"}
    assert sent(home, 'words:="json"') == {"words": "json"}
    assert sent(home, "words=") == {"words": ""}
    arrived = sent(home, "words=x", f"scan=@{scan}", f"table=@{table}")
    assert arrived["table"] == {"a": [1, 2]}
    assert base64.urlsafe_b64decode(arrived["scan"] + "==") == bytes(range(256))


# What is refused at home: nothing goes out.

AT_HOME: dict[str, tuple[list[str], str, int, str]] = {
    "no offering": ([], "USAGE", 2, "shout (Gives a text back, louder.)"),
    "one that is not offered": (["shoot"], "OFFERING_NOT_FOUND", 1, "Did you mean 'shout'?"),
    "one that is nothing like it": (["x"], "OFFERING_NOT_FOUND", 1, "It offers: shout"),
    "an unknown input": (["shout", "word=x"], "INPUT_INVALID", 2, "Did you mean 'words'?"),
    "an input twice": (["shout", "words=x", "words=y"], "INPUT_INVALID", 2, "twice"),
    "no value": (["shout", "words"], "INPUT_INVALID", 2, "NAME=VALUE"),
    "no name": (["shout", "=x"], "INPUT_INVALID", 2, "NAME=VALUE"),
    "no JSON": (["shout", "words:={"], "INPUT_INVALID", 2, "no JSON"),
    "bytes typed": (["shout", "words=x", "scan=x"], "INPUT_INVALID", 2, "scan=@FILE"),
    "a missing file": (["shout", "words=@no-such-file"], "INPUT_UNREADABLE", 2, "no-such-file"),
    "no amount": (["shout", "words=x", "--spend-limit", "5"], "INPUT_INVALID", 2, "5.00USD"),
    "no resource": (["shout", "words=x", "--resource", "git:write:x"], "INPUT_INVALID", 2, "read or read-write"),
    "no deadline": (["shout", "words=x", "--deadline", "soon"], "INPUT_INVALID", 2, "10m"),
    "no setting": (["shout", "words=x", "--setting", "speed"], "INPUT_INVALID", 2, "NAME=VALUE"),
    "none and more": (["shout", "words=x", "--authority", "none", "--authority", "reads-files"], "USAGE", 2, "alone"),
    "two things": (["shout", "--task", "1"], "USAGE", 2, "one of the three"),
    "a wait for nothing": (["shout", "words=x", "--wait"], "USAGE", 2, "--async"),
}


@pytest.mark.parametrize(("arguments", "code", "exit_code", "words"), AT_HOME.values(), ids=AT_HOME)
def test_what_is_wrong_is_said_and_nothing_is_sent(
    home: Home, arguments: list[str], code: str, exit_code: int, words: str
) -> None:
    with asking(home) as one:
        for_people = one.request(*arguments)
        for_programs = one.request(*arguments, "--json")
    assert one.place.asked == []
    assert for_people.exit_code == for_programs.exit_code == exit_code
    assert (for_people.out, for_programs.err) == ("", "")
    assert f"[{code}]" in for_people.err
    assert words in for_people.err
    assert for_programs.error()["code"] == code


# Which agent.


def test_an_address_is_not_a_name(home: Home) -> None:
    with asking(home) as one:
        end = one.request("shout", "words=hello", named=False)
        another = told("request", one.url, "--id", OTHER.id, "shout", "words=hello", home=home)
    assert (end.exit_code, another.exit_code, one.place.asked) == (1, 1, [])
    assert "[AGENT_NOT_NAMED]" in end.err
    assert f"--id {OWNER.id}" in end.err
    assert "[NOT_VERIFIED]" in another.err
    # Nothing was asked but who is there.
    assert "may be done" not in another.err


def peer(agent_id: str, place: Workplace, *addresses: str) -> Peer:
    digest = place.snapshot.descriptor.digest
    return Peer(agent_id, "paperwork.home", "verified", "", "1.4.0", digest, addresses, 1.0, 2.0)


def test_an_address_that_is_followed_is_a_name_until_it_is_that_of_two(home: Home) -> None:
    place = Workplace()
    with asking(home, place) as one:
        assert told("follow", one.url, home=home).exit_code == 0
        end = one.request("shout", "words=hello", "--authority", "none", named=False)
        with Store.open(home.database) as store:
            store.put_peers([(peer(OTHER.id, place, one.url.removeprefix("http://")), place.data)])
        two = one.request("shout", "words=hello", "--authority", "none", named=False)
    assert end.exit_code == 0, end
    assert "[AGENT_NOT_NAMED]" in two.err


@pytest.mark.parametrize("by", ["address", "handle", "id"])
def test_a_peer_that_was_verified_is_asked_by_its_name(home: Home, by: str) -> None:
    place = Workplace()
    with asking(home, place) as one:
        address = one.url.removeprefix("http://")
        # Where it was before, nobody answers any more; the next address is tried.
        addresses = (address,) if by == "address" else ("127.0.0.1:1", address)
        with Store.open(home.database) as store:
            store.put_peers([(peer(OWNER.id, place, *addresses), place.data)])
        target = {"address": address, "handle": "paperwork.home", "id": OWNER.id}[by]
        end = told("request", target, "shout", "words=hello", "--authority", "none", home=home)
        another = told("request", target, "--id", OTHER.id, "shout", "words=hello", home=home)
    assert end.exit_code == 0, end
    assert len(place.asked) == 1
    assert (another.exit_code, another.out) == (1, "")


def test_a_private_agent_that_is_known_here_is_asked_all_the_same(home: Home) -> None:
    place = Workplace()
    with asking(home, place) as one:
        place.true.private = True
        stranger = one.request("shout", "words=hello", "--authority", "none")
        with Store.open(home.database) as store:
            store.put_peers([(peer(OWNER.id, place), place.data)])
        end = one.request("shout", "words=hello", "--authority", "none")
    assert (stranger.exit_code, "(PRIVATE)" in stranger.err) == (1, True)
    assert end.exit_code == 0, end


def test_a_bad_id_is_said(home: Home) -> None:
    end = told("request", "127.0.0.1:1", "--id", "U123", "shout", home=home)
    assert (end.exit_code, "[BAD_KEY]" in end.err) == (2, True)


# What the agent says.

FLAGS: dict[str, tuple[list[str], str, int, str, str]] = {
    "authority": (
        ["--authority", "runs-commands"],
        "SCOPE_REFUSED",
        1,
        "Allowed: reads-files, spends-money.",
        "--authority VALUE",
    ),
    "workspace": (
        ["--resource", "folder:read:/home"],
        "SCOPE_REFUSED",
        1,
        "Allowed: kind git, access read.",
        "--resource KIND:ACCESS:LOCATOR",
    ),
    "no limit": (["--authority", "spends-money"], "SCOPE_REFUSED", 1, "states no spend_limit", "--spend-limit 5.00USD"),
    "over the ceiling": (
        ["--authority", "spends-money", "--spend-limit", "5.000001USD"],
        "SCOPE_REFUSED",
        1,
        "over what one job",
        "--spend-limit 5.00USD",
    ),
    "a setting": (
        ["--authority", "none", "--setting", "speed=1"],
        "RUN_CONFIG_REFUSED",
        1,
        "may set none",
        "--setting",
    ),
    "a deadline that is over": (
        ["--authority", "none", "--deadline", "2020-01-01T00:00:00Z"],
        "DEADLINE_UNMEETABLE",
        1,
        "Estimate: seconds 20.",
        "--deadline 10m",
    ),
    "too much": (["--authority", "none", "words=" + "x" * 2_001], "INPUT_INVALID", 2, "2001 bytes", "Max bytes: 2000."),
}


@pytest.mark.parametrize(("arguments", "code", "exit_code", "words", "hint"), FLAGS.values(), ids=FLAGS)
def test_what_the_agent_would_refuse_is_refused_at_home_in_the_words_of_the_command_line(
    home: Home, arguments: list[str], code: str, exit_code: int, words: str, hint: str
) -> None:
    inputs = [] if any(one.startswith("words=") for one in arguments) else ["words=hello"]
    with asking(home) as one:
        end = one.request("shout", *inputs, *arguments)
        for_programs = one.request("shout", *inputs, *arguments, "--json")
    assert (end.exit_code, end.out, one.place.asked) == (exit_code, "", [])
    assert f"[{code}]" in end.err
    assert "Nothing was sent." in end.err
    assert words in end.err
    assert hint in end.err
    assert for_programs.error()["code"] == code


def test_a_refusal_of_the_agent_says_who_decided_what_is_allowed_and_what_to_do(home: Home) -> None:
    error = {
        "code": "SCOPE_REFUSED",
        "message": "Not that.",
        "decided_by": "rule",
        "offering": "shout",
        "reason": "authority",
        "allowed": ["reads-files"],
        "retryable": False,
        "retry_after": 30,
        "estimate": {"cost": {"amount_micro": 1_500_000, "currency": "USD"}},
    }
    with asking(home, Workplace(lie=lambda _: {"status": "refused", "error": error})) as one:
        end = one.request("shout", "words=hello", "--authority", "none")
        document = one.document("shout", "words=hello", "--authority", "none")
    assert (end.exit_code, end.out) == (1, "")
    assert end.err.splitlines()[1:] == [
        "agent-node: The agent refused: Not that. [SCOPE_REFUSED, decided by rule]",
        "    Allowed: reads-files.",
        "    Come back in 30 seconds.",
        "    Estimate: cost 1.50 USD.",
        "    What a job may touch: --authority VALUE, once for each; none for nothing; all of it if left out.",
    ]
    assert (document["status"], document["error"]) == ("refused", error)


def test_money_arrives_to_the_millionth(home: Home) -> None:
    with asking(home) as one:
        one.request("shout", "words=x", "--authority", "spends-money", "--spend-limit", "4.999999USD", "--json")
        one.request(
            "shout", "words=x", "--authority", "none", "--cost-ceiling", "0.1 EUR", "--deadline", "10m", "--json"
        )
    assert b"amount_micro\xce\x00\x4c\x4b\x3f" in one.place.asked[0]
    assert b"amount_micro\xce\x00\x01\x86\xa0" in one.place.asked[1]


def test_a_failure_is_no_output(home: Home) -> None:
    with asking(home) as one:
        end = one.request("shout", "words=psst", "--authority", "none")
    assert (end.exit_code, end.out) == (1, "")
    assert "The agent failed at it: It was whispered. [HANDLER_FAILED, decided by rule]" in end.err


def test_what_an_agent_says_cannot_drive_a_terminal(home: Home) -> None:
    error = {"code": HOSTILE, "message": HOSTILE, "reason": HOSTILE, HOSTILE: [HOSTILE]}
    with asking(home, Workplace(lie=lambda _: {"status": "refused", "error": error})) as one:
        end = one.request("shout", "words=hello")
    assert all(line.isprintable() for line in end.err.splitlines())
    assert "\u202e" not in end.err


def test_an_answer_that_is_not_believed_is_not_shown(home: Home) -> None:
    with asking(home, Workplace(signed_by=OTHER)) as one:
        end = one.request("shout", "words=hello", "--authority", "none")
    assert (end.exit_code, end.out) == (1, "")
    assert "[NOT_VERIFIED]" in end.err
    assert "may have arrived all the same" in end.err


def test_nobody_there_is_exit_3(home: Home) -> None:
    end = told("request", "127.0.0.1:1", "--id", OWNER.id, "shout", "words=x", home=home)
    assert (end.exit_code, "[UNREACHABLE]" in end.err) == (3, True)


# Jobs.


def test_a_job_is_handed_in_asked_about_and_ended(home: Home) -> None:
    with asking(home) as one:
        accepted = one.request("nap", "url=https://example.com/", "--async")
        task = accepted.out.strip()
        assert (accepted.exit_code, list(one.place.begun)) == (0, [task])
        assert f"--task {task}" in accepted.err
        standing = one.document("--task", task)
        assert (standing["status"], standing["state"], standing["request_id"]) == ("accepted", "working", None)
        canceled = one.request("--cancel", task)
        assert (canceled.exit_code, canceled.out) == (1, "")
        assert "CANCELED" in canceled.err
        done = one.request("shout", "words=hello", "--authority", "none", "--async", "--wait")
        assert json.loads(done.out) == {"louder": "HELLO"}
        task = next(reversed(one.place.begun))
        assert json.loads(one.request("--task", task, "--wait").out) == {"louder": "HELLO"}
        assert "[NOT_FOUND" in one.request("--task", new_uuid()).err


def test_a_wait_has_an_end(home: Home) -> None:
    with asking(home) as one:
        end = one.request("nap", "url=https://example.com/", "--timeout", "0.5")
    assert (end.exit_code, "[TIMEOUT]" in end.err) == (3, True)
    assert "may still be worked on" in end.err


# The door.


def let_in(caller: str) -> Policy:
    return Policy(
        NO_POLICY.defaults, 120, {caller: Entry(caller, Stance.ALLOW, Tier.ROSTERED, None, 0.0, revoked=False)}
    )


def test_a_knock_is_waited_for(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_module, "FIRST_PAUSE", 0.02)
    screened = working(access={"admission": "screened", "schemes": []})
    with asking(home, Workplace(screened, policy=NO_POLICY)) as one:
        outside = one.request("shout", "words=hello", "--authority", "none")
        assert outside.exit_code == 1
        assert "--knock" in outside.err
        waiting = one.request("shout", "words=hello", "--authority", "none", "--knock", "--timeout", "0.5")
        assert waiting.exit_code == 3
        assert "Waiting for its owner" in waiting.err
        one.place.door.policy = let_in(identity_of(home).id)
        inside = one.request("shout", "words=hello", "--authority", "none", "--knock")
        assert inside.exit_code == 0, inside


def test_a_door_that_stays_shut_is_said(home: Home) -> None:
    allowlist = working(access={"admission": "allowlist", "schemes": []})
    with asking(home, Workplace(allowlist, policy=NO_POLICY)) as one:
        end = one.request("shout", "words=hello", "--knock")
    assert (end.exit_code, "[UNAUTHORIZED]" in end.err, "Only callers whom its owner added" in end.err) == (
        1,
        True,
        True,
    )
    assert one.place.asked == []
