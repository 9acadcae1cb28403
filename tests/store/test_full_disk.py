"""A real refusal of the kernel to let the files grow: RLIMIT_FSIZE, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from store import Reader, Store
from tests.store.samples import ALICE, publish

PROGRAM = """
import resource, sys
from pathlib import Path
from store import Reader, Store, StoreError
from tests.store.samples import ALICE, publish, publish_many

path = Path(sys.argv[1])
with Store.open(path) as store, Reader.open(path) as reader:
    publish_many(store, 3)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.with_name("node.db-wal").stat().st_size + 9_000, hard))
    try:
        publish(store, 4, 3)
    except StoreError as error:
        print(error.code, reader.current(ALICE).seq, reader.last_event_seq())
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    print(publish(store, 5, 3).event_seq)
"""


def test_a_file_that_cannot_grow_refuses_the_publish_and_keeps_the_rest(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, path],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["STORE_IO", "3", "3", "4"]
    with Store.open(path) as store, Reader.open(path) as reader:
        assert reader.current(ALICE) is not None
        assert list(reader.verify()) == []
        publish(store, 6, 5)
