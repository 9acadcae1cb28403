"""Runs a program until its standard input ends, and then until nothing is left of what the program started.

    python -m tests.browser.keeper PROGRAM [ARGUMENT...]

A browser is some ten processes. A few of them leave their parents and sessions on purpose, and would be left to the
first process of this machine or container, which may never ask after the dead. So this process adopts them: it
asks Linux to give it every descendant whose parent ends, waits for each, and ends those that do not end by themselves.
It notices the end of whoever started it, however that came about, because its input ends then.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

from tests.browser.processes import descendants

QUICKLY = 3.0
"""Seconds that what is left gets to end by itself."""

_PR_SET_CHILD_SUBREAPER = 36


def main(command: list[str]) -> None:
    assert ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    program = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    sys.stdin.buffer.read()
    program.terminate()
    told = time.monotonic()
    with suppress(ChildProcessError):  # which says that nothing is left
        while True:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            if pid == 0 and time.monotonic() > told + QUICKLY:
                for left in descendants(os.getpid()):
                    with suppress(ProcessLookupError):
                        os.kill(left, signal.SIGKILL)
            if pid == 0:
                time.sleep(0.02)


if __name__ == "__main__":
    main(sys.argv[1:])
