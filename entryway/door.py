"""The door: what the exchanges ask about one caller, and where a knock is taken.

The roster and the knocks of the last thirty days are in memory, so nobody waits for a disk to hear where he stands, and
nobody can make the node read one. The invariant: what a stranger does here is bounded. He is counted, and the most he
leaves behind is one row that says who knocked, when and how often; the knocks that are kept in a day are bounded for
each sender and for all of them together. "waiting" is said once the row is on the disk.

| a knock of                      | is kept                                          | and told               |
|---------------------------------|--------------------------------------------------|------------------------|
| a caller who is admitted        | no                                               | admitted               |
| one whose admission was revoked | no                                               | refused: revoked       |
| anybody else                    | once in `knock_wait`, while the day has room     | what the roster says   |
| anybody else, knocking sooner   | no: it is the same knock                         | what the roster says   |
| anybody new, on a full day      | no                                               | refused: busy          |

Time is seconds since 1970, and handed in.

Source: binding 4 and 10; 4.2 – 4.4 and 7.1 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from entryway.admission import ADMITTED, REFUSED, Position, Reason, knocking, position
from entryway.errors import EntrywayError
from entryway.protections import HourlyCounts
from entryway.roster import Policy
from store import Knock

DAY = 86_400.0
KEPT = 30 * DAY  # how long a knock waits for the owner without another one


@dataclass(frozen=True, slots=True)
class KnockLimits:
    """Bounds of knocking: seconds between two of one sender that are kept, and how many of all in a day."""

    wait: float = DAY
    per_day: int = 1_000


Keep = Callable[[Knock, float], Awaitable[None]]
"""Puts a knock on the disk and forgets those last seen at a time or before. Raises EntrywayError AGENT_UNAVAILABLE."""


class Door:
    """The door of one agent. `policy` is replaced as a whole when the owner changes the roster."""

    def __init__(self, policy: Policy, knocks: Iterable[Knock], keep: Keep, limits: KnockLimits | None = None) -> None:
        self.policy = policy
        self.limits = limits or KnockLimits()
        self._keep = keep
        # By their last knock, the oldest first: what falls away is at the front.
        self._knocks = OrderedDict((one.subject, one) for one in sorted(knocks, key=lambda one: one.last_at))
        # When the knocks of the last day were kept. A sender's earlier one is not told apart from its last; it was kept
        # a day before at least, unless the operator has shortened the wait.
        self._lately = deque(one.last_at for one in self._knocks.values())
        self._strangers, self._admitted = HourlyCounts(), HourlyCounts()

    def admits(self, caller: str | None, admission: str | None) -> bool:
        """Whether `caller` may hand in work: its verified id, `None` for one who did not sign, who never may.

        `admission`: what the Descriptor declares, `None` where it does not.
        """
        return caller is not None and knocking(self.policy, caller, admission) is ADMITTED

    def count(self, caller: str, admission: str | None, now: float) -> None:
        """Counts one message of `caller` in. The cap holds for everybody, admitted or not.

        Raises EntrywayError RATE_LIMITED, with the time to come back.
        """
        # Counted apart: strangers, who may have as many keys as they like, must not push an admitted caller's count out
        # of memory.
        counts = self._admitted if self.admits(caller, admission) else self._strangers
        wait = counts.take(caller, now, self.policy.hourly)
        if wait:
            raise EntrywayError(
                "RATE_LIMITED",
                f"This agent takes {self.policy.hourly} messages an hour from one sender, and you have sent them. Come "
                f"back in {math.ceil(wait)} seconds.",
                headers=(("Retry-After", str(math.ceil(wait))),),
            )

    def where(self, caller: str, admission: str | None, now: float) -> Position:
        """Where `caller` stands. Nothing is kept of the question."""
        return position(self.policy, caller, admission, knocked=self._known(caller, now) is not None)

    def knock(self, caller: str, admission: str | None, now: float) -> Position | Awaitable[Position]:
        """What a knock of `caller` comes to; later, where it is kept first."""
        comes_to = knocking(self.policy, caller, admission)
        if comes_to is ADMITTED or comes_to.reason is Reason.REVOKED:
            return comes_to
        known = self._known(caller, now)
        if known is not None and now - known.last_at < self.limits.wait:
            return comes_to
        if self._in_a_day(now) >= self.limits.per_day:
            return REFUSED[Reason.BUSY] if known is None else comes_to
        first_at, count = (now, 0) if known is None else (known.first_at, known.count)
        return self._kept(Knock(caller, first_at, now, count + 1), comes_to)

    def waiting(self, now: float) -> tuple[Knock, ...]:
        """The knocks that have not fallen away, the oldest first."""
        return tuple(one for one in self._knocks.values() if _waits(one, now))

    def forget(self, caller: str) -> None:
        """Forgets the knocks of a caller about whom the owner has decided."""
        self._knocks.pop(caller, None)

    async def _kept(self, knock: Knock, comes_to: Position) -> Position:
        before = self._knocks.get(knock.subject)
        # Counted before it is kept, so that copies that come meanwhile find it and none goes beyond the bounds.
        self._put(knock)
        self._lately.append(knock.last_at)
        try:
            await self._keep(knock, knock.last_at - KEPT)
        except BaseException:
            with suppress(ValueError):  # the clock was set a day ahead meanwhile, and it is out of the count
                self._lately.remove(knock.last_at)
            if self._knocks.get(knock.subject) is knock:
                self.forget(knock.subject)
                if before is not None:
                    self._put(before)
            raise
        return comes_to

    def _put(self, knock: Knock) -> None:
        self._knocks[knock.subject] = knock
        self._knocks.move_to_end(knock.subject)
        while self._knocks and not _waits(oldest := next(iter(self._knocks.values())), knock.last_at):
            self.forget(oldest.subject)

    def _known(self, caller: str, now: float) -> Knock | None:
        known = self._knocks.get(caller)
        return known if known is not None and _waits(known, now) else None

    def _in_a_day(self, now: float) -> int:
        while self._lately and now - self._lately[0] >= DAY:
            self._lately.popleft()
        return len(self._lately)


def _waits(knock: Knock, now: float) -> bool:
    """Whether a knock still waits: it falls away thirty days after the last one."""
    return now - knock.last_at < KEPT
