"""A service on loopback: asked once, read up to a bound, and never followed anywhere else."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio

from entryway.work import Completed, Declined, Ending, Failed
from node.handlers.behind import Behind
from node.home import Home
from tests.node.handlers.parts import WAIT, files, handler, offering, order

ANY = offering(outputs=None)
FOCUSED = offering(outputs=None, scope="open-with-focus", focus="documents")


class Service:
    """Answers every request with the same bytes, and keeps what it was asked."""

    def __init__(self, answer: bytes, *, hangs: bool = False) -> None:
        self.answer = answer
        self.hangs = hangs
        self.asked: list[bytes] = []
        self.left = trio.Event()

    async def serve(self, stream: trio.SocketStream) -> None:
        data = b""
        async with stream:
            while b"\r\n\r\n" not in data or len(data.partition(b"\r\n\r\n")[2]) < _length(data):
                data += await stream.receive_some()
            self.asked.append(data)
            try:
                if self.hangs:
                    await stream.receive_some()
                else:
                    await stream.send_all(self.answer)
            except trio.BrokenResourceError:
                pass
        self.left.set()


def _length(data: bytes) -> int:
    return int(data.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])


def answer(body: bytes, status: str = "200 OK", *more: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *more, "", ""]
    return "\r\n".join(lines).encode() + body


@asynccontextmanager
async def running(service: Service) -> AsyncIterator[str]:
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, service.serve, listeners)
        yield f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}/job?x=1"
        nursery.cancel_scope.cancel()


async def ended(home: Home, service: Service, declared: object = ANY, **limits: object) -> Ending:
    async with running(service) as url, Behind(home, os.environ) as behind:
        with trio.fail_after(WAIT):
            return await behind.do(handler(http=url, **limits), declared, order(), "t-1", 5.0)  # type: ignore[arg-type]  # an Offering


async def test_the_job_is_posted_and_the_answer_is_the_output(home: Home) -> None:
    service = Service(answer(b'{"a":[1]}'))
    assert await ended(home, service) == Completed({"a": [1]})
    (asked,) = service.asked
    head, _, body = asked.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /job?x=1 HTTP/1.1\r\n")
    assert b"application/json" in head
    assert json.loads(body)["input"] == {"words": "one two"}


@pytest.mark.parametrize(
    "said",
    [
        answer(b"{}", "500 Internal Server Error"),
        answer(b"{}", "201 Created"),
        answer(b"{}", "422 Unprocessable Content"),
        answer(b'{"declined":"no"}', "422 Unprocessable Content"),  # an offering without a focus
        answer(b"{", "200 OK"),
        answer(b"", "200 OK"),
        answer(b'"' + b"x" * 2000 + b'"'),
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}",
        b"nonsense\r\n\r\n",
        b"",
    ],
)
async def test_anything_else_is_a_job_that_failed(home: Home, said: bytes) -> None:
    ending = await ended(home, Service(said), output_bytes=1000)
    assert isinstance(ending, Failed)
    assert ending.code == "HANDLER_FAILED"


async def test_it_declines_by_status(home: Home) -> None:
    service = Service(answer(b'{"declined":"That is no document."}', "422 Unprocessable Content"))
    assert await ended(home, service, FOCUSED) == Declined("That is no document.")
    # What frameworks say with this status of their own accord is no such answer.
    assert isinstance(await ended(home, Service(answer(b'{"detail":[]}', "422 X")), FOCUSED), Failed)


async def test_an_answer_without_end_is_left_at_the_bound(home: Home) -> None:
    service = Service(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b"x" * 50_000_000)
    assert isinstance(await ended(home, service, output_bytes=1000), Failed)


async def test_no_redirect_is_followed_and_no_proxy_used(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    other = Service(answer(b"1"))
    async with running(other) as url:
        first = Service(answer(b"2", "307 Temporary Redirect", f"Location: {url}"))
        assert isinstance(await ended(home, first), Failed)
    assert len(first.asked) == 1
    assert other.asked == []


async def test_nobody_there_is_a_job_that_failed(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    async with Behind(home, os.environ) as behind:
        ending = await behind.do(handler(http=f"http://127.0.0.1:{port}"), ANY, order(), "t-1", 5.0)
    assert isinstance(ending, Failed)


async def test_canceling_withdraws_the_question(home: Home) -> None:
    service = Service(b"", hangs=True)
    before = files()
    async with running(service) as url, Behind(home, os.environ) as behind:
        with trio.move_on_after(0.3) as waited:
            await behind.do(handler(http=url), ANY, order(), "t-1", 5.0)
        assert waited.cancelled_caught
        with trio.fail_after(WAIT):
            await service.left.wait()
    assert files() == before
