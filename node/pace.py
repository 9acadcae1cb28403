"""How often one address is asked, however many records lead there. Nothing here does I/O or has a clock.

The invariant: an address is asked `BURST` times at once and `PACE` times a second after that, and never more. Whoever
has to wait is given a turn of its own: that many wait costs nothing until it is theirs.

Source: binding 7.
"""

from __future__ import annotations

from entryway.protections import AddressLimits

PACE, BURST = 1.0, 8  # questions a second to one address, and how many may come at once
LONGEST = 300.0  # seconds that anybody waits for a turn
MOST = 256  # addresses of which turns that are over are remembered


class Pace:
    """The pace of all addresses."""

    def __init__(self) -> None:
        self._limits = AddressLimits(PACE, BURST, 1, limit_loopback=True)
        self._turns: dict[str, float] = {}

    def wait(self, host: str, now: float, *, queued: bool) -> float:
        """0.0 when the address may be asked now, and is; otherwise the seconds until it is worth trying again.

        `now`: seconds on any clock. `queued`: behind all who wait for this address; otherwise before them.
        """
        key = self._limits.key(host)
        bucket = self._limits.bucket(key, now)
        wait = 0.0 if bucket is None else bucket.take(now)
        if key is None or not wait or not queued:
            return wait
        turn = min(max(now + wait, self._turns.get(key, now) + 1.0 / PACE), now + LONGEST)
        self._turns[key] = turn
        if len(self._turns) > MOST:
            self._turns = {one: when for one, when in self._turns.items() if when > now}
        return turn - now
