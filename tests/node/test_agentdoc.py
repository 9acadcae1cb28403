"""`agentdoc`: of this agent, of one that is kept, and the check of one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from descriptor.digests import digest_of
from descriptor.projections.agentdoc_check import CHECKS
from node.home import Home
from store import Copy, Follow, Peer, Reported, Store
from tests.descriptor.projections.samples import sample
from tests.entryway.page.test_page import Read
from tests.entryway.parts import OTHER, document
from tests.node.parts import draft, new_home, told

THEIRS = document(OTHER, refusals="Nothing.")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    yield new_home(tmp_path / "home")


def publish(home: Home, agent_version: str = "1.0", **members: Any) -> None:
    file = home.path.with_name("draft.json")
    file.write_bytes(draft(agent_version, **members))
    assert told("publish", str(file), home=home).exit_code == 0


def keep_peer(home: Home, **members: Any) -> None:
    peer = Peer(OTHER.id, "paperwork.home", "verified", "", "1.4.0", digest_of(THEIRS), ("192.0.2.1:7420",), 5.0, 9.0)
    with Store.open(home.database) as store:
        store.put_peers([(peer, THEIRS)])


def test_of_this_agent(home: Home) -> None:
    publish(home)
    publish(home, "1.1")
    made = told("agentdoc", home=home)
    assert made.exit_code == 0
    members = json.loads(made.out)
    assert members["sections"]["identity"]["agent_version"] == "1.1"
    assert [one["agent_version"] for one in members["sections"]["standing"]["versions"]] == ["1.1", "1.0"]
    file = home.path.with_name("doc.json")
    file.write_text(made.out, encoding="utf-8")
    checked = told("agentdoc", "--check", str(file), "--json", home=home)
    assert (checked.exit_code, checked.document()["holds"]) == (0, True)
    assert checked.document()["checks"] == {**dict.fromkeys(CHECKS, True), "fresh": None}


def test_with_json_it_is_the_document_on_one_line(home: Home) -> None:
    publish(home)
    assert told("agentdoc", "--json", home=home).document()["agentdoc"] == "v1"


def test_before_the_first_publish(home: Home) -> None:
    assert told("agentdoc", "--json", home=home).document()["error"]["code"] == "NOT_PUBLISHED"


@pytest.mark.parametrize("target", [OTHER.id, "paperwork.home", "Paperwork.Home"])
def test_of_a_peer_from_what_was_fetched_and_kept(home: Home, target: str) -> None:
    keep_peer(home)
    made = told("agentdoc", target, "--json", home=home)
    assert made.exit_code == 0, made.err
    members = made.document()
    assert members["subject"] == {"id": OTHER.id, "handle": "paperwork.home"}
    assert members["assembled_by"] != OTHER.id
    (source, seen) = members["sources"]
    assert (source["digest"], source["signature"]) == (digest_of(THEIRS), "verified")
    assert "url" not in source
    assert seen["kind"] == "observation"
    assert members["sections"]["standing"]["peer"]["state"] == "verified"
    file = home.path.with_name("doc.json")
    file.write_text(made.out, encoding="utf-8")
    assert told("agentdoc", "--check", str(file), "--json", home=home).document()["checks"]["values"] is True


@pytest.mark.parametrize("target", [OTHER.id, "paperwork.home"])
def test_of_an_agent_that_is_followed_with_what_was_noticed(home: Home, target: str) -> None:
    report = Reported(8.0, "rollback", "It went back.", digest_of(THEIRS))
    with Store.open(home.database) as store:
        follow = Follow(OTHER.id, "http://192.0.2.1:7420", 1.0, 3, True, (report,))
        store.add_follow(follow)
        digest = digest_of(THEIRS)
        assert store.take_in(follow, copy=Copy(THEIRS, digest, "1.4.0", 7.0), current=digest)
    members = told("agentdoc", target, "--json", home=home).document()
    standing = members["sections"]["standing"]
    assert [one["digest"] for one in standing["versions"]] == [digest_of(THEIRS)]
    assert standing["reports"][0]["kind"] == "rollback"
    assert standing["reports_state"] == "observed"


def test_a_page_in_a_file_leads_nowhere_that_it_is_not_and_has_its_policy_in_it(home: Home) -> None:
    report = Reported(8.0, "rollback", "It went <back>.", digest_of(THEIRS))
    with Store.open(home.database) as store:
        follow = Follow(OTHER.id, "http://192.0.2.1:7420", 1.0, 3, True, (report,))
        store.add_follow(follow)
        copies = [Copy(data, digest_of(data), "1.4.0", 7.0) for data in (document(OTHER, refusals="All."), THEIRS)]
        for copy in copies:
            assert store.take_in(follow, copy=copy, current=copy.digest)
    file = home.path.with_name("page.html")
    made = told("agentdoc", OTHER.id, "--html", str(file), "--json", home=home)
    assert (made.exit_code, made.document()["agentdoc"]) == (0, "v1"), made.err
    page = Read(file.read_bytes())
    assert "Noticed 1 January 1970, 00:00 UTC: It went <back>." in page.text
    assert digest_of(THEIRS) in page.text
    assert [one["href"] for one in page.all("a") if not one["href"].startswith("#")] == []
    assert page.all("form") == []
    (policy,) = [one["content"] for one in page.all("meta") if "http-equiv" in one]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "frame-ancestors" not in policy


def test_a_page_that_cannot_be_written_is_said(home: Home) -> None:
    publish(home)
    ended = told("agentdoc", "--html", "/nowhere/at/all", "--json", home=home)
    assert (ended.exit_code, ended.error()["code"]) == (2, "OUTPUT_UNWRITABLE")


@pytest.mark.parametrize("target", ["nobody.home", OTHER.id, "http://192.0.2.1:7420"])
def test_of_one_of_whom_nothing_is_kept(home: Home, target: str) -> None:
    publish(home)
    ended = told("agentdoc", target, "--json", home=home)
    assert (ended.exit_code, ended.document()["error"]["code"]) == (1, "NOT_KEPT")


def test_a_changed_document_is_found_out(home: Home) -> None:
    publish(home)
    file = home.path.with_name("doc.json")
    file.write_text(told("agentdoc", home=home).out.replace("Reads letters.", "Reads minds."), encoding="utf-8")
    checked = told("agentdoc", "--check", str(file), home=home)
    assert checked.exit_code == 1
    assert "values      FAILS" in checked.out
    assert "The signature does not verify" in checked.out


def test_bytes_that_the_store_does_not_keep_are_given(home: Home, tmp_path: Path) -> None:
    from tests.descriptor.projections.test_agentdoc import doc_of

    file, source = tmp_path / "doc.json", tmp_path / "descriptor.json"
    file.write_bytes(doc_of(sample("demo")).data)
    source.write_bytes(sample("demo").data)
    without = told("agentdoc", "--check", str(file), "--json", home=home).document()
    assert (without["checks"]["values"], without["holds"]) == (None, True)
    given = told("agentdoc", "--check", str(file), "--source", f"descriptor={source}", "--json", home=home).document()
    assert given["checks"]["values"] is True
    source.write_bytes(sample("whole").data)
    other = told("agentdoc", "--check", str(file), "--source", f"descriptor={source}", "--json", home=home)
    assert (other.exit_code, other.document()["checks"]["digests"]) == (1, False)


@pytest.mark.parametrize(
    "arguments",
    [
        ("TARGET", "--check", "FILE"),
        ("--fetch", "--check", "FILE"),
        ("--fetch",),
        ("--html", "FILE", "--check", "FILE"),
        ("--source", "descriptor=FILE"),
        ("--check", "FILE", "--source", "ghost=FILE"),
        ("--check", "FILE", "--source", "descriptor"),
        ("--check", "/nowhere/at/all"),
    ],
)
def test_what_does_not_go_together_is_said(home: Home, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    file = tmp_path / "doc.json"
    file.write_text('{"sources": [{"id": "descriptor"}]}', encoding="utf-8")
    given = [one.replace("FILE", str(file)) for one in arguments]
    assert told("agentdoc", *given, "--json", home=home).exit_code == 2
