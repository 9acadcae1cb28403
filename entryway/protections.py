"""What stands between a stranger and an answer, each with bounded memory and its time handed in.

Two kinds. Limits by address count answers, whoever asks. The inbound protections judge an envelope, in the order of
4.8 of `rules-beyond-chapter-6`: signature, duplicate, freshness, address. Every failure of the second kind looks the
same from outside, because telling them apart would map the defenses for a prober.
"""

from __future__ import annotations

import ipaddress
from collections import OrderedDict

from descriptor.keys import verify
from descriptor.strictjson import JsonValue
from entryway.envelope import Envelope, invalid_envelope, signed_bytes
from entryway.errors import EntrywayError

FRESH_BEHIND = 600.0  # seconds an envelope may be old (binding 5)
FRESH_AHEAD = 300.0  # seconds its clock may run ahead of ours
REMEMBERED = 10_000  # pairs of (from, id); the specification asks for at least 5,000
ADDRESSES = 10_000  # addresses whose use is remembered
SENDERS = 10_000  # senders whose messages are counted
HOUR = 3600.0
TEXT_CAP = 65_536  # UTF-16 code units of text in one message, where the Descriptor does not say less
UNIQUE_LOCAL = ipaddress.IPv6Network("fc00::/7")


class Bucket:
    """A token bucket: `rate` a second, at most `burst` at once."""

    __slots__ = ("_burst", "_rate", "_then", "_tokens")

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate = rate
        self._burst = burst
        self._tokens = burst
        self._then = now

    def take(self, now: float) -> float:
        """0.0 when there was a token; otherwise the seconds until there will be one."""
        self._tokens = min(self._burst, self._tokens + (now - self._then) * self._rate)
        self._then = now
        if self._tokens >= 1.0:
            self._tokens -= 1.0
            return 0.0
        return (1.0 - self._tokens) / self._rate


class AddressLimits:
    """A bucket and a count of open connections for each address; an IPv6 host from elsewhere counts by its /64.

    A host elsewhere has a whole /64 to itself; on the local network all neighbors share one, so a link-local or unique
    local address counts whole.

    Loopback is not bound unless `limit_loopback`. What is forgotten first is the address unused for longest, and only
    when none of its connections is open.
    """

    def __init__(self, rate: float, burst: float, connections: int, *, limit_loopback: bool) -> None:
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()
        self._open: dict[str, int] = {}
        self.change(rate, burst, connections, limit_loopback=limit_loopback)

    def change(self, rate: float, burst: float, connections: int, *, limit_loopback: bool) -> None:
        """Sets the limits anew. Connections that are open keep those they began with."""
        self._rate = rate
        self._burst = burst
        self._most = connections
        self._limit_loopback = limit_loopback
        self._buckets.clear()

    def key(self, address: str | None) -> str | None:
        """What an address is counted under; None when it is not counted (loopback, a local socket)."""
        if address is None:
            return None
        ip = ipaddress.ip_address(address.partition("%")[0])
        if isinstance(ip, ipaddress.IPv6Address):
            if ip.ipv4_mapped is not None:
                ip = ip.ipv4_mapped
            elif not (ip.is_loopback or ip.is_link_local or ip in UNIQUE_LOCAL):
                return str(ipaddress.IPv6Address(int(ip) >> 64 << 64))
        if ip.is_loopback and not self._limit_loopback:
            return None
        return str(ip)

    def connect(self, key: str | None) -> bool:
        """Counts one connection in. False when the address has as many as it may."""
        if key is None:
            return True
        count = self._open.get(key, 0)
        if count >= self._most:
            return False
        self._open[key] = count + 1
        return True

    def disconnect(self, key: str | None) -> None:
        """Counts one connection out."""
        if key is None:
            return
        count = self._open[key] - 1
        if count:
            self._open[key] = count
        else:
            del self._open[key]

    def bucket(self, key: str | None, now: float) -> Bucket | None:
        """The bucket all connections of an address share; None when it is not limited."""
        if key is None:
            return None
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = Bucket(self._rate, self._burst, now)
            if len(self._buckets) > ADDRESSES:
                self._forget_one()
        self._buckets.move_to_end(key)
        return bucket

    def _forget_one(self) -> None:
        for key in self._buckets:
            if key not in self._open:
                del self._buckets[key]
                return


class HourlyCounts:
    """How many messages each sender sent in its hour, which begins with the first of them.

    A sender is forgotten when its hour is over and memory is needed, the one whose hour began first before the others.
    """

    def __init__(self) -> None:
        self._hours: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def take(self, sender: str, now: float, most: int) -> float:
        """Counts a message: 0.0 when there was room in the hour, otherwise the seconds until there will be."""
        began, count = self._hours.get(sender, (now, 0))
        # A clock that was set back would make the hour longer; it begins anew.
        if not 0.0 <= now - began < HOUR:
            began, count = now, 0
        if count >= most:
            return HOUR - (now - began)
        if count == 0:
            self._hours.pop(sender, None)
        self._hours[sender] = (began, count + 1)
        if len(self._hours) > SENDERS:
            self._hours.popitem(last=False)
        return 0.0


class Inbound:
    """The inbound protections of one agent, in their order.

    What admitted senders sent is remembered apart: strangers, who may have as many keys as they like, must not push it
    out of memory and have it done again.
    """

    def __init__(self, agent_id: str) -> None:
        self._agent_id = agent_id
        self._strangers: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._admitted: OrderedDict[tuple[str, str], None] = OrderedDict()

    def judge(
        self,
        envelope: Envelope,
        now: float,
        *,
        signed: bool,
        addressed: bool = False,
        over: bytes | None = None,
        admitted: bool = False,
    ) -> str | None:
        """The verified sender; None for an anonymous one, which `signed=False` allows.

        `now` is in seconds since 1970. `addressed`: it has to say to whom it is, and not only to nobody else. `over` is
        what the signature is over, where that has been worked out already. `admitted`: whether the sender that is named
        is. An unsigned envelope has no sender to remember: asking twice
        changes nothing, and a stranger cannot fill the memory that protects the others. Raises EntrywayError
        INVALID_ENVELOPE.
        """
        sender = envelope.sender
        if envelope.signature is not None:
            if sender is None:
                raise invalid_envelope()
            if not verify(sender, signed_bytes(envelope) if over is None else over, envelope.signature):
                raise invalid_envelope()
            # Remembered before it is judged further: a copy must not be tried again against another reason.
            self._remember((sender, envelope.id), self._admitted if admitted else self._strangers)
        elif signed:
            raise invalid_envelope()
        else:
            sender = None
        if not -FRESH_AHEAD <= now - envelope.ts <= FRESH_BEHIND:
            raise invalid_envelope()
        if envelope.recipient != self._agent_id and (addressed or envelope.recipient is not None):
            raise invalid_envelope()
        return sender

    def _remember(self, pair: tuple[str, str], seen: OrderedDict[tuple[str, str], None]) -> None:
        # Looked for in both: a sender may have been let in, or sent away, since.
        if pair in self._admitted or pair in self._strangers:
            raise invalid_envelope()
        seen[pair] = None
        if len(seen) > REMEMBERED:
            seen.popitem(last=False)


def text_cap(limits: JsonValue) -> int:
    """The most text one message may hold, in UTF-16 code units. A Descriptor's `limits` may lower it, not raise it.

    Source: binding 5 and 11 (`limits.max_inbound_chars`).
    """
    stated = limits.get("max_inbound_chars") if isinstance(limits, dict) else None
    if isinstance(stated, int) and not isinstance(stated, bool) and stated >= 1:
        return min(stated, TEXT_CAP)
    return TEXT_CAP


def refuse_long_text(value: JsonValue, cap: int) -> None:
    """Refuses a value whose texts, taken together, are longer than `cap` UTF-16 code units; exactly `cap` is taken.

    All texts count, the names of members among them: whoever reads the value reads those too. Raises EntrywayError
    TOO_LARGE. Source: 4.8 of `rules-beyond-chapter-6`.
    """
    left, waiting = cap, [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            left -= utf16_units(one)
        elif isinstance(one, dict):
            waiting.extend(one)
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
        if left < 0:
            raise EntrywayError(
                "TOO_LARGE",
                f"The text is over the {cap} UTF-16 code units taken here. Send less of it; none of it was read.",
                {"max_chars": cap},
            )


def utf16_units(text: str) -> int:
    """How long `text` is in UTF-16 code units: two for a character beyond the Basic Multilingual Plane."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
