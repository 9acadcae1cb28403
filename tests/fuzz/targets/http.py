"""HTTP: however the bytes are cut, they are the same requests, and each is answered.

The first four bytes say, over and over, how long the next piece is; what a peer sends is behind them.

- Fed whole and fed in pieces, the parser gives the same requests and the same error, and stays within its limits.
- Another parser (h11), where it reads a request at the same place of the stream, reads the same one, and none that
  was taken here is ambiguous to it: nothing can be smuggled past either.
- A header that may come once is one line of the stream.
- The routes answer every request, and what is sent reads as one response for each.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterator
from itertools import cycle

import h11
import trio

from descriptor.digests import digest_of
from entryway.errors import STATUS, EntrywayError
from entryway.http import LISTS, PADDING, Request, RequestParser, Response, Streaming, Working
from entryway.router import refusal
from entryway.routes import Entryway
from store import Version
from tests.entryway.parts import (
    NOW,
    OWNER,
    PUBLISHED_AT,
    document,
    quiet_feed,
    read_responses,
    roster_door,
    snapshot_of,
)

TOKENS = (
    *("GET ", "HEAD ", "POST ", "OPTIONS ", "PUT ", "CONNECT ", "PRI * HTTP/2.0", " HTTP/1.1\r\n", " HTTP/1.0\r\n"),
    *(
        "/",
        "*",
        "http://node.test",
        "/.well-known/agent-descriptor.json",
        "/.well-known/agent-card.json",
        "/descriptors",
        "/descriptors/",
        "/entryway",
        "/events",
    ),
    *("?limit=", "&before=", "9223372036854775807", "%2f", "%00", "sha256:", "sha256%3A", "a" * 64, "\r\n", "\r\n\r\n"),
    *("Host: node.test\r\n", "Content-Length: ", "Transfer-Encoding: chunked\r\n", "chunked", "Upgrade: h2c\r\n"),
    *("Connection: close\r\n", "Connection: keep-alive\r\n", "Connection: upgrade\r\n", "Expect: 100-continue\r\n"),
    *("Content-Type: application/json\r\n", "application/msgpack", "Accept: ", "If-None-Match: ", "0\r\n\r\n"),
    *("\n", "\r", "\t", " ", "\x00", "\x0b", ": ", "Trailer: x\r\n", "{}", "1\r\na\r\n", "5;a=b\r\n", " HTTP/0.9\r\n"),
    *('W/"', "gzip, "),
)
# What h11 says of headers that leave open whose message this is, or where it ends.
_AMBIGUOUS = {
    "conflicting Content-Length headers",
    "bad Content-Length",
    "multiple Transfer-Encoding headers",
    "Only Transfer-Encoding: chunked is supported",
    "Missing mandatory Host: header",
    "Found multiple Host: headers",
}
HEADER_LIMIT = 400
BODY_LIMIT = 100
PREFIX = 4
LONGEST = 10.0  # seconds: the archive answers at once, and a page is made in a thread
CURRENT = document()
OLDER = document(agent_version="1.3.0")


class Shelf:
    """An archive that answers at once. Implements `entryway.routes.Archive`."""

    async def artifact(self, digest: str) -> bytes | None:
        return OLDER if digest == digest_of(OLDER) else None

    async def history(self, limit: int, before: int | None) -> tuple[tuple[Version, ...], int | None]:
        assert 1 <= limit <= 500
        assert before is None or 1 <= before < 2**63
        return (Version(1, OWNER.id, digest_of(OLDER), "1.3.0", len(OLDER), PUBLISHED_AT, None, False),), None


SNAPSHOT = snapshot_of(CURRENT)


def one_input(data: bytes) -> None:
    lengths, stream = data[:PREFIX], data[PREFIX:]
    whole, in_whole = _parsed(iter([stream]))
    parts, in_parts = _parsed(_cut(stream, lengths))
    too_long = _code(parts.error) == "HEADERS_TOO_LARGE"
    if too_long and whole.error is None:
        # What is incomplete is counted from one read to the next: fed whole, it takes one read more to be refused.
        whole.feed(b"a" * (HEADER_LIMIT + PADDING + 1))
        in_whole += whole.take()
    assert [_seen(request) for request in in_parts] == [_seen(request) for request in in_whole]
    # Fed in pieces, a block that is both too long and malformed is refused before its end is seen.
    assert _code(parts.error) == _code(whole.error) or (too_long and whole.error is not None)
    if whole.error is None:
        assert (parts.in_headers, parts.in_body) == (whole.in_headers, whole.in_body)
        _assert_headers_end(parts)
    served = _served(in_parts)
    for ours, theirs in zip(served, _by_h11(stream), strict=False):
        assert (ours.method, ours.target, ours.body) == theirs
    for request in served:
        assert all(value in stream for name, value in request.headers.items() if name not in LISTS)
    _assert_answered(served, parts.error)


def _cut(stream: bytes, lengths: bytes) -> Iterator[bytes]:
    at = 0
    for length in cycle(lengths or b"\0"):
        if at >= len(stream):
            return
        yield stream[at : at + length % 64 + 1]
        at += length % 64 + 1


def _parsed(pieces: Iterator[bytes]) -> tuple[RequestParser, list[Request]]:
    parser = RequestParser(HEADER_LIMIT, lambda _request: BODY_LIMIT)
    requests: list[Request] = []
    for piece in pieces:
        parser.feed(piece)
        requests += parser.take()
        parser.take_continue()
    for request in requests:
        assert len(request.body) <= BODY_LIMIT
        assert len(request.target) + sum(map(len, request.headers.values())) <= HEADER_LIMIT
    return parser, requests


def _assert_headers_end(parser: RequestParser) -> None:
    """Headers that go on and on are refused, however small the pieces."""
    if parser.in_headers:
        for _ in range((HEADER_LIMIT + PADDING) // 50 + 2):  # one of them may still end what came before
            parser.feed(b"a" * 50)
        assert parser.error is not None


def _seen(request: Request) -> object:
    # `take_continue` takes `Expect` away, where there is a pause between headers and body.
    headers = {name: value for name, value in request.headers.items() if name != b"expect"}
    return request.method, request.target, headers, request.body, request.keep_alive


def _code(error: EntrywayError | None) -> str | None:
    return None if error is None else error.code


def _served(requests: list[Request]) -> list[Request]:
    """Those that are answered: all up to the first after which the connection closes."""
    for place, request in enumerate(requests):
        if not request.keep_alive:
            return requests[: place + 1]
    return requests


def _by_h11(stream: bytes) -> Iterator[tuple[bytes, bytes, bytes] | None]:
    """Method, target and body of the requests that h11 reads; None for one whose headers are ambiguous."""
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(stream)
    while True:
        head, body = None, b""
        try:
            while not isinstance(event := connection.next_event(), h11.EndOfMessage):
                match event:
                    case h11.Request():
                        head = event
                    case h11.Data():
                        body += event.data
                    case _:
                        return
            assert head is not None
            yield head.method, head.target, body
            connection.send(h11.Response(status_code=200, headers=[("Content-Length", "0")]))
            connection.send(h11.EndOfMessage())
            connection.start_next_cycle()
        except h11.ProtocolError as error:
            # About other things, such as blanks in a request line, the two may differ.
            if head is None and str(error) in _AMBIGUOUS:
                yield None
            return


def _assert_answered(requests: list[Request], error: EntrywayError | None) -> None:
    entryway = Entryway(
        OWNER,
        Shelf(),
        lambda: NOW,
        snapshot=SNAPSHOT,
        door=roster_door(),
        feed=quiet_feed(),
        body_limit=BODY_LIMIT,
    )
    router = entryway.router
    sent = b""
    for request in requests:
        answer = router.respond(request)
        if isinstance(answer, Streaming):
            return  # what follows has no end
        if not isinstance(answer, Response):
            answer = trio.run(_awaited, answer)
        assert answer.status in {200, 204, 304, *STATUS.values()}
        assert answer.status < 500
        sent += b"".join(answer.parts(b"Date: now\r\n", head=request.method == b"HEAD", close=not request.keep_alive))
    if error is not None:
        sent += b"".join(refusal(error, None).parts(b"Date: now\r\n", head=False, close=True))
    heads = [request.method == b"HEAD" for request in requests]
    assert len(read_responses(sent, [*heads, False])) == len(requests) + (error is not None)


async def _awaited(answer: Awaitable[Response | Working]) -> Response:
    with trio.fail_after(LONGEST):
        given = await answer
    assert isinstance(given, Response)  # nobody here is admitted, and so nothing is worked on
    return given
