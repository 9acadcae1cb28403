"""Publishing to real nodes: running and stopped, two at once, on a full disk, while it stops, while it is copied."""

from __future__ import annotations

import json
import resource
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from descriptor.digests import digest_of
from node.home import Home
from store import Reader
from tests.end_to_end.harness import (
    WELL_KNOWN,
    Answer,
    Node,
    begun,
    closing_connection,
    command,
    fresh_home,
    running,
    short_directory,
    stuck_reader,
)
from tests.node.parts import draft, identity_of, published, told, verified_envelope


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    """A node to which every test publishes later versions."""
    with fresh_home() as home:
        published(home, draft("1"))
        with running(home) as node:
            yield node


@pytest.fixture
def later(node: Node) -> str:
    """An agent_version that comes after the current one."""
    return str(int(node.asks("GET", "/status").json()["agent_version"].partition(".")[0]) + 1)


def versions(home: Home) -> list[tuple[str, str]]:
    listed = told("history", "--limit", "500", "--json", home=home).document()["versions"]
    return [(row["agent_version"], row["digest"]) for row in listed]


def test_what_is_published_while_the_node_runs_is_served_when_the_command_returns(node: Node, later: str) -> None:
    ended = command("publish", "-", home=node.home, stdin=draft(later))
    digest = ended.out.decode().strip()
    answer = node.get()
    assert (answer.sha256, answer.headers["agent-version"]) == (digest, later)
    assert node.get("/descriptors").json()["versions"][0] == {
        "digest": digest,
        "agent_version": later,
        "published_at": json.loads(newest_event(node.home))["payload"]["published_at"],
        "size": len(answer.body),
        "current": True,
    }


def newest_event(home: Home) -> str:
    """The newest event, verified."""
    with Reader.open(home.database) as reader:
        (event,) = reader.events_after(reader.last_event_seq() - 1, 9)
    verified_envelope(event.data)
    return event.data


def test_a_connection_that_is_open_sees_the_new_version(node: Node, later: str) -> None:
    with closing_connection(node.port) as connection:
        seen = []
        for _ in range(2):
            connection.request("GET", WELL_KNOWN)
            seen.append(Answer.of(connection.getresponse()).sha256)
            published(node.home, draft(later))
    assert seen == [digest for _, digest in versions(node.home)[1::-1]]


def test_what_is_published_while_the_node_is_stopped_is_served_after_its_start() -> None:
    with fresh_home() as home:
        with running(home):
            first = published(home, draft("1"))
        second = published(home, draft("2"))
        with running(home) as node:
            assert (node.ready["digest"], node.get().sha256) == (second, second)
            assert node.get(f"/descriptors/{first}").sha256 == first


@pytest.mark.parametrize(
    ("data", "arguments", "code", "exit_code"),
    [
        (draft("0"), [], "OLDER_AGENT_VERSION", 1),
        (draft("0", format="x"), [], "FINDINGS", 1),
        (b"{", [], "NOT_JSON", 2),
        (b" " * (17 * 2**20), [], "TOO_LARGE", 2),
        (draft("99999"), ["--organization-name", "L"], "ORGANIZATION_NAME_ALONE", 2),
        (draft("99999"), ["--acts-for", "organization", "--organization-name", ""], "NAME_EMPTY", 1),
    ],
)
def test_a_refusal_is_the_same_whether_or_not_the_node_runs(
    node: Node, data: bytes, arguments: list[str], code: str, exit_code: int
) -> None:
    before = node.get().sha256
    online = told("publish", "-", *arguments, "--json", home=node.home, stdin=data)
    assert (online.exit_code, online.error()["code"]) == (exit_code, code)
    assert node.get().sha256 == before
    with fresh_home() as home:
        published(home, draft("1"))
        offline = told("publish", "-", *arguments, "--json", home=home, stdin=data)
    assert offline.exit_code == online.exit_code
    assert set(offline.error()) == set(online.error()) - {"retryable"}
    assert offline.error()["code"] == code
    if code == "FINDINGS":
        assert offline.error()["findings"] == online.error()["findings"]


def test_a_rollback_to_a_running_node_is_served(node: Node, later: str) -> None:
    oldest = versions(node.home)[-1][1]
    ended = told("rollback", oldest, "--as", later, home=node.home)
    assert node.get().sha256 == ended.out.strip()
    assert told("rollback", "0" * 64, "--as", "9999", "--json", home=node.home).error()["code"] == "NOT_FOUND"


def test_publishing_the_same_again_to_a_running_node_changes_nothing(node: Node, later: str) -> None:
    digest = published(node.home, draft(later))
    before = versions(node.home)
    again = told("publish", "-", "--json", home=node.home, stdin=draft(later)).document()
    assert (again["digest"], again["changed"], versions(node.home)) == (digest, False, before)


def test_of_two_publishes_to_a_running_node_at_once_one_wins_and_the_other_is_told(node: Node) -> None:
    for _ in range(10):
        before = versions(node.home)
        version = str(int(before[0][0]) + 1)
        answers: dict[str, int] = {}

        def publish(what: str, version: str = version, answers: dict[str, int] = answers) -> None:
            answers[what] = node.asks("POST", "/publish", draft(version, does=f"Reads {what}.")).status

        both = [threading.Thread(target=publish, args=(what,)) for what in ("letters", "bills")]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join(30)
        assert sorted(answers.values()) == [200, 409]
        after = versions(node.home)
        assert after[1:] == before
        assert node.get().sha256 == after[0][1]
        (winner,) = [what for what, status in answers.items() if status == 200]
        assert node.get().json()["does"] == f"Reads {winner}."


def test_of_two_processes_that_publish_at_once_one_wins_and_the_other_is_told() -> None:
    with fresh_home() as home, short_directory() as files, ExitStack() as stack:
        published(home, draft("1"))
        processes = []
        for what in ("letters", "bills", "books"):
            (files / what).write_bytes(draft("2", does=f"Reads {what}."))
            processes.append(stack.enter_context(begun("publish", files / what, "--json", home=home)))
        ends = [process.communicate(timeout=60) for process in processes]
        assert sorted(process.returncode for process in processes) == [0, 1, 1]
        told_by = [json.loads(out) for out, _ in ends]
        (digest,) = [document["digest"] for document in told_by if "digest" in document]
        assert {document["error"]["code"] for document in told_by if "error" in document} == {"SAME_AGENT_VERSION"}
        assert versions(home)[0] == ("2", digest)
        assert len(versions(home)) == 2


def test_a_publish_while_the_node_stops_is_done_when_it_has_stopped() -> None:
    with fresh_home() as home:
        published(home, draft("1", notes="a" * 500_000))
        with running(home, env={"AGENT_NODE_DRAIN_WAIT": "2"}) as node, stuck_reader(node):
            node.process.terminate()
            node.logged("stopping")
            ended = command("publish", "-", home=home, stdin=draft("2"))
            assert (ended.exit_code, ended.err) == (0, "")
            assert node.stopped() == 0
        assert versions(home)[0] == ("2", ended.out.decode().strip())


def test_a_full_disk_refuses_the_publish_and_the_old_version_goes_on_being_served() -> None:
    with fresh_home() as home:
        digest = published(home, draft("1"))
        with running(home) as node:
            largest = max(path.stat().st_size for path in home.path.iterdir())
            pid, unlimited = node.process.pid, resource.RLIM_INFINITY
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (largest, unlimited))
            data = draft("2", notes="a" * 200_000)
            for _ in range(2):
                refused = told("publish", "-", "--json", home=home, stdin=data)
                assert refused.exit_code == 1
                assert refused.error()["code"] in ("STORE_FULL", "STORE_IO")
                assert "nothing was changed" in refused.error()["message"]
                assert node.get().sha256 == node.get(f"/descriptors/{digest}").sha256 == digest
                assert [row[1] for row in versions(home)] == [digest]
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (unlimited, unlimited))
            later = published(home, data)
            assert node.get().sha256 == later
            assert told("doctor", home=home).exit_code == 0
        assert versions(home) == [("2", later), ("1", digest)]


def test_a_backup_while_publishes_go_on_is_one_moment_and_restores_the_same_agent(node: Node, later: str) -> None:
    stop, done = threading.Event(), []

    def publish() -> None:
        number = int(later)
        while not stop.is_set():
            done.append(node.asks("POST", "/publish", draft(str(number))).json()["digest"])
            number += 1

    publishing = threading.Thread(target=publish)
    with short_directory() as directory:
        publishing.start()
        try:
            while len(done) < 3:
                stop.wait(0.01)
            ended = command("backup", directory / "b", home=node.home)
        finally:
            stop.set()
            publishing.join(30)
        assert (ended.exit_code, ended.err) == (0, "")
        home = Home(directory / "h")
        assert command("restore", directory / "b", home=home).exit_code == 0
        assert identity_of(home).id == node.ready["id"]
        kept = [digest for _, digest in versions(home)]
        assert len(kept) >= 3
        assert kept == [digest for _, digest in versions(node.home)][-len(kept) :]
        assert told("doctor", home=home).exit_code == 0
        with running(home) as restored:
            assert restored.get().sha256 == kept[0]
            for digest in kept:
                assert restored.get(f"/descriptors/{digest}").sha256 == digest
            assert restored.ready["id"] == node.ready["id"]


def test_a_publish_from_stdin_and_from_a_file_are_one(node: Node, later: str, tmp_path: Path) -> None:
    (tmp_path / "draft.json").write_bytes(draft(later))
    digest = told("publish", tmp_path / "draft.json", home=node.home).out.strip()
    assert published(node.home, draft(later)) == digest
    assert digest_of(node.get().body) == digest
