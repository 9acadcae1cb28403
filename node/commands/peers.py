"""`peers`: the agents on the local network, and what each is worth."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

import click

from descriptor.directory import Query, search
from descriptor.view import view
from descriptor.vocabulary import FOCUSES, SCOPES
from node.console import Console, columns, operator_command, plain
from node.errors import Exit, NodeError
from node.operate import Control, running
from node.peers import State
from node.targets import TRIED, check_id, known_peers
from store import Reader, Store

LOOK = 0.5  # seconds between two looks of --watch
HOME_AND_CLEAR = "\x1b[H\x1b[J"
LOUD = (State.CONFLICT, State.ROLLBACK)

Peers = Sequence[Mapping[str, object]]


@click.command("peers")
@click.option("--watch", is_flag=True, help="Stay and show what changes, until it is interrupted.")
@click.option("--forget", metavar="ID", help="Forget this peer, and that its handle is its own.")
@click.option("--wanting", metavar="WORDS", help="Offerings of named work that describe these words.")
@click.option("--scope", type=click.Choice(SCOPES), help="Offerings of this scope.")
@click.option("--focus", type=click.Choice(FOCUSES), help="Offerings within this focus.")
@click.option("--role", help="Offerings of this role.")
@click.option("--jurisdiction", "jurisdictions", multiple=True, metavar="CC", help="Content stays in these countries.")
@operator_command
def peers_command(
    console: Console,
    watch: bool,
    forget: str | None,
    wanting: str | None,
    scope: str | None,
    focus: str | None,
    role: str | None,
    jurisdictions: tuple[str, ...],
) -> None:
    """List the agents that were heard on the local network.

    An agent is verified when it answered itself, just now, and its signed Descriptor is its own. Everything else is
    shown as what it is: heard, unreachable, mismatch (another agent answers, or what it says does not hold), unsigned,
    conflict (it claims the handle of another), rollback (an older version than before), gone.

    With --watch a terminal shows the table as it is; elsewhere, and with --json, each change is one line. A handle
    stays with the agent that verified first under it, until --forget gives it free.

    The other options search what verified peers declare, offering by offering. What is not declared does not meet what
    is asked, and an offering that takes any instruction is found by its scope, never by the work wanted. Exit 1 when
    nothing is found.
    """
    query = Query(wanting, scope, focus, role, jurisdictions=frozenset(jurisdictions) or None)
    if watch and forget is not None:
        raise NodeError("USAGE", "--watch and --forget are two things; choose one.", Exit.UNREADABLE)
    console.home.check()
    if forget is not None:
        _forget(console, forget)
    elif watch:
        _watch(console)
    elif query != Query():
        _search(console, query)
    else:
        peers = known_peers(console)
        if running(console.home) is None:
            console.note("No node runs here; this is what was known when it stopped.")
        console.result({"peers": list(peers)}, _lines(peers))


def _search(console: Console, query: Query) -> None:
    verified = [peer for peer in known_peers(console) if peer["state"] in TRIED and peer["digest"] is not None]
    agents = []
    if console.home.database.exists():
        with Reader.open(console.home.database) as reader:
            for peer in verified:
                data = reader.peer_descriptor(str(peer["id"]))
                if data is not None:
                    agents.append(view(data))
    found = [
        {"agent": {"id": match.agent.subject_id, "handle": match.agent.handle}, **match.shown()}
        for match in search(agents, query)
    ]
    rows = [("scope", "focus", "authority", "offering", "agent")]
    rows += [
        (
            str(one["scope"]),
            _text(one["focus"]),
            "not stated" if one["authority"] is None else ", ".join(map(str, one["authority"])) or "nothing",
            f"{one['id']}: {one['name']}",
            _text(one["agent"]["handle"] or one["agent"]["id"]),
        )
        for one in found
    ]
    lines = columns(rows) if found else [f"None of {len(agents)} verified peers declares that."]
    lines += [
        f"  {one['id']}: {name} at most {ceiling['most']}, decided by {ceiling['decided_by'] or 'what is not stated'}"
        for one in found
        if one["scope"] != SCOPES[0]
        for name, ceiling in one["ceilings"].items()
    ]
    console.result({"matches": found}, lines)
    if not found:
        raise SystemExit(Exit.NO)


def _forget(console: Console, agent_id: str) -> None:
    check_id(agent_id)
    node = running(console.home)
    if node is not None:
        with closing(node.client):
            node.ask("POST", "/peers/forget", json.dumps({"id": agent_id}).encode())
    else:
        with console.home.lock(), Store.open(console.home.database) as store:
            with Reader.open(console.home.database) as reader:
                if all(peer.id != agent_id for peer in reader.peers()):
                    raise NodeError("NOT_FOUND", "No such peer is known. `agent-node peers` lists them.")
            store.drop_peers([agent_id])
    console.result({"id": agent_id, "known": False}, (f"{agent_id} is forgotten.",))


def _watch(console: Console) -> None:
    node = running(console.home)
    if node is None:
        raise NodeError("NODE_NOT_RUNNING", f"No node runs in {console.home.path}. Start it: agent-node run", Exit(3))
    redraws = sys.stdout.isatty() and not console.as_json
    before: dict[tuple[object, bool], Mapping[str, object]] = {}
    with closing(node.client):
        try:
            for peers in _changes(node):
                if redraws:
                    shown = "\n".join(map(plain, _lines(peers)))
                    console.raw(f"{HOME_AND_CLEAR}{shown}\n".encode(errors="backslashreplace"))
                    continue
                now = {(one["id"], one["state"] in ("mismatch", "unsigned", "conflict")): one for one in peers}
                for key, one in now.items():
                    if _told(before.get(key)) != _told(one):
                        console.result(dict(one), (_line(one),))
                before = now
        except KeyboardInterrupt:
            return


def _changes(node: Control) -> Iterator[Peers]:
    """The peers, now and whenever they have changed."""
    since: str | None = None
    while True:
        answer = node.ask("GET", "/peers", since=since)
        listed = answer.get("peers")
        if isinstance(listed, list):
            yield listed
        since = str(answer["revision"])
        time.sleep(LOOK)


def _told(peer: Mapping[str, object] | None) -> object:
    """What of a peer makes a new line: everything but when it was last seen."""
    return None if peer is None else {name: value for name, value in peer.items() if name != "last_seen"}


def _lines(peers: Peers) -> list[str]:
    if not peers:
        return ["Nobody was heard yet. A node hears others while it runs; `agent-node doctor` says whether it can."]
    rows = [("state", "handle", "agent_version", "address", "id")]
    for one in peers:
        handle, agent_version, agent_id = (_text(one[name]) for name in ("handle", "agent_version", "id"))
        rows.append((_shown_state(one), handle, agent_version, _first(one), agent_id))
    lines = columns(rows)
    lines += [f"{one['state']}: {one['handle'] or one['id']}: {one['reason']}" for one in peers if one["reason"]]
    return lines


def _line(peer: Mapping[str, object]) -> str:
    named = " ".join(str(peer[name]) for name in ("handle", "id", "agent_version", "digest") if peer[name])
    return f"{peer['last_seen']}  {_shown_state(peer)}  {named}  {_first(peer)}  {peer['reason'] or ''}".rstrip()


def _shown_state(peer: Mapping[str, object]) -> str:
    state = str(peer["state"])
    return state.upper() if state in LOUD else state


def _first(peer: Mapping[str, object]) -> str:
    addresses = peer["addresses"]
    return str(addresses[0]) if isinstance(addresses, list) and addresses else "-"


def _text(value: object) -> str:
    return "-" if value is None else str(value)
