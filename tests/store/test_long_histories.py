"""What is asked and done at every request costs no more where a history is long: steps of SQLite are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from store import Copy, Reader, Store
from tests.store.samples import ALICE, AT, BOB, digest, document, publish, publish_many

SHORT, LONG = 20, 400


class Stores:
    """Both histories: Alice's, who publishes, and Bob's, who is kept."""

    def __init__(self, path: Path, versions: int) -> None:
        self.versions = versions
        self.store = Store.open(path)
        publish_many(self.store, versions)
        for number in range(versions):
            self.keep(1000 + number)
        self.reader = Reader.open(path)

    def keep(self, number: int) -> None:
        copy = Copy(document(number), digest(number), str(number), AT)
        self.store.keep(BOB, copy, current=lambda standing: standing.versions >= 0)

    def close(self) -> None:
        self.reader.close()
        self.store.close()

    def steps(self, act: Callable[[Stores], object]) -> int:
        """The steps that SQLite takes for it, in both connections."""
        taken = 0

        def count() -> int:
            nonlocal taken
            taken += 1
            return 0

        connections = [self.reader._connection, self.store._connection]
        for connection in connections:
            connection.set_progress_handler(count, 1)
        try:
            act(self)
        finally:
            for connection in connections:
                connection.set_progress_handler(None, 0)
        return taken


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stores, Stores]]:
    stores = [Stores(tmp_path_factory.mktemp("history") / "node.db", versions) for versions in (SHORT, LONG)]
    yield stores[0], stores[1]
    for one in stores:
        one.close()


@pytest.mark.parametrize(
    "act",
    {
        "bytes by digest": lambda at: at.reader.artifact(digest(3)),
        "whether one is kept": lambda at: at.reader.is_kept(ALICE, digest(3)),
        "whether one that is not is kept": lambda at: at.reader.is_kept(ALICE, digest(9999)),
        "the current version": lambda at: at.reader.current(ALICE),
        "a page of history": lambda at: at.reader.history(ALICE, 10),
        "an older page of history": lambda at: at.reader.history(ALICE, 5, 12),
        "events": lambda at: at.reader.events_after(5, 10),
        "the last event": lambda at: at.reader.last_event_seq(),
        "the standing of a version": lambda at: at.reader.standing(BOB, digest(1003)),
        "the size of others": lambda at: at.reader.size_of_others(ALICE),
        "who publishes": lambda at: at.reader.publisher(),
        "another spelling": lambda at: at.reader.spelled(BOB, "7", digest(3)),
        "to publish": lambda at: publish(at.store, at.versions + 1, at.versions),
        "to keep": lambda at: at.keep(5000),
        "to keep again": lambda at: at.keep(1003),
    }.items(),
    ids=lambda one: one[0],
)
def test_a_long_history_costs_no_more(both: tuple[Stores, Stores], act: tuple[str, Callable[[Stores], object]]) -> None:
    short, long = (one.steps(act[1]) for one in both)
    assert 0 < long < 1.2 * short + 20
