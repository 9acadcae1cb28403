"""`roster` and `knocks`: who may come in, and who asked to."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence

import click

from descriptor.strictjson import JsonValue, parse
from entryway.door import KEPT
from entryway.roster import LONGEST_NOTE, MOST_HOURLY, Enforced, Stance, enforced
from node.commands.versions import kept_versions
from node.console import Console, columns, operator_command, read_as
from node.errors import NodeError
from node.groups import Group
from node.operate import change
from node.roster import RosterKeeper, knock_document, roster_document, unapplied_admission
from node.targets import check_id

STANCES = click.Choice([stance.value for stance in Stance])
_MISFIT = "The Descriptor that is published does not fit this roster; publish one that declares another admission, or:"
NOTE = click.option("--note", help=f"Why, for yourself: {LONGEST_NOTE} characters at most.")


@click.group("roster", cls=Group)
def roster_command() -> None:
    """Say who may come in: one document, signed with this agent's key.

    An entry on an agent stands over the defaults, which hold for everybody else: contacts are allowed, whoever signs is
    held, whoever does not is blocked. Works whether or not the node runs; a running node goes by the change at once.
    Nobody is told whether there is an entry on him.
    """


@roster_command.command("list")
@operator_command
def list_command(console: Console) -> None:
    """Show the defaults and every entry. Exit 0 also where the roster is not enforced, which is said."""
    with kept_versions(console) as reader:
        document = reader.roster(console.agent_id()) if reader else None
        found = enforced(document, console.agent_id())
        why = unapplied_admission(reader, console.agent_id(), found.policy) if reader else None
    shown = {**roster_document(found, kept=document is not None), "admission_problem": why}
    console.result(shown, _roster_lines(found, shown, why))


@roster_command.command("admit")
@click.argument("agent_id", metavar="ID")
@NOTE
@operator_command
def admit_command(console: Console, agent_id: str, note: str | None) -> None:
    """Let an agent in. What it asked for is answered from then on; a knock of it is settled."""
    _decided(console, "admit", agent_id, note, "is allowed in.")


@roster_command.command("hold")
@click.argument("agent_id", metavar="ID")
@NOTE
@operator_command
def hold_command(console: Console, agent_id: str, note: str | None) -> None:
    """Keep an agent waiting, whatever the defaults say. It is told what any stranger is told."""
    _decided(console, "hold", agent_id, note, "is held.")


@roster_command.command("block")
@click.argument("agent_id", metavar="ID")
@NOTE
@operator_command
def block_command(console: Console, agent_id: str, note: str | None) -> None:
    """Keep an agent out. It cannot tell: it is told what any stranger is told."""
    _decided(console, "block", agent_id, note, "is blocked.")


@roster_command.command("contact")
@click.argument("agent_id", metavar="ID")
@NOTE
@operator_command
def contact_command(console: Console, agent_id: str, note: str | None) -> None:
    """Know an agent as a contact: the default for contacts decides."""
    _decided(console, "contact", agent_id, note, "is a contact.")


@roster_command.command("revoke")
@click.argument("agent_id", metavar="ID")
@NOTE
@operator_command
def revoke_command(console: Console, agent_id: str, note: str | None) -> None:
    """Take back an agent's admission. Unlike a block, it is told: it stands as refused from then on."""
    _decided(console, "revoke", agent_id, note, "is admitted no more, and is told so when it asks.")


@roster_command.command("defaults")
@click.option("--rostered", type=STANCES, help="Agents with an entry that has no stance of its own.")
@click.option("--contact", type=STANCES, help="Contacts.")
@click.option("--registered", type=STANCES, help="Whoever signs, and is not on the roster.")
@click.option("--anonymous", type=STANCES, help="Whoever does not sign.")
@click.option("--hourly", type=click.IntRange(1, MOST_HOURLY), help="Messages an hour from one sender, allowed or not.")
@operator_command
def defaults_command(console: Console, hourly: int | None, **stances: str | None) -> None:
    """Say what holds for agents without an entry of their own."""
    stated: dict[str, JsonValue] = {tier: stance for tier, stance in stances.items() if stance is not None}
    document = _change(console, {"act": "defaults", "defaults": stated, "per_sender_hourly": hourly})
    defaults = document["defaults"]
    lines = [f"{tier}: {stance}" for tier, stance in defaults.items()] if isinstance(defaults, dict) else []
    console.result(document, lines)


@roster_command.command("export")
@operator_command
def export_command(console: Console) -> None:
    """Print the roster whole, as it was signed. It names the agents that you know: keep it to yourself."""
    with kept_versions(console) as reader:
        document = reader.roster(console.agent_id()) if reader else None
    if document is None:
        raise NodeError("NOT_FOUND", "No roster is kept here. `agent-node roster admit ID` begins one.")
    console.raw(document + b"\n")


@roster_command.command("import")
@click.argument("file", required=False)
@click.option("--empty", is_flag=True, help="Begin anew, with an empty roster, instead.")
@operator_command
def import_command(console: Console, file: str | None, empty: bool) -> None:
    """Put an exported roster in the place of the one that is kept. FILE may be - for stdin.

    It has to be signed with this agent's key; one that was changed is refused.
    """
    if (file is None) is not empty:
        raise click.UsageError("Give a FILE to import, or --empty.")
    text = None
    if file is not None:
        text = read_as(file, _json_text)
    document = _change(console, {"act": "import", "document": text})
    entries = document["entries"]
    console.result(document, [f"Entries in force: {len(entries) if isinstance(entries, list) else 0}."])


def _json_text(data: bytes) -> str:
    """The text of a JSON document. What is none is refused here, and never travels."""
    parse(data)
    return data.decode()


@click.command("knocks")
@click.option("--all", "show_all", is_flag=True, help="Those too on whom there is an entry already.")
@operator_command
def knocks_command(console: Console, show_all: bool) -> None:
    """List who asked to be let in, when and how often. What they said is not kept.

    A knock falls away when thirty days pass without another one of the same agent.
    """
    with kept_versions(console) as reader:
        policy = enforced(reader.roster(console.agent_id()) if reader else None, console.agent_id()).policy
        now = time.time()
        kept = [knock for knock in (reader.knocks() if reader else ()) if now - knock.last_at < KEPT]
    knocks = [knock_document(knock, policy) for knock in kept]
    shown = [knock for knock in knocks if show_all or not knock["decided"]]
    rows: list[tuple[str, ...]] = [("agent", "last", "first", "times", "stance")]
    rows += [tuple(str(one[name]) for name in ("subject", "last_at", "first_at", "count", "stance")) for one in shown]
    lines = columns(rows) if shown else ["Nobody waits."]
    if shown:
        lines.append("Let one in: agent-node roster admit ID. Keep one out: agent-node roster block ID")
    console.result({"knocks": shown}, lines)


def _decided(console: Console, act: str, agent_id: str, note: str | None, done: str) -> None:
    check_id(agent_id)
    document = _change(console, {"act": act, "subject": agent_id, "note": note})
    console.result(document, [f"{agent_id} {done}"])


def _change(console: Console, asked: Mapping[str, JsonValue]) -> Mapping[str, object]:
    document = change(
        console,
        lambda node: node.ask("POST", "/roster", json.dumps(asked).encode()),
        lambda publisher: dict(
            RosterKeeper(publisher.store, publisher.reader, publisher.terms.identity, time.time).change(asked).document
        ),
    )
    _warn(console)
    return document


def _warn(console: Console) -> None:
    """A roster may be changed before the Descriptor is; until that is published, the two say different things."""
    with kept_versions(console) as reader:
        if reader is None:
            return
        policy = enforced(reader.roster(console.agent_id()), console.agent_id()).policy
        why = unapplied_admission(reader, console.agent_id(), policy)
    if why is not None:
        console.note(f"{_MISFIT} {why}")


def _roster_lines(found: Enforced, shown: Mapping[str, object], why: str | None) -> Sequence[str]:
    if found.problem is not None:
        state = f"The roster that is kept is NOT enforced; the conservative defaults hold. {found.problem}"
    elif shown["kept"]:
        state = "The roster is enforced."
    else:
        state = "No roster is kept; the conservative defaults hold."
    lines = [state, f"One sender may send {found.policy.hourly} messages an hour.", ""]
    lines += columns([("without an entry", "stance"), *found.policy.defaults.items()])
    rows = [
        (
            entry.subject,
            "revoked" if entry.revoked else entry.stance or f"as {entry.tier}",
            entry.note or "",
        )
        for entry in found.policy.entries.values()
    ]
    if rows:
        lines += ["", *columns([("agent", "stance", "note"), *rows])]
    if why is not None:
        lines += ["", f"{_MISFIT} {why}"]
    return lines
