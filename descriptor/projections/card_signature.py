"""The signature of an A2A card: a JWS over the card's canonical form, made with the agent's identity key.

    signing input  =  base64url(protected)  "."  base64url(JCS(card without `signatures` and without what is empty))
    protected      =  {"alg": "EdDSA", "kid": <subject.id>, "typ": "JOSE"}

The invariant: a card is judged by the key of one agent and no other, the one its reader expects. The `kid` is an
agent's id, which is the public key itself, so that nothing has to be fetched to verify a card: no `jku` is written and
none is followed, since it would be the card that says where the key to the card is. Entries by other keys are no
failure, for a card may carry several.

Source: A2A 1.0, 8.4; RFC 7515 and RFC 8037; binding 1.
"""

from __future__ import annotations

from collections.abc import Mapping

from descriptor.canonical import canonical
from descriptor.encoding import b64url_decode, b64url_encode
from descriptor.errors import DescriptorError
from descriptor.keys import Identity, verify
from descriptor.signatures import Signature, SignatureReport
from descriptor.strictjson import JsonValue, parse

ALGORITHM = "EdDSA"
# Each costs a verification, and one is usual.
_MOST_SIGNATURES = 16


def canonical_card(card: Mapping[str, JsonValue]) -> bytes:
    """The bytes of a card that are signed: JCS, without `signatures` and without members that are empty.

    Empty is what an A2A reader cannot tell from absent once it has read the card into its own types: an empty text,
    list or object, `null`, and an extension's `required` when it is false. Other flags keep their false.

    Raises DescriptorError `NOT_CANONICAL`. Source: A2A 1.0, 8.4.1.
    """
    return canonical(_without_empty({name: value for name, value in card.items() if name != "signatures"}) or {})


def sign_card(card: Mapping[str, JsonValue], identity: Identity) -> dict[str, JsonValue]:
    """The card with the signature of `identity` as its only one. Source: A2A 1.0, 8.4.2."""
    protected = b64url_encode(canonical({"alg": ALGORITHM, "kid": identity.id, "typ": "JOSE"}))
    signature = b64url_encode(identity.sign(_signing_input(protected, card)))
    return {**card, "signatures": [{"protected": protected, "signature": signature}]}


def verify_card(card: Mapping[str, JsonValue], agent_id: str) -> SignatureReport:
    """What the card's signature by the agent `agent_id` is worth. Raises nothing.

    Unsigned when no entry is by that agent; failed when one is that does not hold, or when it cannot be told by whom.
    """
    entries = card.get("signatures", [])
    if not isinstance(entries, list) or len(entries) > _MOST_SIGNATURES:
        return SignatureReport(
            Signature.FAILED, f"signatures is no list of at most {_MOST_SIGNATURES} entries.", "/signatures"
        )
    holding = None
    for index, entry in enumerate(entries):
        pointer = f"/signatures/{index}"
        try:
            if _holds(card, entry, agent_id):
                holding = pointer
        except DescriptorError as error:
            return SignatureReport(Signature.FAILED, error.message, pointer)
    return SignatureReport(Signature.VERIFIED if holding else Signature.UNSIGNED, pointer=holding)


def _holds(card: Mapping[str, JsonValue], entry: JsonValue, agent_id: str) -> bool:
    """Whether an entry is by the agent, and holds. Raises DescriptorError where it does not, or cannot be read."""
    stated = entry if isinstance(entry, dict) else {}
    protected, signature = stated.get("protected"), stated.get("signature")
    if not isinstance(protected, str) or not isinstance(signature, str):
        raise _bad("The entry does not hold the texts protected and signature.")
    header = parse(b64url_decode(protected))
    if not isinstance(header, dict):
        raise _bad("The protected header is not an object.")
    if header.get("kid") != agent_id:
        return False
    # What a header calls critical changes how it is read, and nothing of the kind is known here.
    if header.get("alg") != ALGORITHM or "crit" in header:
        raise _bad(f"The protected header says another alg than {ALGORITHM}, or something critical.")
    if not verify(agent_id, _signing_input(protected, card), b64url_decode(signature, 64)):
        raise _bad("The card was changed after it was signed, or signed with another key.")
    return True


def _signing_input(protected: str, card: Mapping[str, JsonValue]) -> bytes:
    return f"{protected}.{b64url_encode(canonical_card(card))}".encode()


def _without_empty(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        cleaned: dict[str, JsonValue] = {name: _without_empty(member) for name, member in value.items()}
        kept: dict[str, JsonValue] = {name: member for name, member in cleaned.items() if member is not None}
        if kept.get("required") is False and "uri" in kept:
            del kept["required"]
        return kept or None
    if isinstance(value, list):
        return [one for item in value if (one := _without_empty(item)) is not None] or None
    return None if value == "" else value


def _bad(reason: str) -> DescriptorError:
    return DescriptorError("BAD_SIGNATURE", reason)
