"""The published vectors hold: through this package, and through PyNaCl and rfc8785 alone."""

import base64
import json
from pathlib import Path
from typing import Any

import nacl.public
import nacl.signing
import pytest
import rfc8785

from descriptor.canonical import canonical
from descriptor.encoding import b64url_decode, b64url_encode
from descriptor.keys import Identity, SealingKey, decode_public, encode_seed, verify
from descriptor.signatures import Signature, key_claim_bytes, sign_key_claim, verify_key_claim
from descriptor.strictjson import parse
from tests.vectors import CANONICAL, ENVELOPE, FAMILY, KEY_CLAIM, NKEYS, RAW_SIGN, SEALED

PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "vectors" / "family.json"


def test_the_constants_are_the_published_vectors() -> None:
    if not PUBLISHED.exists():
        pytest.skip("the published file is not beside this checkout")
    published = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    published.pop("about")
    assert published == FAMILY


@pytest.mark.parametrize("vector", NKEYS)
def test_nkeys(vector: dict[str, Any]) -> None:
    identity = Identity.from_seed_text(vector["seed"])
    assert identity.id == vector["public"]
    assert identity.seed_text() == vector["seed"]
    assert decode_public(vector["public"]) == identity.public


@pytest.mark.parametrize("vector", RAW_SIGN)
def test_raw_signatures(vector: dict[str, Any]) -> None:
    identity = Identity.from_seed_text(vector["seed"])
    message = vector["message"].encode()
    signature = base64.b64decode(vector["sig_b64"], validate=True)
    assert identity.sign(message) == signature
    assert verify(identity.id, message, signature)


def test_key_claim() -> None:
    identity = Identity.from_seed_text(KEY_CLAIM["seed"])
    claim = sign_key_claim(identity, KEY_CLAIM["encryption_key"], KEY_CLAIM["issued_at"])
    assert claim == {"issued_at": KEY_CLAIM["issued_at"], "signature": KEY_CLAIM["signature"]}
    document = {"subject": {"id": KEY_CLAIM["id"]}, "encryption_key": KEY_CLAIM["encryption_key"], "trust": claim}
    assert verify_key_claim(document).state is Signature.VERIFIED


def test_key_claim_without_this_package() -> None:
    lines = ["agentmesh-manifest-key-v1", KEY_CLAIM["issued_at"], KEY_CLAIM["id"], KEY_CLAIM["encryption_key"]]
    message = "\n".join(lines).encode()
    assert message == key_claim_bytes(*lines[1:])
    key = nacl.signing.VerifyKey(base64.b32decode(KEY_CLAIM["id"])[1:33])
    key.verify(message, base64.urlsafe_b64decode(KEY_CLAIM["signature"] + "=="))


def test_envelope() -> None:
    identity = Identity.from_seed_text(ENVELOPE["seed"])
    message = b"agentmesh-envelope-v1\n" + canonical(ENVELOPE["envelope"])
    assert b64url_encode(identity.sign(message)) == ENVELOPE["sig"]
    assert verify(ENVELOPE["envelope"]["from"], message, b64url_decode(ENVELOPE["sig"], 64))


def test_envelope_without_this_package() -> None:
    message = b"agentmesh-envelope-v1\n" + rfc8785.dumps(ENVELOPE["envelope"])
    key = nacl.signing.VerifyKey(base64.b32decode(ENVELOPE["envelope"]["from"])[1:33])
    key.verify(message, base64.urlsafe_b64decode(ENVELOPE["sig"] + "=="))


def test_sealed() -> None:
    key = SealingKey.from_secret_text(SEALED["recipient_secret"])
    assert key.public_text == SEALED["recipient_public"]
    assert key.secret_text() == SEALED["recipient_secret"]
    sealed = SEALED["sealed"]
    box = nacl.public.Box(nacl.public.PrivateKey(key.secret), nacl.public.PublicKey(b64url_decode(sealed["epk"], 32)))
    opened = box.decrypt(b64url_decode(sealed["ct"]), b64url_decode(sealed["nonce"], 24))
    assert parse(opened) == SEALED["expect_payload"]


@pytest.mark.parametrize("vector", CANONICAL, ids=lambda vector: vector["name"])
def test_canonical(vector: dict[str, Any]) -> None:
    assert canonical(parse(vector["input_json"].encode())) == vector["canonical"].encode()


def test_seeds_are_the_secret_of_the_identity() -> None:
    for vector in NKEYS:
        seed = base64.b32decode(vector["seed"] + "======")[2:34]
        assert encode_seed(seed) == vector["seed"]
        assert bytes(nacl.signing.SigningKey(seed).verify_key) == decode_public(vector["public"])
