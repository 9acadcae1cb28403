"""Records by somebody who means ill, or is broken: bounded, shown as what they are, and in nobody's way."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from descriptor.keys import Identity
from tests.end_to_end.harness import Node
from tests.lan.hurried import PROGRAM
from tests.lan.network import Host, Net, lan
from tests.lan.nodes import becomes, eventually, heard_by, home_of, node_on, nodes_on
from tests.lan.packets import send
from tests.lan.records import announced

LIMIT = 50


def test_records_that_state_nothing_readable_are_shown_and_never_asked() -> None:
    texts = {
        "empty": b"\0",
        "not-text": b"\x06id=\xff\xfe\xfd" + b"\x09handle=\xc3\x28",
        "no-value": b"\x02id",
        "wrong-id": b"\x0fid=UNOTANAGENTID",
        "huge": b"".join(bytes([255]) + b"x" * 255 for _ in range(30)),
    }
    with lan("desk", "rogue") as net, home_of("desk") as home, node_on(net["desk"], home) as node:
        for name, text in texts.items():
            with announced(net["rogue"], name, text):
                (one,) = eventually(lambda: heard_by(node), f"{name} was not heard")
                assert (one["id"], one["state"]) == (None, "mismatch"), name
                assert one["reason"].startswith("Its record states"), name
            eventually(lambda: not heard_by(node), f"{name} did not go")


def test_addresses_beyond_the_network_of_the_record_are_not_dialed() -> None:
    with lan("desk", "rogue") as net, home_of("desk") as home, node_on(net["desk"], home) as node:
        beyond = ["203.0.113.5", "127.0.0.1", "10.77.0.255", "10.78.0.1", "2001:db8::1", "::1"]
        agent_id = Identity.generate().id
        with announced(net["rogue"], "beyond", {"id": agent_id}, addresses=beyond):
            one = eventually(
                lambda: next((seen for seen in heard_by(node) if seen["state"] == "unreachable"), None), "not judged"
            )
            assert one["addresses"] == []
            assert "no other one is dialed" in one["reason"]


def test_names_beyond_what_is_kept_are_bounded_and_stand_in_nobody_s_way() -> None:
    with (
        lan("desk", "attic", "rogue", "late") as net,
        nodes_on(_without(net, "rogue", "late"), peers_kept=LIMIT) as nodes,
    ):
        becomes(nodes["desk"], "attic.home", "verified")
        before = _resident(nodes["desk"].process.pid)
        ids = {"id": "{id}", "handle": "h{number}"}
        with announced(net["rogue"], "flood-{number}", ids, count=8 * LIMIT):
            eventually(lambda: len(heard_by(nodes["desk"])) >= LIMIT, "the flood was not heard")
            time.sleep(1)
            listed = heard_by(nodes["desk"])
            assert len(listed) <= 2 * LIMIT
            becomes(nodes["desk"], "attic.home", "verified")
            assert _resident(nodes["desk"].process.pid) - before < 30_000
            # And whoever comes now is still met.
            with home_of("late") as home, node_on(net["late"], home):
                becomes(nodes["desk"], "late.home", "verified")
        status = json.loads(nodes["desk"].asks("GET", "/status").body)
        assert status["state"] == "published"


def test_records_at_addresses_where_nobody_is_do_not_keep_anybody_waiting() -> None:
    with lan("desk", "rogue", "late") as net, home_of("desk") as home, node_on(net["desk"], home) as node:
        ids = {"id": "{id}", "handle": "h{number}"}
        with announced(net["rogue"], "hole-{number}", ids, addresses=["10.77.0.{number}"], first=20, count=100):
            eventually(lambda: len(heard_by(node)) == 100, "the flood was not heard")
            with home_of("late") as late_home, node_on(net["late"], late_home):
                becomes(node, "late.home", "verified")


@pytest.mark.parametrize("kind", ["names", "elsewhere"])
def test_more_names_than_anybody_keeps_are_got_over(kind: str) -> None:
    with (
        lan("desk", "attic", "rogue", "late") as net,
        home_of("late") as late_home,
        nodes_on(_without(net, "rogue", "late"), program=PROGRAM) as nodes,
    ):
        becomes(nodes["desk"], "attic.home", "verified")
        before = _resident(nodes["desk"].process.pid)
        _flood(nodes["desk"], net["rogue"], kind)
        with node_on(net["late"], late_home):
            becomes(nodes["desk"], "late.home", "verified", wait=90.0)
            becomes(nodes["desk"], "attic.home", "verified", wait=90.0)
        becomes(nodes["desk"], "late.home", "gone")
        eventually(lambda: len(heard_by(nodes["desk"])) == 2, "what nobody announces any more is still listed", 90.0)
        assert _resident(nodes["desk"].process.pid) - before < 60_000


def test_packets_that_are_no_mdns_do_no_harm() -> None:
    with lan("desk", "attic", "rogue") as net, home_of("desk") as home, node_on(net["desk"], home) as desk:
        send(net["rogue"], "garbage", 1_000)
        with home_of("attic") as attic_home, node_on(net["attic"], attic_home):
            becomes(desk, "attic.home", "verified")
        assert not [line for line in desk.log if line["event"] == "discovery_failed"]


def test_a_peer_that_takes_a_question_and_never_answers_keeps_nobody_waiting() -> None:
    silent = "import socket, time; held = socket.create_server(('', 7420)); print(1, flush=True); time.sleep(600)"
    with (
        lan("desk", "attic", "rogue") as net,
        home_of("desk") as home,
        home_of("attic") as attic_home,
        node_on(net["desk"], home, program=PROGRAM) as desk,
        subprocess.Popen([*net["rogue"].within, sys.executable, "-c", silent], stdout=subprocess.PIPE) as process,
    ):
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"1\n"
            ids = {"id": "{id}", "handle": "h{number}"}
            with announced(net["rogue"], "mute-{number}", ids, count=100), node_on(net["attic"], attic_home):
                becomes(desk, "attic.home", "verified")
                mute = eventually(
                    lambda: [one for one in heard_by(desk) if one["state"] == "unreachable"], "none is unreachable"
                )
                assert "gave no whole answer" in mute[0]["reason"]
                began = time.monotonic()
                desk.signal(signal.SIGTERM)
                assert desk.stopped() == 0
                assert time.monotonic() - began < 10.0
        finally:
            process.kill()


def _flood(node: Node, host: Host, kind: str) -> None:
    """More names than a node can keep, once more when it began anew in the middle: what came behind was no flood."""
    began_anew = -1
    while began_anew != _begun_anew(node):
        began_anew = _begun_anew(node)
        send(host, kind, 12_000)


def _begun_anew(node: Node) -> int:
    return sum(line["event"] == "listening" for line in node.log)


def _without(net: Net, *names: str) -> Net:
    return {name: host for name, host in net.items() if name not in names}


def _resident(pid: int) -> int:
    """Resident memory in KiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmRSS:")))
