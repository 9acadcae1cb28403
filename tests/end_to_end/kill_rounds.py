"""Publishes and `kill -9` at random moments, over and over, and what must be left after each.

    python -m tests.end_to_end.kill_rounds --rounds 1000 [--seed N] [--disk]

A round kills one of these, each after a random while:

    starting    a node, before it is ready or just then
    serving     a node that is published to over its control socket, and asked meanwhile
    offline     the command that publishes to a home whose node is stopped
    client      the command that publishes to a running node, and then the node

Afterwards the store must open, hold every version that was acknowledged and at most the one that was under way, whole
and as the current one, and an event for each, numbered without a gap, signed and in line with the history. While a node
runs, what it serves must hash to its ETag. One thing is under way at a time, so nothing is left to interpretation.

The seed decides what is done; when exactly the kill comes is up to the machine as well.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

from descriptor.digests import digest_of
from node.home import Home
from store import Reader, Store, Version
from tests.crash.harness import scratch
from tests.end_to_end.forked import WAIT, Child, port_of, receive, whole
from tests.end_to_end.harness import WELL_KNOWN, Answer, closing_connection, short_directory
from tests.node.parts import draft, identity_of, new_home, verified_document, verified_envelope

KINDS = ("starting", "serving", "offline", "client")
WEIGHTS = (1, 4, 4, 2)
SAMPLE = 10
THOROUGH = 200
"""After so many rounds every version and event is looked at again, not only the new ones."""


@dataclass
class Rounds:
    """The home that all rounds share, what is known to be in it, and what has been counted."""

    home: Home
    chance: random.Random
    subject: str
    known: list[Version] = field(default_factory=list)
    acknowledged: list[tuple[str, str]] = field(default_factory=list)
    under_way: str | None = None
    number: int = 0
    pace: float = 0.05
    """Seconds a publish takes here and now, about: learned, so that kills come within one on any machine."""
    counted: Counter[str] = field(default_factory=Counter)

    def run(self, rounds: int) -> None:
        kinds = [*KINDS, *self.chance.choices(KINDS, WEIGHTS, k=rounds)][:rounds]
        for number, kind in enumerate(kinds, 1):
            self.acknowledged, self.under_way = [], None
            getattr(self, f"_{kind}")()
            self.counted[f"rounds_{kind}"] += 1
            self._judge()
            if number % THOROUGH == 0 or number == rounds:
                self._judge_all()

    # The kinds of round.

    def _starting(self) -> None:
        with self._node() as node:
            node.line(time.monotonic() + self.chance.uniform(0, 0.1))

    def _serving(self) -> None:
        with self._node() as node:
            port = port_of(node)
            with closing(socket.socket(socket.AF_UNIX)) as channel:
                channel.settimeout(WAIT)
                channel.connect(str(self.home.socket))
                began = time.monotonic()
                deadline = began + self._while()
                while self._publish_over(channel, deadline, lambda: self._kill(node)):
                    self._fetch(port)
                self._learn(began)

    def _offline(self) -> None:
        versions = [self._next() for _ in range(self.chance.randint(1, 6))]
        child = self._child([self._publishing(version) for version in versions])
        with closing(child):
            self._take_acknowledged(child, versions)

    def _client(self) -> None:
        with self._node() as node:
            port = port_of(node)
            versions = [self._next() for _ in range(self.chance.randint(1, 3))]
            client = self._child([self._publishing(version) for version in versions])
            with closing(client):
                self._take_acknowledged(client, versions)
            self._fetch(port)
            time.sleep(self.chance.uniform(0, 0.02))

    # What they are made of.

    def _child(self, commands: list[list[str]]) -> Child:
        return Child.of([[*one, "--home", str(self.home.path)] for one in commands], self.home.path.parent / "log")

    @contextmanager
    def _node(self) -> Iterator[Child]:
        """A node that runs until it is killed, at the end of the block at the latest."""
        child = self._child([["run", "--port", "0", "--host", "127.0.0.1", "--log-format", "json", "--json"]])
        with closing(child):
            try:
                yield child
            finally:
                self._kill(child)

    def _kill(self, child: Child) -> None:
        if child.pid:
            assert child.killed(), "the node ended by itself; look at its log"
            child.pid = 0
            self.counted["kills"] += 1

    def _while(self) -> float:
        """Seconds until the kill: within the first publish or one of the next few."""
        return self.pace * self.chance.uniform(0, 5)

    def _learn(self, began: float) -> None:
        """Learns the pace from publishes that began then."""
        count = len(self.acknowledged)
        self.pace = 0.9 * self.pace + 0.1 * (time.monotonic() - began) / count if count else 1.1 * self.pace

    def _next(self) -> str:
        self.number += 1
        return str(self.number)

    def _document(self, version: str) -> bytes:
        return draft(version, notes="n" * self.chance.choice((10, 3_000, 30_000, 100_000)))

    def _publishing(self, version: str) -> list[str]:
        file = self.home.path.parent / f"draft-{int(version) % 8}.json"
        file.write_bytes(self._document(version))
        return ["publish", str(file)]

    def _take_acknowledged(self, child: Child, versions: list[str]) -> None:
        """Notes what a publishing command acknowledges, and kills it after a while."""
        began = time.monotonic()
        deadline = began + self._while()
        for version in versions:
            self.under_way = version
            digest = child.line(deadline)
            if digest is None:
                break
            self._acknowledge(version, digest)
        self._learn(began)
        if child.killed():
            self.counted["kills"] += 1
        # What was written before the kill was told, whether or not it had been read.
        while self.under_way is not None and (digest := child.line(time.monotonic() + WAIT)) is not None:
            self._acknowledge(self.under_way, digest)
            place = versions.index(self.acknowledged[-1][0]) + 1
            self.under_way = versions[place] if place < len(versions) else None

    def _acknowledge(self, version: str, digest: str) -> None:
        assert digest.startswith("sha256:"), digest
        self.acknowledged.append((version, digest))
        self.under_way = None
        self.counted["acknowledged"] += 1

    def _publish_over(self, channel: socket.socket, deadline: float, kill: Any) -> bool:
        """One publish over the control socket; True when it was answered before the deadline, else all is killed."""
        version = self._next()
        if self.known and self.chance.random() < 0.1:
            path, body = (
                "/rollback",
                json.dumps({"digest": self.chance.choice(self.known).digest, "as": version}).encode(),
            )
        else:
            path, body = "/publish", self._document(version)
        self.under_way = version
        channel.sendall(f"POST {path} HTTP/1.1\r\nHost: node\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        received = bytearray()
        in_time = receive(channel, received, deadline)
        if not in_time:
            kill()
            receive(channel, received, time.monotonic() + WAIT)
        answer = whole(received)
        if answer is not None:
            self._acknowledge(version, answer["digest"])
        return in_time

    def _fetch(self, port: int) -> None:
        """What the node serves is whole, and what it has acknowledged last."""
        with closing_connection(port) as connection:
            last = self.acknowledged[-1][1] if self.acknowledged else None
            some = [version.digest for version in self.chance.sample(self.known, min(2, len(self.known)))]
            for digest in (None, last, *some):
                if digest is None and not (self.known or self.acknowledged):
                    continue
                connection.request("GET", WELL_KNOWN if digest is None else f"/descriptors/{digest}")
                answer = Answer.of(connection.getresponse())
                assert answer.status == 200, answer
                assert answer.headers["etag"] == f'"{answer.sha256}"', "half a version was served"
                if self.under_way is None:
                    assert answer.sha256 == digest or digest is None, "another version was served"
                if digest is None and last is not None and self.under_way is None:
                    assert answer.sha256 == last, "an older version was served than the one acknowledged"
                self.counted["fetched"] += 1

    # What must be left.

    def _judge(self) -> None:
        before = self.known[-1].seq if self.known else 0
        Store.open(self.home.database).close()
        with closing(Reader.open(self.home.database)) as reader:
            rows, _ = reader.history(self.subject, len(self.acknowledged) + 2)
            new = [row for row in reversed(rows) if row.seq > before]
            found = [(row.agent_version, row.digest) for row in new]
            count = len(self.acknowledged)
            assert found[:count] == self.acknowledged, f"acknowledged {self.acknowledged}, found {found}"
            assert [version for version, _ in found[count:]] in ([], [self.under_way]), found
            if self.under_way is not None:
                self.counted["under_way_kept" if found[count:] else "under_way_lost"] += 1
            self.known += [_stale(row) for row in new]
            self._judge_versions(reader, new)
            self._judge_events(reader, before, new)
            for row in self.chance.sample(self.known, min(SAMPLE, len(self.known))):
                assert reader.artifact(row.digest) is not None, row
            current = reader.current(self.subject)
            assert (current.seq if current else 0) == len(self.known)

    def _judge_versions(self, reader: Reader, rows: list[Version]) -> None:
        for row in rows:
            data = reader.artifact(row.digest)
            assert data is not None
            assert (digest_of(data), len(data)) == (row.digest, row.size)
            document = verified_document(data)
            assert (document["subject"]["id"], document["agent_version"]) == (self.subject, row.agent_version)

    def _judge_events(self, reader: Reader, before: int, rows: list[Version]) -> None:
        events = reader.events_after(before, len(rows) + 2)
        assert [event.seq for event in events] == [before + place for place in range(1, len(rows) + 1)]
        for event, row in zip(events, rows, strict=True):
            envelope = verified_envelope(event.data)
            payload = envelope["payload"]
            assert (envelope["from"], payload["seq"]) == (self.subject, event.seq)
            assert (payload["digest"], payload["previous_digest"]) == (row.digest, row.previous_digest)
            previous = self.known[row.seq - 2].digest if row.seq > 1 else None
            assert row.previous_digest == previous
            self.counted["events_verified"] += 1

    def _judge_all(self) -> None:
        with closing(Reader.open(self.home.database)) as reader:
            assert list(reader.verify()) == []
            rows: list[Version] = []
            before: int | None = None
            while True:
                page, before = reader.history(self.subject, 500, before)
                rows += page
                if before is None:
                    break
            rows.reverse()
            assert [_stale(row) for row in rows] == self.known
            self._judge_versions(reader, rows)
            self._judge_events(reader, 0, rows)


def _stale(row: Version) -> Version:
    """The row without what a later publish changes of it."""
    return Version(
        row.seq,
        row.subject,
        row.digest,
        row.agent_version,
        row.size,
        row.published_at,
        row.previous_digest,
        current=False,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--disk", action="store_true", help="keep the home on the disk of temporary files")
    options = parser.parse_args()
    print(f"{options.rounds} rounds, seed {options.seed}", flush=True)
    for name in [name for name in os.environ if name.startswith("AGENT_NODE_")]:
        del os.environ[name]
    # In memory unless asked otherwise: what a killed process has written is there either way, and waiting for a disk to
    # promise it makes the rounds fewer. Power that fails is the matter of tests/crash.
    with short_directory() if options.disk else scratch() as directory:
        home = new_home(directory / "h")
        rounds = Rounds(home, random.Random(options.seed), identity_of(home).id)
        log = home.path.parent / "log"
        began = time.monotonic()
        try:
            rounds.run(options.rounds)
            assert b"Traceback" not in log.read_bytes(), "a process failed by itself"
        except BaseException:  # raised again, after the log is shown
            sys.stderr.write(log.read_text(errors="replace")[-4000:] if log.exists() else "")
            raise
        seconds = time.monotonic() - began
        size = home.database.stat().st_size
    summary = {
        "rounds": options.rounds,
        "seed": options.seed,
        "disk": options.disk,
        "versions": len(rounds.known),
        **dict(sorted(rounds.counted.items())),
        "database_bytes": size,
        "seconds": round(seconds, 1),
        "seconds_a_round": round(seconds / options.rounds, 3),
    }
    print("All held. " + json.dumps(summary))


if __name__ == "__main__":
    main()
