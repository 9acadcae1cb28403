"""TARGET: where a command's other node is, named by a URL, an address, a handle or an agent's id.

A handle or an id leads to an agent that was heard on the network and verified, never to an address that somebody merely
claims it has; and what answers there has to be that agent. Source: binding 7 and 9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass

from descriptor.errors import DescriptorError, quoted
from descriptor.keys import decode_public
from entryway.client import ClientError, target_url
from node.console import Console
from node.errors import Exit, NodeError
from node.operate import running
from node.peers import State, pinned_form
from node.sightings import peer_document
from store import Reader, StoreError

TRIED = (State.VERIFIED, State.UNREACHABLE, State.GONE)
"""States of peers that are tried: it is they who answered once, and they may answer again."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where to ask, and the agent that has to answer; None when it may be anyone. `urls` are tried in order."""

    urls: tuple[str, ...]
    agent_id: str | None = None


def find(console: Console, text: str) -> Target:
    """The target that `text` names. Raises NodeError BAD_TARGET, PEER_UNKNOWN, PEER_UNVERIFIED.

    What has the form of an address is one. A bare name is the handle of a peer if there is one, and a host otherwise.
    """
    text = text.strip()
    if _is_id(text):
        return _peer(text, [peer for peer in known_peers(console) if peer["id"] == text], "id")
    if not any(char in text for char in ":/[]"):
        named = [peer for peer in known_peers(console) if _has_handle(peer, text)]
        if named:
            return _peer(text, named, "handle")
    try:
        return Target((target_url(text),))
    except ClientError as error:
        raise NodeError(error.code, error.message, Exit.UNREADABLE) from error


def known_peers(console: Console) -> Sequence[Mapping[str, object]]:
    """The peers that the running node knows; those in the store when none runs. Raises NodeError."""
    if not console.home.path.is_dir():
        return []
    node = running(console.home)
    if node is not None:
        with closing(node.client):
            listed = node.ask("GET", "/peers")["peers"]
            return [dict(one) for one in listed] if isinstance(listed, list) else []
    with suppress(StoreError), Reader.open(console.home.database) as reader:
        return [peer_document(peer) for peer in reader.peers()]
    return []


def _peer(text: str, named: Sequence[Mapping[str, object]], kind: str) -> Target:
    if not named:
        raise NodeError(
            "PEER_UNKNOWN",
            f"No agent with the id {text} was heard on the network. `agent-node peers` lists who was; a URL or "
            "host:port is asked directly.",
            Exit.UNREACHED,
        )
    for peer in named:
        addresses = peer["addresses"]
        if peer["digest"] is not None and peer["state"] in TRIED and isinstance(addresses, list) and addresses:
            return Target(tuple(f"http://{address}" for address in addresses), str(peer["id"]))
    peer = named[0]
    raise NodeError(
        "PEER_UNVERIFIED",
        f"The agent with the {kind} {quoted(text)} is not verified: {peer['state']}. {peer['reason'] or ''}".strip(),
    )


def _has_handle(peer: Mapping[str, object], text: str) -> bool:
    handle = peer["handle"]
    return isinstance(handle, str) and pinned_form(handle) == pinned_form(text)


def _is_id(text: str) -> bool:
    try:
        decode_public(text)
    except DescriptorError:
        return False
    return True
