"""avahi beside us: it sees our record as it is, and both share port 5353 of one host."""

from __future__ import annotations

import pytest

from tests.lan.avahi import avahi_on, missing
from tests.lan.network import lan
from tests.lan.nodes import becomes, eventually, home_of, node_on, nodes_on

SERVICE = "_agent-entryway._tcp"

pytestmark = pytest.mark.skipif(missing() is not None, reason=missing() or "")


def resolved(said: str) -> list[list[str]]:
    """The lines of resolved records: event, interface, protocol, name, type, domain, host, address, port, text."""
    return [line.split(";") for line in said.splitlines() if line.startswith("=")]


def test_avahi_browse_sees_the_record_with_its_text() -> None:
    with lan("desk", "other") as net, home_of("desk") as home, avahi_on(net["other"]) as avahi:
        with node_on(net["desk"], home) as node:
            name = node.logged("announced")["name"]
            records = eventually(lambda: resolved(avahi.browse(SERVICE)), "avahi does not see the record")
            assert {record[3] for record in records} == {name}
            over_v4 = next(record for record in records if record[2] == "IPv4")
            assert over_v4[7:9] == [net["desk"].address, "7420"]
            text = {part.strip('"') for part in over_v4[9].split('" "')}
            assert text == _text(node.ready["id"], node.ready["digest"])
        eventually(lambda: not resolved(avahi.browse(SERVICE)), "avahi still sees the record after the goodbye")


def test_avahi_and_a_node_share_the_port_of_one_host() -> None:
    with lan("desk", "attic") as net, avahi_on(net["desk"]) as avahi, nodes_on(net) as nodes:
        becomes(nodes["desk"], "attic.home", "verified")
        becomes(nodes["attic"], "desk.home", "verified")
        names = {node.logged("announced")["name"] for node in nodes.values()}
        seen = eventually(
            lambda: (found := {record[3] for record in resolved(avahi.browse(SERVICE))}) == names and found,
            "avahi does not see both",
        )
        assert seen == names


def _text(agent_id: str, digest: str) -> set[str]:
    return {"txtvers=1", f"id={agent_id}", "handle=desk.home", "ver=1", f"digest={digest}", "path=/entryway"}
