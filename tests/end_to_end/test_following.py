"""Real nodes: what one publishes the other has, and after any outage it has everything, in order."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from node.home import Home
from store import Reader
from tests.end_to_end.harness import ROOT, WAIT, Node, begun, command, environment, fresh_home, running
from tests.node.parts import draft, identity_of, published

pytestmark = pytest.mark.filterwarnings("ignore:.*unclosed <socket")  # httpcore forgets the one that broke


def until(holds: Callable[[], bool], what: str) -> float:
    """Waits for something, and says how many seconds it took."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < WAIT, f"not in time: {what}"
        time.sleep(0.01)
    return time.monotonic() - began


def kept(home: Home, agent_id: str) -> list[str]:
    """The agent_versions that are kept of an agent, oldest first."""
    with Reader.open(home.database) as reader:
        versions, _ = reader.history(agent_id, 500)
    return [version.agent_version for version in reversed(versions)]


def follow_state(node: Node) -> dict[str, Any]:
    (follow,) = node.asks("GET", "/status").json()["follows"]
    return dict(follow)


@contextmanager
def two() -> Iterator[tuple[Home, Home]]:
    with fresh_home() as one, fresh_home() as other:
        yield one, other


def settle(follower: Node, agent_id: str, versions: list[str]) -> None:
    until(lambda: kept(follower.home, agent_id) == versions, f"{versions}, but {kept(follower.home, agent_id)}")


def test_a_publish_is_at_every_follower_before_half_a_second_is_over() -> None:
    with two() as (peer_home, home):
        published(peer_home, draft("1"))
        agent_id = identity_of(peer_home).id
        with running(peer_home) as peer, running(home) as node:
            ended = command("follow", peer.url, home=home)
            assert (ended.exit_code, agent_id in ended.out.decode()) == (0, True)
            settle(node, agent_id, ["1"])
            until(lambda: follow_state(node)["state"] == "listening", "listening")
            took = []
            for version in ("2", "3", "4"):
                published(peer_home, draft(version))
                took.append(until(lambda version=version: version in kept(home, agent_id), version))  # type: ignore[misc]  # mypy does not see the default
            assert min(took) < 0.5
            assert kept(home, agent_id) == ["1", "2", "3", "4"]
            follows = json.loads(command("follows", "--json", home=home).out)["follows"]
            assert [(one["id"], one["state"], one["synced"]) for one in follows] == [(agent_id, "listening", True)]
            assert command("unfollow", agent_id, home=home).exit_code == 0
            published(peer_home, draft("5"))
            assert command("unfollow", agent_id, home=home).exit_code == 1
            time.sleep(0.3)
            assert kept(home, agent_id) == ["1", "2", "3", "4"]


def test_a_follower_that_was_away_has_everything_in_order() -> None:
    with two() as (peer_home, home):
        published(peer_home, draft("0"))
        agent_id = identity_of(peer_home).id
        with running(peer_home) as peer:
            with running(home) as node:
                command("follow", peer.url, home=home)
                settle(node, agent_id, ["0"])
            for version in range(1, 31):
                published(peer_home, draft(str(version)))
            with running(home) as node:
                settle(node, agent_id, [str(version) for version in range(31)])
                assert follow_state(node)["reports"] == []


def test_a_peer_that_is_killed_and_comes_back_loses_nothing() -> None:
    with two() as (peer_home, home), running(home) as node:
        published(peer_home, draft("0"))
        agent_id = identity_of(peer_home).id
        port = 0
        for version in range(1, 5):
            with running(peer_home, f"--port={port}") as peer:
                port = peer.port
                if version == 1:
                    command("follow", peer.url, home=home)
                published(peer_home, draft(str(version)))
                peer.process.kill()
                peer.process.wait()
            published(peer_home, draft(f"{version}.5"))
        with running(peer_home, f"--port={port}"):
            settle(node, agent_id, ["0", *(f"{version}{half}" for version in range(1, 5) for half in ("", ".5"))])


def test_another_agent_at_the_place_is_not_followed() -> None:
    with two() as (peer_home, home), fresh_home() as impostor, running(home) as node:
        published(peer_home, draft("1"))
        published(impostor, draft("9"))
        agent_id = identity_of(peer_home).id
        with running(peer_home) as peer:
            port = peer.port
            command("follow", peer.url, home=home)
            settle(node, agent_id, ["1"])
        with running(impostor, f"--port={port}"):
            until(lambda: bool(follow_state(node)["reports"]), "a report")
            assert {report["kind"] for report in follow_state(node)["reports"]} == {"conflict"}
            assert kept(home, agent_id) == ["1"]
            assert kept(home, identity_of(impostor).id) == []


def test_curl_and_a_plain_script_resume_without_loss() -> None:
    with fresh_home() as home:
        published(home, draft("1"))
        with running(home) as node:
            with subprocess.Popen(
                ["curl", "-sN", f"{node.url}/events?after=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            ) as curl:
                published(home, draft("2"))
                seen = [next(line for line in curl.stdout if line.startswith(b"id:")) for _ in range(2)]  # type: ignore[union-attr]  # it is a pipe
                curl.kill()
            assert seen == [b"id: 1\n", b"id: 2\n"]


@pytest.mark.parametrize("kills", [4])
def test_the_script_of_the_docs_resumes_while_the_node_is_killed(kills: int) -> None:
    with fresh_home() as home:
        published(home, draft("0"))
        with running(home) as node:
            port = node.port
            reader = subprocess.Popen(
                [sys.executable, str(ROOT / "docs/follow_events.py"), node.url, "0"],
                stdout=subprocess.PIPE,
                env=environment(),
            )
            node.process.kill()
            node.process.wait()
        with reader:
            try:
                for kill in range(1, kills + 1):
                    with running(home, f"--port={port}") as node:
                        published(home, draft(str(kill)))
                        if kill < kills:
                            node.process.kill()
                            node.process.wait()
                        else:
                            assert reader.stdout is not None
                            ids = [int(reader.stdout.readline().split()[0]) for _ in range(kills + 1)]
                            assert ids == [*range(1, kills + 2)]
            finally:
                reader.kill()


def test_watch_prints_what_is_announced() -> None:
    with fresh_home() as home:
        published(home, draft("1"))
        with running(home) as node, begun("watch", node.url, "--after", "0") as watching:
            assert watching.stdout is not None
            assert b" 1 " in watching.stdout.readline()
            published(home, draft("2"))
            line = watching.stdout.readline().decode().split()
            assert line[1:] == ["2", json.loads(node.asks("GET", "/status").body)["digest"]]
            watching.terminate()


def test_readers_of_one_address_are_bounded_and_stopping_ends_their_streams() -> None:
    with fresh_home("[limits]\nlimit_loopback = true\nsubscribers_per_address = 2") as home:
        published(home, draft("1"), "--acts-for", "person")
        with running(home) as node:
            curls = [
                subprocess.Popen(["curl", "-sNi", f"{node.url}/events?after=0"], stdout=subprocess.PIPE)
                for _ in range(2)
            ]
            until(lambda: node.asks("GET", "/status").json()["subscribers"] == 2, "two readers")
            answer = node.get("/events")
            assert (answer.status, answer.headers["retry-after"]) == (429, "30")
        for curl in curls:
            with curl:
                out, _ = curl.communicate(timeout=WAIT)
                assert b"text/event-stream" in out
