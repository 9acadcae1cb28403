"""Verifies an A2A card with PyNaCl and rfc8785 alone: python verify_card.py FILE AGENT_ID. None of it is our code."""

import base64
import json
import sys
from pathlib import Path

import rfc8785
from nacl.signing import VerifyKey

if len(sys.argv) != 3:
    sys.exit(__doc__)


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def without_empty(value):
    if isinstance(value, dict):
        value = {name: without_empty(member) for name, member in value.items()}
        return {name: member for name, member in value.items() if member not in (None, "", [], {})}
    if isinstance(value, list):
        return [one for one in map(without_empty, value) if one not in (None, "", [], {})]
    return value


card, agent_id = json.loads(Path(sys.argv[1]).read_bytes()), sys.argv[2]
(entry,) = [one for one in card.pop("signatures") if json.loads(decoded(one["protected"]))["kid"] == agent_id]
assert json.loads(decoded(entry["protected"]))["alg"] == "EdDSA"
payload = base64.urlsafe_b64encode(rfc8785.dumps(without_empty(card))).rstrip(b"=")
public_key = base64.b32decode(agent_id)[1:33]  # the id is the key: nothing is fetched
VerifyKey(public_key).verify(entry["protected"].encode() + b"." + payload, decoded(entry["signature"]))
print(f"{card['name']}: the signed word of {agent_id}")
