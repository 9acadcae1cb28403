"""Bytes to values and back, in the two codecs of the entryway: msgpack and JSON.

The invariant: whatever codec it came in, a decoded value is what strict JSON would have given. A bin becomes base64url
without padding, an integer outside ±2^53 its double; names come once; there is no NaN, no extension type, no nesting or
length beyond its bound. So one canonical form, and one signature, serve both codecs.

Source: binding 4.
"""

from __future__ import annotations

import math
from enum import Enum

import msgpack

from descriptor.encoding import b64url_encode
from descriptor.errors import DescriptorError
from descriptor.strictjson import JsonValue, RoundedInteger
from descriptor.strictjson import parse as parse_json
from entryway.envelope import invalid_envelope
from entryway.errors import EntrywayError
from entryway.http import json_body
from entryway.reply import Beside, Reply

MAX_NESTING = 64
MAX_VALUES = 4096  # what an envelope may be made of, so that its canonical form is bounded before its signature is
MAX_INTEGER = 2**53
CLAIMS_COST = 512  # bytes of a body below which whatever it claims costs less than it takes to look


class Codec(Enum):
    """A codec by its media type."""

    JSON = "application/json"
    MSGPACK = "application/msgpack"

    @property
    def other(self) -> Codec:
        """The one that this is not."""
        return Codec.MSGPACK if self is Codec.JSON else Codec.JSON


_BY_NAME = {codec.value.encode(): codec for codec in Codec}


def body_codec(content_type: bytes | None) -> Codec:
    """The codec of a body by its Content-Type, parameters aside. Raises EntrywayError UNSUPPORTED_MEDIA_TYPE."""
    codec = _BY_NAME.get((content_type or b"").partition(b";")[0].strip().lower())
    if codec is None:
        raise EntrywayError(
            "UNSUPPORTED_MEDIA_TYPE",
            "The Content-Type is none that is read here. Send application/msgpack or application/json, and say which.",
        )
    return codec


def reply_codec(accept: bytes | None, asked: Codec) -> Codec:
    """The codec of the reply: the one the question came in, unless `Accept` names the other and not it."""
    if accept is None:
        return asked
    named = {part.partition(b";")[0].strip().lower() for part in accept.split(b",")}
    if asked.other.value.encode() in named and asked.value.encode() not in named:
        return asked.other
    return asked


def decode(body: bytes, codec: Codec, *, max_values: int = MAX_VALUES) -> JsonValue:
    """The value of a body, made of `max_values` values at most.

    Raises EntrywayError INVALID_ENVELOPE for anything that is not strictly well formed.
    """
    try:
        if codec is Codec.JSON:
            value = parse_json(body, max_bytes=len(body), max_depth=MAX_NESTING)
            _refuse_many(value, max_values)
            return value
        return _as_json(_unpack(body), MAX_NESTING, [max_values])
    except (DescriptorError, msgpack.UnpackException, ValueError):
        # ValueError is what msgpack raises for most of what it refuses, bad UTF-8 and trailing bytes among it.
        raise invalid_envelope() from None


def encode_reply(reply: Reply, codec: Codec, beside: Beside | None = None) -> tuple[bytes, bytes]:
    """The reply map, in two parts: `envelope`, and beside it the Descriptor, if any, which all replies share."""
    alone = beside is None
    if codec is Codec.MSGPACK:
        return reply.msgpack(alone=alone), b"" if beside is None else beside.packed
    return reply.json(alone=alone), b"\n" if beside is None else beside.json


def encode(value: object, codec: Codec) -> bytes:
    """A question or an error body in either codec."""
    if codec is Codec.MSGPACK:
        packed: bytes = msgpack.packb(value)
        return packed
    return json_body(value)


def _unpack(body: bytes) -> object:
    # msgpack lays an array or map out as large as it claims to be, before it reads a member, and does so again for each
    # one inside it. So where a claim of 16 members or more can stand, the body is first read past without building
    # anything: it ends there unless every claimed member is in it.
    if len(body) > CLAIMS_COST and any(claim in body for claim in (b"\xdc", b"\xdd", b"\xde", b"\xdf")):
        claims = msgpack.Unpacker(read_size=len(body), max_buffer_size=len(body))
        claims.feed(body)
        claims.skip()
    return msgpack.unpackb(body, raw=False, strict_map_key=True, object_pairs_hook=_no_duplicates, max_ext_len=0)


def _refuse_many(value: object, left: int) -> None:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict | list):
            left -= len(one)
            if left < 0:
                raise ValueError("made of too many values")
            waiting.extend(one.values() if isinstance(one, dict) else one)


def _no_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a name came twice")
    return members


def _as_json(value: object, depth: int, left: list[int]) -> JsonValue:
    """`value` as strict JSON would have given it. Raises ValueError for what JSON cannot say.

    `left` holds one number: how many values may still come.
    """
    if isinstance(value, (dict, list)):  # a tuple is asked much faster than a union, and this is asked often
        left[0] -= len(value)
        if depth == 0 or left[0] < 0:
            raise ValueError("nested too deeply, or made of too many values")
        depth -= 1
        if isinstance(value, list):
            return [_as_json(item, depth, left) for item in value]
        if bytes in map(type, value):
            raise ValueError("a name is not a string")
        # Most members are text: asked here, it saves a call for each.
        return {
            name: member if type(member) is str else _as_json(member, depth, left) for name, member in value.items()
        }
    if isinstance(value, str) or value is None or value is True or value is False:
        return value
    if isinstance(value, int):
        return value if -MAX_INTEGER <= value <= MAX_INTEGER else RoundedInteger(value)
    if isinstance(value, bytes):
        return b64url_encode(value)
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise ValueError("not a JSON value")
