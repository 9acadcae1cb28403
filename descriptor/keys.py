"""Keys and their text forms.

An agent is one Ed25519 key; its id is that key as a NATS user nkey. A second, separate X25519 key is for
receiving only. Two invariants: one key has one text, so every other spelling of it is refused with the
reason; and a secret leaves these objects only through the method that is named for it, never by `repr`, by
pickling or in an error.

nkey bytes, before unpadded base32:

    public   prefix 20 << 3                                   key (32)    CRC-16/XMODEM, little-endian
    seed     18 << 3 | (20 << 3) >> 5,  ((20 << 3) & 31) << 3  seed (32)   CRC-16/XMODEM, little-endian
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import NoReturn

from nacl import bindings
from nacl.exceptions import CryptoError
from nacl.utils import random

from descriptor.encoding import b64url_decode, b64url_encode
from descriptor.errors import DescriptorError

_USER = 20 << 3
_SEED = 18 << 3
_PUBLIC_PREFIX = bytes([_USER])
_SEED_PREFIX = bytes([_SEED | _USER >> 5, (_USER & 31) << 3])
_KEY_BYTES = 32
_CHECKSUM_BYTES = 2
_SIGNATURE_BYTES = 64
_BASE32 = re.compile(r"[A-Z2-7]*+")
_BASE32_TO_INT = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "0123456789abcdefghijklmnopqrstuv")


def encode_public(key: bytes) -> str:
    """The id of a public key of 32 bytes: `U` + 55 base32 characters.

    Raises `DescriptorError` `BAD_KEY` for another size. Source: binding 1.
    """
    return _encode(_PUBLIC_PREFIX, key)


def decode_public(text: str) -> bytes:
    """The 32 bytes of the public key whose id `text` is.

    Raises `DescriptorError` `BAD_KEY`, saying what is wrong. Source: binding 1.
    """
    return _decode(_PUBLIC_PREFIX, text, "An agent id", "U")


def encode_seed(seed: bytes) -> str:
    """The text of a seed of 32 bytes: `SU` + 56 base32 characters. It is a secret.

    Raises `DescriptorError` `BAD_KEY` for another size. Source: binding 1.
    """
    return _encode(_SEED_PREFIX, seed)


def decode_seed(text: str) -> bytes:
    """The 32 bytes of the seed that `text` is. They are a secret.

    Raises `DescriptorError` `BAD_KEY`, saying what is wrong without repeating the text. Source: binding 1.
    """
    return _decode(_SEED_PREFIX, text, "A seed", "SU")


def verify(id: str, message: bytes, signature: bytes) -> bool:  # noqa: A002  # the specification's word for this key
    """Whether `signature` (64 bytes) is by the agent `id` over exactly `message`. A bad key or size is `False`."""
    if len(signature) != _SIGNATURE_BYTES:
        return False
    try:
        bindings.crypto_sign_open(signature + message, decode_public(id))
    except (DescriptorError, CryptoError):
        return False
    return True


class _Secret:
    """What holds a secret is not copied by accident: it does not pickle."""

    __slots__ = ()

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} holds a secret and is not pickled or copied")


class Identity(_Secret):
    """The Ed25519 key that is one agent. `id`: the public key's text, `U…`. `public`: its 32 bytes.

    Source: binding 1.
    """

    __slots__ = ("_secret", "id", "public")

    def __init__(self, seed: bytes) -> None:
        """Raises `DescriptorError` `BAD_KEY` when `seed` is not 32 bytes."""
        _sized(seed)
        self.public, self._secret = bindings.crypto_sign_seed_keypair(seed)
        self.id = encode_public(self.public)

    @classmethod
    def generate(cls) -> Identity:
        """A new identity, from the system's randomness."""
        return cls(random(_KEY_BYTES))

    @classmethod
    def from_seed(cls, seed: bytes) -> Identity:
        """The identity of a seed of 32 bytes. Raises `DescriptorError` `BAD_KEY` for another size."""
        return cls(seed)

    @classmethod
    def from_seed_text(cls, text: str) -> Identity:
        """The identity of a seed text, `SU…`. Raises `DescriptorError` `BAD_KEY` without repeating the text."""
        return cls(decode_seed(text))

    def sign(self, message: bytes) -> bytes:
        """The Ed25519 signature over exactly `message`, 64 bytes."""
        return bindings.crypto_sign(message, self._secret)[:_SIGNATURE_BYTES]

    def seed_text(self) -> str:
        """The seed, `SU…`: the secret itself, to be kept where only the owner reads."""
        return encode_seed(self._secret[:_KEY_BYTES])

    def __repr__(self) -> str:
        return f"Identity({self.id})"


class SealingKey(_Secret):
    """The X25519 key others seal to. `public_text`: base64url, 43 characters. `secret`: its 32 bytes.

    Source: binding 1.
    """

    __slots__ = ("public_text", "secret")

    def __init__(self, secret: bytes) -> None:
        """Raises `DescriptorError` `BAD_KEY` when `secret` is not 32 bytes."""
        self.secret = _sized(secret)
        self.public_text = b64url_encode(bindings.crypto_scalarmult_base(secret))

    @classmethod
    def generate(cls) -> SealingKey:
        """A new key, from the system's randomness."""
        return cls(random(_KEY_BYTES))

    @classmethod
    def from_secret_text(cls, text: str) -> SealingKey:
        """The key whose secret is `text`, base64url, 43 characters.

        Raises `DescriptorError` `BAD_KEY` without repeating the text.
        """
        try:
            return cls(b64url_decode(text, _KEY_BYTES))
        except DescriptorError as error:
            raise DescriptorError("BAD_KEY", f"The sealing key cannot be read. {error.message}") from None

    def secret_text(self) -> str:
        """The secret, base64url, 43 characters, to be kept where only the owner reads."""
        return b64url_encode(self.secret)

    def __repr__(self) -> str:
        return f"SealingKey({self.public_text})"


def _sized(key: bytes) -> bytes:
    if len(key) != _KEY_BYTES:
        raise DescriptorError("BAD_KEY", f"A key is {_KEY_BYTES} bytes; this one is {len(key)}.")
    return key


def _checksum(data: bytes) -> bytes:
    return binascii.crc_hqx(data, 0).to_bytes(_CHECKSUM_BYTES, "little")


def _encode(prefix: bytes, key: bytes) -> str:
    body = prefix + _sized(key)
    return base64.b32encode(body + _checksum(body)).rstrip(b"=").decode("ascii")


def _decode(prefix: bytes, text: str, what: str, letters: str) -> bytes:
    size = len(prefix) + _KEY_BYTES + _CHECKSUM_BYTES
    length, spare_bits = -(-size * 8 // 5), -size * 8 % 5
    if not text.startswith(letters):
        raise DescriptorError("BAD_KEY", f"{what} begins with {letters}; this text does not.")
    if len(text) != length:
        raise DescriptorError("BAD_KEY", f"{what} is {length} characters long; this text has {len(text)}.")
    if not _BASE32.fullmatch(text):
        raise DescriptorError("BAD_KEY", f"{what} is written in A-Z and 2-7 only; this text holds another character.")
    bits = int(text.translate(_BASE32_TO_INT), 32)
    data = (bits >> spare_bits).to_bytes(size, "big")
    if bits & ((1 << spare_bits) - 1):
        raise DescriptorError("BAD_KEY", f"{what} ends in a character whose spare bits are zero; this one does not.")
    body, checksum = data[:-_CHECKSUM_BYTES], data[-_CHECKSUM_BYTES:]
    if _checksum(body) != checksum:
        raise DescriptorError("BAD_KEY", f"{what} ends in a checksum, and this one does not fit; a character is wrong.")
    if not body.startswith(prefix):
        raise DescriptorError("BAD_KEY", f"{what} carries the prefix of a user key; this text carries another.")
    return body[len(prefix) :]
