"""A hostile peer's reply: whatever comes back from one that was asked, it is judged, and believed only when it is true.

The first byte chooses the codec (1: msgpack), whether the peer completes what is missing of a reply to this very
question (2), whether the agent that was asked signs that (4), whether the status is another than 200 (8), whether the
question was signed and meant for that agent alone (16), and whether the peer names another codec than it used (32). The
body is behind it.

- `ask` gives an `Answer` or raises `ClientError`, whose text is fit to be shown.
- A reply that the agent did not sign is never verified.
- A reply that is verified carries bytes that the agent signed, with their digest, or none.
"""

from __future__ import annotations

from unittest import mock

from descriptor.digests import digest_of
from descriptor.document import Descriptor
from descriptor.encoding import b64url_encode
from descriptor.signatures import Signature, verify_statement
from descriptor.strictjson import JsonValue
from entryway.client import Answer, ClientError, ClientLimits, ask, asking
from entryway.client.transport import Received
from entryway.codec import Codec, decode, encode
from entryway.envelope import PROTOCOL_VERSION, new_uuid, sign_envelope
from entryway.errors import EntrywayError
from tests.entryway.parts import NOW, OTHER, OWNER, document, snapshot_of
from tests.fuzz.mutation import of_body
from tests.fuzz.promises import assert_fit_to_show
from tests.fuzz.targets import codecs

TOKENS = (*codecs.TOKENS, OWNER.id, OTHER.id, "2026-09-21T14:13:20.000Z", "\\u202e", "\\x1b[2J")
PUBLISHED = snapshot_of(document())

mutate = of_body(TOKENS)


def one_input(data: bytes) -> None:
    choice = data[0] if data else 0
    codec = Codec.MSGPACK if choice & 1 else Codec.JSON
    named = codec.other if choice & 32 else codec

    async def send(url: str, most: int, wait: float, *, accept: Codec, content: bytes | None = None) -> object:
        assert content is not None
        body = data[1:]
        if choice & 2:
            body = _completed(body, decode(content, accept), codec, sign=bool(choice & 4))
        return Received(503 if choice & 8 else 200, named.value, body[:most])

    with mock.patch.object(asking, "send", send):
        answer = _asked(codec, choice)
    if answer is None:
        return
    for text in (*answer.reasons.values(), answer.status or "", answer.agent_version or ""):
        assert text.isprintable()
        assert len(text) < 1_000
    assert [name for name, holds in answer.checks.items() if not holds] == list(answer.reasons)
    if answer.error is not None:
        assert not answer.checks
    if not answer.verified:
        return
    assert choice & 6 == 6
    assert answer.envelope is not None
    assert answer.envelope["from"] == OWNER.id
    if answer.descriptor is not None:
        assert answer.digest == digest_of(answer.descriptor)
        document = Descriptor.read(answer.descriptor)
        assert document.subject_id == OWNER.id
        assert verify_statement(document.members).state is Signature.VERIFIED


def _asked(codec: Codec, choice: int) -> Answer | None:
    asking = ask(
        "http://node.test",
        codec=codec,
        identity=OTHER if choice & 16 else None,
        expected_id=OWNER.id if choice & 16 else None,
        limits=ClientLimits(descriptor_bytes=4_096, envelope_bytes=4_096),
        clock=lambda: NOW,
    )
    try:
        asking.send(None)
    except StopIteration as done:
        answer: Answer = done.value
        return answer
    except ClientError as error:
        assert_fit_to_show(error)
        return None
    raise AssertionError("the peer answers at once, and still the client waited")


def _completed(body: bytes, request: JsonValue, codec: Codec, *, sign: bool) -> bytes:
    """What is missing of the reply map, of its envelope and of its payload."""
    try:
        reply = decode(body, codec)
    except EntrywayError:
        return body
    assert isinstance(request, dict)
    members = reply.get("envelope", {}) if isinstance(reply, dict) else None
    if not isinstance(reply, dict) or not isinstance(members, dict):
        return body
    shown: dict[str, JsonValue] = dict(PUBLISHED.shown.members)
    payload = members.get("payload", {})
    envelope: dict[str, JsonValue] = {
        "v": PROTOCOL_VERSION,
        "id": new_uuid(),
        "type": "respond",
        "ts": request["ts"],
        "from": OWNER.id,
        "in_reply_to": request["id"],
        **members,
        "payload": {**shown, **payload} if isinstance(payload, dict) else payload,
    }
    if sign:
        envelope = sign_envelope(OWNER, envelope)
    return encode({"descriptor": b64url_encode(PUBLISHED.descriptor.data), **reply, "envelope": envelope}, codec)
