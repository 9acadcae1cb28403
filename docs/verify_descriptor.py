"""Verifies a Descriptor with PyNaCl and rfc8785 alone: python verify_descriptor.py FILE. None of it is our code."""

import base64
import hashlib
import json
import sys
from pathlib import Path

import rfc8785
from nacl.signing import VerifyKey

if len(sys.argv) != 2:
    sys.exit(__doc__)

data = Path(sys.argv[1]).read_bytes()
document = json.loads(data)
(entry,) = [e for e in document.pop("signatures") if e["tag"] == "descriptor-statement-v1"]
assert entry["by"] == document["subject"]["id"], "signed by somebody else"
public_key = base64.b32decode(entry["by"])[1:33]
VerifyKey(public_key).verify(b"descriptor-statement-v1\n" + rfc8785.dumps(document), base64.b64decode(entry["sig"]))
print(f"sha256:{hashlib.sha256(data).hexdigest()} is the signed word of {entry['by']}")
