"""The operator's acts on the store: publish, and roll back. The daemon and an offline command line share them.

What may be published is decided by `descriptor.publishing`, pure; this module reads what is current, asks, and stores
the outcome in one transaction with its signed event. The invariant: what `publish` returns is on the disk, and what it
refuses has changed nothing. A document is refused that declares an admission which the roster does not apply, or of its
work by rule what no handler applies: the tables of `entryway.admission.unapplied` and of `node.promises`.

Source: chapter 6.5; binding 6 (the event).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from descriptor.canonical import canonical
from descriptor.checker import Finding, Severity, check
from descriptor.digests import digest_of
from descriptor.document import Descriptor
from descriptor.publishing import PublishError, Terms, bind, plan, rebadge
from descriptor.strictjson import JsonValue, parse
from descriptor.timestamps import format_timestamp
from descriptor.versions import compare
from entryway.admission import unapplied
from entryway.description import admission_of
from entryway.envelope import PROTOCOL_VERSION, new_uuid, sign_envelope
from entryway.roster import enforced
from node.errors import Exit, NodeError
from node.handlers.settings import Served
from node.identity import Keys
from node.settings import Limits, Settings
from node.shapes import finding_document
from store import DESCRIPTOR_REPLACED, Event, Reader, Store, StoreError, Version

PAGE = 500


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a publish did.

    `changed` is False when the store had the version already. `current`: it is the current one. `healed`: its stored
    bytes were damaged and are right again. `warnings`: what the checker found that does not stop a publish.
    `published_at`: seconds since 1970. `event`: what announces it, `None` where nothing changed.
    """

    descriptor: Descriptor
    seq: int
    previous_digest: str | None
    published_at: float
    changed: bool
    current: bool
    healed: bool
    warnings: tuple[Finding, ...]
    event: Event | None

    def document(self) -> dict[str, object]:
        """The `--json` shape of `publish` (binding 9), and what else is worth telling."""
        return {
            "digest": self.descriptor.digest,
            "agent_version": self.descriptor.agent_version,
            "previous_digest": self.previous_digest,
            "published_at": format_timestamp(self.published_at),
            "changed": self.changed,
            "healed": self.healed,
            "warnings": [finding_document(finding) for finding in self.warnings],
        }


class Publisher:
    """One agent's writer. For one thread at a time, like the store and the reader it holds."""

    def __init__(
        self,
        store: Store,
        reader: Reader,
        terms: Terms,
        limits: Limits,
        clock: Callable[[], float],
        served: Served | None = None,
    ) -> None:
        self.terms = terms
        self.limits = limits
        self.served = served
        """What is done about the offerings; `None`: promises are not held against anything."""
        self.store = store
        self.reader = reader
        self._clock = clock

    def publish(self, data: bytes, *, respell: bool = False, terms: Terms | None = None) -> Outcome:
        """Makes `data` the current version, bound and signed as `descriptor.publishing` says.

        The file of a version whose stored bytes are damaged puts them back, and changes nothing else. `terms` stand in
        for the publisher's own, for one publish. Raises DescriptorError (PublishError among them) and
        StoreError.
        """
        terms = terms or self.terms
        current = self.reader.current(terms.identity.id)
        repaired = None if current is None else self._repaired(data, terms, current)
        if repaired is not None:
            return repaired
        standing = self._standing(current)
        if current is not None and standing is not None and digest_of(data) == current.digest:
            return _kept(data, current)
        now = round(self._clock(), 3)
        planned = plan(data, standing, terms, now, respell=respell)
        # The operator's own limits may be narrower than the format's, which `plan` holds to.
        parse(
            planned.descriptor.data,
            max_bytes=self.limits.descriptor_bytes,
            max_depth=self.limits.descriptor_nesting,
        )
        if current is not None and standing is None:
            _refuse_over_damaged(planned.descriptor, current, terms.version_order)
        if current is not None and planned.descriptor.digest == current.digest:
            return _kept(planned.descriptor.data, current)
        self._refuse_unapplied(planned.descriptor, terms.identity.id)
        outcome = self._store_version(planned.descriptor, current, now, terms)
        return replace(outcome, warnings=(*outcome.warnings, *self._unserved(planned.descriptor)))

    def rollback(self, digest: str, agent_version: str) -> Outcome:
        """Publishes the content of an older version again, under a new `agent_version`.

        Raises NodeError NOT_FOUND, and what `publish` raises.
        """
        data = self.reader.artifact(digest)
        if data is None:
            raise NodeError("NOT_FOUND", f"No version {digest} is kept here. `agent-node history` lists them.")
        return self.publish(rebadge(data, agent_version, self.terms, round(self._clock(), 3)))

    def _refuse_unapplied(self, descriptor: Descriptor, owner: str) -> None:
        """A document is not published that promises what this node does not apply (chapters 6.2, 6.9 and 6.11)."""
        policy = enforced(self.reader.roster(owner), owner).policy
        why = unapplied(policy, admission_of(descriptor.members))
        if why is not None:
            raise PublishError("ADMISSION_NOT_APPLIED", f"The document is not published. {why}", "/access/admission")
        errors = tuple(one for one in self._unserved(descriptor) if one.severity is Severity.ERROR)
        if errors:
            first, *others = errors
            more = f" There are {len(others)} more promises like this." if others else ""
            raise PublishError(
                "PROMISE_NOT_APPLIED",
                f"The document is not published. {first.message} {first.remedy}{more}",
                first.pointer,
                errors,
            )

    def _unserved(self, descriptor: Descriptor) -> tuple[Finding, ...]:
        """What the document promises of work, and this node does not apply."""
        if self.served is None:
            return ()
        from node.promises import unapplied as unapplied_promises  # noqa: PLC0415  # loads the reader of Descriptors

        return unapplied_promises(descriptor.members, self.served)

    def _standing(self, current: Version | None) -> Descriptor | None:
        """The current Descriptor; None when there is none, or when its bytes are damaged."""
        if current is None:
            return None
        try:
            data = self.reader.artifact(current.digest)
        except StoreError as error:
            if error.code != "DAMAGED":
                raise
            return None
        return None if data is None else Descriptor.read(data)

    def _repaired(self, data: bytes, terms: Terms, current: Version) -> Outcome | None:
        """What comes of the file of a version whose stored bytes are damaged; None when it is no such file."""
        if not self._heals(data):
            # A draft was bound when it was published; of the current version that moment is known.
            data = bind(data, terms, current.published_at)
            if not self._heals(data):
                return None
        version = self._newest(terms.identity.id, digest_of(data))
        return None if version is None else _kept(data, version, healed=True)

    def _heals(self, data: bytes) -> bool:
        """Puts `data` back where what is stored under its digest is damaged. Looks first: writing is seldom needed."""
        digest = digest_of(data)
        try:
            self.reader.artifact(digest)
        except StoreError as error:
            if error.code == "DAMAGED":
                return self.store.heal(data=data, digest=digest)
            raise
        return False

    def _newest(self, subject: str, digest: str) -> Version | None:
        """The newest row of a digest in the history of a subject."""
        before: int | None = None
        while True:
            versions, before = self.reader.history(subject, PAGE, before)
            for version in versions:
                if version.digest == digest:
                    return version
            if before is None:
                return None

    def _store_version(self, descriptor: Descriptor, current: Version | None, now: float, terms: Terms) -> Outcome:
        assert descriptor.agent_version is not None  # a finding of the checker, and so refused by `plan`
        publication = self.store.publish(
            data=descriptor.data,
            digest=descriptor.digest,
            subject=terms.identity.id,
            agent_version=descriptor.agent_version,
            published_at=now,
            expected_current=None if current is None else current.digest,
            event=lambda seq, previous: replaced_event(descriptor, terms, previous, now, seq),
        )
        return Outcome(
            descriptor,
            publication.seq,
            publication.previous_digest,
            now,
            changed=True,
            current=True,
            healed=False,
            warnings=_warnings(descriptor),
            event=publication.event,
        )


def replaced_event(descriptor: Descriptor, terms: Terms, previous_digest: str | None, now: float, seq: int) -> str:
    """The line of a `descriptor.replaced` event: a signed envelope in canonical form. Source: binding 6."""
    subject: dict[str, JsonValue] = {"id": terms.identity.id}
    if descriptor.handle is not None:
        subject["handle"] = descriptor.handle
    members: dict[str, JsonValue] = {
        "v": PROTOCOL_VERSION,
        "id": new_uuid(),
        "type": "emit",
        "ts": format_timestamp(now),
        "from": terms.identity.id,
        "payload": {
            "event": DESCRIPTOR_REPLACED,
            "subject": subject,
            "digest": descriptor.digest,
            "previous_digest": previous_digest,
            "agent_version": descriptor.agent_version,
            "published_at": format_timestamp(now),
            "seq": seq,
        },
    }
    return canonical(sign_envelope(terms.identity, members)).decode()


def terms_of(keys: Keys, settings: Settings) -> Terms:
    """What this node adds to its operator's documents. Raises PublishError for settings that cannot be stated."""
    agent = settings.agent
    return Terms(
        keys.identity, agent.handle, agent.acts_for, agent.organization_name, keys.sealing, agent.version_order
    )


def with_terms(terms: Terms, acts_for: str | None, organization_name: str | None) -> Terms:
    """The terms with what was stated for one publish. Raises NodeError and PublishError for what does not fit."""
    acts_for = terms.acts_for if acts_for is None else acts_for
    if acts_for == "organization":
        name = terms.organization_name if organization_name is None else organization_name
        return replace(terms, acts_for=acts_for, organization_name=name)
    if organization_name is not None and acts_for is not None:
        raise NodeError(
            "ORGANIZATION_NAME_ALONE",
            f"--organization-name is stated beside --acts-for organization, and acts_for is {acts_for}.",
            Exit.UNREADABLE,
        )
    return replace(terms, acts_for=acts_for, organization_name=organization_name)


def _kept(data: bytes, version: Version, *, healed: bool = False) -> Outcome:
    """The outcome for a version that the store had already."""
    descriptor = Descriptor.read(data)
    return Outcome(
        descriptor,
        version.seq,
        version.previous_digest,
        version.published_at,
        changed=False,
        current=version.current,
        healed=healed,
        warnings=_warnings(descriptor),
        event=None,
    )


def _warnings(descriptor: Descriptor) -> tuple[Finding, ...]:
    return check(descriptor.data).findings


def _refuse_over_damaged(descriptor: Descriptor, current: Version, order: str) -> None:
    """Where the current bytes cannot be read, only a later `agent_version` may follow them."""
    if compare(descriptor.agent_version or "", current.agent_version, order) <= 0:
        raise PublishError(
            "CURRENT_DAMAGED",
            f"The stored bytes of the current version, {current.agent_version}, are damaged. Publish the file that was "
            "published last to repair them, restore a backup, or publish under a later agent_version.",
        )
