"""The digest that names an artifact.

The invariant: a digest is over the exact bytes, with no canonicalization, and is compared and stored in one
spelling, `sha256:` and 64 lowercase hex digits.
"""

from __future__ import annotations

import hashlib
import re

from descriptor.errors import DescriptorError, quoted

_DIGEST = re.compile(r"(?:sha256:)?([0-9a-f]{64})")


def digest_of(data: bytes) -> str:
    """The digest of exactly these bytes: `"sha256:"` + 64 lowercase hex. Source: chapter 6.5."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def is_digest(text: str) -> bool:
    """Whether `text` is a digest as documents write it, `sha256:` and 64 lowercase hex."""
    return text.startswith("sha256:") and _DIGEST.fullmatch(text) is not None


def parse_digest(text: str) -> str:
    """The digest `text` names, as `"sha256:"` + 64 lowercase hex. Bare hex is read too, as in a URL path.

    Raises `DescriptorError` `BAD_DIGEST`.

    Source: binding 1.
    """
    match = _DIGEST.fullmatch(text)
    if match is None:
        raise DescriptorError("BAD_DIGEST", f"{quoted(text)} is no digest; write sha256: and 64 lowercase hex digits.")
    return "sha256:" + match[1]
