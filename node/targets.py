"""TARGET: where a command's other node is, named by a URL, an address, a handle or an agent's id.

A handle or an id leads to an agent that was heard on the network and verified, never to an address that somebody merely
claims it has; and what answers there has to be that agent. Source: binding 7 and 9.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TypeVar

import trio

from descriptor.errors import DescriptorError, quoted
from descriptor.keys import decode_public
from entryway.client import ClientError, target_url
from entryway.verdict import shown
from node.console import Console
from node.errors import Exit, NodeError
from node.operate import running
from node.peers import State, pinned_form
from node.sightings import peer_document
from store import Reader, StoreError

EXITS = {"BAD_TARGET": Exit.UNREADABLE, "UNREACHABLE": Exit.UNREACHED, "TIMEOUT": Exit.UNREACHED}
"""How a command ends that could not ask, by the code of the ClientError; with NO where it is not named here."""
TRIED = (State.VERIFIED, State.UNREACHABLE, State.GONE)
"""States of peers that are tried: it is they who answered once, and they may answer again."""

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Target:
    """Where to ask, and the agent that has to answer; None when it may be anyone. `urls` are tried in order.

    `unheard`: the name that is asked as a host because no peer has it as a handle; None for what cannot be a handle.
    """

    urls: tuple[str, ...]
    agent_id: str | None = None
    unheard: str | None = field(default=None, compare=False)


def find(console: Console, text: str) -> Target:
    """The target that `text` names. Raises NodeError BAD_TARGET, PEER_UNKNOWN, PEER_UNVERIFIED.

    What has the form of an address is one. A bare name is the handle of a peer if there is one, and a host otherwise.
    """
    text = text.strip()
    if _is_id(text):
        return _peer(text, [peer for peer in known_peers(console) if peer["id"] == text], "id")
    bare = not any(char in text for char in ":/[]")
    if bare:
        named = [peer for peer in known_peers(console) if _has_handle(peer, text)]
        if named:
            return _peer(text, named, "handle")
    try:
        return Target((target_url(text),), unheard=text if bare and not _is_address(text) else None)
    except ClientError as error:
        raise NodeError(error.code, error.message, Exit.UNREADABLE) from error


def answered(target: Target, asking: Callable[[str], Awaitable[Value]]) -> Value:
    """What is answered at the first address of a target at which anybody answers, in a loop of its own.

    Raises NodeError.
    """
    *others, last = target.urls
    for url in others:
        try:
            return trio.run(_awaited, asking, url)
        except ClientError as error:
            if EXITS.get(error.code) is not Exit.UNREACHED:
                raise refused(error) from error
    try:
        return trio.run(_awaited, asking, last)
    except ClientError as error:
        raise refused(error, target.unheard) from error


async def _awaited(asking: Callable[[str], Awaitable[Value]], url: str) -> Value:
    return await asking(url)


def refused(error: ClientError, unheard: str | None = None) -> NodeError:
    """What an operator is told when no answer came, with each finding where the other side names some.

    Of a name that is `unheard` it says that it is no peer's handle either.
    """
    exit_code = EXITS.get(error.code, Exit.NO)
    message = " ".join([error.message, *_findings(error)])
    if unheard is not None and exit_code is Exit.UNREACHED:
        message += " Nor was an agent with that handle heard on the network: `agent-node peers` lists who was."
    return NodeError(error.code, message, exit_code)


def check_id(text: str) -> None:
    """Refuses what is no agent's id where one has to stand. Raises NodeError BAD_KEY, with where ids are listed."""
    try:
        decode_public(text)
    except DescriptorError as error:
        raise NodeError(
            error.code,
            f"An agent's id has to stand here. {error.message} Ids are listed by `agent-node peers`, `knocks` and "
            "`follows`, and by `agent-node ask TARGET`.",
            Exit.UNREADABLE,
        ) from error


def _findings(error: ClientError) -> Iterator[str]:
    details = (error.error or {}).get("details")
    findings = details.get("findings") if isinstance(details, dict) else None
    for one in findings if isinstance(findings, list) else []:
        if isinstance(one, dict):
            yield f"{shown(str(one.get('pointer')))}: {shown(str(one.get('message')))}"


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


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _is_id(text: str) -> bool:
    try:
        decode_public(text)
    except DescriptorError:
        return False
    return True
