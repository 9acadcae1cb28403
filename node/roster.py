"""The owner's acts on the roster. The daemon and an offline command line share them.

What a roster means is decided by `entryway.roster`, pure; this module reads the one that is kept, makes the next, has
the agent's key sign it, and keeps it. The invariant: what is kept is one document, signed whole. A document that is not
enforced is never built upon: it could be anybody's.

A change is an object, as it travels over the control socket:

| `act`                    | members                                          | does                                |
|--------------------------|--------------------------------------------------|-------------------------------------|
| `admit`, `hold`, `block` | `subject`, `note`?                               | an entry with that stance           |
| `contact`                | `subject`, `note`?                               | an entry that leaves it to the tier |
| `revoke`                 | `subject`, `note`?                               | takes back what was allowed         |
| `defaults`               | `defaults`: tier to stance, `per_sender_hourly`? | what holds without an entry         |
| `import`                 | `document`: text, or `null` for an empty one     | that document in its place          |

Source: binding 9; 7.1 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from descriptor.canonical import canonical
from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.keys import Identity, decode_public
from descriptor.strictjson import MAX_BYTES, JsonValue, parse
from descriptor.timestamps import format_timestamp
from entryway.admission import unapplied
from entryway.description import admission_of
from entryway.roster import (
    Enforced,
    Entry,
    Policy,
    Stance,
    Tier,
    enforced,
    read_roster,
    sign_roster,
    standing,
    with_defaults,
    with_entry,
)
from node.errors import Exit, NodeError
from store import Knock, Reader, Store, StoreError

STANCES = {"admit": Stance.ALLOW, "hold": Stance.HOLD, "block": Stance.BLOCK, "contact": None, "revoke": Stance.BLOCK}
Word = TypeVar("Word", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Changed:
    """A roster that is on the disk, and whom it let in: a caller who was let in waits no more."""

    policy: Policy
    document: Mapping[str, object]
    admitted: str | None = None


class RosterKeeper:
    """The roster of one agent. For one thread at a time, like the store and the reader it holds."""

    def __init__(self, store: Store, reader: Reader, identity: Identity, clock: Callable[[], float]) -> None:
        self._store = store
        self._reader = reader
        self._identity = identity
        self._clock = clock

    def change(self, change: Mapping[str, JsonValue]) -> Changed:
        """Makes one change. Raises NodeError (INPUT_INVALID, NOT_ADMITTED, ROSTER_NOT_ENFORCED, ROSTER_TOO_LARGE,
        OWN_AGENT), DescriptorError for a key or a document that is none, and StoreError.
        """
        act = change.get("act")
        if act == "import":
            return self._import(change.get("document"))
        now = round(self._clock(), 3)
        kept = enforced(self._reader.roster(self._identity.id), self._identity.id)
        if kept.problem is not None:
            raise NodeError(
                "ROSTER_NOT_ENFORCED",
                f"The roster that is kept is not enforced, so nothing is added to it. {kept.problem} Put one in its "
                "place: agent-node roster import FILE, or begin anew with agent-node roster import --empty",
            )
        if act == "defaults":
            stances, hourly = _defaults(change)
            return self._keep(sign_roster(with_defaults(kept.policy, stances, hourly), self._identity, now), now)
        if not isinstance(act, str) or act not in STANCES:
            raise NodeError("INPUT_INVALID", f"A change is one of {', '.join(STANCES)}, defaults and import.")
        return self._decide(kept.policy, act, change, now)

    def _decide(self, policy: Policy, act: str, change: Mapping[str, JsonValue], now: float) -> Changed:
        subject, note = change.get("subject"), change.get("note")
        if not isinstance(subject, str) or not (note is None or isinstance(note, str)):
            raise NodeError("INPUT_INVALID", "Name the agent by its id, and give a note as text.")
        decode_public(subject)
        if subject == self._identity.id:
            raise NodeError("OWN_AGENT", "That is this node's own agent, which does not come in by its own door.")
        if act == "revoke" and standing(policy, subject).stance is not Stance.ALLOW:
            raise NodeError("NOT_ADMITTED", f"{subject} is not allowed in, so there is nothing to take back.")
        tier = Tier.CONTACT if act == "contact" else Tier.ROSTERED
        members = with_entry(policy, subject, STANCES[act], now, tier=tier, note=note, revoked=act == "revoke")
        return self._keep(sign_roster(members, self._identity, now), now, subject)

    def _import(self, text: JsonValue) -> Changed:
        now = round(self._clock(), 3)
        if text is None:
            return self._keep(sign_roster({"entries": []}, self._identity, now), now)
        if not isinstance(text, str):
            raise NodeError("INPUT_INVALID", "The document to import is given as text.")
        return self._keep(canonical(parse(text.encode())), now)

    def _keep(self, document: bytes, now: float, subject: str | None = None) -> Changed:
        """Keeps a document, as soon as it has been read as the door would read it."""
        if len(document) > MAX_BYTES:
            raise NodeError("ROSTER_TOO_LARGE", f"A roster is {MAX_BYTES} bytes at most. Take entries out of it first.")
        policy = read_roster(document, self._identity.id)
        admitted = subject if subject is not None and standing(policy, subject).stance is Stance.ALLOW else None
        self._store.put_roster(self._identity.id, document, now, decided=admitted)
        return Changed(policy, roster_document(Enforced(policy), kept=True), admitted)


def roster_document(found: Enforced, *, kept: bool) -> dict[str, object]:
    """A roster as the command line shows it. `kept`: a document is, enforced or not."""
    policy = found.policy
    return {
        "kept": kept,
        "enforced": kept and found.problem is None,
        "problem": found.problem,
        "defaults": {tier.value: stance.value for tier, stance in policy.defaults.items()},
        "limits": {"per_sender_hourly": policy.hourly},
        "entries": [_entry_document(entry) for entry in policy.entries.values()],
    }


def knock_document(knock: Knock, policy: Policy) -> dict[str, object]:
    """A knock as the command line shows it, with the owner's stance on who knocks."""
    own = standing(policy, knock.subject)
    return {
        "subject": knock.subject,
        "first_at": format_timestamp(knock.first_at),
        "last_at": format_timestamp(knock.last_at),
        "count": knock.count,
        "stance": own.stance.value,
        "decided": own.explicit,
    }


def unapplied_admission(reader: Reader, owner: str, policy: Policy) -> str | None:
    """Why the roster does not do what the current Descriptor says of admission; `None` when it does, or none is there.

    Raises StoreError.
    """
    current = reader.current(owner)
    try:
        data = None if current is None else reader.artifact(current.digest)
        return None if data is None else unapplied(policy, admission_of(Descriptor.read(data).members))
    except StoreError as error:
        if error.code != "DAMAGED":
            raise
    except DescriptorError:
        pass  # who looks at the Descriptor itself says so
    return None


def _entry_document(entry: Entry) -> dict[str, object]:
    return {
        "subject": entry.subject,
        "stance": entry.stance and entry.stance.value,
        "tier": entry.tier.value,
        "note": entry.note,
        "time": format_timestamp(entry.time),
        "revoked": entry.revoked,
    }


def _defaults(change: Mapping[str, JsonValue]) -> tuple[dict[Tier, Stance], int | None]:
    stated, hourly = change.get("defaults", {}), change.get("per_sender_hourly")
    if not isinstance(stated, dict) or not (hourly is None or isinstance(hourly, int)):
        raise NodeError("INPUT_INVALID", "The defaults are an object of tiers and stances, the cap a whole number.")
    if not stated and hourly is None:
        raise NodeError("INPUT_INVALID", "Say what the defaults shall be: a stance for a tier, or a cap.")
    return {_word(Tier, tier): _word(Stance, stance) for tier, stance in stated.items()}, hourly


def _word(words: type[Word], value: JsonValue) -> Word:
    for word in words:
        if word.value == value:
            return word
    raise NodeError("INPUT_INVALID", f"It has to be one of {', '.join(words)}.", Exit.UNREADABLE)
