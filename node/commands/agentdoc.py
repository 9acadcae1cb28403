"""`agentdoc`: what is known of one agent in one document, each part saying where it is from; and its check."""

from __future__ import annotations

import json
import time
from pathlib import Path

import click

from descriptor.projections.agentdoc import AgentDoc
from descriptor.projections.agentdoc_check import MAX_BYTES, Checked, check
from descriptor.projections.agentdoc_looked import object_of, objects_in
from descriptor.strictjson import parse
from entryway.client import ask, card
from node.assembly import Found, at_hand, of_asked, of_other, of_own
from node.commands.projections import described_at, served_card, serving, write_output
from node.commands.versions import kept_versions
from node.console import Console, columns, operator_command, read_as, read_input
from node.errors import Exit, NodeError
from node.targets import Target, answered, known_peers
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
@click.option("--html", type=click.Path(dir_okay=False), metavar="FILE", help="Write it here as well, as a page.")
@click.option("--fetch", is_flag=True, help="Ask TARGET now, instead of going by what was fetched and kept.")
@operator_command
def agentdoc_command(
    console: Console, target: str | None, file: str | None, sources: tuple[str, ...], html: str | None, fetch: bool
) -> None:
    """Put together what is known of this agent, or of TARGET, in one document (an AgentDoc); or check one.

    It says of every part where it is from, lists what nobody said, grades nothing, and is signed by this node. Of this
    agent it is the document that the node serves.

    TARGET is the id or handle of an agent of which something was fetched, verified and kept: a peer, or an agent that
    is followed. With --fetch it may be a URL or HOST:PORT too, and the agent is asked now: for its Descriptor, its A2A
    card, and whether it takes new callers.

    --check names each check and whether it holds. One that needs the bytes of a source is made where they are at hand:
    in the store, or given with --source. Exit 0 when none fails, 1 when one does.
    """
    if file is not None and (target is not None or fetch or html is not None):
        raise NodeError("USAGE", "--check looks at a file, and takes no TARGET, --fetch or --html.", Exit.UNREADABLE)
    if file is not None:
        _check(console, file, sources)
        return
    if sources:
        raise NodeError("USAGE", "--source is for --check.", Exit.UNREADABLE)
    if fetch and target is None:
        raise NodeError("USAGE", "--fetch asks another agent: name it as TARGET.", Exit.UNREADABLE)
    made = _assembled(console, None if target is None else target.strip(), fetch=fetch)
    if html is not None:
        write_output(html, _page(made))
    if console.as_json:
        console.result(made.members, ())
    else:
        # Text from elsewhere leaves as escapes, which no terminal heeds and every reader of JSON undoes.
        console.raw(json.dumps(made.members, indent=2).encode() + b"\n")


def _page(made: AgentDoc) -> bytes:
    from entryway.page.content import content_of  # noqa: PLC0415  # the template engine, which no other command needs
    from entryway.page.render import agent_page  # noqa: PLC0415  # likewise

    return agent_page(content_of(made.members, served=False))


def _assembled(console: Console, target: str | None, *, fetch: bool) -> AgentDoc:
    identity = console.keys().identity
    if target is None:
        served, how = served_card(console), serving(console)
        with kept_versions(console) as reader:
            return of_own(reader, identity, time.time(), served, how)
    peers = known_peers(console)
    found = _asked(console, target) if fetch else None
    with kept_versions(console) as reader:
        if found is not None:
            return of_asked(reader, peers, found, identity, time.time())
        return of_other(reader, peers, target, identity, time.time())


def _asked(console: Console, text: str) -> Found:
    """What a target gives now. A card or an answer that it does not give is left out, and the operator told."""
    url, descriptor = described_at(console, text)
    there = Target((url,))
    its_card, door = None, None
    try:
        its_card = answered(there, card)
    except NodeError as error:
        console.note(f"It gives no card. {error}")
    answer = answered(there, lambda one: ask(one, exchange=4, expected_id=descriptor.subject_id, clock=time.time))
    if answer.verified and answer.envelope is not None:
        door = answer.envelope.get("payload")
    else:
        console.note("It does not say whether it takes new callers, or not in an answer that verifies.")
    return Found(url, descriptor, its_card, door)


def _check(console: Console, file: str, sources: tuple[str, ...]) -> None:
    data, members = read_as(file, lambda data: (data, object_of(parse(data, max_bytes=MAX_BYTES))), MAX_BYTES)
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
