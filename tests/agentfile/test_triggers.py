"""Section 12: every trigger of a file is told with what becomes of it, and none refuses the file."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfile.triggers import TRIGGER_TYPES, Support, trigger_reports


@pytest.mark.parametrize(
    ("trigger", "support", "unattended", "shown"),
    [
        ({"type": "manual"}, Support.ANSWERED, False, "'manual' is answered"),
        ({"type": "schedule", "cron": "0 7 * * 1-5"}, Support.NOT_HONORED, True, "('0 7 * * 1-5') is not honored"),
        ({"type": "webhook", "path": "/in"}, Support.NOT_HONORED, True, "('/in') is not honored"),
        ({"type": "api", "endpoint": "/run"}, Support.NOT_HONORED, True, "('/run') is not honored"),
        ({"type": "api"}, Support.NOT_HONORED, True, "'api' is not honored"),
        ({"type": "on-full-moon", "cron": "x"}, Support.UNKNOWN, True, "'on-full-moon' is not honored"),
        ({"type": "Manual"}, Support.UNKNOWN, True, "'Manual' is not honored"),
    ],
)
def test_a_trigger_is_told(trigger: dict[str, Any], support: Support, unattended: bool, shown: str) -> None:
    (report,) = trigger_reports([trigger])
    assert (report.pointer, report.type) == ("/triggers/0", trigger["type"])
    assert (report.support, report.unattended) == (support, unattended)
    assert shown in report.message


def test_the_table_has_the_types_of_the_format_and_honors_none_that_runs_unattended() -> None:
    assert set(TRIGGER_TYPES) == {"manual", "schedule", "webhook", "api"}
    for known in TRIGGER_TYPES.values():
        assert (known.support is Support.NOT_HONORED) == known.unattended


def test_a_long_cron_is_cut() -> None:
    (report,) = trigger_reports([{"type": "schedule", "cron": "*" * 10_000}])
    assert len(report.message) < 400


@given(st.lists(st.dictionaries(st.sampled_from(["type", "cron", "path"]), st.text() | st.none() | st.integers())))
def test_none_is_dropped(triggers: list[Any]) -> None:
    reports = trigger_reports(triggers)
    assert [report.pointer for report in reports] == [f"/triggers/{place}" for place in range(len(triggers))]
    assert all(report.message for report in reports)
