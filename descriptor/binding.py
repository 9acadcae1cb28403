"""From an operator's file to this node's Descriptor: bound to its subject, complete and signed.

Two invariants. The operator's text survives: only members are added that the operator cannot know, and a document
that is already signed is not touched at all. And nothing is guessed: whom the agent acts for and which handle it
has are stated in `Terms`, or left unstated, or binding refuses.

=====================================  ====================================================================
a draft                                `subject`, `acts_for` (`organization_name`), with `sealing` also
                                       `encryption_key` and `trust`, then `signatures` are appended
this subject's, not signed             what is missing of these is appended
this subject's, signed                 returned byte for byte
a draft that carries one of these      refused
another subject's, or another handle   refused
this subject's, signature fails        refused
=====================================  ====================================================================

Source: chapters 6.2 and 6.6; binding 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from descriptor.checker import Finding, Report, check
from descriptor.document import Descriptor
from descriptor.errors import DescriptorError, quoted
from descriptor.keys import Identity, SealingKey
from descriptor.pointers import pointer_to
from descriptor.signatures import Signature, sign_key_claim, sign_statement, verify_statement
from descriptor.strictjson import JsonValue
from descriptor.text import append_members, remove_member, replace_member
from descriptor.timestamps import format_timestamp
from descriptor.vocabulary import ACTS_FOR

_ADDED_TO_A_DRAFT = ("acts_for", "organization_name", "encryption_key", "trust")


class PublishError(DescriptorError):
    """A document is not published, and why. `findings`: all the checker found, when `code` is `FINDINGS`.

    Codes: `FINDINGS`, `ACTS_FOR_NOT_STATED`, `ACTS_FOR_UNKNOWN`, `NAME_EMPTY`, `SEALING_KEY_MISSING`,
    `ANOTHER_SUBJECT`, `ANOTHER_HANDLE`, `ANOTHER_SEALING_KEY`, `DRAFT_SIGNED`, `DRAFT_BOUND_MEMBER`,
    `SIGNATURE_FAILED`, `SAME_AGENT_VERSION`, `OLDER_AGENT_VERSION`, `VERSION_UNREADABLE`.
    """

    def __init__(self, code: str, message: str, pointer: str | None = None, findings: tuple[Finding, ...] = ()) -> None:
        super().__init__(code, message, pointer)
        self.findings = findings

    @classmethod
    def of(cls, report: Report) -> PublishError:
        """`FINDINGS`, for a report that holds an error: all findings, the first error in words."""
        first, *others = report.errors
        more = f" There are {len(others)} more errors." if others else ""
        return cls(
            "FINDINGS",
            f"The document breaks the specification and is not published. At {quoted(first.pointer)}: {first.message} "
            f"{first.remedy}{more}",
            first.pointer,
            report.findings,
        )


@dataclass(frozen=True)
class Terms:
    """What a node adds to its operator's documents.

    `handle`, `acts_for` (`person`, `organization` or `anyone`), `organization_name` and `sealing_key` are `None` when
    not stated. `version_order` is one of `descriptor.versions.ORDERS`.

    Raises `PublishError`: `ACTS_FOR_UNKNOWN`; `NAME_EMPTY` for a handle or organization name of nothing but blanks.
    """

    identity: Identity
    handle: str | None = None
    acts_for: str | None = None
    organization_name: str | None = None
    sealing_key: SealingKey | None = None
    version_order: str = "natural"

    def __post_init__(self) -> None:
        if self.acts_for is not None and self.acts_for not in ACTS_FOR:
            raise PublishError(
                "ACTS_FOR_UNKNOWN", f"acts_for is {quoted(self.acts_for)}; state one of {', '.join(ACTS_FOR)}."
            )
        for name, value in (("handle", self.handle), ("organization_name", self.organization_name)):
            if value is not None and not value.strip():
                raise PublishError("NAME_EMPTY", f"{name} is empty; state a name, or leave it out.")


def bind(data: bytes, terms: Terms, now: float) -> bytes:
    """The bytes of `data` as this node's Descriptor, complete and signed, at `now` (Unix seconds).

    Raises `PublishError`: `ACTS_FOR_NOT_STATED`, `SEALING_KEY_MISSING`, `DRAFT_SIGNED`, `DRAFT_BOUND_MEMBER`,
    `ANOTHER_SUBJECT`, `ANOTHER_HANDLE`, `ANOTHER_SEALING_KEY`, `SIGNATURE_FAILED`, and `FINDINGS` when the subject
    cannot be read. And `DescriptorError`: what `Descriptor.read` raises.

    Source: chapters 6.2 and 6.6; binding 2.
    """
    return bind_with(data, terms, key_claim(terms, now))


def rebadge(data: bytes, agent_version: str, terms: Terms, now: float) -> bytes:
    """The content of `data`, a Descriptor of this subject, under another `agent_version` and signed anew.

    All signatures go, those with other tags too: each was made over the old `agent_version`. An encryption key
    that is no longer this node's is replaced with its claim, because nobody could open what is sealed to it.

    Raises what `bind` raises, and `DescriptorError` `MEMBER_ABSENT` when `data` states no `agent_version`.

    Source: binding 9 (`rollback`).
    """
    members = Descriptor.read(data).members
    claim = key_claim(terms, now)
    data = replace_member(data, "agent_version", agent_version)
    if "signatures" in members:
        data = remove_member(data, "signatures")
    ours = members.get("encryption_key") if terms.sealing_key is None else terms.sealing_key.public_text
    if members.get("encryption_key", ours) != ours:
        data = replace_member(data, "encryption_key", ours)
        if "trust" in members:
            data = remove_member(data, "trust")
        data = append_members(data, {"trust": claim})
    return bind_with(data, terms, claim)


def bind_with(data: bytes, terms: Terms, claim: JsonValue) -> bytes:
    """`bind`, with `claim` as the value of `trust` where one has to be added."""
    descriptor = Descriptor.read(data)
    if descriptor.is_draft:
        _refuse_bound_members(descriptor.members)
    else:
        _refuse_another_subject(descriptor, terms)
        report = verify_statement(descriptor.members)
        if report.state is Signature.FAILED:
            raise PublishError(
                "SIGNATURE_FAILED",
                f"The document carries a signature that does not hold: {report.reason} Take `signatures` out to have "
                "it signed as it stands, or publish the document that was signed.",
                report.pointer,
            )
        if report.state is Signature.VERIFIED:
            return data
    return _signed(append_members(data, _missing(descriptor, terms, claim)), terms.identity)


def _missing(descriptor: Descriptor, terms: Terms, claim: JsonValue) -> dict[str, JsonValue]:
    """What the document lacks to be bound, in the order in which it is appended."""
    stated = descriptor.members
    missing: dict[str, JsonValue] = {}
    if descriptor.is_draft:
        subject: dict[str, JsonValue] = {"id": terms.identity.id}
        missing["subject"] = subject if terms.handle is None else {**subject, "handle": terms.handle}
    if "acts_for" not in stated:
        if terms.acts_for is None:
            raise PublishError(
                "ACTS_FOR_NOT_STATED",
                "Nobody has stated whom the agent acts for, and it is never guessed. State it with --acts-for person "
                "(its owner), --acts-for organization or --acts-for anyone, or as acts_for in node.toml.",
                "/acts_for",
            )
        missing["acts_for"] = terms.acts_for
        named = "organization_name" in stated or terms.organization_name is None
        if terms.acts_for == "organization" and not named:
            missing["organization_name"] = terms.organization_name
    if "sealing" in stated:
        missing.update(_missing_key(stated, terms, claim))
    return missing


def _missing_key(stated: Mapping[str, JsonValue], terms: Terms, claim: JsonValue) -> dict[str, JsonValue]:
    if "encryption_key" in stated and "trust" in stated:
        return {}
    if terms.sealing_key is None:
        raise PublishError(
            "SEALING_KEY_MISSING",
            "The document states `sealing`, and this node has no sealing key, so nobody could seal to it. Restore the "
            "node's seal.seed, or take `sealing` out.",
            "/sealing",
        )
    ours = terms.sealing_key.public_text
    if stated.get("encryption_key", ours) != ours:
        raise PublishError(
            "ANOTHER_SEALING_KEY",
            "The document's `encryption_key` is not this node's, which could not open what is sealed to it. Take it "
            "out; publishing adds the node's own.",
            "/encryption_key",
        )
    key: dict[str, JsonValue] = {"encryption_key": ours, "trust": claim}
    return {name: value for name, value in key.items() if name not in stated}


def key_claim(terms: Terms, now: float) -> JsonValue:
    """The value of `trust` by which this node claims its sealing key at `now`; `None` when it has no such key."""
    if terms.sealing_key is None:
        return None
    claim = sign_key_claim(terms.identity, terms.sealing_key.public_text, format_timestamp(now))
    return {"issued_at": claim["issued_at"], "signature": claim["signature"]}


def _signed(data: bytes, identity: Identity) -> bytes:
    document = Descriptor.read(data).members
    entry: dict[str, JsonValue] = {**sign_statement(document, identity)}
    others = document.get("signatures")
    if isinstance(others, list):
        return replace_member(data, "signatures", [*others, entry])
    return append_members(data, {"signatures": [entry]})


def _refuse_bound_members(draft: Mapping[str, JsonValue]) -> None:
    if "signatures" in draft:
        raise PublishError(
            "DRAFT_SIGNED",
            "The draft carries `signatures`, but a draft has no subject whose key could sign it. Take them out; "
            "publishing signs it.",
            "/signatures",
        )
    for name in _ADDED_TO_A_DRAFT:
        if name in draft:
            raise PublishError(
                "DRAFT_BOUND_MEMBER",
                f"The draft carries `{name}`, which a draft leaves to its node. Take it out; publishing adds what this "
                "node states.",
                pointer_to(name),
            )


def _refuse_another_subject(descriptor: Descriptor, terms: Terms) -> None:
    if descriptor.subject_id is None:
        raise PublishError.of(check(descriptor.data))
    if descriptor.subject_id != terms.identity.id:
        raise PublishError(
            "ANOTHER_SUBJECT",
            f"The document's subject is {quoted(descriptor.subject_id)}, and this node is {terms.identity.id}. Publish "
            "it from its own node, or take `subject`, `acts_for` and `signatures` out to make a draft of it.",
            "/subject/id",
        )
    if descriptor.handle is not None and descriptor.handle != terms.handle:
        ours = "has no handle" if terms.handle is None else f"has the handle {quoted(terms.handle)}"
        raise PublishError(
            "ANOTHER_HANDLE",
            f"The document's handle is {quoted(descriptor.handle)}, and this node {ours}. Change the one that is "
            "wrong: `subject.handle` in the document, or handle in node.toml.",
            "/subject/handle",
        )
