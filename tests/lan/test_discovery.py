"""Hosts find one another on a network of their own, see one another come, go and move, and believe no record."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from node.commands.peers import HOME_AND_CLEAR
from tests.end_to_end.harness import Node, begun, command, fresh_home, running
from tests.lan.hurried import POLL, PROGRAM
from tests.lan.network import INTERFACE, Host, Net, lan
from tests.lan.nodes import becomes, eventually, heard_by, home_of, node_on, nodes_on, peer, peers_of
from tests.lan.records import announced
from tests.node.parts import draft, identity_of, published

SOON = 3.0  # seconds within which hosts have found one another
SLACK = 8  # files and threads that come and go: connections, questions, workers
QUICK: Any = {"peer_recheck": 1.0}


def test_three_hosts_verify_one_another_in_under_three_seconds() -> None:
    # The quickest of three networks: what else the machine does at the moment is not measured.
    took = []
    while not took or (min(took) >= SOON and len(took) < 3):
        with lan("desk", "attic", "shed") as net, nodes_on(net) as nodes:
            took.append(_know_one_another(net, nodes))
    assert min(took) < SOON


def _know_one_another(net: Net, nodes: Mapping[str, Node]) -> float:
    """Seconds until they do, from when the last of them has begun."""
    ready = time.monotonic()
    for name, node in nodes.items():
        for other in nodes.keys() - {name}:
            becomes(node, f"{other}.home", "verified")
    took = time.monotonic() - ready
    for name, node in nodes.items():
        seen = {one["handle"]: one for one in peers_of(node)}
        assert seen.keys() == {f"{other}.home" for other in nodes.keys() - {name}}
        for other in nodes.keys() - {name}:
            one, there = seen[f"{other}.home"], nodes[other].ready
            assert (one["id"], one["digest"]) == (there["id"], there["digest"])
            assert (one["agent_version"], one["reason"]) == ("1", None)
            assert one["addresses"][0] == f"{net[other].address}:7420"
            assert one["first_seen"] <= one["last_seen"]
    return took


def test_a_publish_is_seen_by_its_record_alone_and_verified() -> None:
    with lan("desk", "attic") as net, nodes_on(net) as nodes:
        becomes(nodes["desk"], "attic.home", "verified")
        digest = published(nodes["attic"].home, draft("2"))
        one = eventually(
            lambda: (seen := peer(nodes["desk"], "attic.home", "verified")) and seen["digest"] == digest and seen,
            "the new version was not seen",
        )
        assert one["agent_version"] == "2"


def test_a_node_that_stops_says_goodbye_and_is_met_again() -> None:
    with lan("desk", "attic") as net, home_of("desk") as desk_home, home_of("attic") as attic_home:
        with node_on(net["desk"], desk_home) as desk:
            with node_on(net["attic"], attic_home) as attic:
                first = becomes(desk, "attic.home", "verified")
                attic.signal(signal.SIGTERM)
                gone = becomes(desk, "attic.home", "gone")
                assert attic.stopped() == 0
            assert (gone["first_seen"], gone["digest"]) == (first["first_seen"], first["digest"])
            with node_on(net["attic"], attic_home):
                again = becomes(desk, "attic.home", "verified")
                assert again["first_seen"] == first["first_seen"]
        # What is known of peers outlives the node, and is shown without one.
        assert [(one["handle"], one["digest"]) for one in peers_of(desk)] == [("attic.home", first["digest"])]


def test_a_host_that_is_cut_off_is_unreachable_and_is_found_again() -> None:
    with lan("desk", "attic") as net, nodes_on(net, program=PROGRAM, **QUICK) as nodes:
        becomes(nodes["desk"], "attic.home", "verified")
        becomes(nodes["attic"], "desk.home", "verified")
        net["attic"].cut()
        lost = becomes(nodes["desk"], "attic.home", "unreachable")
        assert "10.77.0.2" in lost["reason"] or "fe80" in lost["reason"]
        # Who has no network has no neighbors, and needs nobody to tell it.
        becomes(nodes["attic"], "desk.home", "gone")
        net["attic"].mend()
        becomes(nodes["attic"], "desk.home", "verified")
        becomes(nodes["desk"], "attic.home", "verified")


def test_a_host_whose_address_changes_is_found_at_the_new_one() -> None:
    with lan("desk", "attic") as net, nodes_on(net, program=PROGRAM, **QUICK) as nodes:
        becomes(nodes["desk"], "attic.home", "verified")
        net["attic"].readdress("10.77.0.77")
        moved = eventually(
            lambda: (
                (seen := peer(nodes["desk"], "attic.home", "verified"))
                and "10.77.0.77:7420" in seen["addresses"]
                and "10.77.0.2:7420" not in seen["addresses"]
                and seen
            ),
            "the new address was not found, or the old one not forgotten",
        )
        assert moved["id"] == nodes["attic"].ready["id"]
        assert becomes(nodes["attic"], "desk.home", "verified")


def test_a_host_that_slept_while_its_address_changed_is_found_when_it_wakes() -> None:
    with lan("desk", "attic") as net, nodes_on(net, program=PROGRAM, **QUICK) as nodes:
        becomes(nodes["desk"], "attic.home", "verified")
        nodes["attic"].signal(signal.SIGSTOP)
        net["attic"].readdress("10.77.0.88")
        becomes(nodes["desk"], "attic.home", "unreachable")
        nodes["attic"].signal(signal.SIGCONT)
        woken = eventually(
            lambda: (one := peer(nodes["desk"], "attic.home", "verified")) and "10.77.0.88:7420" in one["addresses"],
            "it was not found where it woke",
        )
        assert woken


def test_an_address_of_another_network_never_leaks_into_this_one() -> None:
    with lan("desk", "attic") as net, home_of("desk") as desk_home, home_of("attic") as attic_home:
        net["attic"].plug("vault0", "192.168.99.1")
        with node_on(net["desk"], desk_home) as desk, node_on(net["attic"], attic_home) as attic:
            one = becomes(desk, "attic.home", "verified")
            eventually(lambda: _announced_on(attic) == {"lan0", "vault0"}, "it is not announced on both networks")
            assert not [address for address in one["addresses"] if "192.168.99" in address]
            said = eventually(lambda: _dumped(net["desk"], net["attic"].address), "its own address was not heard")
            assert "192.168.99" not in said
            # Nor does either network hear the other through this host: it would take its own name for somebody else's.
            names = {line["name"] for line in attic.log if line["event"] == "announced"}
            assert len(names) == 1


def test_what_is_sent_on_one_link_is_not_heard_on_another() -> None:
    with lan("desk") as net, home_of("desk") as home:
        far = net["desk"].plug("vault0", "192.168.99.1")
        index, address = far.link_local("far")
        with node_on(net["desk"], home) as desk, announced(far, "beyond", {"id": ""}, on=index, addresses=[address]):
            eventually(lambda: heard_by(desk), "the record was not heard")
            time.sleep(1.0)  # until it would have come on the other link as well
            assert len(heard_by(desk)) == 1  # of records without an id, each is listed by itself


def test_two_nodes_of_one_host_find_one_another_and_are_found() -> None:
    with (
        lan("desk", "attic") as net,
        home_of("first") as first_home,
        home_of("second") as second_home,
        home_of("attic") as attic_home,
        node_on(net["attic"], attic_home) as attic,
        node_on(net["desk"], first_home) as first,
        running(second_home, within=net["desk"].within, host=None, mdns=True) as second,
    ):
        becomes(first, "second.home", "verified")
        becomes(second, "first.home", "verified")
        for node in (first, second):
            becomes(node, "attic.home", "verified")
        for handle in ("first.home", "second.home"):
            becomes(attic, handle, "verified")


def test_who_listens_on_loopback_alone_is_not_announced_and_hears_the_others() -> None:
    with (
        lan("desk", "attic") as net,
        home_of("desk") as desk_home,
        home_of("attic") as attic_home,
        running(desk_home, within=net["desk"].within, mdns=True) as desk,
        node_on(net["attic"], attic_home) as attic,
    ):
        becomes(desk, "attic.home", "verified")
        assert _announced_on(desk) == set()
        assert heard_by(attic) == []


def test_an_interface_that_comes_later_is_announced_on_without_a_restart() -> None:
    with lan("desk", "attic") as net, home_of("desk") as desk_home, home_of("attic") as attic_home:
        net["attic"].ip("link", "set", INTERFACE, "down")
        with node_on(net["desk"], desk_home) as desk, node_on(net["attic"], attic_home, program=PROGRAM) as attic:
            assert _announced_on(attic) == set()
            net["attic"].ip("link", "set", INTERFACE, "up")
            becomes(desk, "attic.home", "verified")
            becomes(attic, "desk.home", "verified")


def test_interfaces_that_flap_leave_nothing_behind_and_are_found_again() -> None:
    with lan("desk", "attic") as net, nodes_on(net, program=PROGRAM, **QUICK) as nodes:
        desk, attic = net["desk"], nodes["attic"]
        becomes(attic, "desk.home", "verified")
        time.sleep(POLL)
        before = _held(nodes["desk"])
        for number in range(6):
            desk.ip("link", "set", INTERFACE, "down")
            desk.plug(f"wlan{number}", f"192.168.{number}.1")
            time.sleep(POLL * (number % 3) / 2)  # sooner than it is looked at, at about that time, and later
            desk.ip("link", "set", INTERFACE, "up")
            desk.readdress(f"10.77.0.{100 + number}")
            time.sleep(POLL * (number % 2))
            desk.ip("link", "delete", f"wlan{number}")
        found = eventually(
            lambda: (
                (one := peer(attic, "desk.home", "verified")) and f"{desk.address}:7420" in one["addresses"] and one
            ),
            "the host was not found at its last address",
            wait=40.0,
        )
        assert found["id"] == nodes["desk"].ready["id"]
        becomes(nodes["desk"], "attic.home", "verified")
        # Nor was it renamed: what it hears of itself on its way is its own.
        assert len({line["name"] for line in nodes["desk"].log if line["event"] == "announced"}) == 1
        eventually(lambda: _held(nodes["desk"]) <= before + SLACK, f"more is held than the {before} of before")


def test_a_record_for_somebody_else_s_id_is_a_mismatch_beside_the_agent_itself() -> None:
    with lan("desk", "attic", "rogue") as net, nodes_on(net, program=PROGRAM, **QUICK) as nodes:
        true = becomes(nodes["desk"], "attic.home", "verified")
        with announced(net["rogue"], "attic-spoofed", {"id": true["id"], "handle": "attic.home"}):
            spoofed = becomes(nodes["desk"], "attic.home", "mismatch")
            assert spoofed["id"] == true["id"]
            assert nodes["rogue"].ready["id"] in spoofed["reason"]
            assert spoofed["addresses"][0] == f"{net['rogue'].address}:7420"
            assert (spoofed["digest"], spoofed["agent_version"]) == (None, None)
            still = becomes(nodes["desk"], "attic.home", "verified")
            assert not set(still["addresses"]) & set(spoofed["addresses"])
            # A command that is given the id asks the agent, and nobody who claims to be it.
            answer = command("ask", true["id"], "--json", home=nodes["desk"].home, within=net["desk"].within).document()
            assert answer["verified"] and answer["envelope"]["from"] == true["id"]
        eventually(lambda: not peer(nodes["desk"], "attic.home", "mismatch"), "the spoofed record did not go")


def test_a_handle_that_another_key_claims_is_a_conflict_shown_loudly() -> None:
    with (
        lan("desk", "attic", "rogue") as net,
        home_of("desk", **QUICK) as desk_home,
        home_of("attic") as first_home,
        node_on(net["desk"], desk_home) as desk,
        home_of("attic") as second_home,
    ):
        with node_on(net["attic"], first_home) as first:
            pinned = becomes(desk, "attic.home", "verified")
            with node_on(net["rogue"], second_home) as second:
                claimed = becomes(desk, "attic.home", "conflict")
                assert (pinned["id"], claimed["id"]) == (first.ready["id"], second.ready["id"])
                assert pinned["id"] in claimed["reason"]
                assert peer(desk, "attic.home", "verified")
                assert "CONFLICT" in command("peers", home=desk_home).out.decode()
        # The one it is pinned to has left, and it stays its own.
        becomes(desk, "attic.home", "gone")
        with node_on(net["rogue"], second_home):
            becomes(desk, "attic.home", "conflict")
            refused = command("ask", second.ready["id"], "--json", home=desk_home, within=net["desk"].within)
            assert (refused.exit_code, refused.document()["error"]["code"]) == (1, "PEER_UNVERIFIED")
            # Until the operator gives it free.
            assert command("peers", "--forget", first.ready["id"], home=desk_home).exit_code == 0
            assert becomes(desk, "attic.home", "verified")["id"] == second.ready["id"]


def test_an_older_descriptor_than_before_is_a_rollback() -> None:
    with (
        lan("desk", "attic") as net,
        home_of("desk", **QUICK) as desk_home,
        home_of("attic", "1") as attic_home,
        node_on(net["desk"], desk_home) as desk,
    ):
        with node_on(net["attic"], attic_home) as attic:
            published(attic_home, draft("2"))
            eventually(lambda: (one := peer(desk, "attic.home", "verified")) and one["agent_version"] == "2", "2")
            agent_id = attic.ready["id"]
        with fresh_home('acts_for = "person"\nhandle = "attic.home"') as stale:
            # The same key with an older store: a backup that was brought back, or a reply that was kept.
            for name in ("agent_seed", "seal_seed"):
                getattr(stale, name).write_bytes(getattr(attic_home, name).read_bytes())
            (stale.path / "identity" / "agent.id").write_text(f"{agent_id}\n")
            published(stale, draft("1"))
            with node_on(net["attic"], stale) as attic:
                assert attic.ready["id"] == agent_id == identity_of(stale).id
                old = becomes(desk, "attic.home", "rollback")
                assert "agent_version 1" in old["reason"]
                assert old["agent_version"] == "2"  # what verified last stands


def test_a_node_without_multicast_runs_and_the_doctor_says_what_to_check() -> None:
    with lan("desk", "attic") as net, home_of("desk") as desk_home, home_of("attic") as attic_home:
        net["desk"].ip("link", "set", INTERFACE, "multicast", "off")
        with node_on(net["desk"], desk_home) as desk, node_on(net["attic"], attic_home) as attic:
            eventually(lambda: _announced_on(attic) == {INTERFACE}, "the other is not announced")
            assert _announced_on(desk) == set()
            assert heard_by(desk) == []
            answer = command("ask", f"{net['attic'].address}:7420", "--json", within=net["desk"].within).document()
            assert answer["verified"]
            why = f"{INTERFACE} does no multicast. Check [discovery] interfaces"
            assert _doctor(net["desk"], desk) == [("bad", f"there is no network to be heard on. {why}")]
            assert [state for state, _ in _doctor(net["attic"], attic)] == ["good"]


@pytest.mark.parametrize("visibility", ["unlisted", "private"])
def test_who_is_not_listed_is_not_announced_and_hears_the_others(visibility: str) -> None:
    with (
        lan("desk", "attic") as net,
        home_of("desk", visibility=visibility) as desk_home,
        home_of("attic") as home,
        node_on(net["desk"], desk_home) as desk,
        node_on(net["attic"], home) as attic,
    ):
        becomes(desk, "attic.home", "verified")
        time.sleep(1.5)
        assert heard_by(attic) == []
        asked = command("ask", f"{net['desk'].address}:7420", "--json", within=net["attic"].within).document()
        assert asked["verified"] is (visibility == "unlisted")
        if visibility == "private":
            assert asked["error"]["code"] == "PRIVATE"
            # It may be listed from now on, without a restart.
            desk_home.config.write_text(desk_home.config.read_text().replace("private", "listed"))
            desk.signal(signal.SIGHUP)
            becomes(attic, "desk.home", "verified")


def test_two_hosts_of_one_name_are_told_apart_by_renaming() -> None:
    with lan("desk", "attic") as net, home_of("desk") as desk_home, home_of("attic") as attic_home:
        name = f"attic-{identity_of(attic_home).id[1:9]}"
        with (
            announced(net["desk"], name, {"id": identity_of(desk_home).id}),
            node_on(net["attic"], attic_home) as attic,
            node_on(net["desk"], desk_home) as desk,
        ):
            assert attic.logged("name_taken")["name"] == name
            assert attic.logged("announced")["name"] == f"{name}-2"
            becomes(desk, "attic.home", "verified")


def test_a_name_that_somebody_takes_from_us_is_left_to_them() -> None:
    with lan("desk", "attic", "rogue") as net, nodes_on(net) as nodes:
        name = nodes["attic"].logged("announced")["name"]
        becomes(nodes["desk"], "attic.home", "verified")
        with announced(net["rogue"], name, {"id": nodes["rogue"].ready["id"]}):
            assert nodes["attic"].logged("announced", 2)["name"] == f"{name}-2"
            becomes(nodes["desk"], "attic.home", "verified")


def test_the_watch_prints_what_changes() -> None:
    with (
        lan("desk", "attic") as net,
        home_of("desk") as desk_home,
        home_of("attic") as attic_home,
        node_on(net["desk"], desk_home),
        begun("peers", "--watch", "--json", home=desk_home) as watch,
    ):
        assert watch.stdout is not None
        with node_on(net["attic"], attic_home) as attic:
            states: list[str] = []
            while not states or states[-1] != "verified":
                one = json.loads(watch.stdout.readline())
                assert one["id"] == attic.ready["id"]
                states.append(one["state"])
        assert json.loads(watch.stdout.readline())["state"] == "gone"
        watch.send_signal(signal.SIGINT)
        assert watch.wait(20) == 0


def test_the_watch_redraws_its_table_on_a_terminal() -> None:
    reader, terminal = os.openpty()
    with (
        lan("desk", "attic") as net,
        home_of("desk") as desk_home,
        home_of("attic") as attic_home,
        node_on(net["desk"], desk_home),
        begun("peers", "--watch", home=desk_home, stdout=terminal) as watch,
        node_on(net["attic"], attic_home) as attic,
    ):
        os.close(terminal)
        screen = ""
        while "verified" not in screen:
            screen = (screen + os.read(reader, 65536).decode()).rpartition(HOME_AND_CLEAR)[2]
        assert "attic.home" in screen and attic.ready["id"] in screen
        watch.send_signal(signal.SIGINT)
        assert watch.wait(20) == 0
    os.close(reader)


def _held(node: Node) -> int:
    """How many files, sockets and threads a node holds."""
    process = Path(f"/proc/{node.process.pid}")
    return sum(len(list((process / kind).iterdir())) for kind in ("fd", "task"))


def _announced_on(node: Node) -> set[str]:
    return set(node.asks("GET", "/status").json()["discovery"]["announced_on"])


def _doctor(host: Host, node: Node) -> list[tuple[str, str]]:
    env = {"AGENT_NODE_MDNS": "true"}
    seen = command("doctor", "--json", home=node.home, within=host.within, env=env).document()["seen"]
    return [(one["state"], one["message"]) for one in seen if one["subject"] == "mdns"]


def _dumped(host: Host, address: str) -> str:
    """Everything of the service that is heard on a host, once the address is among it; nothing before."""
    script = (
        "import asyncio\n"
        "from zeroconf.asyncio import AsyncZeroconf, AsyncServiceBrowser\n"
        "from node.discovery.record import SERVICE\n"
        "async def main():\n"
        "    mdns = AsyncZeroconf(interfaces=['" + host.address + "'])\n"
        "    AsyncServiceBrowser(mdns.zeroconf, SERVICE, handlers=[lambda **said: None])\n"
        "    await asyncio.sleep(2)\n"
        "    for name in mdns.zeroconf.cache.names():\n"
        "        print(mdns.zeroconf.cache.entries_with_name(name))\n"
        "asyncio.run(main())\n"
    )
    said = host.run(sys.executable, "-c", script).stdout
    return said if address in said else ""
