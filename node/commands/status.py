"""`status`: the running node."""

from __future__ import annotations

from contextlib import closing

import click

from node.console import Console, columns, operator_command
from node.errors import Exit, NodeError
from node.operate import running


@click.command("status")
@operator_command
def status_command(console: Console) -> None:
    """Show the node that runs in this home. Exit 3 when none does."""
    console.home.check()
    node = running(console.home)
    if node is None:
        raise NodeError(
            "NODE_NOT_RUNNING",
            f"No node runs in {console.home.path}. Start it: agent-node run{console.home.named}",
            Exit.UNREACHED,
        )
    with closing(node.client):
        document = node.ask("GET", "/status")
    flat = dict(document)
    for name, value in document.items():
        if isinstance(value, dict):  # what a part of the node says of itself
            del flat[name]
            flat |= {f"{name}: {inner}": one for inner, one in value.items()}
    console.result(document, columns([(name.replace("_", " "), _shown(value)) for name, value in flat.items()]))


def _shown(value: object) -> str:
    """A value for people, who read no Python."""
    match value:
        case None:
            return "not stated"
        case bool():
            return "yes" if value else "no"
        case [] | {}:
            return "none"
        case list():
            return ", ".join(map(_shown, value))
        case dict():
            return "; ".join(f"{name or 'everywhere'}: {_shown(one)}" for name, one in value.items())
    return str(value)
