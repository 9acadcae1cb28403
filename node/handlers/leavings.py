"""What a job leaves behind in its directory, removed whatever it is.

The invariant: no path that is used is longer than the directory's own and two names, nothing recurses, and no link is
followed. A directory in a directory is emptied into the one at the top, so that what lies deeper than a path reaches
comes up one level at a time; and each is opened to its owner first, for a job may have taken that right away.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import structlog

log = structlog.get_logger("handlers")


def remove_tree(path: Path) -> None:
    """Removes a directory and all in it; what has the name and is no directory, too. What stays is in the log."""
    try:
        _remove(path)
    except FileNotFoundError:
        return
    except OSError as error:
        log.warning("job_directory_left", path=str(path), reason=error.strerror)


def _remove(path: Path) -> None:
    """Raises OSError, when everything that can go has gone."""
    if not _is_directory(path):
        path.unlink()
        return
    _open(path)
    names = (path / f"{number}-" for number in count())
    stays: dict[str, OSError] = {}
    while entries := set(os.listdir(path)) - set(stays):  # noqa: PTH208  # names are enough
        for name in entries:
            try:
                _take(path / name, names)
            except OSError as error:
                stays[name] = error
    for reason in stays.values():
        raise reason
    path.rmdir()


def _take(entry: Path, names: Iterator[Path]) -> None:
    """Removes one entry of the directory at the top; what is in it gets a name there."""
    if not _is_directory(entry):
        entry.unlink()
        return
    _open(entry)
    for child in os.listdir(entry):  # noqa: PTH208  # as above
        inner = entry / child
        if _is_directory(inner):
            _open(inner)  # a directory that changes its parent is written to
        inner.rename(next(name for name in names if not os.path.lexists(name)))
    entry.rmdir()


def _is_directory(path: Path) -> bool:
    return stat.S_ISDIR(path.lstat().st_mode)


def _open(directory: Path) -> None:
    directory.chmod(stat.S_IRWXU)
