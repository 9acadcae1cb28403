"""`follow`, `unfollow`, `follows` and `watch`: standing subscriptions to other agents, and one-off ones."""

from __future__ import annotations

import json
import time
from contextlib import closing

import click
import trio

from descriptor.timestamps import format_timestamp
from entryway.client import ClientError, ask
from entryway.feed import Announced, Message, judge_event, listen
from entryway.verdict import shown
from node.console import Console, columns, operator_command
from node.errors import Exit, NodeError
from node.following import follow_document
from node.operate import change, running
from node.targets import answered, check_id, find, refused
from store import Follow, Reader, Store


@click.command("follow")
@click.argument("target")
@operator_command
def follow_command(console: Console, target: str) -> None:
    """Follow the agent at TARGET: keep every version it publishes from now on.

    TARGET is a URL, HOST:PORT, or the handle or id of an agent that was heard on the network. The agent is asked first
    and has to verify; from then on its id is followed, wherever it answers.
    """
    url, agent_id = _verified(console, target)
    if agent_id == console.agent_id():
        raise NodeError("INPUT_INVALID", "That is this node's own agent, which does not follow itself.")
    document = change(
        console,
        lambda node: node.ask("POST", "/follow", json.dumps({"id": agent_id, "url": url}).encode()),
        lambda publisher: _follow_on_the_store(publisher.store, agent_id, url),
    )
    started = "It is followed from now on." if running(console.home) else "It is followed once the node runs."
    console.result(document, [f"{agent_id} at {url}", started])


@click.command("unfollow")
@click.argument("agent_id", metavar="ID")
@operator_command
def unfollow_command(console: Console, agent_id: str) -> None:
    """Follow an agent no more. The versions that were kept stay."""
    check_id(agent_id)

    def on_the_store(store: Store) -> dict[str, object]:
        if not store.drop_follow(agent_id):
            raise NodeError("NOT_FOUND", f"{agent_id} is not followed. `agent-node follows` lists who is.")
        return {"id": agent_id, "followed": False}

    document = change(
        console,
        lambda node: node.ask("POST", "/unfollow", json.dumps({"id": agent_id}).encode()),
        lambda publisher: on_the_store(publisher.store),
    )
    console.result(document, [f"{agent_id} is followed no more."])


@click.command("follows")
@operator_command
def follows_command(console: Console) -> None:
    """List the agents that are followed, how each fares, and what was odd about them."""
    follows = _followed(console)
    rows = [("state", "events", "id", "url")]
    rows += [(str(one["state"]), _number(one["seq"]), str(one["id"]), str(one["url"])) for one in follows]
    lines = columns(rows) if follows else ["Nobody is followed yet: agent-node follow TARGET"]
    for one in follows:
        if one["reason"]:
            lines.append(f"{one['id']}: {one['reason']}")
        reports = one["reports"]
        for report in reports if isinstance(reports, list) else []:
            lines.append(f"{format_timestamp(report['at'])}  {report['kind']}  {one['id']}: {report['message']}")
    console.result({"follows": follows}, lines)


@click.command("watch")
@click.argument("target")
@click.option("--after", type=click.IntRange(0), help="Begin behind the event of this number, not from now on.")
@operator_command
def watch_command(console: Console, target: str, after: int | None) -> None:
    """Print what the agent at TARGET announces, as it comes, until it is interrupted.

    TARGET is what follow takes. With --json each event is one line: the signed envelope as it came.
    """
    url, agent_id = _verified(console, target)

    async def heard(message: Message) -> None:
        if console.as_json:
            console.line(message.data)
            return
        judged = judge_event(message, agent_id)
        if isinstance(judged, Announced):
            console.line(f"{format_timestamp(judged.published_at)}  {judged.agent_version}  {judged.digest}")
        else:
            console.note(f"Event {shown(message.event)} {shown(message.id)}: {judged}")

    try:
        trio.run(listen, url, after, heard)
    except ClientError as error:
        raise refused(error) from error
    except KeyboardInterrupt:
        return
    raise NodeError("UNREACHABLE", f"{url} ended the stream.", Exit.UNREACHED)


def _verified(console: Console, target: str) -> tuple[str, str]:
    """Where the agent at TARGET answers, and its id, when everything it says of itself holds. Raises NodeError."""
    found = find(console, target)
    answer = answered(found, lambda url: ask(url, expected_id=found.agent_id, clock=time.time))
    agent_id = (answer.envelope or {}).get("from")
    if not answer.verified or not isinstance(agent_id, str):
        reasons = " ".join(answer.reasons.values())
        raise NodeError(
            "NOT_VERIFIED",
            f"What answers at {answer.target} does not verify. {reasons} See `agent-node ask {answer.target}`.",
        )
    return answer.target, agent_id


def _follow_on_the_store(store: Store, agent_id: str, url: str) -> dict[str, object]:
    follow = Follow(agent_id, url, round(time.time(), 3), None, synced=False)
    store.add_follow(follow)
    return follow_document(follow, state="waiting", reason="The node does not run.")


def _followed(console: Console) -> list[dict[str, object]]:
    console.home.check()
    node = running(console.home)
    if node is not None:
        with closing(node.client):
            listed = node.ask("GET", "/follows")["follows"]
            return [dict(one) for one in listed] if isinstance(listed, list) else []
    if not console.home.database.exists():
        return []
    with Reader.open(console.home.database) as reader:
        return [follow_document(one, state="waiting", reason="The node does not run.") for one in reader.follows()]


def _number(value: object) -> str:
    return "" if value is None else str(value)
