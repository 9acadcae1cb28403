"""The workshop: admitted work, from its acceptance to what its caller is told.

    begin      a row on the disk; then its turn, or a place in the queue
    its turn   when fewer jobs run than may, in all and of its offering; the first in the queue that may goes first
    running    until it ends, is canceled, is out of time, or the node stops
    ended      what its caller is told is on the disk, and then he is told it

The invariant: a task id that `begin` returned is a row that ends: in this process, or as INTERRUPTED before the next
one answers anybody. A state changes as the table of `entryway.tasks` has it. What is told is told to the job's own
caller: to everybody else there is no such job, and asking takes as long.

Source: binding 5; 5.1 – 5.4 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import structlog
import trio

from descriptor.errors import DescriptorError
from entryway.envelope import new_uuid
from entryway.errors import EntrywayError
from entryway.tasks import TaskState, after
from entryway.work import Ending, Failed, Order
from node.archive import StoreKept
from node.endings import CANCELED, INTERRUPTED, OUT_OF_TIME, Payload, state_of, told
from node.handlers.behind import Behind
from node.handlers.results import failed
from node.handlers.settings import Handler, Handlers
from node.job_rows import JobRows
from node.settings import Jobs

if TYPE_CHECKING:
    from descriptor.view import Offering

SWEEP = 3600.0  # seconds between two looks for outcomes to forget
SWEEP_ENDS = 256  # jobs that end until the next look
COME_BACK = 5  # seconds after which a caller may find room
KEEP_AGAIN = 5.0  # seconds between two tries to put an end on a disk that does not take it

log = structlog.get_logger("jobs")


@dataclass(eq=False)
class _Live:
    """A job that has not ended. `stopped`: why it is ended before it is done, once somebody has said so."""

    task_id: str
    order: Order
    handler: Handler
    offering: Offering
    state: TaskState = TaskState.SUBMITTED
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    turn: trio.Event = field(default_factory=trio.Event)
    over: trio.Event = field(default_factory=trio.Event)
    stopped: Failed | None = None
    payload: Payload | None = None

    def stop(self, why: Failed) -> None:
        """Ends it, unless that was done already."""
        if self.stopped is None:
            self.stopped = why
            self.scope.cancel()

    def told(self) -> Payload:
        """How it stands."""
        if self.payload is not None:
            return self.payload
        return {"status": "accepted", "task_id": self.task_id, "state": self.state.value}


class Workshop:
    """Implements `entryway.work.Workshop` while `run` runs. `handlers` and `settings` may be replaced at any time.

    `offering` gives the current declaration of an offering; `None` when there is none.
    """

    def __init__(
        self,
        kept: StoreKept,
        behind: Behind,
        offering: Callable[[str], Awaitable[Offering | None]],
        clock: Callable[[], float],
        handlers: Handlers,
        settings: Jobs,
    ) -> None:
        self.handlers = handlers
        self.settings = settings
        self._rows = JobRows(kept, clock)
        self._behind = behind
        self._offering = offering
        self._clock = clock
        self._live: dict[str, _Live] = {}
        self._unkept: dict[str, _Live] = {}  # those that have ended, while the disk does not take it
        self._running: Counter[str] = Counter()
        self._ends = 0
        self._empty = trio.Event()
        self._stopping = trio.Event()
        self._nursery: trio.Nursery | None = None

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Works until `stop` is called; then jobs may end for a while, and are ended."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            nursery.start_soon(self._sweep)
            task_status.started()
            await self._stopping.wait()
            for job in self._waiting():
                job.stop(INTERRUPTED)
            with trio.move_on_after(self.settings.jobs_stop_wait):
                await self._emptied()
            for job in self._live.values():
                job.stop(INTERRUPTED)
            await self._emptied()
            nursery.cancel_scope.cancel()

    def stop(self) -> None:
        """Takes no more orders, and has `run` come to its end."""
        self._stopping.set()

    def busy(self) -> bool:
        """Whether any job has yet to end."""
        return bool(self._live)

    def status(self) -> dict[str, int]:
        """How many jobs run, and how many wait for their turn."""
        running = self._running.total()
        return {"running": running, "waiting": len(self._live) - running}

    # What the entryway asks for.

    def serves(self, offering: str) -> bool:
        """Whether anything stands behind an offering."""
        return offering in self.handlers

    async def begin(self, order: Order) -> str:
        """Takes an order: it is a row on the disk when this returns its task id.

        Raises EntrywayError AGENT_UNAVAILABLE, RATE_LIMITED when as many wait as may, and INVALID_ENVELOPE for a
        request that is a job already.
        """
        offering = await self._offering(order.offering)
        handler = self.handlers.get(order.offering)
        # What cannot be put on the disk is held in memory, so no more of it is made until it can.
        if handler is None or offering is None or self._nursery is None or self._stopping.is_set() or self._unkept:
            raise EntrywayError("AGENT_UNAVAILABLE", "Nothing does this work here just now. Ask again later.")
        job = _Live(new_uuid(), order, handler, offering)
        if not self._has_room(job) and len(self._waiting()) >= self.settings.jobs_waiting:
            raise EntrywayError(
                "RATE_LIMITED",
                f"As many jobs wait here as may. Ask again in {COME_BACK} seconds.",
                headers=(("Retry-After", str(COME_BACK)),),
            )
        self._live[job.task_id] = job
        if self._has_room(job):
            self._give_turn(job)
        # Its turn may come while the row is made.
        state = TaskState.WORKING if job.turn.is_set() else TaskState.SUBMITTED
        try:
            await self._rows.add(job.task_id, order, state)
        except BaseException:  # raised again: what is no row is no job
            self._leave(job)
            raise
        self._nursery.start_soon(self._work, job, state is TaskState.WORKING)
        return job.task_id

    async def ended(self, task_id: str) -> Payload:
        """Waits for the end of a job, and returns the payload that tells of it. Raises EntrywayError."""
        job = self._known(task_id)
        if job is not None:
            await job.over.wait()
            return job.told()
        payload = await self._rows.payload(task_id, None)
        if payload is None:
            raise EntrywayError(
                "AGENT_UNAVAILABLE", "What came of the job is not kept any more. Ask for the work again."
            )
        return payload

    async def state(self, caller: str, task_id: str) -> Payload | None:
        """The payload that tells how the caller's own job stands; `None` when he has no such job.

        Raises EntrywayError AGENT_UNAVAILABLE.
        """
        # Looked for first, so that nobody's job shows by the time it takes.
        stored = await self._rows.payload(task_id, caller)
        job = self._known(task_id)
        return job.told() if job is not None and job.order.caller == caller else stored

    async def cancel(self, caller: str, task_id: str) -> Payload | None:
        """Ends the caller's own job unless it has ended, and tells how it stands; `None` when he has no such job.

        Raises EntrywayError AGENT_UNAVAILABLE.
        """
        job = self._live.get(task_id)
        if job is not None and job.order.caller == caller:
            await self._canceled(job)
        return await self.state(caller, task_id)

    async def cancel_any(self, task_id: str) -> bool:
        """Ends a job for the operator; False when none of that id has yet to end."""
        job = self._live.get(task_id)
        if job is None:
            return False
        await self._canceled(job)
        return True

    # One job.

    async def _work(self, job: _Live, begun: bool) -> None:
        """Does one job. `begun`: its row says so already."""
        ending: Ending | None = None
        began = trio.current_time()
        with job.scope:
            deadline = job.order.bounds.deadline
            if deadline is not None:
                job.scope.deadline = trio.current_time() + deadline - self._clock()
            await job.turn.wait()
            began = trio.current_time()
            job.state = after(job.state, TaskState.WORKING)
            if not begun:
                await self._rows.begin(job.task_id)
            seconds = _least(job.handler.seconds, job.order.bounds.seconds)
            job.scope.deadline = min(job.scope.deadline, began + seconds)
            log.info("job_began", task_id=job.task_id, offering=job.order.offering, caller=job.order.caller)
            seconds = job.scope.deadline - began  # what is left of a deadline, where that is less
            ending = await self._behind.do(job.handler, job.offering, job.order, job.task_id, seconds)
        # Canceled from outside of the scope, this does not come here, and the row is ended by the next start.
        if ending is None:
            ending = job.stopped or OUT_OF_TIME
        with trio.CancelScope(shield=True):
            await self._finish(job, ending)
        log.info(
            "job_ended",
            task_id=job.task_id,
            offering=job.order.offering,
            state=job.state.value,
            code=ending.code if isinstance(ending, Failed) else None,
            seconds=round(trio.current_time() - began, 3),
        )

    async def _finish(self, job: _Live, ending: Ending) -> None:
        """Puts the end of a job on the disk, and tells whoever waits for it."""
        state = after(job.state, state_of(ending, job.state))
        try:
            payload, text = await trio.to_thread.run_sync(told, job.order, job.task_id, ending)
        except DescriptorError as error:
            log.error("output_not_sealed", task_id=job.task_id, reason=error.message)
            state = TaskState.FAILED
            payload, text = told(job.order, job.task_id, failed())
        now = round(self._clock(), 3)
        keep = partial(self._rows.end, job.task_id, state, now, text)
        kept = await keep()
        self._ends += 1
        if self._ends % SWEEP_ENDS == 0:
            await self._forget()
        job.state, job.payload = state, payload
        if not kept and self._nursery is not None:
            self._unkept[job.task_id] = job
            self._nursery.start_soon(self._keep_later, job.task_id, keep)
        self._leave(job)
        job.over.set()

    async def _keep_later(self, task_id: str, keep: Callable[[], Awaitable[bool]]) -> None:
        """Until then its caller is told from memory; and where the node stops before, that it was interrupted."""
        kept = False
        while not kept:
            await trio.sleep(KEEP_AGAIN)
            kept = await keep()
        del self._unkept[task_id]
        log.info("job_end_kept", task_id=task_id)

    async def _canceled(self, job: _Live) -> None:
        job.stop(CANCELED)
        await job.over.wait()

    # The queue.

    def _known(self, task_id: str) -> _Live | None:
        """A job of which the disk does not tell how it stands."""
        return self._live.get(task_id) or self._unkept.get(task_id)

    def _waiting(self) -> list[_Live]:
        return [job for job in self._live.values() if not job.turn.is_set()]

    def _has_room(self, job: _Live) -> bool:
        offering = job.order.offering
        return self._running.total() < self.settings.jobs_parallel and self._running[offering] < job.handler.parallel

    def _give_turn(self, job: _Live) -> None:
        self._running[job.order.offering] += 1
        job.turn.set()

    def _leave(self, job: _Live) -> None:
        """A job that is over makes room."""
        del self._live[job.task_id]
        if job.turn.is_set():
            self._running[job.order.offering] -= 1
        for waiting in self._waiting():
            if waiting.stopped is None and self._has_room(waiting):
                self._give_turn(waiting)
        self._empty.set()

    async def _emptied(self) -> None:
        while self._live:
            self._empty = trio.Event()
            await self._empty.wait()

    async def _sweep(self) -> None:
        while True:
            await self._forget()
            await trio.sleep(SWEEP)

    async def _forget(self) -> None:
        await self._rows.forget(self.settings.jobs_keep_days, self.settings.jobs_kept)


def _least(seconds: float, bound: float | None) -> float:
    return seconds if bound is None else min(seconds, bound)
