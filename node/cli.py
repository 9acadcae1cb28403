"""The command line: a table of commands, each imported when it is asked for.

A command that reads one file does not pay for the daemon, and the daemon does not pay for the client.
Source: binding 9.
"""

from __future__ import annotations

import importlib
import os
import sys

import click

from node.groups import Group

# The command, and where it is: the module of node.commands and the function in it.
COMMANDS = {
    "init": "home",
    "run": "run",
    "status": "status",
    "check": "check",
    "publish": "publish",
    "rollback": "publish",
    "history": "versions",
    "show": "versions",
    "diff": "versions",
    "peers": "peers",
    "ask": "ask",
    "request": "request",
    "conformance": "conformance",
    "seal": "sealing",
    "unseal": "sealing",
    "roster": "roster",
    "knocks": "roster",
    "jobs": "jobs",
    "follow": "follow",
    "unfollow": "follow",
    "follows": "follow",
    "watch": "follow",
    "register": "registry",
    "compare": "registry",
    "card": "projections",
    "registration": "projections",
    "reference": "projections",
    "drift": "projections",
    "agentdoc": "agentdoc",
    "agentfile": "agentfile",
    "doctor": "doctor",
    "backup": "copies",
    "restore": "copies",
    "passphrase": "home",
}


class Table(Group):
    """A group that imports a command when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which somebody meets them."""
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One command, imported now."""
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        command = getattr(importlib.import_module(f"node.commands.{module}"), f"{cmd_name}_command")
        assert isinstance(command, click.Command)
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Runs a command; with `--json` a mistake in its arguments is told in JSON, like every refusal."""
        as_json = "--json" in ctx.args
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            if not as_json:
                raise
            from node.console import refuse  # noqa: PLC0415  # what it imports is for commands that run
            from node.errors import Exit, NodeError  # noqa: PLC0415  # as above

            refusal = NodeError("USAGE", error.format_message(), Exit.UNREADABLE)
            raise SystemExit(refuse(refusal, as_json)) from None


def program() -> None:
    """The console script: `main`, with all three standard streams open whatever the caller closed."""
    # Python leaves None where one is closed, and the next file that is opened would take its number.
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: PTH123, SIM115  # open for as long as the program runs
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: PTH123, SIM115  # as above
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: PTH123, SIM115  # as above
    main()


@click.group(cls=Table, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="agent-node", prog_name="agent-node")
def main() -> None:
    """One agent, at home: holds its identity, publishes its Descriptor, answers whoever asks.

    A first node: `agent-node init`, edit the draft it names, `agent-node publish` it, `agent-node run`.

    Exit codes: 0 done, 1 the answer is no, 2 usage or unreadable input, 3 the node or peer was not reached.
    """


if __name__ == "__main__":
    program()
