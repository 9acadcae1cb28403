"""How a command changes a node: through the control socket while the daemon runs, on the store while it does not.

    socket answers              the daemon does it
    nobody answers              the home is locked, and the store is written here
    nobody answers, but locked  somebody starts, stops or publishes: tried again for a moment

The invariant: at any time one process writes a home, and it holds the lock.

Source: binding 9.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import TypeVar

import httpx

from node.console import Console
from node.errors import Exit, NodeError
from node.home import Home
from node.publisher import Publisher, terms_of
from node.settings import served_of
from store import Reader, Store

TRIES, PAUSE = 50, 0.1  # seconds between them: another process may finish what it does to the home
PROBE = 2.0  # seconds a daemon that is well takes to say so, and more
WAIT = 60.0  # seconds a daemon may take for a change: its disk may be slow

Value = TypeVar("Value")


@dataclass(frozen=True)
class Control:
    """A running node, asked over its control socket."""

    client: httpx.Client

    def ask(self, method: str, path: str, content: bytes | None = None, **query: str | None) -> dict[str, object]:
        """The JSON answer. Raises NodeError with the code the node gave, or NODE_UNREACHED."""
        return dict(self._answer(method, path, content, query)[1])

    def read(self, path: str) -> bytes:
        """The exact bytes of a JSON answer. Raises NodeError as `ask` does."""
        return self._answer("GET", path, None, {})[0]

    def _answer(
        self, method: str, path: str, content: bytes | None, query: Mapping[str, str | None]
    ) -> tuple[bytes, dict[str, object]]:
        stated = {name: value for name, value in query.items() if value is not None}
        try:
            answer = self.client.request(method, path, content=content, params=stated)
            document = answer.json()
        except (httpx.HTTPError, ValueError) as error:
            raise NodeError(
                "NODE_UNREACHED",
                f"The running node did not answer over its control socket ({error}). Look at its log; what was asked "
                "may have been done.",
                Exit.UNREACHED,
            ) from error
        if answer.is_success:
            return answer.content, document
        raise _refusal(document)


def running(home: Home) -> Control | None:
    """The node that runs in this home; None when none does."""
    if not home.socket.is_socket():
        return None
    # Nothing is encrypted on the way to a socket of one's own, and to load certificates takes longer than to ask.
    transport = httpx.HTTPTransport(uds=str(home.socket), verify=False)
    client = httpx.Client(transport=transport, base_url="http://node", timeout=WAIT, trust_env=False)
    try:
        client.get("/status", timeout=PROBE)
    except httpx.TimeoutException:
        pass  # somebody listens; what is wrong shows when it is asked
    except httpx.TransportError:
        client.close()  # nobody listens, or who did has stopped
        return None
    return Control(client)


def change(console: Console, online: Callable[[Control], Value], offline: Callable[[Publisher], Value]) -> Value:
    """Does one thing to a node, whichever way is open. Raises NodeError and what the two raise."""
    home = console.home
    home.check()
    tries = 0
    while True:
        node = running(home)
        if node is not None:
            with closing(node.client):
                return online(node)
        try:
            with home.lock():
                return _on_the_store(console, offline)
        except NodeError as error:
            tries += 1
            if error.code != "HOME_IN_USE" or tries == TRIES:
                raise
            time.sleep(PAUSE)


def _on_the_store(console: Console, act: Callable[[Publisher], Value]) -> Value:
    settings = console.settings()
    terms = terms_of(console.keys(), settings)
    database = console.home.database
    with Store.open(database) as store, Reader.open(database) as reader:
        return act(Publisher(store, reader, terms, settings.limits, time.time, served_of(settings)))


def _refusal(document: object) -> NodeError:
    error = document.get("error") if isinstance(document, dict) else None
    if not isinstance(error, dict):
        return NodeError("NODE_UNREACHED", "The running node gave an answer that cannot be read.", Exit.UNREACHED)
    details = dict(error.get("details") or {})
    exit_code = Exit(details.pop("exit_code", Exit.NO))
    return NodeError(str(error.get("code")), str(error.get("message")), exit_code, details or None)
