"""Whether mDNS gets through on a link: one question is sent, and has to be heard by the one who sent it.

What is sent to a group comes back to whoever joined it on the same machine by the way it would come from a neighbor, so
a firewall that holds port 5353 holds it back as well. The question is about a name that nobody bears.

Source: RFC 6762.
"""

from __future__ import annotations

import errno
import secrets
import select
import socket
import struct
import time

from node.discovery.record import SERVICE
from node.interfaces import Link

GROUP, GROUP_V6, PORT = "224.0.0.251", "ff02::fb", 5353
WAIT = 1.0  # seconds
SIZE = 9000  # bytes: the most an mDNS message may be
PTR, IN = 12, 1


def probe(link: Link) -> str | None:
    """Why a link does not carry mDNS, for people; None when it does. Takes up to a second."""
    own = link.addresses[0]
    question = _question(f"_{secrets.token_hex(8)}.{SERVICE}")
    try:
        with socket.socket(socket.AF_INET if own.version == 4 else socket.AF_INET6, socket.SOCK_DGRAM) as sock:
            _join(sock, str(own.ip), link.index)
            sock.sendto(question, (GROUP, PORT) if own.version == 4 else (GROUP_V6, PORT, 0, link.index))
            heard = _comes_back(sock, question)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return "another program keeps UDP port 5353 to itself (with avahi: disallow-other-stacks=no)"
        return f"{error.strerror or error}"
    return None if heard else "what is sent to UDP port 5353 does not come back: let it through the firewall"


def _join(sock: socket.socket, address: str, index: int) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "SO_REUSEPORT"):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    sock.bind(("", PORT))
    if sock.family == socket.AF_INET:
        group = socket.inet_aton(GROUP) + socket.inet_aton(address)
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(address))
    else:
        group = socket.inet_pton(socket.AF_INET6, GROUP_V6) + struct.pack("@I", index)
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, group)
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)


def _comes_back(sock: socket.socket, question: bytes) -> bool:
    until = time.monotonic() + WAIT
    while (left := until - time.monotonic()) > 0:
        if select.select([sock], [], [], left)[0] and sock.recv(SIZE) == question:
            return True
    return False


def _question(name: str) -> bytes:
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.rstrip(".").split("."))
    return struct.pack("!6H", 0, 0, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!2H", PTR, IN)
