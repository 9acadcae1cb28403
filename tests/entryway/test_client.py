"""The client, against a real server and against liars. Whatever answers, the answer is judged, bounded and in time."""

from __future__ import annotations

import gzip
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import msgpack
import pytest
import trio

from descriptor.digests import digest_of
from descriptor.encoding import b64url_encode
from descriptor.errors import DescriptorError
from descriptor.keys import Identity
from descriptor.timestamps import format_timestamp
from entryway import client
from entryway.client import Answer, ClientError, ClientLimits, ask, asking, card, fetch, target_url
from entryway.client.transport import LARGE_REPLY
from entryway.codec import Codec, encode
from entryway.envelope import new_uuid, sign_envelope
from entryway.http import json_body
from entryway.protections import AddressLimits
from entryway.routes import Entryway
from entryway.snapshot import Damaged, NonePublished
from entryway.verdict import judge_reply
from tests.entryway.parts import CARD, NOW, OTHER, OWNER, MemoryArchive, document, door, serving, snapshot_of

DATA = document()
OLD = document(agent_version="1.3.0")
DIGEST = digest_of(DATA)
LIMITS = ClientLimits(descriptor_bytes=100_000, envelope_bytes=4_000, wait=3.0)
CHECKS = {
    "envelope",
    "answers_request",
    "fresh",
    "addressed",
    "reply_signature",
    "digest",
    "descriptor_readable",
    "descriptor_signature",
    "one_agent",
    "agent_version",
}


async def put(url: str, **named: Any) -> Answer:
    """Asks, with this file's limits and time."""
    return await ask(url, **{"limits": LIMITS, "clock": lambda: NOW, **named})


async def refusal_of(awaitable: Awaitable[object]) -> ClientError:
    with pytest.raises(ClientError) as caught:
        await awaitable
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 600
    return caught.value


# A real server.


@asynccontextmanager
async def node(entryway: Entryway, addresses: AddressLimits | None = None) -> AsyncIterator[str]:
    async with serving(entryway.router, addresses) as (_, port):
        yield f"http://127.0.0.1:{port}"


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("identity", [None, OTHER])
@pytest.mark.parametrize("expected_id", [None, OWNER.id])
async def test_an_honest_node_is_verified(codec: Codec, identity: Identity | None, expected_id: str | None) -> None:
    async with node(door(snapshot_of(DATA))) as url:
        answer = await put(url, codec=codec, identity=identity, expected_id=expected_id)
    assert answer.verified
    assert set(answer.checks) == CHECKS
    assert answer.reasons == {}
    assert (answer.target, answer.status, answer.agent_version) == (url, "published", "1.4.0")
    assert (answer.digest, answer.descriptor) == (DIGEST, DATA)
    assert answer.envelope is not None
    assert answer.envelope["from"] == OWNER.id
    assert answer.error is None


@pytest.mark.parametrize("codec", Codec)
async def test_a_node_that_published_nothing_is_verified_too(codec: Codec) -> None:
    async with node(door(NonePublished())) as url:
        answer = await put(url, codec=codec)
    assert answer.verified
    assert (answer.status, answer.digest, answer.descriptor) == ("none-published", None, None)


async def test_large_answers_are_judged_one_at_a_time_and_nobody_else_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    judging: list[int] = []
    together: list[int] = []

    def judge(*arguments: Any, **named: Any) -> Any:
        judging.append(threading.get_ident())
        together.append(len(judging))
        time.sleep(0.05)
        judging.remove(threading.get_ident())
        assert threading.get_ident() != loop
        return judge_reply(*arguments, **named)

    loop = threading.get_ident()
    monkeypatch.setattr(asking, "judge_reply", judge)
    large = replace(LIMITS, envelope_bytes=200_000)
    async with node(door(snapshot_of(document(does="x" * LARGE_REPLY)))) as url:
        answers: list[Answer] = []

        async def one() -> None:
            answers.append(await put(url, limits=large))

        async with trio.open_nursery() as nursery:
            for _ in range(4):
                nursery.start_soon(one)
    assert [one.verified for one in answers] == [True] * 4
    assert together == [1] * 4


async def test_another_agent_at_this_place_is_named() -> None:
    async with node(door(snapshot_of(DATA))) as url:
        answer = await put(url, expected_id=OTHER.id)
    assert list(answer.reasons) == ["one_agent"]
    assert OWNER.id in answer.reasons["one_agent"]


async def test_a_signed_question_is_addressed_and_no_other_agent_takes_it() -> None:
    async with node(door(snapshot_of(DATA))) as url:
        answer = await put(url, identity=OTHER, expected_id=OTHER.id)
    assert answer.error is not None
    assert answer.error["code"] == "INVALID_ENVELOPE"


@pytest.mark.parametrize("codec", Codec)
async def test_a_typed_refusal_is_an_answer(codec: Codec) -> None:
    async with node(door(Damaged(DIGEST, 1))) as url:
        unavailable = await put(url, codec=codec)
        unknown = await put(url, codec=codec, exchange="whatever")
    assert unavailable.error is not None
    assert (unavailable.error["code"], unavailable.error["retryable"]) == ("AGENT_UNAVAILABLE", True)
    assert unknown.error is not None
    assert (unknown.error["code"], unknown.error["retryable"]) == ("EXCHANGE_UNKNOWN", False)
    for answer in (unavailable, unknown):
        assert not answer.verified
        assert answer.checks == {}


async def test_being_turned_away_is_an_answer_in_json_whatever_was_asked_for() -> None:
    async with node(door(snapshot_of(DATA)), AddressLimits(0.01, 1.0, 5, limit_loopback=True)) as url:
        assert (await put(url)).verified
        answer = await put(url, codec=Codec.MSGPACK)
    assert answer.error is not None
    assert answer.error["code"] == "RATE_LIMITED"


async def test_clocks_that_differ_too_much_are_found_out() -> None:
    async with node(door(snapshot_of(DATA), now=NOW - 400)) as url:
        answer = await put(url, clock=iter([NOW - 400, NOW + 300]).__next__)
    assert list(answer.reasons) == ["fresh"]
    assert "700 seconds" in answer.reasons["fresh"]


async def test_every_version_is_fetched_by_its_digest() -> None:
    async with node(door(snapshot_of(DATA), MemoryArchive([OLD]))) as url:
        assert await fetch(url, DIGEST, limits=LIMITS) == DATA
        assert await fetch(url, digest_of(OLD).removeprefix("sha256:"), limits=LIMITS) == OLD
        missing = await refusal_of(fetch(url, "0" * 64, limits=LIMITS))
    assert missing.code == "REFUSED"
    assert missing.error is not None
    assert missing.error["code"] == "NOT_FOUND"
    assert "NOT_FOUND" in missing.message


async def test_the_card_is_fetched_as_it_is_served_and_within_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    async with node(door(NonePublished())) as url:
        none = await refusal_of(card(url, limits=LIMITS))
    assert (none.code, none.error and none.error["code"]) == ("REFUSED", "NOT_PUBLISHED")
    async with node(door(snapshot_of(DATA))) as url:
        assert await card(url, limits=LIMITS) == CARD
        monkeypatch.setattr(client.documents, "CARD_BYTES", len(CARD) - 1)
        assert (await refusal_of(card(url, limits=LIMITS))).code == "TOO_LARGE"


async def test_what_is_no_digest_is_not_asked_for() -> None:
    with pytest.raises(DescriptorError) as caught:
        await fetch("http://127.0.0.1:1", "../entryway", limits=LIMITS)
    assert caught.value.code == "BAD_DIGEST"


async def test_no_environment_and_no_proxy_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with node(door(snapshot_of(DATA))) as url:
        assert (await put(url)).verified


async def test_a_path_before_the_routes_is_kept() -> None:
    asked: list[bytes] = []

    async def act(stream: trio.SocketStream, question: bytes) -> None:
        asked.append(question.split(b" ")[1])
        await stream.send_all(answered(b"", status="503 Busy"))

    async with liar(act) as url:
        await refusal_of(put(target_url(f"{url}/agents/paperwork/")))
        await refusal_of(fetch(target_url(f"{url}/agents/paperwork/"), DIGEST, limits=LIMITS))
    assert asked == [b"/agents/paperwork/entryway", f"/agents/paperwork/descriptors/{DIGEST}".encode()]


# Liars.

Act = Callable[[trio.SocketStream, bytes], Awaitable[None]]


@asynccontextmanager
async def liar(act: Act) -> AsyncIterator[str]:
    """A server that does as it likes: `act` is given the connection and the whole question."""

    async def talk(stream: trio.SocketStream) -> None:
        question = b""
        while not whole(question):
            piece = await stream.receive_some()
            if not piece:
                return
            question += piece
        try:
            await act(stream, question)
        except trio.BrokenResourceError:
            return

    with trio.fail_after(10):
        async with trio.open_nursery() as nursery:
            listeners = await nursery.start(
                lambda task_status: trio.serve_tcp(talk, 0, host="127.0.0.1", task_status=task_status)
            )
            yield f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}"
            nursery.cancel_scope.cancel()


def whole(question: bytes) -> bool:
    head, separator, body = question.partition(b"\r\n\r\n")
    sizes = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")]
    return bool(separator) and len(body) >= (int(sizes[0]) if sizes else 0)


def answered(body: bytes, *lines: str, status: str = "200 OK", media_type: str = "application/msgpack") -> bytes:
    head = [f"HTTP/1.1 {status}", f"Content-Type: {media_type}", f"Content-Length: {len(body)}", *lines, "", ""]
    return "\r\n".join(head).encode("latin-1") + body


def saying(data: bytes) -> Act:
    """Sends these bytes, whatever was asked, and closes."""

    async def act(stream: trio.SocketStream, _question: bytes) -> None:
        await stream.send_all(data)

    return act


def lie(
    request_id: str, *, identity: Identity = OWNER, stated: bytes = DATA, given: bytes | None = DATA, **members: Any
) -> bytes:
    """A reply body, signed by `identity`, that states one Descriptor and carries another."""
    envelope = {
        "v": "0.3.0",
        "id": new_uuid(),
        "type": "respond",
        "ts": format_timestamp(NOW),
        "from": identity.id,
        "in_reply_to": request_id,
        "payload": dict(snapshot_of(stated).shown.members),
        **members,
    }
    reply: dict[str, Any] = {"envelope": sign_envelope(identity, envelope)}
    if given is not None:
        reply["descriptor"] = given
    packed: bytes = msgpack.packb(reply)
    return packed


def lying(**named: Any) -> Act:
    async def act(stream: trio.SocketStream, question: bytes) -> None:
        request = msgpack.unpackb(question.partition(b"\r\n\r\n")[2])
        await stream.send_all(answered(lie(request["id"], **named)))

    return act


async def test_a_liar_that_does_not_lie_is_verified() -> None:
    async with liar(lying()) as url:
        assert (await put(url)).verified


LIES: dict[str, tuple[Act, list[str]]] = {
    "a wrong digest": (lying(stated=OLD), ["digest", "agent_version"]),
    "bytes that were tampered with": (
        lying(given=DATA.replace(b"receipts", b"everyone")),
        ["digest", "descriptor_signature"],
    ),
    "a Descriptor changed and stated anew": (
        lying(stated=DATA.replace(b"receipts", b"everyone"), given=DATA.replace(b"receipts", b"everyone")),
        ["descriptor_signature"],
    ),
    "another signer": (lying(identity=OTHER), ["one_agent"]),
    "an old reply": (lying(ts=format_timestamp(NOW - 601)), ["fresh"]),
    "a reply from the future": (lying(ts=format_timestamp(NOW + 301)), ["fresh"]),
    "the reply to another question": (lying(in_reply_to=new_uuid()), ["answers_request"]),
    "a reply to somebody else": (lying(to=OTHER.id), ["addressed"]),
    "no Descriptor": (lying(given=None), ["digest"]),
    "an unsigned Descriptor": (
        lying(stated=document(sign=False), given=document(sign=False)),
        ["descriptor_signature"],
    ),
    "a request for a reply": (lying(type="request"), ["envelope"]),
}


@pytest.mark.parametrize(("act", "failed"), LIES.values(), ids=LIES)
async def test_a_lie_fails_its_own_check(act: Act, failed: list[str]) -> None:
    async with liar(act) as url:
        answer = await put(url, expected_id=OWNER.id if failed == ["one_agent"] else None)
    assert list(answer.reasons) == failed
    assert not answer.verified


async def test_a_replayed_reply_fails_although_every_signature_holds() -> None:
    recorded: list[bytes] = []

    async def act(stream: trio.SocketStream, question: bytes) -> None:
        request = msgpack.unpackb(question.partition(b"\r\n\r\n")[2])
        recorded.append(lie(request["id"]))
        await stream.send_all(answered(recorded[0]))

    async with liar(act) as url:
        assert (await put(url)).verified
        again = await put(url)
    assert list(again.reasons) == ["answers_request"]
    assert again.checks["reply_signature"] is True


async def test_the_codec_of_the_answer_is_the_one_it_says() -> None:
    async def act(stream: trio.SocketStream, question: bytes) -> None:
        request = msgpack.unpackb(question.partition(b"\r\n\r\n")[2])
        reply = msgpack.unpackb(lie(request["id"]))
        body = json_body({"envelope": reply["envelope"], "descriptor": b64url_encode(reply["descriptor"])})
        await stream.send_all(answered(body, media_type="application/json; charset=utf-8"))

    async with liar(act) as url:
        assert (await put(url, codec=Codec.MSGPACK)).verified


# Answers that cannot be judged.


def packed(value: object) -> bytes:
    return answered(msgpack.packb(value))


HUGE = 4 * (LIMITS.descriptor_bytes // 3) + LIMITS.envelope_bytes + 100_000
CANNOT_BE_JUDGED: dict[str, tuple[bytes, str]] = {
    "not HTTP": (b"SSH-2.0-OpenSSH_9.2\r\n", "UNREADABLE_REPLY"),
    "nothing": (b"", "UNREADABLE_REPLY"),
    "a body that breaks off": (answered(b"x" * 50)[:-10], "UNREADABLE_REPLY"),
    "a huge body": (answered(b"x" * HUGE), "TOO_LARGE"),
    "a huge error": (answered(b"x" * HUGE, status="500 No"), "TOO_LARGE"),
    "a length that is a lie": (answered(b"x", "Content-Length: 2"), "UNREADABLE_REPLY"),
    "endless headers": (b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 50_000, "UNREADABLE_REPLY"),
    "one endless header": (b"HTTP/1.1 200 OK\r\nA: " + b"b" * 300_000, "UNREADABLE_REPLY"),
    "a content coding": (answered(gzip.compress(b"{}"), "Content-Encoding: gzip"), "UNREADABLE_REPLY"),
    "two content codings": (answered(b"{}", "Content-Encoding: identity, br"), "UNREADABLE_REPLY"),
    "another type": (answered(b"<html>", media_type="text/html\x1b[2J"), "UNREADABLE_REPLY"),
    "no type": (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "UNREADABLE_REPLY"),
    "no msgpack": (answered(b"\xc1"), "UNREADABLE_REPLY"),
    "msgpack with more behind": (answered(b"\x80\x80"), "UNREADABLE_REPLY"),
    "msgpack that claims much": (answered(b"\xdd\xff\xff\xff\xff" * 500), "UNREADABLE_REPLY"),
    "JSON with a name twice": (answered(b'{"a":1,"a":2}', media_type="application/json"), "UNREADABLE_REPLY"),
    "a list": (packed([]), "UNREADABLE_REPLY"),
    "a descriptor that is a number": (packed({"envelope": {}, "descriptor": 1}), "UNREADABLE_REPLY"),
    "a descriptor that is null": (packed({"envelope": {}, "descriptor": None}), "UNREADABLE_REPLY"),
    "a descriptor with padding": (packed({"envelope": {}, "descriptor": "YQ=="}), "UNREADABLE_REPLY"),
    "a descriptor with bits left over": (packed({"envelope": {}, "descriptor": "YR"}), "UNREADABLE_REPLY"),
    "a descriptor over its limit": (packed({"descriptor": bytes(LIMITS.descriptor_bytes + 1)}), "TOO_LARGE"),
    "a redirect": (answered(b"", "Location: http://127.0.0.1:1/", status="302 Found"), "REFUSED"),
    "a redirect to nowhere": (answered(b"", "Location: http://[\xff/\\", status="301 Moved"), "UNREADABLE_REPLY"),
    "a redirect to another scheme": (answered(b"", "Location: file:///etc/passwd", status="307 T"), "REFUSED"),
    "a page of a proxy": (answered(b"<html>", status="502 Bad Gateway", media_type="text/html"), "REFUSED"),
    "an error without a code": (answered(b'{"error":{}}', status="500 No", media_type="application/json"), "REFUSED"),
    "no content": (b"HTTP/1.1 204 No Content\r\n\r\n", "REFUSED"),
    "a hostile cookie": (answered(b"", "Set-Cookie: a=\xff; Domain=.; Expires=x", status="500 No"), "REFUSED"),
}


@pytest.mark.parametrize(("data", "code"), CANNOT_BE_JUDGED.values(), ids=CANNOT_BE_JUDGED)
async def test_an_answer_that_cannot_be_judged_has_a_code(data: bytes, code: str) -> None:
    async with liar(saying(data)) as url:
        error = await refusal_of(put(url))
    assert error.code == code
    assert error.error is None


async def test_a_redirect_is_named_and_not_followed() -> None:
    async with liar(saying(answered(b"", "Location: /elsewhere", status="308 Moved"))) as url:
        error = await refusal_of(put(url))
    assert error.code == "REFUSED"
    assert "308, a redirect" in error.message


@pytest.mark.parametrize("codec", Codec)
async def test_a_descriptor_just_within_its_limit_is_taken(codec: Codec) -> None:
    data = document(does="x" * 50_000)
    limits = replace(LIMITS, descriptor_bytes=len(data), envelope_bytes=1_500)
    async with node(door(snapshot_of(data))) as url:
        assert (await put(url, codec=codec, limits=limits)).verified
        error = await refusal_of(put(url, codec=codec, limits=replace(limits, descriptor_bytes=len(data) - 1)))
        assert await fetch(url, digest_of(data), limits=limits) == data
        fetched = await refusal_of(fetch(url, digest_of(data), limits=replace(limits, descriptor_bytes=len(data) - 1)))
    assert (error.code, fetched.code) == ("TOO_LARGE", "TOO_LARGE")


async def test_an_endless_body_is_cut_at_its_bound() -> None:
    sent = 0

    async def act(stream: trio.SocketStream, _question: bytes) -> None:
        nonlocal sent
        await stream.send_all(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/msgpack\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        while True:
            await stream.send_all(b"1000\r\n" + bytes(4096) + b"\r\n")
            sent += 4096

    async with liar(act) as url:
        assert (await refusal_of(put(url))).code == "TOO_LARGE"
        # A few megabytes may lie in the kernel between the two; they do not grow.
        assert sent < 50_000_000


STILL: dict[str, list[bytes]] = {
    "never answers": [],
    "stops in the headers": [b"HTTP/1.1 200 OK\r\nContent-"],
    "stops in the body": [answered(bytes(100))[:-50]],
    "dribbles": [answered(bytes(2_000))[:100], *([b"\0"] * 1_000)],
    "says continue without end": [b"HTTP/1.1 100 Continue\r\n\r\n"] * 1_000,
}


@pytest.mark.parametrize("pieces", STILL.values(), ids=STILL)
async def test_an_answer_that_is_not_whole_in_time_is_given_up(pieces: list[bytes]) -> None:
    async def act(stream: trio.SocketStream, _question: bytes) -> None:
        for piece in pieces:
            await stream.send_all(piece)
            await trio.sleep(0.02)
        await trio.sleep_forever()

    async with liar(act) as url:
        started = trio.current_time()
        error = await refusal_of(put(url, limits=replace(LIMITS, wait=0.3)))
        assert trio.current_time() - started < 2.0
    assert error.code == "TIMEOUT"
    assert "0.3 seconds" in error.message


async def test_a_closed_port_is_unreachable() -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    error = await refusal_of(put(f"http://127.0.0.1:{port}"))
    assert error.code == "UNREACHABLE"
    assert str(port) in error.message


async def test_a_name_that_is_none_is_unreachable() -> None:
    assert (await refusal_of(put("http://no-such-host.invalid:7420"))).code == "UNREACHABLE"


async def test_a_connection_that_is_reset_is_unreachable() -> None:
    async def act(stream: trio.SocketStream, _question: bytes) -> None:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        stream.socket.close()

    async with liar(act) as url:
        assert (await refusal_of(put(url))).code == "UNREACHABLE"


async def test_a_port_that_does_not_speak_tls_is_unreachable_by_https() -> None:
    async with node(door(snapshot_of(DATA))) as url:
        assert (await refusal_of(put(url.replace("http:", "https:")))).code == "UNREACHABLE"


@pytest.mark.parametrize("codec", Codec)
async def test_the_text_of_a_refusal_is_fit_to_be_shown(codec: Codec) -> None:
    text = "\x1b[2J\x1b]0;owned\x07" + "No. " * 5_000
    body = encode({"error": {"code": "X\r\n\x1b[1mY", "message": text, "retryable": "yes"}}, codec)
    async with liar(saying(answered(body, status="400 No", media_type=codec.value))) as url:
        answer = await put(url, codec=codec, limits=replace(LIMITS, envelope_bytes=50_000))
    assert answer.error is not None
    assert answer.error["code"] == "X [1mY"
    assert str(answer.error["message"]).startswith("[2J ]0;owned No. No.")
    assert len(str(answer.error["message"])) <= 201
    assert answer.error["retryable"] is False


# Fetching.


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (answered(OLD, media_type="application/json"), "DIGEST_MISMATCH"),
        (answered(DATA + b"\n", media_type="application/json"), "DIGEST_MISMATCH"),
        (answered(b"", media_type="application/json"), "DIGEST_MISMATCH"),
        (answered(DATA, media_type="application/msgpack"), "UNREADABLE_REPLY"),
        (answered(DATA, media_type="text/html"), "UNREADABLE_REPLY"),
        (answered(gzip.compress(DATA), "Content-Encoding: gzip", media_type="application/json"), "UNREADABLE_REPLY"),
        (answered(bytes(LIMITS.descriptor_bytes + 1), media_type="application/json"), "TOO_LARGE"),
        (answered(DATA, status="206 Partial Content", media_type="application/json"), "REFUSED"),
        (answered(b"", "Location: /", status="302 Found"), "REFUSED"),
    ],
)
async def test_bytes_that_were_not_asked_for_are_not_taken(data: bytes, code: str) -> None:
    async with liar(saying(data)) as url:
        assert (await refusal_of(fetch(url, DIGEST, limits=LIMITS))).code == code


# What is sent.


async def test_what_is_asked_says_no_more_than_it_must() -> None:
    heard: list[bytes] = []

    async def act(stream: trio.SocketStream, question: bytes) -> None:
        heard.append(question)
        await stream.send_all(answered(b"", status="503 Busy"))

    async with liar(act) as url:
        await refusal_of(put(url, codec=Codec.JSON))
    head, _, body = heard[0].partition(b"\r\n\r\n")
    line, *headers = head.decode().lower().split("\r\n")
    assert line == "post /entryway http/1.1"
    assert dict(header.split(": ", 1) for header in headers) == {
        "host": url.removeprefix("http://"),
        "accept": "application/json",
        "accept-encoding": "identity",
        "connection": "close",
        "content-type": "application/json",
        "content-length": str(len(body)),
        "user-agent": "agent-node",
    }


# Targets.


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://192.168.1.20:7420", "http://192.168.1.20:7420"),
        ("http://192.168.1.20:7420/", "http://192.168.1.20:7420"),
        ("HTTPS://node.example", "https://node.example"),
        ("https://node.example/agents/a/", "https://node.example/agents/a"),
        ("http://node.example", "http://node.example"),
        ("http://[fd00::1]", "http://[fd00::1]"),
        ("http://[FD00:0::1]:80/", "http://[fd00::1]:80"),
        ("desk.local", "http://desk.local:7420"),
        ("desk.local:80", "http://desk.local:80"),
        (" desk \n", "http://desk:7420"),
        ("desk_1.lan.", "http://desk_1.lan.:7420"),
        ("192.168.1.20", "http://192.168.1.20:7420"),
        ("192.168.1.20:1", "http://192.168.1.20:1"),
        ("[fd00::1]:65535", "http://[fd00::1]:65535"),
        ("[fd00::1]", "http://[fd00::1]:7420"),
        ("fd00::1", "http://[fd00::1]:7420"),
        ("::1", "http://[::1]:7420"),
        ("[fe80::1%eth0]:7420", "http://[fe80::1%eth0]:7420"),
        ("[fe80::1%25eth0]:7420", "http://[fe80::1%eth0]:7420"),
    ],
)
def test_a_target_is_a_url_a_host_or_a_host_and_port(text: str, url: str) -> None:
    assert target_url(text) == url
    assert target_url(target_url(text)) == url


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        OWNER.id,
        "@paperwork",
        "paperwork@home",
        "paper work",
        "ftp://host",
        "file:///etc/passwd",
        "http://",
        "http:///path",
        "http://:80",
        ":80",
        "host:",
        "host:0",
        "host:65536",
        "host:1e3",
        "host:+80",
        "host:\u0668\u0660",
        "host:80:80",
        "host/path",
        "http://host/?query",
        "http://host/#part",
        "http://host?query",
        "http://user:secret@host",
        "http://host\\evil",
        "http://host/a b",
        "http://host/\x1b[2J",
        "http://host\r\nX: y/",
        "http://[fd00::1",
        "http://fd00::1]:80",
        "http://[192.168.1.20]:80",
        "[host]:80",
        "[]:80",
        "[fe80::1%25a@b]:80",
        "[fe80::1%25a/b]:80",
        "[fe80::1%\u00e9]:80",
        "xn--",
        "xn--zz.local",
        "2.08.1.2",
        "[fd00::1]x:80",
        "[fd00::1]80",
        "host..local",
        "grüße.local",
        "h" * 64,
        "h." * 130,
        "http://" + "h" * 5_000,
    ],
)
def test_any_other_target_is_refused_with_what_to_give(text: str) -> None:
    with pytest.raises(ClientError) as caught:
        target_url(text)
    assert caught.value.code == "BAD_TARGET"
    assert "Give a URL or host:port" in caught.value.message
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 300


def test_httpx_is_paid_for_only_by_who_asks() -> None:
    program = "import sys, entryway.server, entryway.routes, entryway.verdict; sys.exit('httpx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
