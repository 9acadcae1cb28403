"""TARGET: an address is one, a handle or an id is an agent that verified, and nobody who claims to be it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from node.console import Console
from node.errors import NodeError
from node.home import Home
from node.targets import Target, find
from store import Peer, Store
from tests.entryway.parts import OTHER, OWNER
from tests.node.parts import NOW, told

DIGEST = "sha256:" + "0" * 64
ANN = Peer(OWNER.id, "ann.home", "verified", "", "1", DIGEST, ("10.0.0.2:7420", "[fe80::2%lan0]:7420"), NOW, NOW)
EVE = Peer(OTHER.id, "ann.home", "conflict", "It claims a handle.", None, None, ("10.0.0.3:7420",), NOW, NOW)


@pytest.fixture
def console(home: Home) -> Console:
    with Store.open(home.database) as store:
        store.put_peers([(ANN, None), (EVE, None)])
    return Console(home, as_json=False)


def put(console: Console, *peers: Peer) -> None:
    with Store.open(console.home.database) as store:
        store.drop_peers([ANN.id, EVE.id])
        store.put_peers([(peer, None) for peer in peers])


THERE = Target(("http://10.0.0.2:7420", "http://[fe80::2%lan0]:7420"), OWNER.id)


@pytest.mark.parametrize("text", [OWNER.id, f" {OWNER.id} ", "ann.home", "ANN.home"])
def test_an_id_or_a_handle_leads_to_the_agent_that_verified(console: Console, text: str) -> None:
    assert find(console, text) == THERE


@pytest.mark.parametrize("state", ["gone", "unreachable"])
def test_one_that_verified_before_is_tried(console: Console, state: str) -> None:
    put(console, replace(ANN, state=state))
    assert find(console, "ann.home") == THERE


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://10.0.0.9:1/x", "http://10.0.0.9:1/x"),
        ("10.0.0.9:1", "http://10.0.0.9:1"),
        ("ann.home:80", "http://ann.home:80"),
        ("desk.local", "http://desk.local:7420"),
        ("[fd00::1]:7", "http://[fd00::1]:7"),
        ("fd00::1", "http://[fd00::1]:7420"),
    ],
)
def test_an_address_is_one_whoever_answers_there(console: Console, text: str, url: str) -> None:
    assert find(console, text) == Target((url,))


def refused(console: Console, text: str) -> NodeError:
    with pytest.raises(NodeError) as caught:
        find(console, text)
    return caught.value


def test_an_id_that_was_not_heard_is_not_reached(console: Console) -> None:
    put(console)
    error = refused(console, OWNER.id)
    assert (error.code, error.exit_code) == ("PEER_UNKNOWN", 3)


@pytest.mark.parametrize("state", ["conflict", "mismatch", "unsigned", "rollback", "heard", "unreachable"])
def test_one_that_never_verified_is_refused_with_why(console: Console, state: str) -> None:
    put(console, replace(EVE, state=state))
    for text in (OTHER.id, "ann.home"):
        error = refused(console, text)
        assert (error.code, error.exit_code) == ("PEER_UNVERIFIED", 1)
        assert state in error.message and "It claims a handle." in error.message


def test_an_agent_that_went_back_to_an_older_version_is_refused(console: Console) -> None:
    put(console, replace(ANN, state="rollback", reason="It is older."))
    assert refused(console, "ann.home").code == "PEER_UNVERIFIED"


def test_what_is_nothing_of_this_is_no_target(console: Console) -> None:
    assert (refused(console, "two words").code, refused(console, "two words").exit_code) == ("BAD_TARGET", 2)


def test_without_a_home_an_address_is_asked_all_the_same(tmp_path: Path) -> None:
    nowhere = Console(Home(tmp_path / "none"), as_json=False)
    assert find(nowhere, "desk.local") == Target(("http://desk.local:7420",))
    assert refused(nowhere, OWNER.id).code == "PEER_UNKNOWN"


# Commands that take a TARGET take all of it.


@pytest.mark.parametrize("name", ["ann.home", OWNER.id])
@pytest.mark.parametrize("command", ["ask", "follow", "watch", "compare", "request", "drift"])
def test_every_command_asks_a_peer_at_its_addresses(console: Console, command: str, name: str) -> None:
    put(console, replace(ANN, addresses=("127.0.0.1:1", "[::1]:1")))
    error = told(command, name, "--json", home=console.home).error()
    assert (error["code"], "[::1]:1" in error["message"]) == ("UNREACHABLE", True)


@pytest.mark.parametrize("command", ["ask", "follow", "watch", "compare", "request", "drift"])
def test_of_a_name_that_is_neither_host_nor_handle_both_are_said(console: Console, command: str) -> None:
    error = told(command, "nobody.invalid", "--json", home=console.home).error()
    assert error["code"] == "UNREACHABLE"
    assert "nobody.invalid" in error["message"] and "agent-node peers" in error["message"]


@pytest.mark.parametrize("text", ["127.0.0.1", "127.0.0.1:1", "[::1]:1", "http://127.0.0.1:1"])
def test_an_address_is_no_handle(console: Console, text: str) -> None:
    assert find(console, text).unheard is None


@pytest.mark.parametrize(
    "arguments",
    [
        ("roster", "admit", "ann.home"),
        ("unfollow", "ann.home"),
        ("peers", "--forget", "ann.home"),
        ("ask", "127.0.0.1:1", "--id", "ann.home"),
        ("request", "127.0.0.1:1", "--id", "ann.home"),
    ],
    ids=" ".join,
)
def test_where_an_id_has_to_stand_it_is_said_where_ids_are_listed(console: Console, arguments: tuple[str, ...]) -> None:
    end = told(*arguments, "--json", home=console.home)
    assert (end.exit_code, end.error()["code"], "agent-node peers" in end.error()["message"]) == (2, "BAD_KEY", True)


# The command that shows them, where no node runs.


def test_peers_shows_what_was_known_when_the_node_stopped(console: Console) -> None:
    end = told("peers", "--json", home=console.home)
    assert [(one["id"], one["state"]) for one in end.document()["peers"]] == sorted(
        [(OWNER.id, "verified"), (OTHER.id, "conflict")]
    )
    assert "No node runs here" in end.err
    people = told("peers", home=console.home).out
    assert "CONFLICT" in people and "conflict: ann.home: It claims a handle." in people
    assert "10.0.0.2:7420" in people


def test_a_peer_is_forgotten_without_a_node(console: Console) -> None:
    assert told("peers", "--forget", OTHER.id, "--json", home=console.home).document() == {
        "id": OTHER.id,
        "known": False,
    }
    assert [one["id"] for one in told("peers", "--json", home=console.home).document()["peers"]] == [OWNER.id]
    assert told("peers", "--forget", OTHER.id, "--json", home=console.home).error()["code"] == "NOT_FOUND"


@pytest.mark.parametrize(
    ("arguments", "exit_code", "code"),
    [
        (["--watch"], 3, "NODE_NOT_RUNNING"),
        (["--watch", "--forget", OWNER.id], 2, "USAGE"),
        (["--forget", "UNOBODY"], 2, "BAD_KEY"),
    ],
)
def test_what_peers_refuses(console: Console, arguments: list[str], exit_code: int, code: str) -> None:
    end = told("peers", *arguments, "--json", home=console.home)
    assert (end.exit_code, end.error()["code"]) == (exit_code, code)


def test_nobody_is_nobody(home: Home) -> None:
    assert told("peers", "--json", home=home).document() == {"peers": []}
    assert "Nobody was heard yet" in told("peers", home=home).out
