"""Descriptors of 4 KiB, and homes that hold many versions of one.

The invariant: a stored version is what publishing would have stored: bound, signed, under its digest, with its row in
the history. Only the way in is another: 100,000 publishes, each forced to the disk by itself, would take an hour.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bench.errors import BenchError
from descriptor.digests import digest_of
from descriptor.document import Descriptor
from descriptor.publishing import Terms, plan
from descriptor.signatures import statement_bytes
from node.config import load as load_settings
from node.home import Home
from node.identity import load as load_keys
from node.publisher import terms_of
from store import DESCRIPTOR_REPLACED, Store

DOCUMENT_BYTES = 4096
DEMO = Path(__file__).parent.parent / "configs" / "examples" / "demo.json"
PADDING = "It keeps to what is written here, whoever asks it to do otherwise. "


@dataclass(frozen=True)
class FilledHome:
    """A home with versions in it. `drafts` publish on top of them; `digests` are oldest first, the last is current."""

    path: Path
    drafts: Drafts
    digests: tuple[str, ...]
    current: bytes


@dataclass(frozen=True)
class Drafts:
    """The demo's draft, padded so that each version is `DOCUMENT_BYTES` long once it is bound and signed."""

    members: dict[str, object]

    @classmethod
    def fitting(cls, terms: Terms, now: float) -> Drafts:
        """Adds to the demo's refusals what is missing to the size."""
        demo = json.loads(DEMO.read_bytes())
        missing = DOCUMENT_BYTES - len(plan(cls(demo).draft("1", 0), None, terms, now).descriptor.data) - 1
        if missing < 0:
            raise BenchError(f"{DEMO.name} is longer than {DOCUMENT_BYTES} bytes once it is published.")
        padding = (PADDING * (missing // len(PADDING) + 1))[:missing]
        return cls({**demo, "refusals": f"{demo['refusals']} {padding}"})

    def draft(self, major: str, number: int) -> bytes:
        """One draft. Every `number` is written with as many digits, so that all are equally long."""
        return json.dumps({**self.members, "agent_version": f"{major}.{number:06}"}, ensure_ascii=False).encode()


def fill_home(path: Path, versions: int) -> FilledHome:
    """Makes a home at `path` with an identity and `versions` versions."""
    home = Home(path)
    program = Path(sys.executable).with_name("agent-node")
    made: list[str | Path] = [program, "init", "--home", path, "--handle", "bench.home", "--acts-for", "person"]
    subprocess.run(made, stdout=subprocess.DEVNULL, timeout=60, check=True)
    keys = load_keys(home, None, {})
    terms = terms_of(keys, load_settings(home.config, {}, {}))
    now = time.time()
    drafts = Drafts.fitting(terms, now)
    stored = tuple(_insert(home.database, terms.identity.id, now, _documents(drafts, terms, now, versions)))
    current = plan(drafts.draft("1", versions), None, terms, now).descriptor
    if digest_of(current.data) != stored[-1] or len(current.data) != DOCUMENT_BYTES:
        raise BenchError("What was stored is not what publishing would have stored.")
    return FilledHome(path, drafts, stored, current.data)


def _documents(drafts: Drafts, terms: Terms, now: float, versions: int) -> Iterator[tuple[str, bytes]]:
    """`agent_version` and bytes of each version.

    Two versions differ in `agent_version` and in the signature only, so the first one is taken apart and put together
    anew: a signature and a digest are what a version costs, and not a binding of the whole document.
    """
    first = plan(drafts.draft("1", 0), None, terms, now).descriptor
    stated = f'"{first.agent_version}"'.encode()
    said, unsaid = _split(statement_bytes(first.members), stated)
    before, behind = _split(first.data, stated)
    between, after = _split(behind, _signature(first).encode())
    for number in range(1, versions + 1):
        agent_version = f"1.{number:06}"
        version = f'"{agent_version}"'.encode()
        signature = b64encode(terms.identity.sign(said + version + unsaid))
        yield agent_version, b"".join((before, version, between, signature, after))


def _insert(database: Path, subject: str, now: float, documents: Iterator[tuple[str, bytes]]) -> Iterator[str]:
    """Stores the documents as the history of `subject`, and yields their digests."""
    Store.open(database).close()  # makes the tables, which are the store's own affair
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        # A home that is thrown away needs no journal; WAL, which the store left in force, comes back at the end.
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -65536"):
            connection.execute(f"PRAGMA {pragma}").fetchone()
        connection.execute("BEGIN")
        previous = None
        seq = 0
        for seq, (agent_version, data) in enumerate(documents, 1):
            digest = digest_of(data)
            connection.execute("INSERT INTO artifacts (digest, stored_at, bytes) VALUES (?, ?, ?)", (digest, now, data))
            connection.execute(
                "INSERT INTO versions (seq, subject, digest, agent_version, size, published_at, previous_digest)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (seq, subject, digest, agent_version, len(data), now, previous),
            )
            # The one thing that is not as publishing leaves it: nobody reads the event, so it is not signed.
            connection.execute(
                "INSERT INTO events (seq, type, subject, at, data) VALUES (?, ?, ?, ?, ?)",
                (seq, DESCRIPTOR_REPLACED, subject, now, json.dumps({"digest": digest, "previous_digest": previous})),
            )
            previous = digest
            yield digest
        connection.execute("INSERT INTO current (subject, seq) VALUES (?, ?)", (subject, seq))
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
    os.sync()  # or writing it out would go on underneath what is measured


def _split(data: bytes, part: bytes) -> tuple[bytes, bytes]:
    """What is before and behind `part`, which has to stand there once."""
    before, *behind = data.split(part)
    if len(behind) != 1:
        raise BenchError("A document cannot be taken apart: what changes from version to version stands in it twice.")
    return before, behind[0]


def _signature(descriptor: Descriptor) -> str:
    match descriptor.members["signatures"]:
        case [{"sig": str(signature)}]:
            return signature
    raise BenchError("A published document carries another number of signatures than one.")
