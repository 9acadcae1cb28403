"""A process that publishes as fast as it can, beside others that do the same.

python -m tests.store.racer PATH NAME
"""

from __future__ import annotations

import sys
from pathlib import Path

from store import Reader, Store, StoreError
from tests.store.samples import ALICE, AT, digest, document, event_line


def race(path: Path, name: int, rounds: int) -> None:
    """Publishes `rounds` documents of its own, on top of whatever is current, until all are in."""
    with Store.open(path) as store, Reader.open(path) as reader:
        for round_ in range(rounds):
            number = 1_000 * name + round_
            while True:
                current = reader.current(ALICE)
                try:
                    store.publish(
                        data=document(number),
                        digest=digest(number),
                        subject=ALICE,
                        agent_version=str(number),
                        published_at=AT,
                        expected_current=current.digest if current else None,
                        event=event_line,
                    )
                except StoreError as error:
                    assert error.code == "CONFLICT"
                else:
                    break


if __name__ == "__main__":
    race(Path(sys.argv[1]), int(sys.argv[2]), 30)
