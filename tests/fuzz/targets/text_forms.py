"""The text forms of keys, bytes, digests, times, kinds and pointers: one text for one thing, the rest refused.

- They raise nothing but `DescriptorError`, which never repeats what may be a secret.
- What is decoded, encoded again, is the text it came from; base64 of either alphabet is read as the same bytes.
- A time that is read and written is the same millisecond.
- A key in which one character was changed is not read.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from descriptor.digests import parse_digest
from descriptor.encoding import b64_any_decode, b64url_decode, b64url_encode
from descriptor.errors import DescriptorError
from descriptor.keys import Identity, SealingKey, decode_public, decode_seed, encode_public, encode_seed, verify
from descriptor.kinds import VALUE_KINDS, is_media_type, kind_problem
from descriptor.pointers import pointer_to, tokens
from descriptor.timestamps import format_timestamp, parse_timestamp
from entryway.verdict import shown
from tests.fuzz.promises import assert_fit_to_show, loose
from tests.vectors import KEY_CLAIM, NKEYS

TOKENS = (
    *(NKEYS[0]["public"], NKEYS[0]["seed"], "U", "SU", "A" * 55, KEY_CLAIM["encryption_key"], "=", "==", "-", "_", "+"),
    *("sha256:", "0123456789abcdef" * 4, "2026-07-25T00:00:00.000Z", "T23:59:60Z", "T00:00:00", "0001-01-01", "/"),
    *("2016-12-31", "2015-07-01", "2024-02-29", "+23:59", "-00:00", ".999999", ".0005", "z", "t", "\u0660", "\uff11"),
    *("application/", "vnd.", "; q=1", "*/*", "text", "document", "~0", "~1", "~", "\x1b[2J", "\u202e", "\n", "\x85"),
    "9999-12-31",
)

Thing = TypeVar("Thing")

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


def one_input(data: bytes) -> None:
    text = loose(data)
    for decode, encode in ((decode_public, encode_public), (decode_seed, encode_seed)):
        key = _taken(decode, text)
        assert key is None or encode(key) == text
    _assert_base64(text)
    digest = _taken(parse_digest, text)
    assert digest is None or digest.removeprefix("sha256:") == text.removeprefix("sha256:")
    _assert_timestamp(text)
    assert verify(text, data, data[:64]) is False
    problem = kind_problem(text)
    assert (problem is None) == (text in VALUE_KINDS or is_media_type(text))
    assert problem is None or (problem.isprintable() and len(problem) < 1_000)
    assert tokens(pointer_to(*text.split("\n"))) == text.split("\n")
    assert shown(text).isprintable()
    assert len(shown(text)) <= 201
    if len(data) == 32:
        _assert_key(data)


def _taken(decode: Callable[[str], Thing], text: str) -> Thing | None:
    try:
        return decode(text)
    except DescriptorError as error:
        assert_fit_to_show(error)
        assert decode is parse_digest or decode is parse_timestamp or len(text) < 8 or text not in error.message
        return None


def _assert_base64(text: str) -> None:
    data = _taken(b64url_decode, text)
    if data is not None:
        assert b64url_encode(data) == text
        assert b64url_decode(text, len(data)) == data
        padded = text + "=" * (-len(text) % 4)
        for spelled in (text, padded, padded.replace("-", "+").replace("_", "/")):
            assert b64_any_decode(spelled) == data
    other = _taken(b64_any_decode, text)
    if other is not None:
        assert b64url_encode(other) == text.rstrip("=").replace("+", "-").replace("/", "_")


def _assert_timestamp(text: str) -> None:
    seconds = _taken(parse_timestamp, text)
    if seconds is None:
        return
    written = _taken(lambda _text: format_timestamp(seconds), text)
    if written is None:
        return  # an offset led out of the years that can be written
    assert abs(parse_timestamp(written) - seconds) <= 0.000_6
    assert format_timestamp(parse_timestamp(written)) == written
    if ":60" not in text and len(text) <= 32:
        assert abs(datetime.fromisoformat(text.upper()).timestamp() - seconds) < 0.000_01


def _assert_key(seed: bytes) -> None:
    identity = Identity.from_seed(seed)
    assert decode_seed(identity.seed_text()) == seed
    assert decode_public(identity.id) == identity.public
    assert verify(identity.id, seed, identity.sign(seed))
    sealing = SealingKey(seed)
    assert SealingKey.from_secret_text(sealing.secret_text()).public_text == sealing.public_text
    for secret in (identity.seed_text(), sealing.secret_text()):
        assert secret not in f"{identity!r} {sealing!r}"
    place = 1 + seed[0] % 55
    letter = ALPHABET[(ALPHABET.index(identity.id[place]) + 1 + seed[1] % 31) % 32]
    assert _taken(decode_public, identity.id[:place] + letter + identity.id[place + 1 :]) is None
