"""What the doctor finds on a link that does not carry mDNS, and that a network without IPv4 does."""

from __future__ import annotations

import subprocess
import sys

from tests.end_to_end.harness import Node, command, environment
from tests.lan.hurried import PROGRAM
from tests.lan.network import INTERFACE, Host, lan
from tests.lan.nodes import becomes, eventually, home_of, node_on

HOLD = (
    "import socket, sys; held = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); held.bind(('', 5353)); "
    "print(1, flush=True); sys.stdin.read()"
)


def doctor(host: Host) -> list[tuple[str, str]]:
    """What it says of mDNS on a host, where no node runs."""
    with home_of("desk") as home:
        end = command("doctor", "--json", home=home, within=host.within, env={"AGENT_NODE_MDNS": "true"})
    seen = [(one["state"], one["message"]) for one in end.document()["seen"] if one["subject"] == "mdns"]
    assert end.exit_code == (1 if any(state == "bad" for state, _ in seen) else 0)
    return seen


def _problems(node: Node) -> dict[str, str]:
    return dict(node.asks("GET", "/status").json()["discovery"]["problems"])


def test_a_link_that_carries_mdns_is_good() -> None:
    with lan("desk") as net:
        ((state, message),) = doctor(net["desk"])
        assert state == "good" and f"gets through on {INTERFACE}" in message


def test_a_program_that_keeps_the_port_to_itself_is_named() -> None:
    with lan("desk") as net:
        holder = [*net["desk"].within, sys.executable, "-c", HOLD]
        with subprocess.Popen(holder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()) as process:
            assert process.stdin is not None and process.stdout is not None
            assert process.stdout.readline() == b"1\n"
            ((state, message),) = doctor(net["desk"])
            assert state == "bad" and "keeps UDP port 5353 to itself" in message
            # A node runs all the same, says so, and is there when the port is free.
            with home_of("desk") as home, node_on(net["desk"], home, program=PROGRAM) as node:
                assert node.logged("interface_without_mdns")["interface"] == INTERFACE
                eventually(lambda: INTERFACE in _problems(node), "the status does not tell of it")
                process.stdin.close()
                assert process.wait(20) == 0
                assert node.logged("announced")["interface"] == INTERFACE


def test_what_does_not_come_back_is_held_by_something() -> None:
    # Without the loop of multicast nothing comes back, as with a firewall that drops what comes.
    script = (
        "import socket; from node import multicast; from node.interfaces import adapters, chosen\n"
        "join = multicast._join\n"
        "def unlooped(sock, address, index):\n"
        "    join(sock, address, index)\n"
        "    sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 0)\n"
        "multicast._join = unlooped\n"
        "print(multicast.probe(*chosen(adapters(), ['*'])))\n"
    )
    with lan("desk") as net:
        assert "let it through the firewall" in net["desk"].run(sys.executable, "-c", script).stdout


def test_hosts_without_ipv4_find_one_another() -> None:
    with lan("desk", "attic") as net, home_of("desk") as desk_home, home_of("attic") as attic_home:
        for host in net.values():
            host.ip("address", "flush", "dev", INTERFACE, "scope", "global")
        with node_on(net["desk"], desk_home) as desk, node_on(net["attic"], attic_home):
            one = becomes(desk, "attic.home", "verified")
            assert [address.startswith("[fe80::") for address in one["addresses"]] == [True]
            answer = eventually(
                lambda: command("ask", "attic.home", "--json", home=desk_home, within=net["desk"].within).document(),
                "no answer",
            )
            assert answer["verified"]
