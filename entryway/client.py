"""Asks another node, and trusts nothing it sends.

The invariant: an answer costs at most the bytes and the seconds it was given, whoever answers. One deadline stands over
name resolution, connection, question and answer together; the body is counted as it comes; no redirect is followed, no
proxy and no environment is asked, no content coding is undone. What comes is judged by `verdict`; here is only the way
to it.

httpx is imported nowhere else, so that a daemon that asks nobody does not pay for it.

Source: binding 3, 4 and 9.
"""

from __future__ import annotations

import functools
import ipaddress
import re
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Self

import httpx
import trio

from descriptor.digests import digest_of, parse_digest
from descriptor.encoding import b64url_decode
from descriptor.errors import DescriptorError, quoted
from descriptor.keys import Identity
from descriptor.strictjson import JsonValue
from descriptor.timestamps import parse_timestamp
from entryway.codec import Codec, body_codec, decode, encode
from entryway.envelope import request_envelope
from entryway.errors import EntrywayError
from entryway.verdict import Verdict, judge_reply, read_error, shown

DEFAULT_PORT = 7420
HISTORY_BYTES = 4096  # bytes of one version in a history
CARD_BYTES = 2**22  # bytes of a card: what it adds to each offering may come to more than a small one says
SCHEMES = ("http", "https")

_AGENT_ID = re.compile(r"U[A-Z2-7]{55}")
# What stands behind the % of an IPv6 address goes into the URL as it is, where other characters would end the host.
_ADDRESS = re.compile(r"[0-9A-Fa-f:.]+(%[A-Za-z0-9._~-]+)?")
_NAME = re.compile(r"(?=.{1,253}\Z)[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*\.?")
_PATH = re.compile(r"[A-Za-z0-9/._~!$&'()*+,;=:@%-]*")
_HINT = "Give a URL or host:port, such as http://192.168.1.20:7420 or desk.local:7420."


class ClientError(Exception):
    """No answer that can be judged.

    | code              | means                                                                                   |
    |-------------------|-----------------------------------------------------------------------------------------|
    | `BAD_TARGET`      | the target is not one; nothing was sent                                                 |
    | `UNREACHABLE`     | no connection, or it broke off                                                          |
    | `TIMEOUT`         | no whole answer in the time given                                                       |
    | `TOO_LARGE`       | the answer goes beyond its bound                                                        |
    | `UNREADABLE_REPLY`| what came is not what the binding says                                                  |
    | `REFUSED`         | the peer answered with another status than 200; `error` is its error body, when it sent one |
    | `DIGEST_MISMATCH` | the bytes that came are not the ones the digest names                                   |

    `message` is for people, and holds text of the peer only stripped and bounded.
    """

    def __init__(self, code: str, message: str, error: Mapping[str, JsonValue] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.error = error


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """Bounds of one question: bytes of a Descriptor and of everything beside it, and seconds for the whole."""

    descriptor_bytes: int = 2**20
    envelope_bytes: int = 64 * 1024
    wait: float = 10.0


DEFAULT_LIMITS = ClientLimits()


@dataclass(frozen=True, slots=True)
class Answer(Verdict):
    """What came, what it is worth, and `target`: the base URL that was asked."""

    target: str = ""

    @classmethod
    def of(cls, target: str, verdict: Verdict) -> Self:
        """The verdict on what `target` answered."""
        return cls(**{one.name: getattr(verdict, one.name) for one in fields(verdict)}, target=target)


@dataclass(frozen=True, slots=True)
class _Received:
    status: int
    content_type: str
    body: bytes


def target_url(text: str) -> str:
    """The base URL of a target, without a slash at its end, such as `"http://desk.local:7420"`.

    Takes a URL (`http` or `https`; its path is where the node's paths begin), `host:port`, `[v6]:port`, and a host
    alone, at port 7420. Raises ClientError BAD_TARGET for everything else.

    Source: binding 9.
    """
    text = text.strip()
    scheme, separator, rest = text.partition("://")
    if not separator:
        if _AGENT_ID.fullmatch(text):
            raise ClientError("BAD_TARGET", f"This is an agent's id, which does not say where the agent is. {_HINT}")
        return f"http://{_authority(text, DEFAULT_PORT)}"
    if scheme.lower() not in SCHEMES:
        raise ClientError("BAD_TARGET", f"{quoted(text)} begins with no scheme that is spoken here. {_HINT}")
    authority, slash, path = rest.partition("/")
    if not _PATH.fullmatch(path):
        raise ClientError("BAD_TARGET", f"{quoted(text)} has more than a path behind its host. {_HINT}")
    return f"{scheme.lower()}://{_authority(authority, None)}{slash}{path}".rstrip("/")


async def ask(
    url: str,
    *,
    exchange: int | str = 2,
    codec: Codec = Codec.MSGPACK,
    identity: Identity | None = None,
    expected_id: str | None = None,
    limits: ClientLimits = DEFAULT_LIMITS,
    clock: Callable[[], float],
) -> Answer:
    """Asks the node at `url`, a base URL (`target_url`), one exchange.

    `identity` signs the question. `expected_id`: the agent that should answer. A signed question is also addressed to
    it, so that nobody can pass the question on to another; an unsigned one is not, so that another agent at this place
    answers and is named (`one_agent`). `clock`: seconds since 1970. A typed refusal is an answer too: it stands in
    `error`.

    Raises ClientError: UNREACHABLE, TIMEOUT, TOO_LARGE, UNREADABLE_REPLY, REFUSED.
    Source: binding 4.
    """
    addressee = expected_id if identity is not None else None
    request = request_envelope({"exchange": exchange}, clock(), to=addressee, identity=identity)
    # In JSON the Descriptor is base64url: four characters for three bytes.
    most = limits.envelope_bytes + 4 * -(-limits.descriptor_bytes // 3)
    received = await _send(f"{url}/entryway", most, limits.wait, accept=codec, content=encode(request, codec))
    if received.status != 200:
        error = _error_of(received)
        if error is None:
            raise _refused(received, None)
        return Answer(target=url, error=error)
    reply = _reply_map(received)
    descriptor = _descriptor_in(reply, limits)
    return Answer.of(url, judge_reply(reply, request, clock(), descriptor, expected_id=expected_id))


async def fetch(url: str, digest: str, *, limits: ClientLimits = DEFAULT_LIMITS) -> bytes:
    """The exact bytes that `digest` names, from the node at `url`, a base URL (`target_url`). They match it.

    Raises DescriptorError BAD_DIGEST; ClientError: UNREACHABLE, TIMEOUT, TOO_LARGE, UNREADABLE_REPLY, REFUSED,
    DIGEST_MISMATCH.
    Source: binding 3; chapter 6.5.
    """
    digest = parse_digest(digest)
    received = await _send(f"{url}/descriptors/{digest}", limits.descriptor_bytes, limits.wait, accept=Codec.JSON)
    if received.status != 200:
        raise _refused(received, _error_of(received))
    if _codec_of(received) is not Codec.JSON:
        raise _unreadable("A Descriptor is application/json; this answer says otherwise.")
    if digest_of(received.body) != digest:
        raise ClientError(
            "DIGEST_MISMATCH", f"The bytes that came have the digest {digest_of(received.body)}, not {digest}."
        )
    return received.body


async def card(url: str, *, limits: ClientLimits = DEFAULT_LIMITS) -> bytes:
    """The A2A card that the node at `url`, a base URL (`target_url`), serves. It is what came, and not yet verified.

    Raises ClientError: UNREACHABLE, TIMEOUT, TOO_LARGE, UNREADABLE_REPLY, REFUSED. Source: binding 3.
    """
    received = await _send(f"{url}/.well-known/agent-card.json", CARD_BYTES, limits.wait, accept=Codec.JSON)
    if received.status != 200:
        raise _refused(received, _error_of(received))
    return received.body


async def register(url: str, data: bytes, *, limits: ClientLimits = DEFAULT_LIMITS) -> Mapping[str, JsonValue]:
    """Hands a Descriptor to the registry at `url`; returns what it says: subject, digest, and whether it is current.

    Raises ClientError: UNREACHABLE, TIMEOUT, TOO_LARGE, UNREADABLE_REPLY, REFUSED. Source: binding 8.
    """
    asked = f"{url}/registry"
    received = await _send(asked, limits.envelope_bytes, limits.wait, accept=Codec.JSON, content=data, method="PUT")
    if received.status not in (200, 201):
        raise _refused(received, _error_of(received))
    return _reply_map(received)


async def registered(url: str, subject: str, *, limits: ClientLimits = DEFAULT_LIMITS) -> bytes | None:
    """The bytes that the registry at `url` serves as the current Descriptor of `subject`; `None` when it has none.

    They are what came, and not yet verified. Raises ClientError: UNREACHABLE, TIMEOUT, TOO_LARGE, REFUSED.
    """
    received = await _send(f"{url}/registry/{subject}", limits.descriptor_bytes, limits.wait, accept=Codec.JSON)
    if received.status == 404:
        return None
    if received.status != 200:
        raise _refused(received, _error_of(received))
    return received.body


async def history(
    url: str, *, limit: int, before: int | None = None, limits: ClientLimits = DEFAULT_LIMITS
) -> tuple[tuple[tuple[str, float], ...], int | None]:
    """A page of the history of the node at `url`, newest first: digests and when each was published.

    The second value is the `before` of the next page, `None` on the last. What is read here is a list of names: each
    version is believed when its bytes verify. Raises ClientError: UNREACHABLE, TIMEOUT, TOO_LARGE, UNREADABLE_REPLY,
    REFUSED. Source: binding 3.
    """
    asked = f"{url}/descriptors?limit={limit}" + ("" if before is None else f"&before={before}")
    received = await _send(asked, HISTORY_BYTES * limit + limits.envelope_bytes, limits.wait, accept=Codec.JSON)
    if received.status != 200:
        raise _refused(received, _error_of(received))
    page = _reply_map(received)
    listed, following = page.get("versions"), page.get("next")
    try:
        versions = tuple(_listed(one) for one in (listed if isinstance(listed, list) else [None]))
    except DescriptorError:
        raise _unreadable("The history is not a list of versions.") from None
    if following is not None and (isinstance(following, bool) or not isinstance(following, int) or following < 1):
        raise _unreadable("The history does not say where it goes on.")
    if isinstance(following, int) and before is not None and following >= before:
        raise _unreadable("The history goes on where it has been.")
    return versions, following


def _listed(version: JsonValue) -> tuple[str, float]:
    """Digest and time of one version of a history. Raises DescriptorError."""
    stated = version if isinstance(version, dict) else {}
    digest, published_at = stated.get("digest"), stated.get("published_at")
    if not isinstance(digest, str) or not isinstance(published_at, str):
        raise DescriptorError("NOT_AN_OBJECT", "A version has a digest and a time.")
    return parse_digest(digest), parse_timestamp(published_at)


def _authority(text: str, default_port: int | None) -> str:
    """`host:port` with the host checked. Without a port, and without a default, the scheme's own is meant."""
    if (address := _ip_address(text)) is not None and ":" in address:
        return f"[{address}]" if default_port is None else f"[{address}]:{default_port}"
    host, separator, port = text.rpartition(":")
    if not separator or text.endswith("]"):
        host, port = text, "" if default_port is None else str(default_port)
    elif not (port.isascii() and port.isdecimal() and len(port) <= 5 and 1 <= int(port) <= 65535):
        raise ClientError("BAD_TARGET", f"{quoted(text)} ends in no port, which is a number from 1 to 65535. {_HINT}")
    if host.startswith("[") and host.endswith("]"):
        inner = _ip_address(host[1:-1].replace("%25", "%", 1))
        good = inner is not None and ":" in inner
        host = f"[{inner}]"
    else:
        good = _NAME.fullmatch(host) is not None and _is_read(host)
    if not good:
        raise ClientError("BAD_TARGET", f"{quoted(text)} names no host. {_HINT}")
    return f"{host}:{port}" if port else host


def _is_read(host: str) -> bool:
    """Whether httpx reads the name. It refuses four numbers that are no address, and what only looks like Punycode."""
    try:
        return bool(httpx.URL(f"http://{host}").host)
    except (httpx.InvalidURL, UnicodeError):
        return False


def _ip_address(text: str) -> str | None:
    if not _ADDRESS.fullmatch(text):
        return None
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return None


async def _send(
    url: str, most: int, wait: float, *, accept: Codec, content: bytes | None = None, method: str | None = None
) -> _Received:
    """One request and its answer, at most `most` bytes of it. Raises ClientError."""
    method = method or ("GET" if content is None else "POST")
    headers = {"Accept": accept.value, "Accept-Encoding": "identity", "User-Agent": "agent-node", "Connection": "close"}
    if content is not None:
        headers["Content-Type"] = accept.value
    context = ssl.create_default_context() if url.startswith("https:") else _no_certificates()
    try:
        with trio.fail_after(wait):
            async with (
                httpx.AsyncClient(verify=context, trust_env=False, timeout=wait) as client,
                client.stream(method, url, headers=headers, content=content) as response,
            ):
                return await _read(response, most)
    except (trio.TooSlowError, httpx.TimeoutException):
        raise ClientError("TIMEOUT", f"{url} gave no whole answer in {wait:g} seconds.") from None
    except httpx.ProtocolError as error:
        raise _unreadable(f"What came from {url} broke off or is not HTTP ({type(error).__name__}).") from None
    except (httpx.TransportError, httpx.InvalidURL) as error:
        why = shown(str(error)) or type(error).__name__
        raise ClientError("UNREACHABLE", f"{url} cannot be reached: {why.rstrip('.')}.") from None


@functools.cache
def _no_certificates() -> ssl.SSLContext:
    """What httpx asks for and plain HTTP never looks at. One is enough: to make it takes as long as to ask."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


async def _read(response: httpx.Response, most: int) -> _Received:
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise _unreadable("The answer is content-encoded, which no digest survives.")
    body = bytearray()
    # Where it is too much, reading ends by cancellation: httpx reads through generators inside one another, and only
    # from the innermost does each of them end in its turn.
    with trio.CancelScope() as reading:
        async for piece in response.aiter_raw():
            if len(body) + len(piece) > most:
                reading.cancel()
            else:
                body += piece
    if reading.cancel_called:
        raise ClientError("TOO_LARGE", f"The answer goes beyond the {most} bytes that are taken.")
    return _Received(response.status_code, response.headers.get("content-type", ""), bytes(body))


def _codec_of(received: _Received) -> Codec:
    try:
        return body_codec(received.content_type.encode())
    except EntrywayError:
        said = quoted(shown(received.content_type))
        raise _unreadable(f"The answer is neither application/msgpack nor application/json, but {said}.") from None


def _reply_map(received: _Received) -> dict[str, JsonValue]:
    codec = _codec_of(received)
    try:
        value = decode(received.body, codec)
    except EntrywayError:
        raise _unreadable(f"The answer is not well-formed {codec.value}.") from None
    if not isinstance(value, dict):
        raise _unreadable("The answer is not a map.")
    return value


def _descriptor_in(reply: dict[str, JsonValue], limits: ClientLimits) -> bytes | None:
    """The bytes beside the envelope; `None` when there are none. Both codecs bring them as base64url (`codec`)."""
    if "descriptor" not in reply:
        return None
    text = reply["descriptor"]
    if not isinstance(text, str):
        raise _unreadable("The descriptor beside the envelope is not bytes.")
    try:
        data = b64url_decode(text)
    except DescriptorError as error:
        raise _unreadable(f"The descriptor beside the envelope is unreadable. {error.message}") from None
    if len(data) > limits.descriptor_bytes:
        raise ClientError(
            "TOO_LARGE", f"The Descriptor goes beyond the {limits.descriptor_bytes} bytes that are taken."
        )
    return data


def _error_of(received: _Received) -> dict[str, JsonValue] | None:
    """The error body of an answer that is not 200; `None` when it holds none, as a proxy's page does not."""
    try:
        return read_error(_reply_map(received))
    except ClientError:
        return None


def _refused(received: _Received, error: Mapping[str, JsonValue] | None) -> ClientError:
    if error is not None:
        return ClientError("REFUSED", f"The peer refused ({error['code']}): {error['message']}", error)
    if 300 <= received.status < 400:
        return ClientError("REFUSED", f"The peer answered {received.status}, a redirect, and none is followed.")
    return ClientError("REFUSED", f"The peer answered {received.status}, without saying why.")


def _unreadable(message: str) -> ClientError:
    return ClientError("UNREADABLE_REPLY", message)
