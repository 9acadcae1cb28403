"""The control socket: its routes, the codes that pass through it, and the file that it is."""

from __future__ import annotations

import json
import os
import socket
import stat
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from descriptor.checker import check
from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.publishing import PublishError
from entryway.http import Request, Response
from node.control import BODY_LIMIT, control_listener, control_router
from node.errors import Exit, NodeError
from node.home import Home
from node.publisher import Outcome
from node.settings import DECLARED
from store import StoreError
from tests.entryway.parts import Received, received
from tests.node.parts import NOW, draft

OUTCOME = Outcome(
    Descriptor.read(draft()), 1, None, NOW, changed=True, current=True, healed=False, warnings=(), event=None
)


class Node:
    """A node that notes what it is told, and does it or refuses."""

    def __init__(self, refusal: Exception | None = None) -> None:
        self.told: list[Any] = []
        self._refusal = refusal

    def status(self) -> dict[str, object]:
        return {"id": "U1", "handle": None}

    async def metrics(self) -> tuple[str, bytes]:
        return "text/plain; version=0.0.4", b"up 1\n"

    def card(self) -> bytes:
        self._done()
        return b'{"name":"paperwork.home"}\n'

    async def publish(self, data: bytes, respell: bool, acts_for: str | None, name: str | None) -> Outcome:
        return self._done(data, respell, acts_for, name)

    async def rollback(self, digest: str, agent_version: str) -> Outcome:
        return self._done(digest, agent_version)

    async def change_roster(self, change: Mapping[str, Any]) -> Mapping[str, object]:
        self._done(dict(change))
        return {"enforced": True}

    def reload(self) -> dict[str, list[str]]:
        self._done()
        return {"taken": ["log.level"], "need_restart": []}

    def _done(self, *told: Any) -> Outcome:
        self.told.append(told)
        if self._refusal is not None:
            raise self._refusal
        return OUTCOME


async def asked(node: Node, method: str, target: str, body: bytes = b"") -> Received:
    answer = control_router(node).respond(Request(method.encode(), target.encode(), {}, body))
    return received(answer if isinstance(answer, Response) else await answer)


async def test_status_is_told() -> None:
    answer = await asked(Node(), "GET", "/status")
    assert (answer.status, json.loads(answer.body)) == (200, {"id": "U1", "handle": None})


async def test_metrics_are_told_in_their_media_type() -> None:
    answer = await asked(Node(), "GET", "/metrics")
    assert (answer.headers["content-type"], answer.body) == ("text/plain; version=0.0.4", b"up 1\n")


async def test_the_card_is_told_byte_for_byte() -> None:
    answer = await asked(Node(), "GET", "/card")
    assert (answer.headers["content-type"], answer.body) == ("application/json", b'{"name":"paperwork.home"}\n')
    refused = await asked(Node(NodeError("NOT_PUBLISHED", "said")), "GET", "/card")
    assert (refused.status, refused.error()["code"]) == (409, "NOT_PUBLISHED")


@pytest.mark.parametrize(
    ("query", "stated"),
    [
        ("", (False, None, None)),
        ("?respell=1", (True, None, None)),
        ("?respell=0", (False, None, None)),
        ("?acts_for=person", (False, "person", None)),
        ("?organization_name=Caf%C3%A9%20%26%20more", (False, None, "Café & more")),
        ("?organization_name=", (False, None, "")),
    ],
)
async def test_publish_takes_the_body_and_what_is_stated_for_it(
    query: str, stated: tuple[bool, str | None, str | None]
) -> None:
    node = Node()
    answer = await asked(node, "POST", f"/publish{query}", draft())
    assert answer.status == 200
    assert node.told == [(draft(), *stated)]
    assert json.loads(answer.body) == OUTCOME.document()


async def test_rollback_takes_a_digest_and_an_agent_version() -> None:
    node = Node()
    answer = await asked(node, "POST", "/rollback", b'{"digest": "sha256:00", "as": "2.0"}')
    assert (answer.status, node.told) == (200, [("sha256:00", "2.0")])


@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"digest": 1, "as": "2"}', b'{"digest": "sha256:00"}'])
async def test_a_rollback_that_is_none_is_refused(body: bytes) -> None:
    node = Node()
    answer = await asked(node, "POST", "/rollback", body)
    assert (answer.error()["code"], node.told) == ("INPUT_INVALID", [])


async def test_a_change_of_the_roster_is_one_object() -> None:
    node = Node()
    answer = await asked(node, "POST", "/roster", b'{"act": "admit", "subject": "U1", "note": null}')
    assert (answer.status, json.loads(answer.body)) == (200, {"enforced": True})
    assert node.told == [({"act": "admit", "subject": "U1", "note": None},)]


@pytest.mark.parametrize(("body", "code"), [(b"[]", "INPUT_INVALID"), (b'"admit"', "INPUT_INVALID"), (b"", "NOT_JSON")])
async def test_a_change_of_the_roster_that_is_none_is_refused(body: bytes, code: str) -> None:
    node = Node()
    answer = await asked(node, "POST", "/roster", body)
    assert (answer.error()["code"], node.told) == (code, [])


async def test_reload_says_what_was_taken() -> None:
    answer = await asked(Node(), "POST", "/reload")
    assert json.loads(answer.body) == {"taken": ["log.level"], "need_restart": []}


REFUSALS = [
    (NodeError("NOT_FOUND", "said"), Exit.NO),
    (NodeError("SETTING_INVALID", "said", Exit.UNREADABLE), Exit.UNREADABLE),
    (StoreError("STORE_FULL", "said"), Exit.NO),
    (DescriptorError("NOT_JSON", "said"), Exit.UNREADABLE),
    (PublishError("SAME_AGENT_VERSION", "said", "/agent_version"), Exit.NO),
]


@pytest.mark.parametrize(("refusal", "exit_code"), REFUSALS, ids=[type(case[0]).__name__ for case in REFUSALS])
@pytest.mark.parametrize(
    ("target", "body"), [("/publish", b"{}"), ("/rollback", b'{"digest": "sha256:00", "as": "2"}'), ("/roster", b"{}")]
)
async def test_a_refusal_keeps_its_code_and_its_exit_code(
    refusal: Any, exit_code: Exit, target: str, body: bytes
) -> None:
    answer = await asked(Node(refusal), "POST", target, body)
    error = answer.error()
    assert (answer.status, error["code"], error["message"]) == (409, refusal.code, "said")
    assert error["details"]["exit_code"] == exit_code
    assert error["details"].get("pointer") == getattr(refusal, "pointer", None)


async def test_a_reload_that_is_refused_says_why() -> None:
    answer = await asked(Node(NodeError("SETTING_INVALID", "said", Exit.UNREADABLE)), "POST", "/reload")
    assert (answer.status, answer.error()["code"]) == (409, "SETTING_INVALID")
    assert answer.error()["details"] == {"exit_code": 2}


async def test_findings_pass_through_whole() -> None:
    report = check(draft(format="x", does=""))
    answer = await asked(Node(PublishError.of(report)), "POST", "/publish", b"{}")
    findings = answer.error()["details"]["findings"]
    assert [finding["pointer"] for finding in findings] == [finding.pointer for finding in report.findings]
    assert set(findings[0]) == {"pointer", "rule", "section", "severity", "message", "remedy"}


@pytest.mark.parametrize(
    ("method", "target", "status"),
    [
        ("GET", "/publish", 405),
        ("GET", "/roster", 405),
        ("POST", "/status", 405),
        ("GET", "/", 404),
        ("GET", "/entryway", 404),
    ],
)
async def test_there_is_nothing_else(method: str, target: str, status: int) -> None:
    assert (await asked(Node(), method, target)).status == status


def test_the_largest_descriptor_that_a_setting_allows_fits() -> None:
    assert control_router(Node()).body_limit(Request()) == BODY_LIMIT > DECLARED["descriptor_bytes"].about.high


# The file.


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path / "h")
    home.create()
    yield home


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_the_socket_is_the_owners_alone_whatever_the_umask(home: Home, umask: int) -> None:
    before = os.umask(umask)
    try:
        with closing(control_listener(home)):
            assert stat.S_IMODE(home.socket.stat().st_mode) == 0o600
            assert os.umask(umask) == umask  # put back
    finally:
        os.umask(before)


def test_a_stale_socket_is_replaced(home: Home) -> None:
    control_listener(home).close()
    assert home.socket.is_socket()
    with closing(control_listener(home)), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(home.socket))


def made_file(path: Path) -> None:
    path.write_text("kept")


def made_directory(path: Path) -> None:
    path.mkdir()


def made_link(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.parametrize("make", [made_file, made_directory, made_link])
def test_what_is_no_socket_is_left_alone_and_named(home: Home, make: Any) -> None:
    make(home.socket)
    before = home.socket.lstat()
    with pytest.raises(NodeError) as caught:
        control_listener(home)
    assert caught.value.code == "HOME_UNUSABLE"
    assert str(home.socket) in caught.value.message
    assert "move it away" in caught.value.message
    assert home.socket.lstat().st_ino == before.st_ino
