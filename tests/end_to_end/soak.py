"""Nodes among others for a long time: what they cost does not grow, nothing is left behind, and nothing is lost.

    python -m tests.end_to_end.soak [--minutes 30] [--seed N]

    speaker     publishes, keeps a registry, and is read by readers who stay and by others who come and go
    restless    publishes, and is stopped or killed (-9) and started again
    listener    follows both, and agents that flood, lie, repeat themselves, drip, redirect and send lines without end
                (`mean_agents`); they are followed, followed no more, and followed again
    strangers   send half requests, broken ones and floods to the speaker, and hand junk to its registry
    records     of nobody are announced and withdrawn by mDNS on loopback, where that is possible

The speaker and the listener run from beginning to end, and are judged by what they say of themselves (`/metrics`).
Memory: the line of least squares through what was measured behind the first third rises by less than `GROWTH` until the
end. Tasks, open files and readers: when all is quiet in the end there are as many as when all was quiet in the
beginning. Lost: a reader that stayed has every event of the speaker, once and in order, and the listener keeps exactly
what both have published, in their order.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import socket
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from statistics import linear_regression

from entryway.feed import StreamParser
from tests.end_to_end.feed_kills import holds, kept, log_of
from tests.end_to_end.harness import WAIT, Node, closing_connection, fresh_home, running
from tests.end_to_end.mean_agents import CHUNK, MeanAgents, announce_records
from tests.node.parts import draft

GROWTH = 8.0
"""MiB: more than an allocator's restlessness, and less than a leak of half an hour."""
ROUND = 1.0
"""Seconds a round takes, at least."""
STAYING, COMING, HANGING = 20, 30, 5
RESTART_EVERY, REFOLLOW_EVERY, RECORDS_EVERY = 10, 7, 20  # rounds
SETTINGS = "[agent]\nacts_for = 'person'\n[registry]\nregistry = true\nregistry_puts_per_hour = 1000000\n"
SMALL = "[agent]\nacts_for = 'person'\n[following]\nfollowed_versions = {}\n"
LOOPBACK = {"AGENT_NODE_INTERFACES": "lo"}
BROKEN = (
    b"\x00\x01\x02" * 100,
    b"GET / HTTP/1.1\r\nHost: node\r\nX: " + CHUNK,
    b"POST /entryway HTTP/1.1\r\nHost: node\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n[[[[[[[[[",
    b"PUT /registry HTTP/1.1\r\nHost: node\r\nContent-Length: 65536\r\n\r\n" + CHUNK,
    b"GET /events?after=99999999999 HTTP/1.1\r\nHost: node\r\n\r\n" * 3,
    b"GET /descriptors?limit=500 HTTP/1.1\r\nHost: node\r\n\r\n" * 50,
)


@dataclass(frozen=True)
class Measured:
    """What a node says of itself. `at`: minutes."""

    at: float
    rss_mib: float
    tasks: int
    files: int
    subscribers: int

    @classmethod
    def of(cls, node: Node, began: float) -> Measured:
        lines = node.asks("GET", "/metrics").body.decode().splitlines()
        values = dict(line.split() for line in lines if line[:1] not in ("", "#") and "{" not in line)
        return cls(
            (time.monotonic() - began) / 60,
            float(values["process_resident_memory_bytes"]) / 2**20,
            int(float(values["agent_node_tasks"])),
            int(float(values["process_open_fds"])),
            int(float(values["agent_node_subscribers"])),
        )

    @property
    def standing(self) -> tuple[int, int, int]:
        """What is the same whenever all is quiet."""
        return self.tasks, self.files, self.subscribers


class Reader:
    """A reader that stays. `got`: the numbers of the events that came."""

    def __init__(self, port: int) -> None:
        self.got: list[int] = []
        self._sock = opened(port, "/events?after=0")
        self._head, self._parser = b"", StreamParser()

    def read(self) -> list[int]:
        """Takes what has come."""
        self._sock.setblocking(False)
        with suppress(BlockingIOError):
            while data := self._sock.recv(65_536):
                if b"\r\n\r\n" in self._head:
                    self.got += [int(message.id) for message in self._parser.feed(data)]
                    continue
                self._head, separator, rest = (self._head + data).partition(b"\r\n\r\n")
                self._head += separator
                self.got += [int(message.id) for message in self._parser.feed(rest if separator else b"")]
        assert self._head.startswith(b"HTTP/1.1 200 ")
        return self.got

    def close(self) -> None:
        self._sock.close()


def opened(port: int, path: str) -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", port), timeout=WAIT)
    sock.sendall(f"GET {path} HTTP/1.1\r\nHost: node\r\n\r\n".encode())
    return sock


class Soak:
    """Everything that goes on, a round at a time."""

    def __init__(self, minutes: float, chance: random.Random, opened: ExitStack) -> None:
        self.speaker_home, self.restless_home, listener_home = (opened.enter_context(fresh_home()) for _ in range(3))
        self.speaker_home.config.write_text(SETTINGS)
        listener_home.config.write_text(SMALL.format(300 + round(60 / ROUND * minutes)))  # a round publishes once
        self.mean = MeanAgents()
        opened.enter_context(self.mean.running())
        self.speaker = opened.enter_context(running(self.speaker_home, mdns=True, env=LOOPBACK))
        self.listener = opened.enter_context(running(listener_home, mdns=True, env=LOOPBACK))
        self.records = 0
        self.restarts = 0
        self.published = {"speaker": 0, "restless": 0}
        self._chance = chance
        self._restless = opened.enter_context(ExitStack())
        self._restless_port = 0
        self._hanging: list[socket.socket] = []
        self._start_restless()
        for node in (self.speaker, self.restless):
            self.follow(node.ready["id"], node.url)
        self.readers = [Reader(self.speaker.port) for _ in range(STAYING)]

    def publish(self, node: Node, name: str) -> None:
        self.published[name] += 1
        answer = node.asks(
            "POST", "/publish", draft(str(self.published[name]), notes="n" * self._chance.choice((10, 9000)))
        )
        assert answer.status == 200, answer.body

    def follow(self, agent_id: str, url: str) -> None:
        answer = self.listener.asks("POST", "/follow", json.dumps({"id": agent_id, "url": url}).encode())
        assert answer.status == 200, answer.body

    def unfollow(self, agent_id: str) -> None:
        self.listener.asks("POST", "/unfollow", json.dumps({"id": agent_id}).encode())

    def round(self, number: int) -> None:
        self.publish(self.speaker, "speaker")
        self.publish(self.restless, "restless")
        for reader in self.readers:
            reader.read()
        self._come_and_go()
        self._strangers()
        if number % RESTART_EVERY == RESTART_EVERY - 1:
            self._restart()
        if number % REFOLLOW_EVERY == 0:
            for agent_id, url in self.mean.places:
                self.unfollow(agent_id)
                self.follow(agent_id, url)
        if number % RECORDS_EVERY == 1:
            announce_records(number, self._look_around)

    def _look_around(self) -> None:
        self.records += len(self.speaker.asks("GET", "/peers").json()["peers"])

    def quiet(self, before: tuple[Measured, Measured] | None = None) -> tuple[Measured, Measured]:
        """What both nodes say once nobody is there but each other, and the readers that stay.

        `before`: what they said the last time, which is waited for; without it, until they say the same for a while.
        """
        for agent_id, _ in self.mean.places:
            self.unfollow(agent_id)
        for sock in self._hanging:
            sock.close()
        self._hanging.clear()
        seen: list[list[tuple[int, int, int]]] = []
        until = time.monotonic() + 4 * WAIT
        while True:
            time.sleep(0.7)
            measured = [Measured.of(node, 0.0) for node in (self.speaker, self.listener)]
            seen.append([one.standing for one in measured])
            waited_for = seen[-4:-1] if before is None else [[one.standing for one in before]] * 3
            if waited_for == [seen[-1]] * 3 or time.monotonic() > until:
                return measured[0], measured[1]

    def _come_and_go(self) -> None:
        """Readers who come for a moment, some in the middle of the log, and go without a word."""
        coming = []
        for _ in range(COMING):
            after = self._chance.randrange(self.published["speaker"] + 1)
            coming.append(opened(self.speaker.port, f"/events?after={after}"))
        for sock in coming:
            if self._chance.random() < 0.5:
                sock.recv(4096)
            sock.close()

    def _strangers(self) -> None:
        port = self.speaker.port
        for data in BROKEN:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=WAIT) as sock:
                sock.sendall(data[: self._chance.randrange(1, len(data) + 1)])
                if self._chance.random() < 0.3:
                    sock.settimeout(0.2)
                    sock.recv(4096)
        self._hanging.append(opened(port, "/events?after=0"))
        if len(self._hanging) > HANGING:
            self._hanging.pop(0).close()
        with closing_connection(port) as connection:
            connection.request("GET", "/.well-known/agent-descriptor.json")
            assert connection.getresponse().status == 200

    def _start_restless(self) -> None:
        self.restless = self._restless.enter_context(running(self.restless_home, f"--port={self._restless_port}"))
        self._restless_port = self.restless.port

    def _restart(self) -> None:
        self.restarts += 1
        self.restless.signal(self._chance.choice((signal.SIGTERM, signal.SIGKILL)))
        self.restless.stopped()
        self._restless.close()
        self._start_restless()


def run(minutes: float, seed: int) -> dict[str, object]:
    """Raises AssertionError for what grows, is left behind or is lost. Returns what was counted."""
    with ExitStack() as opened_here:
        soak = Soak(minutes, random.Random(seed), opened_here)
        for number in range(3):  # what is imported when it is first needed is no growth
            soak.round(number)
        quiet_before = soak.quiet()
        began = time.monotonic()
        samples: list[tuple[Measured, Measured]] = []
        rounds = 0
        while time.monotonic() - began < minutes * 60:
            round_began = time.monotonic()
            soak.round(rounds)
            samples.append((Measured.of(soak.speaker, began), Measured.of(soak.listener, began)))
            rounds += 1
            time.sleep(max(0.0, ROUND - (time.monotonic() - round_began)))
        quiet_after = soak.quiet(quiet_before)
        nothing_lost(soak)
        for reader in soak.readers:
            reader.close()
    counted: dict[str, object] = {
        "minutes": minutes,
        "rounds": rounds,
        "published": soak.published,
        "restarts": soak.restarts,
        "records_heard": soak.records,
    }
    for place, name in enumerate(("speaker", "listener")):
        behind = [one[place] for one in samples][len(samples) // 3 :]
        slope, _ = linear_regression([one.at for one in behind], [one.rss_mib for one in behind])
        growth = slope * (behind[-1].at - behind[0].at)
        before, after = quiet_before[place], quiet_after[place]
        counted[name] = {
            "growth_mib": round(growth, 2),
            "rss_mib": [
                round(one, 1) for one in (before.rss_mib, behind[0].rss_mib, behind[-1].rss_mib, after.rss_mib)
            ],
            "tasks_files_readers": [before.standing, after.standing],
        }
        assert growth < GROWTH, (name, counted)
        assert after.standing == before.standing, (name, counted)
    return counted


def nothing_lost(soak: Soak) -> None:
    for home, name in ((soak.speaker_home, "speaker"), (soak.restless_home, "restless")):
        digests = [json.loads(one.data)["payload"]["digest"] for one in log_of(home)]
        assert len(digests) == soak.published[name]
        holds(lambda home=home: kept(soak.listener.home, home), digests, f"the listener, of the {name}")  # type: ignore[misc]  # mypy does not see the default
    numbers = [*range(1, soak.published["speaker"] + 1)]
    for reader in soak.readers:
        holds(reader.read, numbers, "a reader that stayed")


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--minutes", type=float, default=30.0)
    arguments.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    asked = arguments.parse_args()
    print(f"{asked.minutes:g} minutes, seed {asked.seed}", flush=True)
    print("All held. " + json.dumps(run(asked.minutes, asked.seed)))


if __name__ == "__main__":
    main()
