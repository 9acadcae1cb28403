"""`doctor`: is everything as it should be?"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing

import click

from node.console import Console, columns, operator_command
from node.doctor import examine, examine_mdns
from node.errors import Exit, NodeError
from node.interfaces import adapters
from node.multicast import probe
from node.operate import running


@click.command("doctor")
@operator_command
def doctor_command(console: Console) -> None:
    """Examine the home, keys, clock, disk, store, current Descriptor and mDNS. Changes nothing.

    Every stored version is hashed again. One question is sent to the local network, to see whether it is heard. Works
    whether or not the node runs. Exit 1 when something is bad.
    """
    seen = list(examine(console.home, console.settings, console.keys, console.agent_id, time.time()))
    seen += examine_mdns(console.settings, _discovery_status(console), adapters(), probe)
    bad = [one for one in seen if one.state == "bad"]
    document = {
        "healthy": not bad,
        "seen": [{"subject": one.subject, "state": one.state, "message": one.message} for one in seen],
    }
    verdict = f"What needs your attention: {', '.join(one.subject for one in bad)}." if bad else "Nothing is bad."
    console.result(document, [*columns([(one.subject, one.state, one.message) for one in seen]), verdict])
    if bad:
        raise SystemExit(Exit.NO)


def _discovery_status(console: Console) -> Mapping[str, object] | None:
    """What the running node says of its discovery; None when none runs, or it says nothing."""
    try:
        node = running(console.home)
        if node is None:
            return None
        with closing(node.client):
            status = node.ask("GET", "/status").get("discovery")
    except (NodeError, OSError):
        return None
    return status if isinstance(status, dict) else None
