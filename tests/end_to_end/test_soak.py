"""A fifth of a minute of `soak`; the half hour is run by hand."""

from __future__ import annotations

import pytest

from tests.end_to_end.soak import run

pytestmark = pytest.mark.filterwarnings("ignore:.*unclosed <socket")  # httpcore forgets the one that broke


def test_nothing_grows_is_left_behind_or_lost_while_much_goes_on() -> None:
    counted = run(0.2, seed=5)
    published = counted["published"]
    assert isinstance(published, dict)
    assert min(published.values()) > 5
