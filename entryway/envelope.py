"""Envelopes: the signed wrapper of every question and every answer at the entryway.

An envelope is read once, at the edge, into an `Envelope`; its members are kept beside it, because the signature covers
every one of them, known or not. Replies are canonical by construction: the members of a reply are known, so its JCS
form is a template that is filled in, proved equal to `rfc8785` by a property test. It is what makes a signed answer
cost little more than its signature.

Source: binding 4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from os import urandom

from descriptor.canonical import canonical
from descriptor.encoding import b64url_decode, b64url_encode
from descriptor.errors import DescriptorError
from descriptor.keys import Identity, decode_public
from descriptor.strictjson import JsonValue
from descriptor.timestamps import format_timestamp, parse_timestamp
from entryway.errors import EntrywayError

PROTOCOL_VERSION = "0.3.0"
ENVELOPE_TAG = b"agentmesh-envelope-v1\n"
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII)


def invalid_envelope() -> EntrywayError:
    """The one answer to every envelope that is not taken, whatever the reason (binding 5)."""
    return EntrywayError(
        "INVALID_ENVELOPE",
        "This envelope is not taken: it is malformed, not signed as it claims, seen before, out of its time window, "
        "or addressed to another agent. Check its members, the clock and the key, and send it under a new id.",
    )


@dataclass(frozen=True, slots=True)
class Envelope:
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


def new_uuid() -> str:
    """A random UUID (RFC 9562, version 4)."""
    text = urandom(16).hex()
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{'89ab'[int(text[16], 16) & 3]}{text[17:20]}-{text[20:]}"


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


@dataclass(frozen=True, slots=True)
class ReplyPayload:
    """The payload of a reply, with its canonical form worked out once for every reply that carries it."""

    members: Mapping[str, JsonValue]
    canonical: str

    @classmethod
    def of(cls, members: Mapping[str, JsonValue]) -> ReplyPayload:
        """Works the canonical form out."""
        return cls(members, canonical(dict(members)).decode())


@dataclass(frozen=True, slots=True)
class Reply:
    """A signed reply: its `members`, `sig` among them, and the JCS text of all members but `sig`."""

    members: dict[str, JsonValue]
    canonical: str

    def json(self) -> str:
        """The envelope as JSON text, from the canonical form: nothing is serialized a second time."""
        return f'{{"sig":"{self.members["sig"]}",{self.canonical[1:]}'


def sign_reply(identity: Identity, payload: ReplyPayload, request_id: str, to: str | None, now: float) -> Reply:
    """The signed reply to the request `request_id`, a UUID, whose verified sender is `to`."""
    identifier = new_uuid()
    ts = format_timestamp(now)
    addressed = "" if to is None else f'"to":"{to}",'
    # Every value put in here is a UUID, a key, a time or already canonical, so none needs escaping.
    text = (
        f'{{"from":"{identity.id}","id":"{identifier}","in_reply_to":"{request_id}","payload":{payload.canonical},'
        f'{addressed}"ts":"{ts}","type":"respond","v":"{PROTOCOL_VERSION}"}}'
    )
    members: dict[str, JsonValue] = {
        "v": PROTOCOL_VERSION,
        "id": identifier,
        "type": "respond",
        "ts": ts,
        "from": identity.id,
        "in_reply_to": request_id,
        "payload": dict(payload.members),
        "sig": b64url_encode(identity.sign(ENVELOPE_TAG + text.encode())),
    }
    if to is not None:
        members["to"] = to
    return Reply(members, text)
