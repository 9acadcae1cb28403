"""This home as a caller: with which keys it asks, which agent a TARGET means, and what to say when that fails.

The invariant: nothing is asked of an agent that nobody named. A TARGET that is an id or a handle leads to one agent;
one that is an address has to be known here as the address of one, or the agent has to be named beside it.

Source: binding 5, 7 and 9; chapter 6.9 (sealing).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from descriptor.keys import SealingKey
from descriptor.strictjson import JsonValue, parse
from entryway.client import Agent, Caller, ClientError, target_url
from entryway.sealing import declared_key
from node.commands.versions import kept_versions
from node.console import Console
from node.errors import Exit, NodeError
from node.identity import Keys
from node.targets import TRIED, check_id, find, known_peers, refused

UNREACHED = frozenset({"UNREACHABLE", "TIMEOUT"})
UNREADABLE = frozenset({"BAD_TARGET", "TOO_LARGE"})


def caller_of(console: Console, *, sealed_answers: bool = True) -> Caller:
    """This home's agent, as who asks. Its answers are sealed where its own Descriptor declares its sealing key.

    `sealed_answers`: whether they are asked to be. Raises NodeError.
    """
    keys = console.keys()
    return Caller(keys.identity, _declared(console, keys) if sealed_answers else None)


def _declared(console: Console, keys: Keys) -> SealingKey | None:
    with kept_versions(console) as reader:
        current = reader.current(keys.identity.id) if reader else None
        data = reader.artifact(current.digest) if reader and current else None
    document: JsonValue = {} if data is None else parse(data)
    declares = isinstance(document, dict) and declared_key(document) == keys.sealing.public_text
    return keys.sealing if declares else None


@dataclass(frozen=True, slots=True)
class Meant:
    """Where to ask, tried in order, and the agent that is meant; `None` where nothing says which.

    `kept`: its Descriptor as it is kept here, for an agent that tells nobody who it is; `None` for none. `unheard`: as
    in `Target`.
    """

    urls: tuple[str, ...]
    agent_id: str | None
    kept: bytes | None = field(default=None, repr=False)
    unheard: str | None = None


def meant(console: Console, target: str, agent_id: str | None) -> Meant:
    """The target, and the agent that is meant, as far as anything says so. `agent_id`: as it was named beside it.

    Raises NodeError BAD_TARGET, BAD_KEY, PEER_UNKNOWN, PEER_UNVERIFIED, ANOTHER_AGENT.
    """
    if agent_id is not None:
        check_id(agent_id)
    found = find(console, target)
    if found.agent_id is not None and agent_id not in (None, found.agent_id):
        raise NodeError("ANOTHER_AGENT", f"{target} is the agent {found.agent_id}, and --id names another.")
    named = agent_id or found.agent_id or _pinned(console, found.urls)
    return Meant(found.urls, named, None if named is None else _kept(console, named), found.unheard)


def _pinned(console: Console, urls: tuple[str, ...]) -> str | None:
    """The one agent that is followed or was verified at a place; `None` when there is none, or more than one."""
    with kept_versions(console) as reader:
        at_place = {follow.id for follow in (reader.follows() if reader else ()) if follow.url in urls}
    for peer in known_peers(console):
        addresses = peer["addresses"]
        if peer["digest"] is None or peer["state"] not in TRIED or not isinstance(addresses, list):
            continue
        if any(target_url(str(address)) in urls for address in addresses):
            at_place.add(str(peer["id"]))
    return at_place.pop() if len(at_place) == 1 else None


def _kept(console: Console, agent_id: str) -> bytes | None:
    """The Descriptor of an agent as it is followed or registered here, or was shown last by a peer."""
    with kept_versions(console) as reader:
        if reader is None:
            return None
        current = reader.current(agent_id)
        return reader.peer_descriptor(agent_id) if current is None else reader.artifact(current.digest)


async def discovered(caller: Caller, who: Meant) -> Agent:
    """The agent that is meant, at the first of its addresses that answers.

    Raises ClientError, and NodeError AGENT_NOT_NAMED; UNREACHABLE and TIMEOUT of a name that is no handle either.
    """
    *others, last = who.urls
    for url in others:
        try:
            return await _named(caller, url, who)
        except ClientError as error:
            if error.code not in UNREACHED:
                raise
    try:
        return await _named(caller, last, who)
    except ClientError as error:
        if error.code not in UNREACHED or who.unheard is None:
            raise
        raise refused(error, who.unheard) from error


async def _named(caller: Caller, url: str, who: Meant) -> Agent:
    try:
        agent = await caller.discover(url, agent_id=who.agent_id)
    except ClientError as error:
        if who.kept is None or error.error is None or error.error["code"] != "PRIVATE":
            raise
        # It works for whom it admits all the same, and only its own signed replies are taken.
        return caller.known(url, who.kept)
    if who.agent_id is None:
        handle = "" if agent.view.handle is None else f", with the handle {agent.view.handle}"
        raise NodeError(
            "AGENT_NOT_NAMED",
            f"The agent that answers at {url} is {agent.id}{handle}. Nothing here says that it is the one you mean, so "
            f"it was handed nothing. If it is, say so: --id {agent.id}",
        )
    return agent


def told(error: ClientError) -> NodeError:
    """What an operator is told when no answer can be believed, and with which exit code."""
    exit_code = Exit.UNREACHED if error.code in UNREACHED else Exit.UNREADABLE if error.code in UNREADABLE else Exit.NO
    return NodeError(error.code, error.message, exit_code)
