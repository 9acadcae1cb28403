"""Bytes to requests and responses to bytes, without I/O.

The invariant: whoever reads a `Request` reads a message with one framing, one Host, a bounded header block and a
bounded body. llhttp (through httptools, in its strict mode) refuses what can be framed in two ways: two lengths, a
length beside chunks, bare line feeds, folded lines. What it leaves to its caller is refused here: HTTP/0.9, a missing
or second Host, chunks under HTTP/1.0, codings beside chunks, a body behind an upgrade, and anything over a limit.

A `Response` is laid out once and sent many times; only its Date moves.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import lru_cache
from http import HTTPStatus
from typing import NamedTuple

import httptools
from trio import CancelScope

from entryway.errors import EntrywayError

# The request headers that matter. All others are read past and forgotten.
KEPT = frozenset(
    {
        b"host",
        b"content-length",
        b"content-type",
        b"transfer-encoding",
        b"accept",
        b"expect",
        b"if-none-match",
        b"last-event-id",
    }
)
# Of those, the ones that may come in several lines (RFC 9110, 5.3); of the others a second line is refused.
LISTS = frozenset({b"accept", b"if-none-match", b"expect", b"transfer-encoding"})
# What a line may hold beside what is counted of it: `HTTP/1.1`, line breaks, padding.
PADDING = 64


@dataclass(slots=True)
class Request:
    """One whole request: `target` as it came, `headers` by lower-case name (only `KEPT`), `body` decoded.

    `peer`: what the address it came from is counted under; `None` when it is not counted.
    """

    method: bytes = b""
    target: bytes = b""
    headers: dict[bytes, bytes] = field(default_factory=dict)
    body: bytes = b""
    keep_alive: bool = True
    peer: str | None = None

    @property
    def path(self) -> bytes:
        """The target without its query; of an absolute target, its path. Still percent-encoded."""
        target = self.target
        if not target.startswith(b"/") and b"://" in target:
            target = b"/" + target.partition(b"://")[2].partition(b"/")[2]
        return target.partition(b"?")[0]

    @property
    def query(self) -> bytes:
        """What stands behind the first question mark."""
        return self.target.partition(b"?")[2]


class RequestParser:
    """Feed it bytes; take whole requests. One a connection.

    After `feed`, `take()` gives the requests that are whole, in order. `error` is set once the bytes can no longer be
    trusted: answer what was taken, answer the error, close. `in_headers` and `in_body` say what is being waited for.
    """

    def __init__(self, header_limit: int, body_limit: Callable[[Request], int]) -> None:
        self._parser = httptools.HttpRequestParser(self)
        self._header_limit = header_limit
        self._body_limit_of = body_limit
        self._request = Request()
        self._ready: list[Request] = []
        self._body: list[bytes] = []
        self._body_size = 0
        self._body_limit = 0
        self._header_size = 0
        self._unread = 0  # bytes fed since the parser last reported something whole
        self.in_headers = False
        self.in_body = False
        self.error: EntrywayError | None = None
        self._upgraded = False

    def feed(self, data: bytes) -> None:
        """Reads `data`. Never raises: what is wrong with it stands in `error`."""
        if self.error is not None or self._upgraded:
            return
        self._unread += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # No protocol but HTTP/1.1 is spoken here: the request is answered as if it had not asked (RFC 9110, 7.8).
            # What follows it may be in the other protocol already, so it is not read.
            self._upgraded = True
            if self._ready:
                self._ready[-1].keep_alive = False
        except httptools.HttpParserError as error:
            # A refusal of ours reaches here wrapped, and is already noted.
            if self.error is None:
                self.error = EntrywayError(
                    "BAD_REQUEST", f"This is not HTTP/1.1 as it should be: {error}. Send it well formed."
                )
        if self._unread > self._header_limit + PADDING and self.error is None:
            self.error = self._headers_too_large()

    def take(self) -> list[Request]:
        """The requests that have become whole since the last call."""
        ready, self._ready = self._ready, []
        return ready

    def take_continue(self) -> bool:
        """Whether a client waits for `100 Continue` before it sends its body. True once a request at most."""
        if not self.in_body or self._body_size:
            return False
        return self._request.headers.pop(b"expect", b"").lower() == b"100-continue"

    # What httptools calls, in the order of the message.

    def on_message_begin(self) -> None:
        self._request = Request()
        self._body = []
        self._body_size = 0
        self._header_size = 0
        self.in_headers = True

    def on_url(self, url: bytes) -> None:
        self._request.target += url
        self._header_size += len(url)
        if self._header_size > self._header_limit:
            raise self._refuse(self._headers_too_large())

    def on_header(self, name: bytes, value: bytes) -> None:
        self._unread = 0
        self._header_size += len(name) + len(value) + 4
        if self._header_size > self._header_limit:
            raise self._refuse(self._headers_too_large())
        if not self.in_headers:
            return  # a trailer: nothing in one may change what the headers said
        key = name.lower()
        if key in KEPT:
            headers = self._request.headers
            if key in headers:
                if key not in LISTS:
                    raise self._refuse(
                        EntrywayError("BAD_REQUEST", f"The {key.decode()} header came twice. Send it once.")
                    )
                value = headers[key] + b", " + value
            headers[key] = value

    def on_headers_complete(self) -> None:
        self._unread = 0
        self.in_headers = False
        request = self._request
        request.method = self._parser.get_method()
        version = self._parser.get_http_version()
        if version == "1.0":
            if b"transfer-encoding" in request.headers:
                raise self._refuse(EntrywayError("BAD_REQUEST", "HTTP/1.0 has no Transfer-Encoding. Send HTTP/1.1."))
            request.headers.pop(b"expect", None)  # it knows no 100 Continue (RFC 9110, 10.1.1)
            request.keep_alive = False
        elif version != "1.1":
            raise self._refuse(
                EntrywayError("VERSION_NOT_SUPPORTED", "No such version of HTTP is spoken here. Send HTTP/1.1.")
            )
        elif b"host" not in request.headers:
            raise self._refuse(
                EntrywayError("BAD_REQUEST", "A request needs a Host header, and this one has none. Send it.")
            )
        headers = request.headers
        if b"content-length" in headers or b"transfer-encoding" in headers:
            self._check_framing(headers)
            self._body_limit = self._body_limit_of(request)
            self._check_body(int(headers.get(b"content-length", b"0")))
            self.in_body = True

    def on_body(self, data: bytes) -> None:
        self._unread = 0
        self._body_size += len(data)
        self._check_body(self._body_size)
        self._body.append(data)

    def on_message_complete(self) -> None:
        self._unread = 0
        self.in_body = False
        request = self._request
        if self._body:
            request.body = b"".join(self._body)
        if request.keep_alive:
            request.keep_alive = self._parser.should_keep_alive()
        self._ready.append(request)

    def _check_framing(self, headers: dict[bytes, bytes]) -> None:
        if headers.get(b"transfer-encoding", b"chunked").lower() != b"chunked":
            raise self._refuse(
                EntrywayError(
                    "BAD_REQUEST",
                    "The body came in a Transfer-Encoding that is not read here. Send it chunked, or with its length.",
                )
            )
        # httptools would skip the body: to answer without it would be to answer another request.
        if self._parser.should_upgrade():
            raise self._refuse(
                EntrywayError(
                    "BAD_REQUEST", "A body came with Upgrade, and only HTTP/1.1 is spoken here. Send it without."
                )
            )

    def _check_body(self, size: int) -> None:
        if size > self._body_limit:
            raise self._refuse(
                EntrywayError(
                    "TOO_LARGE",
                    f"The body is over the {self._body_limit} bytes taken here. Send less; none of it was read.",
                    {"max_bytes": self._body_limit},
                )
            )

    def _headers_too_large(self) -> EntrywayError:
        return EntrywayError(
            "HEADERS_TOO_LARGE",
            f"The header block is over the {self._header_limit} bytes taken here. Send fewer or shorter headers.",
            {"max_bytes": self._header_limit},
        )

    def _refuse(self, error: EntrywayError) -> EntrywayError:
        self.error = error
        return error


class Response(NamedTuple):
    """A response as bytes: `start` is the status line, then comes the Date, then `tail`: fields, blank line, body."""

    status: int
    start: bytes
    tail: bytes
    body_size: int
    shared: bytes = b""

    @property
    def body(self) -> bytes:
        """The whole body, copied."""
        return self.tail[len(self.tail) - self.body_size :] + self.shared

    def parts(self, date: bytes, *, head: bool, close: bool) -> tuple[bytes, bytes, bytes]:
        """What to send, in three parts, the last of which is the same object for everybody it is sent to.

        `date` is a whole header line with its line break. Of an answer to HEAD the body is left out, its length not.
        """
        first = self.start + date
        if close:
            first += b"Connection: close\r\n"
        if head:
            return first, self.tail[: len(self.tail) - self.body_size], b""
        return first, self.tail, self.shared


class Working(NamedTuple):
    """An answer that takes as long as the work it is about, which has a bound of its own.

    `response` waits for it. `leave` is called instead when the peer goes away meanwhile: nothing is to be held for it.
    """

    response: Callable[[], Awaitable[Response]]
    leave: Callable[[], Awaitable[None]]


class Streaming(NamedTuple):
    """An answer without an end: `response` has its headers, and `serve` sends what follows until one side goes.

    `admit` is asked first, with what the peer's address is counted under; it raises EntrywayError to refuse.
    `serve` is given the socket, the scope that ends the connection, and that key.
    """

    response: Response
    admit: Callable[[str | None], None]
    serve: Callable[[socket.socket, CancelScope, str | None], Awaitable[None]]


def response(
    status: int,
    headers: tuple[tuple[str, str], ...],
    body: bytes = b"",
    *,
    shared: bytes = b"",
    content_length: bool = True,
) -> Response:
    """Lays a response out. The body is `body`, then `shared`, which is never copied.

    Raises ValueError for a header value that is not printable ASCII: whoever puts foreign text into a header encodes
    it first (`header_text`).
    """
    start, fields = _header_block(status, headers)
    length = b"Content-Length: %d\r\n" % (len(body) + len(shared)) if content_length else b""
    return Response(status, start, b"".join((fields, length, b"\r\n", body)), len(body), shared)


@lru_cache(maxsize=64)
def _header_block(status: int, headers: tuple[tuple[str, str], ...]) -> tuple[bytes, bytes]:
    """The status line and the fields. Most answers have one of a few header blocks, so they are kept."""
    for name, value in headers:
        if not value.isascii() or not value.isprintable():
            raise ValueError(f"the value of {name} is not printable ASCII")
    start = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
    return start.encode(), "".join(f"{name}: {value}\r\n" for name, value in headers).encode()


def header_text(text: str) -> str:
    """Text of any kind as a header value: what is not visible ASCII, and `%` itself, percent-encoded as UTF-8."""
    return "".join(
        char if "!" <= char <= "~" and char != "%" else "".join(f"%{b:02X}" for b in char.encode()) for char in text
    )


def json_body(value: object) -> bytes:
    """JSON for a body that nobody signs: compact, UTF-8, ended with a line break for whoever reads with curl."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
