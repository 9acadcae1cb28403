"""Envelopes: the signed wrapper of every question and every answer at the entryway.

An envelope is read once, at the edge, into an `Envelope`; its members are kept beside it, because the signature covers
every one of them, known or not. How replies are written is `reply`'s business.

Source: binding 4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import urandom
from typing import NamedTuple

from descriptor.canonical import canonical
from descriptor.encoding import b64url_decode, b64url_encode
from descriptor.errors import DescriptorError
from descriptor.keys import Identity, decode_public
from descriptor.strictjson import JsonValue
from descriptor.timestamps import format_timestamp, parse_timestamp
from entryway.errors import EntrywayError

PROTOCOL_VERSION = "0.3.0"
ENVELOPE_TAG = b"agentmesh-envelope-v1\n"
_VARIANT = {digit: "89ab"[place % 4] for place, digit in enumerate("0123456789abcdef")}
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII)


def invalid_envelope() -> EntrywayError:
    """The one answer to every envelope that is not taken, whatever the reason (binding 5)."""
    return EntrywayError(
        "INVALID_ENVELOPE",
        "This envelope is not taken: it is malformed, not signed as it claims, seen before, out of its time window, "
        "or addressed to another agent. Check its members, the clock and the key, and send it under a new id.",
    )


class Envelope(NamedTuple):
    """A well-formed envelope. `ts` is in seconds since 1970; `signature` is 64 bytes, not yet verified.

    `sender` is its `from`: a claim, until `protections.Inbound` has judged it.
    """

    id: str
    type: str
    ts: float
    sender: str | None
    recipient: str | None
    payload: Mapping[str, JsonValue]
    signature: bytes | None
    members: Mapping[str, JsonValue]


def read_envelope(value: object, expected_type: str = "request") -> Envelope:
    """An envelope from a decoded body.

    Raises EntrywayError INVALID_ENVELOPE. Unknown members are kept and covered by the signature, never refused.
    """
    if not isinstance(value, dict):
        raise invalid_envelope()
    identifier, ts, payload = value.get("id"), value.get("ts"), value.get("payload")
    sender, recipient, sig = value.get("from"), value.get("to"), value.get("sig")
    if (
        value.get("v") != PROTOCOL_VERSION
        or value.get("type") != expected_type
        or not isinstance(identifier, str)
        or UUID.fullmatch(identifier) is None
        or not isinstance(ts, str)
        or not isinstance(payload, dict)
        or not (sender is None or isinstance(sender, str))
        or not (recipient is None or isinstance(recipient, str))
        or not (sig is None or isinstance(sig, str))
    ):
        raise invalid_envelope()
    try:
        if sender is not None:
            decode_public(sender)
        signature = None if sig is None else b64url_decode(sig, 64)
        seconds = parse_timestamp(ts)
    except DescriptorError:
        raise invalid_envelope() from None
    return Envelope(identifier, expected_type, seconds, sender, recipient, payload, signature, value)


def signed_bytes(envelope: Envelope) -> bytes:
    """What the signature of an envelope is over: the tag and the JCS form of all members but `sig`."""
    return ENVELOPE_TAG + canonical({name: value for name, value in envelope.members.items() if name != "sig"})


def new_uuid() -> str:
    """A random UUID (RFC 9562, version 4)."""
    text = urandom(16).hex()
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{_VARIANT[text[16]]}{text[17:20]}-{text[20:]}"


def sign_envelope(identity: Identity, members: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The members with their `sig`: Ed25519 over the tag and the JCS form, base64url without padding."""
    signature = identity.sign(ENVELOPE_TAG + canonical(dict(members)))
    return {**members, "sig": b64url_encode(signature)}


def request_envelope(
    payload: Mapping[str, JsonValue], now: float, *, to: str | None = None, identity: Identity | None = None
) -> dict[str, JsonValue]:
    """A new request. With an identity it says who asks, and is signed."""
    members: dict[str, JsonValue] = {
        "v": PROTOCOL_VERSION,
        "id": new_uuid(),
        "type": "request",
        "ts": format_timestamp(now),
        "payload": dict(payload),
    }
    if to is not None:
        members["to"] = to
    if identity is None:
        return members
    return sign_envelope(identity, {**members, "from": identity.id})
