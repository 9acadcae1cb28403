"""Two codecs, one value; and nothing that strict JSON would not have said."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from descriptor.canonical import canonical
from descriptor.encoding import b64url_decode, b64url_encode
from descriptor.strictjson import RoundedInteger
from entryway.codec import MAX_NESTING, MAX_VALUES, Codec, body_codec, decode, encode, encode_reply, reply_codec
from entryway.errors import EntrywayError
from entryway.reply import Beside, ReplyPayload, sign_reply
from tests.entryway.parts import NOW, OWNER

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


def refused(body: bytes, codec: Codec) -> bool:
    try:
        decode(body, codec)
    except EntrywayError as error:
        assert error.code == "INVALID_ENVELOPE"
        return True
    return False


def typed(value: Any) -> Any:
    """The value with its types beside it, since Python has 1 == 1.0 == True."""
    if isinstance(value, dict):
        return {name: typed(member) for name, member in value.items()}
    if isinstance(value, list):
        return [typed(item) for item in value]
    return type(value), value


@settings(deadline=None)
@given(value=JSON_VALUES)
def test_both_codecs_decode_to_the_same_value(value: Any) -> None:
    from_json = decode(encode(value, Codec.JSON), Codec.JSON)
    from_msgpack = decode(encode(value, Codec.MSGPACK), Codec.MSGPACK)
    assert typed(from_msgpack) == typed(from_json)
    assert canonical(from_msgpack) == canonical(from_json)


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (2**53, int),
        (-(2**53), int),
        (2**53 + 1, RoundedInteger),
        (-(2**53) - 1, RoundedInteger),
        (2**64 - 1, RoundedInteger),
        (-(2**63), RoundedInteger),
    ],
)
@pytest.mark.parametrize("codec", Codec)
def test_an_integer_that_no_double_holds_is_read_as_its_double(number: int, kind: type, codec: Codec) -> None:
    value = decode(encode([number], codec), codec)
    assert isinstance(value, list)
    assert type(value[0]) is kind
    assert value[0] == float(number)


@settings(deadline=None)
@given(data=st.binary(max_size=100))
def test_a_bin_is_base64url_without_padding(data: bytes) -> None:
    value = decode(msgpack.packb({"data": data}), Codec.MSGPACK)
    assert value == {"data": b64url_encode(data)}
    assert b64url_decode(b64url_encode(data)) == data


def nested(opening: bytes, core: bytes, closing: bytes, depth: int) -> bytes:
    return opening * depth + core + closing * depth


@pytest.mark.parametrize(
    ("opening", "core", "closing", "codec"),
    [
        (b"\x91", b"\xc0", b"", Codec.MSGPACK),
        (b"\x81\xa1a", b"\xc0", b"", Codec.MSGPACK),
        (b"\xdd\x00\x00\x00\x01", b"\xc0", b"", Codec.MSGPACK),
        (b"[", b"null", b"]", Codec.JSON),
        (b'{"a":', b"null", b"}", Codec.JSON),
    ],
)
def test_nesting_has_one_bound_in_both_codecs(opening: bytes, core: bytes, closing: bytes, codec: Codec) -> None:
    assert not refused(nested(opening, core, closing, MAX_NESTING), codec)
    for depth in (MAX_NESTING + 1, 1_000, 1_024, 5_000, 60_000):
        assert refused(nested(opening, core, closing, depth), codec)


HOSTILE_MSGPACK = {
    "nothing": b"",
    "a byte that is never used": b"\xc1",
    "cut short": msgpack.packb({"a": "bcd"})[:-1],
    "bytes after the value": msgpack.packb({}) + b"\xc0",
    "two values": msgpack.packb({}) * 2,
    "a name twice": b"\x82\xa1a\x01\xa1a\x02",
    "a name twice, further in": b"\x91\x91\x82\xa1a\x01\xa1a\x01",
    "a name twice in two spellings of text": b"\x82\xa1a\x01\xd9\x01a\x02",
    "a name of bytes": b"\x81\xc4\x01a\x01",
    "a name of bytes beside the same in text": b"\x82\xc4\x01a\x01\xa1a\x01",
    "a name that is a number": b"\x81\x01\x01",
    "a name that is null": b"\x81\xc0\x01",
    "a name that is an array": b"\x81\x91\x01\x01",
    "a name that is a map": b"\x81\x80\x01",
    "a name that is an extension": b"\x81\xd4\x01\x00\x01",
    "NaN": b"\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00",
    "NaN as a single": b"\xca\x7f\xc0\x00\x00",
    "infinity": b"\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00",
    "minus infinity": b"\x91\xcb\xff\xf0\x00\x00\x00\x00\x00\x00",
    "an extension": b"\xd4\x01\x00",
    "an extension of no bytes": b"\xc7\x00\x01",
    "an extension that claims 4 GiB": b"\xc9\xff\xff\xff\xff\x01",
    "a timestamp": b"\xd6\xff\x00\x00\x00\x00",
    "a timestamp with nanoseconds": b"\x91\xd7\xff" + bytes(8),
    "text that is no UTF-8": b"\xa1\xff",
    "text with half a surrogate pair": b"\xa3\xed\xa0\x80",
    "a name that is no UTF-8": b"\x81\xa1\xff\x01",
    "text that claims 4 GiB": b"\xdb\xff\xff\xff\xff",
    "bytes that claim 4 GiB": b"\xc6\xff\xff\xff\xff",
    "an array that claims 4 Gi items": b"\xdd\xff\xff\xff\xff",
    "a map that claims 4 Gi members": b"\xdf\xff\xff\xff\xff",
}


@pytest.mark.parametrize("body", HOSTILE_MSGPACK.values(), ids=HOSTILE_MSGPACK)
def test_msgpack_that_says_what_json_cannot_is_refused(body: bytes) -> None:
    assert refused(body, Codec.MSGPACK)


HOSTILE_JSON = {
    "nothing": b"",
    "a byte order mark": b"\xef\xbb\xbf{}",
    "a name twice": b'{"a":1,"a":1}',
    "NaN": b"[NaN]",
    "infinity": b"[-Infinity]",
    "a number beyond doubles": b"[1e999]",
    "half a surrogate pair": b'["\\ud800"]',
    "text that is no UTF-8": b'["\xff"]',
    "cut short": b'{"a":',
    "bytes after the value": b"{}{}",
    "UTF-16": '{"a":1}'.encode("utf-16"),
}


@pytest.mark.parametrize("body", HOSTILE_JSON.values(), ids=HOSTILE_JSON)
def test_json_that_is_not_strict_is_refused(body: bytes) -> None:
    assert refused(body, Codec.JSON)


@settings(max_examples=200, deadline=None)
@given(body=st.binary(max_size=300))
@pytest.mark.parametrize("codec", Codec)
def test_any_bytes_are_a_json_value_or_refused(codec: Codec, body: bytes) -> None:
    try:
        value = decode(body, codec)
    except EntrywayError:
        return
    canonical(value)
    json.dumps(value, allow_nan=False)


def peak(action: Callable[[], object]) -> int:
    """The most bytes that `action` had allocated at once."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# A claim costs nothing to write, and msgpack lays it out before it reads on: each of these asks for gigabytes, or for
# 32 KiB a thousand times over, in a few kilobytes.
CLAIMS = {
    "arrays in arrays": b"\xdc\x10\x00" * 1_000,
    "maps in maps": (b"\xde\x10\x00\xa1a") * 1_000,
    "arrays with every item an array": b"\xdc\x04\x00" * 1_023,
    "4 GiB in 4 GiB": b"\xdd\xff\xff\xff\xff" * 1_000,
    "maps of 4 Gi members": b"\xdf\xff\xff\xff\xff\xa1a" * 1_000,
    "arrays as long as the body": b"\xdd\x00\x00\x20\x00" * 1_020 + b"\xc0" * 8_192,
    "maps half as long as the body": b"\xde\x10\x00\xa1a" * 1_020 + b"\xc0" * 8_192,
    "large maps half as long as the body": b"\xdf\x00\x00\x10\x00\xa1a" * 1_020 + b"\xc0" * 8_192,
    "deeper than msgpack reads": b"\xdc\x10\x00" * 5_000,
    "text": b"\xdb\x7f\xff\xff\xff",
    "small claims": b"\x9f" * 1_000,
}


@pytest.mark.parametrize("body", CLAIMS.values(), ids=CLAIMS)
def test_a_claim_without_the_bytes_for_it_costs_no_memory(body: bytes) -> None:
    assert peak(lambda: refused(body, Codec.MSGPACK)) < 400_000


@pytest.mark.parametrize("bytes_of_it", [b"\xc0", b"\x90", b"\x80", b"\xa0"])
def test_what_is_decoded_is_in_proportion_to_what_came(bytes_of_it: bytes) -> None:
    count = MAX_VALUES
    body = b"\xdd" + count.to_bytes(4, "big") + bytes_of_it * count
    assert peak(lambda: decode(body, Codec.MSGPACK)) < 150 * len(body)


def test_a_long_array_or_map_is_no_claim_when_it_is_there() -> None:
    half = MAX_VALUES // 2 - 1
    value = {"items": list(range(half)), "members": {str(number): number for number in range(half)}}
    assert decode(msgpack.packb(value), Codec.MSGPACK) == value


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize(
    "value",
    [
        [0] * (MAX_VALUES + 1),
        {str(number): 0 for number in range(MAX_VALUES + 1)},
        [[[]] * 1_000] * 5,
        {"payload": {"deep": [{"a": [0] * 2_000}, [0] * 2_200]}},
    ],
)
def test_an_envelope_is_made_of_so_many_values_at_most(codec: Codec, value: Any) -> None:
    assert refused(encode(value, codec), codec)


@pytest.mark.parametrize(
    ("content_type", "codec"),
    [
        (b"application/json", Codec.JSON),
        (b"Application/JSON; charset=utf-8", Codec.JSON),
        (b"application/msgpack", Codec.MSGPACK),
        (b" application/msgpack ;a=b", Codec.MSGPACK),
        (None, None),
        (b"", None),
        (b"text/plain", None),
        (b"application/json, application/msgpack", None),
        (b"application/x-msgpack", None),
    ],
)
def test_the_codec_of_a_body_is_its_content_type(content_type: bytes | None, codec: Codec | None) -> None:
    if codec is None:
        with pytest.raises(EntrywayError) as caught:
            body_codec(content_type)
        assert caught.value.code == "UNSUPPORTED_MEDIA_TYPE"
        assert caught.value.status == 415
    else:
        assert body_codec(content_type) is codec


@pytest.mark.parametrize(
    ("accept", "other"),
    [
        (None, False),
        (b"*/*", False),
        (b"text/html", False),
        (b"OTHER", True),
        (b"text/html, OTHER;q=0.5", True),
        (b"OTHER, SAME", False),
        (b"SAME", False),
    ],
)
@pytest.mark.parametrize("asked", Codec)
def test_the_reply_uses_the_codec_of_the_question_unless_accept_names_the_other(
    asked: Codec, accept: bytes | None, other: bool
) -> None:
    if accept is not None:
        accept = accept.replace(b"OTHER", asked.other.value.upper().encode()).replace(b"SAME", asked.value.encode())
    assert reply_codec(accept, asked) is (asked.other if other else asked)


@pytest.mark.parametrize("descriptor", [None, b"", b'{"a": "\xc3\xa4"}\n', bytes(range(256))])
@pytest.mark.parametrize("to", [None, OWNER.id])
def test_a_reply_says_the_same_in_both_codecs(descriptor: bytes | None, to: str | None) -> None:
    payload = ReplyPayload.of({"status": "published", "text": 'ä"\\\n', "size": 3})
    reply = sign_reply(OWNER, payload, "01927d5e-8a3b-7c12-9f00-0a1b2c3d4e5f", to, NOW)
    beside = None if descriptor is None else Beside.of(descriptor)
    values = [decode(b"".join(encode_reply(reply, codec, beside)), codec) for codec in Codec]
    assert values[0] == values[1]
    assert isinstance(values[0], dict)
    assert values[0]["envelope"] == reply.members
    assert values[0].get("descriptor") == (None if descriptor is None else b64url_encode(descriptor))


def test_msgpack_carries_the_descriptor_as_its_exact_bytes() -> None:
    reply = sign_reply(OWNER, ReplyPayload.of({}), "01927d5e-8a3b-7c12-9f00-0a1b2c3d4e5f", None, NOW)
    assert (
        msgpack.unpackb(b"".join(encode_reply(reply, Codec.MSGPACK, Beside.of(b"\x00\xff"))))["descriptor"]
        == b"\x00\xff"
    )
