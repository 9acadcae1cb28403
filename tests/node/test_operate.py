"""Which way a command changes a node: over its socket while somebody answers there, on the store while nobody does."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from node.home import Home
from tests.node.parts import draft, told

pytestmark = pytest.mark.filterwarnings("ignore:.*unclosed <socket")  # httpcore forgets the one that broke

YES = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
NO = b"HTTP/1.1 409 Conflict\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"


def said(form: bytes, body: bytes) -> bytes:
    return form % (len(body), body)


@contextmanager
def answering(home: Home, *answers: bytes | None) -> Iterator[list[bytes]]:
    """Somebody at the control socket who gives these answers, one a request; None is silence, b"" hangs up."""
    asked: list[bytes] = []
    over = threading.Event()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(home.socket))
    listener.listen()

    def serve() -> None:
        left = list(answers)
        while left:
            channel, _ = listener.accept()
            with channel:
                while left and (request := channel.recv(65536)):
                    asked.append(request)
                    answer = left.pop(0)
                    if answer is None:
                        over.wait(30)
                    if not answer:
                        break
                    channel.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield asked
    finally:
        over.set()
        thread.join(30)
        listener.close()
        home.socket.unlink()


STATUS = said(YES, b"{}")


def publish(home: Home) -> tuple[int, str]:
    end = told("publish", "-", "--json", home=home, stdin=draft("3"))
    document = end.document()
    return end.exit_code, document["error"]["code"] if "error" in document else document["digest"]


def current(home: Home) -> str:
    return str(told("history", "--json", home=home).document()["versions"][0]["agent_version"])


def test_what_the_node_answers_is_the_answer(home: Home) -> None:
    body = b'{"digest": "sha256:by-the-node", "changed": true, "healed": false, "warnings": []}'
    with answering(home, STATUS, said(YES, body)) as asked:
        assert publish(home) == (0, "sha256:by-the-node")
    assert asked[1].startswith(b"POST /publish HTTP/1.1\r\n")
    assert current(home) == "2"  # the store is the node's


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"error": {"code": "OLDER_AGENT_VERSION", "message": "m", "details": {"exit_code": 1}}}', 1),
        (b'{"error": {"code": "NOT_JSON", "message": "m", "details": {"exit_code": 2}}}', 2),
        (b'{"error": {"code": "TOO_LARGE", "message": "m"}}', 1),
    ],
)
def test_what_the_node_refuses_keeps_its_code_and_exit_code(home: Home, body: bytes, expected: int) -> None:
    with answering(home, STATUS, said(NO, body)):
        exit_code, code = publish(home)
    assert exit_code == expected
    assert code.encode() in body


@pytest.mark.parametrize(
    "answer", [None, b"", b"nonsense\r\n\r\n", said(YES, b"{"), said(NO, b"{}"), said(NO, b'["error"]')]
)
def test_a_node_that_gives_no_answer_that_can_be_read_was_not_reached(
    home: Home, monkeypatch: pytest.MonkeyPatch, answer: bytes | None
) -> None:
    monkeypatch.setattr("node.operate.WAIT", 0.3)
    with answering(home, STATUS, answer):
        assert publish(home) == (3, "NODE_UNREACHED")
    assert current(home) == "2"


def test_a_node_that_listens_and_is_silent_was_not_reached(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("node.operate.WAIT", 0.3)
    with answering(home, None):
        assert publish(home) == (3, "NODE_UNREACHED")


def test_when_who_listened_hangs_up_the_store_is_written(home: Home) -> None:
    with answering(home, b""):
        assert publish(home)[0] == 0
    assert current(home) == "3"


def test_when_nobody_listens_the_store_is_written(home: Home) -> None:
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(home.socket))
    assert publish(home)[0] == 0
    assert current(home) == "3"


def test_a_home_that_is_busy_for_a_moment_is_waited_for(home: Home) -> None:
    with home.lock():
        done: list[tuple[int, str]] = []
        waiting = threading.Thread(target=lambda: done.append(publish(home)))
        waiting.start()
        waiting.join(0.5)
        assert not done
    waiting.join(30)
    assert done[0][0] == 0
