"""Small files that are whole or not there."""

from __future__ import annotations

import os
from pathlib import Path

from node.home import sync_directory, unusable


def write_new(path: Path, data: bytes) -> bool:
    """Writes a file that is not there yet, 0600. Returns False, and writes nothing, when it is. Raises NodeError."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(beside, path)
        except FileExistsError:
            return False
        finally:
            beside.unlink()
        sync_directory(path.parent)
    except OSError as error:
        raise unusable(path, error) from error
    return True
