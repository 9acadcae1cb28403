"""A few of the rounds of `kill_rounds`; the thousand are run by hand."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.end_to_end.harness import ROOT, environment


def test_no_kill_loses_a_version_serves_half_of_one_or_skips_an_event() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.end_to_end.kill_rounds", "--rounds", "12", "--seed", "7"],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    _, _, summary = ended.stdout.partition("All held. ")
    counted = json.loads(summary)
    assert counted["rounds"] == 12
    assert counted["kills"] > 6
    assert counted["acknowledged"] > 6
    assert {f"rounds_{kind}" for kind in ("starting", "serving", "offline", "client")} <= set(counted)
