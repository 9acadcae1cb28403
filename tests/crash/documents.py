"""What the crash tests publish, and what must be left of it.

Version `number` has fixed bytes, so that a store can be judged with nothing but itself and how many were
acknowledged.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

from descriptor.digests import digest_of
from store import Publication, Reader, Store

SUBJECT = "U" + "A" * 55


@functools.cache
def document(number: int) -> bytes:
    """Some pages of bytes, different for each version and of a different length."""
    return json.dumps({"agent_version": str(number), "description": f"{number:05d} " * (1_000 + number)}).encode()


@functools.cache
def digest(number: int) -> str:
    return digest_of(document(number))


def event_line(seq: int, number: int) -> str:
    return json.dumps(
        {"seq": seq, "digest": digest(number), "previous_digest": digest(number - 1) if number > 1 else None}
    )


def publish(store: Store, number: int) -> Publication:
    """Publishes version `number` on top of the one before it."""
    return store.publish(
        data=document(number),
        digest=digest(number),
        subject=SUBJECT,
        agent_version=str(number),
        published_at=1_700_000_000.0 + number,
        expected_current=digest(number - 1) if number > 1 else None,
        event=lambda seq, previous: json.dumps({"seq": seq, "digest": digest(number), "previous_digest": previous}),
    )


def judge(path: Path, acknowledged: int) -> int:
    """Opens the store as the next start would; returns how many versions it holds.

    Raises AssertionError unless it holds every acknowledged version and at most the one after them, whole, with
    its event and as the current one, and takes the next publish.
    """
    with Store.open(path):
        pass
    with Reader.open(path) as reader:
        versions, _ = reader.history(SUBJECT, 1_000)
        held = len(versions)
        assert held in (acknowledged, acknowledged + 1), f"{held} versions, {acknowledged} acknowledged"
        assert [version.digest for version in reversed(versions)] == [digest(n) for n in range(1, held + 1)]
        for number in range(1, held + 1):
            assert reader.artifact(digest(number)) == document(number)
        assert reader.counts().artifacts == held
        current = reader.current(SUBJECT)
        assert (current.digest if current else None) == (digest(held) if held else None)
        events = reader.events_after(0, 1_000)
        assert [event.seq for event in events] == list(range(1, held + 1))
        assert [event.data for event in events] == [event_line(n, n) for n in range(1, held + 1)]
        assert list(reader.verify()) == []
    with Store.open(path) as store:
        assert publish(store, held + 1).event_seq == held + 1
    return held
