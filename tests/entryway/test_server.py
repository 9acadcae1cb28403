"""Real sockets on loopback: every wait has its deadline, every connection its bound, whoever is at the other end."""

from __future__ import annotations

import errno
import socket
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs

from entryway import connection as connection_module
from entryway.codec import Codec, encode
from entryway.connection import BATCH
from entryway.envelope import request_envelope
from entryway.errors import EntrywayError
from entryway.http import Request, Response, Working, response
from entryway.protections import AddressLimits
from entryway.router import refusal
from entryway.server import Server
from tests.entryway.parts import (
    LIMITS,
    NOW,
    Received,
    document,
    door,
    http,
    listening,
    read_responses,
    read_to_end,
    serving,
    snapshot_of,
    talk,
)

DATA = document()
WELL_KNOWN = "/.well-known/agent-descriptor.json"
LARGE = bytes(range(256)) * (1 << 14)  # 4 MiB: more than the kernel holds between two sockets


class Application:
    """Answers by path: at once, late, never, or not at all."""

    def __init__(self) -> None:
        self.release = trio.Event()
        self.asked: list[bytes] = []
        self.left = 0

    def body_limit(self, _request: Request) -> int:
        return 65_536

    def refuse(self, error: EntrywayError, request: Request | None) -> Response:
        return refusal(error, request)

    def respond(self, request: Request) -> Response | Awaitable[Response | Working]:
        self.asked.append(request.path)
        match request.path:
            case b"/large":
                return response(200, (), LARGE)
            case b"/late":
                return self._late()
            case b"/work":
                return self._work(self._late)
            case b"/faulty-work":
                return self._work(self._faulty)
            case b"/faulty":
                raise RuntimeError("a fault of ours")
            case b"/faulty-later":
                return self._faulty()
        return response(200, (), request.body or request.path)

    async def _late(self) -> Response:
        await self.release.wait()
        return response(200, (), b"late")

    async def _work(self, response: Callable[[], Awaitable[Response]]) -> Working:
        await trio.lowlevel.checkpoint()
        return Working(response, self._leave)

    async def _leave(self) -> None:
        await trio.lowlevel.checkpoint()
        self.left += 1

    async def _faulty(self) -> Response:
        await trio.lowlevel.checkpoint()
        raise OSError("a fault of ours")


def only(data: bytes) -> Received:
    (one,) = read_responses(data)
    return one


def address_limits(rate: float = 1_000.0, burst: float = 1_000.0, connections: int = 100) -> AddressLimits:
    return AddressLimits(rate, burst, connections, limit_loopback=True)


async def connect(port: int, *, receive: int | None = None) -> trio.SocketStream:
    sock = trio.socket.socket()
    if receive is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    await sock.connect(("127.0.0.1", port))
    return trio.SocketStream(sock)


async def read_some(stream: trio.SocketStream, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = await stream.receive_some()
        assert piece, f"closed after {data!r}"
        data += piece
    return data


async def settle(condition: Any) -> None:
    """Waits until something becomes true; the test's own deadline ends it."""
    with trio.fail_after(3):
        while not condition():
            await trio.sleep(0.005)


# The whole way, with the routes behind it.


async def test_the_well_known_route_over_a_socket() -> None:
    async with serving(door(snapshot_of(DATA)).router) as (_, port):
        got = only(await talk(port, http("GET", WELL_KNOWN, Connection="close")))
    assert (got.status, got.body) == (200, DATA)
    assert got.headers["connection"] == "close"
    assert got.headers["date"].endswith(" GMT")


@pytest.mark.parametrize("codec", Codec)
async def test_exchange_2_over_a_socket_byte_by_byte(codec: Codec) -> None:
    body = encode(request_envelope({"exchange": 2}, NOW), codec)
    data = http("POST", "/entryway", body, Content_Type=codec.value, Connection="close")
    async with serving(door(snapshot_of(DATA)).router) as (_, port):
        got = only(await talk(port, *(data[at : at + 1] for at in range(len(data)))))
    assert got.status == 200
    assert got.headers["content-type"] == codec.value


async def test_a_connection_is_kept_for_the_next_request() -> None:
    async with serving(Application()) as (server, port), await connect(port) as stream:
        for target in ("/a", "/b", "/c"):
            await stream.send_all(http("GET", target))
            assert only(await stream.receive_some()).body == target.encode()
        assert len(server.connections) == 1


async def test_a_request_that_asks_for_it_closes_the_connection() -> None:
    for data in (http("GET", "/a", Connection="close"), b"GET /a HTTP/1.0\r\n\r\n"):
        async with serving(Application()) as (_, port):
            assert only(await talk(port, data, http("GET", "/b"))).headers["connection"] == "close"


async def test_an_answer_to_head_has_no_body_and_the_next_answer_follows_at_once() -> None:
    async with serving(Application()) as (_, port):
        data = await talk(port, http("HEAD", "/abc") + http("GET", "/d", Connection="close"))
    first, second = read_responses(data, [True, False])
    assert (first.headers["content-length"], first.body) == ("4", b"")
    assert second.body == b"/d"


async def test_a_thousand_pipelined_requests_are_answered_in_order() -> None:
    targets = [f"/{number}" for number in range(1_000)]
    requests = b"".join(http("GET", target) for target in targets[:-1]) + http("GET", targets[-1], Connection="close")
    async with serving(Application()) as (_, port), await connect(port) as stream, trio.open_nursery() as nursery:
        nursery.start_soon(stream.send_all, requests)
        answers = read_responses(await read_to_end(stream))
    assert [answer.body.decode() for answer in answers] == targets


async def test_large_and_small_answers_keep_their_order_and_their_bytes() -> None:
    assert len(LARGE) > BATCH
    requests = [http("GET", "/a"), http("GET", "/large"), http("GET", "/b"), http("HEAD", "/large")]
    async with serving(Application()) as (_, port), await connect(port) as stream:
        await stream.send_all(b"".join([*requests, http("GET", "/c", Connection="close")]))
        answers = read_responses(await read_to_end(stream), [False, False, False, True, False])
    assert [answer.body for answer in answers] == [b"/a", LARGE, b"/b", b"", b"/c"]


async def test_an_answer_that_takes_time_holds_up_its_own_connection_only() -> None:
    application = Application()
    async with serving(application) as (_, port), await connect(port) as slow:
        await slow.send_all(http("GET", "/late") + http("GET", "/next", Connection="close"))
        await settle(lambda: application.asked == [b"/late"])
        assert only(await talk(port, http("GET", "/other", Connection="close"))).body == b"/other"
        application.release.set()
        assert [answer.body for answer in read_responses(await read_to_end(slow))] == [b"late", b"/next"]


# Continue.


async def test_a_client_that_waits_for_it_is_told_to_continue_once() -> None:
    async with serving(Application()) as (_, port), await connect(port) as stream:
        await stream.send_all(http("POST", "/a", None, Content_Length="3", Expect="100-continue", Connection="close"))
        assert await stream.receive_some() == b"HTTP/1.1 100 Continue\r\n\r\n"
        await stream.send_all(b"abc")
        assert only(await read_to_end(stream)).body == b"abc"


async def test_a_chunked_body_in_pieces_is_told_to_continue_once() -> None:
    question = http("POST", "/a", Transfer_Encoding="chunked", Expect="100-continue", Connection="close")
    async with serving(Application()) as (_, port):
        pieces = (question, b"3", b"\r\n", b"abc\r\n", b"0\r\n\r\n")
        data = await talk(port, *pieces, pause=0.01)
    assert data.count(b"100 Continue") == 1
    assert data.endswith(b"abc")


async def test_a_body_that_would_be_refused_is_not_asked_for() -> None:
    async with serving(Application()) as (_, port):
        got = only(await talk(port, http("POST", "/a", None, Content_Length="65537", Expect="100-continue")))
    assert (got.status, got.error()["code"]) == (413, "TOO_LARGE")


# What cannot be read.


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET /a HTTP/1.1\r\n\r\n", 400),
        (b"GET /a HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
        (b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (b"GET /a\r\n\r\n", 505),
        (b"\x16\x03\x01\x00\xc8", 400),
        (b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 431),
        (b"GET /a HTTP/1.1\r\nHost: x\r\nA: " + b"b" * 500_000, 431),
        (http("POST", "/a", b"a" * 65_537), 413),
        (http("POST", "/a", b"a" * 900_000), 413),
    ],
)
async def test_what_cannot_be_read_is_answered_and_closed(data: bytes, status: int) -> None:
    async with serving(Application()) as (_, port), await connect(port) as stream:
        await stream.send_all(http("GET", "/sound") + data)
        sound, refused = read_responses(await read_to_end(stream))
    assert (sound.status, sound.body) == (200, b"/sound")
    assert refused.status == status
    assert refused.headers["connection"] == "close"
    assert refused.error()["code"]


async def test_nothing_behind_what_cannot_be_read_is_answered() -> None:
    application = Application()
    async with serving(application) as (_, port):
        await talk(port, b"GET /a HTTP/1.1\r\n\r\n" + http("GET", "/smuggled"), http("GET", "/later"))
    assert application.asked == []


async def test_an_upgrade_is_answered_as_if_it_had_not_been_asked_and_closed() -> None:
    question = http("GET", "/a", Connection="Upgrade", Upgrade="websocket", Sec_WebSocket_Version="13")
    async with serving(Application()) as (_, port):
        got = only(await talk(port, question + http("GET", "/b")))
    assert (got.status, got.body, got.headers["connection"]) == (200, b"/a", "close")


# Deadlines.


@pytest.mark.parametrize(
    ("sent", "pause"),
    [
        ([b"GET /a HTT"], 0.0),
        ([b"GET /a HTTP/1.1\r\n", *(b"A%d: b\r\n" % number for number in range(40))], 0.01),
    ],
)
async def test_headers_that_come_too_slowly_are_cut(sent: list[bytes], pause: float) -> None:
    async with serving(Application(), header_wait=0.2) as (_, port), await connect(port) as stream:
        started = trio.current_time()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(dribble, stream, sent, pause)
            got = only(await read_to_end(stream))
        assert 0.1 < trio.current_time() - started < 1.5
    assert (got.status, got.error()["code"]) == (408, "REQUEST_TIMEOUT")


async def dribble(stream: trio.SocketStream, pieces: list[bytes], pause: float) -> None:
    try:
        for piece in pieces:
            await stream.send_all(piece)
            await trio.sleep(pause)
    except trio.BrokenResourceError:
        return


@pytest.mark.parametrize("pieces", [0, 40])
async def test_a_body_that_comes_too_slowly_is_cut(pieces: int) -> None:
    async with serving(Application(), body_wait=0.2) as (_, port), await connect(port) as stream:
        await stream.send_all(http("POST", "/a", None, Content_Length="1000"))
        started = trio.current_time()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(dribble, stream, [b"a"] * pieces, 0.01)
            got = only(await read_to_end(stream))
        assert 0.1 < trio.current_time() - started < 1.5
    assert (got.status, got.error()["code"]) == (408, "REQUEST_TIMEOUT")


async def test_a_connection_that_says_nothing_is_closed_without_a_word() -> None:
    async with serving(Application(), header_wait=0.1) as (_, port):
        assert await talk(port) == b""


async def test_an_idle_connection_is_closed_without_a_word() -> None:
    async with serving(Application(), idle_wait=0.1) as (server, port), await connect(port) as stream:
        await stream.send_all(http("GET", "/a"))
        assert len(read_responses(await read_to_end(stream))) == 1
        await settle(lambda: not server.connections)


async def test_line_breaks_do_not_keep_an_idle_connection_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "COARSE", 0.02)
    async with serving(Application(), idle_wait=0.3) as (_, port), await connect(port) as stream:
        await stream.send_all(http("GET", "/a"))
        started = trio.current_time()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(dribble, stream, [b"\r\n"] * 100, 0.05)
            with suppress(trio.BrokenResourceError):  # closed over a line break that nobody read
                await read_to_end(stream)
            took = trio.current_time() - started
            nursery.cancel_scope.cancel()
    assert took < 2.0


async def test_each_answer_begins_a_new_idle_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "COARSE", 0.02)
    async with serving(Application(), idle_wait=0.6) as (_, port), await connect(port) as stream:
        for _ in range(4):
            await stream.send_all(http("GET", "/a"))
            assert only(await stream.receive_some()).status == 200
            await trio.sleep(0.2)


async def test_the_last_answer_arrives_while_the_peer_goes_on_sending() -> None:
    async with serving(Application(), body_wait=0.05) as (_, port):
        for question in (http("POST", "/a", None, Content_Length="1000"), b"GET /a HTTP/1.1\r\n\r\n"):
            async with await connect(port) as stream:
                await stream.send_all(question)
                await dribble(stream, [b"a"] * 15, 0.01)
                assert only(await read_to_end(stream)).status in (400, 408)


async def test_a_late_answer_does_not_shorten_the_idle_wait_after_it() -> None:
    application = Application()
    application.release.set()
    async with serving(application, write_wait=0.1, idle_wait=5.0) as (_, port), await connect(port) as stream:
        for target in ("/a", "/late", "/b"):
            await stream.send_all(http("GET", target))
            assert only(await stream.receive_some()).status == 200
            await trio.sleep(0.15)


async def test_a_reader_that_does_not_read_is_cut() -> None:
    async with serving(Application(), write_wait=0.2) as (server, port), await connect(port, receive=4096) as stream:
        await stream.send_all(http("GET", "/large"))
        await settle(lambda: len(server.connections) == 1)
        await settle(lambda: not server.connections)


async def test_a_reader_that_is_cut_finds_nothing_foreign_in_the_body() -> None:
    """The next request is half there when the write ends: no 408 may be written into the answer."""
    data = bytearray()
    async with serving(Application(), write_wait=0.3) as (server, port), await connect(port, receive=4096) as stream:
        await stream.send_all(http("GET", "/large") + b"GET /next HTT")
        await settle(lambda: len(server.connections) == 1)
        await settle(lambda: not server.connections)
        with suppress(trio.BrokenResourceError):
            async for piece in stream:
                data += piece
    body = bytes(data).partition(b"\r\n\r\n")[2]
    assert body == LARGE[: len(body)]
    assert len(body) < len(LARGE)


async def test_an_answer_that_never_comes_is_given_up() -> None:
    async with serving(Application(), write_wait=0.1) as (_, port):
        assert await talk(port, http("GET", "/late")) == b""


async def test_a_peer_that_goes_away_in_the_middle_leaves_nothing_behind() -> None:
    limits = address_limits()
    async with serving(Application(), limits) as (server, port):
        for sent in (b"", b"GET /", http("POST", "/a", None, Content_Length="5") + b"ab", http("GET", "/large")):
            stream = await connect(port)
            await stream.send_all(sent)
            await settle(lambda: len(server.connections) == 1)
            reset(stream)
            await settle(lambda: not server.connections)
    assert not limits._open


# Work that is waited for.


async def test_work_takes_longer_than_any_wait_of_the_connection() -> None:
    application = Application()
    waits = {"header_wait": 0.1, "body_wait": 0.1, "idle_wait": 0.1, "write_wait": 0.1}
    async with serving(application, **waits) as (server, port), await connect(port) as stream:
        await stream.send_all(http("POST", "/work", b"{}"))
        await trio.sleep(0.5)
        assert len(server.connections) == 1
        application.release.set()
        assert only(await stream.receive_some()).body == b"late"
        # From then on its waits are those of any connection.
        assert await read_to_end(stream) == b""
    assert application.left == 0


async def test_the_conversation_goes_on_behind_work() -> None:
    application = Application()
    async with serving(application) as (_, port), await connect(port) as stream:
        await stream.send_all(http("POST", "/work", b"{}") + http("GET", "/next"))
        await stream.send_all(http("GET", "/last", Connection="close"))
        await settle(lambda: application.asked == [b"/work"])
        application.release.set()
        answers = read_responses(await read_to_end(stream))
    assert [answer.body for answer in answers] == [b"late", b"/next", b"/last"]
    assert application.left == 0


async def test_what_was_answered_before_does_not_wait_for_work() -> None:
    application = Application()
    async with serving(application) as (_, port), await connect(port) as stream:
        await stream.send_all(http("GET", "/first") + http("GET", "/work", Connection="close"))
        assert only(await stream.receive_some()).body == b"/first"
        application.release.set()
        assert only(await read_to_end(stream)).body == b"late"


async def test_work_is_left_when_what_was_answered_before_cannot_be_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(_sock: socket.socket, _data: bytes) -> int:
        raise ConnectionResetError

    application = Application()
    async with serving(application) as (server, port), await connect(port) as stream:
        monkeypatch.setattr(connection_module, "send_now", gone)
        with capture_logs() as logs:
            await stream.send_all(http("GET", "/first") + http("GET", "/work"))
            await settle(lambda: application.left == 1)
            await settle(lambda: not server.connections)
    assert logs == []


@pytest.mark.parametrize("how", ["closes", "resets", "says that it sends no more"])
async def test_work_is_left_when_the_peer_goes_away(how: str) -> None:
    application, limits = Application(), address_limits()
    async with serving(application, limits) as (server, port):
        stream = await connect(port)
        await stream.send_all(http("POST", "/work", b"{}"))
        await settle(lambda: application.asked == [b"/work"])
        assert len(server.connections) == 1
        if how == "resets":
            reset(stream)
        elif how == "closes":
            stream.socket.close()
        else:
            await stream.send_eof()
        await settle(lambda: not server.connections)
        stream.socket.close()
    assert application.left == 1
    assert not limits._open


async def test_work_that_fails_is_500_and_the_conversation_goes_on() -> None:
    async with serving(Application()) as (_, port):
        with capture_logs() as logs:
            data = await talk(port, http("GET", "/faulty-work") + http("GET", "/next", Connection="close"))
    assert [answer.status for answer in read_responses(data)] == [500, 200]
    assert [line["event"] for line in logs] == ["answer_failed"]


async def test_a_drain_ends_work_that_is_waited_for_and_is_not_the_peer_leaving() -> None:
    application = Application()
    async with serving(application, drain_wait=0.2) as (server, port), await connect(port) as stream:
        await stream.send_all(http("POST", "/work", b"{}"))
        await settle(lambda: application.asked == [b"/work"])
        server.stopping.set()
        assert await read_to_end(stream) == b""
    assert application.left == 0
    assert not server.connections


def reset(stream: trio.SocketStream) -> None:
    """Closes with a RST."""
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    stream.socket.close()


# Bounds.


async def test_an_address_has_as_many_connections_as_it_may() -> None:
    async with serving(Application(), address_limits(connections=2)) as (server, port):
        async with await connect(port), await connect(port):
            await settle(lambda: len(server.connections) == 2)
            got = only(await talk(port))
            assert got.status == 429
            assert got.headers["retry-after"] == "1"
            assert got.error()["code"] == "RATE_LIMITED"
            assert server.refused_connections == 1
        await settle(lambda: not server.connections)
        assert only(await talk(port, http("GET", "/a", Connection="close"))).status == 200


async def test_the_server_has_as_many_connections_as_it_takes() -> None:
    async with serving(Application(), connections=1) as (server, port), await connect(port):
        await settle(lambda: len(server.connections) == 1)
        got = only(await talk(port))
        assert (got.status, got.headers["connection"]) == (429, "close")


async def test_a_peer_that_is_gone_before_it_is_turned_away_ends_nothing() -> None:
    listener = listening()
    gone = [socket.create_connection(listener.getsockname()) for _ in range(20)]
    for sock in gone:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
    async with serving(Application(), listener=listener, connections=0) as (server, port):
        await settle(lambda: server.refused_connections == 20)
        assert only(await talk(port)).status == 429


async def test_who_asks_too_fast_is_told_when_to_come_back() -> None:
    requests = http("GET", "/a") * 5 + http("GET", "/b", Connection="close")
    async with serving(Application(), address_limits(rate=0.5, burst=3)) as (_, port):
        answers = read_responses(await talk(port, requests))
    assert [answer.status for answer in answers] == [200, 200, 200, 429, 429, 429]
    assert answers[3].headers["retry-after"] == "2"
    assert answers[3].error()["code"] == "RATE_LIMITED"
    assert "connection" not in answers[3].headers


async def test_connections_of_an_address_share_its_rate() -> None:
    async with serving(Application(), address_limits(rate=0.01, burst=2)) as (_, port):
        statuses = [only(await talk(port, http("GET", "/a", Connection="close"))).status for _ in range(3)]
    assert statuses == [200, 200, 429]


async def test_loopback_is_not_bound_unless_it_is_asked_for() -> None:
    unbound = AddressLimits(0.01, 1.0, 1, limit_loopback=False)
    async with serving(Application(), unbound) as (_, port), await connect(port):
        answers = read_responses(await talk(port, http("GET", "/a") * 5 + http("GET", "/b", Connection="close")))
    assert [answer.status for answer in answers] == [200] * 6


async def test_a_flood_of_requests_leaves_room_for_others() -> None:
    async with serving(Application()) as (_, port), await connect(port) as flood, trio.open_nursery() as nursery:

        async def pour() -> None:
            while True:
                await flood.send_all(http("GET", "/a") * 500)

        async def drain() -> None:
            async for _ in flood:
                pass

        nursery.start_soon(pour)
        nursery.start_soon(drain)
        for _ in range(3):
            with trio.fail_after(3):
                assert only(await talk(port, http("GET", "/b", Connection="close"))).body == b"/b"
        nursery.cancel_scope.cancel()


# Faults of ours.


@pytest.mark.parametrize("target", ["/faulty", "/faulty-later"])
async def test_an_answer_that_fails_is_500_and_the_conversation_goes_on(target: str) -> None:
    requests = http("GET", "/a") + http("GET", target) + http("GET", "/b", Connection="close")
    with capture_logs() as logs:
        async with serving(Application()) as (_, port):
            answers = read_responses(await talk(port, requests))
    assert [answer.status for answer in answers] == [200, 500, 200]
    assert answers[1].error() == {
        "code": "INTERNAL",
        "message": "This node could not answer, and has logged why. Tell its operator.",
        "retryable": True,
    }
    assert b"fault of ours" not in answers[1].body
    assert [(log["event"], log["path"]) for log in logs] == [("answer_failed", target)]


class Exhausted(socket.socket):
    """A listener whose first accepts fail, as they do when the process has no file left."""

    failures: list[int]

    def accept(self) -> tuple[socket.socket, Any]:
        if self.failures:
            raise OSError(self.failures.pop(), "no file left")
        return super().accept()


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENETDOWN, errno.EPERM])
async def test_an_accept_that_fails_is_logged_and_tried_again(number: int) -> None:
    listener = listening(Exhausted)
    assert isinstance(listener, Exhausted)
    listener.failures = [number, number]
    with capture_logs() as logs:
        async with serving(Application(), listener=listener) as (_, port):
            assert only(await talk(port, http("GET", "/a", Connection="close"))).status == 200
    assert [log["event"] for log in logs] == ["connections_not_accepted"]


async def test_an_accept_that_is_interrupted_is_tried_again() -> None:
    listener = listening(Exhausted)
    assert isinstance(listener, Exhausted)
    listener.failures = [errno.ECONNABORTED, errno.EAGAIN]
    async with serving(Application(), listener=listener) as (_, port):
        assert only(await talk(port, http("GET", "/a", Connection="close"))).status == 200


# Stopping.


async def test_a_drain_finishes_the_answer_under_way_and_closes_the_idle() -> None:
    application = Application()
    async with serving(application, drain_wait=3.0) as (server, port), await connect(port) as idle:
        await idle.send_all(http("GET", "/a"))
        assert only(await idle.receive_some()).status == 200
        async with await connect(port) as busy, await connect(port) as half:
            await busy.send_all(http("GET", "/late") + http("GET", "/too-late"))
            await half.send_all(b"GET /half HTTP/1.1\r\n")
            await settle(lambda: application.asked == [b"/a", b"/late"])
            await settle(lambda: any(one._within_request for one in server.connections))
            server.stopping.set()
            assert await read_to_end(idle) == b""
            for piece in (b"Host", b": x\r\n", b"\r\n"):
                await half.send_all(piece)
                await trio.sleep(0.01)
            assert only(await read_to_end(half)).headers["connection"] == "close"
            application.release.set()
            got = only(await read_to_end(busy))
            assert (got.body, got.headers["connection"]) == (b"late", "close")


async def test_a_drain_ends_in_its_time() -> None:
    started = trio.current_time()
    async with serving(Application(), drain_wait=0.2) as (server, port), await connect(port) as stuck:
        await stuck.send_all(http("GET", "/late"))
        async with await connect(port) as slow:
            await slow.send_all(b"GET /")
            await settle(lambda: len(server.connections) == 2)
            server.stopping.set()
            assert await read_to_end(stuck) == b""
    assert trio.current_time() - started < 2.0
    assert not server.connections


async def test_after_a_stop_nothing_more_is_accepted() -> None:
    listener = listening()
    port = listener.getsockname()[1]
    async with serving(Application(), listener=listener):
        pass
    with pytest.raises(OSError, match="connect"):
        await talk(port)


async def test_a_server_serves_on_several_listeners() -> None:
    with listening() as first, listening() as second:
        server = Server(Application(), LIMITS)
        async with trio.open_nursery() as nursery:
            await nursery.start(server.serve, [first, second])
            for listener in (first, second):
                got = only(await talk(listener.getsockname()[1], http("GET", "/a", Connection="close")))
                assert got.status == 200
            server.stopping.set()


async def test_a_local_socket_is_served_too(tmp_path: Any) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "control.sock"))
    listener.listen()
    async with serving(Application(), address_limits(connections=0), listener=listener):
        stream = await trio.open_unix_socket(tmp_path / "control.sock")
        async with stream:
            await stream.send_all(http("GET", "/a", Connection="close"))
            assert only(await read_to_end(stream)).body == b"/a"


def test_nothing_of_a_request_is_logged_when_all_is_well() -> None:
    with capture_logs() as logs:
        trio.run(_one_request)
    assert logs == []


async def _one_request() -> None:
    async with serving(Application()) as (_, port):
        assert only(await talk(port, http("GET", "/a", Connection="close"))).status == 200


async def test_from_the_moment_of_the_stop_nobody_is_let_in() -> None:
    application = Application()
    async with serving(application) as (server, port), await trio.open_tcp_stream("127.0.0.1", port) as stream:
        await stream.send_all(http("GET", "/late"))
        while not application.asked:
            await trio.sleep(0.01)
        server.stopping.set()
        await trio.testing.wait_all_tasks_blocked(0.05)
        with pytest.raises(OSError, match="all attempts to connect"):
            await trio.open_tcp_stream("127.0.0.1", port)
        application.release.set()
        assert read_responses(await read_to_end(stream))[0].status == 200
