"""What the node answers with right now, laid out once a publish.

A snapshot is immutable and is swapped as a whole: no answer mixes two versions, and none waits for a disk. The bytes in
it are the published bytes; nothing is serialized again on the way to a reader.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from email.utils import formatdate
from typing import Self

from descriptor.digests import digest_of
from descriptor.document import Descriptor
from descriptor.timestamps import format_timestamp
from entryway.description import admission_of, described, door_statement, usage
from entryway.http import Response, header_text, response
from entryway.protections import text_cap
from entryway.reply import Beside, ReplyPayload
from entryway.router import CORS, EXPOSED, PLAIN_TYPE
from entryway.texts import Files, declared_files

LONGEST_HEADER_VERSION = 128  # characters: clients bound a header, and the document says it anyway
IMMUTABLE = "public, max-age=31536000, immutable"


Fields = tuple[tuple[str, str], ...]
JSON: Fields = (("Content-Type", "application/json"), PLAIN_TYPE)


def validators(digest: str, cache_control: str, *extra: tuple[str, str]) -> Fields:
    """The fields that name exact bytes. `Repr-Digest` is RFC 9530's: the same SHA-256, as base64."""
    sha256 = b64encode(bytes.fromhex(digest.removeprefix("sha256:"))).decode()
    return (
        ("ETag", f'"{digest}"'),
        ("Repr-Digest", f"sha-256=:{sha256}:"),
        ("Cache-Control", cache_control),
        *extra,
        CORS,
        EXPOSED,
    )


def full(data: bytes, fields: Fields, kind: Fields = JSON) -> Response:
    """The exact bytes. `kind`: the fields that say what they are."""
    return response(200, (*kind, *fields), data)


def not_modified(fields: Fields) -> Response:
    """What stands in for the bytes when the reader has them."""
    return response(304, fields, content_length=False)


def matches(if_none_match: bytes | None, digest: str) -> bool:
    """Whether `If-None-Match` says that the reader has these bytes already (RFC 9110, 13.1.2)."""
    if if_none_match is None:
        return False
    named = [tag.strip().removeprefix("W/") for tag in if_none_match.decode("latin-1").split(",")]
    return named == ["*"] or f'"{digest}"' in named


@dataclass(frozen=True, slots=True)
class Representation:
    """The current version under one set of fields, laid out both ways."""

    digest: str
    full: Response
    not_modified: Response

    @classmethod
    def of(cls, data: bytes, digest: str, fields: Fields, kind: Fields = JSON) -> Self:
        """Lays both out."""
        return cls(digest, full(data, fields, kind), not_modified(fields))

    def answer(self, if_none_match: bytes | None) -> Response:
        """The bytes, or `304`."""
        return self.not_modified if matches(if_none_match, self.digest) else self.full


@dataclass(frozen=True, slots=True)
class Published:
    """The current version and every answer that is made of it.

    `card`: the A2A card, under its own digest. `admission`: as the version declares; `None` where not stated.
    `text_cap`: UTF-16 code units of text in one request, of which `files` are no part.
    """

    descriptor: Descriptor
    seq: int
    published_at: float
    well_known: Representation
    by_digest: Representation
    card: Representation
    shown: ReplyPayload
    beside: Beside
    described: ReplyPayload
    accepting: ReplyPayload
    usage: ReplyPayload
    admission: str | None
    text_cap: int
    files: Files


@dataclass(frozen=True, slots=True)
class NonePublished:
    """Nothing has been published yet; saying so is an answer (4.2 of `rules-beyond-chapter-6`)."""


@dataclass(frozen=True, slots=True)
class Damaged:
    """The current version's stored bytes are not the ones its digest names. They are never served."""

    digest: str
    seq: int


Snapshot = Published | NonePublished | Damaged

NONE_PUBLISHED = ReplyPayload.of({"status": "none-published"})


def card_representation(card: bytes) -> Representation:
    """The card, laid out. It changes with the addresses of the node as well, so it is named by bytes of its own."""
    digest = digest_of(card)
    return Representation.of(card, digest, validators(digest, "no-cache"))


def published(descriptor: Descriptor, seq: int, published_at: float, card: bytes) -> Published:
    """The snapshot of a version.

    `published_at` is in seconds since 1970; `seq` is its number in the history; `card` its A2A card as it is served.
    """
    agent_version = descriptor.agent_version or ""
    named = (("Agent-Version", header_text(agent_version)),) if len(agent_version) <= LONGEST_HEADER_VERSION else ()
    data, digest = descriptor.data, descriptor.digest
    last_modified = ("Last-Modified", formatdate(published_at, usegmt=True))
    return Published(
        descriptor=descriptor,
        seq=seq,
        published_at=published_at,
        well_known=Representation.of(data, digest, validators(digest, "no-cache", *named, last_modified)),
        by_digest=Representation.of(data, digest, validators(digest, IMMUTABLE)),
        card=card_representation(card),
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
        described=ReplyPayload.of(described(descriptor)),
        accepting=ReplyPayload.of(door_statement(descriptor.members)),
        usage=ReplyPayload.of(usage(descriptor)),
        admission=admission_of(descriptor.members),
        text_cap=text_cap(descriptor.members.get("limits")),
        files=declared_files(descriptor.members),
    )
