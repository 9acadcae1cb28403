"""What a caller is told about coming in: the owner's stance, and what the Descriptor declares, made into one answer.

Pure, and total. The two are the roster's stance on a caller (`roster.standing`) and the declared `access.admission`;
the tighter one holds:

| of a caller without an entry | open     | allowlist | screened | negotiated | not stated |
|------------------------------|----------|-----------|----------|------------|------------|
| registered: allow            | admitted | refused   | waiting  | refused    | admitted   |
| registered: hold             | waiting  | refused   | waiting  | refused    | waiting    |
| registered: block            | refused  | refused   | refused  | refused    | refused    |

A caller whom the owner put on the roster and allows is admitted under each of them. The invariant: one who is held or
blocked is told what a stranger would be told, so nobody finds out that there is an entry about him. Only where every
stranger is admitted can he tell, because there is no other true answer.

Over time, one caller:

| stands at       | knocks                   | is admitted | is held or blocked | is revoked | 30 days pass  |
|-----------------|--------------------------|-------------|--------------------|------------|---------------|
| never-asked     | waiting, or refused      | admitted    | never-asked        |            | never-asked   |
| waiting         | waiting                  | admitted    | waiting            |            | never-asked   |
| refused         | refused                  | admitted    | refused            |            | never-asked   |
| admitted        | admitted                 | admitted    | never-asked        | refused    | admitted      |
| refused: revoked| refused                  | admitted    | as a stranger      | refused    | refused       |

Source: chapter 6.9 (access); 4.4 and 7.1 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from entryway.roster import Policy, Stance, Tier, standing


class Status(StrEnum):
    """Where a caller stands, as exchanges 3 and 5 tell it."""

    NEVER_ASKED = "never-asked"
    WAITING = "waiting"
    ADMITTED = "admitted"
    REFUSED = "refused"


class Reason(StrEnum):
    """Why a caller is refused: the closed list of exchanges 3 and 5."""

    ALLOWLIST = "allowlist"
    """Only callers whom the owner added are admitted."""
    NEGOTIATED = "negotiated"
    """Admission is arranged out of band, before any knock."""
    CLOSED = "closed"
    """Nobody new is admitted."""
    REVOKED = "revoked"
    """The caller was admitted once, and is no more."""
    BUSY = "busy"
    """As many have knocked today as are taken in a day."""


@dataclass(frozen=True, slots=True)
class Position:
    """What a caller is told. `reason` stands beside `refused`, and only there."""

    status: Status
    reason: Reason | None = None


NEVER_ASKED, WAITING, ADMITTED = Position(Status.NEVER_ASKED), Position(Status.WAITING), Position(Status.ADMITTED)
REFUSED = {reason: Position(Status.REFUSED, reason) for reason in Reason}


def knocking(policy: Policy, caller: str, admission: str | None) -> Position:
    """What a knock of `caller` comes to, under the declared `admission`; `None` for one that is not stated."""
    # Both are worked out for everybody, so that an entry costs no time that a prober could measure.
    own, stranger = standing(policy, caller), _stranger(policy.defaults[Tier.REGISTERED], admission)
    if own.revoked:
        return REFUSED[Reason.REVOKED]
    if own.tier is Tier.REGISTERED:
        return stranger
    if own.stance is Stance.ALLOW:
        return ADMITTED
    if stranger is ADMITTED:
        return WAITING if own.stance is Stance.HOLD else REFUSED[Reason.CLOSED]
    return stranger


def position(policy: Policy, caller: str, admission: str | None, *, knocked: bool) -> Position:
    """Where `caller` stands. `knocked`: a knock of this caller is kept."""
    comes_to = knocking(policy, caller, admission)
    if knocked or comes_to is ADMITTED or comes_to.reason is Reason.REVOKED:
        return comes_to
    return NEVER_ASKED


def unapplied(policy: Policy, admission: str | None) -> str | None:
    """Why this roster does not do what the declared `admission` says; `None` when it does.

    | declared              | the roster applies it when                                        |
    |-----------------------|-------------------------------------------------------------------|
    | open                  | registered and contact are allowed: whoever signs is admitted     |
    | allowlist, negotiated | registered is not allowed: nobody comes in who was not added      |
    | screened              | registered is held: a knock waits to be looked at                 |
    | not stated            | always: nothing was promised                                      |

    Entries are exceptions that the owner makes in person, and contradict none of them. Source: chapters 6.2 and 6.9.
    """
    registered, contact = policy.defaults[Tier.REGISTERED], policy.defaults[Tier.CONTACT]
    match admission:
        case "open" if registered is not Stance.ALLOW or contact is not Stance.ALLOW:
            tier, stance = ("registered", registered) if registered is not Stance.ALLOW else ("contact", contact)
            return (
                f'It declares the admission "open", and the roster\'s default for {tier} callers is {stance}, so not '
                f"everyone who signs would be admitted. Allow them first: agent-node roster defaults --{tier} allow"
            )
        case "allowlist" | "negotiated" if registered is Stance.ALLOW:
            return (
                f'It declares the admission "{admission}", and the roster\'s default for registered callers is allow, '
                "so callers would be admitted whom nobody added. Hold them first: agent-node roster defaults "
                "--registered hold"
            )
        case "screened" if registered is not Stance.HOLD:
            return (
                f'It declares the admission "screened", and the roster\'s default for registered callers is '
                f"{registered}, so no knock would wait to be looked at. Hold them first: agent-node roster defaults "
                "--registered hold"
            )
    return None


def _stranger(registered: Stance, admission: str | None) -> Position:
    """The first table of this module."""
    if admission == "allowlist":
        return REFUSED[Reason.ALLOWLIST]
    if admission == "negotiated":
        return REFUSED[Reason.NEGOTIATED]
    if registered is Stance.BLOCK:
        return REFUSED[Reason.CLOSED]
    return ADMITTED if registered is Stance.ALLOW and admission != "screened" else WAITING
