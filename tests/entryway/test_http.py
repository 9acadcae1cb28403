"""Bytes to requests: one framing, every limit at its edge, and the same reading however the bytes are cut."""

from __future__ import annotations

from itertools import pairwise

import httptools
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entryway.http import Request, RequestParser, header_text, json_body, response

HEADERS = 16_384
BODY = 65_536
STEPS = (0, 1, 7)  # bytes fed at a time; 0 for all at once


def read(data: bytes, step: int = 0, *, headers: int = HEADERS, body: int = BODY) -> tuple[list[Request], str | None]:
    """The requests in `data`, fed whole or `step` bytes at a time, and the code of what is wrong with it."""
    parser = RequestParser(headers, lambda _request: body)
    requests = []
    for at in range(0, len(data), step or len(data)):
        parser.feed(data[at : at + (step or len(data))])
        requests += parser.take()
    return requests, None if parser.error is None else parser.error.code


def seen(requests: list[Request]) -> list[tuple[bytes, bytes, bytes, bool]]:
    return [(request.method, request.target, request.body, request.keep_alive) for request in requests]


def get(target: str = "/a", *lines: str) -> bytes:
    return "\r\n".join([f"GET {target} HTTP/1.1", "Host: x", *lines, "", ""]).encode("latin-1")


def post(*lines: str, version: str = "1.1") -> str:
    return "\r\n".join([f"POST /a HTTP/{version}", "Host: x", *lines, "", ""])


SMUGGLING = {
    "two lengths": post("Content-Length: 1", "Content-Length: 2") + "ab",
    "two equal lengths": post("Content-Length: 1", "Content-Length: 1") + "a",
    "a list of lengths": post("Content-Length: 1, 1") + "a",
    "a length, then chunks": post("Content-Length: 5", "Transfer-Encoding: chunked") + "0\r\n\r\n",
    "chunks, then a length": post("Transfer-Encoding: chunked", "Content-Length: 5") + "0\r\n\r\n",
    "a length with a sign": post("Content-Length: +1") + "a",
    "a negative length": post("Content-Length: -1") + "a",
    "a length in hex": post("Content-Length: 0x1") + "a",
    "a length with a space in it": post("Content-Length: 1 1") + "a",
    "an empty length": post("Content-Length:") + "a",
    "a length beyond 64 bits": post("Content-Length: 99999999999999999999999") + "a",
    "a bare line feed after the request line": "GET /a HTTP/1.1\nHost: x\r\n\r\n",
    "a bare line feed after a header": "GET /a HTTP/1.1\r\nHost: x\nA: b\r\n\r\n",
    "a bare line feed at the end": "GET /a HTTP/1.1\r\nHost: x\r\n\n",
    "a bare carriage return in a header": "GET /a HTTP/1.1\r\nHost: x\rA: b\r\n\r\n",
    "a bare carriage return at the end": "GET /a HTTP/1.1\r\nHost: x\r\n\rGET /b HTTP/1.1\r\nHost: x\r\n\r\n",
    "a folded header": "GET /a HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n",
    "a folded length": "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n 5\r\n\r\nabcde",
    "a space before the first header": "GET /a HTTP/1.1\r\n Host: x\r\n\r\n",
    "a space before the colon": "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length : 1\r\n\r\na",
    "no colon": "GET /a HTTP/1.1\r\nHost: x\r\nnothing\r\n\r\n",
    "no name": "GET /a HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n",
    "two hosts": "GET /a HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
    "no host": "GET /a HTTP/1.1\r\nA: b\r\n\r\n",
    "two content types": post("Content-Type: a/b", "Content-Type: a/c"),
    "chunks under 1.0": post("Transfer-Encoding: chunked", version="1.0") + "0\r\n\r\n",
    "another coding before chunks": post("Transfer-Encoding: gzip, chunked") + "0\r\n\r\n",
    "another coding on a line before chunks": post("Transfer-Encoding: gzip", "Transfer-Encoding: chunked"),
    "another coding after chunks": post("Transfer-Encoding: chunked, gzip") + "0\r\n\r\n",
    "chunks twice": post("Transfer-Encoding: chunked", "Transfer-Encoding: chunked") + "0\r\n\r\n",
    "a coding nearly named chunked": post("Transfer-Encoding: xchunked") + "0\r\n\r\n",
    "chunked behind a vertical tab": post("Transfer-Encoding: \x0bchunked") + "0\r\n\r\n",
    "an empty coding": post("Transfer-Encoding:") + "0\r\n\r\n",
    "a bare line feed after a chunk size": post("Transfer-Encoding: chunked") + "3\nabc\r\n0\r\n\r\n",
    "a bare line feed after a chunk": post("Transfer-Encoding: chunked") + "3\r\nabc\n0\r\n\r\n",
    "a bare line feed in a chunk extension": post("Transfer-Encoding: chunked") + "3;a\nb\r\nabc\r\n0\r\n\r\n",
    "a negative chunk": post("Transfer-Encoding: chunked") + "-3\r\nabc\r\n0\r\n\r\n",
    "a chunk size with 0x": post("Transfer-Encoding: chunked") + "0x3\r\nabc\r\n0\r\n\r\n",
    "a chunk size with a space": post("Transfer-Encoding: chunked") + "3 \r\nabc\r\n0\r\n\r\n",
    "a chunk beyond 64 bits": post("Transfer-Encoding: chunked") + "fffffffffffffffff\r\nabc\r\n0\r\n\r\n",
    "a chunk longer than it says": post("Transfer-Encoding: chunked") + "3\r\nabcd\r\n0\r\n\r\n",
    "a length in a trailer": post("Transfer-Encoding: chunked") + "0\r\nContent-Length: 5\r\n\r\n",
    "a NUL in the target": "GET /a\0b HTTP/1.1\r\nHost: x\r\n\r\n",
    "a NUL in a name": "GET /a HTTP/1.1\r\nHost: x\r\nA\0: b\r\n\r\n",
    "a NUL in a value": "GET /a HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n",
    "a space in the target": "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n",
    "a byte beyond ASCII in the target": "GET /\xe4 HTTP/1.1\r\nHost: x\r\n\r\n",
    "a method that is none": "FOO /a HTTP/1.1\r\nHost: x\r\n\r\n",
    "a method in small letters": "get /a HTTP/1.1\r\nHost: x\r\n\r\n",
    "a body behind an upgrade": post("Connection: upgrade", "Upgrade: h2c", "Content-Length: 1") + "a",
    "a body behind CONNECT": "CONNECT x:1 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na",
    "the preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a TLS handshake": "\x16\x03\x01\0\xc8\x01\0\0\xc4\x03\x03",
}


@pytest.mark.parametrize("data", SMUGGLING.values(), ids=SMUGGLING)
def test_what_can_be_framed_in_two_ways_is_refused(data: str) -> None:
    for step in STEPS:
        assert read(data.encode("latin-1"), step) == ([], "BAD_REQUEST")


@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize("line", ["GET /a", "GET /a HTTP/0.9", "GET /a HTTP/2.0"])
def test_other_versions_are_refused_as_such(line: str, step: int) -> None:
    assert read(f"{line}\r\nHost: x\r\n\r\n".encode(), step) == ([], "VERSION_NOT_SUPPORTED")


@pytest.mark.parametrize("step", [0, 1])
def test_nothing_is_read_behind_what_was_refused(step: int) -> None:
    requests, code = read(get("/first") + SMUGGLING["two lengths"].encode() + get("/smuggled"), step)
    assert [request.target for request in requests] == [b"/first"]
    assert code == "BAD_REQUEST"


CHUNKED = post("Transfer-Encoding: chunked")

TAKEN = {
    "a plain request": (get(), [(b"GET", b"/a", b"", True)]),
    "a body by length": (post("Content-Length: 3").encode() + b"abc", [(b"POST", b"/a", b"abc", True)]),
    "a length with a leading zero": (post("Content-Length: 03").encode() + b"abc", [(b"POST", b"/a", b"abc", True)]),
    "an empty body": (post("Content-Length: 0").encode(), [(b"POST", b"/a", b"", True)]),
    "no body": (post().encode(), [(b"POST", b"/a", b"", True)]),
    "chunks": (f"{CHUNKED}3\r\nabc\r\n2;name=value\r\nde\r\n0\r\n\r\n".encode(), [(b"POST", b"/a", b"abcde", True)]),
    "chunks in capitals": (
        (post("transfer-encoding: CHUNKED") + "A\r\n0123456789\r\n0\r\n\r\n").encode(),
        [(b"POST", b"/a", b"0123456789", True)],
    ),
    "a body beside GET": (get("/a", "Content-Length: 3") + b"abc", [(b"GET", b"/a", b"abc", True)]),
    "line breaks before a request": (b"\r\n\r\n" + get(), [(b"GET", b"/a", b"", True)]),
    "the connection closed": (get("/a", "Connection: close"), [(b"GET", b"/a", b"", False)]),
    "1.0": (b"GET /a HTTP/1.0\r\n\r\n", [(b"GET", b"/a", b"", False)]),
    "1.0 kept alive": (b"GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", [(b"GET", b"/a", b"", False)]),
    "an absolute target": (get("http://x/a?b"), [(b"GET", b"http://x/a?b", b"", True)]),
    "a bare asterisk": (b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", [(b"OPTIONS", b"*", b"", True)]),
    "an upgrade": (get("/a", "Connection: Upgrade", "Upgrade: h2c") + get("/b"), [(b"GET", b"/a", b"", False)]),
    "CONNECT": (b"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n" + get("/b"), [(b"CONNECT", b"x:1", b"", False)]),
    "pipelined": (get("/a") * 3 + get("/b"), [(b"GET", b"/a", b"", True)] * 3 + [(b"GET", b"/b", b"", True)]),
    "pipelined bodies": (
        f"{CHUNKED}1\r\na\r\n0\r\n\r\n{post('Content-Length: 1')}b{CHUNKED}1\r\nc\r\n0\r\n\r\n".encode(),
        [(b"POST", b"/a", b"a", True), (b"POST", b"/a", b"b", True), (b"POST", b"/a", b"c", True)],
    ),
}


@pytest.mark.parametrize(("data", "expected"), TAKEN.values(), ids=TAKEN)
def test_what_is_sound_is_read_whole(data: bytes, expected: list[object]) -> None:
    for step in STEPS:
        requests, code = read(data, step)
        assert seen(requests) == expected
        assert code is None


def test_trailers_change_nothing_the_headers_said() -> None:
    trailers = "Host: evil\r\nAccept: a/b\r\nIf-None-Match: *\r\nConnection: close\r\n"
    (request,), code = read(f"{CHUNKED}1\r\na\r\n0\r\n{trailers}\r\n".encode())
    assert code is None
    assert request.headers == {b"host": b"x", b"transfer-encoding": b"chunked"}


def test_only_the_headers_that_matter_are_kept() -> None:
    (request,), _ = read(get("/a", "Cookie: secret", "ACCEPT: a/b", "Accept: c/d", "X-Forwarded-For: 1"))
    assert request.headers == {b"host": b"x", b"accept": b"a/b, c/d"}


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        (b"/a/b?c=d?e", b"/a/b", b"c=d?e"),
        (b"/a", b"/a", b""),
        (b"http://host:1/a/b?c", b"/a/b", b"c"),
        (b"http://host", b"/", b""),
        (b"/a?u=http://host/b", b"/a", b"u=http://host/b"),
        (b"*", b"*", b""),
        (b"host:1", b"host:1", b""),
    ],
)
def test_path_and_query_of_a_target(target: bytes, path: bytes, query: bytes) -> None:
    request = Request(target=target)
    assert (request.path, request.query) == (path, query)


# Limits, at their edges. A header block counts its target, and each line with its colon, space and line break.

EMPTY_BLOCK = len("/a") + len("Host: x\r\n") + len("A: \r\n")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(("over", "code"), [(-1, None), (0, None), (1, "HEADERS_TOO_LARGE")])
@pytest.mark.parametrize("where", ["value", "name", "target", "many"])
def test_the_limit_of_a_header_block_is_exact(where: str, over: int, code: str | None, step: int) -> None:
    room = 500 - EMPTY_BLOCK + over
    data = {
        "value": get("/a", "A: " + "b" * room),
        "name": get("/a", "A" * (room + 1) + ": "),
        "target": get("/a" + "b" * room, "A: "),
        "many": get("/a", "A: " + "b" * (room % 6), *["C: d"] * (room // 6)),
    }[where]
    requests, found = read(data, step, headers=500)
    assert (len(requests), found) == (0 if code else 1, code)


def test_a_header_block_that_never_ends_is_refused_while_it_grows() -> None:
    for endless in (b"GET /", b"GET /a HTTP/1.1\r\nA: ", b"GET /a HTTP/1.1\r\nA", f"{CHUNKED}1;".encode(), b"\r\n"):
        parser = RequestParser(500, lambda _request: BODY)
        parser.feed(endless)
        fed = 0
        while parser.error is None:
            parser.feed(b"\r\n" if endless == b"\r\n" else b"a" * 10)
            fed += 10
            assert fed < 4_000
        assert parser.error.code == "HEADERS_TOO_LARGE"
        assert parser.error.details == {"max_bytes": 500}


def test_trailers_count_as_headers() -> None:
    trailers = "".join(f"T{number}: {'a' * 50}\r\n" for number in range(20))
    for step in (0, 1):
        assert read(f"{CHUNKED}0\r\n{trailers}\r\n".encode(), step, headers=500) == ([], "HEADERS_TOO_LARGE")


@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize(("size", "code"), [(99, None), (100, None), (101, "TOO_LARGE")])
def test_the_limit_of_a_body_is_exact(size: int, code: str | None, step: int) -> None:
    body = b"a" * size
    by_length = post(f"Content-Length: {size}").encode() + body
    by_chunks = CHUNKED.encode() + b"".join(b"1\r\na\r\n" for _ in range(size)) + b"0\r\n\r\n"
    for data in (by_length, by_chunks):
        requests, found = read(data, step, body=100)
        assert found == code
        assert [request.body for request in requests] == ([] if code else [body])


def test_a_length_over_the_limit_is_refused_before_the_body_comes() -> None:
    parser = RequestParser(HEADERS, lambda _request: 100)
    parser.feed(post("Content-Length: 101").encode())
    assert parser.error is not None
    assert parser.error.code == "TOO_LARGE"
    assert parser.error.details == {"max_bytes": 100}


def test_the_limit_of_a_body_may_depend_on_the_request() -> None:
    parser = RequestParser(HEADERS, lambda request: 10 if request.path == b"/a" else 0)
    parser.feed(post("Content-Length: 10").encode() + b"0123456789")
    parser.feed(post("Content-Length: 10").replace("/a", "/b").encode())
    assert [request.body for request in parser.take()] == [b"0123456789"]
    assert parser.error is not None


def test_what_is_waited_for_is_said() -> None:
    parser = RequestParser(HEADERS, lambda _request: BODY)
    said = []
    for piece in (b"", b"POST /a HTTP/1.1\r\n", b"Host: x\r\nContent-Length: 2\r\n\r\n", b"a", b"b", b"GET /b"):
        parser.feed(piece)
        said.append("headers" if parser.in_headers else "body" if parser.in_body else "nothing")
    assert said == ["nothing", "headers", "body", "body", "nothing", "headers"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (post("Content-Length: 3", "Expect: 100-continue"), True),
        (post("Transfer-Encoding: chunked", "expect: 100-Continue"), True),
        (post("Content-Length: 3", "Expect: 100-continue") + "a", False),
        (post("Content-Length: 0", "Expect: 100-continue"), False),
        (post("Expect: 100-continue"), False),
        (post("Content-Length: 3"), False),
        (post("Content-Length: 3", "Expect: something"), False),
        (post("Content-Length: 3", "Expect: 100-continue", version="1.0"), False),
        (post("Content-Length: 999999", "Expect: 100-continue"), False),
    ],
)
def test_continue_is_given_once_and_where_it_is_waited_for(data: str, expected: bool) -> None:
    parser = RequestParser(HEADERS, lambda _request: BODY)
    parser.feed(data.encode())
    assert [parser.take_continue(), parser.take_continue()] == [expected, False]


# Any bytes, however cut.

PIECES = [
    *(data.encode("latin-1") for data in SMUGGLING.values()),
    *(data for data, _ in TAKEN.values()),
    *(get(), b"\r\n", b"\n", b"\0", b" ", b"GET ", b"/a", b" HTTP/1.1\r\n", b"Host: x\r\n", b"0\r\n\r\n", b"3\r\nabc"),
    *(b"Content-Length: 3\r\n", b"Transfer-Encoding: chunked\r\n", b"Connection: close\r\n", b"Upgrade: x\r\n"),
]
STREAMS = st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=12)), max_size=6).map(b"".join)


@settings(max_examples=300, deadline=None)
@given(data=STREAMS, cuts=st.lists(st.integers(min_value=0, max_value=400), max_size=8))
def test_any_split_of_any_bytes_reads_the_same(data: bytes, cuts: list[int]) -> None:
    whole = RequestParser(HEADERS, lambda _request: BODY)
    whole.feed(data)
    parts = RequestParser(HEADERS, lambda _request: BODY)
    edges = sorted({0, *(cut for cut in cuts if cut < len(data)), len(data)})
    for start, end in pairwise(edges):
        parts.feed(data[start:end])
    assert parts.take() == whole.take()
    assert (parts.error and parts.error.code) == (whole.error and whole.error.code)
    assert (parts.in_headers, parts.in_body) == (whole.in_headers, whole.in_body)


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=400), header_limit=st.integers(0, 64), body_limit=st.integers(0, 64))
def test_no_bytes_and_no_limits_make_it_raise(data: bytes, header_limit: int, body_limit: int) -> None:
    parser = RequestParser(header_limit, lambda _request: body_limit)
    for byte in data:
        parser.feed(bytes([byte]))
    assert all(len(request.body) <= body_limit for request in parser.take())


# Responses.


def test_a_response_is_laid_out_once_and_dated_when_sent() -> None:
    laid_out = response(200, (("Content-Type", "a/b"),), b"body")
    assert b"".join(laid_out.parts(b"Date: now\r\n", head=False, close=False)) == (
        b"HTTP/1.1 200 OK\r\nDate: now\r\nContent-Type: a/b\r\nContent-Length: 4\r\n\r\nbody"
    )
    assert laid_out.parts(b"", head=False, close=False)[1] is laid_out.tail


def test_an_answer_to_head_keeps_the_length_of_the_body_it_leaves_out() -> None:
    sent = b"".join(response(200, (), b"body").parts(b"", head=True, close=True))
    assert sent == b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\n"


def test_the_body_of_a_response_can_be_read_back() -> None:
    assert response(200, (("Content-Type", "a/b"),), b"bo", shared=b"dy").body == b"body"
    assert response(200, (), b"\r\n\r\nbody").body == b"\r\n\r\nbody"
    assert response(304, (), content_length=False).body == b""


def test_some_responses_have_no_length() -> None:
    assert b"Content-Length" not in response(304, (), content_length=False).tail


@pytest.mark.parametrize("value", ["a\r\nSet-Cookie: b", "a\0", "ä", "\x7f", "\t"])
def test_foreign_text_does_not_reach_a_header(value: str) -> None:
    with pytest.raises(ValueError, match="X-Test"):
        response(200, (("X-Test", value),))


@settings(deadline=None)
@given(text=st.text(max_size=50))
def test_header_text_is_visible_ascii_and_can_be_read_back(text: str) -> None:
    from urllib.parse import unquote

    try:
        encoded = header_text(text)
    except UnicodeEncodeError:
        assert any("\ud800" <= char <= "\udfff" for char in text)
        return
    assert all("!" <= char <= "~" for char in encoded)
    assert unquote(encoded) == text
    response(200, (("X-Test", encoded),))


def test_what_we_send_reads_as_http() -> None:
    read_back: dict[bytes, bytes] = {}

    class Collector:
        def on_header(self, name: bytes, value: bytes) -> None:
            read_back[name] = value

        def on_body(self, body: bytes) -> None:
            read_back[b"body"] = body

    parser = httptools.HttpResponseParser(Collector())
    parser.feed_data(b"".join(response(404, (("A", ""), ("B", "c")), b"{}").parts(b"", head=False, close=True)))
    assert parser.get_status_code() == 404
    assert read_back == {b"Connection": b"close", b"A": b"", b"B": b"c", b"Content-Length": b"2", b"body": b"{}"}


def test_a_json_body_is_compact_utf8_and_ends_its_line() -> None:
    assert json_body({"a": ["ä", 1]}) == '{"a":["ä",1]}\n'.encode()
