"""`agentdoc`: what is known of one agent in one document, each part saying where it is from; and its check."""

from __future__ import annotations

import json
import time
from pathlib import Path

import click

from descriptor.projections.agentdoc_check import MAX_BYTES, Checked, check
from descriptor.projections.agentdoc_looked import object_of, objects_in
from descriptor.strictjson import parse
from node.assembly import at_hand, of_other, own
from node.commands.projections import served_card
from node.commands.versions import kept_versions
from node.console import Console, columns, operator_command, read_input
from node.errors import Exit, NodeError
from node.targets import known_peers
from store import Reader


@click.command("agentdoc")
@click.argument("target", required=False)
@click.option("--check", "file", metavar="FILE", help="Check an AgentDoc instead; - is standard input.")
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="ID=FILE",
    help="With --check: the bytes of the source with this id, beside what the store keeps; several times.",
)
@operator_command
def agentdoc_command(console: Console, target: str | None, file: str | None, sources: tuple[str, ...]) -> None:
    """Assemble the AgentDoc of this agent, or of TARGET, or check one.

    TARGET is the id or handle of an agent of which something was fetched, verified and kept: a peer, or an agent that
    is followed. Nothing is fetched for it. The document says of every part where it is from, lists what nobody said,
    grades nothing, and is signed by this node.

    --check names each check and whether it holds. One that needs the bytes of a source is made where they are at hand:
    in the store, or given with --source. Exit 0 when none fails, 1 when one does.
    """
    if file is not None:
        if target is not None:
            raise NodeError("USAGE", "--check looks at a file and takes no TARGET.", Exit.UNREADABLE)
        _check(console, file, sources)
        return
    if sources:
        raise NodeError("USAGE", "--source is for --check.", Exit.UNREADABLE)
    keys, now = console.keys(), time.time()
    peers = [] if target is None else known_peers(console)
    with kept_versions(console) as reader:
        made = (
            own(reader, keys.identity, served_card(console), now)
            if target is None
            else of_other(reader, peers, target.strip(), keys.identity, now)
        )
    if console.as_json:
        console.result(made.members, ())
    else:
        # Text from elsewhere leaves as escapes, which no terminal heeds and every reader of JSON undoes.
        console.raw(json.dumps(made.members, indent=2).encode() + b"\n")


def _check(console: Console, file: str, sources: tuple[str, ...]) -> None:
    data = read_input(file, MAX_BYTES)
    members = object_of(parse(data, max_bytes=MAX_BYTES))
    listed = [one for _, one in objects_in(members.get("sources"))]
    bytes_of: dict[str, bytes] = {}
    if console.home.database.exists():
        with Reader.open(console.home.database) as reader:
            bytes_of = at_hand(reader, listed, str(object_of(members.get("subject")).get("id")))
    for given in sources:
        name, separator, path = given.partition("=")
        if not separator or name not in {str(one.get("id")) for one in listed}:
            raise NodeError(
                "USAGE",
                f"--source names a source of the document by its id, as descriptor=FILE; {given!r} names none.",
                Exit.UNREADABLE,
            )
        bytes_of[name] = read_input(str(Path(path)))
    checked = check(data, bytes_of, time.time())
    document = {
        "file": file,
        "holds": checked.holds,
        "checks": dict(checked.checks),
        "remarks": [{"check": one.check, "pointer": one.pointer, "message": one.message} for one in checked.remarks],
    }
    console.result(document, _lines(checked))
    if not checked.holds:
        raise SystemExit(Exit.NO)


def _lines(checked: Checked) -> list[str]:
    said = {True: "holds", False: "FAILS", None: "not made: the bytes that it needs are not at hand"}
    rows = [
        (
            name.replace("_", " "),
            "not made: it states no stale_after" if (name, held) == ("fresh", None) else said[held],
        )
        for name, held in checked.checks.items()
    ]
    remarks = [f"{one.message}\n    at {one.pointer or '(the document)'}   {one.check}" for one in checked.remarks]
    lines = [line for remark in remarks for line in remark.split("\n")]
    return [*columns(rows), *([""] if lines else []), *lines]
