"""What the daemon tells the service manager, in systemd's own datagrams and without its library.

The invariant: a service manager that is absent, old or gone never disturbs the node. Without
`NOTIFY_SOCKET` every call does nothing, and a message that cannot be sent is given up after one second.
The daemon's states, each announced once:

    starting --ready()--> ready --reloading()--> reloading --ready()--> ready --stopping()--> stopping

with `watchdog()` sent all the while, as often as `watchdog_interval` says.
Source: the manual pages sd_notify(3) and sd_watchdog_enabled(3).
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass

SEND_WAIT = 1.0
"""Seconds a full queue of the service manager may hold the daemon up."""


@dataclass(frozen=True)
class Notifier:
    """The way to the service manager; `address` is None when nobody there listens.

    Every method returns whether the message was handed over.
    """

    address: str | None

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Notifier:
        """The notifier that `NOTIFY_SOCKET` names: a path, or an abstract name that begins with `@`.

        Any other kind of address (such as `vsock:`) is not spoken to.
        """
        address = environ.get("NOTIFY_SOCKET", "")
        return cls(address if address.startswith(("/", "@")) else None)

    def ready(self, status: str) -> bool:
        """Says that questions are answered from now on; `status` is one line for `systemctl status`."""
        return self._send("READY=1", "STATUS=" + " ".join(status.split()))

    def reloading(self) -> bool:
        """Says that settings are being read again; `ready` ends it."""
        return self._send("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self) -> bool:
        """Says that the node drains and stops."""
        return self._send("STOPPING=1")

    def watchdog(self) -> bool:
        """Says that the node is alive."""
        return self._send("WATCHDOG=1")

    def _send(self, *assignments: str) -> bool:
        if self.address is None:
            return False
        # The kernel marks an abstract name by a zero byte where systemd writes "@".
        address = "\0" + self.address[1:] if self.address.startswith("@") else self.address
        message = "\n".join(assignments).encode("utf-8", "backslashreplace")
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
                channel.settimeout(SEND_WAIT)
                return channel.sendto(message, address) == len(message)
        except OSError:
            return False


def watchdog_interval(environ: Mapping[str, str]) -> float | None:
    """Seconds between two signs of life: half of what the service manager waits for one.

    None when no watchdog is asked for, or it is asked of another process.
    """
    try:
        microseconds = int(environ["WATCHDOG_USEC"])
        asked = int(environ.get("WATCHDOG_PID", os.getpid()))
    except (KeyError, ValueError):
        return None
    return microseconds / 2e6 if microseconds > 0 and asked == os.getpid() else None
