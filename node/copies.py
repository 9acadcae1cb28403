"""Backups of a home, and a home from a backup.

A backup is a directory laid out like a home: `node.db`, `node.toml`, the draft, the programs in `handlers/` and, unless
it is left out, `identity/`.
The invariants: a backup is whole or is not there; a restore never overwrites a key, and never loses a version: a store
that is there already is set aside, under a name that says when. The store comes last, so that the same command finishes
a restore that was cut short.

Source: binding 9; chapter 6.7 (what was served stays served).
"""

from __future__ import annotations

import os
import shutil
import time
from itertools import count
from pathlib import Path
from secrets import token_hex

from node.errors import Exit, NodeError
from node.files import write
from node.home import Home, sync_directory, unusable
from node.identity import public_id
from store import Reader, Store, StoreError, backup


def back_up(home: Home, destination: Path, *, with_identity: bool) -> list[str]:
    """Copies a home, while its node may run. Returns the names that were copied.

    Raises NodeError BACKUP_EXISTS, BACKUP_UNWRITABLE, and StoreError.
    """
    home.check()
    if destination.exists():
        raise NodeError("BACKUP_EXISTS", f"{destination} is there already; name a directory that is not.")
    partial = destination.with_name(f".{destination.name}.{token_hex(8)}.partial")
    copied: list[str] = []
    try:
        partial.mkdir(mode=0o700)
        if home.database.exists():
            backup(home.database, partial / home.database.name)
            copied.append(home.database.name)
        for path in _files(home, with_identity=with_identity):
            name = path.relative_to(home.path)
            (partial / name).parent.mkdir(mode=0o700, exist_ok=True)
            write(partial / name, path.read_bytes())
            copied.append(str(name))
        if home.handlers.is_dir():
            _copy_programs(home.handlers, partial / home.handlers.name)
            copied.append(f"{home.handlers.name}/")
        sync_directory(partial)
        partial.rename(destination)
        sync_directory(destination.parent)
    except OSError as error:
        raise NodeError("BACKUP_UNWRITABLE", f"{destination} cannot be written: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return copied


def restore(source: Path, home: Home, *, replace: bool) -> list[str]:
    """Makes a home from a backup, or gives an existing one its store back. Returns what was done, in sentences.

    Raises NodeError BACKUP_MISSING, ANOTHER_IDENTITY, STORE_EXISTS, what `Home.lock` raises, and StoreError.
    """
    kept = Home(source.absolute())
    if not kept.database.exists() and not kept.agent_seed.exists():
        raise NodeError("BACKUP_MISSING", f"{source} is no backup: it has no {home.database.name}.", Exit.UNREADABLE)
    if kept.database.exists():
        _refuse_no_store(kept.database)
    home.create()
    home.check()
    with home.lock():
        try:
            _refuse_another_identity(kept, home)
            in_the_way = _store_parts(home) if kept.database.exists() else []
            if in_the_way and not replace:
                raise NodeError(
                    "STORE_EXISTS",
                    f"{in_the_way[0]} is there already, and may hold versions that the backup does not. "
                    "--replace sets it aside and puts the backup in its place.",
                )
            done = []
            for path in _files(kept, with_identity=True):
                here = home.path / path.relative_to(kept.path)
                if write(here, path.read_bytes()):
                    done.append(f"{here} is restored.")
            if kept.handlers.is_dir() and not home.handlers.exists():
                programs = home.handlers.with_name(f".{home.handlers.name}.{token_hex(8)}")
                _copy_programs(kept.handlers, programs)
                programs.rename(home.handlers)
                sync_directory(home.path)
                done.append(f"{home.handlers} is restored.")
            if kept.database.exists():
                # The disk has room for the new one before the old one loses its name.
                fresh = home.database.with_name(f".{home.database.name}.restored")
                fresh.unlink(missing_ok=True)
                backup(kept.database, fresh)
                if in_the_way:
                    done.append(f"The store that was there is set aside as {_set_aside(home, in_the_way)}.")
                fresh.rename(home.database)
                sync_directory(home.path)
                Store.open(home.database).close()  # brings an older one up to date
                done.append(f"{home.database} is restored.")
        except OSError as error:
            raise unusable(home.path, error) from error
    return done


def _copy_programs(source: Path, destination: Path) -> None:
    """Copies a directory of programs, each as executable as it was and closed to others; links stay links.

    What is neither file, directory nor link stays behind, and so does what Python compiled. Raises OSError.
    """

    def left_out(directory: str, names: list[str]) -> list[str]:
        there = [Path(directory, name) for name in names]
        return [one.name for one in there if one.name == "__pycache__" or not (one.is_symlink() or _is_plain(one))]

    def copy(one: str, other: str, *, follow_symlinks: bool = True) -> None:  # links are made by copytree
        shutil.copyfile(one, other)
        with open(other, "rb+") as file:  # noqa: PTH123  # copytree speaks in strings
            os.fchmod(file.fileno(), os.stat(one).st_mode & 0o700)  # noqa: PTH116  # as above
            os.fsync(file.fileno())

    shutil.copytree(source, destination, symlinks=True, ignore=left_out, copy_function=copy)
    for directory in (destination, *(one for one in destination.rglob("*") if one.is_dir() and not one.is_symlink())):
        directory.chmod(0o700)
        sync_directory(directory)


def _is_plain(path: Path) -> bool:
    return path.is_file() or path.is_dir()


def _files(home: Home, *, with_identity: bool) -> list[Path]:
    files = [home.config, home.draft]
    if with_identity:
        files += [home.agent_seed, home.seal_seed, home.agent_id]
    return [path for path in files if path.exists()]


def _refuse_no_store(path: Path) -> None:
    """Raises StoreError for a file that cannot become the store; an older one can."""
    try:
        Reader.open(path).close()
    except StoreError as error:
        if error.code != "STORE_OLDER":
            raise


def _refuse_another_identity(kept: Home, home: Home) -> None:
    ours, theirs = public_id(home), public_id(kept)
    if theirs is None and ours is not None and kept.database.exists():
        # A backup without its keys still says whose history it is.
        with Reader.open(kept.database) as reader:
            theirs = ours if reader.current(ours) else reader.publisher()
    if None not in (ours, theirs) and ours != theirs:
        raise NodeError(
            "ANOTHER_IDENTITY",
            f"{home.path} holds another identity than the backup, and a key is never overwritten. "
            "Restore into a home of its own: agent-node restore SRC --home DIR",
        )


def _store_parts(home: Home) -> list[Path]:
    """The store and its logs, those that are there: a log that outlived its store would be read into the next one."""
    return [part for part in (Path(f"{home.database}{suffix}") for suffix in ("", "-wal", "-shm")) if part.exists()]


def _set_aside(home: Home, parts: list[Path]) -> Path:
    """Gives the parts of a store another name, and returns it."""
    aside = _free_name(f"{home.database}.{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}")
    for part in parts:
        part.rename(aside.with_name(part.name.replace(home.database.name, aside.name)))
    sync_directory(home.path)
    return aside


def _free_name(stem: str) -> Path:
    """A name that begins with `stem` and that no file has, nor a log beside it."""
    names = (Path(stem if number == 1 else f"{stem}-{number}") for number in count(1))
    return next(name for name in names if not any(name.parent.glob(f"{name.name}*")))
