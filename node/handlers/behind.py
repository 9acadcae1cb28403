"""An order, done by what stands behind its offering.

The invariant: `do` returns an ending, whatever the program does; and when it returns or is canceled, the directory of
the job is gone, and so is every process that was begun for it. Of a service only the question is withdrawn.

Source: binding 9 (handlers).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from types import TracebackType
from typing import Self

import structlog
import trio

from descriptor.view import Offering
from entryway.work import Ending, Order
from node.handlers.launcher import EXIT_DECLINED
from node.handlers.leavings import remove_tree
from node.handlers.presented import presented
from node.handlers.processes import Launcher, LauncherError, Program, Ran
from node.handlers.results import Unusable, completed, declined, failed
from node.handlers.service import ServiceError, ask
from node.handlers.settings import Handler
from node.home import Home

LARGE_RESULT = 64 * 1024  # bytes of JSON that are read in a worker thread
_MIB = 2**20
HTTP_OK, HTTP_DECLINED = 200, 422

log = structlog.get_logger("handlers")


class Behind:
    """What stands behind the offerings of the node in a home."""

    def __init__(self, home: Home, environ: Mapping[str, str]) -> None:
        self._home = home
        self._launcher = Launcher(home.handlers, environ)

    async def __aenter__(self) -> Self:
        # What is there is of jobs that a crash ended.
        await trio.to_thread.run_sync(remove_tree, self._home.jobs)
        await self._launcher.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._launcher.__aexit__(kind, error, traceback)

    async def do(self, handler: Handler, offering: Offering, order: Order, task_id: str, seconds: float) -> Ending:
        """Does an order, for as long as the caller lets it. Raises nothing of ours."""
        body = json.dumps(presented(order, task_id, offering, seconds)).encode()
        try:
            if handler.http is None:
                return await self._ran(handler, offering, task_id, body)
            answered = await ask(handler.http, body, handler.output_bytes)
            return await _judged(answered.body, partial(_of_service, answered.status, offering, handler.output_bytes))
        except (Unusable, LauncherError, ServiceError) as error:
            log.error("handler_failed", task_id=task_id, offering=order.offering, reason=str(error))
        except OSError as error:
            reason = f"The directory of the job cannot be made: {error.strerror}."
            log.error("handler_failed", task_id=task_id, offering=order.offering, reason=reason)
        return failed()

    async def _ran(self, handler: Handler, offering: Offering, task_id: str, body: bytes) -> Ending:
        directory = self._home.jobs / task_id
        program = Program(
            self._found(handler.command),
            handler.python,
            handler.memory_mb * _MIB,
            handler.file_mb * _MIB,
            handler.processes,
            handler.output_bytes,
        )
        said = partial(log.info, "handler_says", task_id=task_id, offering=offering.id)
        try:
            self._home.jobs.mkdir(mode=0o700, exist_ok=True)
            directory.mkdir(mode=0o700)
            ran = await self._launcher.run(program, directory, body, lambda line: said(line=line))
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(remove_tree, directory)
        return await _judged(ran.output, partial(_of_process, ran, offering, handler))

    def _found(self, command: tuple[str, ...]) -> tuple[str, ...]:
        if command and "/" in command[0]:
            return (str(self._home.path / command[0]), *command[1:])
        return command


async def _judged(data: bytes, judge: Callable[[bytes], Ending]) -> Ending:
    """What an answer comes to; a large one is read where nobody waits for it."""
    if len(data) > LARGE_RESULT:
        return await trio.to_thread.run_sync(judge, data)
    return judge(data)


def _of_process(ran: Ran, offering: Offering, handler: Handler, data: bytes) -> Ending:
    if ran.why is not None:
        bound = {"output": f"output_bytes, {handler.output_bytes} bytes", "processes": f"{handler.processes} processes"}
        raise Unusable(f"It went over {bound[ran.why]}, and was ended.")
    if ran.status == EXIT_DECLINED:
        return declined(data, offering, handler.output_bytes)
    if ran.status != 0:
        assert ran.status is not None  # it was not ended, so it has one
        how = f"exit code {ran.status}" if ran.status > 0 else f"signal {-ran.status}"
        raise Unusable(f"It ended with {how}.")
    return completed(data, offering, handler.output_bytes)


def _of_service(status: int, offering: Offering, output_bytes: int, data: bytes) -> Ending:
    if status == HTTP_DECLINED:
        return declined(data, offering, output_bytes)
    if status != HTTP_OK:
        raise Unusable(f"It answered with HTTP status {status}.")
    return completed(data, offering, output_bytes)
