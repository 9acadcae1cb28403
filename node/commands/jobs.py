"""`jobs`: the work that was admitted, and an end to it."""

from __future__ import annotations

import json
from contextlib import closing

import click

from entryway.tasks import TaskState
from node.commands.versions import kept_versions
from node.console import Console, columns, operator_command
from node.errors import Exit, NodeError
from node.job_rows import job_document
from node.operate import running

SHOWN = ("task_id", "state", "offering", "created_at", "ended_at", "caller")


@click.command("jobs")
@click.argument("act", required=False, type=click.Choice(["cancel"]), metavar="[cancel")
@click.argument("job", required=False, metavar="JOB]")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="How many jobs.")
@click.option("--state", type=click.Choice([state.value for state in TaskState]), help="Only jobs in this state.")
@operator_command
def jobs_command(console: Console, act: str | None, job: str | None, limit: int, state: str | None) -> None:
    """List the jobs of callers, newest first; or end one that runs or waits: jobs cancel JOB.

    What was asked is not kept, and what came of it is for the job's caller alone. A job is forgotten jobs_keep_days
    after it has ended. The list is there whether or not the node runs. The caller of a job that you cancel is told so.
    """
    if act is None:
        _list(console, limit, state)
    elif job is None:
        raise NodeError("USAGE", "Name the job to cancel: agent-node jobs cancel JOB", Exit.UNREADABLE)
    else:
        _cancel(console, job)


def _list(console: Console, limit: int, state: str | None) -> None:
    with kept_versions(console) as reader:
        jobs = reader.jobs(limit, state) if reader else ()
    listed = [job_document(job) for job in jobs]
    rows: list[tuple[str, ...]] = [("job", "state", "offering", "created", "ended", "caller")]
    rows += [tuple(str(one[name] or "") for name in SHOWN) for one in listed]
    console.result({"jobs": listed}, columns(rows) if listed else ["There are no jobs."])


def _cancel(console: Console, job: str) -> None:
    console.home.check()
    node = running(console.home)
    if node is None:
        raise NodeError(
            "NODE_NOT_RUNNING",
            f"No node runs in {console.home.path}, so no job does. What was left is ended at the next start.",
            Exit.UNREACHED,
        )
    with closing(node.client):
        document = node.ask("POST", "/jobs/cancel", json.dumps({"task_id": job}).encode())
    console.result(document, [f"{job} is canceled."])
