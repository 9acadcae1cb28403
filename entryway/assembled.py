"""The AgentDoc of an agent, out of what a node has at hand: of its own, and of one that it asked just now.

The invariant: the document that a node serves and the one that its command line makes are assembled here, from the same
sources, and say the same.

Source: section 9 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from descriptor.canonical import canonical
from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.keys import Identity
from descriptor.projections.agentdoc import AgentDoc, Fetched, Observation, Origin, assemble
from descriptor.projections.card_signature import verify_card
from descriptor.signatures import Signature
from descriptor.strictjson import JsonValue, parse
from descriptor.timestamps import format_timestamp
from entryway.description import door_statement
from store import Version

DESCRIPTOR, CARD, DOOR = "/.well-known/agent-descriptor.json", "/.well-known/agent-card.json", "/entryway"
"""Where a node serves what an AgentDoc is made of."""

VERSIONS_KEPT = "The newest versions that this node has published and keeps."
DOOR_SAYS = "The payload of the reply to exchange 4, in canonical form; the same for whoever asks."
_FROM_STORE = "The current version, from the store of the node that serves it while it runs."
_CARD_TO_BE = "The card that the node serves while it runs, made from the current version; it names no address now."


def own(
    identity: Identity,
    now: float,
    descriptor: Descriptor,
    card: bytes,
    history: Mapping[str, JsonValue],
    *,
    served: bool = True,
) -> AgentDoc:
    """The AgentDoc of the agent that a node serves: `card` as served, `history` from `versions_seen`.

    `served`: whether the node runs, so that its documents are to be had at its addresses. Raises DescriptorError.
    """
    door = canonical(door_statement(descriptor.members))
    if served:
        origins = [Origin(url=path, fetched_at=now) for path in (DESCRIPTOR, CARD)]
    else:
        origins = [Origin(what=what, at=now) for what in (_FROM_STORE, _CARD_TO_BE)]
    return assemble(
        identity,
        now,
        descriptor,
        origins[0],
        card=_card(card, origins[1], descriptor),
        door=Fetched(door, Origin(url=DOOR if served else None, what=DOOR_SAYS, at=now)),
        observations=[Observation(VERSIONS_KEPT, now, history)],
    )


def asked(
    identity: Identity,
    now: float,
    url: str,
    descriptor: Descriptor,
    card: bytes | None,
    door: JsonValue,
    observations: Sequence[Observation],
) -> AgentDoc:
    """The AgentDoc of an agent that was just asked at `url`, a base URL, and whose Descriptor verified.

    `door`: the payload of its verified reply to exchange 4; `card` and `door` are None where it gave none. Raises
    DescriptorError.
    """
    described = Origin(url=f"{url}{DESCRIPTOR}", fetched_at=now)
    of_card = Origin(url=f"{url}{CARD}", fetched_at=now)
    of_door = Origin(url=f"{url}{DOOR}", what=DOOR_SAYS, at=now)
    return assemble(
        identity,
        now,
        descriptor,
        described,
        card=None if card is None else _card(card, of_card, descriptor),
        door=None if door is None else Fetched(canonical(door), of_door, Signature.VERIFIED.value),
        observations=observations,
    )


def versions_seen(kept: Sequence[Version], current: int | None, *, older: bool) -> dict[str, JsonValue]:
    """What is seen of an agent's history, newest first: `current` is the number of the current one in it."""
    versions: list[JsonValue] = [
        {
            "digest": one.digest,
            "agent_version": one.agent_version,
            "published_at": format_timestamp(one.published_at),
            "current": one.seq == current,
        }
        for one in kept
    ]
    return {"versions": versions, **({"older_versions": True} if older else {})}


def _card(data: bytes, origin: Origin, descriptor: Descriptor) -> Fetched:
    """A card with the state of its signature by the Descriptor's subject."""
    try:
        members = parse(data, max_bytes=len(data))
    except DescriptorError:
        return Fetched(data, origin)
    state = verify_card(members if isinstance(members, dict) else {}, descriptor.subject_id or "").state
    return Fetched(data, origin, state.value)
