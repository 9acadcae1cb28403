"""An avahi-daemon of its own on a host of a test network: another program that speaks mDNS, written by others."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from tests.end_to_end.harness import WAIT, short_directory
from tests.lan.network import INTERFACE, Host

PROGRAMS = ("avahi-daemon", "avahi-browse", "dbus-daemon")

BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path={directory}/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow own="*"/> <allow user="*"/> <allow send_destination="*"/> <allow receive_sender="*"/>
    <allow send_type="method_call"/> <allow send_type="signal"/>
  </policy>
</busconfig>
"""
AVAHI = f"""[server]
host-name=elsewhere
use-ipv4=yes
use-ipv6=yes
allow-interfaces={INTERFACE}
enable-dbus=yes
[publish]
publish-workstation=no
"""


def missing() -> str | None:
    """What avahi lacks here; None for nothing."""
    absent = [program for program in PROGRAMS if shutil.which(program) is None]
    return f"there is no {', '.join(absent)} here (apt install avahi-daemon avahi-utils dbus)" if absent else None


@dataclass(frozen=True)
class Avahi:
    """A running avahi-daemon, asked with avahi-browse."""

    host: Host
    environ: dict[str, str]

    def browse(self, service: str) -> str:
        """What `avahi-browse --resolve --terminate --parsable` says of a service."""
        return subprocess.run(
            [*self.host.within, "avahi-browse", "-rtp", service],
            env=self.environ,
            check=True,
            capture_output=True,
            text=True,
            timeout=WAIT,
        ).stdout


@contextmanager
def avahi_on(host: Host) -> Iterator[Avahi]:
    """An avahi-daemon with a bus of its own, for as long as the block runs."""
    with short_directory() as directory, ExitStack() as stack:
        environ = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={directory}/bus"}
        (directory / "bus.conf").write_text(BUS.format(directory=directory))
        (directory / "avahi.conf").write_text(AVAHI)
        stack.enter_context(_running(host, environ, "dbus-daemon", "--nofork", f"--config-file={directory}/bus.conf"))
        _until((directory / "bus").is_socket, "the bus did not come up")
        # Its place for a pid file is fixed, and may be taken: what is mounted here is seen by this process alone.
        own_run = "mkdir -p /run/avahi-daemon && mount -t tmpfs none /run/avahi-daemon && exec avahi-daemon"
        options = f"--no-drop-root --no-chroot --no-rlimits --file={directory}/avahi.conf"
        stack.enter_context(_running(host, environ, "sh", "-c", f"{own_run} {options}"))
        avahi = Avahi(host, environ)
        _until(lambda: _answers(avahi), "avahi-daemon did not come up")
        yield avahi


def _answers(avahi: Avahi) -> bool:
    try:
        avahi.browse("_nobody._tcp")
    except subprocess.CalledProcessError:
        return False
    return True


@contextmanager
def _running(host: Host, environ: dict[str, str], *command: str) -> Iterator[None]:
    with subprocess.Popen(
        [*host.within, *command], env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(WAIT)
            finally:
                process.kill()


def _until(look: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + WAIT
    while not look():
        assert time.monotonic() < until, what
        time.sleep(0.1)
