"""A backup is one moment of the store, whole, and never in the place of something else."""

from __future__ import annotations

import errno
import stat
import threading
from pathlib import Path

import pytest

from store import Reader, Store, StoreError, backup
from tests.store.samples import ALICE, digest, document, publish, publish_many


def test_a_backup_taken_while_another_thread_publishes_is_a_prefix_of_the_history(store: Store, tmp_path: Path) -> None:
    publish_many(store, 50)
    stop = threading.Event()
    published = 50

    def go_on() -> None:
        nonlocal published
        while not stop.is_set():
            publish(store, published + 1, published)
            published += 1

    thread = threading.Thread(target=go_on)
    thread.start()
    held = []
    try:
        for number in range(5):
            copy = tmp_path / f"copy{number}.db"
            backup(store.path, copy)
            with Reader.open(copy) as reader:
                versions, _ = reader.history(ALICE, 10_000)
                held.append(len(versions))
                assert [v.digest for v in reversed(versions)] == [digest(n) for n in range(1, len(versions) + 1)]
                assert versions[0].current
                assert reader.last_event_seq() == len(versions)
                assert list(reader.verify()) == []
    finally:
        stop.set()
        thread.join()
    assert 50 <= held[0] < held[-1] <= published
    assert held == sorted(held)


def test_a_backup_is_one_file_for_its_owner_only(store: Store, tmp_path: Path) -> None:
    publish(store, 1, None)
    copies = tmp_path / "copies"
    copies.mkdir()
    backup(store.path, copies / "copy.db")
    assert [file.name for file in copies.iterdir()] == ["copy.db"]
    assert stat.S_IMODE((copies / "copy.db").stat().st_mode) == 0o600


def test_a_backup_of_a_backup_is_a_store_to_go_on_with(store: Store, tmp_path: Path) -> None:
    publish_many(store, 3)
    backup(store.path, tmp_path / "copy.db")
    publish(store, 4, 3)
    backup(tmp_path / "copy.db", tmp_path / "restored.db")
    with Store.open(tmp_path / "restored.db") as restored, Reader.open(tmp_path / "restored.db") as reader:
        assert reader.artifact(digest(3)) == document(3)
        assert reader.artifact(digest(4)) is None
        assert publish(restored, 5, 3).event_seq == 4


@pytest.mark.parametrize("kind", ["file", "dangling link", "directory"])
def test_a_backup_overwrites_nothing(store: Store, tmp_path: Path, kind: str) -> None:
    destination = tmp_path / "copy.db"
    if kind == "file":
        destination.write_bytes(b"precious")
    elif kind == "directory":
        destination.mkdir()
    else:
        destination.symlink_to(tmp_path / "nowhere")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(StoreError) as caught:
        backup(store.path, destination)
    assert caught.value.code == "BACKUP_EXISTS"
    assert sorted(tmp_path.iterdir()) == before
    assert kind != "file" or destination.read_bytes() == b"precious"


def test_a_backup_that_loses_its_name_meanwhile_gives_way(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    destination = tmp_path / "copy.db"
    monkeypatch.setattr("os.path.lexists", lambda path: False)
    destination.write_bytes(b"quicker")
    with pytest.raises(StoreError) as caught:
        backup(store.path, destination)
    assert caught.value.code == "BACKUP_EXISTS"
    assert destination.read_bytes() == b"quicker"
    assert not list(tmp_path.glob(".copy.db*"))


def test_a_backup_that_cannot_take_its_name_gives_it_back(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, target: Path) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Path, "replace", refuse)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(StoreError, match="Input/output error") as caught:
        backup(store.path, tmp_path / "copy.db")
    assert caught.value.code == "STORE_IO"
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("source", "destination", "code"),
    [
        ("nowhere.db", "copy.db", "NO_STORE"),
        ("letter.txt", "copy.db", "NOT_A_STORE"),
        ("node.db", "nowhere/copy.db", "STORE_IO"),
    ],
)
def test_a_backup_that_cannot_be_taken_leaves_nothing(
    store: Store, tmp_path: Path, source: str, destination: str, code: str
) -> None:
    (tmp_path / "letter.txt").write_bytes(b"Dear aunt, " * 100)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(StoreError) as caught:
        backup(tmp_path / source, tmp_path / destination)
    assert caught.value.code == code
    assert sorted(tmp_path.iterdir()) == before
