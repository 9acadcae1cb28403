"""The AgentDoc and the page as routes: made once a publish, told apart by their digests, and private where asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import trio

from descriptor.digests import digest_of
from descriptor.errors import DescriptorError
from descriptor.projections.agentdoc_check import check
from entryway import pages
from entryway.errors import EntrywayError
from entryway.pages import MOST_CHANGES_KEPT
from entryway.routes import Entryway
from entryway.snapshot import Damaged, NonePublished
from tests.entryway.parts import (
    CARD,
    NOW,
    OTHER,
    MemoryArchive,
    Received,
    answer_of,
    asked,
    document,
    door,
    snapshot_of,
)

OLD = [document(agent_version=f"1.{minor}.0", refusals=f"Not {minor}.") for minor in range(3)]
CURRENT = document()
JSON, PAGES = "/.well-known/agentdoc.json", ("/", "/.well-known/agentdoc")


def open_door(current: bytes = CURRENT, versions: list[bytes] | None = None) -> Entryway:
    kept = [*OLD, CURRENT] if versions is None else versions
    return door(snapshot_of(current, seq=len(kept)), MemoryArchive(kept))


async def got(entryway: Entryway, target: str, method: str = "GET", **headers: str) -> Received:
    return await answer_of(entryway, asked(method, target, {n.replace("_", "-"): v for n, v in headers.items()}))


def counted(monkeypatch: pytest.MonkeyPatch, name: str) -> list[int]:
    """How often a function of `entryway.pages` is called from now on: the list grows."""
    calls: list[int] = []
    made: Callable[..., Any] = getattr(pages, name)

    def counting(*arguments: Any) -> Any:
        calls.append(len(calls))
        return made(*arguments)

    monkeypatch.setattr(pages, name, counting)
    return calls


async def test_the_agentdoc_is_signed_and_passes_its_check() -> None:
    answer = await got(open_door(), JSON)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.headers["etag"] == f'"{digest_of(answer.body)}"'
    checked = check(answer.body, {"descriptor": CURRENT, "card": CARD}, NOW)
    assert checked.remarks == ()
    assert [one["id"] for one in json.loads(answer.body)["sources"]] == ["descriptor", "card", "door", "observed-1"]
    versions = json.loads(answer.body)["sections"]["standing"]["versions"]
    assert [one["digest"] for one in versions] == [digest_of(data) for data in (CURRENT, *reversed(OLD))]
    assert [one["current"] for one in versions] == [True, False, False, False]


@pytest.mark.parametrize("target", PAGES)
async def test_the_page_says_what_a_browser_may_do_with_it(target: str) -> None:
    answer = await got(open_door(), target)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "Reads receipts. Grüße! 🚀" in answer.body.decode()
    assert answer.headers["etag"] == f'"{digest_of(answer.body)}"'
    assert answer.headers["cache-control"] == "no-cache"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("target", [JSON, *PAGES, f"/?from={digest_of(OLD[0])}&to={digest_of(OLD[1])}"])
async def test_a_reader_that_has_it_gets_304_and_head_has_no_body(target: str) -> None:
    entryway = open_door()
    full = await got(entryway, target)
    again = await got(entryway, target, If_None_Match=full.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    assert await got(entryway, target, "HEAD") == Received(full.status, full.headers, b"")


async def test_both_are_made_once_for_all_who_ask_and_anew_after_a_publish(monkeypatch: pytest.MonkeyPatch) -> None:
    made = counted(monkeypatch, "_make")
    entryway = open_door()
    async with trio.open_nursery() as nursery:
        for target in (*PAGES, JSON, "/"):
            nursery.start_soon(got, entryway, target)
    assert len(made) == 1
    first = await got(entryway, "/")
    entryway.snapshot = snapshot_of(OLD[0], seq=1)
    second = await got(entryway, "/")
    assert len(made) == 2
    assert first.headers["etag"] != second.headers["etag"]
    assert "1.0.0" in second.body.decode()


async def test_what_is_made_already_is_answered_at_once() -> None:
    entryway = open_door()
    await got(entryway, "/")
    for target in (*PAGES, JSON):
        answer = entryway.router.respond(asked("GET", target))
        assert isinstance(answer, tuple)  # laid out, and nothing to wait for


# What changed.


async def test_two_versions_are_compared_by_their_digests(monkeypatch: pytest.MonkeyPatch) -> None:
    made = counted(monkeypatch, "_make_changes")
    entryway = open_door()
    target = f"/?from={digest_of(OLD[0])}&to={digest_of(CURRENT)}"
    answer = await got(entryway, target)
    assert answer.status == 200
    assert "What it refuses" in answer.body.decode()
    assert await got(entryway, target.replace("/?", "/.well-known/agentdoc?")) == answer
    assert len(made) == 1
    for number in range(MOST_CHANGES_KEPT + 1):
        entryway._pages._changes[str(number), ""] = entryway._pages._changes[digest_of(OLD[0]), digest_of(CURRENT)]
    await got(entryway, f"/?from={digest_of(OLD[1])}&to={digest_of(CURRENT)}")
    assert len(entryway._pages._changes) == MOST_CHANGES_KEPT


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("from=1&to=2", 400),
        (f"from={digest_of(CURRENT)}", 400),
        (f"to={digest_of(CURRENT)}", 400),
        ("from=%00&to=%ff", 400),
        (f"from={'0' * 64}&to={digest_of(CURRENT)}", 404),
        (f"from={digest_of(document(OTHER))}&to={digest_of(CURRENT)}", 404),
    ],
)
async def test_what_cannot_be_compared_is_said_on_a_page(query: str, status: int) -> None:
    answer = await got(open_door(versions=[CURRENT, document(OTHER)]), f"/?{query}")
    assert (answer.status, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert b"<h1>That is not here</h1>" in answer.body


async def test_documents_too_large_for_a_page_are_not_compared() -> None:
    large = document(refusals="x" * 300_000)
    answer = await got(open_door(versions=[large, CURRENT]), f"/?from={digest_of(large)}&to={digest_of(CURRENT)}")
    assert answer.status == 404
    assert b"agent-node diff" in answer.body


async def test_another_query_changes_nothing() -> None:
    entryway = open_door()
    assert (await got(entryway, "/?utm=x")).body == (await got(entryway, "/")).body


# What is not shown.


async def test_before_the_first_publish_the_page_says_what_to_do() -> None:
    entryway = door(NonePublished())
    for target in PAGES:
        answer = await got(entryway, target)
        assert (answer.status, answer.headers["cache-control"]) == (404, "no-store")
        assert b"Nothing is published here yet" in answer.body
        assert b"agent-node publish FILE" in answer.body
        assert "content-security-policy" in answer.headers
    assert (await got(entryway, JSON)).error()["code"] == "NOT_PUBLISHED"


async def test_a_private_agent_shows_nothing_of_itself() -> None:
    entryway = open_door()
    entryway.private = True
    for target in (*PAGES, f"/?from={digest_of(OLD[0])}&to={digest_of(CURRENT)}"):
        answer = await got(entryway, target)
        assert answer.status == 403
        assert b"This agent does not describe itself" in answer.body
        for told in (b"receipts", b"paperwork", CURRENT[200:230], digest_of(CURRENT).encode()):
            assert told not in answer.body
    assert (await got(entryway, JSON)).error()["code"] == "PRIVATE"


async def test_damaged_bytes_are_not_shown() -> None:
    entryway = door(Damaged(digest_of(CURRENT), 1), MemoryArchive([CURRENT]))
    answer = await got(entryway, "/")
    assert answer.status == 503
    assert b"agent-node doctor" in answer.body
    assert (await got(entryway, JSON)).error()["code"] == "AGENT_UNAVAILABLE"


async def test_an_archive_that_cannot_read_is_an_answer_and_is_asked_again() -> None:
    class Broken(MemoryArchive):
        broken = True

        async def history(self, limit: int, before: int | None) -> Any:
            if self.broken:
                raise EntrywayError("AGENT_UNAVAILABLE", "It is damaged.")
            return await super().history(limit, before)

    archive = Broken([CURRENT])
    entryway = door(snapshot_of(CURRENT, seq=1), archive)
    assert (await got(entryway, "/")).status == 503
    assert (await got(entryway, JSON)).error()["code"] == "AGENT_UNAVAILABLE"
    archive.broken = False
    assert (await got(entryway, "/")).status == 200


async def test_a_descriptor_that_leaves_too_much_unsaid_is_pointed_to(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise DescriptorError("TOO_LARGE", "Too much.")

    monkeypatch.setattr("entryway.assembled.assemble", refuse)
    answer = await got(open_door(), JSON)
    assert answer.error()["code"] == "NOT_FOUND"
    assert "/.well-known/agent-descriptor.json" in answer.error()["message"]


async def test_older_versions_than_are_listed_are_pointed_to() -> None:
    many = [document(agent_version=str(number)) for number in range(60)]
    text = (await got(door(snapshot_of(many[-1], seq=60), MemoryArchive(many)), "/")).body.decode()
    assert text.count('<a href="/descriptors/sha256:') == 50
    assert '<a href="/descriptors">the whole list</a>' in text
