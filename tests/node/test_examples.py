"""The example Descriptors: drafts a newcomer may publish as they are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from descriptor.checker import check

EXAMPLES = Path(__file__).parents[2] / "configs" / "examples"
FILES = sorted(EXAMPLES.glob("*.json"))


def test_the_demo_and_an_open_offering_are_there() -> None:
    assert {"demo.json", "open-with-focus.json"} <= {path.name for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_checker_has_nothing_to_say(path: Path) -> None:
    report = check(path.read_bytes())
    assert report.findings == ()
    assert report.verdict == "clean"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_is_a_draft_to_which_publishing_adds_the_rest(path: Path) -> None:
    report = check(path.read_bytes())
    assert report.descriptor is not None
    assert report.descriptor.is_draft
    assert not {"subject", "acts_for", "signatures", "shape", "scope"} & set(json.loads(path.read_bytes()))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_is_of_a_size_that_shows_something(path: Path) -> None:
    assert 1536 <= len(path.read_bytes()) <= 4096


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_address_is_in_it(path: Path) -> None:
    assert not re.search(r"://|@|\b[0-9]+\.[0-9]+\.[0-9]+|\.[a-z]{2,}\b|\"/", path.read_text(encoding="utf-8"))


def test_an_open_offering_says_what_it_may_touch_and_where_it_stops() -> None:
    (offering,) = json.loads((EXAMPLES / "open-with-focus.json").read_bytes())["offerings"]
    assert offering["scope"] == "open-with-focus"
    assert {"focus", "workspace", "authority", "outputs", "ceilings"} <= set(offering)
    assert {"job_seconds", "cost_per_job"} <= set(offering["ceilings"])
