"""`conformance`: the five cases of chapter 6.11, put to any agent, with the evidence of each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from secrets import token_hex

import click
import trio

from descriptor.errors import quoted
from descriptor.strictjson import JsonValue
from descriptor.view import Offering
from entryway.admission import Status
from entryway.client import Agent, Caller, ClientError
from entryway.client.conformance import Evidence, Held, cases, put, undeclared
from entryway.verdict import shown
from node import typed
from node.callers import caller_of, discovered, meant, told
from node.console import Console, operator_command
from node.errors import Exit, NodeError
from node.outcomes import LONGEST


@click.command("conformance")
@click.argument("target")
@click.argument("inputs", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--id", "agent_id", metavar="ID", help="The agent that is meant; another one is put nothing.")
@click.option("--offering", "only", metavar="ID", help="Only this offering.")
@click.option("--run", is_flag=True, help="Agree to the fifth case, which begins real work and cancels it at once.")
@operator_command
def conformance_command(
    console: Console, target: str, inputs: tuple[str, ...], agent_id: str | None, only: str | None, run: bool
) -> None:
    """Put to the agent at TARGET the five cases of chapter 6.11, which show whether it keeps to what it declares.

    They are put for every offering that declares a workspace or an authority. Shown is what was asked, what is owed and
    what came, with the signed envelopes in --json; there is no score. Exit 1 when a case does not hold.

    Nothing is bought and nobody is written to: four cases are to be refused, and their deadline is over, so that an
    agent that lets one through still has a reason not to begin. The fifth, a request inside every bound, begins real
    work: it is put only with --run, allows the job to touch nothing, and is canceled as soon as it is admitted.

    Inputs that an offering requires are made up; NAME=VALUE gives them where those do not do.
    """
    caller, where = caller_of(console), meant(console, target, agent_id)
    given = tuple(map(typed.given, inputs))

    async def walk() -> tuple[Agent, list[Evidence]]:
        agent = await discovered(caller, where)
        return agent, await _put_all(console, agent, caller, only, given, run)

    try:
        agent, found = trio.run(walk)
    except ClientError as error:
        raise told(error) from error
    document = {
        "target": agent.url,
        "agent": agent.id,
        "digest": agent.descriptor.digest,
        "cases": [_document(one) for one in found],
    }
    console.result(document, _lines(agent, found))
    if any(one.held is Held.FAILS for one in found):
        raise SystemExit(Exit.NO)


async def _put_all(
    console: Console, agent: Agent, caller: Caller, only: str | None, given: Sequence[typed.Given], run: bool
) -> list[Evidence]:
    standing = await agent.standing()
    if standing.status is not Status.ADMITTED:
        raise NodeError(
            "UNAUTHORIZED",
            f"The agent works for callers whom it has admitted, and this home's agent stands as {standing.status}. Be "
            f"let in first: agent-node ask {agent.url} --exchange 3",
        )
    offerings = list(_offerings(agent, only))
    if not offerings:
        console.note("No offering of this agent declares a workspace or an authority, so only the first case applies.")
    found = [await put(agent, undeclared(f"conformance-{token_hex(8)}"), caller.clock)]
    for offering in offerings:
        for case in cases(offering, _inputs(offering, given), run=run):
            found.append(await put(agent, case, caller.clock))
    return found


def _offerings(agent: Agent, only: str | None) -> Iterator[Offering]:
    """The offerings that are held to. Raises NodeError OFFERING_NOT_FOUND."""
    declared = [one for one in agent.view.offerings or () if one.id is not None and agent.view.offering(one.id) is one]
    if only is not None and only not in {one.id for one in declared}:
        listed = shown(", ".join(str(one.id) for one in declared), LONGEST) or "nothing"
        raise NodeError("OFFERING_NOT_FOUND", f"The agent offers no {quoted(only)}. It offers: {listed}.")
    for one in declared:
        if (only is None or one.id == only) and (one.workspace is not None or one.authority is not None):
            yield one


def _inputs(offering: Offering, given: Sequence[typed.Given]) -> dict[str, JsonValue]:
    kinds = {one.name: one.kind for one in offering.inputs or ()}
    return {one.name: typed.input_value(one, kinds[one.name]) for one in given if one.name in kinds}


def _document(one: Evidence) -> dict[str, object]:
    return {
        "case": one.case.name,
        "offering": one.case.offering,
        "section": "6.11",
        "rule": one.case.rule,
        "expected": one.case.expected,
        "came": one.came,
        "verdict": one.held.value,
        "digest": one.digest,
        "request": one.request,
        "reply": one.reply,
    }


def _lines(agent: Agent, found: Sequence[Evidence]) -> Iterator[str]:
    yield f"agent   {agent.id}"
    yield f"digest  {agent.descriptor.digest}"
    for one in found:
        yield ""
        yield f"{one.case.name}, {shown(one.case.offering)}: {one.held.value}"
        yield f"    rule      {one.case.rule} (chapter 6.11)"
        if one.request is not None:
            yield f"    asked     {_payload(one.request)}"
        yield f"    expected  {one.case.expected}"
        yield f"    came      {one.came}"


def _payload(envelope: object) -> str:
    payload = envelope.get("payload") if isinstance(envelope, dict) else None
    return shown(json.dumps(payload, ensure_ascii=False), LONGEST)
