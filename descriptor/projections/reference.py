"""A reference into a Descriptor: what a document signs to make members of it binding, without restating them.

    {"reference": "v1", "digest": "sha256:…", "location": "http://…",
     "members": [{"pointer": "/offerings/0/inputs", "canonical_digest": "sha256:…"}]}

The invariant: a reference names exact bytes, and can be checked from them and nothing else, however much later and
wherever they were found. `digest` is over the bytes. `canonical_digest` is over the canonical form of the value at the
pointer, so that a reader who holds only that value can see that it is the one that is meant. `location` is a hint
where the bytes were served; it may be absent, and proves nothing.

Source: chapters 6.1, 6.5 and 6.8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from descriptor.canonical import canonical
from descriptor.digests import digest_of, is_digest
from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.pointers import resolve
from descriptor.signatures import SignatureReport, verify_statement
from descriptor.strictjson import JsonValue

VERSION = "v1"


class MemberState(StrEnum):
    """What became of one member. `MISSING`: nothing stands at its pointer."""

    HOLDS = "holds"
    DIFFERS = "differs"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Reference:
    """A Descriptor at its digest, and places in it: for each JSON Pointer the digest of its value's canonical form."""

    digest: str
    location: str | None
    members: tuple[tuple[str, str], ...]

    @classmethod
    def to(cls, descriptor: Descriptor, pointers: Sequence[str], location: str | None = None) -> Self:
        """The reference to these members.

        Raises DescriptorError: `NOT_BOUND` for a draft, to which nothing binds; `BAD_POINTER` and `NOT_THERE`.
        Source: chapter 6.2 (the subject).
        """
        if descriptor.subject_id is None:
            raise DescriptorError("NOT_BOUND", "Nothing binds to a draft; publish it and reference that.", "/subject")
        members = tuple((one, _digest_at(descriptor, one)) for one in dict.fromkeys(pointers))
        return cls(descriptor.digest, location, members)

    @classmethod
    def read(cls, document: Mapping[str, JsonValue]) -> Self:
        """The reference that a document is. Raises DescriptorError `BAD_REFERENCE`. Unknown members are ignored."""
        digest, location, members = (document.get(name) for name in ("digest", "location", "members"))
        if document.get("reference") != VERSION or not isinstance(digest, str) or not is_digest(digest):
            raise _bad(f'it does not say "reference": "{VERSION}" with a digest', "")
        if location is not None and not isinstance(location, str):
            raise _bad("its location is no text", "/location")
        if not isinstance(members, list):
            raise _bad("its members are no list", "/members")
        return cls(digest, location, tuple(_read_member(one, index) for index, one in enumerate(members)))

    def document(self) -> dict[str, JsonValue]:
        """The reference as it is written."""
        named: dict[str, JsonValue] = {"reference": VERSION, "digest": self.digest}
        if self.location is not None:
            named["location"] = self.location
        members: list[JsonValue] = [
            {"pointer": pointer, "canonical_digest": digest} for pointer, digest in self.members
        ]
        return {**named, "members": members}


@dataclass(frozen=True, slots=True)
class Verified:
    """What bytes are worth as what a reference means.

    `found`: the digest of the bytes. `bound`: they have a subject, without which they bind nobody. `signature`: of the
    operator, over these bytes' document. `members`: the state at each pointer, in the order of the reference.
    """

    expected: str
    found: str
    bound: bool
    signature: SignatureReport
    members: tuple[tuple[str, MemberState], ...]

    @property
    def holds(self) -> bool:
        """Whether these are the bytes, bound, and every member is as it was referenced.

        The digest alone fixes what was meant: a Descriptor that is not signed can be referenced all the same, and is
        then trusted as far as the place it came from (chapter 6.6). One whose signature fails is not.
        """
        members = all(state is MemberState.HOLDS for _, state in self.members)
        return self.found == self.expected and self.bound and members and self.signature.state.value != "failed"


def verify_reference(reference: Reference, data: bytes) -> Verified:
    """Judges `data` by a reference. Of other bytes than the ones meant it says too which members are the same there.

    Raises what `Descriptor.read` raises, for bytes that are no Descriptor.
    """
    descriptor = Descriptor.read(data)
    # Once for each place: a reference may name one as often as it has room for.
    found = {pointer: _found(descriptor, pointer) for pointer in dict.fromkeys(name for name, _ in reference.members)}
    return Verified(
        expected=reference.digest,
        found=descriptor.digest,
        bound=descriptor.subject_id is not None,
        signature=verify_statement(descriptor.members),
        members=tuple((pointer, _state(found[pointer], digest)) for pointer, digest in reference.members),
    )


def _state(found: str | MemberState, digest: str) -> MemberState:
    if isinstance(found, MemberState):
        return found
    return MemberState.HOLDS if found == digest else MemberState.DIFFERS


def _found(descriptor: Descriptor, pointer: str) -> str | MemberState:
    """The digest at a pointer; or the state of whatever was said of it, where there is none."""
    try:
        return _digest_at(descriptor, pointer)
    except DescriptorError as error:
        return MemberState.DIFFERS if error.code == "NOT_CANONICAL" else MemberState.MISSING


def _digest_at(descriptor: Descriptor, pointer: str) -> str:
    return digest_of(canonical(resolve(descriptor.members, pointer)))


def _read_member(member: JsonValue, index: int) -> tuple[str, str]:
    stated = member if isinstance(member, dict) else {}
    pointer, digest = stated.get("pointer"), stated.get("canonical_digest")
    if not isinstance(pointer, str) or not isinstance(digest, str) or not is_digest(digest):
        raise _bad("a member is a pointer with a canonical_digest, and this one is not", f"/members/{index}")
    return pointer, digest


def _bad(why: str, pointer: str) -> DescriptorError:
    return DescriptorError("BAD_REFERENCE", f"This is no reference: {why}. `agent-node reference` makes them.", pointer)
