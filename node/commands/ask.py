"""`ask`: ask another node one question, and say which checks its answer passed."""

from __future__ import annotations

import time
from pathlib import Path

import click
import trio

from descriptor.keys import decode_public
from entryway.client import Answer, ClientError, ask
from entryway.verdict import shown
from node.console import Console, columns, operator_command
from node.errors import Exit, NodeError
from node.targets import Target, find

EXITS = {"BAD_TARGET": Exit.UNREADABLE, "UNREACHABLE": Exit.UNREACHED, "TIMEOUT": Exit.UNREACHED}


@click.command("ask")
@click.argument("target")
@click.option("--exchange", default="2", show_default=True, help="The number of the exchange, or help.")
@click.option("--id", "expected_id", metavar="ID", help="The agent that has to answer; another one fails the check.")
@click.option(
    "--save",
    type=click.Path(dir_okay=False),
    help="Write the Descriptor's exact bytes here, if they verify.",
)
@operator_command
def ask_command(console: Console, target: str, exchange: str, expected_id: str | None, save: str | None) -> None:
    """Ask a node at TARGET for its Descriptor, and verify what it says.

    TARGET is a URL, HOST:PORT, or the handle or id of an agent that was heard on the network (see peers), which is then
    the agent that has to answer.

    Every check is named: the digest recomputed over the bytes, the signature of the reply, the signature of the
    Descriptor, that one agent made all three, and that the reply is fresh and answers this very question.
    Exit 0 when all hold, 1 when one does not, 3 when nobody answered.
    """
    if expected_id is not None:
        decode_public(expected_id)
    if not exchange.isprintable():
        raise NodeError("INPUT_INVALID", "An exchange is a number, or a word such as help.", Exit.UNREADABLE)
    number = int(exchange) if exchange.isascii() and exchange.isdecimal() and len(exchange) < 10 else exchange
    found = find(console, target)
    answer = _answer(found, number, expected_id or found.agent_id)
    if save is not None and answer.verified and answer.descriptor is not None:
        _save(Path(save), answer.descriptor)
    elif save is not None:
        console.note(f"Nothing is written to {save}: there are no verified bytes.")
    document = {
        "target": answer.target,
        "verified": answer.verified,
        "status": answer.status,
        "checks": dict(answer.checks),
        "reasons": dict(answer.reasons),
        "digest": answer.digest,
        "agent_version": answer.agent_version,
        "envelope": answer.envelope,
        "error": answer.error,
    }
    console.result(document, _lines(answer))
    if not answer.verified:
        raise SystemExit(Exit.NO)


def _answer(target: Target, exchange: int | str, expected_id: str | None) -> Answer:
    try:
        return trio.run(_ask, target, exchange, expected_id)
    except ClientError as error:
        raise NodeError(error.code, error.message, EXITS.get(error.code, Exit.NO)) from error


async def _ask(target: Target, exchange: int | str, expected_id: str | None) -> Answer:
    """The answer of the first address of the target at which anybody answers."""
    *others, last = target.urls
    for url in others:
        try:
            return await ask(url, exchange=exchange, expected_id=expected_id, clock=time.time)
        except ClientError as error:
            if EXITS.get(error.code) is not Exit.UNREACHED:
                raise
    return await ask(last, exchange=exchange, expected_id=expected_id, clock=time.time)


def _lines(answer: Answer) -> list[str]:
    if answer.error is not None:
        return [f"{answer.target} refused: {answer.error.get('message')} [{answer.error.get('code')}]"]
    rows = [
        (name.replace("_", " "), "holds" if passed else "FAILS", answer.reasons.get(name, ""))
        for name, passed in answer.checks.items()
    ]
    verdict = "Verified: every check holds." if answer.verified else "Not verified."
    facts = [("agent", shown(str((answer.envelope or {}).get("from", "not stated"))))]
    facts += [("status", answer.status or "not stated")]
    if answer.digest is not None:
        facts += [("agent_version", answer.agent_version or "not stated"), ("digest", answer.digest)]
    return [*columns(facts), "", *columns(rows), "", verdict]


def _save(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise NodeError("OUTPUT_UNWRITABLE", f"{path} cannot be written: {error.strerror}.", Exit.UNREADABLE) from error
