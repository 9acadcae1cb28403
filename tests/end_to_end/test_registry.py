"""A real registry: it keeps what subjects signed, says why it refuses, and is not moved by what is brought again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

import pytest

from node.home import Home
from tests.end_to_end.harness import Answer, Node, closing_connection, command, fresh_home, running
from tests.node.parts import draft, identity_of, published

ROLE = '[agent]\nacts_for = "person"\n\n[registry]\nregistry = true\nregistry_versions = 4'


@pytest.fixture(scope="module")
def registry() -> Iterator[Node]:
    with fresh_home() as home:
        home.config.write_text(ROLE)
        published(home, draft("1"))
        with running(home) as node:
            yield node


@pytest.fixture
def operator() -> Iterator[Home]:
    with fresh_home() as home:
        yield home


def put(node: Node, data: bytes) -> Answer:
    with closing_connection(node.port) as connection:
        connection.request("PUT", "/registry", body=data)
        return Answer.of(connection.getresponse())


def bytes_of(home: Home, digest: str) -> bytes:
    return command("show", digest, "--raw", home=home).out


def test_a_descriptor_is_handed_over_and_served_by_subject_and_digest(registry: Node, operator: Home) -> None:
    digest = published(operator, draft("1"))
    agent_id = identity_of(operator).id
    ended = command("register", registry.url, "--json", home=operator)
    assert ended.exit_code == 0
    assert ended.document() == {
        "registry": registry.url,
        "subject": agent_id,
        "digest": digest,
        "agent_version": "1",
        "current": True,
    }
    answer = registry.get(f"/registry/{agent_id}")
    assert (answer.status, answer.sha256, answer.headers["etag"]) == (200, digest, f'"{digest}"')
    assert registry.get(f"/registry/{agent_id}", **{"If-None-Match": f'"{digest}"'}).status == 304
    assert registry.get(f"/descriptors/{digest}").sha256 == digest
    listed = registry.get(f"/registry/{agent_id}/versions?limit=1").json()
    assert [one["digest"] for one in listed["versions"]] == [digest]
    assert registry.get().sha256 != digest  # the registry's own agent is another


def test_what_is_brought_again_changes_nothing_and_an_old_version_does_not_become_current(
    registry: Node, operator: Home
) -> None:
    digests = [published(operator, draft(version)) for version in ("1", "2", "3")]
    agent_id = identity_of(operator).id
    documents = [bytes_of(operator, digest) for digest in digests]
    assert [put(registry, documents[place]).status for place in (1, 1, 0, 0)] == [201, 200, 201, 200]
    assert registry.get(f"/registry/{agent_id}").sha256 == digests[1]
    assert put(registry, documents[2]).json()["current"]
    assert put(registry, documents[0]).json() == {
        "subject": agent_id,
        "digest": digests[0],
        "agent_version": "1",
        "current": False,
    }
    assert registry.get(f"/registry/{agent_id}").sha256 == digests[2]


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (draft("1"), "D6.2-subject"),
        (b"{", "NOT_JSON"),
        (b"[]", "NOT_AN_OBJECT"),
    ],
)
def test_what_no_registry_keeps_is_refused_with_the_rule(registry: Node, data: bytes, rule: str) -> None:
    answer = put(registry, data)
    error = answer.json()["error"]
    assert (answer.status, error["code"]) == (422, "DESCRIPTOR_REFUSED")
    assert [finding["rule"] for finding in error["details"]["findings"]] == [rule]


def test_a_descriptor_that_was_changed_is_refused(registry: Node, operator: Home) -> None:
    data = bytes_of(operator, published(operator, draft("1")))
    answer = put(registry, data.replace(b"Reads letters.", b"Reads others'."))
    assert [one["rule"] for one in answer.json()["error"]["details"]["findings"]] == ["D6.6-signature"]


def test_the_node_s_own_agent_is_not_registered_with_itself(registry: Node) -> None:
    answer = put(registry, registry.get().body)
    assert (answer.status, answer.json()["error"]["code"]) == (400, "INPUT_INVALID")


def test_a_subject_has_a_bounded_number_of_versions(registry: Node, operator: Home) -> None:
    documents = [bytes_of(operator, published(operator, draft(str(version)))) for version in range(1, 6)]
    assert [put(registry, data).status for data in documents] == [201, 201, 201, 201, 507]
    assert put(registry, documents[0]).status == 200


def test_nothing_is_served_of_who_is_unknown(registry: Node, operator: Home) -> None:
    for path in (f"/registry/{identity_of(operator).id}", "/registry/nobody", "/registry/"):
        answer = registry.get(path)
        assert (answer.status, answer.json()["error"]["code"]) == (404, "NOT_FOUND")


def test_a_node_without_the_role_keeps_nothing(operator: Home) -> None:
    digest = published(operator, draft("1"))
    with running(operator) as node:
        assert put(node, b"{}").status == 404
        assert node.get(f"/registry/{identity_of(operator).id}").status == 404
        ended = command("register", node.url, home=operator)
        assert (ended.exit_code, digest in ended.out.decode()) == (1, False)
        assert "keeps no registry" in ended.err


def test_copies_are_compared_and_never_merged(registry: Node, operator: Home) -> None:
    with fresh_home() as reader:
        published(operator, draft("1"))
        with running(operator) as node:
            command("register", registry.url, home=operator)
            agree = command("compare", node.url, "--registry", registry.url, "--json", home=reader)
            assert (agree.exit_code, agree.document()["agree"]) == (0, True)
            assert agree.document()["copies"]["kept"] is None
            published(operator, draft("2"))
            differ = command("compare", node.url, "--registry", registry.url, home=reader)
            assert (differ.exit_code, "The copies disagree" in differ.out.decode()) == (1, True)
            ended = command("register", registry.url, home=operator)
            assert "It is current there." in ended.out.decode()
            assert command("compare", node.url, "--registry", registry.url, home=reader).exit_code == 0


def test_a_digest_that_comes_back_is_the_one_that_was_sent(registry: Node, operator: Home) -> None:
    data = bytes_of(operator, published(operator, draft("1")))
    assert put(registry, data).json()["digest"] == "sha256:" + hashlib.sha256(data).hexdigest()
    assert json.loads(registry.get(f"/registry/{identity_of(operator).id}").body) == json.loads(data)
