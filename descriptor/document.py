"""One version of a Descriptor, as the bytes that were fetched or published.

The invariant: `data` is the artifact and everything else is derived from it. The parsed view is for reading;
nothing is written back from it, because a reference names the bytes and not their meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from descriptor.digests import digest_of
from descriptor.errors import DescriptorError
from descriptor.strictjson import MAX_BYTES, MAX_DEPTH, JsonValue, parse


@dataclass(frozen=True)
class Descriptor:
    """A Descriptor's exact bytes, their digest, and what they say.

    `members` is the document as `strictjson.parse` reads it, to be treated as read-only at every level.
    `subject_id`, `handle` and `agent_version` are `None` when they are not stated, or stated with a type that
    is not text. `is_draft`: there is no `subject` member.

    Having one means: the bytes are one JSON object within the limits. It does not mean that the checker is
    content.

    Source: chapters 6.2 and 6.5.
    """

    data: bytes = field(repr=False)
    digest: str
    members: Mapping[str, JsonValue] = field(repr=False, compare=False)
    subject_id: str | None
    handle: str | None
    agent_version: str | None
    is_draft: bool

    @classmethod
    def read(cls, data: bytes, *, max_bytes: int = MAX_BYTES, max_depth: int = MAX_DEPTH) -> Descriptor:
        """The Descriptor that `data` is.

        Raises `DescriptorError`: what `strictjson.parse` raises, and `NOT_AN_OBJECT` for JSON that is no
        object.
        """
        members = parse(data, max_bytes=max_bytes, max_depth=max_depth)
        if not isinstance(members, dict):
            raise DescriptorError("NOT_AN_OBJECT", "The document is not a JSON object; a Descriptor is one object.", "")
        subject = members.get("subject")
        stated = subject if isinstance(subject, dict) else {}
        return cls(
            data=data,
            digest=digest_of(data),
            members=MappingProxyType(members),
            subject_id=_text(stated.get("id")),
            handle=_text(stated.get("handle")),
            agent_version=_text(members.get("agent_version")),
            is_draft="subject" not in members,
        )


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None
