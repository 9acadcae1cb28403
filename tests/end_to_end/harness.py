"""Real nodes as processes of their own, asked over real sockets.

Every wait has a deadline, every process ends with the block that began it, by its own id, and every home is a short
path, because a Unix socket's address holds 107 bytes.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgpack

from node.home import Home
from tests.node.parts import new_home

ROOT = Path(__file__).parents[2]
WAIT = 30.0
"""Seconds after which a test gives up: many times what a loaded machine needs."""
WELL_KNOWN = "/.well-known/agent-descriptor.json"


@contextmanager
def short_directory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="an") as directory:
        yield Path(directory).resolve()


@contextmanager
def fresh_home(settings: str = 'acts_for = "person"') -> Iterator[Home]:
    """A home with an identity, gone afterwards."""
    with short_directory() as directory:
        yield new_home(directory / "h", settings)


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a command, without this machine's own settings."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("AGENT_NODE_", "NOTIFY_"))}
    return {**own, "PYTHONPATH": str(ROOT), **(extra or {})}


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    exit_code: int
    out: bytes
    err: str

    def document(self) -> dict[str, Any]:
        assert self.out.count(b"\n") == 1, self.err
        document: dict[str, Any] = json.loads(self.out)
        return document


def command(
    *arguments: str | Path,
    home: Home | None = None,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    **how: Any,
) -> Ended:
    """Runs `agent-node`. Whatever happens, it shows no traceback."""
    with begun(*arguments, home=home, env=env, stdin=subprocess.PIPE, **how) as process:
        out, err = process.communicate(stdin, timeout=WAIT)
    ended = Ended(process.returncode, out, err.decode())
    assert "Traceback" not in ended.err, ended.err
    return ended


@contextmanager
def begun(
    *arguments: str | Path,
    home: Home | None = None,
    env: Mapping[str, str] | None = None,
    within: Sequence[str] = (),
    program: str = "node",
    **how: Any,
) -> Iterator[subprocess.Popen[bytes]]:
    """A command that runs while the block does.

    `within`: what stands before it, to run it somewhere else. `program`: the module that is run.
    """
    flags = [] if home is None else ["--home", str(home.path)]
    process = subprocess.Popen(
        [*within, sys.executable, "-m", program, *map(str, arguments), *flags],
        env=environment(env),
        stderr=subprocess.PIPE,
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, **how},
    )
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


@dataclass
class Node:
    """A running node. `log` grows as the node writes it."""

    process: subprocess.Popen[bytes]
    home: Home
    log: list[dict[str, Any]] = field(default_factory=list)
    _grown: threading.Condition = field(default_factory=threading.Condition)
    _over: bool = False

    @property
    def port(self) -> int:
        return int(self.ready["url"].rpartition(":")[2])

    @property
    def url(self) -> str:
        return str(self.ready["url"])

    @property
    def ready(self) -> dict[str, Any]:
        return self.logged("ready")

    def logged(self, event: str, count: int = 1) -> dict[str, Any]:
        """The line of an event, the `count`th of its kind, waited for."""
        until = time.monotonic() + WAIT
        with self._grown:
            while True:
                lines = [line for line in self.log if line.get("event") == event]
                if len(lines) >= count:
                    return lines[count - 1]
                left = until - time.monotonic()
                assert left > 0 and not self._over, f"no {event!r} in the log: {self.log}"
                self._grown.wait(left)

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def stopped(self) -> int:
        """The exit code, waited for."""
        return self.process.wait(WAIT)

    def get(self, path: str = WELL_KNOWN, method: str = "GET", **headers: str) -> Answer:
        with closing_connection(self.port) as connection:
            connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            return Answer.of(connection.getresponse())

    def post(self, path: str, body: bytes, content_type: str) -> Answer:
        with closing_connection(self.port) as connection:
            connection.request("POST", path, body, {"Content-Type": content_type})
            return Answer.of(connection.getresponse())

    def asks(self, method: str, path: str, body: bytes = b"") -> Answer:
        """Asks over the control socket."""
        return asked_control(self.home, method, path, body)

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            try:
                entry = json.loads(line)
            except ValueError:
                entry = {"event": "unstructured", "line": line.decode(errors="replace")}
            with self._grown:
                self.log.append(entry)
                self._grown.notify_all()
        with self._grown:
            self._over = True
            self._grown.notify_all()


@dataclass(frozen=True)
class Answer:
    """A whole answer; `headers` by lower-case name."""

    status: int
    headers: dict[str, str]
    body: bytes

    @classmethod
    def of(cls, response: http.client.HTTPResponse) -> Answer:
        return cls(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def sha256(self) -> str:
        return "sha256:" + hashlib.sha256(self.body).hexdigest()


@contextmanager
def closing_connection(port: int) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
    try:
        yield connection
    finally:
        connection.close()


class ControlConnection(http.client.HTTPConnection):
    """HTTP over the control socket of a home."""

    def __init__(self, home: Home, timeout: float = WAIT) -> None:
        super().__init__("node", timeout=timeout)
        self._path = str(home.socket)

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        try:
            self.sock.connect(self._path)
        except OSError:
            self.close()
            raise


def asked_control(home: Home, method: str, path: str, body: bytes = b"") -> Answer:
    connection = ControlConnection(home)
    try:
        connection.request(method, path, body)
        return Answer.of(connection.getresponse())
    finally:
        connection.close()


@contextmanager
def running(
    home: Home,
    *flags: str,
    env: Mapping[str, str] | None = None,
    ready: bool = True,
    host: str | None = "127.0.0.1",
    mdns: bool = False,
    **how: Any,
) -> Iterator[Node]:
    """A node that runs while the block does, and answers when it begins unless `ready` is False.

    It is on this machine alone (`host`) and says nothing to the network around it (`mdns`), unless a test wants that.
    """
    listening = () if host is None else ("--host", host)
    arguments = ("run", "--port", "0", *listening, "--log-format", "json", *flags)
    env = {"AGENT_NODE_MDNS": "true" if mdns else "false", **(env or {})}
    with begun(*arguments, home=home, env=env, **how) as process:
        node = Node(process, home)
        reader = threading.Thread(target=node._read, daemon=True)
        reader.start()
        try:
            if ready:
                assert node.ready
            yield node
        finally:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(WAIT)
                finally:
                    process.kill()
            reader.join(WAIT)
            faults = [line for line in node.log if "exception" in line or line["event"] == "unstructured"]
    assert not faults, faults


def question(exchange: int = 2, **members: Any) -> dict[str, Any]:
    """An envelope as somebody writes it who has only `docs/wire.md`."""
    now = time.gmtime()
    return {
        "v": "0.3.0",
        "id": str(uuid.uuid4()),
        "type": "request",
        "ts": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", now),
        "payload": {"exchange": exchange},
        **members,
    }


def asked_entryway(node: Node, codec: str) -> tuple[dict[str, Any], bytes, dict[str, Any]]:
    """Exchange 2 in a codec: the reply's envelope, the bytes beside it, and the question."""
    asked = question()
    body = json.dumps(asked).encode() if codec == "json" else msgpack.packb(asked)
    answer = node.post("/entryway", body, f"application/{codec}")
    assert answer.status == 200, answer.body
    assert answer.headers["content-type"] == f"application/{codec}"
    if codec == "json":
        reply = answer.json()
        text = reply["descriptor"]
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    else:
        reply = msgpack.unpackb(answer.body)
        data = reply["descriptor"]
    return dict(reply["envelope"]), data, asked


def readable(channel: socket.socket, wait: float = WAIT) -> bool:
    """Whether something comes within the wait."""
    return bool(select.select([channel], [], [], wait)[0])


@contextmanager
def stuck_reader(node: Node) -> Iterator[socket.socket]:
    """A connection whose answers fill every buffer on the way, because nobody takes them: one is under way."""
    channel = socket.socket()
    channel.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    channel.settimeout(WAIT)
    with channel:
        channel.connect(("127.0.0.1", node.port))
        channel.sendall(f"GET {WELL_KNOWN} HTTP/1.1\r\nHost: node\r\n\r\n".encode() * 20)
        assert readable(channel)
        time.sleep(0.2)
        yield channel
