from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.harness import Worker, build, scratch, unavailable


@pytest.fixture(scope="session")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    reason = unavailable()
    if reason:
        pytest.skip(reason)
    with Worker(build(tmp_path_factory.mktemp("shim"))) as running:
        yield running


@pytest.fixture
def directory() -> Iterator[Path]:
    with scratch() as path:
        yield path


@pytest.fixture(scope="session")
def thorough() -> bool:
    """`CRASH_TESTS=long` tries every case; without it a part of the slower ones is left out."""
    return os.environ.get("CRASH_TESTS") == "long"
