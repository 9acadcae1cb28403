"""What strangers send to a real node leaves it as it was: no child process, no file that is open, no row."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from random import Random

import pytest

from entryway.codec import Codec
from node.home import Home
from tests.end_to_end.harness import Node, fresh_home, running
from tests.entryway.test_strangers import inputs
from tests.node.parts import draft, identity_of, published

PROC = Path("/proc")
WITHOUT = {"knocks"}  # the one table in which a stranger may leave a row


def rows(home: Home) -> dict[str, int]:
    """How many rows each table has."""
    with closing(sqlite3.connect(f"file:{home.database}?mode=ro", uri=True)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        assert set(tables) >= WITHOUT
        return {
            table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in tables
            if table not in WITHOUT
        }


def children(node: Node) -> list[str]:
    """The processes that the node's process has begun and that have not ended, a thread's among them."""
    threads = (PROC / str(node.process.pid) / "task").iterdir()
    return [child for thread in threads for child in (thread / "children").read_text().split()]


def files(node: Node) -> list[str]:
    """What the node's process has open, but the sockets of those who ask."""
    found = []
    for link in (PROC / str(node.process.pid) / "fd").iterdir():
        with suppress(FileNotFoundError):  # closed since it was listed
            found.append(str(link.readlink()))
    return sorted(one for one in found if not one.startswith("socket:"))


@pytest.mark.skipif(not (PROC / "self/task").is_dir(), reason="this system lists no processes in /proc")
def test_whatever_strangers_send_the_node_is_as_before() -> None:
    with fresh_home() as home:
        published(home, draft("1", access={"admission": "screened", "schemes": []}))
        with running(home) as node:
            sent = list(inputs(Random(7), now=time.time(), to=identity_of(home).id))[::4]
            # One of each first: what the node brings into memory when it is first asked stays.
            for codec, body in sent[:20]:
                node.post("/requests", body, codec.value)
            before, opened = rows(home), files(node)
            seen_children: set[str] = set()
            statuses = set()
            for codec, body in sent:
                for path in ("/requests", "/entryway"):
                    statuses.add(node.post(path, body, codec.value).status)
                    seen_children.update(children(node))
            assert seen_children == set()
            assert {200, 400} <= statuses <= {200, 400, 403, 404, 413, 429}
            assert rows(home) == before
            assert files(node) == opened
            assert node.get().status == 200


def test_a_request_for_work_is_refused_over_a_socket_in_either_codec() -> None:
    with fresh_home() as home:
        published(home, draft("1"))
        with running(home) as node:
            for codec in Codec:
                answer = node.post("/requests", b"{}" if codec is Codec.JSON else b"\x80", codec.value)
                assert answer.status == 400
                assert answer.headers["content-type"] == codec.value
