"""`ask`: ask another node one question, show what it says, and say which checks its answer passed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import click

from descriptor.keys import Identity
from descriptor.strictjson import JsonValue
from entryway.admission import Status
from entryway.client import Answer, ask
from entryway.exchanges import NEED_SIGNATURE
from entryway.verdict import shown
from node.console import Console, columns, operator_command
from node.errors import Exit, NodeError
from node.outcomes import NOT_LET_IN
from node.targets import answered, check_id, find

# Members of a payload that are shown in another form, or not at all.
_TOLD_ALREADY = frozenset(
    {"status", "digest", "agent_version", "size", "published_at", "description", "not_stated", "left_out"}
)
_MOST_POINTERS = 50


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

    Exchanges: 1 what are you, 2 show me your Descriptor, 3 will you let me talk to you, 4 are you accepting new
    callers, 5 where do I stand, help how do I use you. 3 and 5 are signed with this home's key and addressed to the
    agent, which is asked who it is first unless --id says it; 3 leaves a knock there.
    """
    if expected_id is not None:
        check_id(expected_id)
    if not exchange.isprintable():
        raise NodeError("INPUT_INVALID", "An exchange is a number, or a word such as help.", Exit.UNREADABLE)
    number = int(exchange) if exchange.isascii() and exchange.isdecimal() and len(exchange) < 10 else exchange
    identity = console.keys().identity if number in NEED_SIGNATURE else None
    found = find(console, target)
    answer = answered(found, lambda url: _ask(url, number, expected_id or found.agent_id, identity))
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


async def _ask(url: str, exchange: int | str, expected_id: str | None, identity: Identity | None) -> Answer:
    if identity is not None and expected_id is None:
        # What is signed is addressed: whoever answers there could pass it on to another agent in our name.
        first = await ask(url, clock=time.time)
        if not first.verified:
            return first
        expected_id = str((first.envelope or {})["from"])
    return await ask(url, exchange=exchange, identity=identity, expected_id=expected_id, clock=time.time)


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
    return [*columns(facts), *_said(answer), *_standing(answer), "", *columns(rows), "", verdict]


def _standing(answer: Answer) -> Iterator[str]:
    """What an answer of the door means for this home's agent."""
    payload = (answer.envelope or {}).get("payload")
    told = payload if isinstance(payload, dict) else {}
    if answer.status == Status.WAITING:
        yield "Its owner has yet to decide; exchange 5 says how it stands."
    reason = told.get("reason")
    if answer.status == Status.REFUSED and isinstance(reason, str) and reason in NOT_LET_IN:
        yield NOT_LET_IN[reason]


def _said(answer: Answer) -> Iterator[str]:
    """What else the payload says, one line a member; text of a peer is bounded and harmless."""
    payload = (answer.envelope or {}).get("payload")
    if not isinstance(payload, dict):
        return
    description = payload.get("description")
    told = description if isinstance(description, dict) else {}
    stated = {**{name: value for name, value in payload.items() if name not in _TOLD_ALREADY}, **told}
    if stated:
        yield ""
    for name, value in stated.items():
        if name == "offerings" and isinstance(value, list):
            for offering in value:
                yield f"offering: {_offering(offering)}"
        else:
            yield f"{shown(name)}: {_value(value)}"
    for name, words in (("not_stated", "not stated"), ("left_out", "left out; the Descriptor says it")):
        pointers = payload.get(name)
        if isinstance(pointers, list) and pointers:
            yield f"{words}: {', '.join(shown(str(pointer)) for pointer in pointers[:_MOST_POINTERS])}"


def _offering(offering: JsonValue) -> str:
    if not isinstance(offering, dict):
        return _value(offering)
    named = [_value(offering[name]) for name in ("id", "name", "description", "scope", "focus") if name in offering]
    return " - ".join(named)


def _value(value: JsonValue) -> str:
    return shown(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _save(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise NodeError("OUTPUT_UNWRITABLE", f"{path} cannot be written: {error.strerror}.", Exit.UNREADABLE) from error
