"""`doctor`: is everything as it should be?"""

from __future__ import annotations

import time

import click

from node.console import Console, columns, operator_command
from node.doctor import examine
from node.errors import Exit


@click.command("doctor")
@operator_command
def doctor_command(console: Console) -> None:
    """Examine the home, keys, clock, disk, store and current Descriptor. Changes nothing.

    Every stored version is hashed again. Works whether or not the node runs. Exit 1 when something is bad.
    """
    seen = list(examine(console.home, console.settings, console.keys, console.agent_id, time.time()))
    bad = [one for one in seen if one.state == "bad"]
    document = {
        "healthy": not bad,
        "seen": [{"subject": one.subject, "state": one.state, "message": one.message} for one in seen],
    }
    verdict = f"{len(bad)} things need your attention." if bad else "Nothing is bad."
    console.result(document, [*columns([(one.subject, one.state, one.message) for one in seen]), verdict])
    if bad:
        raise SystemExit(Exit.NO)
