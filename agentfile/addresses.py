"""Which IP addresses are public, whatever form they come in.

The invariant: an address is public only if it is in no range below, and what carries an IPv4 address to where it leads
is as public as that one. The ranges are written out, since what `ipaddress` calls private differs between versions of
Python and asks of no address what is embedded in it. A range that nobody has given out yet is not public.

Not known here: the public addresses of this machine's own links, and the NAT64 prefixes that a network chose for
itself. Whoever knows them passes them as `near`.

Source: `.agent` format 19, item 2; RFC 6890 and the registries of special-purpose addresses that it founded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

_IPV4 = (
    (IPv4Network("0.0.0.0/8"), "unspecified"),
    (IPv4Network("10.0.0.0/8"), "private"),
    (IPv4Network("100.64.0.0/10"), "shared by a carrier's customers (CGNAT)"),
    (IPv4Network("127.0.0.0/8"), "loopback"),
    (IPv4Network("168.63.129.16/32"), "a cloud's service for its own machines"),
    (IPv4Network("169.254.0.0/16"), "link-local"),
    (IPv4Network("172.16.0.0/12"), "private"),
    (IPv4Network("192.0.0.0/24"), "reserved for protocols"),
    (IPv4Network("192.0.2.0/24"), "reserved for documentation"),
    (IPv4Network("192.88.99.0/24"), "a 6to4 relay"),
    (IPv4Network("192.168.0.0/16"), "private"),
    (IPv4Network("198.18.0.0/15"), "reserved for benchmarks"),
    (IPv4Network("198.51.100.0/24"), "reserved for documentation"),
    (IPv4Network("203.0.113.0/24"), "reserved for documentation"),
    (IPv4Network("224.0.0.0/4"), "multicast"),
    (IPv4Network("240.0.0.0/4"), "reserved"),
)
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_IPV6 = (
    (IPv6Network("::/128"), "unspecified"),
    (IPv6Network("::1/128"), "loopback"),
    (IPv6Network("::/96"), "an IPv4 address in a form given up long ago (compatible)"),
    (IPv6Network("::ffff:0:0:0/96"), "a translated IPv4 address"),
    (IPv6Network("64:ff9b:1::/48"), "local (NAT64)"),
    (IPv6Network("100::/64"), "reserved for what is thrown away"),
    (IPv6Network("2001::/32"), "a tunnel (Teredo)"),
    (IPv6Network("2001::/23"), "reserved for protocols"),
    (IPv6Network("2001:db8::/32"), "reserved for documentation"),
    (IPv6Network("2002::/16"), "a tunnel (6to4)"),
    (IPv6Network("3fff::/20"), "reserved for documentation"),
    (IPv6Network("fc00::/7"), "private (unique local)"),
    (IPv6Network("fe80::/10"), "link-local"),
    (IPv6Network("fec0::/10"), "private (site-local)"),
    (IPv6Network("ff00::/8"), "multicast"),
)
# The IPv4 address in the last 32 bits is where these lead.
_CARRIES_IPV4 = (
    (IPv6Network("::ffff:0:0/96"), "IPv4-mapped"),
    (IPv6Network("64:ff9b::/96"), "NAT64"),
)
# ISATAP: a tunnel to the IPv4 address that follows, in any network. The bit between the two says "globally unique".
_ISATAP = (0x00005EFE, 0x02005EFE)


def read_address(text: str) -> Address | None:
    """The address that `text` spells in its usual form; `None` for anything else, a zone (`%eth0`) included.

    An IPv4 address in octal, in hexadecimal, with zeros before its numbers or with fewer than four of them is no usual
    form: programs read it differently.
    """
    if not text.isascii() or "%" in text:
        return None
    try:
        return ip_address(text)
    except ValueError:
        return None


def not_public(address: Address, near: Sequence[Network] = ()) -> str | None:
    """Why this address is not public, to follow "it is"; `None`: it is public. `near`: networks that are not either.

    >>> not_public(IPv6Address("::ffff:10.0.0.1"))
    'IPv4-mapped for 10.0.0.1, which is private'
    >>> not_public(IPv4Address("93.184.215.14"))
    """
    if any(address in network for network in near):
        return "in a network of this machine's own"
    if isinstance(address, IPv4Address):
        return _name(address, _IPV4)
    carrier = _name(address, _CARRIES_IPV4)
    if carrier is not None:
        inner = IPv4Address(int(address) & 0xFFFFFFFF)
        why = not_public(inner, near)
        return None if why is None else f"{carrier} for {inner}, which is {why}"
    why = _name(address, _IPV6)
    if why is not None:
        return why
    if address not in _GLOBAL_UNICAST:
        return "reserved"
    return "a tunnel (ISATAP)" if int(address) >> 32 & 0xFFFFFFFF in _ISATAP else None


def _name(address: Address, networks: Iterable[tuple[Network, str]]) -> str | None:
    return next((name for network, name in networks if address in network), None)
