"""Somebody who announces what is not so: any record at all, from any host, for as long as the block runs.

    python -m tests.lan.records '{"on": …, "instance": …, "port": …, "addresses": […], "text": {…}, "count": 1}'

It is a program of its own, because it has to run inside the namespace of its host. It says `ready` when it announces.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from zeroconf import ServiceInfo
from zeroconf.asyncio import AsyncZeroconf

from descriptor.keys import Identity
from node.discovery.record import SERVICE
from tests.end_to_end.harness import ROOT, WAIT, environment
from tests.lan.network import Host


async def announce(record: Mapping[str, Any]) -> None:
    """Announces it until stdin is closed: `count` times, with its number for `{number}` and a new id for `{id}`.

    The numbers begin at `first`.
    """
    mdns = AsyncZeroconf(interfaces=[record["on"]])
    for number in range(record.get("first", 0), record.get("first", 0) + record.get("count", 1)):
        text = record["text"]
        if isinstance(text, dict):
            properties: Any = {name: _filled(value, number) for name, value in text.items()}
        else:
            properties = bytes.fromhex(text)
        info = ServiceInfo(
            SERVICE,
            f"{record['instance'].replace('{number}', str(number))}.{SERVICE}",
            port=record["port"],
            properties=properties,
            server=f"somebody-{number}.local.",
            parsed_addresses=[address.replace("{number}", str(number)) for address in record["addresses"]],
        )
        await mdns.async_register_service(info, cooperating_responders=True, strict=False)
        if number % 50 == 49:
            await asyncio.sleep(0.05)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    if record.get("goodbye", True):
        await mdns.async_close()


def _filled(text: str, number: int) -> str:
    return text.replace("{number}", str(number)).replace("{id}", Identity.generate().id)


@contextmanager
def announced(host: Host, instance: str, text: Mapping[str, str] | bytes, **record: Any) -> Iterator[None]:
    """A record that a host announces while the block runs; of port 7420 of that host, unless it says otherwise.

    `on` among the members is where it is announced: an IPv4 address, or for IPv6 the index of an interface.
    """
    whole = {
        "on": host.address,
        "instance": instance,
        "port": 7420,
        "addresses": [host.address],
        "text": text.hex() if isinstance(text, bytes) else dict(text),
        **record,
    }
    command = [*host.within, sys.executable, "-m", "tests.lan.records", json.dumps(whole)]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        try:
            assert process.stdout.readline() == b"ready\n"
            yield
        finally:
            process.stdin.close()
            try:
                process.wait(WAIT)
            finally:
                process.kill()


if __name__ == "__main__":
    asyncio.run(announce(json.loads(sys.argv[1])))
