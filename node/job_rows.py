"""What the disk has of jobs: a row each, from before one begins until its outcome is forgotten.

The invariant: what the disk does not take is said in the log, and to the caller where he depends on it. A row that a
process left without an end is ended before the next process answers anybody.

Source: 5.2 and 5.4 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import structlog

from descriptor.timestamps import format_timestamp
from entryway.envelope import invalid_envelope
from entryway.errors import EntrywayError
from entryway.tasks import TaskState
from entryway.work import Order
from node.archive import StoreKept
from node.endings import INTERRUPTED, Payload, state_of, told
from store import Job, Store, StoreError

DAY = 86_400.0

log = structlog.get_logger("jobs")


class JobRows:
    """The rows of this node's jobs. Every time is that of `clock`, in seconds since 1970."""

    def __init__(self, kept: StoreKept, clock: Callable[[], float]) -> None:
        self._kept = kept
        self._clock = clock

    async def add(self, task_id: str, order: Order, state: TaskState) -> None:
        """Makes a job a row. Raises EntrywayError AGENT_UNAVAILABLE, and INVALID_ENVELOPE for one that is a row."""
        now = self._now()
        began = now if state is TaskState.WORKING else None
        row = Job(task_id, order.caller, order.request_id, order.offering, state.value, now, began)
        try:
            new = await self._kept.write(lambda store: store.add_job(row))
        except StoreError as error:
            log.error("job_not_kept", code=error.code, reason=error.message)
            raise EntrywayError("AGENT_UNAVAILABLE", "The job could not be kept just now. Ask again later.") from error
        if not new:
            raise invalid_envelope()

    async def begin(self, task_id: str) -> None:
        """Says in its row that a job has begun."""
        now = self._now()
        try:
            await self._kept.write(lambda store: store.begin_job(task_id, TaskState.WORKING.value, now))
        except StoreError as error:  # the row is there, and the job goes on
            log.error("job_begin_not_kept", task_id=task_id, code=error.code, reason=error.message)

    async def end(self, task_id: str, state: TaskState, at: float, text: str) -> bool:
        """Puts an end on the disk. False when the disk does not take it."""
        try:
            await self._kept.write(lambda store: store.end_job(task_id, state.value, at, text))
        except StoreError as error:
            log.error("job_end_not_kept", task_id=task_id, code=error.code, reason=error.message)
            return False
        return True

    async def payload(self, task_id: str, caller: str | None) -> Payload | None:
        """What tells of a job of `caller`, or of anybody's where it is None. Raises EntrywayError AGENT_UNAVAILABLE."""
        row = await self._kept.read(lambda reader: reader.job(task_id))
        if row is None or (caller is not None and row.caller != caller):
            return None
        if row.payload is None:
            return {"status": "accepted", "task_id": task_id, "state": row.state}
        payload: Payload = json.loads(row.payload)
        return payload

    async def forget(self, days: float, most: int) -> None:
        """Forgets the outcomes that are older than `days`, and the oldest beyond `most`."""
        until = self._clock() - days * DAY
        try:
            forgotten = await self._kept.write(lambda store: store.forget_jobs(until, most))
        except StoreError as error:
            log.error("jobs_not_forgotten", code=error.code, reason=error.message)
            return
        if forgotten:
            log.info("jobs_forgotten", count=forgotten)

    def _now(self) -> float:
        return round(self._clock(), 3)


def interrupt_jobs(store: Store, now: float) -> int:
    """Ends every job that a process before this one left. Returns how many. Raises StoreError."""
    return store.end_jobs(_interrupted, round(now, 3))


def job_document(job: Job) -> dict[str, object]:
    """A job as the command line shows it."""
    times = {"created_at": job.created_at, "began_at": job.began_at, "ended_at": job.ended_at}
    return {
        "task_id": job.task_id,
        "offering": job.offering,
        "caller": job.caller,
        "state": job.state,
        **{name: None if at is None else format_timestamp(at) for name, at in times.items()},
    }


def _interrupted(job: Job) -> tuple[str, str]:
    order = Order(job.caller, job.request_id, job.offering, {})
    return state_of(INTERRUPTED, TaskState(job.state)).value, told(order, job.task_id, INTERRUPTED)[1]
