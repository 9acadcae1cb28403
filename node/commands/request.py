"""`request`: one piece of work, asked of another agent, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

import click
import trio

from descriptor.errors import quoted
from descriptor.strictjson import JsonValue
from descriptor.view import View
from descriptor.view.values import Offering
from entryway.admission import Status
from entryway.client import Accepted, Agent, Budget, Caller, ClientError, Completed, Outcome, Parcel, Work
from entryway.requests import refusal_payload
from entryway.sealing import Way
from entryway.verdict import shown
from node import typed
from node.callers import Meant, caller_of, discovered, meant, told
from node.console import Console, operator_command
from node.errors import Exit, NodeError
from node.outcomes import LONGEST, NOT_LET_IN, TOLD, beside, outcome_document, refusal_lines, write_value

NOTHING = "none"  # the --authority that allows nothing at all


@dataclass(frozen=True)
class Wish:
    """What the command line says, before the agent has said what it offers."""

    offering: str | None
    inputs: tuple[typed.Given, ...]
    work: Work
    task: str | None
    cancel: str | None
    knock: bool
    wait: bool


@dataclass(frozen=True)
class Answered:
    """Who answered, to what, and what came of it. `parcel`: `None` where an earlier job was asked about."""

    agent: Agent
    parcel: Parcel | None
    outcome: Outcome


@click.command("request")
@click.argument("target")
@click.argument("offering", required=False)
@click.argument("inputs", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--id", "agent_id", metavar="ID", help="The agent that is meant; another one is handed nothing.")
@click.option("--authority", multiple=True, metavar="VALUE", help="All that the job may touch; none for nothing.")
@click.option("--spend-limit", metavar="AMOUNT", help="The most that the job may commit, such as 5.00USD.")
@click.option("--resource", "resources", multiple=True, metavar="KIND:ACCESS:LOCATOR", help="A resource to hand over.")
@click.option("--deadline", metavar="TIME", help="When it has to be done: 90s, 10m, 2h, or a time.")
@click.option("--cost-ceiling", metavar="AMOUNT", help="The most that the job may cost, such as 0.50EUR.")
@click.option("--setting", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of the job.")
@click.option("--clear-answer", is_flag=True, help="Take the answer in the clear, where the agent cannot seal it.")
@click.option("--async", "later", is_flag=True, help="Only hand it in: prints the id of the job.")
@click.option("--wait", is_flag=True, help="With --async or --task: stay until the job has ended.")
@click.option("--task", metavar="TASK", help="Ask how an earlier job stands, instead.")
@click.option("--cancel", metavar="TASK", help="End an earlier job, instead.")
@click.option("--knock", is_flag=True, help="Ask to be let in first, and wait for it.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Give up after so long.")
@operator_command
def request_command(
    console: Console,
    target: str,
    offering: str | None,
    inputs: tuple[str, ...],
    agent_id: str | None,
    authority: tuple[str, ...],
    spend_limit: str | None,
    resources: tuple[str, ...],
    deadline: str | None,
    cost_ceiling: str | None,
    settings: tuple[str, ...],
    clear_answer: bool,
    later: bool,
    wait: bool,
    task: str | None,
    cancel: str | None,
    knock: bool,
    timeout: float | None,
) -> None:
    """Ask the agent at TARGET for one piece of work, and print what comes of it.

    TARGET is a URL, HOST:PORT, or the handle or id of an agent that was heard on the network. At an address the agent
    that is meant has to be known: it is followed, it was heard there, or --id names it.

    An input is NAME=VALUE for text, NAME=@FILE for a file (- is stdin), NAME:=JSON for any JSON value. Without an
    OFFERING, what the agent offers is listed. What it declares is looked at first: a request that it would refuse is
    not sent. It is sealed where the agent asks for that, and it is said when it goes in the clear.

    The output alone is on stdout. Exit 0 when it is done or accepted, 1 when it is refused or fails, 2 when it is no
    request, 3 when the agent was not reached.
    """
    if sum(one is not None for one in (offering, task, cancel)) > 1:
        raise NodeError("USAGE", "Ask for an OFFERING, --task or --cancel: one of the three.", Exit.UNREADABLE)
    if wait and not (later or task is not None):
        raise NodeError("USAGE", "--wait goes with --async or --task; else the answer is waited for.", Exit.UNREADABLE)
    now = time.time()
    work = Work(
        offering or "",
        resources=tuple(map(typed.resource, resources)),
        authority=_authority(authority),
        spend_limit=None if spend_limit is None else typed.money(spend_limit),
        budget=Budget(
            None if deadline is None else typed.moment(deadline, now),
            None if cost_ceiling is None else typed.money(cost_ceiling),
        ),
        settings={one.name: typed.setting_value(one) for one in map(typed.given, settings)},
        later=later,
    )
    wish = Wish(offering, tuple(map(typed.given, inputs)), work, task, cancel, knock, wait)
    caller, where = caller_of(console, sealed_answers=not clear_answer), meant(console, target, agent_id)
    _show(console, target, _run(console, caller, where, wish, timeout))


def _authority(stated: tuple[str, ...]) -> tuple[str, ...] | None:
    if not stated:
        return None
    if NOTHING in stated and len(stated) > 1:
        raise NodeError("USAGE", f"--authority {NOTHING} allows nothing, and stands alone.", Exit.UNREADABLE)
    return () if stated == (NOTHING,) else stated


def _run(console: Console, caller: Caller, where: Meant, wish: Wish, timeout: float | None) -> Answered:
    async def run() -> Answered | None:
        with trio.move_on_after(float("inf") if timeout is None else timeout):
            return await _asked(console, caller, where, wish)
        return None

    try:
        answered = trio.run(run)
    except ClientError as error:
        raise told(error) from error
    if answered is None:
        raise NodeError(
            "TIMEOUT",
            f"There was no end of it in {timeout:g} seconds. What had been handed in by then may still be worked on.",
            Exit.UNREACHED,
        )
    return answered


def _doubtful(error: ClientError) -> NodeError:
    """What is told of an error of work; where that may have arrived, that it may be done all the same."""
    refusal = told(error)
    if not error.maybe_sent or error.error is not None:
        return refusal
    doubt = "What was asked may have arrived all the same, and may be done; it is not sent again by itself."
    return NodeError(refusal.code, f"{refusal.message} {doubt}", refusal.exit_code)


async def _asked(console: Console, caller: Caller, where: Meant, wish: Wish) -> Answered:
    agent = await discovered(caller, where)
    if wish.knock:
        await _let_in(console, agent)
    if wish.task is not None:
        outcome = await (agent.finished(wish.task) if wish.wait else agent.poll(wish.task))
        return Answered(agent, None, outcome)
    if wish.cancel is not None:
        return Answered(agent, None, await agent.cancel(wish.cancel))
    work = _work(agent.view, wish)
    _refuse_beforehand(agent, work)
    parcel = agent.prepare(work)
    for line in _way(parcel):
        console.note(line)
    try:
        outcome = await agent.send(parcel)
    except ClientError as error:
        raise _doubtful(error) from error
    if wish.wait and isinstance(outcome, Accepted):
        console.note(f"It is accepted as the job {outcome.task_id}, and waited for.")
        outcome = await agent.finished(outcome)
    return Answered(agent, parcel, outcome)


async def _let_in(console: Console, agent: Agent) -> None:
    standing = await agent.knock()
    if standing.status is Status.WAITING:
        console.note(f"{agent.id} was asked to let this home's agent in. Waiting for its owner; interrupt to stop.")
        standing = await agent.admission()
    if standing.status is not Status.ADMITTED:
        why = NOT_LET_IN.get(standing.reason or "", f"It stands as {standing.status} there.")
        raise NodeError("UNAUTHORIZED", f"The agent does not let {agent.caller.identity.id} in, which asks here. {why}")


def _way(parcel: Parcel) -> Sequence[str]:
    """How the request goes out, where that is worth a word."""
    if parcel.way is Way.CLEAR:
        return (parcel.reason,)
    if not parcel.answer_sealed:
        return (
            "The request is sealed, and its answer comes in the clear. It is sealed too where this home's agent has "
            "published a sealing posture, unless --clear-answer is given.",
        )
    return ()


# What is asked, against what is offered.


def _work(view: View, wish: Wish) -> Work:
    """The work with its inputs, each by the kind of the input that it is for. Raises NodeError."""
    offered = {one.id: one for one in view.offerings or () if one.id is not None}
    if wish.offering is None or wish.offering not in offered:
        raise _not_offered(wish.offering, offered)
    kinds = {one.name: one.kind for one in offered[wish.offering].inputs or () if one.name is not None}
    values: dict[str, JsonValue] = {}
    for one in wish.inputs:
        if one.name not in kinds:
            takes = shown(", ".join(f"{name} ({kind or 'kind not stated'})" for name, kind in kinds.items()), LONGEST)
            raise NodeError(
                "INPUT_INVALID",
                f"The offering takes no input {quoted(one.name)}.{_near(one.name, kinds)} It takes: {takes or 'none'}.",
                Exit.UNREADABLE,
            )
        if one.name in values:
            raise NodeError("INPUT_INVALID", f"The input {quoted(one.name)} is given twice.", Exit.UNREADABLE)
        values[one.name] = typed.input_value(one, kinds[one.name])
    return replace(wish.work, input=values)


def _refuse_beforehand(agent: Agent, work: Work) -> None:
    """Refuses at home what the agent's Descriptor says that it refuses. Raises NodeError, with what is allowed."""
    error = agent.refusal(work)
    if error is None:
        return
    said = refusal_payload(error)["error"]
    assert isinstance(said, dict)
    exit_code = Exit.UNREADABLE if error.code == "INPUT_INVALID" else Exit.NO
    message = " ".join([error.message, "Nothing was sent.", *beside(said)])
    raise NodeError(error.code, message, exit_code, {name: said[name] for name in said if name not in TOLD})


def _not_offered(name: str | None, offered: Mapping[str, Offering]) -> NodeError:
    lines = [
        f"{offering_id} ({one.description or one.name or 'not described'})" for offering_id, one in offered.items()
    ]
    listed = shown("; ".join(lines), LONGEST) or "nothing"
    if name is None:
        return NodeError("USAGE", f"Say which OFFERING you ask for. The agent offers: {listed}", Exit.UNREADABLE)
    return NodeError(
        "OFFERING_NOT_FOUND",
        f"The agent offers no {quoted(name)}, and nothing was sent.{_near(name, offered)} It offers: {listed}",
    )


def _near(name: str, known: Mapping[str, object]) -> str:
    near = get_close_matches(name, known, 1)
    return f" Did you mean {quoted(near[0])}?" if near else ""


def _show(console: Console, target: str, answered: Answered) -> None:
    outcome = answered.outcome
    if console.as_json:
        console.result(_document(answered), ())
    elif isinstance(outcome, Completed):
        write_value(console, outcome.output)
    elif isinstance(outcome, Accepted):
        console.result({}, (outcome.task_id,))
        console.note(f"The job is {outcome.state}. How it stands: agent-node request {target} --task {outcome.task_id}")
    else:
        for line in refusal_lines(outcome):
            console.note(line)
    if not isinstance(outcome, Completed | Accepted):
        raise SystemExit(Exit.NO)


def _document(answered: Answered) -> dict[str, object]:
    agent, parcel = answered.agent, answered.parcel
    return {
        "target": agent.url,
        "agent": agent.id,
        "digest": agent.descriptor.digest,
        "request_id": None if parcel is None else parcel.id,
        "sealed": None if parcel is None else parcel.way is Way.SEALED,
        **outcome_document(answered.outcome),
    }
