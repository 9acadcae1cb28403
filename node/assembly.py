"""The AgentDoc of this agent or of another one, from what this node keeps, and from what was just fetched.

What is said of another agent is what was fetched and verified, and when: before, and kept since, or just now.

Source: section 9 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from descriptor.document import Descriptor
from descriptor.errors import DescriptorError, quoted
from descriptor.keys import Identity, decode_public
from descriptor.projections.agentdoc import AgentDoc, Observation, Origin, assemble
from descriptor.projections.serving import Serving
from descriptor.strictjson import JsonValue
from descriptor.timestamps import format_timestamp
from entryway.assembled import asked, own, versions_seen
from entryway.pages import MOST_VERSIONS
from node.errors import NodeError
from node.peers import pinned_form
from node.projecting import card_bytes
from store import Reader

_ASKED = "The Descriptor that verified last when this node asked the agent itself, kept since."
_FOLLOWED = "The version that was current when this node last fetched from the agent, verified then and kept since."
_SEEN = "What this node makes of the agent's records and answers on its own network."
_HISTORY = "The newest versions that this node fetched, verified and keeps; the times are those the agent gave."
_REPORTED = "What this node noticed while it followed the agent."


@dataclass(frozen=True, slots=True)
class Found:
    """What an agent gave at `url`, a base URL. Its Descriptor verified, and so did its reply to exchange 4, `door`.

    `card` and `door` are None where it gave none.
    """

    url: str
    descriptor: Descriptor
    card: bytes | None
    door: JsonValue


def of_own(reader: Reader | None, identity: Identity, now: float, served: bytes | None, serving: Serving) -> AgentDoc:
    """The AgentDoc of this node's agent. `served`: the card that the running node serves; None when none runs.

    Raises NodeError NOT_PUBLISHED, StoreError and DescriptorError.
    """
    version = reader.current(identity.id) if reader else None
    if reader is None or version is None:
        raise NodeError("NOT_PUBLISHED", "Nothing is published yet: agent-node publish FILE")
    data = reader.artifact(version.digest)
    assert data is not None  # the store keeps what its current version names
    descriptor = Descriptor.read(data)
    card = card_bytes(descriptor, serving, identity) if served is None else served
    kept, older = reader.history(identity.id, MOST_VERSIONS)
    history = versions_seen(kept, version.seq, older=older is not None)
    return own(identity, now, descriptor, card, history, served=served is not None)


def of_asked(
    reader: Reader | None, peers: Sequence[Mapping[str, object]], found: Found, identity: Identity, now: float
) -> AgentDoc:
    """The AgentDoc of an agent that was just asked, with what was noticed of it before. Raises DescriptorError."""
    agent_id = found.descriptor.subject_id or ""
    observations = [*_seen(peers, agent_id, now), *(_followed(reader, agent_id, now) if reader else ())]
    return asked(identity, now, found.url, found.descriptor, found.card, found.door, observations)


def of_other(
    reader: Reader | None, peers: Sequence[Mapping[str, object]], target: str, identity: Identity, now: float
) -> AgentDoc:
    """The AgentDoc of an agent that was heard, followed or registered here, by its id or handle.

    `peers`: the `--json` entries of `peers`. Raises NodeError NOT_KEPT, StoreError and DescriptorError.
    """
    agent_id = target if _is_id(target) else _named(reader, peers, target)
    data = None if reader is None or agent_id is None else reader.peer_descriptor(agent_id)
    version = None if reader is None or agent_id is None else reader.current(agent_id)
    origin = Origin(what=_ASKED, at=now)
    if data is None and reader is not None and version is not None:
        data, origin = reader.artifact(version.digest), Origin(what=_FOLLOWED, at=now)
    if reader is None or agent_id is None or data is None:
        raise NodeError(
            "NOT_KEPT",
            f"Nothing is kept of {quoted(target)}. Without --fetch, an AgentDoc is made of what was fetched and kept "
            "of an agent, by its id or handle: `agent-node peers` lists who was heard. --fetch asks the agent now.",
        )
    observations = [*_seen(peers, agent_id, now), *_followed(reader, agent_id, now)]
    return assemble(identity, now, Descriptor.read(data), origin, observations=observations)


def at_hand(reader: Reader | None, sources: Sequence[Mapping[str, JsonValue]], subject: str) -> dict[str, bytes]:
    """What the store keeps of the sources of an AgentDoc, by their id. Raises StoreError."""
    found: dict[str, bytes] = {}
    for source in sources if reader else ():
        digest = source.get("digest")
        data = reader.artifact(digest) if reader and isinstance(digest, str) else None
        if data is None and reader and source.get("kind") == "agent-descriptor":
            kept = reader.peer_descriptor(subject)
            data = kept if kept is not None and Descriptor.read(kept).digest == digest else None
        if data is not None:
            found[str(source.get("id"))] = data
    return found


def _seen(peers: Sequence[Mapping[str, object]], agent_id: str, now: float) -> list[Observation]:
    """What is made of an agent's own record; another's record that claims its id is not about it."""
    own_entries = [peer for peer in peers if peer["id"] == agent_id][:1]
    told = ("state", "reason", "first_seen", "last_seen")
    return [
        Observation(_SEEN, now, {"peer": {name: str(peer[name]) for name in told if peer[name] is not None}})
        for peer in own_entries
    ]


def _followed(reader: Reader, agent_id: str, now: float) -> list[Observation]:
    found = []
    version = reader.current(agent_id)
    if version is not None:
        kept, older = reader.history(agent_id, MOST_VERSIONS)
        found.append(Observation(_HISTORY, now, versions_seen(kept, version.seq, older=older is not None)))
    for follow in reader.follows():
        if follow.id == agent_id and follow.reports:
            reports: list[JsonValue] = [
                {"at": format_timestamp(one.at), "kind": one.kind, "message": one.message, "digest": one.digest}
                for one in follow.reports
            ]
            found.append(Observation(_REPORTED, now, {"reports": reports}))
    return found


def _named(reader: Reader | None, peers: Sequence[Mapping[str, object]], handle: str) -> str | None:
    """The agent with a handle: a verified peer, else one that is followed and states it."""
    wanted = pinned_form(handle)
    for peer in peers:
        stated = peer["handle"]
        if peer["digest"] is not None and isinstance(stated, str) and pinned_form(stated) == wanted:
            return str(peer["id"])
    for follow in reader.follows() if reader else ():
        version = reader.current(follow.id) if reader else None
        data = reader.artifact(version.digest) if reader and version else None
        stated = None if data is None else Descriptor.read(data).handle
        if stated is not None and pinned_form(stated) == wanted:
            return follow.id
    return None


def _is_id(text: str) -> bool:
    try:
        decode_public(text)
    except DescriptorError:
        return False
    return True
