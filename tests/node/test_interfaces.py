"""Which interfaces the node is on, and which addresses are near."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Any

import ifaddr
import pytest

from node import interfaces
from node.interfaces import Adapter, Link, adapters, chosen


def adapter(name: str, *addresses: str, **how: bool) -> Adapter:
    return Adapter(name, 2, tuple(map(ipaddress.ip_interface, addresses or ("10.0.0.1/24",))), **how)


def names(links: tuple[Link, ...]) -> list[str]:
    return [link.name for link in links]


SEEN = [
    adapter("lo", "127.0.0.1/8", multicast=False, loopback=True),
    adapter("eth0"),
    adapter("wlan0"),
    adapter("docker0"),
    adapter("br-1a2b"),
    adapter("veth12"),
    adapter("virbr0"),
    adapter("cni0"),
    adapter("tun0", multicast=False),
    adapter("eth1", up=False),
    Adapter("eth2", 3, ()),
]


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        (["*"], ["eth0", "wlan0"]),
        (["wlan0"], ["wlan0"]),
        (["*", "docker0"], ["eth0", "wlan0", "docker0"]),
        (["br-1a2b", "veth12", "virbr0", "cni0"], ["br-1a2b", "veth12", "virbr0", "cni0"]),
        (["lo"], ["lo"]),
        (["eth1", "eth2", "tun0", "eth9"], []),
    ],
)
def test_links_are_those_that_neighbors_are_on_and_those_that_are_named(wanted: list[str], meant: list[str]) -> None:
    assert names(chosen(SEEN, wanted)) == meant


LINK = Link("lan0", 2, tuple(map(ipaddress.ip_interface, ("10.77.0.1/24", "fd00::1/64", "fe80::1/64"))))


@pytest.mark.parametrize(
    ("address", "dialed"),
    [
        ("10.77.0.2", "10.77.0.2"),
        ("10.77.0.1", "10.77.0.1"),
        ("fd00::2", "fd00::2"),
        ("fe80::2", "fe80::2%lan0"),
        ("fe80::2%eth9", "fe80::2%lan0"),
        ("FD00:0::2", "fd00::2"),
        ("10.78.0.2", None),
        ("10.77.0.0", None),
        ("10.77.0.255", None),
        ("255.255.255.255", None),
        ("0.0.0.0", None),
        ("127.0.0.1", None),
        ("169.254.1.1", None),
        ("224.0.0.251", None),
        ("203.0.113.1", None),
        ("::", None),
        ("::1", None),
        ("ff02::fb", None),
        ("2001:db8::1", None),
        ("::ffff:10.77.0.2", None),
        ("desk.local", None),
        ("", None),
        ("10.77.0.2:80", None),
    ],
)
def test_only_hosts_of_the_link_s_own_networks_are_dialed(address: str, dialed: str | None) -> None:
    assert LINK.dialable(address) == dialed


def test_a_link_of_two_hosts_has_no_address_to_leave_out() -> None:
    link = Link("p2p", 2, (ipaddress.ip_interface("10.0.0.0/31"),))
    assert link.dialable("10.0.0.1") == "10.0.0.1"


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What Linux tells of two interfaces, with an IPv6 address that is not ready yet."""
    for name, flags, state in [("eth0", "0x1003", "up"), ("eth1", "0x1003", "down"), ("eth2", "0x1002", "up")]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "flags").write_text(f"{flags}\n")
        (tmp_path / name / "operstate").write_text(f"{state}\n")
    (tmp_path / "if_inet6").write_text(
        "fe800000000000000000000000000002 02 40 20 80     eth0\n"
        "fd000000000000000000000000000003 02 40 00 40     eth0\n"
        "fd000000000000000000000000000004 02 40 00 20     eth0\n"
    )
    monkeypatch.setattr(interfaces, "SYSTEM", tmp_path)
    monkeypatch.setattr(interfaces, "ADDRESSES_OF_V6", tmp_path / "if_inet6")
    ips: list[tuple[Any, int]] = [
        ("10.0.0.2", 24),
        (("fd00::3", 0, 0), 64),
        (("fd00::4", 0, 0), 64),
        (("fe80::2", 0, 2), 64),
    ]
    found = [
        ifaddr.Adapter(name, name, [ifaddr.IP(ip, prefix, name) for ip, prefix in reversed(ips)], index=number)
        for number, name in enumerate(("eth0", "eth1", "eth2", "eth3"), 1)
    ]
    monkeypatch.setattr(ifaddr, "get_adapters", lambda: found)
    return tmp_path


def test_what_the_system_tells_is_read(system: Path) -> None:
    first, second, third, fourth = adapters()
    assert [str(own) for own in first.addresses] == ["10.0.0.2/24", "fe80::2/64"]
    assert (first.name, first.index) == ("eth0", 1)
    assert [one.up for one in (first, second, third)] == [True, False, False]
    # Nothing is told of the fourth, and nothing is held against it.
    assert (fourth.up, fourth.multicast, fourth.loopback) == (True, True, False)


def test_this_machine_s_own_interfaces_can_be_read() -> None:
    assert [one.name for one in adapters() if one.loopback] == ["lo"]
