"""Makes an input that breaks a promise as small as it gets: `python -m tests.fuzz.shrink TARGET FILE [FILE...]`.

The invariant: what is left breaks the promise in the same place. It is written beside each file, as small-FILE.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from tests.fuzz import load


def shrunk(one_input: Callable[[bytes], None], data: bytes) -> bytes:
    """`data` without every piece that the failure does not need. Raises ValueError when there is no failure."""
    failure = _failure(one_input, data)
    if failure is None:
        raise ValueError("this input breaks no promise")
    size = len(data)
    while size:
        before, at = data, 0
        while at < len(data):
            shorter = data[:at] + data[at + size :]
            if _failure(one_input, shorter) == failure:
                data = shorter
            else:
                at += size
        if size > 1 or data == before:
            size //= 2
    return data


def _failure(one_input: Callable[[bytes], None], data: bytes) -> tuple[type[BaseException], str, int | None] | None:
    """What was raised, and where; None when nothing was."""
    try:
        one_input(data)
    except BaseException as error:  # any of them is a promise broken
        place = traceback.extract_tb(error.__traceback__)[-1]
        return type(error), place.filename, place.lineno
    return None


def main() -> None:
    """Shrinks each file named on the command line."""
    name, *files = sys.argv[1:]
    target = load(name)
    for file in map(Path, files):
        data = file.read_bytes()
        small = shrunk(target.one_input, data)
        written = file.with_name(f"small-{file.name}")
        written.write_bytes(small)
        print(f"{written}: {len(data)} bytes made {len(small)}: {small!r}")


if __name__ == "__main__":
    main()
