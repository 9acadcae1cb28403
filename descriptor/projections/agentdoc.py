"""One document about one agent, assembled from what is at hand, each part of it saying where it is from.

    Descriptor ----.                                        .---> sections, each `from` a source
    card ----------+--> sources, each with its digest ------+---> not_stated
    door ----------+    and the state of its signature      +---> differences
    observations --'                                        '---> signed by whoever assembled it

The invariant: it states nothing that is not in a listed source, and judges nothing. A Descriptor's members enter as
`declared`: the operator's word, signed or not. Where a copy of a Descriptor's fact differs from the Descriptor, the
Descriptor's value is carried and the difference is reported.

Source: chapters 6.8 to 6.10 and 6.12; section 9 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from descriptor.canonical import canonical
from descriptor.digests import digest_of
from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.keys import Identity
from descriptor.pointers import pointer_to
from descriptor.projections.agentdoc_sections import read
from descriptor.projections.drift import Kind, card_differences
from descriptor.signatures import Signature, verify_statement
from descriptor.strictjson import JsonValue, parse
from descriptor.timestamps import format_timestamp

AGENTDOC = "v1"
ASSEMBLY_TAG = "agentdoc-assembly-v1"
DECLARED, OBSERVED = "declared", "observed"
"""How strong a value is: the operator's word, or what the assembler saw for itself."""

DESCRIPTOR, CARD, DOOR = "descriptor", "card", "door"
"""The ids of the sources that are documents. Observations are `observed-1` and so on."""

NOT_CHECKED = "not_checked"
SIGNATURE_STATES = (*(state.value for state in Signature), NOT_CHECKED)

# What the door says of itself, and where a Descriptor says it.
_DOOR_FACTS = ("admission", "statement", "schemes")
# What a card says of the connection, which a Descriptor never holds (chapter 6.2).
_CONNECTION = {
    "supportedInterfaces": "interfaces_served",
    "securitySchemes": "security_schemes",
    "securityRequirements": "security_requirements",
}


@dataclass(frozen=True)
class Origin:
    """Where a document came from: a `url`, or what it is (`what`), seen at `at`. Times: seconds since 1970.

    `url` may be relative to where the AgentDoc is served. `fetched_at`: `None` when nobody wrote it down.
    """

    url: str | None = None
    what: str | None = None
    at: float | None = None
    fetched_at: float | None = None


@dataclass(frozen=True)
class Fetched:
    """A document beside the Descriptor: its exact bytes. `signature`: one of `SIGNATURE_STATES`."""

    data: bytes
    origin: Origin
    signature: str = NOT_CHECKED


@dataclass(frozen=True)
class Observation:
    """Something that the assembler saw for itself (`what`, at `at`): members of the section `standing`."""

    what: str
    at: float
    members: Mapping[str, JsonValue]


@dataclass(frozen=True)
class AgentDoc:
    """An assembled document: its bytes, their digest, and what they say."""

    data: bytes
    digest: str
    members: Mapping[str, JsonValue]


def assemble(
    assembler: Identity,
    now: float,
    descriptor: Descriptor,
    origin: Origin,
    *,
    card: Fetched | None = None,
    door: Fetched | None = None,
    observations: Sequence[Observation] = (),
    stale_after: float | None = None,
) -> AgentDoc:
    """The AgentDoc of a Descriptor's subject. `now` and `stale_after`: seconds since 1970.

    `door`: the payload of a reply to exchange 4, as JSON. A card or a door that cannot be read gives nothing, and
    stays among the sources.

    Raises `DescriptorError`: `NOT_BOUND` for a draft, `TOO_LARGE` for a Descriptor that leaves too much unsaid,
    `BAD_TIMESTAMP` for a time that no calendar has.
    """
    if descriptor.subject_id is None:
        raise DescriptorError("NOT_BOUND", "An AgentDoc is about one agent, and a draft names none.", "/subject")
    found = read(descriptor)
    sections = {name: _section(members) for name, members in found.sections.items()}
    sources = [_source(DESCRIPTOR, "agent-descriptor", origin, descriptor.data, _state_of(descriptor))]
    differences: list[JsonValue] = []
    if card is not None:
        sources.append(_source(CARD, "a2a-agent-card", card.origin, card.data, card.signature))
        differences += _take_card(sections["access"], _object(card.data), descriptor)
    if door is not None:
        sources.append(_source(DOOR, "entryway-exchange-4", door.origin, door.data, door.signature))
        differences += _take_door(sections["access"], _object(door.data))
    for number, seen in enumerate(observations, 1):
        name = f"observed-{number}"
        sources.append(_source(name, "observation", Origin(what=seen.what, at=seen.at), None, Signature.UNSIGNED.value))
        for member, value in seen.members.items():
            _put(sections["standing"], member, value, name, OBSERVED)
    members: dict[str, JsonValue] = {
        "agentdoc": AGENTDOC,
        "subject": {"id": descriptor.subject_id, **({"handle": descriptor.handle} if descriptor.handle else {})},
        "assembled_at": format_timestamp(now),
        "assembled_by": assembler.id,
        **({} if stale_after is None else {"stale_after": format_timestamp(stale_after)}),
        "sources": [*sources],
        "sections": {**sections},
        "not_stated": [*found.not_stated],
        **_reported("unreadable", [{"source": DESCRIPTOR, "pointer": pointer} for pointer in found.unreadable]),
        **_reported("former", [_former(path, then) for path, then in found.former.items()]),
        **_reported("differences", differences),
    }
    members["signatures"] = [sign_assembly(members, assembler)]
    data = json.dumps(members, ensure_ascii=False).encode() + b"\n"
    return AgentDoc(data, digest_of(data), members)


def assembly_bytes(document: Mapping[str, JsonValue]) -> bytes:
    """The bytes an assembler's signature is over: tag, newline, JCS without `signatures`.

    Raises `DescriptorError` `NOT_CANONICAL`.
    """
    unsigned = {name: value for name, value in document.items() if name != "signatures"}
    return f"{ASSEMBLY_TAG}\n".encode() + canonical(unsigned)


def sign_assembly(document: Mapping[str, JsonValue], assembler: Identity) -> dict[str, JsonValue]:
    """The entry for `signatures` by which `assembler` says that it put this together; `sig` in standard base64."""
    sig = base64.b64encode(assembler.sign(assembly_bytes(document))).decode("ascii")
    return {"tag": ASSEMBLY_TAG, "by": assembler.id, "sig": sig, "alg": "ed25519"}


def _section(members: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {"from": DESCRIPTOR, "state": DECLARED, **members}


def _put(section: dict[str, JsonValue], member: str, value: JsonValue, source: str, state: str) -> None:
    section[member] = value
    section[f"{member}_from"] = source
    if state != section["state"]:
        section[f"{member}_state"] = state


def _source(source_id: str, kind: str, origin: Origin, data: bytes | None, signature: str) -> dict[str, JsonValue]:
    source: dict[str, JsonValue] = {"id": source_id, "kind": kind}
    if origin.url is not None:
        source["url"] = origin.url
    if origin.at is not None:
        source["at"] = format_timestamp(origin.at)
    if origin.what is not None:
        source["what"] = origin.what
    if origin.fetched_at is not None:
        source["fetched_at"] = format_timestamp(origin.fetched_at)
    if data is not None:
        source["digest"] = digest_of(data)
    source["signature"] = signature
    return source


def _state_of(descriptor: Descriptor) -> str:
    return verify_statement(descriptor.members).state.value


def _object(data: bytes) -> Mapping[str, JsonValue]:
    """The members of a JSON object; none of what is not one."""
    try:
        value = parse(data)
    except DescriptorError:
        return {}
    return value if isinstance(value, dict) else {}


def _take_card(
    section: dict[str, JsonValue], card: Mapping[str, JsonValue], descriptor: Descriptor
) -> Iterator[JsonValue]:
    """Takes the connection facts of a card, and yields where its copies differ from the Descriptor."""
    for theirs, member in _CONNECTION.items():
        if card.get(theirs):
            _put(section, member, card[theirs], CARD, DECLARED)
    for one in card_differences(card, descriptor) if card else ():
        # What a card leaves out of its copies is no contradiction; an offering that it leaves out altogether is one.
        if one.kind is not Kind.MISSING or one.pointer.rpartition("/")[0] == "/skills":
            yield _difference(CARD, one.pointer, one.sources[0])


def _take_door(section: dict[str, JsonValue], door: Mapping[str, JsonValue]) -> Iterator[JsonValue]:
    """Takes what only the door says, and yields where it differs from the Descriptor."""
    stated = section.get("access")
    access = stated if isinstance(stated, dict) else {}
    more = {}
    for name in _DOOR_FACTS:
        if name in door and name not in access:
            more[name] = door[name]
        elif name in door and canonical(door[name]) != canonical(access[name]):
            yield _difference(DOOR, pointer_to(name), pointer_to("access", name))
    if more:
        _put(section, "accepting", more, DOOR, DECLARED)


def _difference(source: str, pointer: str, descriptor: str) -> JsonValue:
    return {"source": source, "pointer": pointer, "descriptor": descriptor}


def _former(path: str, pointer: str) -> JsonValue:
    return {"path": path, "source": DESCRIPTOR, "pointer": pointer}


def _reported(name: str, entries: list[JsonValue]) -> dict[str, JsonValue]:
    """A member that is there only where there is something to report."""
    return {name: entries} if entries else {}
