"""Processes that run `agent-node`, forked from one that has imported it, and a raw way to ask them.

Forking costs a tenth of a start of Python. What is asked raw can be broken off at any byte.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import node.commands.publish
import node.commands.run  # noqa: F401  # what is forked has imported what it needs
from node.cli import main as agent_node

WAIT = 60.0
"""Seconds after which a round gives up on something that has to come."""


@dataclass
class Child:
    """A forked process that runs `agent-node`, and what it has written to stdout."""

    pid: int
    stdout: int
    written: bytes = b""

    @classmethod
    def of(cls, commands: list[list[str]], log: Path) -> Child:
        """Runs commands one after the other, until one is refused."""
        reading, writing = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid:
            os.close(writing)
            return cls(pid, reading)
        code = 70
        try:
            os.dup2(writing, 1)
            os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 2)
            for arguments in commands:
                code = _exit_code(arguments)
                if code:
                    break
        finally:
            os._exit(code)

    def line(self, until: float) -> str | None:
        """The next whole line of stdout; None when there is none by then, or none will come."""
        while b"\n" not in self.written:
            if not select.select([self.stdout], [], [], max(0.0, until - time.monotonic()))[0]:
                return None
            piece = os.read(self.stdout, 65536)
            if not piece:
                return None
            self.written += piece
        line, _, self.written = self.written.partition(b"\n")
        return line.decode()

    def killed(self) -> bool:
        """Kills it. False when it had ended by itself before."""
        os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        return os.WIFSIGNALED(status)

    def close(self) -> None:
        os.close(self.stdout)


def _exit_code(arguments: list[str]) -> int:
    try:
        agent_node(arguments)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1
    return 0


def port_of(node: Child) -> int:
    line = node.line(time.monotonic() + WAIT)
    assert line is not None, "the node did not become ready; look at its log"
    return int(json.loads(line)["urls"][0].rpartition(":")[2])


def receive(channel: socket.socket, received: bytearray, deadline: float) -> bool:
    """Receives until the answer is whole; False when the deadline or the end of the connection comes first."""
    while whole(received) is None:
        if not select.select([channel], [], [], max(0.0, deadline - time.monotonic()))[0]:
            return False
        try:
            piece = channel.recv(65536)
        except ConnectionError:
            return False
        if not piece:
            return False
        received += piece
    return True


def whole(received: bytearray) -> dict[str, Any] | None:
    """The document of a whole answer, which has to be a yes; None while it is not whole."""
    head, separator, body = bytes(received).partition(b"\r\n\r\n")
    if not separator:
        return None
    size = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    if len(body) < size:
        return None
    assert head.startswith(b"HTTP/1.1 200 "), received
    document: dict[str, Any] = json.loads(body)
    return document
