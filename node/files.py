"""Small files that are whole or not there, and are closed to others."""

from __future__ import annotations

import os
from pathlib import Path
from secrets import token_hex

from node.home import sync_directory


def write(path: Path, data: bytes, *, replace: bool = False) -> bool:
    """Writes a file, 0600, that is whole and on the disk from the moment it has its name.

    Returns False, and changes nothing, when the name is taken and `replace` is False. Raises OSError.
    """
    beside = path.with_name(f".{path.name}.{token_hex(8)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(beside, flags, 0o600), "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            beside.replace(path)
        else:
            # A link fails where the name is taken, and so never overwrites.
            os.link(beside, path)
    except FileExistsError:
        return False
    finally:
        beside.unlink(missing_ok=True)
    sync_directory(path.parent)
    return True
