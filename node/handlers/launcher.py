"""The one process that starts the programs behind offerings: run as a script, and made of the standard library alone.

    the daemon  --- one message a job, with four open files --->  the launcher
                                                                    |  fork
                                                                  a supervisor for each job, adopting every orphan of it
                                                                    |  fork, limits, exec
                                                                  the program

A daemon with threads cannot safely set limits between fork and exec; this process has one thread, and can. It is small,
so that a fork is quick, and it was started clean, so that a program inherits nothing of the daemon.

The invariant: when a supervisor says that a job is over, every process which that job began is dead, also one that made
a session of its own: Linux gives an orphan to the nearest ancestor that asked to adopt (a child subreaper), and that is
the supervisor. A supervisor ends its job when it is told to, when the program has ended, when there are too many
processes, and when the daemon is gone: then nobody holds the other end of its socket any more. Should a supervisor be
killed or stopped, which its job can do, the launcher adopts what it leaves, and kills it.

The message: JSON, `{"command": [program, ...] | "python": "module:callable", "directory", "modules", "limits":
{"memory_bytes", "file_bytes", "processes"}}`, and the files control, stdin, stdout and stderr. On the control socket a
supervisor says `taken` when it begins, and in the end how the job ended: `{"status": n}`, the program's exit code,
negative for a signal; `{"ended": "told" | "processes"}`; or `{"failed": reason}` where the program could not be begun.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

GRACE = 2.0  # seconds between asking a job's processes to end and ending them
OPEN_FILES = 1024
EXIT_DECLINED = 77
RESULT = 3  # the file that the result of a Python handler is written to
TAKEN = b"taken"
MESSAGE_BYTES = 128 * 1024
_LOOK = 0.02  # seconds between two looks at how many processes there are; a fork takes one in a hundred of them
_SLACK = 256  # processes that others of the same user may begin while a job runs, before the kernel stops the job's
_PR_SET_CHILD_SUBREAPER = 36
_KEPT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # meant for the daemon, which tells us when it stops


def main() -> int:
    """Starts jobs until the daemon, at the other end of stdin, is gone."""
    gc.freeze()  # what is here from the start is not looked at, and so not copied, in every fork
    requests = socket.socket(fileno=os.dup(0))
    # A copy that a supervisor inherits as its stdin would keep the socket open after this process.
    with open(os.devnull) as nothing:  # noqa: PTH123  # a script that starts quickly imports no pathlib
        os.dup2(nothing.fileno(), 0)
    for number in _KEPT:
        signal.signal(number, signal.SIG_IGN)
    woken = _adopt()
    supervisors: set[int] = set()
    while True:
        ready, _, _ = select.select([requests.fileno(), woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            _part_with(supervisors)
        if requests.fileno() in ready:
            data, files, _, _ = socket.recv_fds(requests, MESSAGE_BYTES, 4)
            if not data:
                return 0
            for file in files:
                os.set_inheritable(file, False)  # a program that held its control socket could speak for its supervisor
            pid = os.fork()
            if pid == 0:
                requests.close()
                _only_child(partial(_supervise, json.loads(data), *files))
            supervisors.add(pid)
            for file in files:
                os.close(file)


def _adopt() -> int:
    """Makes this process the one that adopts the orphans below it; returns a file that is readable when one ends."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "This system does not let a process adopt orphans.")
    woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return woken


def _part_with(supervisors: set[int]) -> None:
    """Collects the supervisors that are done. What one that was killed left behind is killed."""
    with suppress(ChildProcessError):
        # One that is stopped watches over nothing, and would be there for ever.
        while stopped := os.waitid(os.P_ALL, 0, os.WSTOPPED | os.WNOHANG):
            _signal(stopped.si_pid, signal.SIGKILL)
    ended, _ = _ended()
    if any(pid not in supervisors or status != 0 for pid, status in ended.items()):
        supervisors.difference_update(ended)
        _kill_tree(supervisors)
    supervisors.difference_update(ended)


def _only_child(act: Callable[[], int]) -> NoReturn:
    """Runs a forked child to its end, without a way back into the code of its parent."""
    code = 1
    try:
        code = act()
    finally:
        os._exit(code)


# A supervisor: one job.


def _supervise(request: dict[str, Any], control_file: int, *files: int) -> int:
    control = socket.socket(fileno=control_file)
    control.send(TAKEN)
    woken = _adopt()
    try:
        program = _begin(request, files)
    except (OSError, ValueError) as error:
        control.send(json.dumps({"failed": f"{error}."}).encode())
        return 0
    for file in files:
        os.close(file)
    with suppress(OSError):
        # The kernel does not bound how many processes root has; but root may go before them all, to look in time.
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    said = _watch(program, control, woken, request["limits"]["processes"])
    if said.get("ended") == "told":
        _ask_to_end(woken)
    _kill_tree(set())
    with suppress(OSError):  # the daemon is gone, and nobody asks any more
        control.send(json.dumps(said).encode())
    return 0


def _watch(program: int, control: socket.socket, woken: int, processes: int) -> dict[str, Any]:
    """Waits until there is a reason for the job to be over, and says which."""
    begun = _tasks()
    while True:
        ready, _, _ = select.select([control.fileno(), woken], [], [], _LOOK)
        if woken in ready:
            os.read(woken, 4096)
        ended, _ = _ended()
        if program in ended:
            return {"status": os.waitstatus_to_exitcode(ended[program])}
        if control.fileno() in ready:
            return {"ended": "told"}
        # The kernel's own count says at no cost that nothing much was begun; without it, one has to look.
        now = _tasks()
        if (begun is None or now is None or now - begun >= processes) and len(_below(set())) > processes:
            return {"ended": "processes"}


def _ask_to_end(woken: int) -> None:
    """Tells every process of the job to end, and waits for a moment."""
    until = time.monotonic() + GRACE
    for pid in _below(set()):
        _signal(pid, signal.SIGTERM)
    while _ended()[1] and (left := until - time.monotonic()) > 0:
        if select.select([woken], [], [], left)[0]:
            os.read(woken, 4096)


def _kill_tree(spared: set[int]) -> None:
    """Kills everything below this process but what is `spared`, and returns when nothing is left.

    All of them are stopped first, until a look finds no new one: what is stopped begins nothing, keeps its number, and
    leaves no room for another to take its place. One of the spared that ends is spared no more.
    """
    while True:
        ended, more = _ended()
        spared.difference_update(ended)
        if not more or not (found := _below(spared)):
            return
        stopped: set[int] = set()
        while fresh := found - stopped:
            for pid in fresh:
                _signal(pid, signal.SIGSTOP)
            stopped |= fresh
            found = _below(spared)
        for pid in found:
            _signal(pid, signal.SIGKILL)
        for pid in stopped - found:
            _signal(pid, signal.SIGCONT)  # its number was given to somebody else between the look and the signal
        time.sleep(0.001)


def _ended() -> tuple[dict[int, int], bool]:
    """Collects the children that have ended: their statuses by number, and whether there are more children."""
    found: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found, False
        if pid == 0:
            return found, True
        found[pid] = status


def _below(spared: set[int]) -> set[int]:
    """The processes below this one, but for `spared` and what is below those."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208  # as above
        if name.isdecimal():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123  # as above
                parent = int(file.read().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(name))
    found: set[int] = set()
    parents = [os.getpid()]
    while parents:
        for pid in children.pop(parents.pop(), ()):
            if pid not in spared:
                parents.append(pid)
                found.add(pid)
    return found


def _tasks() -> int | None:
    """How many tasks the machine has, which are no fewer than this user's; None where it does not say."""
    try:
        with open("/proc/loadavg", "rb") as file:  # noqa: PTH123  # as above
            return int(file.read().split()[3].partition(b"/")[2])
    except (OSError, ValueError, IndexError):
        return None


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


# The program.


def _begin(request: dict[str, Any], files: tuple[int, ...]) -> int:
    """Begins the program, which inherits its directory and its limits from here; returns its number.

    Raises OSError and ValueError where it cannot be begun.
    """
    os.setsid()
    os.chdir(request["directory"])
    for kind, most in _limits(request["limits"]).items():
        hard = resource.getrlimit(kind)[1]
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (allowed, allowed))
    os.environ["HOME"] = os.environ["TMPDIR"] = request["directory"]
    if "python" not in request:
        command = request["command"]
        return os.posix_spawnp(
            command[0],
            command,
            os.environ,
            # What came over the socket stands above 2, because 0 to 2 are open from the start.
            file_actions=[(os.POSIX_SPAWN_DUP2, file, target) for target, file in enumerate(files)],
            setpgroup=0,
            setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
        )
    pid = os.fork()
    if pid == 0:
        _only_child(partial(_call, request["python"], request["modules"], files))
    return pid


def _limits(limits: dict[str, int]) -> dict[int, int]:
    wanted = {
        # What is private and may be written: an address space that is only reserved, as runtimes do it, costs nothing.
        resource.RLIMIT_DATA: limits["memory_bytes"],
        resource.RLIMIT_FSIZE: limits["file_bytes"],
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_CORE: 0,
    }
    tasks = _tasks()
    if tasks is not None:
        # The kernel counts a user's processes, not a job's; it keeps them from becoming very many between two looks.
        wanted[resource.RLIMIT_NPROC] = tasks + limits["processes"] + _SLACK
    return wanted


def _call(target: str, modules: list[str], files: tuple[int, ...]) -> int:
    """Calls a function with the job; its result goes where the daemon reads it, and what it prints goes to the log."""
    os.setpgid(0, 0)
    signal.set_wakeup_fd(-1)
    for number in (*_KEPT, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    stdin, stdout, stderr = files
    os.dup2(stdin, 0)
    os.dup2(stderr, 1)
    os.dup2(stderr, 2)
    os.dup2(stdout, RESULT, inheritable=False)
    os.closerange(RESULT + 1, OPEN_FILES)
    sys.path[:0] = modules[:1]
    sys.path += modules[1:]
    from importlib import import_module  # noqa: PLC0415  # a command does not need it

    try:
        module, _, name = target.partition(":")
        function: Any = import_module(module)
        for part in name.split("."):
            function = getattr(function, part)
        value = function(json.load(sys.stdin.buffer))
        if hasattr(value, "__await__"):
            value = _awaited(value)
        code, text = 0, json.dumps(value, allow_nan=False)
    except Exception as error:  # the operator's code may raise anything; he finds it in the log
        if type(error).__qualname__ == "Declined" and type(error).__module__ == "node.handlers":
            code, text = EXIT_DECLINED, json.dumps({"declined": str(error)})
        else:
            import traceback  # noqa: PLC0415  # only where something failed

            traceback.print_exc()
            code, text = 1, ""
    with open(RESULT, "wb") as result:
        result.write(text.encode("ascii"))
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    return code


def _awaited(value: Any) -> Any:
    import trio  # noqa: PLC0415  # only a function that is async needs it

    async def wait() -> Any:
        return await value

    return trio.run(wait)


if __name__ == "__main__":
    sys.exit(main())
