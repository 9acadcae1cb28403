"""Sealing: one value, readable by the holder of one key and by nobody on the way.

    sender      posture, key and its claim  ->  seal | clear | refuse at home     (`decide`)
    sender      value, recipient's key      ->  sealed payload                    (`seal`)
    receiver    posture, what arrived       ->  take | refuse, unread             (`required_and_clear`)
    receiver    sealed payload, own secret  ->  value, reply key                  (`unseal`)

What is sealed is a request's `input` and the terminal reply's `output`, and nothing else: who asked whom for which
offering, when, and how it ended stay readable. Sealing ends at the host that holds the secret: whoever runs it reads
what is sealed to it. The invariant: nothing is sealed to a key whose claim does not verify, and what does not open is
not processed.

Source: binding 5 (sealed payload); chapters 6.9 and 7.2.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from nacl import bindings
from nacl.exceptions import CryptoError

from descriptor.encoding import b64url_decode, b64url_encode
from descriptor.errors import DescriptorError
from descriptor.keys import SealingKey
from descriptor.signatures import Signature, verify_key_claim
from descriptor.strictjson import MAX_BYTES, JsonValue, parse
from descriptor.vocabulary import SEALING
from entryway.errors import EntrywayError

SEALED_TAG = "sealedpayload.v1"
_KEY = bindings.crypto_box_PUBLICKEYBYTES
_NONCE = bindings.crypto_box_NONCEBYTES


@dataclass(frozen=True)
class Unsealed:
    """What was sealed. `reply_key`: base64url, the key that the answer is asked to be sealed to; `None` for none."""

    value: JsonValue = field(repr=False)
    reply_key: str | None


class Way(StrEnum):
    """How a request goes out."""

    SEALED = "sealed"
    CLEAR = "clear"
    NOT_AT_ALL = "not-at-all"


@dataclass(frozen=True)
class Decision:
    """How a request to an agent goes out, and why, for the person who sends it. `key`: base64url, when it is sealed."""

    way: Way
    reason: str
    key: str | None = None


def decide(document: Mapping[str, JsonValue]) -> Decision:
    """How the sender of a request proceeds, by what the agent's Descriptor declares.

    Nobody seals to an agent that has not asked for it, nor to a key whose claim does not verify. Where sealing is
    required and there is no such key, nothing is sent. Source: chapters 6.9 and 7.2.
    """
    posture = document.get("sealing")
    if posture not in SEALING:
        return Decision(Way.CLEAR, "The agent has not asked to be sealed to, so the request goes in the clear.")
    key = declared_key(document)
    if key is not None:
        return Decision(Way.SEALED, "The agent asks to be sealed to, and its key is verified.", key)
    why = "its Descriptor declares no key that its own signature vouches for"
    if posture == "required":
        return Decision(
            Way.NOT_AT_ALL,
            f"The agent reads sealed requests only, and {why}. Nothing was sent. Ask its operator for one.",
        )
    return Decision(Way.CLEAR, f"The agent prefers to be sealed to, but {why}, so the request goes in the clear.")


def declared_key(document: Mapping[str, JsonValue]) -> str | None:
    """The encryption key that the subject's own claim vouches for, base64url; `None` for none. Source: binding 2.

    What the subject vouches for and nothing can be sealed to is none either.
    """
    key = document.get("encryption_key")
    if not isinstance(key, str) or verify_key_claim(document).state is not Signature.VERIFIED:
        return None
    return key if _takes(key) else None


def _takes(key: str) -> bool:
    """Whether anything can be sealed to a key: it is one by its form, and a point with a secret behind it."""
    try:
        bindings.crypto_box_beforenm(b64url_decode(key, _KEY), bytes(_KEY))
    except (DescriptorError, CryptoError):
        return False
    return True


def is_sealed(value: JsonValue) -> bool:
    """Whether a value presents itself as sealed, well formed or not."""
    return isinstance(value, dict) and value.get("v") == SEALED_TAG


def seal(value: JsonValue, recipient: str, *, reply_key: str | None = None) -> dict[str, JsonValue]:
    """`value` sealed to the X25519 key `recipient` (base64url), under a key made for this once.

    Raises DescriptorError BAD_KEY for a key to which nothing can be sealed, BAD_BASE64 for no key at all, NOT_CANONICAL
    for a value that JSON cannot say.
    """
    try:
        plain = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise DescriptorError(
            "NOT_CANONICAL", f"The value cannot be sealed, for JSON cannot say it: {error}."
        ) from None
    public, secret = bindings.crypto_box_keypair()
    nonce = bindings.randombytes(_NONCE)
    try:
        box = bindings.crypto_box(plain, nonce, b64url_decode(recipient, _KEY), secret)
    except CryptoError:
        raise DescriptorError("BAD_KEY", "Nothing can be sealed to this key: it is not a point it could be.") from None
    sealed: dict[str, JsonValue] = {
        "v": SEALED_TAG,
        "epk": b64url_encode(public),
        "nonce": b64url_encode(nonce),
        "ct": b64url_encode(box),
    }
    if reply_key is not None:
        sealed["reply_key"] = reply_key
    return sealed


def unseal(sealed: JsonValue, key: SealingKey, *, max_bytes: int = MAX_BYTES) -> Unsealed:
    """What is sealed to `key`, of at most `max_bytes` of JSON.

    Raises EntrywayError UNSEALING_FAILED, the same for whatever is wrong: another key, a box that was changed on its
    way, a member that is missing, contents that are no JSON.
    """
    if not isinstance(sealed, dict) or not is_sealed(sealed):
        raise unsealing_failed()
    reply_key = sealed.get("reply_key")
    try:
        if reply_key is not None:
            _bytes(reply_key, _KEY)
        nonce, public = _bytes(sealed.get("nonce"), _NONCE), _bytes(sealed.get("epk"), _KEY)
        plain = bindings.crypto_box_open(_bytes(sealed.get("ct")), nonce, public, key.secret)
        return Unsealed(parse(plain, max_bytes=max_bytes), reply_key if isinstance(reply_key, str) else None)
    except (CryptoError, DescriptorError):
        raise unsealing_failed() from None


def check_reply_key(reply_key: str, sender: Mapping[str, JsonValue] | None) -> None:
    """Refuses a reply key that is not the one the sender's own Descriptor declares with a claim that verifies.

    `sender` is the sender's Descriptor, `None` when none is known. Somebody on the way who swapped the key would
    otherwise be sent the answer. A key that nothing can be sealed to is none (`declared_key`), so no work is done for
    an answer that could not be given. Raises EntrywayError INPUT_INVALID. Source: binding 5.
    """
    if sender is None:
        raise _bad_reply_key(
            "The reply_key cannot be checked: this node knows no Descriptor of yours. It knows those of agents that "
            "are announced on its local network, that it follows (its operator: agent-node follow), or that were "
            "handed to its registry. Become known, or leave reply_key out to be answered in the clear."
        )
    if declared_key(sender) != reply_key:
        raise _bad_reply_key(
            "The reply_key is not the encryption key that your Descriptor, as this node knows it, declares and signs. "
            "Declare a sealing posture and publish, or leave reply_key out to be answered in the clear."
        )


def required_and_clear(posture: JsonValue, given: JsonValue) -> EntrywayError | None:
    """The refusal of a clear request where sealed ones alone are read; `None` when there is nothing to refuse."""
    if posture != "required" or is_sealed(given):
        return None
    return EntrywayError(
        "SEALING_REQUIRED",
        "This agent reads sealed requests only, and this one came in the clear. It was not read. Seal `input` to the "
        "encryption_key of the agent's Descriptor.",
    )


def unsealing_failed() -> EntrywayError:
    """The one answer to everything that does not open."""
    return EntrywayError(
        "UNSEALING_FAILED",
        "What was sealed does not open here, and was not processed. Seal it to the encryption_key of the agent's "
        "current Descriptor.",
    )


def _bad_reply_key(message: str) -> EntrywayError:
    return EntrywayError("INPUT_INVALID", message, {"pointer": "/input/reply_key"})


def _bytes(text: JsonValue, size: int | None = None) -> bytes:
    if not isinstance(text, str):
        raise DescriptorError("BAD_BASE64", "Not text.")
    return b64url_decode(text, size)
