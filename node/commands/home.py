"""`init` and `passphrase`: what makes a home and guards its keys."""

from __future__ import annotations

import json
import os
import shlex
import sys

import click

from descriptor.document import Descriptor
from node.console import Console, ask_passphrase, operator_command, read_input
from node.errors import Exit, NodeError
from node.files import write
from node.first_draft import FIRST_DRAFT
from node.home import read_secret, unusable
from node.identity import change_passphrase, create, refuse_existing
from node.passphrase import find, is_sealed
from node.reference import render_toml


@click.command("init")
@click.option("--handle", help="The agent's handle, written into the subject of its Descriptor.")
@click.option(
    "--acts-for",
    type=click.Choice(["person", "organization", "anyone"]),
    help="Whom the agent acts for. Stated now or at publish; never guessed.",
)
@click.option("--organization-name", help="The organization's public name; only with --acts-for organization.")
@click.option("--from", "source", metavar="DRAFT", help="A draft Descriptor to begin with, copied into the home.")
@click.option("--with-passphrase", is_flag=True, help="Seal the keys: AGENT_NODE_PASSPHRASE, or asked for.")
@operator_command
def init_command(
    console: Console,
    handle: str | None,
    acts_for: str | None,
    organization_name: str | None,
    source: str | None,
    with_passphrase: bool,
) -> None:
    """Make a home: an identity, its settings and a first draft.

    Nothing that is there is ever overwritten, a key least of all. An init that was cut short is finished by the same
    command.
    """
    home = console.home
    stated = {"handle": handle, "acts_for": acts_for, "organization_name": organization_name}
    console.settings(stated)  # refuses what cannot be stated before anything is made
    draft = read_input(source) if source else json.dumps(dict(FIRST_DRAFT), indent=2).encode() + b"\n"
    Descriptor.read(draft)
    passphrase = (find(None, os.environ) or new_passphrase()) if with_passphrase else None
    home.create()
    home.check()
    with home.lock():
        refuse_existing(home)
        try:
            written = write(home.config, render_toml(stated).encode())
            drafted = write(home.draft, draft)
        except OSError as error:
            raise unusable(home.path, error) from error
        keys = create(home, passphrase)  # last: a home with its keys is a whole one
    if not written and any(stated.values()):
        console.note(f"{home.config} was there already and stays as it is; state these settings in it.")
    if not drafted and source:
        console.note(f"{home.draft} was there already and stays as it is; {source} was not copied.")
    console.result(
        {"id": keys.identity.id, "home": str(home.path), "config": str(home.config), "draft": str(home.draft)},
        (
            f"This agent is {keys.identity.id}.",
            f"Its home is {home.path}. Who has the keys in it is the agent, and nobody can make them again.",
            f"Keep a copy: agent-node backup{home.named} DEST",
            f"Edit {home.draft}, then: agent-node publish{home.named} {shlex.quote(str(home.draft))}",
        ),
    )


@click.command("passphrase")
@click.option("--remove", is_flag=True, help="Keep the keys unsealed from now on.")
@operator_command
def passphrase_command(console: Console, remove: bool) -> None:
    """Seal the keys with a new passphrase, or unseal them.

    A running node keeps running; the next start asks. AGENT_NODE_PASSPHRASE or a systemd credential can answer. A new
    one is typed twice, on a terminal. There is no way around one that is lost.
    """
    home = console.home
    home.check()
    sealed = is_sealed(read_secret(home.agent_seed)) or is_sealed(read_secret(home.seal_seed))
    current = find(ask_passphrase if sys.stdin.isatty() else None, os.environ) if sealed else None
    new = None if remove else new_passphrase()
    change_passphrase(home, current, new)
    console.result({"sealed": not remove}, ("The keys are unsealed." if remove else "The keys are sealed.",))


def new_passphrase() -> str:
    """Asks for a new passphrase twice. Raises NodeError PASSPHRASE_NEEDED without a terminal."""
    if not sys.stdin.isatty():
        raise NodeError(
            "PASSPHRASE_NEEDED",
            "A new passphrase is asked for on a terminal, and there is none. AGENT_NODE_PASSPHRASE gives a new one to "
            "`agent-node init --with-passphrase` alone.",
            Exit.UNREADABLE,
        )
    return str(click.prompt("New passphrase", hide_input=True, confirmation_prompt=True, err=True))
