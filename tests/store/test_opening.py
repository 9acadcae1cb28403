"""What may be opened, and how durably it is written then."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from store import Reader, Store, StoreError, database, schema
from tests.store.samples import digest, document, execute, publish, publish_many

ROOT = Path(__file__).parents[2]
NOBODY = 65534
NUMBER = len(schema.MIGRATIONS)
# In a process of its own, which gives up root when it has it: root may read and write everything. What it needs is
# imported before, because afterwards it may be out of reach.
WITHOUT_PRIVILEGE = f"""
import json, os, sys, tempfile
from pathlib import Path
import sqlite_utils
from store import Reader, Store, StoreError

if os.getuid() == 0:
    os.setgid({NOBODY})
    os.setuid({NOBODY})
told = []
for directory_mode, file_mode, kind in json.loads(sys.argv[2]):
    path = Path(tempfile.mkdtemp(dir=sys.argv[1])) / "node.db"
    Store.open(path).close()
    path.chmod(file_mode)
    path.parent.chmod(directory_mode)
    try:
        dict(Store=Store, Reader=Reader)[kind].open(path).close()
        told.append(None)
    except StoreError as error:
        told.append(error.code)
    path.parent.chmod(0o700)
print(json.dumps(told))
"""


@pytest.mark.parametrize(
    ("pragma", "in_force"),
    [
        ("journal_mode", "wal"),
        ("synchronous", 2),  # FULL
        ("foreign_keys", 1),
        ("busy_timeout", 5_000),
        ("mmap_size", 0),
        ("trusted_schema", 0),
        ("application_id", schema.APPLICATION_ID),
        ("user_version", len(schema.MIGRATIONS)),
    ],
)
def test_a_writer_is_durable_and_strict(path: Path, pragma: str, in_force: object) -> None:
    for _ in ("created", "opened again"):
        with closing(database.open_writer(path)) as connection:
            assert connection.execute(f"PRAGMA {pragma}").fetchone() == (in_force,)


def test_a_store_is_for_its_owner_only(store: Store) -> None:
    publish(store, 1, None)
    files = sorted(store.path.parent.iterdir())
    assert [file.name for file in files] == ["node.db", "node.db-shm", "node.db-wal"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_what_was_published_is_there_after_closing(path: Path) -> None:
    with Store.open(path) as store:
        publish(store, 1, None)
    with Store.open(path) as store, Reader.open(path) as reader:
        assert reader.artifact(digest(1)) == document(1)
        publish(store, 2, 1)
        assert reader.artifact(digest(2)) == document(2)


def test_a_reader_cannot_write(store: Store) -> None:
    with (
        closing(database.open_reader(store.path)) as connection,
        pytest.raises(sqlite3.OperationalError, match="readonly"),
    ):
        connection.execute("DELETE FROM events")


def newer(path: Path) -> None:
    Store.open(path).close()
    execute(path, f"PRAGMA user_version = {len(schema.MIGRATIONS) + 1}")


def another_program(path: Path) -> None:
    execute(path, "PRAGMA application_id = 7", "CREATE TABLE songs (title TEXT)")


def no_program_named(path: Path) -> None:
    execute(path, "CREATE TABLE songs (title TEXT)")


def never_migrated(path: Path) -> None:
    execute(path, f"PRAGMA application_id = {schema.APPLICATION_ID}")


def garbage(path: Path) -> None:
    path.write_bytes(b"This is a letter to my aunt.\n" * 200)


def short_garbage(path: Path) -> None:
    path.write_bytes(b"SQLite")


@pytest.mark.parametrize("open_", [Store.open, Reader.open])
@pytest.mark.parametrize(
    ("make", "code", "says"),
    [
        (
            newer,
            "STORE_NEWER",
            f"made by a newer agent-node (store {NUMBER + 1}, this one reads up to {NUMBER}); upgrade agent-node",
        ),
        (another_program, "NOT_A_STORE", "is a database of another program; move it away"),
        (no_program_named, "NOT_A_STORE", "is a database of another program; move it away"),
        (never_migrated, "NOT_A_STORE", "is a database of another program; move it away"),
        (garbage, "NOT_A_STORE", "is not a database; move it away"),
        (short_garbage, "NOT_A_STORE", "is not a database; move it away"),
    ],
)
def test_what_is_no_store_of_this_agent_node_is_refused_and_left_alone(
    path: Path, make: Callable[[Path], None], code: str, says: str, open_: Callable[[Path], object]
) -> None:
    make(path)
    before = path.read_bytes()
    with pytest.raises(StoreError) as caught:
        open_(path)
    assert caught.value.code == code
    assert says in caught.value.message
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize("empty", [False, True])
def test_a_reader_of_nothing_says_so_and_makes_nothing(path: Path, empty: bool) -> None:
    if empty:
        path.touch()
    before = list(path.parent.iterdir())
    with pytest.raises(StoreError) as caught:
        Reader.open(path)
    assert caught.value.code == "NO_STORE"
    assert list(path.parent.iterdir()) == before


def test_a_file_that_a_first_start_left_empty_becomes_the_store(path: Path) -> None:
    path.touch()
    with Store.open(path) as store:
        assert publish(store, 1, None).seq == 1


@pytest.mark.parametrize("open_", [Store.open, Reader.open])
def test_a_directory_is_no_store(tmp_path: Path, open_: Callable[[Path], object]) -> None:
    with pytest.raises(StoreError, match="is not a file") as caught:
        open_(tmp_path)
    assert caught.value.code == "NOT_A_STORE"


def test_a_missing_home_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught:
        Store.open(tmp_path / "nowhere" / "node.db")
    assert caught.value.code == "STORE_IO"
    assert "No such file or directory" in caught.value.message


def test_permissions_that_do_not_suffice_are_told() -> None:
    told = {
        # directory, file, opened by
        (0o700, 0o400, "Store"): "STORE_READ_ONLY",
        (0o700, 0o400, "Reader"): None,
        (0o700, 0o000, "Store"): "STORE_UNREADABLE",
        (0o700, 0o000, "Reader"): "STORE_UNREADABLE",
        (0o500, 0o600, "Store"): "STORE_READ_ONLY",
        (0o500, 0o600, "Reader"): "STORE_READ_ONLY",
        (0o000, 0o600, "Store"): "STORE_UNREADABLE",
        (0o000, 0o600, "Reader"): "STORE_UNREADABLE",
    }
    with tempfile.TemporaryDirectory() as directory:
        if os.getuid() == 0:
            os.chown(directory, NOBODY, NOBODY)
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT_PRIVILEGE, directory, json.dumps(list(told))],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    assert json.loads(done.stdout) == list(told.values())


def test_opening_a_store_that_is_up_to_date_does_not_import_sqlite_utils(path: Path) -> None:
    Store.open(path).close()
    program = "import sys; from pathlib import Path; from store import Store; Store.open(Path(sys.argv[1])).close()"
    subprocess.run(
        [sys.executable, "-c", program + "; sys.exit('sqlite_utils' in sys.modules)", path], cwd=ROOT, check=True
    )


def test_a_store_that_another_process_is_just_making_is_waited_for(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        release = threading.Timer(0.1, other.execute, ["ROLLBACK"])
        release.start()
        Store.open(path).close()
        release.join()


def test_a_store_that_is_being_made_for_too_long_is_busy(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError) as caught:
            Store.open(path)
    assert caught.value.code == "STORE_BUSY"


def test_a_store_that_is_made_between_two_questions_is_not_taken_for_something_else(path: Path) -> None:
    execute(path, "PRAGMA journal_mode = WAL")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        asked: list[str] = []

        def make_it_meanwhile(statement: str) -> None:
            asked.append(statement)
            if statement == "PRAGMA user_version":
                Store.open(path).close()

        connection.set_trace_callback(make_it_meanwhile)
        assert database.identify(connection, path) == 0
        assert "PRAGMA user_version" in asked
        assert database.identify(connection, path) == len(schema.MIGRATIONS)


def test_processes_may_create_one_store_together(path: Path) -> None:
    program = "import sys; from pathlib import Path; from store import Store; import sqlite_utils\n"
    program += "sys.stdin.read(); Store.open(Path(sys.argv[1])).close()"
    arguments = [sys.executable, "-c", program, str(path)]
    racers = [subprocess.Popen(arguments, cwd=ROOT, stdin=subprocess.PIPE) for _ in range(3)]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.close()
    assert [racer.wait() for racer in racers] == [0, 0, 0]
    with Store.open(path) as store:
        publish_many(store, 2)
