"""Limits by address, and the inbound protections in their order. Time is handed in."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from descriptor.timestamps import format_timestamp
from entryway import protections
from entryway.envelope import Envelope, new_uuid, read_envelope, request_envelope, sign_envelope
from entryway.errors import EntrywayError
from entryway.protections import (
    FRESH_AHEAD,
    FRESH_BEHIND,
    HOUR,
    TEXT_CAP,
    AddressLimits,
    Bucket,
    HourlyCounts,
    Inbound,
    refuse_long_text,
    text_cap,
    utf16_units,
)
from tests.entryway.parts import NOW, OTHER, OWNER

# Buckets.


def test_a_bucket_gives_its_burst_and_then_its_rate() -> None:
    bucket = Bucket(rate=50.0, burst=200.0, now=0.0)
    assert [bucket.take(0.0) for _ in range(200)] == [0.0] * 200
    assert bucket.take(0.0) == pytest.approx(0.02)
    assert bucket.take(0.01) == pytest.approx(0.01)
    assert bucket.take(0.021) == 0.0
    assert bucket.take(0.021) > 0.0


def test_a_bucket_never_holds_more_than_its_burst() -> None:
    bucket = Bucket(rate=50.0, burst=3.0, now=0.0)
    assert [bool(bucket.take(1e9)) for _ in range(4)] == [False, False, False, True]


def test_asking_too_soon_does_not_put_the_next_answer_off() -> None:
    bucket = Bucket(rate=1.0, burst=1.0, now=0.0)
    bucket.take(0.0)
    for tenth in range(1, 10):
        assert bucket.take(tenth / 10) == pytest.approx(1.0 - tenth / 10)
    assert bucket.take(1.0 + 1e-9) == 0.0


@settings(deadline=None)
@given(times=st.lists(st.floats(0, 100), max_size=50).map(sorted), rate=st.floats(0.1, 100), burst=st.integers(1, 10))
def test_no_bucket_gives_more_than_its_burst_and_its_rate(times: list[float], rate: float, burst: int) -> None:
    bucket = Bucket(rate, float(burst), now=0.0)
    given_out = sum(bucket.take(now) == 0.0 for now in times)
    assert given_out <= burst + rate * (times[-1] if times else 0.0) + 1e-6


# Addresses.


def limits(connections: int = 2, *, rate: float = 1.0, burst: float = 2.0, loopback: bool = False) -> AddressLimits:
    return AddressLimits(rate, burst, connections, limit_loopback=loopback)


@pytest.mark.parametrize(
    ("address", "key"),
    [
        (None, None),
        ("192.168.1.20", "192.168.1.20"),
        ("::ffff:192.168.1.20", "192.168.1.20"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2::1", "2001:db8:1:2::"),
        ("2001:db8:1:3::1", "2001:db8:1:3::"),
        ("fe80::1%eth0", "fe80::1"),
        ("fd00::1%3", "fd00::1"),
        ("127.0.0.1", None),
        ("127.9.9.9", None),
        ("::1", None),
        ("::ffff:127.0.0.1", None),
    ],
)
def test_an_address_is_counted_under_its_host(address: str | None, key: str | None) -> None:
    assert limits().key(address) == key


@pytest.mark.parametrize(
    ("address", "key"), [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("::ffff:127.0.0.1", "127.0.0.1")]
)
def test_loopback_is_counted_when_asked_for(address: str, key: str) -> None:
    assert limits(loopback=True).key(address) == key


def test_an_address_has_as_many_connections_as_it_may() -> None:
    bound = limits(connections=2)
    assert [bound.connect("a"), bound.connect("a"), bound.connect("a"), bound.connect("b")] == [True, True, False, True]
    bound.disconnect("a")
    assert bound.connect("a")
    assert not bound.connect("a")


def test_what_is_not_counted_is_not_bound() -> None:
    bound = limits(connections=0)
    assert bound.connect(None)
    bound.disconnect(None)
    assert bound.bucket(None, 0.0) is None


def test_connections_of_an_address_share_its_bucket() -> None:
    bound = limits()
    first, second = bound.bucket("a", 0.0), bound.bucket("a", 5.0)
    assert first is second
    assert first is not bound.bucket("b", 0.0)


def test_closed_connections_leave_nothing_behind() -> None:
    bound = limits(connections=10)
    for number in range(1_000):
        bound.connect(str(number))
    for number in range(1_000):
        bound.disconnect(str(number))
    assert not bound._open


def test_the_memory_of_addresses_is_bounded_and_forgets_the_one_unused_for_longest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(protections, "ADDRESSES", 3)
    bound = limits()
    buckets = {name: bound.bucket(name, 0.0) for name in "abc"}
    assert bound.bucket("a", 0.0) is buckets["a"]
    bound.bucket("d", 0.0)
    assert set(bound._buckets) == {"a", "c", "d"}


def test_an_address_with_an_open_connection_is_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protections, "ADDRESSES", 3)
    bound = limits()
    bound.connect("open")
    kept = bound.bucket("open", 0.0)
    for number in range(10):
        bound.bucket(str(number), 0.0)
    assert bound.bucket("open", 0.0) is kept
    assert len(bound._buckets) == 3


def test_limits_that_change_bind_the_next_connection() -> None:
    bound = limits(connections=1)
    assert bound.connect("a")
    bound.bucket("known", 0.0)
    bound.change(1.0, 1.0, 2, limit_loopback=True)
    assert bound.connect("a")
    assert not bound.connect("a")
    assert bound.key("127.0.0.1") == "127.0.0.1"
    for key in ("new", "known"):
        bucket = bound.bucket(key, 0.0)
        assert bucket is not None
        assert [bucket.take(0.0) > 0.0 for _ in range(2)] == [False, True]


# The messages of a sender.


def test_an_hour_begins_with_its_first_message_and_takes_so_many() -> None:
    counts = HourlyCounts()
    assert [counts.take("a", NOW + second, 3) for second in (0, 10, 20)] == [0.0, 0.0, 0.0]
    assert counts.take("a", NOW + 30, 3) == HOUR - 30
    assert counts.take("a", NOW + HOUR - 0.5, 3) == 0.5
    assert [counts.take("a", NOW + HOUR, 3) for _ in range(4)] == [0.0, 0.0, 0.0, HOUR]


def test_senders_are_counted_apart() -> None:
    counts = HourlyCounts()
    assert [counts.take(sender, NOW, 1) for sender in "aba"] == [0.0, 0.0, HOUR]


def test_a_message_that_is_refused_does_not_put_the_next_one_off() -> None:
    counts = HourlyCounts()
    for _ in range(100):
        counts.take("a", NOW, 1)
    assert counts.take("a", NOW + HOUR, 1) == 0.0


def test_a_clock_that_is_set_back_begins_a_new_hour() -> None:
    counts = HourlyCounts()
    counts.take("a", NOW, 1)
    assert counts.take("a", NOW - 86_400, 1) == 0.0


def test_the_memory_of_senders_is_bounded_and_forgets_whose_hour_began_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protections, "SENDERS", 3)
    counts = HourlyCounts()
    for number, sender in enumerate("abcab"):
        counts.take(sender, NOW + number, 9)
    counts.take("b", NOW + HOUR + 1, 9)  # b's hour is over, and its new one is the youngest
    counts.take("d", NOW + HOUR + 2, 9)
    assert list(counts._hours) == ["c", "b", "d"]


@settings(deadline=None)
@given(times=st.lists(st.floats(0, 3 * HOUR), max_size=60).map(sorted), most=st.integers(1, 5))
def test_no_hour_that_began_takes_more_than_its_cap(times: list[float], most: int) -> None:
    counts = HourlyCounts()
    taken = [at for at in times if counts.take("a", NOW + at, most) == 0.0]
    began: list[float] = []
    for at in taken:
        if not began or at - began[-1] >= HOUR:
            began.append(at)
    assert len(taken) <= most * len(began)


# The text of a message.


@pytest.mark.parametrize(
    ("text", "units"), [("", 0), ("abc", 3), ("\u00e4\uffff", 2), ("\U00010000", 2), ("\U0001f680x", 3), ("\ud800", 1)]
)
def test_text_is_counted_in_utf_16(text: str, units: int) -> None:
    assert utf16_units(text) == units


@given(st.text())
def test_the_count_is_what_utf_16_says(text: str) -> None:
    assert utf16_units(text) == sum(2 if ord(char) > 0xFFFF else 1 for char in text)


def too_long(value: Any, cap: int) -> bool:
    try:
        refuse_long_text(value, cap)
    except EntrywayError as error:
        assert (error.code, error.status, error.details) == ("TOO_LARGE", 413, {"max_chars": cap})
        return True
    return False


@pytest.mark.parametrize("cap", [1, 2, 5, TEXT_CAP])
def test_exactly_at_the_cap_is_taken(cap: int) -> None:
    assert not too_long("x" * cap, cap)
    assert too_long("x" * cap + "y", cap)
    assert not too_long(["x"] * cap, cap)
    assert too_long(["x"] * cap + ["y"], cap)


def test_a_character_outside_the_basic_plane_counts_twice() -> None:
    assert not too_long("🚀" * (TEXT_CAP // 2), TEXT_CAP)
    assert too_long("🚀" * (TEXT_CAP // 2) + "x", TEXT_CAP)


def test_all_texts_of_a_value_count_together_and_nothing_else_does() -> None:
    value = {"ab": ["cd", {"e": "f"}], "g": [1, 2.5, None, True]}
    assert not too_long(value, 7)
    assert too_long(value, 6)


@pytest.mark.parametrize(
    ("limits", "cap"),
    [
        (None, TEXT_CAP),
        ({}, TEXT_CAP),
        ({"max_inbound_chars": 100}, 100),
        ({"max_inbound_chars": TEXT_CAP}, TEXT_CAP),
        ({"max_inbound_chars": TEXT_CAP + 1}, TEXT_CAP),
        ({"max_inbound_chars": 0}, TEXT_CAP),
        ({"max_inbound_chars": -1}, TEXT_CAP),
        ({"max_inbound_chars": True}, TEXT_CAP),
        ({"max_inbound_chars": 1.5}, TEXT_CAP),
        ({"max_inbound_chars": "9"}, TEXT_CAP),
        ([], TEXT_CAP),
    ],
)
def test_a_descriptor_may_lower_the_cap_and_not_raise_it(limits: Any, cap: int) -> None:
    assert text_cap(limits) == cap


# The inbound protections.


def signed(**members: Any) -> Envelope:
    """An envelope by OTHER to OWNER, as it is after `members` were put in and it was signed."""
    unsigned = {**request_envelope({"exchange": 2}, NOW, to=OWNER.id), "from": OTHER.id, **members}
    return read_envelope(sign_envelope(OTHER, unsigned))


def tampered(**members: Any) -> Envelope:
    """A signed envelope that was changed afterwards."""
    return read_envelope({**signed().members, **members})


def unsigned(**members: Any) -> Envelope:
    return read_envelope({**request_envelope({"exchange": 2}, NOW), **members})


def refuses(inbound: Inbound, envelope: Envelope, now: float = NOW, *, need: bool = False) -> bool:
    try:
        inbound.judge(envelope, now, signed=need)
    except EntrywayError as error:
        assert error.code == "INVALID_ENVELOPE"
        return True
    return False


def at(seconds: float) -> str:
    return format_timestamp(NOW + seconds)


def test_a_signed_envelope_names_its_sender() -> None:
    assert Inbound(OWNER.id).judge(signed(), NOW, signed=True) == OTHER.id


def test_an_unsigned_envelope_is_anonymous_even_when_it_names_a_sender() -> None:
    for envelope in (unsigned(), unsigned(**{"from": OTHER.id})):
        assert Inbound(OWNER.id).judge(envelope, NOW, signed=False) is None


def test_where_a_signature_is_needed_an_unsigned_envelope_is_refused() -> None:
    for envelope in (unsigned(), unsigned(**{"from": OTHER.id})):
        assert refuses(Inbound(OWNER.id), envelope, need=True)


@pytest.mark.parametrize(
    "members",
    [
        {"payload": {"exchange": 1}},
        {"ts": at(1)},
        {"id": new_uuid()},
        {"to": OTHER.id},
        {"from": OWNER.id},
        {"from": None},
        {"added": None},
        {"sig": "A" * 86},
    ],
)
def test_a_signature_covers_every_member(members: dict[str, Any]) -> None:
    assert refuses(Inbound(OWNER.id), tampered(**members))


def test_members_unknown_here_are_covered_and_taken() -> None:
    assert not refuses(Inbound(OWNER.id), signed(trace={"n": [1.5, None, "ä"]}))


@pytest.mark.parametrize(
    ("age", "taken"),
    [
        (0.0, True),
        (FRESH_BEHIND - 0.001, True),
        (FRESH_BEHIND, True),
        (FRESH_BEHIND + 0.001, False),
        (-FRESH_AHEAD + 0.001, True),
        (-FRESH_AHEAD, True),
        (-FRESH_AHEAD - 0.001, False),
    ],
)
@pytest.mark.parametrize("make", [signed, unsigned])
def test_the_window_is_ten_minutes_behind_and_five_ahead(make: Any, age: float, taken: bool) -> None:
    envelope = make(ts=at(0))
    assert refuses(Inbound(OWNER.id), envelope, envelope.ts + age) is not taken


@pytest.mark.parametrize(("to", "taken"), [(OWNER.id, True), (None, True), (OTHER.id, False), ("", False)])
@pytest.mark.parametrize("make", [signed, unsigned])
def test_what_is_addressed_to_another_agent_is_refused(make: Any, to: str | None, taken: bool) -> None:
    assert refuses(Inbound(OWNER.id), make(to=to)) is not taken


def test_a_signed_envelope_is_taken_once() -> None:
    inbound, envelope = Inbound(OWNER.id), signed()
    assert not refuses(inbound, envelope)
    assert refuses(inbound, envelope)


def test_a_duplicate_is_of_a_sender_and_an_id() -> None:
    inbound, envelope = Inbound(OWNER.id), signed()
    assert not refuses(inbound, envelope)
    assert not refuses(inbound, signed(id=new_uuid()))
    assert refuses(inbound, signed(id=envelope.id, payload={"exchange": 4}))
    by_another = {**request_envelope({}, NOW), "id": envelope.id, "from": OWNER.id}
    assert not refuses(inbound, read_envelope(sign_envelope(OWNER, by_another)))


def test_asking_anonymously_twice_changes_nothing() -> None:
    inbound, envelope = Inbound(OWNER.id), unsigned()
    assert not refuses(inbound, envelope)
    assert not refuses(inbound, envelope)
    assert not inbound._strangers


def test_an_envelope_is_remembered_before_it_is_judged_further() -> None:
    inbound = Inbound(OWNER.id)
    early = signed(ts=at(FRESH_AHEAD + 60))
    assert refuses(inbound, early)
    # Its time has come, and yet it is not tried again.
    assert refuses(inbound, early, NOW + 60)
    assert (OTHER.id, early.id) in inbound._strangers
    astray = signed(to=OTHER.id)
    assert refuses(inbound, astray)
    assert (OTHER.id, astray.id) in inbound._strangers


def test_what_is_not_by_its_sender_is_not_remembered() -> None:
    inbound, envelope = Inbound(OWNER.id), signed()
    forged = read_envelope({**envelope.members, "payload": {"exchange": 1}})
    assert refuses(inbound, forged)
    assert not refuses(inbound, envelope)


def test_at_least_5000_pairs_are_remembered_and_the_oldest_is_forgotten_first() -> None:
    inbound = Inbound(OWNER.id)
    assert protections.REMEMBERED >= 5_000
    for number in range(protections.REMEMBERED):
        inbound._remember((OTHER.id, str(number)), inbound._strangers)
    with pytest.raises(EntrywayError):
        inbound._remember((OTHER.id, "0"), inbound._strangers)
    inbound._remember((OTHER.id, "one more"), inbound._strangers)
    inbound._remember((OTHER.id, "0"), inbound._strangers)
    with pytest.raises(EntrywayError):
        inbound._remember((OTHER.id, "2"), inbound._strangers)
    assert len(inbound._strangers) == protections.REMEMBERED


def test_a_duplicate_does_not_keep_a_pair_from_being_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protections, "REMEMBERED", 2)
    inbound, first = Inbound(OWNER.id), signed()
    assert not refuses(inbound, first)
    assert not refuses(inbound, signed())
    assert refuses(inbound, first)
    assert not refuses(inbound, signed())
    assert (OTHER.id, first.id) not in inbound._strangers


def test_the_memory_of_pairs_is_bounded_and_forgets_the_oldest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protections, "REMEMBERED", 3)
    inbound = Inbound(OWNER.id)
    envelopes = [signed(id=new_uuid()) for _ in range(5)]
    for envelope in envelopes:
        assert not refuses(inbound, envelope)
    assert list(inbound._strangers) == [(OTHER.id, envelope.id) for envelope in envelopes[2:]]
    assert refuses(inbound, envelopes[2])
    assert not refuses(inbound, envelopes[0])


def test_every_failure_looks_the_same_from_outside() -> None:
    inbound, known = Inbound(OWNER.id), signed()
    inbound.judge(known, NOW, signed=False)
    seen = set()
    for envelope in (known, tampered(ts=at(1)), signed(ts=at(-900)), signed(to=OTHER.id), unsigned(to=OTHER.id)):
        with pytest.raises(EntrywayError) as caught:
            inbound.judge(envelope, NOW, signed=False)
        seen.add((repr(caught.value.body()), caught.value.headers))
    assert len(seen) == 1
