"""What is laid out at a publish: exact bytes, their digest in every place it is said, and when 304 stands in."""

from __future__ import annotations

import hashlib
from base64 import b64decode
from urllib.parse import unquote

import pytest

from descriptor.digests import digest_of
from entryway.exchanges import show_descriptor
from entryway.snapshot import IMMUTABLE, full, validators
from tests.entryway.parts import document, received, roster_door, snapshot_of

DATA = document()
DIGEST = digest_of(DATA)


def test_the_bytes_are_the_published_bytes_and_are_held_once() -> None:
    snapshot = snapshot_of(DATA)
    assert snapshot.descriptor.data is DATA
    assert received(snapshot.well_known.full).body == DATA
    assert received(snapshot.by_digest.full).body == DATA


@pytest.mark.parametrize("route", ["well_known", "by_digest"])
def test_every_place_names_one_digest(route: str) -> None:
    got = received(getattr(snapshot_of(DATA), route).full)
    assert got.headers["etag"] == f'"{DIGEST}"'
    # RFC 9530: sf-dictionary, the digest as a byte sequence between colons.
    algorithm, _, value = got.headers["repr-digest"].partition("=")
    assert algorithm == "sha-256"
    assert value.startswith(":")
    assert value.endswith(":")
    assert b64decode(value[1:-1], validate=True) == hashlib.sha256(got.body).digest()
    assert got.headers["content-type"] == "application/json"
    assert got.headers["x-content-type-options"] == "nosniff"
    assert got.headers["access-control-allow-origin"] == "*"
    assert "content-encoding" not in got.headers
    assert "accept-ranges" not in got.headers


def test_the_current_version_is_asked_for_again_and_a_digest_never() -> None:
    snapshot = snapshot_of(DATA)
    assert received(snapshot.well_known.full).headers["cache-control"] == "no-cache"
    assert received(snapshot.by_digest.full).headers["cache-control"] == IMMUTABLE


def test_the_current_version_says_which_and_since_when() -> None:
    headers = received(snapshot_of(DATA).well_known.full).headers
    assert headers["agent-version"] == "1.4.0"
    assert headers["last-modified"] == "Sun, 20 Sep 2026 14:13:20 GMT"


@pytest.mark.parametrize(
    "agent_version",
    ["1.0\r\nSet-Cookie: a=b", "1.0\r\n\r\n<html>", "\0", "Grüße 🚀", "100%", "%0D%0A", " ", "", "v" * 128],
)
def test_a_hostile_agent_version_stays_inside_its_header(agent_version: str) -> None:
    got = received(snapshot_of(document(agent_version=agent_version)).well_known.full)
    assert unquote(got.headers["agent-version"]) == agent_version
    assert set(got.headers) == {
        "date",
        "content-type",
        "x-content-type-options",
        "etag",
        "repr-digest",
        "cache-control",
        "agent-version",
        "last-modified",
        "access-control-allow-origin",
        "access-control-expose-headers",
        "content-length",
    }


@pytest.mark.parametrize(("length", "stands"), [(128, True), (129, False)])
def test_an_agent_version_that_no_client_would_read_as_a_header_is_left_out(length: int, stands: bool) -> None:
    got = received(snapshot_of(document(agent_version="1" * length)).well_known.full)
    assert ("agent-version" in got.headers) is stands


@pytest.mark.parametrize("agent_version", [None, 7, ["1.0"]])
def test_an_agent_version_that_is_not_stated_as_text_is_empty(agent_version: object) -> None:
    snapshot = snapshot_of(document(agent_version=agent_version))
    assert received(snapshot.well_known.full).headers["agent-version"] == ""
    assert snapshot.shown.members["agent_version"] == ""


OTHER_TAG = '"sha256:' + "0" * 64 + '"'


@pytest.mark.parametrize(
    ("if_none_match", "status"),
    [
        (None, 200),
        ('"TAG"', 304),
        ('W/"TAG"', 304),
        (f'{OTHER_TAG}, "TAG"', 304),
        (f'{OTHER_TAG},W/"TAG"  ,"x"', 304),
        ("*", 304),
        (" * ", 304),
        (OTHER_TAG, 200),
        ("TAG", 200),
        ('"TAG', 200),
        ('w/"TAG"', 200),
        ('"*"', 200),
        ("", 200),
        (",,,", 200),
        ("\xff\xfe", 200),
    ],
)
@pytest.mark.parametrize("route", ["well_known", "by_digest"])
def test_304_stands_in_for_bytes_the_reader_has(route: str, if_none_match: str | None, status: int) -> None:
    representation = getattr(snapshot_of(DATA), route)
    field = None if if_none_match is None else if_none_match.replace("TAG", DIGEST).encode("latin-1")
    got = received(representation.answer(field))
    assert got.status == status
    full = received(representation.full).headers
    if status == 304:
        assert got.body == b""
        # RFC 9110, 15.4.5: what a cache has to update, and no description of a body that is not there.
        assert "content-length" not in got.headers
        for name in ("etag", "cache-control", "repr-digest", "access-control-allow-origin"):
            assert got.headers[name] == full[name]


def test_the_payload_of_exchange_2_is_that_of_the_binding() -> None:
    saying = show_descriptor(snapshot_of(DATA), None, roster_door())  # type: ignore[arg-type]  # who asks does not matter here
    assert saying.beside is not None
    assert saying.beside.data is DATA
    assert saying.payload.members == {
        "status": "published",
        "digest": DIGEST,
        "agent_version": "1.4.0",
        "size": len(DATA),
        "published_at": "2026-09-20T14:13:20.000Z",
    }


def test_a_representation_carries_what_else_it_is_given() -> None:
    got = received(full(b"{}", validators(digest_of(b"{}"), "no-cache", ("X-Test", "a"))))
    assert got.headers["x-test"] == "a"
