"""The roster: one document in which the owner says who may come in.

Pure, and total: `enforced` makes a policy of whatever is kept, and `standing` has an answer for whoever asks. The
invariant: no stance is read from a document that its owner did not sign as it stands, or that is malformed anywhere. It
is never enforced in part, because the part that is missing could be the one that keeps somebody out: the conservative
defaults hold in its stead.

    an entry with a stance        decides, whatever the tier
    an entry without one          gives the caller a tier: rostered, or contact
    no entry                      registered (who signed), or anonymous
    the tier                      its stance in `defaults`, or the conservative one

What a caller is told of that is the business of `admission`.

Source: 7.1 and 8.1 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from descriptor.canonical import canonical
from descriptor.encoding import b64_any_decode
from descriptor.errors import DescriptorError, quoted
from descriptor.keys import Identity, decode_public, verify
from descriptor.pointers import pointer_to
from descriptor.strictjson import JsonValue, parse
from descriptor.timestamps import format_timestamp, parse_timestamp

ROSTER_TAG = "agentmesh-roster-v1"
HOURLY = 120  # messages an hour from one sender, where the owner says nothing else
MOST_HOURLY = 1_000_000
LONGEST_NOTE = 500  # characters

Document = Mapping[str, JsonValue]


class Tier(StrEnum):
    """How well a caller is known."""

    ROSTERED = "rostered"
    CONTACT = "contact"
    REGISTERED = "registered"
    ANONYMOUS = "anonymous"


class Stance(StrEnum):
    """What the owner has decided: let in, keep for the owner and run nothing, or keep out."""

    ALLOW = "allow"
    HOLD = "hold"
    BLOCK = "block"


CONSERVATIVE: Mapping[Tier, Stance] = {
    Tier.ROSTERED: Stance.ALLOW,
    Tier.CONTACT: Stance.ALLOW,
    Tier.REGISTERED: Stance.HOLD,
    Tier.ANONYMOUS: Stance.BLOCK,
}
"""What holds where the owner has not said otherwise."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What the owner says of one agent. `stance` is `None` where its tier decides; `time`: seconds since 1970."""

    subject: str
    stance: Stance | None
    tier: Tier
    note: str | None
    time: float
    revoked: bool


@dataclass(frozen=True, slots=True)
class Policy:
    """A roster that is enforced. `members`: its document without signatures, what is unknown here among it."""

    defaults: Mapping[Tier, Stance]
    hourly: int
    entries: Mapping[str, Entry]
    members: Document = field(default_factory=dict, repr=False, compare=False)


NO_POLICY = Policy(CONSERVATIVE, HOURLY, {})


@dataclass(frozen=True, slots=True)
class Enforced:
    """What the door goes by. `problem`: why the document that is kept is not enforced; `None` when there is none."""

    policy: Policy
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """The owner's stance on a caller. `explicit`: it is an entry's own. `revoked`: admission was taken back."""

    stance: Stance
    tier: Tier
    explicit: bool = False
    revoked: bool = False


def standing(policy: Policy, caller: str | None) -> Standing:
    """The owner's stance on `caller`, an agent id whose signature verified; `None` for one who did not sign."""
    if caller is None:
        return Standing(policy.defaults[Tier.ANONYMOUS], Tier.ANONYMOUS)
    entry = policy.entries.get(caller)
    if entry is None:
        return Standing(policy.defaults[Tier.REGISTERED], Tier.REGISTERED)
    if entry.stance is None:
        return Standing(policy.defaults[entry.tier], entry.tier)
    return Standing(entry.stance, entry.tier, explicit=True, revoked=entry.revoked)


def enforced(document: bytes | None, owner: str) -> Enforced:
    """What the door of `owner`, an agent id, goes by when `document` is kept; `None` when none is. Raises nothing."""
    if document is None:
        return Enforced(NO_POLICY)
    try:
        return Enforced(read_roster(document, owner))
    except DescriptorError as error:
        return Enforced(NO_POLICY, error.message)


def read_roster(document: bytes, owner: str) -> Policy:
    """The policy that a document states, once it is known to be signed by `owner`, whole and as it stands.

    Raises DescriptorError: what `strictjson.parse` raises; ROSTER_INVALID, with the place, for a member that cannot be
    read; ROSTER_NOT_SIGNED for a signature that is missing, by another key, or does not verify.
    """
    members = parse(document)
    if not isinstance(members, dict):
        raise _invalid("", "A roster is one JSON object.")
    unsigned = {name: value for name, value in members.items() if name != "signatures"}
    if members.get("format") != ROSTER_TAG:
        raise _invalid("/format", f'The format is not "{ROSTER_TAG}".')
    _check_signatures(members.get("signatures"), members.get("by"), owner, canonical(unsigned))
    limits = _mapping(members, "limits")
    hourly = limits.get("per_sender_hourly", HOURLY)
    if not isinstance(hourly, int) or isinstance(hourly, bool) or not 1 <= hourly <= MOST_HOURLY:
        raise _invalid("/limits/per_sender_hourly", f"It is no whole number from 1 to {MOST_HOURLY}.")
    return Policy(_defaults(_mapping(members, "defaults")), hourly, _entries(members.get("entries", [])), unsigned)


def sign_roster(members: Document, identity: Identity, now: float) -> bytes:
    """The document, in canonical form, with its time and the signature of its owner. `now`: seconds since 1970."""
    unsigned = {**members, "format": ROSTER_TAG, "by": identity.id, "issued_at": format_timestamp(now)}
    unsigned.pop("signatures", None)
    sig = base64.b64encode(identity.sign(_signed(canonical(unsigned)))).decode()
    entry: JsonValue = {"tag": ROSTER_TAG, "by": identity.id, "sig": sig, "alg": "ed25519"}
    return canonical({**unsigned, "signatures": [entry]})


def with_entry(
    policy: Policy,
    subject: str,
    stance: Stance | None,
    now: float,
    *,
    tier: Tier = Tier.ROSTERED,
    note: str | None = None,
    revoked: bool = False,
) -> dict[str, JsonValue]:
    """The members of the roster with this word on `subject`, in the place of the one before.

    What an entry says beyond what is known here stays. Raises DescriptorError BAD_KEY, ROSTER_INVALID.
    """
    decode_public(subject)
    if note is not None and len(note) > LONGEST_NOTE:
        raise _invalid("/entries", f"The note is longer than {LONGEST_NOTE} characters.")
    entries, kept = [], dict[str, JsonValue]()
    for entry in _list(policy.members.get("entries", []), "/entries"):
        if isinstance(entry, dict) and entry.get("subject") == subject:
            kept = {name: value for name, value in entry.items() if name not in _OF_AN_ENTRY}
        else:
            entries.append(entry)
    stated: dict[str, JsonValue] = {**kept, "subject": subject, "tier": tier.value, "time": format_timestamp(now)}
    stated |= {} if stance is None else {"stance": stance.value}
    stated |= {} if note is None else {"note": note}
    stated |= {"revoked": True} if revoked else {}
    return {**policy.members, "entries": [*entries, stated]}


def with_defaults(policy: Policy, stances: Mapping[Tier, Stance], hourly: int | None) -> dict[str, JsonValue]:
    """The members of the roster with these defaults, and this hourly cap unless it is `None`; the rest as it was."""
    stated: dict[str, JsonValue] = {tier.value: stance.value for tier, stance in stances.items()}
    defaults = {**_mapping(policy.members, "defaults"), **stated}
    limits = {**_mapping(policy.members, "limits"), **({} if hourly is None else {"per_sender_hourly": hourly})}
    return {**policy.members, "defaults": defaults, "limits": limits}


_OF_AN_ENTRY = frozenset({"subject", "stance", "tier", "note", "time", "revoked"})
Word = TypeVar("Word", bound=StrEnum)


def _signed(unsigned: bytes) -> bytes:
    return f"{ROSTER_TAG}\n".encode() + unsigned


def _check_signatures(signatures: JsonValue, by: JsonValue, owner: str, unsigned: bytes) -> None:
    """The record's `by`, the entry's `by` and the owner are one key, and it signed (8.1)."""
    entries = signatures if isinstance(signatures, list) else []
    ours = [entry for entry in entries if isinstance(entry, dict) and entry.get("tag") == ROSTER_TAG]
    if len(ours) != 1:
        raise _not_signed(f"It carries {len(ours) or 'no'} signatures with the tag {ROSTER_TAG}, not one.")
    if by != owner or ours[0].get("by") != owner:
        raise _not_signed("It is by another key than this agent's.")
    try:
        signature = b64_any_decode(_text(ours[0], "sig", "/signatures/0"), 64)
    except DescriptorError:
        raise _not_signed("Its signature cannot be read.") from None
    if not verify(owner, _signed(unsigned), signature):
        raise _not_signed("Its signature does not verify: it was changed after it was signed.")


def _defaults(stated: Document) -> Mapping[Tier, Stance]:
    found = {tier: _word(stated, tier.value, Stance, "/defaults") for tier in Tier}
    return {tier: CONSERVATIVE[tier] if stance is None else stance for tier, stance in found.items()}


def _entries(value: JsonValue) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for index, stated in enumerate(_list(value, "/entries")):
        path = pointer_to("entries", index)
        if not isinstance(stated, dict):
            raise _invalid(path, "An entry is an object.")
        entry = _entry(stated, path)
        if entry.subject in found:
            raise _invalid(f"{path}/subject", "There are two entries on this agent.")
        found[entry.subject] = entry
    return found


def _entry(stated: Document, path: str) -> Entry:
    subject, time = _text(stated, "subject", path), _text(stated, "time", path)
    try:
        decode_public(subject)
        at = parse_timestamp(time)
    except DescriptorError as error:
        raise _invalid(path, error.message) from None
    note, revoked = stated.get("note"), stated.get("revoked", False)
    if "note" in stated and not isinstance(note, str):
        raise _invalid(f"{path}/note", "A note is text.")
    if not isinstance(revoked, bool):
        raise _invalid(f"{path}/revoked", "It is true or false.")
    stance, tier = _word(stated, "stance", Stance, path), _word(stated, "tier", Tier, path) or Tier.ROSTERED
    if tier not in (Tier.ROSTERED, Tier.CONTACT):
        raise _invalid(f"{path}/tier", "Who has an entry is rostered, or a contact.")
    if revoked and stance is not Stance.BLOCK:
        raise _invalid(f"{path}/revoked", "Who is revoked is blocked.")
    return Entry(subject, stance, tier, note if isinstance(note, str) else None, at, revoked)


def _word(holder: Document, name: str, words: type[Word], path: str) -> Word | None:
    if name not in holder:
        return None
    for word in words:
        if word.value == holder[name]:
            return word
    raise _invalid(f"{path}/{name}", f"It is none of {', '.join(words)}.")


def _text(holder: Document, name: str, path: str) -> str:
    value = holder.get(name)
    if not isinstance(value, str):
        raise _invalid(f"{path}/{name}", "It is missing, or no text.")
    return value


def _mapping(holder: Document, name: str) -> Document:
    value = holder.get(name, {})
    if not isinstance(value, dict):
        raise _invalid(f"/{name}", "It is no object.")
    return value


def _list(value: JsonValue, path: str) -> list[JsonValue]:
    if not isinstance(value, list):
        raise _invalid(path, "It is no list.")
    return value


def _invalid(pointer: str, message: str) -> DescriptorError:
    where = f" at {quoted(pointer)}" if pointer else ""
    return DescriptorError("ROSTER_INVALID", f"The roster cannot be read{where}. {message}", pointer)


def _not_signed(why: str) -> DescriptorError:
    return DescriptorError("ROSTER_NOT_SIGNED", f"The roster is not its owner's word. {why}", "/signatures")
