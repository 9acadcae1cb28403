"""The card of a running node, read and verified by a2a-sdk's own client, and what the command line makes of it."""

from __future__ import annotations

import base64
import json
import logging
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from node.home import Home
from store import Copy, Store
from tests.end_to_end.harness import ROOT, Node, fresh_home, running
from tests.node.parts import identity_of, published, told

CARD = "/.well-known/agent-card.json"
DEMO = ROOT / "configs" / "examples" / "demo.json"
VERIFIER = ROOT / "docs" / "verify_card.py"


def demo(agent_version: str, **members: Any) -> bytes:
    return json.dumps({**json.loads(DEMO.read_bytes()), "agent_version": agent_version, **members}).encode()


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    with fresh_home('acts_for = "person"\nhandle = "paperwork.home"') as home:
        published(home, demo("1"))
        yield home


@pytest.fixture(scope="module")
def node(home: Home) -> Iterator[Node]:
    """A node that only answers: nothing is published to it here."""
    with running(home) as node:
        yield node


async def test_the_a2a_client_resolves_the_card_and_its_verifier_accepts_it(
    node: Node, caplog: pytest.LogCaptureFixture
) -> None:
    client = pytest.importorskip("a2a.client", reason="a2a-sdk is not installed")
    from a2a.utils.signing import create_signature_verifier
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    def key(kid: str | None, jku: str | None) -> Ed25519PublicKey:
        assert (kid, jku) == (node.ready["id"], None)
        return Ed25519PublicKey.from_public_bytes(base64.b32decode(node.ready["id"])[1:33])

    with caplog.at_level(logging.WARNING):
        async with httpx.AsyncClient(trust_env=False) as asking:
            card = await client.A2ACardResolver(asking, node.url).get_agent_card(
                signature_verifier=create_signature_verifier(key, ["EdDSA"])
            )
    assert [record.getMessage() for record in caplog.records] == []
    said = json.loads(DEMO.read_bytes())
    assert (card.name, card.description, card.version) == ("paperwork.home", said["does"], "1")
    assert [skill.id for skill in card.skills] == [offering["id"] for offering in said["offerings"]]
    assert [(one.url, one.protocol_version) for one in card.supported_interfaces] == [(f"{node.url}/entryway", "0.3.0")]
    (extension,) = card.capabilities.extensions
    assert node.get(httpx.URL(extension.params["location"]).path).sha256 == extension.params["digest"]


async def test_the_a2a_verifier_refuses_a_card_that_was_changed_or_signed_by_another(node: Node) -> None:
    resolver = pytest.importorskip("a2a.client.card_resolver", reason="a2a-sdk is not installed")
    from a2a.utils.signing import InvalidSignaturesError, create_signature_verifier
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

    right = Ed25519PublicKey.from_public_bytes(base64.b32decode(node.ready["id"])[1:33])
    wrong = Ed25519PrivateKey.generate().public_key()
    card = node.get(CARD).json()
    for changes, key in (({"description": "Pays bills."}, right), ({}, wrong)):
        changed = resolver.parse_agent_card({**card, **changes})
        with pytest.raises(InvalidSignaturesError):
            create_signature_verifier(lambda _kid, _jku, key=key: key, ["EdDSA"])(changed)


def test_the_verifier_in_the_docs_accepts_it_and_refuses_a_changed_copy(node: Node, tmp_path: Path) -> None:
    def verdict(data: bytes, agent_id: str) -> subprocess.CompletedProcess[str]:
        file = tmp_path / "card.json"
        file.write_bytes(data)
        return subprocess.run(
            [sys.executable, VERIFIER, file, agent_id], capture_output=True, text=True, check=False, timeout=30
        )

    data, agent_id = node.get(CARD).body, node.ready["id"]
    assert verdict(data, agent_id).stdout == f"paperwork.home: the signed word of {agent_id}\n"
    assert verdict(data.replace(b"letters", b"numbers"), agent_id).returncode != 0
    assert verdict(data, agent_id[:-1] + "A").returncode != 0


def test_the_card_is_answered_as_the_descriptor_is(node: Node) -> None:
    full = node.get(CARD)
    assert (full.status, full.headers["content-type"]) == (200, "application/json")
    assert full.headers["etag"] == f'"{full.sha256}"'
    assert full.headers["access-control-allow-origin"] == "*"
    assert node.get(CARD, If_None_Match=full.headers["etag"]).status == 304
    head = node.get(CARD, method="HEAD")
    assert (head.status, head.body, head.headers["content-length"]) == (200, b"", str(len(full.body)))


def test_what_a_caller_calls_the_node_is_not_signed(node: Node) -> None:
    card = node.get(CARD, Host="agent.example.net")
    assert card.body == node.get(CARD).body
    assert b"agent.example.net" not in card.body


def test_a_publish_brings_its_own_card_and_the_log_says_nothing_of_drift() -> None:
    with fresh_home() as home, running(home) as node:
        assert node.get(CARD).json()["error"]["code"] == "NOT_PUBLISHED"
        assert told("card", home=home).exit_code == 1
        for number in ("1", "2"):
            digest = published(home, demo(number))
            card = node.get(CARD).json()
            assert card["version"] == number
            assert card["capabilities"]["extensions"][0]["params"]["digest"] == digest
        assert told("drift", "--json", home=home).document()["agrees"] is True
    assert not [line for line in node.log if line["event"] == "projection_drifted"]


BROKEN = """
import sys
from types import SimpleNamespace
from node import projecting

made = projecting.card_of
projecting.card_of = lambda *given: SimpleNamespace(members={**made(*given).members, "description": "Pays bills."})
sys.argv = ["agent-node", *sys.argv[sys.argv.index("-m") + 2 :]]
from node.cli import program

program()
"""
"""A node with a defect: its cards say something else than its Descriptor does."""


def test_a_defect_in_what_is_served_is_logged_at_start_and_with_each_publish(tmp_path: Path) -> None:
    script = tmp_path / "broken.py"
    script.write_text(BROKEN)
    with fresh_home() as home:
        first = published(home, demo("1"))
        with running(home, within=[sys.executable, str(script)]) as node:
            line = node.logged("projection_drifted")
            assert (line["level"], line["digest"], line["differences"]) == ("error", first, ["/description"])
            second = published(home, demo("2"))
            assert node.logged("projection_drifted", 2)["digest"] == second
            ended = told("drift", "--json", home=home)
            assert ended.exit_code == 1
            (difference,) = ended.document()["differences"]
            assert (difference["stands"], difference["sources"]) == ("Pays bills.", ["/does"])


def test_a_url_that_the_operator_states_is_named_when_the_settings_are_read_again() -> None:
    with fresh_home() as home:
        published(home, demo("1"))
        with running(home) as node:
            home.config.write_text('[agent]\nacts_for = "person"\n[http]\npublic_url = "http://desk.local:7420/"\n')
            node.signal(signal.SIGHUP)
            node.logged("card_made_anew")
            card = node.get(CARD).json()
            assert [one["url"] for one in card["supportedInterfaces"]] == ["http://desk.local:7420/entryway"]
            home.config.write_text('[agent]\nacts_for = "person"\n[http]\npublic_url = "https://desk.example.net"\n')
            node.signal(signal.SIGHUP)
            assert node.logged("public_url_not_named")["public_url"] == "https://desk.example.net"
            node.logged("card_made_anew", 2)
            assert b"desk.example.net" not in node.get(CARD).body
            assert told("registration", "--json", home=home).document()["descriptor"]["location"] == (
                f"{node.url}/.well-known/agent-descriptor.json"
            )


def test_a_private_agent_shows_its_card_to_its_operator_alone() -> None:
    with fresh_home() as home:
        published(home, demo("1"))
        with running(home, env={"AGENT_NODE_VISIBILITY": "private"}) as node:
            refused = node.get(CARD)
            assert (refused.status, refused.json()["error"]["code"]) == (403, "PRIVATE")
            assert told("card", "--json", home=home).document()["version"] == "1"


# The command line beside a running node.


def test_the_card_that_is_shown_is_the_one_that_is_served(node: Node, home: Home, tmp_path: Path) -> None:
    end = told("card", "--json", "--save", tmp_path / "card.json", home=home)
    assert end.document() == node.get(CARD).json()
    assert (tmp_path / "card.json").read_bytes() == node.get(CARD).body


def test_the_drift_of_a_running_node_is_looked_for_over_the_network(node: Node, home: Home) -> None:
    for arguments in ((), (node.url,)):
        document = told("drift", *arguments, "--json", home=home).document()
        assert (document["agrees"], document["signature"]) == (True, "verified")
        assert document["descriptor"] == document["generated_from"] == node.ready["digest"]


def test_the_drift_of_a_card_that_was_edited_is_named_by_both_places(node: Node, home: Home, tmp_path: Path) -> None:
    card = node.get(CARD).json()
    file = tmp_path / "card.json"
    file.write_text(json.dumps({**card, "description": "Pays bills.", "skills": card["skills"][1:]}))
    end = told("drift", file, home=home)
    assert end.exit_code == 1
    assert 'differs: /description says "Pays bills."' in end.out
    assert "from the Descriptor, at /does: " in end.out
    assert "missing: /skills/0 says nothing" in end.out
    assert "signature       failed" in end.out
    assert end.out.splitlines()[-1].startswith("They do not agree.")


def test_a_card_of_very_many_differences_is_told_in_bounds(node: Node, home: Home, tmp_path: Path) -> None:
    file = tmp_path / "card.json"
    skills = [{"id": str(number), "name": "\x1b[2J" * 1000} for number in range(60)]
    file.write_text(json.dumps({**node.get(CARD).json(), "skills": skills}))
    end = told("drift", file, home=home)
    assert (end.exit_code, "... and 12 more, which --json lists." in end.out) == (1, True)
    assert "\x1b" not in end.out
    assert max(map(len, end.out.splitlines())) < 1000
    assert len(told("drift", file, "--json", home=home).document()["differences"]) == 62


def test_a_reference_holds_against_the_node_that_serves_the_version_long_after(tmp_path: Path) -> None:
    with fresh_home() as home:
        published(home, demo("1"))
        with running(home) as node:
            made = told("reference", "/offerings/0/inputs", "/does", "--json", home=home)
            reference = made.document()
            assert reference["location"] == f"{node.url}/descriptors/{reference['digest']}"
            published(home, demo("2", does="Reads less."))
            file = tmp_path / "reference.json"
            file.write_text(made.out)
            for target in ((node.url,), ()):
                verified = told("reference", "--verify", file, *target, "--json", home=home)
                assert (verified.exit_code, verified.document()["holds"]) == (0, True)
            later = tmp_path / "later.json"
            later.write_bytes(node.get().body)
            other = told("reference", "--verify", file, later, "--json", home=home)
            assert other.exit_code == 1
            states = {one["pointer"]: one["state"] for one in other.document()["members"]}
            assert states == {"/offerings/0/inputs": "holds", "/does": "differs"}
            file.write_text(json.dumps({**reference, "digest": "sha256:" + "0" * 64}))
            assert told("reference", "--verify", file, node.url, "--json", home=home).error()["code"] == "REFUSED"


def test_a_card_is_made_where_no_node_runs_and_names_no_address() -> None:
    with fresh_home() as home:
        published(home, demo("1"))
        end = told("card", "--json", home=home)
        card = end.document()
        assert card["supportedInterfaces"] == []
        assert json.loads(base64.urlsafe_b64decode(card["signatures"][0]["protected"] + "=="))["kid"] == (
            identity_of(home).id
        )
        assert "does not run" in end.err


def test_another_agents_kept_version_is_referenced_without_this_nodes_address_and_its_card_compared(
    tmp_path: Path,
) -> None:
    with fresh_home() as home, fresh_home() as peer:
        published(home, demo("1"))
        digest = published(peer, demo("7"))
        data = told("show", "--raw", home=peer).out.encode()
        with Store.open(home.database) as store:
            subject = identity_of(peer).id
            store.keep(subject, Copy(data, digest, "7", 1.0), current=lambda _before: True)
        told("card", "--save", tmp_path / "card.json", home=peer)
        with running(home):
            made = told("reference", "/does", "--digest", digest, "--json", home=home).document()
            assert set(made) == {"reference", "digest", "members"}
            compared = told("drift", tmp_path / "card.json", "--json", home=home).document()
            assert (compared["descriptor"], compared["signature"], compared["agrees"]) == (digest, "verified", True)
