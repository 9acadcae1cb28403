"""Hosts on one bridge: network namespaces that a test makes and removes itself.

The bridge stands in a namespace of its own (the switch), so nothing of it is seen on the machine that runs the tests,
and nothing of that machine is seen by the hosts. Every name is new, and what was made goes when the block ends, however
it ends: a namespace that is deleted takes its interfaces with it.

    with lan("desk", "attic") as net:
        net["desk"].run("ip", "route", "get", net["attic"].address)

Without the right to make namespaces (`why_not`) the tests that need them are skipped.
"""

from __future__ import annotations

import functools
import json
import secrets
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

WAIT = 45.0
INTERFACE = "lan0"
"""The interface of each host that is on the bridge."""


@dataclass
class Host:
    """One host: a namespace with `lan0` on the bridge, and whatever else a test plugs in."""

    name: str
    namespace: str
    address: str
    prefix: int = 24
    extra: list[str] = field(default_factory=list)

    @property
    def within(self) -> tuple[str, ...]:
        """What stands before a command that is to run here. `ip` becomes the command: its pid is the process's own."""
        return ("ip", "netns", "exec", self.namespace)

    def run(self, *command: str, check: bool = True, timeout: float = WAIT) -> subprocess.CompletedProcess[str]:
        """Runs a command here and returns what it said."""
        return _run(*self.within, *command, check=check, timeout=timeout)

    def ip(self, *arguments: str) -> str:
        return _run("ip", "-n", self.namespace, *arguments).stdout

    def cut(self) -> None:
        """Takes the cable out: the link is down on both ends, and the address stays."""
        self.switch("down")

    def mend(self) -> None:
        """Puts the cable back."""
        self.switch("up")

    def switch(self, state: str) -> None:
        _run("ip", "-n", self._switch, "link", "set", self._port, state)

    def readdress(self, address: str) -> None:
        """Gives `lan0` another address in the place of the one it has, as a renewed lease does."""
        self.ip("address", "flush", "dev", INTERFACE, "scope", "global")
        self.ip("address", "add", f"{address}/{self.prefix}", "brd", "+", "dev", INTERFACE)
        self.ip("route", "replace", "default", "dev", INTERFACE)
        self.address = address

    def plug(self, name: str, address: str, prefix: int = 24) -> Host:
        """A second interface, on a network of its own; returns the host at the other end, which has no IPv4."""
        beyond = f"{self.namespace}-{name}"
        _run("ip", "netns", "add", beyond)
        self.extra.append(beyond)
        _without_dad(beyond)
        self.ip("link", "add", name, "type", "veth", "peer", "name", "far", "netns", beyond)
        _run("ip", "-n", beyond, "link", "set", "far", "up")
        self.ip("address", "add", f"{address}/{prefix}", "brd", "+", "dev", name)
        self.ip("link", "set", name, "up")
        return Host("far", beyond, "")

    def link_local(self, name: str = INTERFACE) -> tuple[int, str]:
        """The index of an interface, and its link-local address."""
        (link,) = json.loads(self.ip("-json", "-6", "address", "show", "dev", name))
        return link["ifindex"], link["addr_info"][0]["local"]

    @property
    def _switch(self) -> str:
        return self.namespace.rpartition("-")[0] + "-switch"

    @property
    def _port(self) -> str:
        return f"p-{self.name}"


Net = Mapping[str, Host]


@contextmanager
def lan(*names: str, subnet: str = "10.77.0") -> Iterator[Net]:
    """Hosts of these names (at most eleven characters each) on one bridge, for as long as the block runs."""
    tag = f"an{secrets.token_hex(4)}"
    switch = f"{tag}-switch"
    hosts = {name: Host(name, f"{tag}-{name}", f"{subnet}.{number}") for number, name in enumerate(names, 1)}
    made: list[str] = []
    try:
        _add(switch, made)
        # Without snooping the bridge does what a cheap switch does with multicast: it lets it through everywhere.
        _run("ip", "-n", switch, "link", "add", "bridge", "type", "bridge", "mcast_snooping", "0", "forward_delay", "0")
        _run("ip", "-n", switch, "link", "set", "bridge", "up")
        for host in hosts.values():
            _add(host.namespace, made)
            _wire(host, switch)
        yield hosts
    finally:
        for namespace in [*(extra for host in hosts.values() for extra in host.extra), *reversed(made)]:
            _run("ip", "netns", "delete", namespace, check=False)


def _add(namespace: str, made: list[str]) -> None:
    _run("ip", "netns", "add", namespace)
    made.append(namespace)


def _wire(host: Host, switch: str) -> None:
    port = host._port
    _without_dad(host.namespace)
    host.ip("link", "add", INTERFACE, "type", "veth", "peer", "name", port, "netns", switch)
    _run("ip", "-n", switch, "link", "set", port, "master", "bridge", "up")
    host.ip("link", "set", "lo", "up")
    host.ip("address", "add", f"{host.address}/{host.prefix}", "brd", "+", "dev", INTERFACE)
    host.ip("link", "set", INTERFACE, "up")
    host.ip("route", "add", "default", "dev", INTERFACE)


def _without_dad(namespace: str) -> None:
    """Addresses of IPv6 work at once: there is nobody who could have them already."""
    settings = ("net.ipv6.conf.default.accept_dad=0", "net.ipv6.conf.all.accept_dad=0")
    _run("ip", "netns", "exec", namespace, "sysctl", "-qw", *settings, check=False)


@functools.cache
def why_not() -> str | None:
    """Why hosts cannot be made here; None when they can. It is found out by making one."""
    if shutil.which("ip") is None:
        return "there is no iproute2 here (apt install iproute2)"
    try:
        with lan("try") as net:
            net["try"].run("true")
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or str(error)
        return f"network namespaces cannot be made here, which takes root: {' '.join(str(said).split())}"
    return None


def _run(*command: str, check: bool = True, timeout: float = WAIT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, check=check, capture_output=True, text=True, timeout=timeout)
