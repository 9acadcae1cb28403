"""A few of the rounds of `feed_kills`; the fifty are run by hand."""

from __future__ import annotations

import shutil

import pytest

from tests.end_to_end.feed_kills import run

pytestmark = pytest.mark.filterwarnings("ignore:.*unclosed <socket")  # httpcore forgets the one that broke


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed, and is one of the readers")
def test_no_reader_misses_an_event_or_has_one_twice_while_the_node_is_killed() -> None:
    counted = run(4, seed=11)
    assert counted["kills"] == 4
    assert counted["events"] >= counted["acknowledged"] > 4
    assert counted["curl_runs"] > 4
