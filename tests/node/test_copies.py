"""Backups are whole or not there; a restore overwrites no key and loses no version."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from descriptor.digests import digest_of
from descriptor.keys import Identity
from descriptor.publishing import Terms, bind
from node import copies
from node.files import write
from node.home import Home
from store import Copy, Reader, Store, StoreError, schema
from tests.node.parts import NOW, Told, damage, draft, identity_of, new_home, published, told


def followed_bytes(identity: Identity) -> bytes:
    return bind(draft("1"), Terms(identity, acts_for="person"), NOW)


def back_up(home: Home, destination: Path, *arguments: str) -> Told:
    return told("backup", destination, *arguments, "--json", home=home)


def restore(source: Path, home: Home, *arguments: str) -> Told:
    return told("restore", source, *arguments, "--json", home=home)


def versions(home: Home) -> list[tuple[str, str]]:
    """What the home keeps, newest first, each read and hashed."""
    listed = told("history", "--json", home=home).document()["versions"]
    for version in listed:
        assert told("show", version["digest"], "--raw", home=home).exit_code == 0
    return [(version["agent_version"], version["digest"]) for version in listed]


def beside(home: Home) -> list[str]:
    return sorted(path.name for path in home.path.parent.iterdir())


# Backups.


def test_a_backup_is_laid_out_like_a_home_and_closed_to_others(home: Home, tmp_path: Path) -> None:
    end = back_up(home, tmp_path / "b")
    files = ["node.db", "node.toml", "draft.json", "identity/agent.seed", "identity/seal.seed", "identity/agent.id"]
    assert end.document() == {"backup": str(tmp_path / "b"), "files": files, "with_identity": True}
    for path in (tmp_path / "b").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o700


def test_a_backup_without_the_identity_holds_no_key(home: Home, tmp_path: Path) -> None:
    assert back_up(home, tmp_path / "b", "--without-identity").document()["with_identity"] is False
    held = b"".join(path.read_bytes() for path in (tmp_path / "b").rglob("*") if path.is_file())
    for seed in (home.agent_seed, home.seal_seed):
        assert seed.read_bytes().strip() not in held


def test_the_programs_of_the_home_come_back_as_executable_as_they_were(home: Home, tmp_path: Path) -> None:
    (home.handlers / "parts" / "__pycache__").mkdir(parents=True, mode=0o755)
    home.handlers.chmod(0o755)
    program, module = home.handlers / "count", home.handlers / "parts" / "words.py"
    program.write_bytes(b"#!/bin/sh\ncat\n")
    module.write_bytes(b"WORDS = 1\n")
    program.chmod(0o755)
    (home.handlers / "link").symlink_to("count")
    os.mkfifo(home.handlers / "pipe")
    assert "handlers/" in back_up(home, tmp_path / "b").document()["files"]
    other = Home(tmp_path / "other")
    assert restore(tmp_path / "b", other).exit_code == 0
    for copy in (tmp_path / "b" / "handlers", other.handlers):
        assert sorted(str(path.relative_to(copy)) for path in copy.rglob("*")) == [
            *("count", "link", "parts", "parts/words.py"),
        ]
        assert (copy / "count").read_bytes() == program.read_bytes()
        assert (copy / "link").is_symlink()
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (copy, copy / "count", copy / "parts/words.py")]
        assert modes == [0o700, 0o700, 0o600]


def test_programs_that_are_there_stay(home: Home, tmp_path: Path) -> None:
    home.handlers.mkdir(mode=0o700)
    (home.handlers / "count").write_text("old")
    back_up(home, tmp_path / "b")
    (home.handlers / "count").write_text("new")
    assert restore(tmp_path / "b", home, "--replace").exit_code == 0
    assert (home.handlers / "count").read_text() == "new"


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch])
def test_what_is_at_the_destination_is_left_alone(home: Home, tmp_path: Path, make: object) -> None:
    destination = tmp_path / "b"
    make(destination)  # type: ignore[operator]  # one of the two
    before = beside(home)
    end = back_up(home, destination)
    assert (end.exit_code, end.error()["code"]) == (1, "BACKUP_EXISTS")
    assert beside(home) == before


def test_a_destination_that_cannot_be_written_is_named(home: Home, tmp_path: Path) -> None:
    end = back_up(home, tmp_path / "missing" / "b")
    assert (end.exit_code, end.error()["code"]) == (1, "BACKUP_UNWRITABLE")
    assert str(tmp_path / "missing" / "b") in end.error()["message"]


def test_a_backup_that_fails_half_way_is_not_there(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(target: Path, data: bytes) -> bool:
        if target.name == home.agent_seed.name:
            raise OSError(28, "No space left on device")
        return write(target, data)

    monkeypatch.setattr(copies, "write", full)
    before = beside(home)
    end = back_up(home, tmp_path / "b")
    assert (end.exit_code, end.error()["code"]) == (1, "BACKUP_UNWRITABLE")
    assert "No space left" in end.error()["message"]
    assert beside(home) == before


def test_a_store_that_cannot_be_read_is_no_backup(home: Home, tmp_path: Path) -> None:
    home.database.write_bytes(b"no store" * 1000)
    before = beside(home)
    assert back_up(home, tmp_path / "b").error()["code"] == "NOT_A_STORE"
    assert beside(home) == before


def test_a_home_that_has_published_nothing_is_backed_up_all_the_same(tmp_path: Path) -> None:
    home = new_home(tmp_path / "h")
    assert "node.db" not in back_up(home, tmp_path / "b").document()["files"]
    other = Home(tmp_path / "o")
    assert restore(tmp_path / "b", other).exit_code == 0
    assert identity_of(other).id == identity_of(home).id


# Restoring.


def test_a_new_home_from_a_backup_is_the_same_agent_with_the_same_versions(home: Home, tmp_path: Path) -> None:
    back_up(home, tmp_path / "b")
    other = Home(tmp_path / "o")
    end = restore(tmp_path / "b", other)
    assert (end.exit_code, end.document()["home"]) == (0, str(other.path))
    assert identity_of(other).id == identity_of(home).id
    assert versions(other) == versions(home)
    assert [path.read_bytes() for path in (other.config, other.draft)] == [
        path.read_bytes() for path in (home.config, home.draft)
    ]
    assert told("doctor", home=other).exit_code == 0
    assert [stat.S_IMODE(path.stat().st_mode) for path in (other.agent_seed, other.seal_seed)] == [0o600, 0o600]


def test_a_store_alone_is_restored_into_a_home_that_has_lost_its_own(home: Home, tmp_path: Path) -> None:
    back_up(home, tmp_path / "b", "--without-identity")
    before, kept = home.agent_seed.read_bytes(), versions(home)
    for path in home.path.glob("node.db*"):
        path.unlink()
    assert restore(tmp_path / "b", home).exit_code == 0
    assert (home.agent_seed.read_bytes(), versions(home)) == (before, kept)


def test_settings_and_drafts_that_are_there_stay(home: Home, tmp_path: Path) -> None:
    back_up(home, tmp_path / "b")
    home.config.write_text('[agent]\nacts_for = "anyone"\n')
    home.draft.write_bytes(b"edited")
    restore(tmp_path / "b", home, "--replace")
    assert "anyone" in home.config.read_text()
    assert home.draft.read_bytes() == b"edited"


def test_a_key_is_never_overwritten(home: Home, tmp_path: Path) -> None:
    back_up(home, tmp_path / "b")
    other = new_home(tmp_path / "o")
    before = {path: path.read_bytes() for path in other.identity_dir.iterdir()}
    for arguments in ([], ["--replace"]):
        end = restore(tmp_path / "b", other, *arguments)
        assert (end.exit_code, end.error()["code"]) == (1, "ANOTHER_IDENTITY")
    assert {path: path.read_bytes() for path in other.identity_dir.iterdir()} == before
    assert not other.database.exists()


def test_whom_a_home_follows_is_not_taken_for_its_owner(tmp_path: Path) -> None:
    home = new_home(tmp_path / "h")
    followed = Identity.generate()
    data = followed_bytes(followed)
    with Store.open(home.database) as store:
        store.keep(followed.id, Copy(data, digest_of(data), "1", NOW), current=lambda _before: True)
    back_up(home, tmp_path / "b", "--without-identity")
    end = restore(tmp_path / "b", home, "--replace")
    assert (end.exit_code, end.err) == (0, "")
    with Reader.open(home.database) as reader:
        assert reader.artifact(digest_of(data)) == data


def test_a_store_that_is_there_is_not_replaced_unasked(home: Home, tmp_path: Path) -> None:
    back_up(home, tmp_path / "b")
    published(home, draft("3"))
    before = versions(home)
    end = restore(tmp_path / "b", home)
    assert (end.exit_code, end.error()["code"]) == (1, "STORE_EXISTS")
    assert "--replace" in end.error()["message"]
    assert versions(home) == before


def test_a_store_that_is_replaced_is_set_aside_whole(home: Home, tmp_path: Path) -> None:
    back_up(home, tmp_path / "b")
    published(home, draft("3"))
    newer = versions(home)
    with Reader.open(home.database):  # its log stands beside the store, as it does after a crash
        done = restore(tmp_path / "b", home, "--replace").document()["done"]
    assert [version for version, _ in versions(home)] == ["2", "1"]
    (aside,) = home.path.glob("node.db.*Z")
    assert str(aside) in done[0]
    with Reader.open(aside) as reader:
        assert [(row.agent_version, row.digest) for row in reader.history(identity_of(home).id, 9)[0]] == newer


def test_a_store_stays_where_it_is_until_the_new_one_is_on_the_disk(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    back_up(home, tmp_path / "b")
    published(home, draft("3"))
    before = versions(home)

    def full(_source: Path, _target: Path) -> None:
        raise StoreError("STORE_FULL", "The disk is full.")

    monkeypatch.setattr(copies, "backup", full)
    assert restore(tmp_path / "b", home, "--replace").error()["code"] == "STORE_FULL"
    assert versions(home) == before


def test_nothing_that_was_set_aside_is_overwritten(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.strftime", lambda *_: "20260101T000000Z")  # three times within one second
    back_up(home, tmp_path / "b")
    for number in (3, 4, 5):
        published(home, draft(str(number)))
        restore(tmp_path / "b", home, "--replace")
    newest = []
    for path in sorted(home.path.glob("node.db.2026*")):
        if not path.name.endswith(("-wal", "-shm")):
            with Reader.open(path) as reader:
                newest.append(reader.history(identity_of(home).id, 1)[0][0].agent_version)
    assert sorted(newest) == ["3", "4", "5"]


def test_a_log_that_outlived_its_store_does_not_reach_into_the_new_one(home: Home, tmp_path: Path) -> None:
    # What a restore leaves that was killed between the names: the store is aside, its log is not.
    back_up(home, tmp_path / "b")
    store = Store.open(home.database)
    published(home, draft("3"))
    log = Path(f"{home.database}-wal")
    assert log.stat().st_size
    kept = log.read_bytes()
    store.close()
    for path in home.path.glob("node.db*"):
        path.unlink()
    log.write_bytes(kept)
    assert restore(tmp_path / "b", home).error()["code"] == "STORE_EXISTS"
    assert restore(tmp_path / "b", home, "--replace").exit_code == 0
    assert [version for version, _ in versions(home)] == ["2", "1"]
    assert told("doctor", home=home).exit_code == 0
    (aside,) = home.path.glob("node.db.*-wal")
    assert aside.read_bytes() == kept


def test_damage_is_restored_as_it_is_and_seen(home: Home, tmp_path: Path) -> None:
    damage(home.database, versions(home)[1][1])
    back_up(home, tmp_path / "b")
    other = Home(tmp_path / "o")
    assert restore(tmp_path / "b", other).exit_code == 0
    assert told("doctor", home=other).exit_code == 1


@pytest.mark.parametrize(
    ("arrange", "exit_code", "code"),
    [
        (lambda source: source.mkdir(), 2, "BACKUP_MISSING"),
        (lambda source: (source.mkdir(), (source / "node.db").write_bytes(b"else" * 999)), 1, "NOT_A_STORE"),
        (lambda _source: None, 2, "USAGE"),
        (lambda source: source.write_bytes(b"a file"), 2, "USAGE"),
    ],
)
def test_what_is_no_backup_is_refused_before_a_home_is_made(
    tmp_path: Path, arrange: object, exit_code: int, code: str
) -> None:
    arrange(tmp_path / "b")  # type: ignore[operator]  # one of the four
    end = restore(tmp_path / "b", Home(tmp_path / "o"))
    assert (end.exit_code, end.error()["code"]) == (exit_code, code)
    assert not (tmp_path / "o").exists()


def test_a_backup_by_a_newer_program_is_refused(home: Home, tmp_path: Path) -> None:
    back_up(home, tmp_path / "b")
    with closing(sqlite3.connect(tmp_path / "b" / "node.db")) as connection:
        connection.execute("PRAGMA user_version = 99")
    assert restore(tmp_path / "b", Home(tmp_path / "o")).error()["code"] == "STORE_NEWER"


def test_a_backup_by_an_older_program_is_brought_up_to_date(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    back_up(home, tmp_path / "b")

    def second(database: object) -> None:
        database.execute("CREATE TABLE later (one)")  # type: ignore[attr-defined]  # sqlite-utils' own

    migrations = (*schema.MIGRATIONS, second)
    for module in ("store.schema", "store.database"):
        monkeypatch.setattr(f"{module}.MIGRATIONS", migrations)
    other = Home(tmp_path / "o")
    assert restore(tmp_path / "b", other).exit_code == 0
    assert [version for version, _ in versions(other)] == ["2", "1"]


def test_a_home_that_is_in_use_is_not_restored_into(home: Home, tmp_path: Path) -> None:
    back_up(home, tmp_path / "b")
    with home.lock():
        end = restore(tmp_path / "b", home, "--replace")
    assert (end.exit_code, end.error()["code"], end.error()["pid"]) == (1, "HOME_IN_USE", os.getpid())


def test_a_restore_that_was_cut_short_is_finished_by_the_same_command(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    back_up(home, tmp_path / "b")
    other = Home(tmp_path / "o")

    def cut_at(name: str, path: Path, data: bytes) -> bool:
        if path.name == name:
            raise OSError(28, "No space left on device")
        return write(path, data)

    for name in ("draft.json", "agent.seed", "seal.seed", "agent.id"):
        with monkeypatch.context() as patch:
            patch.setattr(copies, "write", partial(cut_at, name))
            assert restore(tmp_path / "b", other).error()["code"] == "HOME_UNUSABLE"
    assert restore(tmp_path / "b", other).exit_code == 0
    assert identity_of(other).id == identity_of(home).id
    assert versions(other) == versions(home)


def test_nothing_to_restore_is_said(home: Home, tmp_path: Path) -> None:
    (tmp_path / "b" / "identity").mkdir(parents=True)
    for path in home.identity_dir.iterdir():
        (tmp_path / "b" / "identity" / path.name).write_bytes(path.read_bytes())
    end = told("restore", tmp_path / "b", home=home)
    assert (end.exit_code, end.out) == (0, "All of it was there already.\n")
