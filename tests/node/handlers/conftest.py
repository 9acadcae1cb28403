from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from node.home import Home


@pytest.fixture
def home() -> Iterator[Home]:
    """A home without keys: what a handler needs of one."""
    with tempfile.TemporaryDirectory(prefix="an") as directory:
        yield Home(Path(directory).resolve())
