from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from node.home import Home
from tests.node.parts import draft, new_home, published


@pytest.fixture(scope="session")
def two_versions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound home in which 1 and then 2 were published; its draft is that of 2. Copied, never used."""
    home = new_home(tmp_path_factory.mktemp("two") / "h")
    home.draft.write_bytes(draft("2", sealing="preferred"))
    published(home, draft("1"))
    published(home, home.draft.read_bytes())
    return home.path


@pytest.fixture
def home(two_versions: Path, tmp_path: Path) -> Home:
    """A home of its own with two versions."""
    return Home(Path(shutil.copytree(two_versions, tmp_path / "h")))
