"""What is checked in the bench is what it says: sound, and of the size it is named by."""

from __future__ import annotations

import pytest

from bench.checking import LARGE, SMALL, documents
from descriptor.checker import check


@pytest.fixture(scope="module")
def made() -> dict[int, bytes]:
    return documents(1_700_000_000.0)


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_a_document_is_clean_and_of_its_size(made: dict[int, bytes], size: int) -> None:
    assert len(made[size]) == size
    assert check(made[size]).findings == ()
