"""Peers: a row an id, and bytes only of the digest in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from store import Peer, Reader, Store, StoreError
from tests.store.samples import ALICE, AT, BOB, digest, document, execute

HEARD = Peer(ALICE, None, "heard", "", None, None, (), AT, AT + 1)
VERIFIED = Peer(BOB, "bob.home", "verified", "", "2", digest(2), ("10.0.0.2:7420", "[fe80::2%lan0]:7420"), AT, AT + 5)


def test_what_is_put_is_what_is_read_in_the_order_of_ids(store: Store) -> None:
    with Reader.open(store.path) as reader:
        assert reader.peers() == ()
        store.put_peers([(VERIFIED, document(2)), (HEARD, None)])
        assert reader.peers() == (HEARD, VERIFIED)
        assert reader.peer_descriptor(BOB) == document(2)
        assert reader.peer_descriptor(ALICE) is None
        assert reader.peer_descriptor("U" + "C" * 55) is None


def test_a_peer_that_is_put_again_is_replaced_and_its_bytes_stay_while_its_digest_does(store: Store) -> None:
    store.put_peers([(VERIFIED, document(2))])
    gone = replace(VERIFIED, state="gone", addresses=(), last_seen=AT + 9)
    with Reader.open(store.path) as reader:
        store.put_peers([(gone, None)])
        assert reader.peers() == (gone,)
        assert reader.peer_descriptor(BOB) == document(2)
        later = replace(VERIFIED, agent_version="3", digest=digest(3))
        store.put_peers([(later, None)])
        assert reader.peer_descriptor(BOB) is None
        store.put_peers([(later, document(3))])
        assert reader.peer_descriptor(BOB) == document(3)


def test_bytes_that_do_not_match_are_not_given_out(store: Store) -> None:
    store.put_peers([(VERIFIED, document(2))])
    execute(store.path, "UPDATE peers SET descriptor = x'00'")
    with Reader.open(store.path) as reader:
        assert reader.peer_descriptor(BOB) is None


def test_peers_are_forgotten_one_by_one(store: Store) -> None:
    store.put_peers([(VERIFIED, document(2)), (HEARD, None)])
    store.drop_peers([BOB, "U" + "C" * 55])
    with Reader.open(store.path) as reader:
        assert reader.peers() == (HEARD,)


def test_peers_are_there_after_the_store_was_closed(path: Path) -> None:
    with Store.open(path) as store:
        store.put_peers([(VERIFIED, document(2))])
    with Store.open(path), Reader.open(path) as reader:
        assert reader.peers() == (VERIFIED,)


def test_a_store_that_lost_its_file_takes_no_peers(store: Store) -> None:
    store.path.unlink()
    with pytest.raises(StoreError) as caught:
        store.put_peers([(HEARD, None)])
    assert caught.value.code == "STORE_REPLACED"
