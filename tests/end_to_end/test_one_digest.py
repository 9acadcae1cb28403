"""From `init` to an answer, and one digest wherever a version is named."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from descriptor.digests import digest_of
from node.home import Home
from tests.end_to_end.harness import (
    ROOT,
    WELL_KNOWN,
    Node,
    asked_entryway,
    begun,
    command,
    fresh_home,
    running,
    short_directory,
)
from tests.node.parts import HOSTILE, draft, published, told, verified_document, verified_envelope

VERIFIER = ROOT / "docs" / "verify_descriptor.py"


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    """A node with three versions, which only answers: nothing is published to it here."""
    with fresh_home('acts_for = "person"\nhandle = "paperwork.home"') as home:
        for number in (1, 2, 3):
            published(home, draft(str(number), sealing="preferred"))
        with running(home) as node:
            yield node


def test_from_init_to_an_answer() -> None:
    with short_directory() as directory:
        home = Home(directory / "h")
        made = command("init", "--acts-for", "person", "--from", ROOT / "configs/examples/demo.json", home=home)
        assert made.exit_code == 0, made.err
        digest = command("publish", home.draft, home=home).out.decode().strip()
        with running(home) as node:
            assert node.ready["digest"] == digest
            assert node.get().sha256 == digest
            asked = command("ask", node.url, "--id", node.ready["id"])
            assert (asked.exit_code, asked.err) == (0, "")
            assert "Verified: every check holds." in asked.out.decode()


def test_one_digest_everywhere(node: Node) -> None:
    answer = node.get()
    found = {
        "the bytes": answer.sha256,
        "ETag": answer.headers["etag"].strip('"'),
        "Repr-Digest": "sha256:" + base64.b64decode(answer.headers["repr-digest"][len("sha-256=:") : -1]).hex(),
        "the log": node.ready["digest"],
        "show --raw": digest_of(told("show", "--raw", home=node.home).out.encode()),
        "history": told("history", "--json", home=node.home).document()["versions"][0]["digest"],
        "/descriptors": node.get("/descriptors").json()["versions"][0]["digest"],
        "ask": told("ask", node.url, "--json").document()["digest"],
        "status": told("status", "--json", home=node.home).document()["digest"],
    }
    for codec in ("json", "msgpack"):
        envelope, data, _ = asked_entryway(node, codec)
        found[f"exchange 2 in {codec}"] = envelope["payload"]["digest"]
        found[f"the bytes in {codec}"] = digest_of(data)
    assert set(found.values()) == {answer.sha256}, found


@pytest.mark.parametrize("codec", ["json", "msgpack"])
def test_a_reply_is_signed_fresh_and_to_this_question(node: Node, codec: str) -> None:
    envelope, data, question = asked_entryway(node, codec)
    verified_envelope(envelope)
    assert envelope["in_reply_to"] == question["id"]
    assert envelope["from"] == verified_document(data)["subject"]["id"] == node.ready["id"]
    assert envelope["payload"]["size"] == len(data)
    assert data == node.get().body


def test_every_digest_that_was_ever_current_is_answered(node: Node) -> None:
    listed = node.get("/descriptors").json()["versions"]
    assert [version["agent_version"] for version in listed] == ["3", "2", "1"]
    for version in listed:
        for name in (version["digest"], version["digest"].removeprefix("sha256:")):
            answer = node.get(f"/descriptors/{name}")
            assert (answer.status, answer.sha256) == (200, version["digest"])
            assert "immutable" in answer.headers["cache-control"]
            verified_document(answer.body)


def test_the_verifier_in_the_docs_accepts_it_and_refuses_a_changed_copy(node: Node, tmp_path: Path) -> None:
    def verdict(data: bytes) -> subprocess.CompletedProcess[str]:
        file = tmp_path / "descriptor.json"
        file.write_bytes(data)
        return subprocess.run([sys.executable, VERIFIER, file], capture_output=True, text=True, check=False, timeout=30)

    data = node.get().body
    accepted = verdict(data)
    assert (accepted.returncode, accepted.stdout.split()[0]) == (0, digest_of(data))
    assert node.ready["id"] in accepted.stdout
    for changed in (data.replace(b"Reads", b"Burns"), data.replace(b'"3"', b'"4"')):
        assert changed != data
        assert verdict(changed).returncode != 0


@pytest.mark.parametrize(
    ("etag", "status"), [("{}", 304), ("W/{}", 304), ('"else", {}', 304), ("*", 304), ("else", 200)]
)
def test_a_reader_that_has_it_is_told_so(node: Node, etag: str, status: int) -> None:
    answer = node.get(If_None_Match=etag.format(node.get().headers["etag"]))
    assert (answer.status, bool(answer.body)) == (status, status == 200)


def test_head_is_the_same_without_the_body(node: Node) -> None:
    full, head = node.get(), node.get(method="HEAD")
    assert (head.status, head.body, head.headers["content-length"]) == (200, b"", str(len(full.body)))
    assert head.headers["etag"] == full.headers["etag"]


def test_ask_has_the_shape_of_the_binding(node: Node) -> None:
    document = told("ask", node.url, "--json").document()
    assert {"target", "verified", "checks", "digest", "agent_version", "envelope"} <= set(document)
    assert (document["verified"], document["agent_version"]) == (True, "3")
    assert document["checks"]
    assert all(document["checks"].values())
    verified_envelope(document["envelope"])


def test_ask_saves_the_exact_bytes(node: Node, tmp_path: Path) -> None:
    assert told("ask", node.url, "--save", tmp_path / "d.json").exit_code == 0
    assert (tmp_path / "d.json").read_bytes() == node.get().body


@pytest.mark.parametrize(
    ("arguments", "exit_code"),
    [
        (["--id", "UBMBH4BK6EIHQFVMHLSABFSQXB3JXUFZOXVZQTIERO33AD4HHAI3D7QP"], 1),
        (["--exchange", "77"], 1),
        (["--exchange", "more"], 1),
        (["--save", "."], 2),
        (["--save", "missing/d.json"], 2),
    ],
)
def test_an_answer_that_will_not_do_is_a_no(node: Node, arguments: list[str], exit_code: int) -> None:
    people, programs = told("ask", node.url, *arguments), told("ask", node.url, *arguments, "--json")
    assert people.exit_code == programs.exit_code == exit_code
    assert programs.document()


def test_status_tells_what_the_node_is(node: Node) -> None:
    document = told("status", "--json", home=node.home).document()
    assert document["id"] == node.ready["id"]
    assert (document["handle"], document["state"], document["agent_version"]) == ("paperwork.home", "published", "3")
    assert (document["urls"], document["pid"]) == ([node.url], node.process.pid)
    people = told("status", home=node.home)
    assert (people.exit_code, document["digest"] in people.out) == (0, True)


def test_metrics_are_read_by_prometheus_own_parser(node: Node) -> None:
    def answers() -> dict[tuple[str, str], float]:
        page = node.asks("GET", "/metrics")
        assert page.headers["content-type"].startswith("text/plain; version=0.0.4")
        families = {family.name: family for family in text_string_to_metric_families(page.body.decode())}
        (info,) = families["agent_node_descriptor_info"].samples
        assert info.labels == {"id": node.ready["id"], "digest": node.ready["digest"], "agent_version": "3"}
        assert families["process_resident_memory_bytes"].samples[0].value > 2**20
        counted = families["agent_node_answers"].samples
        return {(sample.labels["route"], sample.labels["status"]): sample.value for sample in counted}

    node.get()
    before = answers()
    node.get()
    node.get("/nothing")
    after = answers()
    assert after["well-known", "200"] == before["well-known", "200"] + 1
    assert after["unknown", "404"] == before.get(("unknown", "404"), 0) + 1


def test_a_node_with_nothing_published_says_so_everywhere() -> None:
    with fresh_home() as home, running(home, "--json") as node:
        assert node.process.stdout is not None
        assert json.loads(node.process.stdout.readline()) == {"id": node.ready["id"], "urls": [node.url]}
        assert node.ready["digest"] is None
        answer = node.get()
        assert (answer.status, answer.json()["error"]["code"]) == (404, "NOT_PUBLISHED")
        asked = told("ask", node.url, "--json")
        assert (asked.exit_code, asked.document()["status"]) == (0, "none-published")
        assert told("status", "--json", home=home).document()["state"] == "none-published"
        assert node.get("/descriptors").json() == {"versions": [], "next": None}


def test_hostile_text_of_an_agent_reaches_no_terminal() -> None:
    with fresh_home() as home:
        digest = published(home, draft(HOSTILE, does=HOSTILE))
        with running(home) as node:
            for shown in (told("ask", node.url), told("status", home=home), told("history", home=home)):
                assert shown.exit_code == 0
                text = shown.out + shown.err
                assert all(char.isprintable() or char in "\t\n" for char in text)
            assert node.get().headers["agent-version"].isprintable()
            assert json.loads(node.get().body)["agent_version"] == HOSTILE
            assert node.get(f"/descriptors/{digest}").sha256 == digest
            node.asks("GET", "/metrics")


def test_run_welcomes_people_with_three_commands_that_work() -> None:
    with fresh_home() as home:
        published(home, draft())
        flags = ("--port", "0", "--host", "127.0.0.1", "--log-format", "people", "--welcome")
        with begun("run", *flags, home=home) as process:
            assert process.stderr is not None
            lines: list[str] = []
            while not lines or "Ctrl-C" not in lines[-1]:
                line = process.stderr.readline().decode()
                assert line
                lines.append(line)
            commands = [line.strip() for line in lines if line.startswith("  ")]
            url = next(word for word in commands[0].split() if word.startswith("http"))
            assert url.endswith(WELL_KNOWN)
            assert command(*commands[1].split()[1:]).exit_code == 0
            assert command(*commands[2].split()[1:]).exit_code == 0
