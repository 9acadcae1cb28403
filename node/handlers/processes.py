"""The launcher as the daemon speaks to it: a program run to its end, within its bounds.

    async with Launcher(modules) as launcher:
        ran = await launcher.run(Program(...), directory, stdin)

The invariant: when `run` returns or raises, canceled or not, the job's supervisor has said that every process of the
job is dead, or the log says that it has been given up; and every file that was opened for it is closed. The daemon may
die at any moment: its end of a job's control socket closes with it, and that ends the job.

A launcher is started when the first job needs one, and again when it has gone.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from array import array
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Self

import structlog
import trio

from node.handlers import launcher as script
from node.handlers.launcher import GRACE, MESSAGE_BYTES, TAKEN

KILL_WAIT = 10.0  # seconds beyond the grace after which a process that even SIGKILL does not end is given up on
STDERR_BYTES = 64 * 1024  # of what one job says of itself, in the log
LINE_BYTES = 1000
_CHUNK = 64 * 1024
_SETTLE = 1.0  # seconds in which what a dead job has written is read

log = structlog.get_logger("handlers")


@dataclass(frozen=True, slots=True)
class Program:
    """What to run: `command` is a program and its arguments, `python` is "module:callable"; one of them is stated."""

    command: tuple[str, ...]
    python: str | None
    memory_bytes: int
    file_bytes: int
    processes: int
    output_bytes: int


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended.

    `status`: its exit code, negative for a signal; `None` when it was ended, and then `why` says for which bound:
    `output`, `processes`. `output`: all that it wrote to stdout.
    """

    status: int | None
    output: bytes
    why: str | None = None


class LauncherError(Exception):
    """A program could not be begun, or nobody can say how it ended. The message is for the log."""


class _NotTaken(Exception):  # noqa: N818  # nothing was begun, so it may be tried again
    """The launcher has gone, and has not taken the job."""


class Launcher:
    """The launcher, while it is needed. `modules`: the directory that Python handlers are found in first."""

    def __init__(self, modules: Path, environ: Mapping[str, str]) -> None:
        root = Path(script.__file__).parents[2]  # where `from node.handlers import Declined` is found
        self._modules = [str(modules), str(root)]
        self._environ = clean_environment(environ)
        self._starting = trio.Lock()
        self._process: trio.Process | None = None
        self._requests: trio.socket.SocketType | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._stop()

    async def run(self, program: Program, directory: Path, stdin: bytes, said: Callable[[str], object]) -> Ran:
        """Runs a program in a directory of its own until it ends. `said` is told the lines of its stderr, bounded.

        Raises LauncherError.
        """
        what: dict[str, object] = {"python": program.python} if program.python else {"command": program.command}
        limits = {"memory_bytes": program.memory_bytes, "file_bytes": program.file_bytes}
        message = json.dumps(
            {
                **what,
                "directory": str(directory),
                "modules": self._modules,
                "limits": {**limits, "processes": program.processes},
            }
        ).encode()
        if len(message) > MESSAGE_BYTES:
            raise LauncherError("The command is too long.")
        for _ in range(2):
            with ExitStack() as opened:
                channels = _Channels.open(opened)
                with channels.theirs:
                    requests = await self._send(message, channels.files)
                try:
                    return await _Job(channels, program.output_bytes, said).run(stdin)
                except _NotTaken:
                    log.warning("launcher_gone")
                    await self._replace(requests)
        raise LauncherError("The process that starts programs ends at once.")

    async def _send(self, message: bytes, files: Sequence[int]) -> trio.socket.SocketType:
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", files))]
        async with self._starting:
            requests = self._requests or await self._start()
        with suppress(OSError):  # a launcher that is gone does not take it, and that is seen where it should answer
            await requests.sendmsg([message], rights)
        return requests

    async def _replace(self, requests: trio.socket.SocketType) -> None:
        async with self._starting:
            if self._requests is requests:
                await self._stop()

    async def _start(self) -> trio.socket.SocketType:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                self._process = await trio.lowlevel.open_process(
                    # -I: nothing of the environment or of the directory decides what Python imports.
                    [sys.executable, "-I", "-X", "utf8", script.__file__],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env=self._environ,
                    cwd="/",
                    start_new_session=True,  # what a terminal tells the daemon is not meant for it
                )
            except OSError as error:
                ours.close()
                raise LauncherError(f"The process that starts programs cannot be started: {error.strerror}") from error
        self._requests = trio.socket.from_stdlib_socket(ours)
        return self._requests

    async def _stop(self) -> None:
        requests, process = self._requests, self._process
        self._requests = self._process = None
        if requests is not None:
            requests.close()
        if process is not None:
            with trio.CancelScope(shield=True):
                with trio.move_on_after(KILL_WAIT):
                    await process.wait()
                if process.returncode is None:
                    process.kill()
                    await process.wait()


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What a program finds in its environment, beside HOME and TMPDIR, which are the directory of its job."""
    return {"PATH": environ.get("PATH", os.defpath), "LANG": environ.get("LANG", "C.UTF-8")}


@dataclass(frozen=True, slots=True)
class _Channels:
    """Our side of what a job is spoken to through, and in `theirs` the other side; closed by whoever opened them."""

    control: socket.socket
    stdin: FileIO
    stdout: FileIO
    stderr: FileIO
    files: tuple[int, ...]
    theirs: ExitStack

    @classmethod
    def open(cls, opened: ExitStack) -> Self:
        """Raises LauncherError when this process may have no more files."""
        theirs = opened.enter_context(ExitStack())

        def pipe() -> tuple[FileIO, FileIO]:
            read, write = os.pipe2(os.O_CLOEXEC)
            return FileIO(read, "r"), FileIO(write, "w")

        try:
            sockets = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            control, their_control = opened.enter_context(sockets[0]), theirs.enter_context(sockets[1])
            ends: list[tuple[FileIO, FileIO]] = []
            for _ in ("stdin", "stdout", "stderr"):
                read, write = pipe()
                ours, other = (write, read) if not ends else (read, write)
                ends.append((opened.enter_context(ours), theirs.enter_context(other)))
        except OSError as error:
            raise LauncherError(f"No job can be begun: {error.strerror}.") from error
        control.setblocking(False)
        for channel, _ in ends:
            os.set_blocking(channel.fileno(), False)
        files = (their_control.fileno(), *(other.fileno() for _, other in ends))
        return cls(control, ends[0][0], ends[1][0], ends[2][0], files, theirs)


class _Job:
    """One program that runs, from our side of its channels."""

    def __init__(self, channels: _Channels, output_bytes: int, said: Callable[[str], object]) -> None:
        self._channels = channels
        self._hear = said
        self._most = output_bytes
        self._output = bytearray()
        self._why: str | None = None
        self._said: dict[str, object] | None = None
        self._taken = False
        self._over = False

    async def run(self, stdin: bytes) -> Ran:
        """Waits for the end. Raises LauncherError, and _NotTaken when nothing was begun."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._feed, stdin)
                nursery.start_soon(self._listen)
                nursery.start_soon(self._read_output)
                await self._heed()
                # A process that got hold of stdout and is not below the job's supervisor may keep it open for ever.
                nursery.cancel_scope.deadline = trio.current_time() + _SETTLE
        finally:
            await self._end()
        if not self._taken:
            raise _NotTaken
        said = self._said or {"failed": "The process that watched over the job was killed."}
        if "failed" in said:
            raise LauncherError(str(said["failed"]))
        status = said.get("status")
        if self._why is None and isinstance(status, int):
            return Ran(status, bytes(self._output))
        return Ran(None, b"", self._why or str(said["ended"]))

    async def _heed(self) -> None:
        """Waits for what the supervisor says in the end; one that was killed says nothing."""
        while (data := await self._heard()) == TAKEN:
            self._taken = True
        self._said = json.loads(data) if data else None
        self._over = True

    async def _heard(self) -> bytes:
        control = self._channels.control
        while True:
            try:
                return control.recv(4096)
            except BlockingIOError:
                await trio.lowlevel.wait_readable(control)
            except OSError:
                return b""

    async def _end(self) -> None:
        """Has the supervisor end the job, and waits until it has."""
        if self._over:
            return
        self._tell()
        with trio.CancelScope(shield=True), trio.move_on_after(GRACE + KILL_WAIT):
            await self._heed()
        if not self._over:
            log.error("processes_not_ended", remedy="look for processes that wait for a disk or a network file system")

    def _tell(self) -> None:
        with suppress(OSError):  # it is gone, and its job with it
            self._channels.control.shutdown(socket.SHUT_WR)

    async def _feed(self, data: bytes) -> None:
        left = memoryview(data)
        with self._channels.stdin as stdin:
            while left:
                try:
                    left = left[os.write(stdin.fileno(), left) :]
                except BlockingIOError:
                    await trio.lowlevel.wait_writable(stdin)
                except OSError:
                    return  # a program need not read what it is given

    async def _read_output(self) -> None:
        async for data in _chunks(self._channels.stdout):
            if len(self._output) <= self._most:
                self._output += data
            if len(self._output) > self._most and self._why is None:
                self._why = "output"
                self._tell()

    async def _listen(self) -> None:
        """Hears what the program says of itself, up to a bound; the rest is read and dropped, or it would wait."""
        left, line = STDERR_BYTES, b""
        async for data in _chunks(self._channels.stderr):
            *lines, line = (line + data[:left]).split(b"\n")
            left -= min(left, len(data))
            if len(line) > LINE_BYTES:
                lines.append(line)
                line = b""
            for one in lines:
                self._say(one)
        self._say(line)

    def _say(self, line: bytes) -> None:
        if line.strip():
            self._hear(line[:LINE_BYTES].decode(errors="replace"))


async def _chunks(file: FileIO) -> AsyncIterator[bytes]:
    while True:
        try:
            data = os.read(file.fileno(), _CHUNK)
        except BlockingIOError:
            await trio.lowlevel.wait_readable(file)
            continue
        if not data:
            return
        yield data
