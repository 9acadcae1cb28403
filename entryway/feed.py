"""Listening to another node's events: the stream taken apart, and what an event is worth.

Two pure parts, and the way to the peer. `StreamParser` takes server-sent events apart by the rules of the WHATWG
(lines, comments, fields), with a bound on every one of them. `judge_event` says whether an event is the followed
agent's own word. `listen` connects them: it asks, hands over what comes, and returns when the peer ends the stream.

The invariant: however the bytes are cut, the events are the same; an event that is handed over as an announcement was
signed by the agent that is followed; and a stream is read at a bounded pace, also where what comes is no event.

Source: binding 6.
"""

from __future__ import annotations

import math
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import httpx
import trio

from descriptor.digests import parse_digest
from descriptor.errors import DescriptorError
from descriptor.keys import verify
from descriptor.strictjson import JsonValue, parse
from descriptor.timestamps import parse_timestamp
from entryway.client import ClientError
from entryway.envelope import read_envelope, signed_bytes
from entryway.errors import EntrywayError
from entryway.protections import Bucket
from entryway.verdict import shown

MAX_LINE = 64 * 1024  # bytes of a line, and of the data of one event
SILENCE = 45.0  # seconds without a byte, three comments long, after which a stream is taken for dead
CONNECT = 10.0  # seconds to connect and to be answered
UNIT = 1024  # bytes of a stream that are counted as one, and so is a piece that is smaller
UNITS_A_SECOND, UNITS_AT_ONCE = 64.0, 2048  # more than the events of a busy peer are, and what reading costs is bounded


@dataclass(frozen=True, slots=True)
class Message:
    """One event as it came. `id`: the last one that was given, `""` before any."""

    event: str
    id: str
    data: str


class StreamParser:
    """Feed it bytes, take messages. Raises ClientError UNREADABLE_REPLY for what goes beyond a bound or is no UTF-8."""

    def __init__(self) -> None:
        self._buffer = b""
        self._begun = False
        self._after_return = False
        self._event = ""
        self._id = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, data: bytes) -> list[Message]:
        """The messages that have become whole."""
        messages = []
        for line in self._lines(data):
            message = self._line(line)
            if message is not None:
                messages.append(message)
        return messages

    def _lines(self, data: bytes) -> list[bytes]:
        if data and self._after_return:
            # A line feed here is the second half of a line's end that was seen already.
            data = data.removeprefix(b"\n")
            self._after_return = False
        if data:
            self._after_return = data.endswith(b"\r")
        buffer = self._buffer + data
        *lines, self._buffer = buffer.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        if any(len(line) > MAX_LINE for line in (*lines, self._buffer)):
            raise ClientError("UNREADABLE_REPLY", f"The stream has a line of more than {MAX_LINE} bytes.")
        if lines and not self._begun:
            self._begun = True
            lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
        return lines

    def _line(self, line: bytes) -> Message | None:
        if not line:
            return self._dispatch()
        try:
            name, _, value = line.decode().partition(":")
        except UnicodeDecodeError:
            raise ClientError("UNREADABLE_REPLY", "The stream is not UTF-8.") from None
        value = value.removeprefix(" ")
        if name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "data":
            self._data.append(value)
            self._size += len(line)
            if self._size > MAX_LINE:
                raise ClientError("UNREADABLE_REPLY", f"The stream has an event of more than {MAX_LINE} bytes.")
        return None

    def _dispatch(self) -> Message | None:
        data, event = self._data, self._event
        self._data, self._event, self._size = [], "", 0
        return Message(event or "message", self._id, "\n".join(data)) if data else None


@dataclass(frozen=True, slots=True)
class Announced:
    """A replacement that the agent itself announced. `published_at`: seconds since 1970."""

    seq: int
    digest: str
    previous_digest: str | None
    agent_version: str
    published_at: float


def judge_event(message: Message, agent_id: str) -> Announced | str:
    """What a `descriptor.replaced` event of `agent_id` announces; or why it is not believed, in a sentence.

    Source: binding 6.
    """
    try:
        members = parse(message.data.encode())
        envelope = read_envelope(members, "emit")
    except (DescriptorError, EntrywayError, UnicodeEncodeError):
        return "The event is no well-formed envelope."
    if envelope.sender != agent_id:
        return "The event is by another agent."
    if envelope.signature is None or not verify(agent_id, signed_bytes(envelope), envelope.signature):
        return "The signature of the event does not hold."
    return _announced(envelope.payload, message.id, agent_id)


def _announced(payload: Mapping[str, JsonValue], number: str, agent_id: str) -> Announced | str:
    subject, seq, previous = payload.get("subject"), payload.get("seq"), payload.get("previous_digest")
    if not isinstance(subject, dict) or subject.get("id") != agent_id:
        return "The event is about another agent."
    if not isinstance(seq, int) or isinstance(seq, bool) or str(seq) != number:
        return "The event is signed under another number."
    try:
        digest, agent_version, published_at = (
            payload.get(name) for name in ("digest", "agent_version", "published_at")
        )
        if not (isinstance(digest, str) and isinstance(agent_version, str) and isinstance(published_at, str)):
            return "The event does not say which version it announces."
        return Announced(
            seq,
            parse_digest(digest),
            parse_digest(previous) if isinstance(previous, str) else None,
            agent_version,
            parse_timestamp(published_at),
        )
    except DescriptorError as error:
        return f"The event cannot be read. {error.message}"


async def listen(
    url: str,
    after: int | None,
    heard: Callable[[Message], Awaitable[None]],
    opened: Callable[[], None] = lambda: None,
) -> None:
    """Hands every message of the node at `url` to `heard`, from behind number `after` on; `None`: from now on.

    `opened` is called when the stream has begun. Returns when the peer ends it. Raises ClientError: UNREACHABLE,
    TIMEOUT, REFUSED, UNREADABLE_REPLY.
    """
    headers = {"Accept": "text/event-stream", "Accept-Encoding": "identity", "User-Agent": "agent-node"}
    if after is not None:
        headers["Last-Event-ID"] = str(after)
    # Over plain HTTP no certificate is ever looked at, and to load those of the system takes longer than to ask.
    context = ssl.create_default_context() if url.startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # A peer may be silent for as long as its comments leave it, but not before it has answered.
    with trio.CancelScope(deadline=trio.current_time() + CONNECT) as connecting:
        try:
            async with (
                httpx.AsyncClient(
                    verify=context, trust_env=False, timeout=httpx.Timeout(CONNECT, read=SILENCE)
                ) as client,
                client.stream("GET", f"{url}/events", headers=headers) as response,
            ):
                _refuse_no_stream(response)
                connecting.deadline = math.inf
                opened()
                await _hand_over(response, heard)
        except httpx.TimeoutException:
            raise ClientError("TIMEOUT", f"{url} said nothing for {SILENCE:g} seconds.") from None
        except (httpx.TransportError, httpx.InvalidURL) as error:
            why = shown(str(error)) or type(error).__name__
            raise ClientError("UNREACHABLE", f"{url} cannot be reached: {why.rstrip('.')}.") from None
    if connecting.cancelled_caught:
        raise ClientError("TIMEOUT", f"{url} did not begin its events in {CONNECT:g} seconds.")


def _refuse_no_stream(response: httpx.Response) -> None:
    """Raises ClientError REFUSED or UNREADABLE_REPLY for what is no stream of events."""
    if response.status_code != 200:
        raise ClientError("REFUSED", f"The peer answered {response.status_code} where its events should be.")
    if response.headers.get("content-type", "").partition(";")[0].strip().lower() != "text/event-stream":
        raise ClientError("UNREADABLE_REPLY", "The peer's events are not text/event-stream.")
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise ClientError("UNREADABLE_REPLY", "The peer's events are content-encoded, which was not asked for.")


async def _hand_over(response: httpx.Response, heard: Callable[[Message], Awaitable[None]]) -> None:
    parser = StreamParser()
    pieces = response.aiter_raw()
    pace = Bucket(UNITS_A_SECOND, UNITS_AT_ONCE, trio.current_time())
    try:
        async for piece in pieces:
            for _ in range(1 + len(piece) // UNIT):
                while wait := pace.take(trio.current_time()):  # noqa: ASYNC110  # what is waited for is time itself
                    await trio.sleep(wait)
            for message in parser.feed(piece):
                await heard(message)
    finally:
        # Whatever ended it, a cancellation within `heard` among it: httpx reads through generators inside one another,
        # and only from the innermost does each of them end in its turn.
        with trio.CancelScope() as ended:
            ended.cancel()
            async for _ in pieces:
                pass
