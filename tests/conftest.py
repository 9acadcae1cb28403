"""What holds for all tests.

A machine that is busy is no fault of the code, so hypothesis does not judge by the clock. In continuous integration its
examples are the same each time: what is new is found by whoever runs the suite at home, and by the fuzzers.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile("home", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("home"), derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "home")
