"""The two codecs of the entryway: from either one, a body becomes the value that strict JSON would have given.

The first byte chooses the codec (odd: msgpack); the body is behind it.

- `decode` and `read_envelope` raise nothing but `EntrywayError`, and one code for whatever is wrong.
- msgpack is read as a second reader reads it, which was written from its specification alone.
- A value goes through the other codec, and through its own, without a change to its canonical form.
- A body costs at most memory in proportion to its length, whatever lengths it claims.
"""

from __future__ import annotations

import math
import tracemalloc

from descriptor.canonical import canonical
from descriptor.keys import decode_public
from descriptor.strictjson import JsonValue
from entryway.codec import MAX_NESTING, Codec, decode, encode
from entryway.envelope import read_envelope
from entryway.errors import EntrywayError
from tests.fuzz import msgpack_reader
from tests.fuzz.mutation import of_body
from tests.fuzz.promises import assert_fit_to_show, typed
from tests.vectors import ENVELOPE

TOKENS = (
    *("v", "0.3.0", "id", ENVELOPE["envelope"]["id"], "type", "request", "respond", "ts", "2026-07-25T00:00:00.000Z"),
    *("from", ENVELOPE["envelope"]["from"], "to", "payload", "exchange", "help", "in_reply_to", "sig", ENVELOPE["sig"]),
    *("envelope", "descriptor", "error", "code", "message", "retryable", "status", "published", "none-published"),
    *("digest", "agent_version", "size", "published_at"),
)
CLAIMS = b"\xc6\xdb\xdc\xdd\xde\xdf"  # first bytes of values that state a length as large as they like
BYTES_FOR_A_BYTE = 512
BYTES_FOR_NOTHING = 262_144

mutate = of_body(TOKENS)


def one_input(data: bytes) -> None:
    codec = Codec.MSGPACK if data[:1] and data[0] & 1 else Codec.JSON
    body = data[1:]
    value = _decoded(body, codec)
    if codec is Codec.MSGPACK and any(first in body for first in CLAIMS):
        # What costs too much does so every time; what the fuzzer itself takes in between, it takes once.
        assert any(_cost(body, codec) <= BYTES_FOR_NOTHING + BYTES_FOR_A_BYTE * len(body) for _ in range(3))
    if codec is Codec.MSGPACK:
        try:
            expected = msgpack_reader.read(body, MAX_NESTING)
        except msgpack_reader.Refused:
            expected = EntrywayError
        assert typed(value) == typed(expected)
    if value is EntrywayError:
        return
    form = canonical(value)
    for way in Codec:
        assert canonical(decode(encode(value, way), way)) == form
    for kind in ("request", "respond"):
        _assert_envelope(value, kind)


def _decoded(body: bytes, codec: Codec) -> JsonValue | type[EntrywayError]:
    """The value; EntrywayError itself where it is refused."""
    try:
        return decode(body, codec)
    except EntrywayError as error:
        assert error.code == "INVALID_ENVELOPE"
        assert_fit_to_show(error)
        return EntrywayError


def _cost(body: bytes, codec: Codec) -> int:
    """The most memory that was in use for a body, in bytes."""
    tracemalloc.start()
    try:
        _decoded(body, codec)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _assert_envelope(value: object, kind: str) -> None:
    try:
        envelope = read_envelope(value, kind)
    except EntrywayError as error:
        assert error.code == "INVALID_ENVELOPE"
        return
    assert envelope.type == kind
    assert math.isfinite(envelope.ts)
    assert envelope.signature is None or len(envelope.signature) == 64
    assert envelope.sender is None or decode_public(envelope.sender)
    assert envelope.members is value
