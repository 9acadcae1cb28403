"""Followers among hosts: by the feed, and by what mDNS says when a host has moved or come back."""

from __future__ import annotations

import functools
import time
from typing import Any

from store import Reader
from tests.end_to_end.harness import Node, command
from tests.lan.hurried import PROGRAM
from tests.lan.network import Host, lan
from tests.lan.nodes import becomes, eventually, nodes_on
from tests.node.parts import draft

SOON = 0.5  # seconds until a follower has what was published


def publish(node: Node, agent_version: str) -> None:
    answer = node.asks("POST", "/publish", draft(agent_version))
    assert answer.status == 200, answer.body


def follow(node: Node, host: Host, handle: str) -> None:
    """Follows a peer on another host by its handle, once it is a verified neighbor."""
    becomes(node, handle, "verified")
    ended = command("follow", handle, home=node.home, within=host.within)
    assert ended.exit_code == 0, ended


def followed(node: Node) -> dict[str, Any]:
    (one,) = node.asks("GET", "/follows").json()["follows"]
    return dict(one)


def kept(node: Node, peer: Node) -> list[str]:
    """The agent_versions that a node keeps of another, oldest first."""
    with Reader.open(node.home.database) as reader:
        versions, _ = reader.history(peer.ready["id"], 500)
    return [version.agent_version for version in reversed(versions)]


def has(node: Node, peer: Node, agent_version: str) -> bool:
    return agent_version in kept(node, peer)


def test_a_publish_is_at_every_follower_in_under_half_a_second() -> None:
    with lan("desk", "attic", "shed") as net, nodes_on(net) as nodes:
        attic, followers = nodes["attic"], [nodes["desk"], nodes["shed"]]
        for node, host in zip(followers, (net["desk"], net["shed"]), strict=True):
            follow(node, host, "attic.home")
        for node in followers:
            eventually(functools.partial(has, node, attic, "1"), "the first version is not kept")
        took = []
        for agent_version in ("2", "3", "4", "5", "6"):
            began = time.monotonic()
            publish(attic, agent_version)
            for node in followers:
                has_it = functools.partial(has, node, attic, agent_version)
                eventually(has_it, "it is not kept", every=0.005)
            took.append(time.monotonic() - began)
        assert min(took) < SOON, took


def test_a_host_that_moves_is_followed_to_where_it_is() -> None:
    with lan("desk", "attic") as net, nodes_on(net, program=PROGRAM, peer_recheck=1.0) as nodes:
        desk, attic = nodes["desk"], nodes["attic"]
        follow(desk, net["desk"], "attic.home")
        eventually(lambda: kept(desk, attic) == ["1"], "the first version is not kept")
        net["attic"].readdress("10.77.0.99")
        publish(attic, "2")
        eventually(lambda: kept(desk, attic) == ["1", "2"], "the follower did not find it again", wait=90.0)
        eventually(lambda: "10.77.0.99" in followed(desk)["url"] or "fe80" in followed(desk)["url"], "its new place")
        assert followed(desk)["reports"] == []


def test_a_host_that_was_cut_off_for_many_publishes_is_caught_up_with_when_it_is_back() -> None:
    with lan("desk", "attic") as net, nodes_on(net, program=PROGRAM, peer_recheck=1.0) as nodes:
        desk, attic = nodes["desk"], nodes["attic"]
        follow(desk, net["desk"], "attic.home")
        eventually(lambda: kept(desk, attic) == ["1"], "the first version is not kept")
        net["attic"].cut()
        for number in range(2, 12):
            publish(attic, str(number))
        net["attic"].mend()
        whole = [str(number) for number in range(1, 12)]
        eventually(lambda: kept(desk, attic) == whole, "the follower did not catch up", wait=60.0)
        assert followed(desk)["reports"] == []
