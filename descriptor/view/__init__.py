"""The reader's view of somebody else's Descriptor.

    document  ->  view(document)  ->  View: typed, read-only, None where the operator has not said

A reader never fails on what it does not know, never guesses, and reads what it cannot read as not stated. It is the
counterpart of the checker, which is strict and serves who writes. The two share the judgement of what is readable, so
that what checks clean reads back in full.

Source: chapters 6.4 (rule 2) and 6.10.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from descriptor.data_use import readable
from descriptor.document import Descriptor
from descriptor.pointers import pointer_to
from descriptor.rules.section_6_2 import FORMAT
from descriptor.signatures import Signature, verify_key_claim
from descriptor.strictjson import JsonValue
from descriptor.view.agent import (
    read_access,
    read_claim,
    read_data_use,
    read_limits,
    read_reference,
    read_run_config,
    read_system,
)
from descriptor.view.members import MembersReader, Notes
from descriptor.view.offerings import read_modes, read_offering
from descriptor.view.values import (
    Access,
    Ceiling,
    Claim,
    DataUse,
    Limit,
    Limits,
    Members,
    Money,
    Offering,
    Reference,
    RunConfig,
    System,
)
from descriptor.vocabulary import ACTS_FOR, INTERACTION, MEMORY, SEALING, STANDING

__all__ = [
    "STRENGTH",
    "Access",
    "Ceiling",
    "Claim",
    "DataUse",
    "Limit",
    "Limits",
    "Money",
    "Offering",
    "Reference",
    "RunConfig",
    "System",
    "View",
    "view",
]

STRENGTH = "declared"
"""How strong every value of a view is: the operator's word, until an attestation moves it (chapter 6.10, rule 3)."""

# What a reader of an older document makes of `shape.memory` (chapter 6.12).
_FORMER_MEMORY = dict(zip(("keeps", "starts_clean"), MEMORY, strict=True))
# The members of `data_use`, and where `shape` said them.
_FORMER = {"memory": "/shape/memory", "processors": "/shape/model"}


@dataclass(frozen=True)
class View:
    """A Descriptor as a reader has it. `None` is not stated, `()` is a statement.

    `subject_id` is what the document says, and not yet that it is signed. `format_known`: whether this is a format that
    this reader knows; if not, the rest is read as if it were. `former`: the pointers into `shape` of what was read
    there, by the pointer of the member that says it now (chapter 6.12).
    """

    format_known: bool
    agent_version: str | None
    does: str | None
    subject_id: str | None
    handle: str | None
    acts_for: str | None
    organization_name: str | None
    default_input_modes: tuple[str, ...] | None
    default_output_modes: tuple[str, ...] | None
    offerings: tuple[Offering, ...] | None
    interaction: str | None
    refusals: str | None
    role: str | None
    interfaces: tuple[str, ...] | None
    fleet: bool | None
    hosted_in: tuple[str, ...] | None
    systems: tuple[System, ...] | None
    limits: Limits | None
    handling_ref: Reference | None
    price_ref: Reference | None
    samples_ref: Reference | None
    run_config: RunConfig | None
    standing: str | None
    sealing: str | None
    data_use: DataUse | None
    compliance: tuple[Claim, ...] | None
    access: Access | None
    former: Mapping[str, str]
    other: Members = field(repr=False)
    _document: Mapping[str, JsonValue] = field(repr=False, compare=False)
    _notes: Notes = field(repr=False, compare=False)

    def offering(self, offering_id: str) -> Offering | None:
        """The one offering of that id; `None` when there is none, or more than one."""
        found = [one for one in self.offerings or () if one.id == offering_id]
        return found[0] if len(found) == 1 else None

    @property
    def may_interrupt(self) -> bool:
        """Whether a careful sender expects to disturb a person: unless `interaction` says that nobody is there.

        It is the cautious reading of silence, and no statement of the operator's. Source: chapter 6.9.
        """
        return self.interaction != "service"

    def sealing_key(self) -> str | None:
        """The key to seal to, base64url, when the subject's claim to it verifies. Source: chapters 6.9 and 7.2."""
        key = self._document.get("encryption_key")
        if not isinstance(key, str) or verify_key_claim(self._document).state is not Signature.VERIFIED:
            return None
        return key

    def not_stated(self) -> tuple[str, ...]:
        """By JSON Pointer, every member that the chapter names and the operator has not said; unreadable ones are last.

        Of a member that is an object and absent, what it would hold is not listed one by one.
        """
        return (*(pointer_to(*path) for path in self._notes.absent), *self.unreadable())

    def unreadable(self) -> tuple[str, ...]:
        """By JSON Pointer, what is there and could not be read."""
        return tuple(pointer_to(*path) for path in self._notes.unreadable)


def view(document: Descriptor | bytes | Mapping[str, JsonValue]) -> View:
    """What a reader has of a Descriptor, of its bytes, or of its members.

    Raises nothing on any JSON object. Bytes that hold none raise what `Descriptor.read` raises: `DescriptorError`.
    """
    if isinstance(document, bytes):
        document = Descriptor.read(document)
    members = document.members if isinstance(document, Descriptor) else document
    notes = Notes()
    reader = MembersReader(members, (), notes)
    subject = reader.object("subject")
    acts_for = reader.word("acts_for", ACTS_FOR)
    modes = read_modes(reader, "default_input_modes"), read_modes(reader, "default_output_modes")
    shape, former = reader.raw("shape"), dict[str, str]()
    old: Mapping[str, JsonValue] = shape if isinstance(shape, dict) else {}
    for name in ("encryption_key", "trust", "signatures"):
        reader.raw(name)
    return View(
        format_known=reader.text("format") == FORMAT,
        agent_version=reader.text("agent_version"),
        does=reader.text("does"),
        subject_id=subject.text("id") if subject else None,
        handle=subject.text("handle") if subject else None,
        acts_for=acts_for,
        organization_name=_organization_name(reader, acts_for),
        default_input_modes=modes[0],
        default_output_modes=modes[1],
        offerings=reader.each("offerings", lambda one: read_offering(one, modes)),
        interaction=reader.word("interaction", INTERACTION),
        refusals=reader.text("refusals"),
        role=reader.text("role"),
        interfaces=reader.texts("interfaces"),
        fleet=_fleet(reader, old, former),
        hosted_in=reader.texts("hosted_in"),
        systems=reader.objects("systems", read_system),
        limits=read_limits(reader.object("limits")),
        handling_ref=read_reference(reader, "handling_ref"),
        price_ref=read_reference(reader, "price_ref"),
        samples_ref=read_reference(reader, "samples_ref"),
        run_config=read_run_config(reader.object("run_config")),
        standing=reader.word("standing", STANDING),
        sealing=reader.word("sealing", SEALING),
        data_use=_data_use(reader, old, former),
        compliance=reader.each("compliance", read_claim),
        access=read_access(reader.object("access")),
        former=former,
        other=reader.other(),
        _document=members,
        _notes=notes,
    )


def _organization_name(reader: MembersReader, acts_for: str | None) -> str | None:
    # The name stands only beside organization; anywhere else it says nothing.
    if acts_for == "organization":
        return reader.text("organization_name")
    if reader.has("organization_name"):
        reader.unreadable("organization_name")
    return None


def _fleet(reader: MembersReader, shape: Mapping[str, JsonValue], former: dict[str, str]) -> bool | None:
    old = shape.get("fleet")
    if not reader.has("fleet") and isinstance(old, bool):
        former["/fleet"] = "/shape/fleet"
        return old
    return reader.flag("fleet")


def _data_use(reader: MembersReader, shape: Mapping[str, JsonValue], former: dict[str, str]) -> DataUse | None:
    """The block whole, or not at all; with what an older document says in `shape` and not in the block.

    A block that is there governs: where it cannot be read, nothing takes its place.
    """
    stated = reader.raw("data_use")
    own: Mapping[str, JsonValue] = stated if isinstance(stated, dict) else {}
    mapped = {name: value for name, value in _formerly(shape).items() if name not in own}
    if (reader.has("data_use") or not mapped) and reader.judged("data_use", readable) is None:
        return None
    former.update({f"/data_use/{name}": _FORMER[name] for name in mapped})
    return read_data_use(MembersReader({**mapped, **own}, ("data_use",), reader.notes))


def _formerly(shape: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """What `shape` says of data use, as the members that say it now. What it does not say readably it does not say."""
    found: dict[str, JsonValue] = {}
    memory, model = shape.get("memory"), shape.get("model")
    if isinstance(memory, str) and memory in _FORMER_MEMORY:
        found["memory"] = _FORMER_MEMORY[memory]
    if isinstance(model, str) and model.strip():
        found["processors"] = [model]
    return found
