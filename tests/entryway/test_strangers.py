"""Nothing that a stranger sends starts anything: no process, no job, no row but a knock's, no file, no connection.

Everything that may come before admission is fuzzed, on both routes that take it, while the interpreter reports what is
done. The node that is watched is this process; a real one is watched in `tests/end_to_end/test_strangers.py`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
import trio

from descriptor.keys import SealingKey
from descriptor.timestamps import format_timestamp
from entryway.codec import Codec, decode, encode
from entryway.envelope import new_uuid, request_envelope, sign_envelope
from entryway.errors import EntrywayError
from entryway.http import Request, Response
from entryway.protections import utf16_units
from entryway.requests import Means
from entryway.routes import Entryway
from tests.entryway.parts import (
    NOW,
    OTHER,
    OWNER,
    MemoryKnocks,
    MemorySenders,
    MemoryWorkshop,
    answer_of,
    door,
    post,
    roster_door,
)
from tests.entryway.test_requests import ROSTERS
from tests.fuzz import kept, load
from tests.fuzz.targets import requests

# What the interpreter reports (PEP 578) of a start, a file, a connection, a database.
STARTS = ("subprocess.", "os.fork", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn", "ctypes.dlopen")
REACHES = ("open", "os.mkdir", "os.remove", "os.rename", "socket.connect", "socket.bind", "sqlite3.connect", "import")
ROUNDS = 400


class Watch:
    """What is done while it looks. A hook cannot be taken out again, so there is one, which looks now and then."""

    def __init__(self) -> None:
        self.seen: list[str] | None = None
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: Any) -> None:
        if self.seen is not None and event.startswith((*STARTS, *REACHES)):
            self.seen.append(f"{event} {str(arguments)[:200]}")

    def looking(self) -> list[str]:
        """What is seen from now on."""
        self.seen = []
        return self.seen


WATCH = Watch()


@pytest.fixture
def seen() -> Iterator[list[str]]:
    yield WATCH.looking()
    WATCH.seen = None


def inputs(random: Random, *, now: float = NOW, to: str = OWNER.id) -> Iterator[tuple[Codec, bytes]]:
    """What strangers send to the agent `to`: the kept inputs of both targets, each changed again and again."""
    for name in ("exchange", "requests"):
        target: Any = load(name)
        corpus = [path.read_bytes() for path in sorted(kept("corpus", name).iterdir())]
        for _ in range(ROUNDS):
            data = random.choice(corpus)
            for _ in range(random.randint(0, 3)):
                data = target.mutate(data, random) or data
            codec = Codec.MSGPACK if data[0] & 1 else Codec.JSON
            yield (
                codec,
                completed(data[1:], codec, random, {"ts": format_timestamp(now), "to": to})
                if random.random() < 0.8
                else data[1:],
            )


def completed(body: bytes, codec: Codec, random: Random, stated: dict[str, Any]) -> bytes:
    """A body as somebody sends it who knows the form: under an id of its own, and mostly signed."""
    try:
        members = decode(body, codec)
    except EntrywayError:
        return body
    if not isinstance(members, dict):
        return body
    whole = {**requests.STATED, **stated, **members, "id": new_uuid()}
    whole.pop("sig", None)
    if random.random() < 0.1:
        return encode(whole, codec)
    return encode(sign_envelope(OTHER, {**whole, "from": OTHER.id}), codec)


async def asked_of(entryway: Entryway, path: bytes, codec: Codec, body: bytes) -> int:
    request = Request(b"POST", path, {b"content-type": codec.value.encode()}, body)
    answer = entryway.router.respond(request)
    return answer.status if isinstance(answer, Response) else (await answer_of(entryway, request)).status


@pytest.mark.parametrize("roster", ROSTERS)
async def test_nothing_a_stranger_sends_starts_anything(roster: str, seen: list[str]) -> None:
    workshop, knocks = MemoryWorkshop("read-letter", "change-a-program", "anything"), MemoryKnocks()
    means = Means(SealingKey(bytes(range(32))), MemorySenders(), workshop)
    entryway = door(requests.PUBLISHED, roster=roster_door(ROSTERS[roster], knocks), means=means)
    entryway.door.policy = ROSTERS[roster]
    sent = list(inputs(Random(roster)))
    files, tasks = open_files(), trio.lowlevel.current_statistics().tasks_living
    statuses: set[int] = set()
    utf16_units("")  # the interpreter loads this codec when text is first counted
    del seen[:]
    for codec, body in sent:
        for path in (b"/requests", b"/entryway"):
            statuses.add(await asked_of(entryway, path, codec, body))
    assert seen == [], seen[:20]
    assert statuses >= {200, 400}
    assert statuses <= {200, 400, 403, 413, 429}
    assert workshop.calls == []
    assert set(knocks.rows) <= {OTHER.id}
    assert entryway.router.answered["requests", 200] > ROUNDS / 4
    assert open_files() == files
    assert trio.lowlevel.current_statistics().tasks_living == tasks


def open_files() -> list[str] | None:
    """The open files of this process, where there is a list of them."""
    listed = Path("/proc/self/fd")
    return sorted(one.name for one in listed.iterdir()) if listed.is_dir() else None


@pytest.mark.parametrize(
    "act",
    [lambda: os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0), lambda: Path(__file__).read_bytes()],
    ids=["a process", "a file"],
)
def test_the_watch_sees_what_is_started_and_opened(act: Any, seen: list[str]) -> None:
    act()
    assert seen != []


async def test_a_large_body_of_a_stranger_starts_nothing(seen: list[str]) -> None:
    workshop = MemoryWorkshop("anything")
    entryway = door(requests.PUBLISHED, roster=roster_door(), means=Means(None, None, workshop))
    large = {"offering": "anything", "input": {"instruction": "x"}, "numbers": [1.5] * 3_000}
    for _ in range(2):
        del seen[:]
        request = request_envelope(large, NOW, to=OWNER.id, identity=OTHER)
        got = await answer_of(entryway, post(request, path="/requests"))
        assert json.loads(got.body)["envelope"]["payload"]["error"]["code"] == "UNAUTHORIZED"
    # The second time: what reads large bodies elsewhere is there by then.
    assert seen == []
    assert workshop.calls == []
