"""`backup` and `restore`: copies of a home."""

from __future__ import annotations

from pathlib import Path

import click

from node.console import Console, operator_command
from node.copies import back_up, restore


@click.command("backup")
@click.argument("destination", metavar="DEST", type=click.Path(path_type=Path))
@click.option("--without-identity", is_flag=True, help="Leave the keys out.")
@operator_command
def backup_command(console: Console, destination: Path, without_identity: bool) -> None:
    """Copy the home to a new directory DEST, whether or not the node runs.

    The copy holds the keys unless --without-identity: who reads it is the agent, so keep it where only you can. The
    programs in handlers/ are copied; what a handler starts from elsewhere is not.
    """
    copied = back_up(console.home, destination, with_identity=not without_identity)
    keys = any(name.startswith("identity/") for name in copied)
    remark = (
        "It holds the keys: who reads it is the agent." if keys else "It holds no keys: without them it is history."
    )
    console.result(
        {"backup": str(destination), "files": copied, "with_identity": keys},
        (f"{destination} holds {', '.join(copied)}.", remark),
    )


@click.command("restore")
@click.argument("source", metavar="SRC", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--replace", is_flag=True, help="Set aside a store that is there, and put the backup's in its place.")
@operator_command
def restore_command(console: Console, source: Path, replace: bool) -> None:
    """Make a home from the backup in SRC. The node must not run.

    Keys, settings and programs that are there stay; a home with another identity is refused.
    """
    done = restore(source, console.home, replace=replace)
    console.result({"home": str(console.home.path), "done": done}, done or ("All of it was there already.",))
