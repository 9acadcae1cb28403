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
            "NODE_NOT_RUNNING", f"No node runs in {console.home.path}. Start it: agent-node run", Exit.UNREACHED
        )
    with closing(node.client):
        document = node.ask("GET", "/status")
    flat = dict(document)
    for name, value in document.items():
        if isinstance(value, dict):  # what a part of the node says of itself
            del flat[name]
            flat |= {f"{name}: {inner}": one for inner, one in value.items()}
    rows = []
    for name, value in flat.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else "not stated" if value is None else str(value)
        rows.append((name.replace("_", " "), shown))
    console.result(document, columns(rows))
