"""Nodes on the hosts of a test network: real daemons, each in the namespace of its host."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from node.home import Home
from tests.end_to_end.harness import Node, command, fresh_home, running
from tests.lan.network import Host, Net
from tests.node.parts import draft, published

PORT = 7420
WAIT = 45.0
"""Seconds after which a test gives up; what has to be quick is measured and asserted by itself."""


@contextmanager
def home_of(name: str, agent_version: str = "1", **settings: Any) -> Iterator[Home]:
    """A home whose agent has the handle `<name>.home` and has published `agent_version`. `settings`: of [discovery]."""
    stated = "\n".join(f"{key} = {json.dumps(value)}" for key, value in settings.items())
    with fresh_home(f'acts_for = "person"\nhandle = "{name}.home"\n[discovery]\n{stated}') as home:
        published(home, draft(agent_version))
        yield home


@contextmanager
def node_on(host: Host, home: Home, **how: Any) -> Iterator[Node]:
    """A node on a host, at the usual port of all its addresses."""
    with running(home, "--port", str(PORT), within=host.within, host=None, mdns=True, **how) as node:
        yield node


@contextmanager
def nodes_on(net: Net, program: str = "node", **settings: Any) -> Iterator[Mapping[str, Node]]:
    """A node on each host, with its host's name for a handle. `program`: see `begun`."""
    with ExitStack() as stack:
        homes = {name: stack.enter_context(home_of(name, **settings)) for name in net}
        nodes = {
            name: stack.enter_context(node_on(net[name], home, ready=False, program=program))
            for name, home in homes.items()
        }
        assert all(node.ready for node in nodes.values())
        yield nodes


def peers_of(node: Node) -> list[dict[str, Any]]:
    """What `peers --json` says."""
    return list(command("peers", "--json", home=node.home).document()["peers"])


def heard_by(node: Node) -> list[dict[str, Any]]:
    """The same over the control socket, which is quicker to ask."""
    return list(node.asks("GET", "/peers").json()["peers"])


def eventually(look: Callable[[], Any], what: str, wait: float = WAIT, every: float = 0.05) -> Any:
    """What `look` gives once it is true. Fails when it never is."""
    until = time.monotonic() + wait
    while True:
        seen = look()
        if seen:
            return seen
        assert time.monotonic() < until, what
        time.sleep(every)


def peer(node: Node, handle: str, state: str) -> dict[str, Any] | None:
    """The peer of a handle, if it is in a state now."""
    for one in heard_by(node):
        if one["handle"] == handle and one["state"] == state:
            return one
    return None


def becomes(node: Node, handle: str, state: str, wait: float = WAIT) -> dict[str, Any]:
    """The peer of a handle, once it is in a state."""
    seen = eventually(lambda: peer(node, handle, state), f"{handle} did not become {state}", wait)
    return dict(seen)
