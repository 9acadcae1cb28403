"""`register` and `compare`: handing the Descriptor to a registry, and seeing whether all copies of one agree."""

from __future__ import annotations

import time

import click

from descriptor.digests import digest_of
from entryway.client import Answer, ask, register, registered
from entryway.verdict import shown
from node.commands.versions import kept_versions
from node.console import Console, columns, operator_command
from node.errors import Exit, NodeError
from node.targets import Target, answered, find


@click.command("register")
@click.argument("target")
@operator_command
def register_command(console: Console, target: str) -> None:
    """Hand the current Descriptor to the registry at TARGET.

    TARGET is a URL, HOST:PORT, or the handle or id of an agent that was heard on the network.
    A registry takes what its subject signed, and says by which rules it does not. Exit 1 when it refuses.
    """
    with kept_versions(console) as reader:
        current = reader.current(console.agent_id()) if reader else None
        data = reader.artifact(current.digest) if reader and current else None
    if data is None:
        raise NodeError("NOT_PUBLISHED", "Nothing is published yet: agent-node publish FILE")
    place = _registry(console, target)
    url = place.urls[0]
    told = answered(place, lambda url: register(url, data))
    if told.get("digest") != digest_of(data):
        raise NodeError("DIGEST_MISMATCH", f"{url} says that it keeps something else than was sent.")
    standing = (
        "It is current there." if told.get("current") is True else "It is kept there, and a later one is current."
    )
    console.result({"registry": url, **told}, [f"{digest_of(data)} is kept at {url}.", standing])


@click.command("compare")
@click.argument("target")
@click.option("--registry", metavar="TARGET", help="Also the copy that this registry serves.")
@operator_command
def compare_command(console: Console, target: str, registry: str | None) -> None:
    """Compare what the agent at TARGET serves with the copies that are kept here and, if asked, in a registry.

    TARGET is a URL, HOST:PORT, or the handle or id of an agent that was heard on the network.
    Copies that disagree are reported and never merged: only the agent's operator can say which one is meant.
    Exit 0 when all agree, 1 when they do not.
    """
    found_at = find(console, target)
    answer = answered(found_at, lambda url: ask(url, expected_id=found_at.agent_id, clock=time.time))
    agent_id = (answer.envelope or {}).get("from")
    if not answer.verified or not isinstance(agent_id, str) or answer.digest is None:
        raise _unverified(answer)
    copies: dict[str, str | None] = {"served": answer.digest, "kept": _kept(console, agent_id)}
    if registry is not None:
        data = answered(_registry(console, registry), lambda url: registered(url, agent_id))
        copies["registry"] = None if data is None else digest_of(data)
    found = {digest for digest in copies.values() if digest is not None}
    agree = len(found) == 1
    rows = [(name, digest or "no copy") for name, digest in copies.items()]
    verdict = "All copies agree." if agree else "The copies disagree. None is preferred; ask the agent's operator."
    console.result({"id": agent_id, "copies": copies, "agree": agree}, [shown(agent_id), *columns(rows), verdict])
    if not agree:
        raise SystemExit(Exit.NO)


def _kept(console: Console, agent_id: str) -> str | None:
    with kept_versions(console) as reader:
        current = reader.current(agent_id) if reader else None
    return None if current is None else current.digest


def _registry(console: Console, target: str) -> Target:
    """A registry. One that is named by its agent has to be that agent's node, and is asked for that first."""
    found = find(console, target)
    if found.agent_id is None:
        return found
    answer = answered(found, lambda url: ask(url, expected_id=found.agent_id, clock=time.time))
    if not answer.verified:
        raise _unverified(answer)
    return Target((answer.target,))


def _unverified(answer: Answer) -> NodeError:
    return NodeError(
        "NOT_VERIFIED", f"What is served at {answer.target} does not verify; see `agent-node ask {answer.target}`."
    )
