"""Where the node listens: sockets, refusals, and addresses that a person can type."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass

import ifaddr
import pytest
import structlog

from node import addresses
from node.addresses import listen, urls
from node.errors import NodeError

ELSEWHERE = "203.0.113.7"
"""An address for documentation (RFC 5737): no machine has it."""


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    """Closes what a test listens on."""
    with ExitStack() as stack:
        yield stack


def listening(opened: ExitStack, *hosts: str, port: int = 0) -> list[socket.socket]:
    return [opened.enter_context(closing(listener)) for listener in listen(hosts, port)]


def refused(code: str, *hosts: str, port: int = 0) -> NodeError:
    with structlog.testing.capture_logs(), pytest.raises(NodeError) as caught:
        listen(hosts, port)
    assert caught.value.code == code
    assert "\n" not in caught.value.message
    return caught.value


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")


def test_port_0_takes_a_free_port_that_answers(opened: ExitStack) -> None:
    (listener,) = listening(opened, "127.0.0.1")
    socket.create_connection(listener.getsockname(), timeout=5).close()


def test_all_hosts_share_the_port_the_first_one_took(opened: ExitStack) -> None:
    listeners = listening(opened, "127.0.0.1", "127.0.0.2", "127.0.0.3")
    assert len({listener.getsockname()[1] for listener in listeners}) == 1


@needs_ipv6
def test_both_families_listen_on_one_port(opened: ExitStack) -> None:
    listeners = listening(opened, "0.0.0.0", "::")
    assert [listener.family for listener in listeners] == [socket.AF_INET, socket.AF_INET6]
    assert len({listener.getsockname()[1] for listener in listeners}) == 1


def test_a_used_port_is_named(opened: ExitStack) -> None:
    port = listening(opened, "127.0.0.1")[0].getsockname()[1]
    assert str(port) in refused("PORT_IN_USE", "127.0.0.1", port=port).message


def test_a_refusal_leaves_nothing_open(opened: ExitStack) -> None:
    port = listening(opened, "127.0.0.2")[0].getsockname()[1]
    refused("PORT_IN_USE", "127.0.0.1", "127.0.0.2", port=port)
    listening(opened, "127.0.0.1", port=port)  # not held by the attempt


def test_of_several_addresses_those_that_are_not_here_are_left_out(opened: ExitStack) -> None:
    with structlog.testing.capture_logs() as logs:
        (listener,) = listening(opened, ELSEWHERE, "127.0.0.1")
    assert listener.getsockname()[0] == "127.0.0.1"
    assert [(line["event"], line["host"]) for line in logs] == [("address_left_out", ELSEWHERE)]


@pytest.mark.parametrize("hosts", [(ELSEWHERE,), (ELSEWHERE, "203.0.113.8")])
def test_where_no_address_is_here_the_node_does_not_start(hosts: tuple[str, ...]) -> None:
    assert hosts[-1] in refused("HOST_UNUSABLE", *hosts).message


@pytest.mark.parametrize("host", ["...", "a" * 64])
def test_what_can_be_no_name_is_refused(host: str) -> None:
    assert "unknown name" in refused("HOST_UNUSABLE", host).message


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (PermissionError(errno.EACCES, "Permission denied"), "PORT_FORBIDDEN", "1024"),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "HOST_UNUSABLE", "unknown name"),
        (OSError(errno.ENOBUFS, "No buffer space available"), "HOST_UNUSABLE", "No buffer space available"),
    ],
)
def test_what_the_system_refuses_is_told(monkeypatch: pytest.MonkeyPatch, error: OSError, code: str, said: str) -> None:
    def listener(_host: str, _port: int) -> socket.socket:
        raise error

    monkeypatch.setattr(addresses, "_listener", listener)
    assert said in refused(code, "node.test", port=80).message


@pytest.mark.parametrize(
    ("host", "url"), [("127.0.0.1", "http://127.0.0.1"), pytest.param("::1", "http://[::1]", marks=needs_ipv6)]
)
def test_a_url_can_be_typed(opened: ExitStack, host: str, url: str) -> None:
    (listener,) = listening(opened, host)
    assert urls([listener]) == [f"{url}:{listener.getsockname()[1]}"]


@dataclass
class Entry:
    ip: str | tuple[str, int, int]


@dataclass
class Adapter:
    ips: list[Entry]
    name: str = "eth0"


def test_a_wildcard_stands_for_the_machines_own_addresses_the_private_ones_first(
    monkeypatch: pytest.MonkeyPatch, opened: ExitStack
) -> None:
    found = [
        Adapter([Entry("127.0.0.1"), Entry(("::1", 0, 0))]),
        Adapter([Entry("198.51.100.9"), Entry(("2001:db8::9", 0, 0)), Entry(("fe80::1", 0, 2))]),
        Adapter([Entry("192.168.1.20"), Entry("169.254.7.7")]),
        *(Adapter([Entry("172.17.0.1")], name) for name in ("docker0", "br-1f2e", "veth12@if3", "virbr0", "cni0")),
    ]
    monkeypatch.setattr(ifaddr, "get_adapters", lambda: found)
    (listener,) = listening(opened, "0.0.0.0")
    port = listener.getsockname()[1]
    shown = [f"http://{host}:{port}" for host in ("192.168.1.20", "198.51.100.9", "127.0.0.1")]
    # 198.51.100.0/24 is for documentation, which Python counts among the private addresses in some versions.
    assert urls([listener])[-1] == shown[-1]
    assert sorted(urls([listener])) == sorted(shown)
    if has_ipv6():
        (listener,) = listening(opened, "::")
        port = listener.getsockname()[1]
        assert urls([listener]) == [f"http://[2001:db8::9]:{port}", f"http://[::1]:{port}"]


def test_where_a_machine_has_no_address_the_wildcard_is_all_there_is_to_say(
    monkeypatch: pytest.MonkeyPatch, opened: ExitStack
) -> None:
    monkeypatch.setattr(ifaddr, "get_adapters", list)
    (listener,) = listening(opened, "0.0.0.0")
    assert urls([listener]) == [f"http://0.0.0.0:{listener.getsockname()[1]}"]
