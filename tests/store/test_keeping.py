"""Versions of others, subscriptions and peers are kept as they were given, and touch nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from descriptor.digests import digest_of
from store import Follow, Reader, Reported, Store, StoreError

FOLLOW = Follow("UPEER", "http://peer.test:7420", 1.5, None, synced=False)


def keep(store: Store, data: bytes, *, current: bool = True, subject: str = "UPEER") -> bool:
    return store.keep(
        data=data,
        digest=digest_of(data),
        subject=subject,
        agent_version=data.decode(),
        published_at=7.0,
        current=current,
    )


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


def test_what_becomes_current_again_stands_in_the_history_again(store: Store) -> None:
    with Reader.open(store.path) as reader:
        for data in (b"1", b"2", b"1"):
            assert keep(store, data)
        assert history(reader) == [("1", True), ("2", False), ("1", False)]


def test_a_version_that_is_not_current_leaves_the_current_one(store: Store) -> None:
    with Reader.open(store.path) as reader:
        keep(store, b"2")
        assert keep(store, b"1", current=False)
        current = reader.current("UPEER")
        assert current is not None
        assert current.agent_version == "2"


def test_bytes_of_another_digest_are_not_kept(store: Store) -> None:
    with pytest.raises(StoreError, match="nothing was changed"):
        store.keep(data=b"1", digest=digest_of(b"2"), subject="U", agent_version="1", published_at=1.0, current=True)


def test_a_subscription_is_changed_in_place_and_ends(store: Store) -> None:
    reports = (Reported(3.5, "gap", "one was due", None), Reported(4.0, "rollback", "older", "sha256:0"))
    with Reader.open(store.path) as reader:
        store.put_follow(FOLLOW)
        store.put_follow(replace(FOLLOW, id="UOTHER", since=1.0))
        changed = replace(FOLLOW, url="http://elsewhere.test", seq=9, synced=True, reports=reports)
        store.put_follow(changed)
        assert reader.follows() == (replace(FOLLOW, id="UOTHER", since=1.0), changed)
        assert store.drop_follow("UPEER")
        assert not store.drop_follow("UPEER")
        assert [one.id for one in reader.follows()] == ["UOTHER"]
