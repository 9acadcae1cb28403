"""The load generators: what is sent, what is read, and what is made of it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing, suppress
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.errors import BenchError
from bench.generator import answer_size, percentile, run
from bench.load import Question, lua_text, read_wrk, requests_for


@pytest.mark.parametrize(
    ("percent", "expected"), [(0, 1), (1, 1), (50, 50), (50.1, 51), (99, 99), (99.1, 100), (100, 100)]
)
def test_a_percentile_is_the_nearest_rank(percent: float, expected: int) -> None:
    assert percentile(range(1, 101), percent) == expected


def test_every_percentile_of_one_value_is_that_value() -> None:
    assert {percentile([7], percent) for percent in (0, 50, 99, 100)} == {7}


@pytest.mark.parametrize(
    ("head", "size"),
    [
        (b"", None),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", None),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", 43),
        (b"HTTP/1.1 200 OK\r\ncontent-length:5\r\nDate: x\r\n\r\nhel", 51),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 38),
    ],
)
def test_an_answer_is_as_long_as_its_headers_say(head: bytes, size: int | None) -> None:
    assert answer_size(head) == size


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\nContent-Length: 5",
    ],
)
def test_an_answer_that_cannot_be_counted_ends_the_run(head: bytes) -> None:
    with pytest.raises(BenchError):
        answer_size(head)


def test_wrk_reports_through_its_last_line() -> None:
    told = 'Running\n{"requests":100,"microseconds":2000000,"p50_us":40,"p99_us":90,"failed":0}\n'
    sample = read_wrk(told)
    assert (sample.requests, sample.seconds, sample.p50_us, sample.p99_us) == (100, 2.0, 40, 90)


@pytest.mark.parametrize(
    "told",
    [
        "",
        "unable to connect to 127.0.0.1:1 Connection refused",
        '{"requests":100,"microseconds":2000000,"p50_us":40,"p99_us":90,"failed":1}',
        '{"requests":0,"microseconds":2000000,"p50_us":0,"p99_us":0,"failed":0}',
    ],
)
def test_a_load_of_wrk_that_failed_is_no_measurement(told: str) -> None:
    with pytest.raises(BenchError):
        read_wrk(told)


@given(st.binary())
def test_any_bytes_can_be_written_in_lua(data: bytes) -> None:
    text = lua_text(data)
    assert text.isascii()
    assert bytes(int(number) for number in text.strip('"').split("\\")[1:]) == data


def test_a_question_becomes_whole_requests() -> None:
    assert requests_for("h", 1, Question(["/a", "/b"])) == [
        b"GET /a HTTP/1.1\r\nHost: h:1\r\n\r\n",
        b"GET /b HTTP/1.1\r\nHost: h:1\r\n\r\n",
    ]
    assert requests_for("h", 1, Question(["/e"], "POST", {"Content-Type": "x"}, b"\x00\xff")) == [
        b"POST /e HTTP/1.1\r\nHost: h:1\r\nContent-Type: x\r\nContent-Length: 2\r\n\r\n\x00\xff"
    ]


@pytest.fixture
def port() -> Iterator[int]:
    """A server that answers each request in two pieces."""
    listener = socket.create_server(("127.0.0.1", 0))

    def converse(sock: socket.socket) -> None:
        with closing(sock), suppress(ConnectionError):  # the load ends while it is answered
            while sock.recv(65536):
                sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Le")
                sock.sendall(b"ngth: 5\r\n\r\nhello")

    def serve() -> None:
        conversations = []
        for _ in range(2):
            conversations.append(Thread(target=converse, args=(listener.accept()[0],)))
            conversations[-1].start()
        for conversation in conversations:
            conversation.join()

    server = Thread(target=serve)
    server.start()
    yield listener.getsockname()[1]
    server.join(10)
    listener.close()


def test_the_bundled_generator_counts_whole_answers(port: int) -> None:
    sample = run("127.0.0.1", port, requests_for("127.0.0.1", port, Question(["/"])), 0.2, 2)
    assert sample.requests > 2
    assert 0.2 <= sample.seconds < 10
    assert 0 < sample.p50_us <= sample.p99_us
