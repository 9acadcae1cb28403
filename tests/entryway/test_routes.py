"""Every route of the entryway, asked as a stranger would, without a socket."""

from __future__ import annotations

import json
from typing import Any

import msgpack
import pytest
import rfc8785
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from nacl.signing import VerifyKey

from descriptor.digests import digest_of
from descriptor.encoding import b64url_decode, b64url_encode
from descriptor.timestamps import format_timestamp
from entryway.codec import Codec, decode, encode
from entryway.envelope import request_envelope
from entryway.errors import EntrywayError
from entryway.exchanges import NEED_SIGNATURE
from entryway.http import Response
from entryway.routes import Entryway
from entryway.snapshot import IMMUTABLE, Damaged, NonePublished
from tests.entryway.parts import (
    CARD,
    NOW,
    OTHER,
    OWNER,
    PUBLISHED_AT,
    MemoryArchive,
    Received,
    answer_of,
    asked,
    document,
    door,
    post,
    received,
    snapshot_of,
)
from tests.entryway.test_codec import JSON_VALUES

CURRENT = document()
OLD = [document(agent_version=f"1.{minor}.0") for minor in range(4)]
DIGEST = digest_of(CURRENT)
WELL_KNOWN = "/.well-known/agent-descriptor.json"
AGENT_CARD = "/.well-known/agent-card.json"


def published_door(archive: MemoryArchive | None = None) -> Entryway:
    return door(snapshot_of(CURRENT, seq=5), archive)


# The current version.


async def test_the_well_known_route_answers_the_exact_bytes() -> None:
    got = await answer_of(published_door(), asked("GET", WELL_KNOWN))
    assert (got.status, got.body) == (200, CURRENT)
    assert got.headers["etag"] == f'"{DIGEST}"'
    assert got.headers["content-length"] == str(len(CURRENT))


async def test_the_card_is_answered_by_its_own_digest() -> None:
    got = await answer_of(published_door(), asked("GET", AGENT_CARD))
    assert (got.status, got.body, got.headers["cache-control"]) == (200, CARD, "no-cache")
    assert got.headers["etag"] == f'"{digest_of(CARD)}"'
    assert got.headers["access-control-allow-origin"] == "*"
    assert "agent-version" not in got.headers
    again = await answer_of(published_door(), asked("GET", AGENT_CARD, {"If-None-Match": got.headers["etag"]}))
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", got.headers["etag"])


@pytest.mark.parametrize("target", [WELL_KNOWN, AGENT_CARD, f"/descriptors/{DIGEST}", "/descriptors"])
async def test_head_answers_what_get_does_without_the_body(target: str) -> None:
    entryway = published_door(MemoryArchive([*OLD, CURRENT]))
    full, head = await answer_of(entryway, asked("GET", target)), await answer_of(entryway, asked("HEAD", target))
    assert head == Received(full.status, full.headers, b"")


@pytest.mark.parametrize("target", [WELL_KNOWN, f"/descriptors/{DIGEST}"])
async def test_a_reader_that_has_the_bytes_gets_304(target: str) -> None:
    entryway = published_door()
    for method in ("GET", "HEAD"):
        got = await answer_of(entryway, asked(method, target, {"If-None-Match": f'"x", W/"{DIGEST}"'}))
        assert (got.status, got.body) == (304, b"")


@pytest.mark.parametrize("target", [WELL_KNOWN, AGENT_CARD])
async def test_before_the_first_publish_the_well_known_routes_say_so(target: str) -> None:
    got = await answer_of(door(NonePublished()), asked("GET", target))
    assert got.status == 404
    assert got.error()["code"] == "NOT_PUBLISHED"
    assert got.headers["access-control-allow-origin"] == "*"


async def test_damaged_bytes_are_never_served() -> None:
    entryway = door(Damaged(DIGEST, 1), MemoryArchive([CURRENT]))
    for target in (WELL_KNOWN, AGENT_CARD, f"/descriptors/{DIGEST}"):
        got = await answer_of(entryway, asked("GET", target))
        assert got.status == 503
        assert got.error()["code"] == "AGENT_UNAVAILABLE"
        assert got.error()["retryable"] is True


async def test_an_answer_is_of_one_version_and_a_swap_is_seen_at_once() -> None:
    entryway = published_door()
    entryway.snapshot = snapshot_of(OLD[0], seq=6)
    got = await answer_of(entryway, asked("GET", WELL_KNOWN))
    assert got.body == OLD[0]
    assert got.headers["etag"] == f'"{digest_of(OLD[0])}"'
    assert got.headers["agent-version"] == "1.0.0"


# One version, by its digest.


@pytest.mark.parametrize("spelled", ["sha256:HEX", "HEX", "sha256%3AHEX"])
@pytest.mark.parametrize("data", [CURRENT, OLD[1]])
async def test_every_version_is_served_by_its_digest(data: bytes, spelled: str) -> None:
    target = "/descriptors/" + spelled.replace("HEX", digest_of(data).removeprefix("sha256:"))
    got = await answer_of(published_door(MemoryArchive(OLD)), asked("GET", target))
    assert (got.status, got.body) == (200, data)
    assert got.headers["etag"] == f'"{digest_of(data)}"'
    assert got.headers["cache-control"] == IMMUTABLE


async def test_an_old_version_gets_304_too() -> None:
    digest = digest_of(OLD[1])
    entryway = published_door(MemoryArchive(OLD))
    got = await answer_of(entryway, asked("GET", f"/descriptors/{digest}", {"If-None-Match": f'"{digest}"'}))
    assert (got.status, got.body) == (304, b"")


@pytest.mark.parametrize(
    "name",
    [
        "",
        "sha256:" + "0" * 64,
        "0" * 64,
        "0" * 63,
        DIGEST.upper(),
        DIGEST + "0",
        DIGEST + "/",
        "sha512:" + DIGEST[7:],
        "..%2F..%2Fetc%2Fpasswd",
        "%00",
        "%ff%fe",
        "'; DROP TABLE artifacts; --",
        "x" * 5_000,
    ],
)
async def test_any_other_digest_is_not_found(name: str) -> None:
    got = await answer_of(published_door(MemoryArchive(OLD)), asked("GET", f"/descriptors/{name}"))
    assert got.status == 404
    assert got.error()["code"] == "NOT_FOUND"
    assert len(got.error()["message"]) < 400


async def test_an_archive_that_cannot_read_is_an_answer() -> None:
    class Broken(MemoryArchive):
        async def artifact(self, digest: str) -> bytes | None:
            raise EntrywayError("AGENT_UNAVAILABLE", f"{digest} is damaged.")

    got = await answer_of(published_door(Broken()), asked("GET", f"/descriptors/{digest_of(OLD[0])}"))
    assert (got.status, got.error()["code"]) == (503, "AGENT_UNAVAILABLE")


# The history.


async def history(entryway: Entryway, query: str = "") -> dict[str, Any]:
    got = await answer_of(entryway, asked("GET", f"/descriptors{query}"))
    assert got.status == 200
    assert got.headers["content-type"] == "application/json"
    assert got.headers["access-control-allow-origin"] == "*"
    page: dict[str, Any] = json.loads(got.body)
    assert set(page) == {"versions", "next"}
    return page


async def test_the_history_is_newest_first_and_says_what_is_current() -> None:
    page = await history(published_door(MemoryArchive([*OLD, CURRENT])))
    assert [one["digest"] for one in page["versions"]] == [digest_of(data) for data in (CURRENT, *reversed(OLD))]
    assert page["versions"][0] == {
        "digest": DIGEST,
        "agent_version": "1.5.0",
        "published_at": format_timestamp(PUBLISHED_AT + 5),
        "size": len(CURRENT),
        "current": True,
    }
    assert [one["current"] for one in page["versions"]] == [True, False, False, False, False]
    assert page["next"] is None


async def test_the_history_comes_in_pages_with_none_left_out_and_none_twice() -> None:
    entryway = published_door(MemoryArchive([*OLD, CURRENT]))
    seen, query = [], "?limit=2"
    for _ in range(3):
        page = await history(entryway, query)
        seen += [one["digest"] for one in page["versions"]]
        query = f"?limit=2&before={page['next']}"
    assert page["next"] is None
    assert seen == [digest_of(data) for data in (CURRENT, *reversed(OLD))]


async def test_a_page_has_100_versions_unless_it_is_asked_for_up_to_500() -> None:
    entryway = published_door(MemoryArchive([str(number).encode() for number in range(600)]))
    assert len((await history(entryway))["versions"]) == 100
    assert len((await history(entryway, "?limit=500"))["versions"]) == 500
    assert len((await history(entryway, "?limit=1"))["versions"]) == 1


async def test_before_the_first_publish_the_history_is_empty() -> None:
    assert await history(door(NonePublished())) == {"versions": [], "next": None}


async def test_the_current_version_is_current_though_it_is_damaged() -> None:
    page = await history(door(Damaged(DIGEST, 1), MemoryArchive([CURRENT])))
    assert [one["current"] for one in page["versions"]] == [True]


@pytest.mark.parametrize(
    "query",
    [
        *("limit=0", "limit=501", "limit=-1", "limit=+1", "limit=1.0", "limit=", "limit=x", "limit=1&limit=2"),
        *("limit=%D9%A1", "before=0", "before=", "before=x", f"before={2**63}", "before=" + "9" * 5_000),
    ],
)
async def test_a_page_that_makes_no_sense_is_refused(query: str) -> None:
    got = await answer_of(published_door(), asked("GET", f"/descriptors?{query}"))
    assert (got.status, got.error()["code"]) == (400, "INPUT_INVALID")


async def test_what_is_not_known_in_a_query_is_passed_over() -> None:
    await history(published_door(), "?limit=5&verbose&x=%ff")


# Questions.


def ask(entryway: Entryway, members: object, codec: Codec = Codec.JSON, **headers: str) -> Received:
    answer = entryway.router.respond(post(members, codec, **headers))
    assert isinstance(answer, Response), "a question must be answered without waiting for a disk"
    return received(answer)


def reply_in(got: Received, codec: Codec) -> dict[str, Any]:
    assert got.status == 200, got.body
    assert got.headers["content-type"] == codec.value
    assert got.headers["cache-control"] == "no-store"
    value = decode(got.body, codec)
    assert isinstance(value, dict)
    return value


def check_reply(reply: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    """Checks a reply with rfc8785 and PyNaCl, and returns its payload."""
    envelope = dict(reply["envelope"])
    signature = b64url_decode(envelope.pop("sig"), 64)
    VerifyKey(OWNER.public).verify(b"agentmesh-envelope-v1\n" + rfc8785.dumps(envelope), signature)
    assert envelope["in_reply_to"] == request["id"]
    assert (envelope["type"], envelope["from"], envelope["v"]) == ("respond", OWNER.id, "0.3.0")
    payload: dict[str, Any] = envelope["payload"]
    return payload


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("identity", [None, OTHER])
async def test_exchange_2_answers_the_exact_bytes_under_a_signed_digest(codec: Codec, identity: Any) -> None:
    request = request_envelope({"exchange": 2}, NOW, to=OWNER.id, identity=identity)
    reply = reply_in(ask(published_door(), request, codec), codec)
    assert check_reply(reply, request) == {
        "status": "published",
        "digest": DIGEST,
        "agent_version": "1.4.0",
        "size": len(CURRENT),
        "published_at": format_timestamp(PUBLISHED_AT),
    }
    assert b64url_decode(reply["descriptor"]) == CURRENT
    assert reply["envelope"].get("to") == (None if identity is None else OTHER.id)
    assert reply["envelope"]["ts"] == format_timestamp(NOW)


@pytest.mark.parametrize("codec", Codec)
async def test_the_reply_comes_in_the_other_codec_when_accept_names_it(codec: Codec) -> None:
    request = request_envelope({"exchange": 2}, NOW)
    reply = reply_in(ask(published_door(), request, codec, Accept=codec.other.value), codec.other)
    check_reply(reply, request)


async def test_in_msgpack_the_descriptor_is_a_bin() -> None:
    got = ask(published_door(), request_envelope({"exchange": 2}, NOW), Codec.MSGPACK)
    assert msgpack.unpackb(got.body)["descriptor"] == CURRENT


async def test_in_json_the_descriptor_is_base64url_without_padding() -> None:
    got = ask(published_door(), request_envelope({"exchange": 2}, NOW), Codec.JSON)
    assert json.loads(got.body)["descriptor"] == b64url_encode(CURRENT)


@pytest.mark.parametrize("codec", Codec)
async def test_an_agent_that_published_nothing_says_so_signed(codec: Codec) -> None:
    request = request_envelope({"exchange": 2}, NOW)
    reply = reply_in(ask(door(NonePublished()), request, codec), codec)
    assert check_reply(reply, request) == {"status": "none-published"}
    assert "descriptor" not in reply


async def test_a_damaged_version_is_unavailable_and_not_none_published() -> None:
    got = ask(door(Damaged(DIGEST, 1)), request_envelope({"exchange": 2}, NOW))
    assert (got.status, got.error()["code"]) == (503, "AGENT_UNAVAILABLE")


async def test_every_reply_is_new() -> None:
    request = request_envelope({"exchange": 2}, NOW)
    entryway = published_door()
    first, second = (reply_in(ask(entryway, request), Codec.JSON)["envelope"]["id"] for _ in range(2))
    assert first != second


async def test_a_signed_question_is_answered_once() -> None:
    entryway, request = published_door(), request_envelope({"exchange": 2}, NOW, identity=OTHER)
    assert ask(entryway, request).status == 200
    got = ask(entryway, request)
    assert (got.status, got.error()["code"]) == (400, "INVALID_ENVELOPE")


def forged() -> dict[str, Any]:
    return {**request_envelope({"exchange": 2}, NOW, identity=OTHER), "payload": {"exchange": 4}}


@pytest.mark.parametrize(
    "members",
    [
        forged(),
        request_envelope({"exchange": 2}, NOW - 601),
        request_envelope({"exchange": 2}, NOW + 301),
        request_envelope({"exchange": 2}, NOW, to=OTHER.id),
        request_envelope({"exchange": 3}, NOW),
        request_envelope({"exchange": 5}, NOW),
        {**request_envelope({"exchange": 2}, NOW), "v": "9"},
        {**request_envelope({"exchange": 2}, NOW), "id": "1"},
        [],
        None,
        "text",
    ],
)
@pytest.mark.parametrize("codec", Codec)
async def test_an_envelope_that_is_not_taken_gets_one_answer_whatever_the_reason(members: Any, codec: Codec) -> None:
    got = ask(published_door(), members, codec)
    malformed = ask(published_door(), {}, codec)
    assert (got.status, got.headers, got.body) == (400, malformed.headers, malformed.body)
    assert got.headers["content-type"] == codec.value
    error = decode(got.body, codec)
    assert isinstance(error, dict)
    assert set(error) == {"error"}


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ({}, "INPUT_INVALID"),
        ({"exchange": None}, "INPUT_INVALID"),
        ({"exchange": True}, "INPUT_INVALID"),
        ({"exchange": 2.5}, "INPUT_INVALID"),
        ({"exchange": [2]}, "INPUT_INVALID"),
        ({"exchange": 99}, "EXCHANGE_UNKNOWN"),
        ({"exchange": "2"}, "EXCHANGE_UNKNOWN"),
        ({"exchange": "x" * 50_000}, "EXCHANGE_UNKNOWN"),
    ],
)
async def test_an_exchange_that_is_not_answered_is_refused_by_name(payload: dict[str, Any], code: str) -> None:
    got = ask(published_door(), request_envelope(payload, NOW))
    assert (got.status, got.error()["code"]) == (400, code)
    assert len(got.body) < 400


@pytest.mark.parametrize("number", sorted(NEED_SIGNATURE))
async def test_an_exchange_about_who_asks_is_looked_at_only_when_it_is_signed(number: int) -> None:
    unsigned = request_envelope({"exchange": number}, NOW)
    assert ask(published_door(), unsigned).error()["code"] == "INVALID_ENVELOPE"
    signed = request_envelope({"exchange": number}, NOW, identity=OTHER)
    assert (await answer_of(published_door(), post(signed))).status == 200


@pytest.mark.parametrize("content_type", ["text/plain", "", "multipart/form-data", "application/x-www-form-urlencoded"])
async def test_a_body_of_another_type_is_refused(content_type: str) -> None:
    got = await answer_of(published_door(), asked("POST", "/entryway", {"Content-Type": content_type}, b"{}"))
    assert (got.status, got.error()["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")


async def test_a_question_without_a_content_type_is_refused() -> None:
    got = await answer_of(published_door(), asked("POST", "/entryway", {}, b"{}"))
    assert got.status == 415


async def test_no_page_may_ask_the_entryway_on_behalf_of_its_reader() -> None:
    got = ask(published_door(), request_envelope({"exchange": 2}, NOW))
    assert "access-control-allow-origin" not in got.headers


@settings(max_examples=100, deadline=None)
@given(members=JSON_VALUES | st.dictionaries(st.sampled_from(["v", "id", "payload", "sig"]), JSON_VALUES))
@pytest.mark.parametrize("codec", Codec)
def test_any_body_gets_a_typed_answer(codec: Codec, members: Any) -> None:
    got = ask(published_door(), members, codec)
    assert got.status == 400


@settings(max_examples=100, deadline=None)
@given(payload=st.dictionaries(st.just("exchange") | st.text(max_size=3), JSON_VALUES, max_size=3))
def test_any_payload_gets_a_typed_answer(payload: dict[str, Any]) -> None:
    body = encode(request_envelope(payload, NOW), Codec.MSGPACK)
    answer = published_door().router.respond(asked("POST", "/entryway", {"Content-Type": "application/msgpack"}, body))
    assert isinstance(answer, Response)
    exchange = payload.get("exchange")
    answered = (type(exchange) is int and exchange in (1, 2, 4)) or exchange == "help"
    assert answer.status == (200 if answered else 400)


@pytest.mark.parametrize(
    ("method", "target", "allow"),
    [
        ("POST", WELL_KNOWN, "GET, HEAD, OPTIONS"),
        ("POST", AGENT_CARD, "GET, HEAD, OPTIONS"),
        ("PUT", f"/descriptors/{DIGEST}", "GET, HEAD, OPTIONS"),
        ("DELETE", "/descriptors", "GET, HEAD, OPTIONS"),
        ("GET", "/entryway", "POST, OPTIONS"),
    ],
)
async def test_a_wrong_method_is_told_the_right_ones(method: str, target: str, allow: str) -> None:
    got = await answer_of(published_door(), asked(method, target))
    assert (got.status, got.headers["allow"]) == (405, allow)


@pytest.mark.parametrize("target", ["/index.html", "/entryway/", "/.well-known/", "/descriptors.json"])
async def test_an_unknown_path_says_where_the_descriptor_is(target: str) -> None:
    got = await answer_of(published_door(), asked("GET", target))
    assert got.status == 404
    assert WELL_KNOWN in got.error()["message"]


async def test_a_large_signed_question_keeps_nobody_waiting() -> None:
    entryway = published_door()
    # The slowest there is to make canonical: a number that `json` spells otherwise, and characters that are escaped one
    # by one.
    slow = {"number": 1e-7, "note": "\x01" * 60_000, "sig": "A" * 86}
    members = {**request_envelope({"exchange": 2}, NOW, identity=OTHER), **slow}
    answer = entryway.router.respond(post(members, Codec.MSGPACK))
    assert not isinstance(answer, Response)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await trio.sleep(0.001)
            turns += 1

    async with trio.open_nursery() as nursery:
        nursery.start_soon(count)
        got = received(await answer)
        nursery.cancel_scope.cancel()
    assert (got.status, turns > 0) == (400, True)


async def test_a_large_question_that_is_signed_well_is_answered() -> None:
    members = request_envelope({"exchange": 2, "note": "x" * 10_000}, NOW, identity=OTHER)
    answer = published_door().router.respond(post(members))
    assert not isinstance(answer, Response)
    assert json.loads(received(await answer).body)["envelope"]["to"] == OTHER.id
