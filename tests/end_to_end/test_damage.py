"""Bytes that went bad on the disk are never served, named by the doctor, and do not stop the node."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from node.home import Home
from tests.end_to_end.harness import fresh_home, question, running
from tests.node.parts import damage, draft, published, told


@pytest.fixture
def home() -> Iterator[Home]:
    with fresh_home() as home:
        yield home


def test_a_damaged_old_version_is_unavailable_and_all_else_is_served(home: Home) -> None:
    first, second, third = (published(home, draft(str(number))) for number in (1, 2, 3))
    raw = told("show", second, "--raw", home=home).out.encode()
    with running(home) as node:
        damage(home.database, second)
        answer = node.get(f"/descriptors/{second}")
        assert (answer.status, answer.json()["error"]["code"]) == (503, "AGENT_UNAVAILABLE")
        assert answer.json()["error"]["retryable"] is True
        for digest in (first, third):
            assert node.get(f"/descriptors/{digest}").sha256 == digest
        assert node.get().sha256 == third
        assert [row["digest"] for row in node.get("/descriptors").json()["versions"]] == [third, second, first]
        assert node.logged("version_not_served")["digest"] == second

        seen = told("doctor", "--json", home=home)
        assert seen.exit_code == 1
        assert [second in one["message"] for one in seen.document()["seen"] if one["state"] == "bad"] == [True]
        assert told("show", second, "--json", home=home).error()["code"] == "DAMAGED"

        # The very file puts it back, and nothing else changes.
        healed = told("publish", "-", "--json", home=home, stdin=raw).document()
        assert (healed["digest"], healed["changed"], healed["healed"]) == (second, False, True)
        assert node.get(f"/descriptors/{second}").sha256 == second
        assert node.get().sha256 == third
        assert told("doctor", home=home).exit_code == 0


def test_a_node_with_a_damaged_current_version_starts_and_is_repaired_by_the_same_file(home: Home) -> None:
    first = published(home, draft("1"))
    second = published(home, draft("2", sealing="preferred"))
    damage(home.database, second)
    with running(home) as node:
        assert node.logged("current_damaged")["digest"] == second
        assert node.ready["digest"] is None
        for path in ("/.well-known/agent-descriptor.json", f"/descriptors/{second}"):
            answer = node.get(path)
            assert (answer.status, answer.json()["error"]["code"]) == (503, "AGENT_UNAVAILABLE")
        assert node.get(f"/descriptors/{first}").sha256 == first
        refused = node.post("/entryway", json.dumps(question()).encode(), "application/json")
        assert (refused.status, refused.json()["error"]["code"]) == (503, "AGENT_UNAVAILABLE")
        status = node.asks("GET", "/status").json()
        assert (status["state"], status["digest"]) == ("damaged", second)
        assert told("ask", node.url, "--json").document()["error"]["code"] == "AGENT_UNAVAILABLE"

        other = told("publish", "-", "--json", home=home, stdin=draft("2", does="Else."))
        assert other.error()["code"] == "CURRENT_DAMAGED"
        assert published(home, draft("2", sealing="preferred")) == second
        assert node.get().sha256 == node.get(f"/descriptors/{second}").sha256 == second
        assert node.asks("GET", "/status").json()["state"] == "published"


def test_a_later_version_is_published_over_a_damaged_one(home: Home) -> None:
    first = published(home, draft("1"))
    damage(home.database, first)
    with running(home) as node:
        second = published(home, draft("2"))
        assert node.get().sha256 == second
        assert node.get(f"/descriptors/{first}").status == 503
