"""What holds for all tests.

A machine that is busy is no fault of the code, so hypothesis does not judge by the clock. In continuous integration its
examples are the same each time: what is new is found by whoever runs the suite at home, and by the fuzzers.

A shell has what it runs in the background ignore Ctrl-C, and so would every program that a test starts.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("home", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("home"), derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "home")

signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Spells what UTF-8 cannot: a report goes from one process to another, and some tests say lone surrogates."""
    report = yield
    report.sections = [(name, spelled(text)) for name, text in report.sections]
    if not isinstance(report.longrepr, tuple) and (text := str(report.longrepr or "")) != spelled(text):
        report.longrepr = spelled(text)
    return report


def spelled(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()
