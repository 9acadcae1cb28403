"""The interfaces of this machine that neighbors are on, and which addresses are on them.

The invariant: what is announced on a link are addresses of that link, and what is dialed on a peer's word is an address
inside one of that link's own networks. Reading is here in `adapters`; what is chosen of it is a pure function.

Source: binding 7.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import ifaddr

from node.addresses import VIRTUAL

EVERY = "*"
"""In place of a name: every interface that neighbors can be on."""

SYSTEM = Path("/sys/class/net")
ADDRESSES_OF_V6 = Path("/proc/net/if_inet6")
IFF_UP, IFF_LOOPBACK, IFF_MULTICAST = 0x1, 0x8, 0x1000
# Addresses that do not work yet, do not work at all, or are given up: nobody is sent there.
UNUSABLE_V6 = 0x40 | 0x08 | 0x20  # IFA_F_TENTATIVE, IFA_F_DADFAILED, IFA_F_DEPRECATED

Address = ipaddress.IPv4Interface | ipaddress.IPv6Interface


@dataclass(frozen=True, slots=True)
class Adapter:
    """An interface as the system has it. `up`: it is switched on and its cable is in."""

    name: str
    index: int
    addresses: tuple[Address, ...]
    up: bool = True
    multicast: bool = True
    loopback: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """An interface that the node is present on: its name, its index, its addresses with their networks."""

    name: str
    index: int
    addresses: tuple[Address, ...]

    def dialable(self, address: str) -> str | None:
        """The address as it is dialed from this link; None when it is no host of one of the link's networks.

        A link-local IPv6 address gets the name of the link, without which it says nothing.
        """
        with suppress(ValueError):
            ip = ipaddress.ip_address(address.partition("%")[0])
            for own in self.addresses:
                if ip in own.network and _is_host(ip, own):
                    return f"{ip}%{self.name}" if ip.version == 6 and ip.is_link_local else str(ip)
        return None


def chosen(seen: Iterable[Adapter], names: Sequence[str]) -> tuple[Link, ...]:
    """The links of the adapters that are meant by `names`.

    `EVERY` stands for each that is no loopback and no bridge or end of containers and virtual machines; those are taken
    when they are named. An adapter that is down, has no address or does no multicast is no link.
    """
    return tuple(
        Link(one.name, one.index, one.addresses)
        for one in seen
        if one.up and one.addresses and (one.multicast or one.loopback) and _is_meant(one, names)
    )


def adapters() -> list[Adapter]:
    """Every interface of this machine, as it is now."""
    unusable = _unusable_v6()
    found = []
    for one in ifaddr.get_adapters():
        addresses = sorted(set(_addresses(one, unusable)), key=lambda own: (own.version, own.is_link_local, own))
        flags, carrier = _flags(one.name)
        found.append(
            Adapter(
                one.name,
                one.index or 0,
                tuple(addresses),
                up=bool(flags & IFF_UP) and carrier,
                multicast=bool(flags & IFF_MULTICAST),
                loopback=bool(flags & IFF_LOOPBACK),
            )
        )
    return found


def _is_meant(adapter: Adapter, names: Sequence[str]) -> bool:
    if adapter.name in names:
        return True
    return EVERY in names and not adapter.loopback and not adapter.name.startswith(VIRTUAL)


def _is_host(ip: ipaddress.IPv4Address | ipaddress.IPv6Address, own: Address) -> bool:
    if ip.is_multicast or ip.is_unspecified:
        return False
    network = own.network
    if ip.version == 4 and network.prefixlen < 31:
        return ip not in (network.network_address, network.broadcast_address)
    return True


def _addresses(adapter: ifaddr.Adapter, unusable: set[tuple[str, bytes]]) -> Iterable[Address]:
    for entry in adapter.ips:
        if isinstance(entry.ip, tuple):
            ip = ipaddress.IPv6Address(entry.ip[0].partition("%")[0])
            if (adapter.name, ip.packed) not in unusable:
                yield ipaddress.IPv6Interface((ip, entry.network_prefix))
        else:
            yield ipaddress.IPv4Interface((entry.ip, entry.network_prefix))


def _flags(name: str) -> tuple[int, bool]:
    """The flags of an interface, and whether its cable is in. Where the system does not say, all is well."""
    try:
        flags = int((SYSTEM / name / "flags").read_text(), 16)
        return flags, (SYSTEM / name / "operstate").read_text().strip() in ("up", "unknown")
    except (OSError, ValueError):
        return IFF_UP | IFF_MULTICAST, True


def _unusable_v6() -> set[tuple[str, bytes]]:
    """Interface and address of every IPv6 address that nobody should be sent to."""
    unusable = set()
    with suppress(OSError, ValueError):
        for line in ADDRESSES_OF_V6.read_text().splitlines():
            address, _index, _prefix, _scope, flags, name = line.split()
            if int(flags, 16) & UNUSABLE_V6:
                unusable.add((name, bytes.fromhex(address)))
    return unusable
