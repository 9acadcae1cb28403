"""What it costs to make what people see: the AgentDoc, the page, and what changed between two versions.

A node makes each once a publish, or once for a pair of digests, in a worker thread; what a request then costs is the
contestant `page`.
"""

from __future__ import annotations

import json
import time
from functools import partial

from bench.checking import SMALL, documents, milliseconds
from bench.errors import BenchError
from descriptor.document import Descriptor
from descriptor.keys import Identity
from descriptor.projections.agentdoc import AgentDoc, Origin, assemble
from entryway.page.changes import MOST_BYTES, changes_of
from entryway.page.content import content_of
from entryway.page.render import agent_page, changes_page

ROUNDS = {SMALL: 50}
FEW_ROUNDS = 5


def measure(now: float | None = None) -> dict[str, float]:
    """Milliseconds of each, the middle of many: of documents of 4 KiB and of 1 MiB, and of the largest pair compared.

    Raises BenchError when that pair is not compared.
    """
    now = time.time() if now is None else now
    identity = Identity.generate()
    found: dict[str, float] = {}
    for size, data in documents(now).items():
        descriptor, rounds = Descriptor.read(data), ROUNDS.get(size, FEW_ROUNDS)
        assembled = partial(assemble, identity, now, descriptor, Origin(url="/"))
        found[f"agentdoc_ms_{size}"] = round(milliseconds(assembled, rounds), 2)
        found[f"page_ms_{size}"] = round(milliseconds(partial(_page, assembled()), rounds), 2)
    found["changes_ms"] = round(milliseconds(partial(_changes, _largest("a"), _largest("b")), FEW_ROUNDS), 2)
    return found


def _page(made: AgentDoc) -> bytes:
    return agent_page(content_of(made.members))


def _changes(before: Descriptor, after: Descriptor) -> bytes:
    changes = changes_of(before, after)
    if changes is None:
        raise BenchError("The largest documents that are compared were not compared.")
    return changes_page(None, changes)


def _largest(letter: str) -> Descriptor:
    """A document of the most that is compared, in which every offering says something of its own."""
    each = len(_offerings(letter, 101)) - len(_offerings(letter, 100))
    return Descriptor.read(_offerings(letter, MOST_BYTES // each - 2))


def _offerings(letter: str, count: int) -> bytes:
    offerings = [{"id": f"{number:06}", "name": "One of many", "description": letter * 80} for number in range(count)]
    return json.dumps({"agent_version": letter, "offerings": offerings}).encode()
