from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from store import Reader, Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "node.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store.open(path) as opened:
        yield opened


@pytest.fixture
def reader(store: Store) -> Iterator[Reader]:
    with Reader.open(store.path) as opened:
        yield opened
