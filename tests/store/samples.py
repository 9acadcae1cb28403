"""Descriptors to store, and the fixed ways to store and to damage them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from descriptor.digests import digest_of
from store import Publication, Store

ALICE = "U" + "A" * 55
BOB = "U" + "B" * 55
AT = 1_753_401_600.0


def document(number: int) -> bytes:
    return json.dumps({"agent_version": str(number), "description": "Sorts invoices. " * 20}).encode()


def digest(number: int) -> str:
    return digest_of(document(number))


def event_line(seq: int, previous_digest: str | None) -> str:
    return json.dumps({"seq": seq, "previous_digest": previous_digest})


def publish(store: Store, number: int, expected: int | None, subject: str = ALICE) -> Publication:
    """Publishes document `number`, taking document `expected` to be current."""
    return store.publish(
        data=document(number),
        digest=digest(number),
        subject=subject,
        agent_version=str(number),
        published_at=AT + number,
        expected_current=None if expected is None else digest(expected),
        event=event_line,
    )


def publish_many(store: Store, count: int, subject: str = ALICE) -> None:
    """Documents 1 to `count`, each on top of the one before."""
    for number in range(1, count + 1):
        publish(store, number, number - 1 or None, subject)


def execute(path: Path, *statements: str) -> None:
    """What only a test or a broken disk does to a store: any change, with nothing enforced."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
