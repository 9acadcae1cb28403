"""One HTTP request and its answer, at most so many bytes in so many seconds.

The invariant: an answer costs at most the bytes and the seconds it was given, whoever answers. One deadline stands over
name resolution, connection, question and answer together; the body is counted as it comes; no redirect is followed, no
proxy and no environment is asked, no content coding is undone. Nothing here belongs to one event loop: it waits by
anyio, on trio and on asyncio alike, and what is cancelled leaves no connection behind.

Source: binding 3 and 4.
"""

from __future__ import annotations

import functools
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread
import httpx

from descriptor.errors import quoted
from descriptor.strictjson import JsonValue
from entryway.client.errors import ClientError
from entryway.codec import MAX_VALUES, Codec, body_codec, decode
from entryway.errors import EntrywayError
from entryway.verdict import read_error, shown

LOOK = "Look whether an agent is up there, and whether it is the right address."
CONNECT = 10.0  # seconds at most until there is a connection, however long the answer may take
LARGE_REPLY = 64 * 1024  # bytes above which an answer is judged in a worker thread: its canonical form takes its time

Value = TypeVar("Value")

# Of each event loop: a thread for every large answer would leave the loop little of the processor.
_turns: anyio.lowlevel.RunVar[anyio.CapacityLimiter] = anyio.lowlevel.RunVar("judging")


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """Bounds of one question: bytes of a Descriptor and of everything beside it, and seconds for the whole.

    `request_bytes`: of a request for work, as many as an agent takes (binding 10). `output_bytes`: of the answer to it,
    and `output_values` how many values it is made of, unless it is sealed. `work_wait`: seconds for that answer, where
    neither the Descriptor nor the request says how long a job may run.
    """

    descriptor_bytes: int = 2**20
    envelope_bytes: int = 64 * 1024
    wait: float = 10.0
    request_bytes: int = 2**20
    output_bytes: int = 2**22
    output_values: int = 2**16
    work_wait: float = 300.0


DEFAULT_LIMITS = ClientLimits()


@dataclass(frozen=True, slots=True)
class Received:
    """An answer: its HTTP status, its Content-Type, and its whole body."""

    status: int
    content_type: str
    body: bytes


async def send(
    url: str, most: int, wait: float, *, accept: Codec, content: bytes | None = None, method: str | None = None
) -> Received:
    """One request and its answer, at most `most` bytes of it.

    Raises ClientError: UNREACHABLE, TIMEOUT, TOO_LARGE, UNREADABLE_REPLY.
    """
    method = method or ("GET" if content is None else "POST")
    headers = {"Accept": accept.value, "Accept-Encoding": "identity", "User-Agent": "agent-node", "Connection": "close"}
    if content is not None:
        headers["Content-Type"] = accept.value
    context = ssl.create_default_context() if url.startswith("https:") else _no_certificates()
    timeout = httpx.Timeout(wait, connect=min(wait, CONNECT))
    try:
        with anyio.fail_after(wait):
            async with (
                httpx.AsyncClient(verify=context, trust_env=False, timeout=timeout) as client,
                client.stream(method, url, headers=headers, content=content) as response,
            ):
                return await _read(response, most)
    except httpx.ConnectTimeout:
        seconds = min(wait, CONNECT)
        raise ClientError("TIMEOUT", f"{url} took no connection in {seconds:g} seconds. {LOOK}") from None
    except (TimeoutError, httpx.TimeoutException):
        raise ClientError(
            "TIMEOUT", f"{url} gave no whole answer in {wait:g} seconds. {LOOK}", maybe_sent=True
        ) from None
    except httpx.ProtocolError as error:
        raise unreadable(f"What came from {url} broke off or is not HTTP ({type(error).__name__}).") from None
    except (httpx.TransportError, httpx.InvalidURL) as error:
        why = shown(str(error)) or type(error).__name__
        never_left = isinstance(error, httpx.ConnectError | httpx.InvalidURL | httpx.UnsupportedProtocol)
        raise ClientError(
            "UNREACHABLE", f"{url} cannot be reached: {why.rstrip('.')}. {LOOK}", maybe_sent=not never_left
        ) from None


async def judged(received: Received, judge: Callable[[], Value]) -> Value:
    """What `judge` makes of an answer. A large one is judged where nobody else waits for it, one at a time."""
    if len(received.body) <= LARGE_REPLY:
        return judge()
    try:
        limiter = _turns.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(1)
        _turns.set(limiter)
    return await anyio.to_thread.run_sync(judge, limiter=limiter)


@functools.cache
def _no_certificates() -> ssl.SSLContext:
    """What httpx asks for and plain HTTP never looks at. One is enough: to make it takes as long as to ask."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


async def _read(response: httpx.Response, most: int) -> Received:
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise unreadable("The answer is content-encoded, which no digest survives.")
    body = bytearray()
    # Where it is too much, reading ends by cancellation: httpx reads through generators inside one another, and only
    # from the innermost does each of them end in its turn.
    with anyio.CancelScope() as reading:
        async for piece in response.aiter_raw():
            if len(body) + len(piece) > most:
                reading.cancel()
            else:
                body += piece
    if reading.cancel_called:
        raise ClientError(
            "TOO_LARGE", f"The answer goes beyond the {most} bytes that are taken. Ask for less.", maybe_sent=True
        )
    return Received(response.status_code, response.headers.get("content-type", ""), bytes(body))


def codec_of(received: Received) -> Codec:
    """The codec that an answer says it is in. Raises ClientError UNREADABLE_REPLY."""
    try:
        return body_codec(received.content_type.encode())
    except EntrywayError:
        said = quoted(shown(received.content_type))
        raise unreadable(f"The answer is neither application/msgpack nor application/json, but {said}.") from None


def reply_map(received: Received, max_values: int = MAX_VALUES) -> dict[str, JsonValue]:
    """The map that an answer is, made of `max_values` values at most. Raises ClientError UNREADABLE_REPLY."""
    codec = codec_of(received)
    try:
        value = decode(received.body, codec, max_values=max_values)
    except EntrywayError:
        raise unreadable(
            f"The answer is not well-formed {codec.value}, or is made of more than {max_values} values."
        ) from None
    if not isinstance(value, dict):
        raise unreadable("The answer is not a map.")
    return value


def error_of(received: Received) -> dict[str, JsonValue] | None:
    """The error body of an answer that is not 200; `None` when it holds none, as a proxy's page does not."""
    try:
        return read_error(reply_map(received))
    except ClientError:
        return None


def refused(received: Received, error: Mapping[str, JsonValue] | None) -> ClientError:
    """The error for an answer that is not 200; `error` is its error body."""
    if error is not None:
        why = f"The peer refused ({error['code']}): {error['message']}"
    elif 300 <= received.status < 400:
        why = f"The peer answered {received.status}, a redirect, and none is followed."
    else:
        why = f"The peer answered {received.status}, without saying why."
    return ClientError("REFUSED", why, error, maybe_sent=True)


def unreadable(message: str) -> ClientError:
    """The error for an answer that is not what the binding says."""
    return ClientError("UNREADABLE_REPLY", message, maybe_sent=True)
