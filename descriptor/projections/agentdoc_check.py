"""Whether an AgentDoc keeps to its own rules, as far as can be seen from here.

| check               | holds when                                                                                |
|---------------------|-------------------------------------------------------------------------------------------|
| `form`              | it says what it is, about whom, when and by whom, and has sources, sections, not_stated   |
| `sources`           | each source has an id of its own, a kind, a place, and a known state of its signature     |
| `from`              | every section, and every member that says so, is from a listed source                     |
| `digests`           | the bytes at hand are those that their source names, and their signature is as it says    |
| `values`            | no value stands there that is not in its source, as far as the sources are at hand        |
| `not_stated`        | every place is stated or listed as not stated, and none is both                           |
| `no_grade`          | nothing in it grades the agent                                                            |
| `signature`         | whoever says to have assembled it has signed it                                           |
| `fresh`             | it is not past its own time                                                               |

The invariant: a check that could not be made is `None`, and never holds by that. Nothing here knows a network or a
clock; the time, and the bytes of sources, are handed in.

Source: section 9 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from descriptor.digests import is_digest
from descriptor.encoding import b64_any_decode
from descriptor.errors import DescriptorError
from descriptor.keys import verify
from descriptor.pointers import pointer_to
from descriptor.projections.agentdoc import (
    AGENTDOC,
    ASSEMBLY_TAG,
    SIGNATURE_STATES,
    assembly_bytes,
)
from descriptor.projections.agentdoc_content import digests, no_grade, not_stated, values
from descriptor.projections.agentdoc_looked import Found, Looked, Members, moment_of, object_of, objects_in
from descriptor.strictjson import parse

CHECKS = ("form", "sources", "from", "digests", "values", "not_stated", "no_grade", "signature", "fresh")

MAX_BYTES = 16 * 1_048_576
"""Bytes of an AgentDoc that are read: a Descriptor with every place that it leaves unsaid is several times its size."""

_MOST_REMARKS = 100


@dataclass(frozen=True)
class Remark:
    """What is wrong. `pointer`: JSON Pointer into the AgentDoc."""

    check: str
    pointer: str
    message: str


@dataclass(frozen=True)
class Checked:
    """`checks`: by name whether it holds, `None` where it could not be made. `remarks`: at most a hundred."""

    checks: Mapping[str, bool | None]
    remarks: tuple[Remark, ...]

    @property
    def holds(self) -> bool:
        """Whether no check fails. What could not be made does not fail."""
        return all(held is not False for held in self.checks.values())


def check(data: bytes, bytes_of: Mapping[str, bytes], now: float) -> Checked:
    """Looks at an AgentDoc. `bytes_of`: what is at hand of its sources, by id. `now`: seconds since 1970.

    Raises `DescriptorError` for what is no JSON object within `MAX_BYTES`: what `strictjson.parse` raises, and
    `NOT_AN_OBJECT`.
    """
    members = parse(data, max_bytes=MAX_BYTES)
    if not isinstance(members, dict):
        raise DescriptorError("NOT_AN_OBJECT", "The document is not a JSON object; an AgentDoc is one object.", "")
    looked = Looked(members, bytes_of, now)
    remarks: list[Remark] = []
    checks: dict[str, bool | None] = {}
    for name in CHECKS:
        found, made = _FINDERS[name](looked)
        told = [Remark(name, pointer, message) for pointer, message in found]
        remarks += told
        checks[name] = False if told else True if made else None
    return Checked(checks, tuple(remarks[:_MOST_REMARKS]))


def _form(looked: Looked) -> Found:
    def wrong() -> Iterator[tuple[str, str]]:
        members = looked.members
        if members.get("agentdoc") != AGENTDOC:
            yield "/agentdoc", f'This has to be "{AGENTDOC}".'
        if not isinstance(object_of(members.get("subject")).get("id"), str):
            yield "/subject/id", "It does not say about which agent it is."
        for name in ("assembled_at", *(("stale_after",) if "stale_after" in members else ())):
            if moment_of(members.get(name)) is None:
                yield pointer_to(name), "This is no RFC 3339 time."
        if not isinstance(members.get("assembled_by"), str):
            yield "/assembled_by", "It does not say who assembled it."
        for name in ("sources", "not_stated"):
            if not isinstance(members.get(name), list):
                yield pointer_to(name), "This has to be a list."
        if not isinstance(members.get("sections"), dict):
            yield "/sections", "This has to be an object with the sections."

    return wrong(), True


def _sources(looked: Looked) -> Found:
    def wrong() -> Iterator[tuple[str, str]]:
        listed = looked.members.get("sources")
        seen = set()
        for place, one in enumerate(listed if isinstance(listed, list) else ()):
            at = pointer_to("sources", place)
            source = object_of(one)
            if not isinstance(source.get("id"), str) or source["id"] in seen:
                yield f"{at}/id", "A source needs an id, and one that no other has."
            seen.add(str(source.get("id")))
            if not isinstance(source.get("kind"), str):
                yield f"{at}/kind", "A source says what kind of document it is."
            if not isinstance(source.get("url"), str) and not ("at" in source and "what" in source):
                yield at, "A source has a url, or says what was seen (what) and when (at)."
            for name in ("at", "fetched_at"):
                if name in source and moment_of(source[name]) is None:
                    yield f"{at}/{name}", "This is no RFC 3339 time."
            if "digest" in source and not (isinstance(source["digest"], str) and is_digest(source["digest"])):
                yield f"{at}/digest", "A digest is sha256: and 64 lowercase hex digits."
            if source.get("signature") not in SIGNATURE_STATES:
                yield f"{at}/signature", f"This has to be one of {', '.join(SIGNATURE_STATES)}."

    return wrong(), True


def _from(looked: Looked) -> Found:
    def wrong() -> Iterator[tuple[str, str]]:
        known = looked.sources
        for name, section in object_of(looked.members.get("sections")).items():
            at = pointer_to("sections", name)
            if not isinstance(section, dict):
                yield at, "A section is an object."
                continue
            for member, source in section.items():
                if member != "from" and not member.endswith("_from"):
                    continue
                if not isinstance(source, str) or source not in known:
                    yield pointer_to("sections", name, member), "This names no source that is listed."
                if member != "from" and member.removesuffix("_from") not in section:
                    yield pointer_to("sections", name, member), "There is nothing here that could be from there."
            if "from" not in section:
                yield f"{at}/from", "A section says where it is from."

    return wrong(), True


def _signature(looked: Looked) -> Found:
    def wrong() -> Iterator[tuple[str, str]]:
        by = looked.members.get("assembled_by")
        listed = [
            (place, one)
            for place, one in objects_in(looked.members.get("signatures"))
            if one.get("tag") == ASSEMBLY_TAG
        ]
        if not listed:
            yield "/signatures", f"There is no signature with the tag {ASSEMBLY_TAG}."
        for place, entry in listed[:16]:
            if not isinstance(by, str) or entry.get("by") != by:
                yield pointer_to("signatures", place, "by"), "Only who assembled it signs it."
            elif not _verifies(looked.members, entry, by):
                yield pointer_to("signatures", place, "sig"), "The signature does not verify; it was changed since."

    return wrong(), True


def _fresh(looked: Looked) -> Found:
    until = moment_of(looked.members.get("stale_after"))
    if until is not None and until < looked.now:
        return [("/stale_after", "It is past the time for which it was meant; assemble it again.")], True
    return (), until is not None


_FINDERS: Mapping[str, Callable[[Looked], Found]] = {
    "form": _form,
    "sources": _sources,
    "from": _from,
    "digests": digests,
    "values": values,
    "not_stated": not_stated,
    "no_grade": no_grade,
    "signature": _signature,
    "fresh": _fresh,
}


def _verifies(members: Members, entry: Members, by: str) -> bool:
    try:
        return verify(by, assembly_bytes(members), b64_any_decode(str(entry.get("sig")), 64))
    except DescriptorError:
        return False
