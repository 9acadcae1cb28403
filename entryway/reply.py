"""Signed replies, at little more than the cost of their signature.

The members of a reply are known, and so are the lengths of all but its payload, so both of its spellings are templates
that are filled in: the JCS form that is signed and sent as JSON, and the msgpack form. A property test proves the first
equal to what `rfc8785` makes of the same members, and the second to what `msgpack` reads back. What a payload and the
Descriptor beside it look like in either codec is worked out once, at publish.

Source: binding 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgpack

from descriptor.canonical import canonical
from descriptor.encoding import b64url_encode
from descriptor.keys import Identity
from descriptor.strictjson import JsonValue
from descriptor.timestamps import format_timestamp
from entryway.envelope import ENVELOPE_TAG, PROTOCOL_VERSION, new_uuid


class ReplyPayload(NamedTuple):
    """The payload of a reply: its members, their JCS form, and their msgpack form."""

    members: Mapping[str, JsonValue]
    canonical: str
    packed: bytes

    @classmethod
    def of(cls, members: Mapping[str, JsonValue]) -> ReplyPayload:
        """Works both forms out."""
        return cls(members, canonical(dict(members)).decode(), msgpack.packb(dict(members)))


class Beside(NamedTuple):
    """The exact bytes of a Descriptor, as the member `descriptor` that ends a reply map, in either codec."""

    data: bytes
    json: bytes
    packed: bytes

    @classmethod
    def of(cls, data: bytes) -> Beside:
        """Works both forms out: base64url in JSON, a bin in msgpack."""
        packed = msgpack.packb("descriptor") + msgpack.packb(data)
        return cls(data, b',"descriptor":"%s"}\n' % b64url_encode(data).encode(), packed)


class Reply(NamedTuple):
    """A signed reply. `text` is the JCS form of all members but `sig`."""

    sender: str
    id: str
    ts: str
    in_reply_to: str
    payload: ReplyPayload
    to: str | None
    sig: str
    text: str

    @property
    def members(self) -> dict[str, JsonValue]:
        """The members of the envelope."""
        members: dict[str, JsonValue] = {
            "v": PROTOCOL_VERSION,
            "id": self.id,
            "type": "respond",
            "ts": self.ts,
            "from": self.sender,
            "in_reply_to": self.in_reply_to,
            "payload": dict(self.payload.members),
            "sig": self.sig,
        }
        if self.to is not None:
            members["to"] = self.to
        return members

    def json(self, *, alone: bool) -> bytes:
        """The reply map as JSON; unless it is `alone`, `Beside.json` has to follow."""
        return f'{{"envelope":{{"sig":"{self.sig}",{self.text[1:]}{"}" if alone else ""}'.encode()

    def msgpack(self, *, alone: bool) -> bytes:
        """The reply map as msgpack; unless it is `alone`, `Beside.packed` has to follow."""
        to = b"" if self.to is None else _TO + self.to.encode()
        texts = (self.id, self.ts, self.sender, self.in_reply_to, self.sig)
        identifier, ts, sender, in_reply_to, sig = [text.encode() for text in texts]
        return b"".join(
            (
                _ONE_MEMBER if alone else _TWO_MEMBERS,
                _UNADDRESSED if self.to is None else _ADDRESSED,
                _KNOWN,
                *(_ID, identifier, _TS, ts, _FROM, sender, _IN_REPLY_TO, in_reply_to, _SIG, sig),
                to,
                _PAYLOAD,
                self.payload.packed,
            )
        )


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
    sig = b64url_encode(identity.sign(ENVELOPE_TAG + text.encode()))
    return Reply(identity.id, identifier, ts, request_id, payload, to, sig, text)


# The msgpack template: maps by their size, then each name with what announces a text of its value's length.
# A UUID has 36 characters, a time 24, an agent id 56, a signature 86.


def _named(name: str, length: int) -> bytes:
    packed: bytes = msgpack.packb(name) + msgpack.packb("x" * length)[:-length]
    return packed


_ONE_MEMBER = b"\x81" + msgpack.packb("envelope")
_TWO_MEMBERS = b"\x82" + msgpack.packb("envelope")
_UNADDRESSED, _ADDRESSED = b"\x88", b"\x89"
_KNOWN = msgpack.packb("v") + msgpack.packb(PROTOCOL_VERSION) + msgpack.packb("type") + msgpack.packb("respond")
_ID = _named("id", 36)
_TS = _named("ts", 24)
_FROM = _named("from", 56)
_TO = _named("to", 56)
_IN_REPLY_TO = _named("in_reply_to", 36)
_SIG = _named("sig", 86)
_PAYLOAD = msgpack.packb("payload")
