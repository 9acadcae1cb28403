from __future__ import annotations

import pytest

from tests.lan.network import why_not


@pytest.fixture(autouse=True, scope="session")
def _hosts_can_be_made() -> None:
    why = why_not()
    if why is not None:
        pytest.skip(why)
