"""Where the node listens, as sockets and as addresses that a person can type.

Source: binding 3.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
from collections.abc import Iterable

import ifaddr
import structlog

from node.errors import NodeError

BACKLOG = 1024
# Bridges and ends of containers and virtual machines: no neighbor reaches the node there (binding 7).
VIRTUAL = ("docker", "br-", "veth", "virbr", "cni")
ABSENT = {errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL}

log = structlog.get_logger("addresses")


def listen(hosts: Iterable[str], port: int) -> list[socket.socket]:
    """Listening sockets, one a host, on one port; with port 0 the first takes a free one and the others follow.

    Of several hosts, those that this machine does not have (no IPv6, say) are left out with a line in the log. Raises
    NodeError PORT_IN_USE, PORT_FORBIDDEN, HOST_UNUSABLE.
    """
    listeners: list[socket.socket] = []
    refused: OSError | None = None
    hosts = list(hosts)
    for host in hosts:
        try:
            listener = _listener(host, port)
        except OSError as error:
            if error.errno in ABSENT and len(hosts) > 1:
                log.info("address_left_out", host=host, reason=error.strerror)
                refused = error
                continue
            for other in listeners:
                other.close()
            raise _refused(host, port, error) from error
        port = listener.getsockname()[1]
        listeners.append(listener)
    if not listeners and refused is not None:
        raise _refused(hosts[-1], port, refused)
    return listeners


def urls(listeners: Iterable[socket.socket]) -> list[str]:
    """The base URLs under which the sockets are reached; a wildcard stands for this machine's own addresses.

    The first one is what a neighbor would type: a private IPv4 address where there is one.
    """
    found: list[str] = []
    for listener in listeners:
        address, port = listener.getsockname()[:2]
        ip = ipaddress.ip_address(address.partition("%")[0])
        ips = (_own_addresses(ip.version) or [ip]) if ip.is_unspecified else [ip]
        found += [f"http://[{ip}]:{port}" if ip.version == 6 else f"http://{ip}:{port}" for ip in ips]
    return found


def _own_addresses(version: int) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    ips = []
    for adapter in ifaddr.get_adapters():
        if adapter.name.startswith(VIRTUAL):
            continue
        for entry in adapter.ips:
            ip = ipaddress.ip_address(entry.ip[0] if isinstance(entry.ip, tuple) else entry.ip)
            if ip.version == version and not ip.is_link_local:
                ips.append(ip)
    return sorted(ips, key=lambda ip: (ip.is_loopback, not ip.is_private, ip))


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family is socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except UnicodeError as error:  # no name at all: a part of it is empty or too long
        listener.close()
        raise socket.gaierror(socket.EAI_NONAME, "unknown name") from error
    except OSError:
        listener.close()
        raise
    return listener


def _refused(host: str, port: int, error: OSError) -> NodeError:
    if error.errno == errno.EADDRINUSE:
        return NodeError(
            "PORT_IN_USE", f"Port {port} of {host} is in use. Stop what uses it, or choose another with --port."
        )
    if error.errno == errno.EACCES:
        return NodeError(
            "PORT_FORBIDDEN", f"Port {port} needs root, as all below 1024 do. Choose one from 1024 up with --port."
        )
    why = error.strerror or os.strerror(error.errno or 0) if not isinstance(error, socket.gaierror) else "unknown name"
    return NodeError("HOST_UNUSABLE", f"The node cannot listen on {host}, port {port}: {why}. Check --host.")
