"""No address is called public that leads to this machine or into a network behind it, whatever form it comes in."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfile.addresses import Address, not_public, read_address

NOT_PUBLIC = {
    "loopback": ["127.0.0.1", "127.0.0.0", "127.255.255.255", "::1"],
    "unspecified": ["0.0.0.0", "0.1.2.3", "0.255.255.255", "::"],
    "private": ["10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255"],
    "shared by a carrier": ["100.64.0.0", "100.100.100.200", "100.127.255.255"],
    "link-local": ["169.254.0.0", "169.254.169.254", "169.254.255.255", "fe80::1", "febf:ffff::1"],
    "unique local": ["fc00::", "fd00:ec2::254", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
    "site-local": ["fec0::1", "feff::1"],
    "multicast": ["224.0.0.1", "233.252.0.1", "239.255.255.255", "ff02::1", "ff0e::1"],
    "reserved": ["240.0.0.1", "255.255.255.255", "198.18.0.1", "198.19.255.255", "4000::1", "5f00::1", "fe00::1"],
    "documentation": ["192.0.2.1", "198.51.100.1", "203.0.113.255", "2001:db8::1", "3fff::1", "3fff:fff::1"],
    "protocols": ["192.0.0.1", "192.0.0.9", "192.0.0.192", "2001:2::1", "2001:10::1", "2001:20::1", "2001:1ff::1"],
    "a cloud's": ["168.63.129.16"],
    "6to4 relay": ["192.88.99.1"],
    "6to4": ["2002:7f00:1::", "2002:a00:1::1", "2002:808:808::1"],
    "Teredo": ["2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
    "compatible": ["::127.0.0.1", "::10.0.0.1", "::8.8.8.8", "::2"],
    "translated": ["::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8"],
    "ISATAP": ["2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:8.8.8.8"],
    "local (NAT64)": ["64:ff9b:1::1", "64:ff9b:1:ffff::a00:1"],
    "thrown away": ["100::1"],
    "NAT64 for 127.0.0.1, which is loopback": ["64:ff9b::127.0.0.1", "64:ff9b::7f00:1"],
    "NAT64 for 169.254.169.254, which is link-local": ["64:ff9b::a9fe:a9fe"],
    "IPv4-mapped for 127.0.0.1, which is loopback": ["::ffff:127.0.0.1", "::FFFF:7F00:1", "0:0:0:0:0:ffff:7f00:0001"],
    "IPv4-mapped for 100.64.0.1, which is shared": ["::ffff:100.64.0.1"],
    "IPv4-mapped for 224.0.0.1, which is multicast": ["::ffff:224.0.0.1"],
    "IPv4-mapped for 0.0.0.0, which is unspecified": ["::ffff:0:0", "::ffff:0.0.0.0"],
}
PUBLIC = [
    *("1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "93.184.215.14", "100.63.255.255", "100.128.0.0"),
    *("126.255.255.255", "128.0.0.0", "168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0"),
    *("172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0"),
    *("223.255.255.255", "2606:4700:4700::1111", "2001:4860:4860::8888", "2001:200::1", "2003::1", "3ffe:ffff::1"),
    *("::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2a00:1450:4001:81b::200e", "2606:4700::5eff:10.0.0.1"),
]

# What the properties of an `ipaddress` object say yes to, in one version of Python or in each, and where it is wrong.
GAPS = [
    ("100.64.0.1", "is_private is false in each version"),
    ("192.0.0.192", "global in 3.11.7 and 3.12.1"),
    ("192.88.99.1", "global in each version"),
    ("168.63.129.16", "global in each version: no registry has it"),
    ("::ffff:127.0.0.1", "is_loopback is false before 3.13"),
    ("::ffff:100.64.0.1", "global in each version"),
    ("::ffff:224.0.0.1", "global in each version"),
    ("::127.0.0.1", "global in each version"),
    ("64:ff9b::7f00:1", "global in each version"),
    ("64:ff9b:1::a00:1", "global in 3.11.7 and 3.12.1"),
    ("2002:7f00:1::", "global in 3.11.7 and 3.12.1"),
    ("2001:20::1", "global in 3.13.0"),
    ("fec0::1", "global in each version"),
    ("3fff::1", "global in 3.11.7 to 3.13.0"),
    ("2606:4700::5efe:10.0.0.1", "global in each version"),
]


def address(text: str) -> Address:
    found = read_address(text)
    assert found is not None
    return found


@pytest.mark.parametrize(("text", "why"), [(text, why) for why, texts in NOT_PUBLIC.items() for text in texts])
def test_what_is_not_public_says_why(text: str, why: str) -> None:
    said = not_public(address(text))
    assert said is not None
    assert why in said


@pytest.mark.parametrize("text", PUBLIC)
def test_what_is_public(text: str) -> None:
    assert not_public(address(text)) is None


@pytest.mark.parametrize(("text", "gap"), GAPS)
def test_no_gap_of_the_standard_library_is_ours(text: str, gap: str) -> None:
    assert not_public(address(text)) is not None, gap


def test_at_least_one_of_those_gaps_is_one_in_this_python() -> None:
    assert any(ip_address(text).is_global for text, _ in GAPS)
    assert not ip_address("100.64.0.1").is_private


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "1",
            "127.1",
            "0177.0.0.1",
            "010.0.0.1",
            "0x7f.0.0.1",
            "2130706433",
            "1.2.3",
            "1.2.3.4.5",
            "256.1.1.1",
        ),
        *(" 8.8.8.8", "8.8.8.8 ", "8.8.8.8\n", "8.8.8.8/32", "8.8.8.8:80", "８.8.8.8", "٨.٨.٨.٨", "1.1.1.1."),
        *("fe80::1%eth0", "2606:4700::1%1", "::1%", "[::1]", ":::1", "1::2::3", "12345::", "::ffff:127.1", "localhost"),
    ],
)
def test_what_is_no_address_in_its_usual_form_is_none(text: str) -> None:
    assert read_address(text) is None


def test_a_network_of_the_machines_own_is_not_public_in_any_form() -> None:
    near = [IPv6Network("2001:470:1::/48"), IPv4Network("93.184.215.0/24")]
    for text in ("2001:470:1:2::3", "93.184.215.14", "::ffff:93.184.215.14", "64:ff9b::93.184.215.14"):
        assert not_public(address(text)) is None
        assert "own" in str(not_public(address(text), near))
    assert not_public(address("2001:470:2::1"), near) is None


@given(st.ip_addresses(v=4))
def test_no_ipv4_address_is_public_that_the_standard_library_knows_not_to_be(ip: IPv4Address) -> None:
    if not_public(ip) is None:
        assert ip.is_global
        assert not (ip.is_multicast or ip.is_reserved)
    # And whatever carries it is no more public than it is.
    for carried in (IPv6Address(0xFFFF << 32 | int(ip)), IPv6Address(0x64FF9B << 96 | int(ip))):
        assert (not_public(carried) is None) == (not_public(ip) is None)


@given(st.ip_addresses(v=6))
def test_no_ipv6_address_is_public_that_the_standard_library_knows_not_to_be(ip: IPv6Address) -> None:
    if not_public(ip) is None and ip.ipv4_mapped is None and ip not in IPv6Network("64:ff9b::/96"):
        assert ip.is_global
        assert not (ip.is_multicast or ip.is_reserved or ip.is_site_local or ip.is_link_local)
        assert ip.teredo is None
        assert ip.sixtofour is None
