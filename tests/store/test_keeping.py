"""Versions of others and subscriptions are kept as they were given, and touch nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from descriptor.digests import digest_of
from store import Copy, Follow, Reader, Reported, Standing, Store, StoreError

FOLLOW = Follow("UPEER", "http://peer.test:7420", 1.5, None, synced=False)


def copy(data: bytes) -> Copy:
    return Copy(data, digest_of(data), data.decode(), 7.0)


def keep(store: Store, data: bytes, *, current: bool = True, subject: str = "UPEER") -> bool:
    """Whether it was new."""
    return not store.keep(subject, copy(data), current=lambda _before: current).kept


def history(reader: Reader, subject: str = "UPEER") -> list[tuple[str, bool]]:
    versions, _ = reader.history(subject, 100)
    return [(version.agent_version, version.current) for version in versions]


def test_a_version_is_kept_once_and_appends_no_event(store: Store) -> None:
    with Reader.open(store.path) as reader:
        assert keep(store, b"1")
        assert not keep(store, b"1")
        assert keep(store, b"2")
        assert not keep(store, b"1", current=False)
        assert history(reader) == [("2", True), ("1", False)]
        assert reader.artifact(digest_of(b"1")) == b"1"
        assert reader.digests_of("UPEER") == {digest_of(b"1"), digest_of(b"2")}
        assert reader.last_event_seq() == 0


def test_what_becomes_current_again_is_pointed_to_and_stands_in_the_history_once(store: Store) -> None:
    with Reader.open(store.path) as reader:
        assert [keep(store, data) for data in (b"1", b"2", b"1", b"2", b"1")] == [True, True, False, False, False]
        assert history(reader) == [("2", False), ("1", True)]


def test_a_version_that_is_not_current_leaves_the_current_one(store: Store) -> None:
    with Reader.open(store.path) as reader:
        keep(store, b"2")
        assert keep(store, b"1", current=False)
        current = reader.current("UPEER")
        assert current is not None
        assert current.agent_version == "2"


def test_one_document_of_two_subjects_stands_in_the_history_of_both(store: Store) -> None:
    with Reader.open(store.path) as reader:
        assert keep(store, b"1")
        assert keep(store, b"1", subject="UOTHER")
        assert history(reader) == history(reader, "UOTHER") == [("1", True)]


def test_bytes_of_another_digest_are_not_kept(store: Store) -> None:
    wrong = replace(copy(b"1"), digest=digest_of(b"2"))
    store.add_follow(FOLLOW)
    with pytest.raises(StoreError, match="nothing was changed"):
        store.keep("U", wrong, current=lambda _before: True)
    with pytest.raises(StoreError, match="nothing was changed"):
        store.take_in(replace(FOLLOW, seq=3), copy=wrong)
    with Reader.open(store.path) as reader:
        assert reader.follows() == (FOLLOW,)


def test_a_subscription_goes_on_with_what_it_has_taken_in_and_ends(store: Store) -> None:
    reports = (Reported(3.5, "gap", "one was due", None, 7), Reported(4.0, "rollback", "older", "sha256:0"))
    with Reader.open(store.path) as reader:
        store.add_follow(FOLLOW)
        store.add_follow(replace(FOLLOW, id="UOTHER", since=1.0))
        changed = replace(FOLLOW, url="http://elsewhere.test", seq=9, synced=True, reports=reports)
        assert store.take_in(changed, copy=copy(b"1"), current=digest_of(b"1"))
        assert reader.follows() == (replace(FOLLOW, id="UOTHER", since=1.0), changed)
        assert history(reader) == [("1", True)]
        assert store.drop_follow("UPEER")
        assert not store.drop_follow("UPEER")
        assert [one.id for one in reader.follows()] == ["UOTHER"]


def test_to_follow_again_changes_where_and_forgets_nothing(store: Store) -> None:
    come_far = replace(FOLLOW, seq=9, synced=True, reports=(Reported(3.5, "gap", "one was due"),))
    with Reader.open(store.path) as reader:
        store.add_follow(FOLLOW)
        store.take_in(come_far)
        store.add_follow(replace(FOLLOW, url="http://elsewhere.test", since=99.0))
        assert reader.follows() == (replace(come_far, url="http://elsewhere.test"),)


def test_whoever_is_followed_no_more_takes_nothing_in(store: Store) -> None:
    store.add_follow(FOLLOW)
    store.drop_follow(FOLLOW.id)
    assert not store.take_in(replace(FOLLOW, seq=1), copy=copy(b"1"), current=digest_of(b"1"))
    with Reader.open(store.path) as reader:
        assert (reader.follows(), history(reader), reader.artifact(digest_of(b"1"))) == ((), [], None)


def test_a_pointer_moves_to_what_is_kept_and_to_nothing_else(store: Store) -> None:
    store.add_follow(FOLLOW)
    with Reader.open(store.path) as reader:
        store.take_in(FOLLOW, current=digest_of(b"1"))
        assert reader.current("UPEER") is None
        store.take_in(FOLLOW, copy=copy(b"1"))
        assert history(reader) == [("1", False)]
        store.take_in(FOLLOW, current=digest_of(b"1"))
        assert history(reader) == [("1", True)]


def test_a_history_says_where_a_version_stands_in_it(store: Store) -> None:
    with Reader.open(store.path) as reader:
        assert reader.standing("UPEER", digest_of(b"1")) == Standing(None, None, None, None, None, None, 0, 0)
        keep(store, b"1")
        keep(store, b"20")
        keep(store, b"999", subject="UOTHER")
        second, first = reader.history("UPEER", 2)[0]
        current = (second.seq, second.digest, "20", 7.0)
        assert reader.standing("UPEER", first.digest) == Standing(first.seq, "1", *current, 2, 3)
        unknown = reader.standing("UPEER", digest_of(b"999"))
        assert (unknown, unknown.kept) == (Standing(None, None, *current, 2, 3), False)


def test_two_documents_under_one_agent_version_are_found(store: Store) -> None:
    one, other = copy(b"1"), replace(copy(b"other"), agent_version="1")
    with Reader.open(store.path) as reader:
        keep(store, b"1")
        assert reader.spelled("UPEER", "1", one.digest) is None
        assert reader.spelled("UPEER", "1", other.digest) == one.digest
        assert reader.spelled("UPEER", "2", other.digest) is None
        assert reader.spelled("UOTHER", "1", other.digest) is None
