"""What a program may do, and what comes of it: an ending, and a node that is as it was before."""

from __future__ import annotations

import os
import secrets
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog.testing
import trio

from descriptor.keys import Identity
from descriptor.view import Offering
from entryway.codec import Codec, decode, encode_reply
from entryway.reply import ReplyPayload, sign_reply
from entryway.work import Completed, Declined, Ending, Failed, Order, payload_of
from node.handlers.behind import Behind
from node.handlers.results import FAILED
from node.handlers.settings import Handler
from node.home import Home
from tests.node.handlers.parts import (
    CALLER,
    WAIT,
    as_before,
    children,
    files,
    handler,
    module,
    offering,
    order,
    processes,
    python,
)

TASK = "11111111-2222-4333-8444-555555555555"
FOCUSED: dict[str, Any] = {"scope": "open-with-focus", "focus": "documents"}
ANY = offering(outputs=None)


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    with as_before():
        yield


async def done(
    home: Home, by: Handler, asked: Order | None = None, declared: Offering = ANY, seconds: float = WAIT
) -> tuple[Ending, list[dict[str, Any]]]:
    """How an order ends, and what the log says of it. What it leaves in the home is looked at here."""
    with structlog.testing.capture_logs() as lines, trio.fail_after(WAIT):
        async with Behind(home, os.environ) as behind:
            ending = await behind.do(by, declared, asked or order(), TASK, seconds)
    assert not home.jobs.exists() or list(home.jobs.iterdir()) == []
    return ending, list(map(dict, lines))


async def output(home: Home, code: str, **limits: Any) -> Any:
    """The output of a Python program, run as a command."""
    ending, lines = await done(home, handler(command=python(code), **limits))
    assert isinstance(ending, Completed), lines
    return ending.output


async def failure(home: Home, code: str | None = None, declared: Offering = ANY, **members: Any) -> str:
    """Why a program failed, as the log has it. The caller is told the same sentence, whatever it was."""
    by = handler(**members) if code is None else handler(command=python(code), **members)
    ending, lines = await done(home, by, declared=declared)
    assert isinstance(ending, Failed)
    assert (ending.code, ending.decided_by) == (FAILED, "rule")
    assert ending.message == "The work was begun and came to nothing. Its operator finds the reason in a log."
    (line,) = [line for line in lines if line["event"] == "handler_failed"]
    assert (line["task_id"], line["offering"]) == (TASK, "count-words")
    return str(line["reason"])


# What it is given.


async def test_a_command_gets_the_job_on_stdin_and_answers_on_stdout(home: Home) -> None:
    assert await output(home, "print('[1, {\"a\": null}]')") == [1, {"a": None}]
    told = await output(home, "import sys; sys.stdout.write(sys.stdin.read())")
    assert told == {
        "offering": "count-words",
        "input": {"words": "one two"},
        "fenced": told["fenced"],
        "authority": None,
        "task_id": TASK,
        "caller": CALLER,
        "limits": {"seconds": WAIT},
    }
    assert "\none two\n" in told["fenced"]["words"]


async def test_a_command_may_leave_what_it_is_given(home: Home) -> None:
    by = handler(command=python("print(7)"))
    ending, _ = await done(home, by, order("x" * 5_000_000))
    assert ending == Completed(7)


async def test_a_python_function_is_called_with_the_job(home: Home) -> None:
    module(home, "def count(job):\n    print('seen')\n    return {'answer': str(len(job['input']['words'].split()))}")
    ending, lines = await done(home, handler(python="words:count"), declared=offering())
    assert ending == Completed({"answer": "2"})
    assert [line["line"] for line in lines if line["event"] == "handler_says"] == ["seen"]


async def test_a_python_function_may_be_async(home: Home) -> None:
    module(home, "import trio\nasync def count(job):\n    await trio.sleep(0)\n    return 7")
    assert (await done(home, handler(python="words:count")))[0] == Completed(7)


async def test_a_python_function_starts_clean_every_time(home: Home) -> None:
    module(home, "calls = []\nclass Deep:\n    def call(job):\n        calls.append(1)\n        return len(calls)")
    async with Behind(home, os.environ) as behind:
        for _ in range(3):
            assert await behind.do(handler(python="words:Deep.call"), ANY, order(), TASK, WAIT) == Completed(1)


async def test_the_environment_holds_nothing_of_ours(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AGENT_NODE_PASSPHRASE", "PYTHONPATH", "LD_PRELOAD", "HTTP_PROXY", "NOTIFY_SOCKET"):
        monkeypatch.setenv(name, "/secret")
    found = await output(home, "import json, os; print(json.dumps([dict(os.environ), os.getcwd()]))")
    variables, directory = found
    variables.pop("LC_CTYPE", None)  # which Python states for itself where the locale is C
    assert set(variables) == {"PATH", "LANG", "HOME", "TMPDIR"}
    assert variables["HOME"] == variables["TMPDIR"] == directory == str(home.jobs / TASK)


LOOK = """
import json, os
def look(job=None):
    found = {}
    for number in range(1024):
        try:
            found[str(number)] = os.readlink(f"/proc/self/fd/{number}").partition(":")[0]
        except OSError:
            pass
    return found
"""


async def test_no_file_of_ours_is_open_in_a_program(home: Home) -> None:
    with (home.path / "secret").open("w"):
        assert await output(home, LOOK + "print(json.dumps(look()))") == dict.fromkeys("012", "pipe")
        module(home, LOOK)
        # The fourth takes the result of a function.
        assert (await done(home, handler(python="words:look")))[0] == Completed(dict.fromkeys("0123", "pipe"))


async def test_a_program_is_in_a_session_of_its_own(home: Home) -> None:
    session, group, pid = await output(home, "import os; print([os.getsid(0), os.getpgid(0), os.getpid()])")
    assert session not in (os.getsid(0), pid)
    assert group == pid


async def test_signals_are_as_a_program_expects_them(home: Home) -> None:
    code = (
        "import signal; print([int(signal.getsignal(n) == signal.SIG_DFL) for n in "
        "(signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)] + [len(signal.pthread_sigmask(signal.SIG_BLOCK, []))])"
    )
    assert await output(home, code) == [1, 1, 1, 0]
    # Seen from outside, because Python ignores some for itself. 32 and 33 are the C library's own.
    by = handler(command=["grep", "-c", "^SigIgn:.*0000000[01][08]0000000$", "/proc/self/status"])
    assert (await done(home, by))[0] == Completed(1)


async def test_a_program_with_a_slash_is_found_from_the_home(home: Home) -> None:
    home.handlers.mkdir()
    program = home.handlers / "count"
    program.write_text(f"#!{sys.executable}\nprint(7)\n")
    program.chmod(0o700)
    assert (await done(home, handler(command=["./handlers/count"])))[0] == Completed(7)


async def test_no_shell_reads_an_argument(home: Home) -> None:
    by = handler(
        command=[*python("import json, sys; print(json.dumps(sys.argv[1:]))"), "$HOME", "`id`", "; id", "*", ""]
    )
    assert (await done(home, by))[0] == Completed(["$HOME", "`id`", "; id", "*", ""])


# How it fails.


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise SystemExit(3)", "exit code 3"),
        ("import os; os.kill(os.getpid(), 11)", "signal 11"),
        ("import os; os.kill(os.getpid(), 9)", "signal 9"),
        ("pass", "not one JSON value"),
        ("print('{')", "not one JSON value"),
        ("print('1 2')", "not one JSON value"),
        ("print('NaN')", "not one JSON value"),
        ("import sys; sys.stdout.buffer.write(b'\"\\xff\"')", "not one JSON value"),
        ('print(\'{"a": 1, "a": 2}\')', "not one JSON value"),
        ("print('[' * 62 + ']' * 62)", "not one JSON value"),
        ("print('[' * 200000)", "not one JSON value"),
        ("print('9' * 100000)", "not one JSON value"),
        ("import os; os.close(1); raise SystemExit(0)", "not one JSON value"),
        ("import sys; sys.stdout.write('x' * 2_000_000)", "output_bytes"),
        ("while True: print('x' * 1000)", "output_bytes"),
        ('print(\'{"declined": "no"}\'); raise SystemExit(77)', "this offering is none"),
    ],
)
async def test_a_program_that_fails(home: Home, code: str, reason: str) -> None:
    assert reason in await failure(home, code)


async def test_a_program_that_is_not_there(home: Home) -> None:
    assert "No such file" in await failure(home, command=["/nowhere/at/all"])
    # Where the search path holds a directory that may not be entered, the system says that instead.
    said = await failure(home, command=["surely-no-program-has-this-name"])
    assert "No such file" in said or "Permission denied" in said
    (home.path / "text").write_text("#!/nowhere/at/all\n")
    assert "Permission denied" in await failure(home, command=["./text"])


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def count(job):\n    raise ValueError('what went wrong')", "ValueError: what went wrong"),
        ("def other(job):\n    pass", "has no attribute 'count'"),
        ("def count(job):\n    return {1, 2}", "not JSON serializable"),
        ("def count(job):\n    return float('nan')", "not JSON compliant"),
        ("import surely_no_module_has_this_name", "No module named"),
        ("def count(:", "SyntaxError"),
        ("def count(job):\n    return count(job)", "RecursionError"),
    ],
)
async def test_a_python_function_that_fails_says_why_in_the_log(home: Home, code: str, said: str) -> None:
    module(home, code)
    ending, lines = await done(home, handler(python="words:count"))
    assert isinstance(ending, Failed)
    assert any(said in str(line.get("line")) for line in lines)
    assert any(line.get("reason") == "It ended with exit code 1." for line in lines)


async def test_a_python_function_that_crashes_takes_nothing_with_it(home: Home) -> None:
    module(home, "import ctypes\ndef count(job):\n    ctypes.string_at(0)\ndef exits(job):\n    import os; os._exit(0)")
    assert "signal 11" in await failure(home, python="words:count")
    assert "not one JSON value" in await failure(home, python="words:exits")


async def test_what_a_program_says_is_in_the_log_up_to_a_bound(home: Home) -> None:
    code = (
        "import sys\nfor n in range(20000): print('line', n, file=sys.stderr)\nsys.stderr.write('é' * 9000)\nprint(1)"
    )
    ending, lines = await done(home, handler(command=python(code)))
    said = [line["line"] for line in lines if line["event"] == "handler_says"]
    assert ending == Completed(1)
    assert said[0] == "line 0"
    assert 64_000 < sum(len(line) + 1 for line in said) <= 66_000
    assert all(len(line) <= 1000 for line in said)


async def test_what_was_asked_is_never_in_the_log(home: Home) -> None:
    _, lines = await done(home, handler(command=python("raise SystemExit(1)")), order("a word that is secret"))
    assert lines
    assert "secret" not in str(lines)


# Outputs, and declining.


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ('"text"', "not an object of the declared outputs: answer"),
        ("{}", "lacks 'answer'"),
        ('{"answer": 7}', "has to be a text"),
        ('{"answer": "7", "more": 1}', "'more', which the Descriptor does not declare"),
    ],
)
async def test_an_output_is_what_the_offering_declares(home: Home, answer: str, reason: str) -> None:
    assert reason in await failure(home, f"print({answer!r})", declared=offering())


@pytest.mark.parametrize("codec", Codec)
async def test_an_output_that_is_taken_can_be_read_where_it_is_sent(home: Home, codec: Codec) -> None:
    deepest = Completed(await output(home, "print('[' * 61 + ']' * 61)"))
    payload = ReplyPayload.of(payload_of(order(), TASK, deepest))
    sent, _ = encode_reply(sign_reply(Identity.generate(), payload, TASK, None, 0.0), codec)
    reply: Any = decode(sent, codec)
    assert reply["envelope"]["payload"]["output"] == deepest.output


async def test_a_standing_output_may_be_left_out_and_json_may_be_anything(home: Home) -> None:
    declared = offering(
        outputs=[
            {"name": "list", "kind": "text/csv", "when": "standing"},
            {"name": "data", "kind": "application/geo+json", "when": "per_task"},
        ]
    )
    ending, _ = await done(home, handler(command=python("print('{\"data\": [1]}')")), declared=declared)
    assert ending == Completed({"data": [1]})


async def test_an_open_with_focus_offering_may_decline(home: Home) -> None:
    said = python('print(\'{"declined": "That is no document."}\'); raise SystemExit(77)')
    ending, _ = await done(home, handler(command=said), declared=offering(**FOCUSED))
    assert ending == Declined("That is no document.")
    module(home, "from node.handlers import Declined\ndef count(job):\n    raise Declined('That is no document.')")
    ending, _ = await done(home, handler(python="words:count"), declared=offering(**FOCUSED))
    assert ending == Declined("That is no document.")


@pytest.mark.parametrize("said", ['"no"', '{"declined": ""}', '{"declined": 1}', '{"declined": "no", "and": 1}', ""])
async def test_a_program_that_declines_says_so_and_nothing_else(home: Home, said: str) -> None:
    reason = await failure(home, f"print({said!r}); raise SystemExit(77)", declared=offering(**FOCUSED))
    assert "declin" in reason or "not one JSON value" in reason


async def test_an_output_that_looks_like_declining_is_an_output(home: Home) -> None:
    assert await output(home, 'print(\'{"declined": "no"}\')') == {"declined": "no"}


# Limits.


async def test_a_program_has_the_memory_that_it_may_have(home: Home) -> None:
    code = "print(len(bytearray(100 << 20)))"
    assert await output(home, code, memory_mb=256) == 100 << 20
    assert "exit code 1" in await failure(home, code, memory_mb=64)
    module(home, "def count(job):\n    return len(bytearray(100 << 20))")
    assert "exit code 1" in await failure(home, python="words:count", memory_mb=64)


async def test_a_file_does_not_grow_beyond_its_bound(home: Home) -> None:
    code = "f = open('f', 'wb', 0); n = sum(f.write(bytes(1 << 20)) for _ in range(3)); print(n)"
    assert await output(home, code, file_mb=3) == 3 << 20
    assert "exit code" in await failure(home, code, file_mb=2)


async def test_limits_cannot_be_raised_again(home: Home) -> None:
    code = "from resource import *; print([list(getrlimit(one)) for one in (RLIMIT_DATA, RLIMIT_FSIZE, RLIMIT_CORE)])"
    memory, file, core = await output(home, code, memory_mb=64, file_mb=5)
    assert (memory, file, core) == ([64 << 20] * 2, [5 << 20] * 2, [0, 0])


FORK_BOMB = """
import os, time
end = time.monotonic() + 20
for _ in range(7):  # should nobody end it, 128 processes sleep until it is over; the kernel lets a user have as many
    os.fork()
time.sleep(end - time.monotonic())
"""


async def test_a_fork_bomb_is_ended(home: Home) -> None:
    assert "over 16 processes" in await failure(home, FORK_BOMB, processes=16)


async def test_processes_that_follow_one_another_are_ended(home: Home) -> None:
    mark = secrets.token_hex()
    code = f"""
mark = {mark!r}
import os, time
end = time.monotonic() + 5
print(1, flush=True)
while time.monotonic() < end:
    if os.fork():
        os._exit(0)
"""
    ending, _ = await done(home, handler(command=python(code)))
    assert ending == Completed(1)
    assert processes(mark) == []


# An end to it.

ESCAPED = """
import os, signal, time
mark = {mark!r}
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        for file in range(3):
            os.close(file)
        open('ready', 'w').close()
        time.sleep(60)
    os._exit(0)
while not os.path.exists('ready'):
    time.sleep(0.01)
"""


async def test_a_child_that_has_escaped_dies_with_its_job(home: Home) -> None:
    mark = secrets.token_hex()
    assert await output(home, ESCAPED.format(mark=mark) + "print(1)") == 1
    assert processes(mark) == []


async def test_a_child_that_keeps_stdout_open_does_not_keep_the_job(home: Home) -> None:
    mark = secrets.token_hex()
    code = f"import os, time\nmark = {mark!r}\nprint(1, flush=True)\nif os.fork() == 0: os.setsid(); time.sleep(60)"
    began = time.monotonic()
    assert await output(home, code) == 1
    assert time.monotonic() - began < WAIT / 2
    assert processes(mark) == []


@pytest.mark.parametrize("after", ["", "import time; time.sleep(60)", "while True: pass"])
async def test_a_job_that_is_canceled_leaves_nothing(home: Home, after: str) -> None:
    mark = secrets.token_hex()
    by = handler(command=python(ESCAPED.format(mark=mark) + after))
    with trio.fail_after(WAIT):
        async with Behind(home, os.environ) as behind:
            with trio.move_on_after(0.5):
                await behind.do(by, ANY, order(), TASK, WAIT)
    assert processes(mark) == []
    assert list(home.jobs.iterdir()) == []


async def test_a_program_is_asked_to_end_before_it_is_ended(home: Home) -> None:
    note = home.path / "note"
    code = f"""
import os, signal, time
def end(*_):
    open({str(note)!r}, 'w').write('asked')
    os._exit(0)
signal.signal(signal.SIGTERM, end)
open({str(home.path / "ready")!r}, 'w').close()
time.sleep(60)
"""
    async with Behind(home, os.environ) as behind, trio.open_nursery() as nursery:
        nursery.start_soon(behind.do, handler(command=python(code)), ANY, order(), TASK, WAIT)
        with trio.fail_after(WAIT):
            while not (home.path / "ready").exists():
                await trio.sleep(0.01)
        nursery.cancel_scope.cancel()
    assert note.read_text() == "asked"


async def test_what_a_job_leaves_in_its_directory_goes_with_it(home: Home) -> None:
    outside = home.path / "outside"
    outside.write_text("stays")
    code = f"""
import os
os.makedirs('a/b/c')
open('a/b/c/f', 'w').close()
os.symlink({str(outside)!r}, 'a/link')
os.symlink('/', 'a/root')
os.mkfifo('a/fifo')
os.chmod('a/b/c', 0)
os.chmod('a/b', 0o500)
os.chmod('a', 0o500)
os.chmod('.', 0)
print(1)
"""
    assert await output(home, code) == 1
    assert list(home.jobs.iterdir()) == []
    assert outside.read_text() == "stays"


async def test_jobs_run_beside_one_another(home: Home) -> None:
    code = "import sys, json, time; job = json.load(sys.stdin); time.sleep(0.3); print(json.dumps(job['task_id']))"
    found = {}
    async with Behind(home, os.environ) as behind, trio.open_nursery() as nursery:

        async def one(number: int) -> None:
            found[number] = await behind.do(handler(command=python(code)), ANY, order(), f"{number}", WAIT)

        for number in range(8):
            nursery.start_soon(one, number)
    assert found == {number: Completed(str(number)) for number in range(8)}


# The processes that watch.


async def test_a_launcher_that_was_killed_is_started_again(home: Home) -> None:
    others = {pid for pid, _ in children()}
    async with Behind(home, os.environ) as behind:
        by = handler(command=python("print(7)"))
        assert await behind.do(by, ANY, order(), TASK, WAIT) == Completed(7)
        for round_ in range(3):
            with trio.fail_after(WAIT):
                # The supervisor of the job before says how it ended a moment before it is gone.
                while len(below := {pid for pid, _ in children()} - others) != 1:
                    await trio.sleep(0.01)
            os.kill(below.pop(), signal.SIGKILL)
            with trio.fail_after(WAIT):
                assert await behind.do(by, ANY, order(), f"{round_}", WAIT) == Completed(7)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=lambda number: number.name)
async def test_a_supervisor_that_was_killed_or_stopped_leaves_nothing(home: Home, number: signal.Signals) -> None:
    mark = secrets.token_hex()
    code = ESCAPED.format(mark=mark) + f"os.kill(os.getppid(), {int(number)})\ntime.sleep(60)"
    with structlog.testing.capture_logs() as lines:
        async with Behind(home, os.environ) as behind:
            ending = await behind.do(handler(command=python(code)), ANY, order(), TASK, WAIT)
            with trio.fail_after(WAIT):
                while processes(mark):
                    await trio.sleep(0.01)
            # The launcher goes on.
            assert await behind.do(handler(command=python("print(7)")), ANY, order(), TASK, WAIT) == Completed(7)
    assert isinstance(ending, Failed)
    assert any("watched over the job" in str(line.get("reason")) for line in lines)


async def test_a_launcher_that_does_not_start_is_a_job_that_failed(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/at/all")
    assert "cannot be started" in await failure(home, command=["true"])
    monkeypatch.setattr("sys.executable", "/bin/true")
    assert "ends at once" in await failure(home, command=["true"])


async def test_no_more_files_is_a_job_that_failed(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Behind(home, os.environ) as behind:
        by = handler(command=python("print(7)"))
        assert await behind.do(by, ANY, order(), TASK, WAIT) == Completed(7)
        before, calls = files(), 0
        pipe2 = os.pipe2

        def scarce(flags: int) -> tuple[int, int]:
            nonlocal calls
            calls += 1
            if calls == 3:
                raise OSError(24, "Too many open files")
            return pipe2(flags)

        monkeypatch.setattr("os.pipe2", scarce)
        assert isinstance(await behind.do(by, ANY, order(), TASK, WAIT), Failed)
        assert files() == before
        assert await behind.do(by, ANY, order(), TASK, WAIT) == Completed(7)


async def test_what_a_crash_left_is_removed_at_the_next_start(home: Home) -> None:
    (home.jobs / "old" / "deep").mkdir(parents=True)
    async with Behind(home, os.environ):
        assert not home.jobs.exists()


def test_the_launcher_imports_the_standard_library_alone() -> None:
    from node.handlers import launcher

    text = Path(launcher.__file__).read_text()
    imported = {
        line.split()[1].partition(".")[0] for line in text.splitlines() if line.startswith(("import ", "from "))
    }
    assert imported <= sys.stdlib_module_names
