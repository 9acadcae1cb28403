"""One key has one text, and a secret leaves only through the method named for it."""

import base64
import binascii
import copy
import pickle
from dataclasses import dataclass

import nacl.public
import nacl.signing
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from descriptor.errors import DescriptorError
from descriptor.keys import (
    Identity,
    SealingKey,
    decode_public,
    decode_seed,
    encode_public,
    encode_seed,
    verify,
)
from tests.vectors import NKEYS

SEED_TEXT: str = NKEYS[0]["seed"]
ID: str = NKEYS[0]["public"]
KEYS = st.binary(min_size=32, max_size=32)
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


def nkey(body: bytes) -> str:
    """Base32 with a right checksum over whatever stands before it, written apart from the code under test."""
    crc = 0
    for byte in body:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return base64.b32encode(body + bytes([crc & 255, crc >> 8])).decode().rstrip("=")


@given(KEYS)
def test_a_public_key_round_trips(key: bytes) -> None:
    text = encode_public(key)
    assert text == nkey(bytes([20 << 3]) + key)
    assert (len(text), text[0]) == (56, "U")
    assert decode_public(text) == key


@given(KEYS)
def test_a_seed_round_trips(seed: bytes) -> None:
    text = encode_seed(seed)
    assert text == nkey(bytes([(18 << 3) | (20 << 3 >> 5), ((20 << 3) & 31) << 3]) + seed)
    assert (len(text), text[:2]) == (58, "SU")
    assert decode_seed(text) == seed


@given(KEYS, st.integers(0, 57), st.sampled_from(ALPHABET + ALPHABET.lower() + "018=-_ \n"))
@settings(max_examples=500)
def test_any_single_character_change_is_refused(key: bytes, at: int, character: str) -> None:
    for encode, decode in ((encode_public, decode_public), (encode_seed, decode_seed)):
        text = encode(key)
        changed = text[:at] + character + text[at + 1 :]
        if changed != text:
            with pytest.raises(DescriptorError) as raised:
                decode(changed)
            assert raised.value.code == "BAD_KEY"


@given(st.text(max_size=60) | st.text(ALPHABET, min_size=55, max_size=58).map(lambda text: "U" + text))
def test_any_text_is_a_key_or_refused(text: str) -> None:
    try:
        key = decode_public(text)
    except DescriptorError as error:
        assert error.code == "BAD_KEY"
        return
    assert encode_public(key) == text


BAD_IDS = [
    ("an account", "begins with U", nkey(bytes([0]) + bytes(32))),
    ("a server", "begins with U", nkey(bytes([13 << 3]) + bytes(32))),
    ("a seed", "begins with U", SEED_TEXT),
    ("nothing", "begins with U", ""),
    ("lower case", "begins with U", ID.lower()),
    ("lower case inside", "A-Z and 2-7", ID[:10] + ID[10:].lower()),
    ("one character short", "56 characters long; this text has 55", ID[:-1]),
    ("one character over", "56 characters long; this text has 57", ID + "A"),
    ("padding", "56 characters long", ID + "========"),
    ("a newline", "56 characters long", ID + "\n"),
    ("a digit base32 has not", "A-Z and 2-7", ID[:-1] + "1"),
    ("a letter outside ASCII", "A-Z and 2-7", ID[:-1] + "É"),
    ("a wrong checksum", "checksum", ID[:-1] + ("Q" if ID[-1] != "Q" else "P")),
    ("another prefix under the letter U", "prefix", nkey(bytes([20 << 3 | 1]) + bytes(32))),
]


@pytest.mark.parametrize(("what", "says", "text"), BAD_IDS)
def test_a_bad_id_is_refused_with_the_reason(what: str, says: str, text: str) -> None:
    with pytest.raises(DescriptorError, match=says) as raised:
        decode_public(text)
    assert raised.value.code == "BAD_KEY"
    assert not verify(text, b"", bytes(64))


def with_spare_bits(text: str) -> str:
    return text[:-1] + ALPHABET[ALPHABET.index(text[-1]) | 1]


BAD_SEEDS = [
    ("an account's seed", "begins with SU", nkey(bytes([18 << 3, 0]) + bytes(32))),
    ("an id", "begins with SU", ID),
    ("lower case", "begins with SU", SEED_TEXT.lower()),
    ("one character short", "58 characters long; this text has 57", SEED_TEXT[:-1]),
    ("a space", "58 characters long; this text has 59", SEED_TEXT + " "),
    ("a digit base32 has not", "A-Z and 2-7", SEED_TEXT[:-1] + "0"),
    ("spare bits", "spare bits", with_spare_bits(SEED_TEXT)),
    ("a wrong checksum", "checksum", SEED_TEXT[:20] + ("B" if SEED_TEXT[20] != "B" else "C") + SEED_TEXT[21:]),
    ("another prefix under the letters SU", "prefix", nkey(bytes([18 << 3 | 5, 1]) + bytes(32))),
]


@pytest.mark.parametrize(("what", "says", "text"), BAD_SEEDS)
def test_a_bad_seed_is_refused_with_the_reason_and_never_repeated(what: str, says: str, text: str) -> None:
    with pytest.raises(DescriptorError, match=says) as raised:
        Identity.from_seed_text(text)
    assert raised.value.code == "BAD_KEY"
    assert text[5:15] not in repr(raised.value)


@pytest.mark.parametrize("size", [0, 31, 33, 64])
@pytest.mark.parametrize("make", [encode_public, encode_seed, Identity.from_seed, SealingKey])
def test_a_key_of_another_size_is_refused(make: object, size: int) -> None:
    assert callable(make)
    with pytest.raises(DescriptorError) as raised:
        make(bytes(size))
    assert raised.value.code == "BAD_KEY"


@given(KEYS, st.binary(max_size=200))
def test_signatures_are_those_of_pynacl(seed: bytes, message: bytes) -> None:
    identity = Identity.from_seed(seed)
    other = nacl.signing.SigningKey(seed)
    assert identity.public == bytes(other.verify_key)
    signature = identity.sign(message)
    assert signature == other.sign(message).signature
    assert verify(identity.id, message, signature)


@given(st.binary(max_size=64), st.binary(max_size=130), KEYS)
def test_verifying_is_a_yes_or_a_no_whatever_comes(message: bytes, signature: bytes, key: bytes) -> None:
    assert verify(encode_public(key), message, signature) is False


def test_a_signature_holds_for_its_own_key_and_message_only() -> None:
    identity = Identity.from_seed_text(SEED_TEXT)
    signature = identity.sign(b"message")
    assert verify(identity.id, b"message", signature)
    assert not verify(identity.id, b"Message", signature)
    assert not verify(identity.id, b"essage", signature + b"m")
    assert not verify(identity.id, b"xmessage"[1:], signature[:-1])
    assert not verify(NKEYS[1]["public"], b"message", signature)
    for at in range(64):
        assert not verify(identity.id, b"message", signature[:at] + bytes([signature[at] ^ 1]) + signature[at + 1 :])


def test_the_other_spelling_of_a_signature_is_refused() -> None:
    """S + L names the same point; accepting it would give one statement two signatures."""
    identity = Identity.from_seed_text(SEED_TEXT)
    signature = identity.sign(b"message")
    order = 2**252 + 27742317777372353535851937790883648493
    s = int.from_bytes(signature[32:], "little") + order
    assert not verify(identity.id, b"message", signature[:32] + s.to_bytes(32, "little"))


P = 2**255 - 19
WEAK_KEYS = [
    (0).to_bytes(32, "little"),
    (1).to_bytes(32, "little"),
    (P - 1).to_bytes(32, "little"),
    P.to_bytes(32, "little"),
    (P + 1).to_bytes(32, "little"),
    (1 | 1 << 255).to_bytes(32, "little"),
    (2).to_bytes(32, "little"),
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
    bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
    b"\xff" * 32,
]


@pytest.mark.parametrize("key", WEAK_KEYS, ids=bytes.hex)
def test_keys_of_small_order_and_keys_that_are_no_point_verify_nothing(key: bytes) -> None:
    for r in ((1).to_bytes(32, "little"), key, bytes(32)):
        assert verify(encode_public(key), b"anything", r + bytes(32)) is False


def test_identities_are_generated_from_randomness() -> None:
    one, other = Identity.generate(), Identity.generate()
    assert one.id != other.id
    assert Identity.from_seed_text(one.seed_text()).id == one.id


def test_sealing_keys_are_those_of_pynacl() -> None:
    key = SealingKey.generate()
    assert SealingKey.generate().public_text != key.public_text
    assert len(key.public_text) == len(key.secret_text()) == 43
    public = bytes(nacl.public.PrivateKey(key.secret).public_key)
    assert base64.urlsafe_b64decode(key.public_text + "=") == public
    assert SealingKey.from_secret_text(key.secret_text()).public_text == key.public_text


@pytest.mark.parametrize("spoil", [lambda text: text[:-1], lambda text: text + "=", lambda text: text + "AAAA"])
def test_a_bad_sealing_secret_is_refused_and_never_repeated(spoil: object) -> None:
    assert callable(spoil)
    text = SealingKey.generate().secret_text()
    with pytest.raises(DescriptorError) as raised:
        SealingKey.from_secret_text(spoil(text))
    assert raised.value.code == "BAD_KEY"
    assert text[5:15] not in repr(raised.value)


@dataclass(frozen=True)
class Holder:
    key: object


def secrets_of(key: Identity | SealingKey) -> list[str]:
    text = key.seed_text() if isinstance(key, Identity) else key.secret_text()
    secret = decode_seed(text) if isinstance(key, Identity) else key.secret
    return [text, secret.hex(), binascii.b2a_base64(secret, newline=False).decode(), repr(secret)[2:-1]]


@pytest.mark.parametrize("key", [Identity.generate(), SealingKey.generate()], ids=["Identity", "SealingKey"])
def test_a_secret_is_not_shown_pickled_or_copied(key: Identity | SealingKey) -> None:
    shown = f"{key!r} {key!s} {key} {Holder(key)} {[key]}"
    assert not any(secret in shown for secret in secrets_of(key))
    assert not hasattr(key, "__dict__")
    for leak in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="holds a secret"):
            leak(key)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="holds a secret"):
            pickle.dumps(Holder(key), protocol)


def test_equality_asks_nothing_of_the_secret() -> None:
    one, again = Identity.from_seed_text(SEED_TEXT), Identity.from_seed_text(SEED_TEXT)
    assert one == one  # only the object itself equals it
    assert one != again
    assert one.id == again.id
