"""The AgentDoc of a running node beside the one that the command line makes, and of an agent that is asked for it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from descriptor.projections.agentdoc_check import CHECKS
from entryway.client import ClientError
from node.home import Home
from tests.end_to_end.harness import Node, fresh_home, running
from tests.node.parts import draft, identity_of, published, told

AGENTDOC = "/.well-known/agentdoc.json"
DOOR = {"admission": "screened", "statement": "Say what you want.", "schemes": []}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    with fresh_home('acts_for = "person"\nhandle = "letters.home"') as home:
        published(home, draft("1.0", access=DOOR))
        published(home, draft("1.1", access=DOOR))
        yield home


@pytest.fixture(scope="module")
def node(home: Home) -> Iterator[Node]:
    with running(home) as node:
        yield node


def but_for_times(members: dict[str, Any]) -> str:
    """What a document says, without the times of looking and the signature over them."""
    unsigned = {name: value for name, value in members.items() if name not in ("signatures", "assembled_at")}
    sources = [
        {name: value for name, value in one.items() if name not in ("at", "fetched_at")} for one in unsigned["sources"]
    ]
    return json.dumps({**unsigned, "sources": sources}, indent=1)


def check(home: Home, document: str, tmp_path: Path, **sources: bytes) -> dict[str, Any]:
    """What `agentdoc --check` makes of it, given the bytes of these sources."""
    file = tmp_path / "agentdoc.json"
    file.write_text(document, encoding="utf-8")
    given = []
    for name, data in sources.items():
        (tmp_path / name).write_bytes(data)
        given += ["--source", f"{name}={tmp_path / name}"]
    return told("agentdoc", "--check", file, *given, "--json", home=home).document()


def test_the_command_comes_to_the_document_that_is_served(node: Node, home: Home) -> None:
    made, served = told("agentdoc", "--json", home=home).document(), node.get(AGENTDOC).json()
    assert but_for_times(made) == but_for_times(served)
    assert [one["id"] for one in made["sources"]] == ["descriptor", "card", "door", "observed-1"]
    assert TIME.fullmatch(made["assembled_at"])


def test_both_pass_the_check_with_the_bytes_of_their_sources(node: Node, home: Home, tmp_path: Path) -> None:
    card = node.get("/.well-known/agent-card.json").body
    for document in (told("agentdoc", home=home).out, node.get(AGENTDOC).body.decode()):
        checked = check(home, document, tmp_path, card=card)
        assert checked["checks"] == {**dict.fromkeys(CHECKS, True), "fresh": None}


def test_where_no_node_runs_it_says_what_would_be_served_and_names_no_address(tmp_path: Path) -> None:
    with fresh_home() as home:
        published(home, draft("1.0"))
        made = told("agentdoc", home=home)
        members = json.loads(made.out)
        assert [one["id"] for one in members["sources"]] == ["descriptor", "card", "door", "observed-1"]
        assert not [one for one in members["sources"] if "url" in one]
        assert "interfaces_served" not in members["sections"]["access"]
        assert "differences" not in members
        assert check(home, made.out, tmp_path)["holds"] is True


def test_an_agent_is_asked_for_its_descriptor_its_card_and_its_door(node: Node, home: Home, tmp_path: Path) -> None:
    with fresh_home() as asking:
        made = told("agentdoc", node.url, "--fetch", home=asking)
        assert made.exit_code == 0, made.err
        members = json.loads(made.out)
        assert (members["subject"]["handle"], members["assembled_by"]) == ("letters.home", identity_of(asking).id)
        descriptor, card, door = members["sources"]
        assert (descriptor["url"], descriptor["digest"]) == (
            f"{node.url}/.well-known/agent-descriptor.json",
            node.get().sha256,
        )
        assert (card["url"], card["digest"]) == (
            f"{node.url}/.well-known/agent-card.json",
            node.get("/.well-known/agent-card.json").sha256,
        )
        assert door["url"] == f"{node.url}/entryway"
        assert [one["signature"] for one in members["sources"]] == ["verified"] * 3
        assert members["sections"]["access"]["interfaces_served"][0]["url"] == f"{node.url}/entryway"
        checked = check(asking, made.out, tmp_path, descriptor=node.get().body)
        assert checked["checks"] == {**dict.fromkeys(CHECKS, True), "fresh": None}


def test_what_an_agent_does_not_give_is_left_out_and_the_operator_told(
    node: Node, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(url: str, **_: Any) -> bytes:
        raise ClientError("REFUSED", f"{url} refused: no card here.")

    monkeypatch.setattr("node.commands.agentdoc.card", refused)
    with fresh_home() as asking:
        made = told("agentdoc", node.url, "--fetch", "--json", home=asking)
        assert "It gives no card." in made.err
        assert [one["id"] for one in made.document()["sources"]] == ["descriptor", "door"]


def test_a_private_agent_is_not_described() -> None:
    with fresh_home() as asking, fresh_home() as theirs:
        published(theirs, draft("1.0"))
        with running(theirs, env={"AGENT_NODE_VISIBILITY": "private"}) as private:
            refused = told("agentdoc", private.url, "--fetch", "--json", home=asking)
            assert (refused.exit_code, refused.error()["code"]) == (1, "REFUSED")


def test_nobody_there(home: Home) -> None:
    ended = told("agentdoc", "http://127.0.0.1:1", "--fetch", "--json", home=home)
    assert (ended.exit_code, ended.error()["code"]) == (3, "UNREACHABLE")
