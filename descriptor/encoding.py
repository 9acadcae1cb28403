"""Base64, as the binding writes and reads it.

The invariant: a decoder accepts exactly one text for one byte string in one alphabet. Python's own decoders
skip what they do not know and ignore left-over bits, so that many texts would name one key or one signature;
these do not.
"""

from __future__ import annotations

import base64
import re

from descriptor.errors import DescriptorError

_BASE64URL = re.compile(r"[A-Za-z0-9_-]*+")
_STANDARD_TO_URL = str.maketrans("+/", "-_")


def b64url_encode(data: bytes) -> str:
    """`data` in base64url without padding. Source: binding 1."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def b64url_decode(text: str, size: int | None = None) -> bytes:
    """The bytes that `text` spells in base64url without padding; exactly `size` of them when a size is given.

    Raises `DescriptorError` `BAD_BASE64` for padding, other characters, left-over bits that are not zero, and
    another size. The message does not repeat the text, which may be a secret.

    Source: binding 1.
    """
    if not _BASE64URL.fullmatch(text):
        raise _bad("it holds a character outside base64url without padding (A-Z a-z 0-9 - _)")
    if len(text) % 4 == 1:
        raise _bad(f"no bytes are spelled by {len(text)} characters; it was probably cut short")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if b64url_encode(data) != text:
        raise _bad("its last character carries bits that no byte uses")
    if size is not None and len(data) != size:
        raise _bad(f"it spells {len(data)} bytes where {size} are expected")
    return data


def b64_any_decode(text: str, size: int | None = None) -> bytes:
    """The bytes that `text` spells in standard base64 or in base64url, padded or not.

    Raises `DescriptorError` `BAD_BASE64` as `b64url_decode` does, and for the two alphabets mixed or wrong
    padding.

    Source: binding 1 (the `sig` of a Descriptor).
    """
    digits = text.rstrip("=")
    if digits != text and (len(text) % 4 or len(text) - len(digits) > 2):
        raise _bad("its padding does not fit its length")
    if ("+" in digits or "/" in digits) and ("-" in digits or "_" in digits):
        raise _bad("it mixes the standard and the URL alphabet")
    return b64url_decode(digits.translate(_STANDARD_TO_URL), size)


def _bad(why: str) -> DescriptorError:
    return DescriptorError("BAD_BASE64", f"Not the base64 text that is expected: {why}.")
