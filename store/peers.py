"""The agents that were heard on the network: one row an id.

The invariant: the bytes that are kept beside a peer are those of the digest in its row, or there are none. They are
read one peer at a time, because many peers' together would not fit in memory.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from descriptor.digests import digest_of
from store.records import Peer

_ALL = (
    "SELECT id, handle, state, reason, agent_version, digest, addresses, first_seen, last_seen FROM peers ORDER BY id"
)
_PUT = (
    "INSERT INTO peers (id, handle, state, reason, agent_version, digest, addresses, first_seen, last_seen, descriptor)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
    " descriptor = coalesce(excluded.descriptor, CASE WHEN digest IS excluded.digest THEN descriptor END),"
    " handle = excluded.handle, state = excluded.state, reason = excluded.reason,"
    " agent_version = excluded.agent_version, digest = excluded.digest, addresses = excluded.addresses,"
    " first_seen = excluded.first_seen, last_seen = excluded.last_seen"
)


def peers(connection: sqlite3.Connection) -> tuple[Peer, ...]:
    """Every peer, in the order of their ids."""
    rows = connection.execute(_ALL)
    return tuple(
        Peer(agent_id, handle, state, reason, agent_version, digest, tuple(json.loads(addresses)), first, last)
        for agent_id, handle, state, reason, agent_version, digest, addresses, first, last in rows
    )


def peer_descriptor(connection: sqlite3.Connection, agent_id: str) -> bytes | None:
    """The Descriptor of a peer that verified last; `None` when none is kept, or what is kept is damaged."""
    row = connection.execute("SELECT digest, descriptor FROM peers WHERE id = ?", (agent_id,)).fetchone()
    if row is None or not isinstance(row[1], bytes) or digest_of(row[1]) != row[0]:
        return None
    return row[1]


def put_peers(connection: sqlite3.Connection, kept: Iterable[tuple[Peer, bytes | None]]) -> None:
    """Adds peers, or replaces what is known of them, each with the bytes of its Descriptor.

    Without bytes, those that are kept stay for as long as they are of the row's digest.
    """
    connection.executemany(
        _PUT,
        [
            (
                *(one.id, one.handle, one.state, one.reason, one.agent_version, one.digest),
                *(json.dumps(one.addresses), one.first_seen, one.last_seen, descriptor),
            )
            for one, descriptor in kept
        ],
    )


def drop_peers(connection: sqlite3.Connection, ids: Iterable[str]) -> None:
    """Forgets peers."""
    connection.executemany("DELETE FROM peers WHERE id = ?", [(one,) for one in ids])
