"""What the node answers with right now, laid out once a publish.

A snapshot is immutable and is swapped as a whole: no answer mixes two versions, and none waits for a disk. The bytes in
it are the published bytes; nothing is serialized again on the way to a reader.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from email.utils import formatdate

from descriptor.document import Descriptor
from descriptor.timestamps import format_timestamp
from entryway.http import Response, header_text, response
from entryway.reply import Beside, ReplyPayload
from entryway.router import CORS, EXPOSED, PLAIN_TYPE

LONGEST_HEADER_VERSION = 128  # characters: clients bound a header, and the document says it anyway
IMMUTABLE = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Representation:
    """Exact bytes under their digest, as an answer and as the `304` that stands in for it."""

    etag: str
    full: Response
    not_modified: Response

    def answer(self, if_none_match: bytes | None) -> Response:
        """`304` when the reader has these bytes already, otherwise the bytes (RFC 9110, 13.1.2)."""
        if if_none_match is not None and self._matches(if_none_match.decode("latin-1")):
            return self.not_modified
        return self.full

    def _matches(self, field: str) -> bool:
        return field.strip() == "*" or any(tag.strip().removeprefix("W/") == self.etag for tag in field.split(","))


def represent(data: bytes, digest: str, cache_control: str, extra: tuple[tuple[str, str], ...] = ()) -> Representation:
    """Lays out the answer for `data`. `Repr-Digest` is RFC 9530's: the same SHA-256, as base64."""
    etag = f'"{digest}"'
    sha256 = b64encode(bytes.fromhex(digest.removeprefix("sha256:"))).decode()
    validators = (
        ("ETag", etag),
        ("Repr-Digest", f"sha-256=:{sha256}:"),
        ("Cache-Control", cache_control),
        *extra,
        CORS,
        EXPOSED,
    )
    full = response(200, (("Content-Type", "application/json"), PLAIN_TYPE, *validators), data)
    return Representation(etag, full, response(304, validators, content_length=False))


@dataclass(frozen=True, slots=True)
class Published:
    """The current version and every answer that is made of it."""

    descriptor: Descriptor
    seq: int
    published_at: float
    well_known: Representation
    by_digest: Representation
    shown: ReplyPayload
    beside: Beside


@dataclass(frozen=True, slots=True)
class NonePublished:
    """Nothing has been published yet; saying so is an answer (4.2 of `rules-beyond-chapter-6`)."""


@dataclass(frozen=True, slots=True)
class Damaged:
    """The current version's stored bytes are not the ones its digest names. They are never served."""

    digest: str


Snapshot = Published | NonePublished | Damaged

NONE_PUBLISHED = ReplyPayload.of({"status": "none-published"})


def published(descriptor: Descriptor, seq: int, published_at: float) -> Published:
    """The snapshot of a version. `published_at` is in seconds since 1970; `seq` is its number in the history."""
    agent_version = descriptor.agent_version or ""
    named = (("Agent-Version", header_text(agent_version)),) if len(agent_version) <= LONGEST_HEADER_VERSION else ()
    return Published(
        descriptor=descriptor,
        seq=seq,
        published_at=published_at,
        well_known=represent(
            descriptor.data,
            descriptor.digest,
            "no-cache",
            (*named, ("Last-Modified", formatdate(published_at, usegmt=True))),
        ),
        by_digest=represent(descriptor.data, descriptor.digest, IMMUTABLE),
        shown=ReplyPayload.of(
            {
                "status": "published",
                "digest": descriptor.digest,
                "agent_version": agent_version,
                "size": len(descriptor.data),
                "published_at": format_timestamp(published_at),
            }
        ),
        beside=Beside.of(descriptor.data),
    )
