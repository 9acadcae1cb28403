"""Who goes first while admitted work is under way: addresses that admitted callers ask from. All others take turns.

The invariant: while work goes on, and for a moment after, since more of it may follow, what is answered to others takes
no more than `SHARE` of the loop's time, however many they are. While none goes on, nobody waits.

A turn is given by what an answer has cost lately. Who waits for one waits by itself: that many do costs nothing until
it is their turn. Loopback that is not limited by address goes first too: a program of this machine has other ways to
keep it busy.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable

SHARE = 0.05
AFTER = 0.5  # seconds after work in which turns are still taken
LONGEST = 1.0  # seconds that a turn is away at most
REMEMBERED = 1024  # addresses that admitted callers asked from last
_WEIGHT = 1 / 16  # of one answer, in what answers cost


class Precedence:
    """The turns of one server. `busy`: whether admitted work is under way."""

    def __init__(self, busy: Callable[[], bool]) -> None:
        self._busy = busy
        self._known: OrderedDict[str, None] = OrderedDict()
        self._cost = 0.0
        self._next = self._until = -math.inf

    def know(self, address: str | None) -> None:
        """An admitted caller asks from here. `address`: what it is counted under (`AddressLimits.key`)."""
        if address is None:
            return
        self._known[address] = None
        self._known.move_to_end(address)
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)

    def turn(self, address: str | None, now: float) -> float | None:
        """The seconds until it is this address's turn, which then is its own; `None` when it need not take one."""
        if address is None or address in self._known:
            return None
        if self._busy():
            self._until = now + AFTER
        elif now >= self._until:
            return None
        turn = min(max(self._next, now), now + LONGEST)
        self._next = turn + self._cost / SHARE
        return turn - now

    def took(self, seconds: float) -> None:
        """What an answer cost whose turn it was."""
        self._cost += (seconds - self._cost) * _WEIGHT
