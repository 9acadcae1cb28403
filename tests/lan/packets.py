"""Packets that no mDNS program would send, multicast from a host, as fast as it goes or nearly.

    python -m tests.lan.packets ADDRESS KIND COUNT

`names`: so many instances of the service, many in a packet, of which nothing is known but the name. `elsewhere`: so
many services of another kind. `garbage`: so many packets that are no DNS, or DNS that contradicts itself.
"""

from __future__ import annotations

import random
import socket
import struct
import sys
import time
from collections.abc import Iterator

from node.discovery.record import SERVICE
from node.multicast import GROUP, PORT
from tests.end_to_end.harness import WAIT
from tests.lan.network import Host

PTR, TXT, SRV, IN, FLUSH = 12, 16, 33, 1, 0x8001
KEPT = 86_400  # seconds: longer than anybody else asks for, so that everything else is dropped first
ANSWER = 0x8400  # a response, authoritative
TOGETHER = 70  # names in a packet, which is as long then as mDNS allows (RFC 6762, 17)
PAUSE = 0.0015  # seconds behind each KiB: more at once would only be dropped on the way


def send(host: Host, kind: str, count: int) -> None:
    """Sends them from a host, and returns when they are sent."""
    host.run(sys.executable, "-m", "tests.lan.packets", host.address, kind, str(count), timeout=2 * WAIT)


def names(count: int, service: str = SERVICE) -> Iterator[bytes]:
    """Packets that name instances of a service, and say nothing more."""
    for first in range(0, count, TOGETHER):
        records = [
            _record(service, PTR, IN, _name(f"nobody-{number}.{service}"))
            for number in range(first, min(first + TOGETHER, count))
        ]
        yield _packet(records)


def garbage(count: int) -> Iterator[bytes]:
    """Packets that are nothing, of every kind that there is of it; the same in every run."""
    chance = random.Random(20260601)
    for number in range(count):
        whole = _packet(
            [
                _record(SERVICE, PTR, IN, _name(f"odd-{number}.{SERVICE}")),
                _record(f"odd-{number}.{SERVICE}", TXT, FLUSH, chance.randbytes(chance.randrange(400))),
                _record(f"odd-{number}.{SERVICE}", SRV, FLUSH, struct.pack("!3H", 0, 0, 0) + b"\xc0\x0c"),
            ]
        )
        match number % 4:
            case 0:
                yield chance.randbytes(chance.randrange(1, 1400))
            case 1:
                yield whole[: chance.randrange(1, len(whole))]
            case 2:
                at = chance.randrange(len(whole))
                yield whole[:at] + bytes([chance.randrange(256)]) + whole[at + 1 :]
            case _:
                yield whole


def _packet(records: list[bytes]) -> bytes:
    return struct.pack("!6H", 0, ANSWER, 0, len(records), 0, 0) + b"".join(records)


def _record(name: str, kind: int, cls: int, data: bytes) -> bytes:
    return _name(name) + struct.pack("!2HIH", kind, cls, KEPT, len(data)) + data


def _name(name: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in name.rstrip(".").split(".")) + b"\0"


def main(address: str, kind: str, count: int) -> None:
    """Sends `count` of a kind."""
    packets = {"names": names, "elsewhere": lambda n: names(n, "_printer._tcp.local."), "garbage": garbage}[kind](count)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(address))
        sock.bind(("", PORT))
        for packet in packets:
            sock.sendto(packet, (GROUP, PORT))
            time.sleep(PAUSE * (1 + len(packet) / 1024))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
