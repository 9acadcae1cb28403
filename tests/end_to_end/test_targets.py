"""TARGET may be HOST:PORT, or the handle or id of an agent that was heard, and not only a URL.

Which peers are meant is `tests/node/test_targets.py`; here each command that asks about an agent reaches a real node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from node.home import Home
from store import Peer, Store
from tests.end_to_end.harness import Ended, Node, begun, command, fresh_home, running
from tests.node.parts import draft, identity_of, published

HANDLE = "ann.home"
SETTINGS = f'[agent]\nacts_for = "person"\nhandle = "{HANDLE}"\n[registry]\nregistry = true'


@dataclass(frozen=True)
class Heard:
    """A node with the registry role, and the home of who has heard it."""

    node: Node
    home: Home
    digest: str

    @property
    def id(self) -> str:
        return identity_of(self.node.home).id


def hear(home: Home, agent_id: str, node: Node, digest: str) -> None:
    """An agent was heard and verified, and its record leads to a node."""
    with Store.open(home.database) as store:
        store.put_peers(
            [(Peer(agent_id, HANDLE, "verified", "", "1", digest, (f"127.0.0.1:{node.port}",), 1, 1), None)]
        )


@pytest.fixture(scope="module")
def heard() -> Iterator[Heard]:
    with fresh_home() as theirs, fresh_home() as home:
        theirs.config.write_text(SETTINGS)
        digest = published(theirs, draft("1"))
        published(home, draft("1"))
        with running(theirs) as node:
            hear(home, identity_of(theirs).id, node, digest)
            yield Heard(node, home, digest)


FORMS: dict[str, Callable[[Heard], str]] = {
    "host and port": lambda heard: f"127.0.0.1:{heard.node.port}",
    "handle": lambda heard: HANDLE,
    "id": lambda heard: heard.id,
}
COMMANDS: dict[str, Callable[[Heard, str], Ended]] = {
    "ask": lambda heard, target: command("ask", target, "--json", home=heard.home),
    "compare": lambda heard, target: command("compare", target, "--json", home=heard.home),
    "compare with a registry": lambda heard, target: command(
        "compare", heard.node.url, "--registry", target, "--json", home=heard.home
    ),
    "follow": lambda heard, target: command("follow", target, "--json", home=heard.home),
    "register": lambda heard, target: command("register", target, "--json", home=heard.home),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("act", COMMANDS)
def test_every_command_reaches_an_agent_by_each_form_of_target(heard: Heard, act: str, form: str) -> None:
    ended = COMMANDS[act](heard, FORMS[form](heard))
    assert ended.exit_code == 0, ended


@pytest.mark.parametrize("form", FORMS)
def test_watch_reaches_an_agent_by_each_form_of_target(heard: Heard, form: str) -> None:
    with begun("watch", FORMS[form](heard), "--after", "0", home=heard.home) as watching:
        assert watching.stdout is not None
        assert heard.digest.encode() in watching.stdout.readline()


@pytest.mark.parametrize("act", ["ask", "compare", "follow", "register", "watch"])
def test_who_is_named_by_id_has_to_be_who_answers(heard: Heard, act: str) -> None:
    with fresh_home() as stranger:
        hear(heard.home, identity_of(stranger).id, heard.node, heard.digest)
        act_on = COMMANDS.get(act, lambda heard, target: command("watch", target, home=heard.home))
        ended = act_on(heard, identity_of(stranger).id)
        with Store.open(heard.home.database) as store:
            store.drop_peers([identity_of(stranger).id])
    assert ended.exit_code == 1, ended
