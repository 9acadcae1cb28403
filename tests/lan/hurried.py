"""`agent-node` with its long waits made short, for the tests that would only sit them out.

    python -m tests.lan.hurried run …

What happens behind a wait is what it is in the program, and so is the order of it. How long each wait is in the program
is a line of the module it stands in.
"""

from __future__ import annotations

from node import discovery, follower, neighborhood
from node.cli import program
from node.discovery import station

POLL = 0.5  # seconds between two looks at the interfaces

PROGRAM = "tests.lan.hurried"


def hurry() -> None:
    """Shortens the waits of this process."""
    discovery.POLL = POLL
    station.RENEWED, station.SETTLED = 6.0, 3.0
    neighborhood.QUESTION_WAIT = follower.ASK_WAIT = 2.0


if __name__ == "__main__":
    hurry()
    program()
