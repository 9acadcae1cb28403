"""Who is asked what, and the rounds in which they take turns."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection

from bench.documents import FilledHome
from bench.errors import BenchError
from bench.load import Load, Question
from bench.machine import cpu_seconds
from bench.servers import WELL_KNOWN, Running
from descriptor.digests import digest_of
from descriptor.encoding import b64url_encode
from entryway.codec import Codec, encode
from entryway.envelope import request_envelope

DESCRIPTORS = "/descriptors/"

SERVER_OF = {
    "well_known": "node_10",
    "page": "node_10",
    "exchange_2_msgpack": "node_10",
    "exchange_2_json": "node_10",
    "by_digest_10": "node_10",
    "by_digest_100000": "node_100000",
    "starlette": "starlette",
    "a2a_card": "a2a",
    "nginx": "nginx",
}
"""The contestants, in the order of a round, and the server each one is asked at."""


@dataclass(frozen=True)
class Contestant:
    """What one server is asked. `question` is made anew for each round; `right` looks at the path and the body."""

    question: Callable[[int], Question]
    right: Callable[[str, bytes], bool]


@dataclass(frozen=True)
class Measured:
    """One contestant in one round. `server_core_share`: how busy its server kept its core, 1.0 being all of it."""

    requests: int
    requests_per_second: float
    p50_us: float
    p99_us: float
    cpu_us_per_request: float
    server_core_share: float


@dataclass(frozen=True)
class Schedule:
    """How often, and how long: `seconds` a turn, after one `warm_up` each."""

    rounds: int
    seconds: float
    warm_up: float


def contestant(name: str, homes: Mapping[str, FilledHome]) -> Contestant:
    """A contestant by its name. `homes`: those of the nodes, by server."""
    current = homes["node_10"].current
    match name:
        case "well_known" | "starlette" | "nginx":
            return Contestant(lambda _round: Question([WELL_KNOWN]), lambda _path, body: body == current)
        case "page":
            agent = json.loads(current)["subject"]["id"].encode()
            return Contestant(lambda _round: Question(["/"]), lambda _path, body: agent in body and b"</html>" in body)
        case "a2a_card":
            path = "/.well-known/agent-card.json"
            return Contestant(lambda _round: Question([path]), lambda _path, body: _says_the_same(body, current))
        case "exchange_2_msgpack":
            return Contestant(lambda _round: _exchange_2(Codec.MSGPACK), lambda _path, body: current in body)
        case "exchange_2_json":
            text = b64url_encode(current).encode()
            return Contestant(lambda _round: _exchange_2(Codec.JSON), lambda _path, body: text in body)
        case _:
            # All but the current one, which is answered from memory however many there are.
            digests = homes[SERVER_OF[name]].digests[:-1]
            return Contestant(
                lambda number: _by_digest(digests, number),
                lambda path, body: digest_of(body) == path.removeprefix(DESCRIPTORS),
            )


def run_rounds(
    contestants: Mapping[str, Contestant],
    servers: Mapping[str, Running],
    load: Load,
    schedule: Schedule,
    tell: Callable[[str], None],
) -> dict[str, list[Measured]]:
    """Every contestant in every round. Raises BenchError for an answer that is not right."""
    for name, one in contestants.items():
        server = servers[SERVER_OF[name]]
        _look(name, one, server)
        load.put_on(server.host, server.port, one.question(0), schedule.warm_up)
    measured: dict[str, list[Measured]] = {name: [] for name in contestants}
    for number in range(1, schedule.rounds + 1):
        # There and back again: whoever is measured last in one round is first in the next, so drift favors nobody.
        order = list(contestants.items())[:: 1 if number % 2 else -1]
        for name, one in order:
            server = servers[SERVER_OF[name]]
            found = _measure(server, load, one.question(number), schedule.seconds)
            measured[name].append(found)
            tell(
                f"round {number} of {schedule.rounds}  {name:<20}{found.requests_per_second:>10.0f}/s"
                f"{found.p99_us / 1000:>9.2f} ms p99{found.cpu_us_per_request:>9.1f} us of processor a request"
            )
    return measured


def _measure(server: Running, load: Load, question: Question, seconds: float) -> Measured:
    before = cpu_seconds(server.pid)
    sample = load.put_on(server.host, server.port, question, seconds)
    used = cpu_seconds(server.pid) - before
    return Measured(
        requests=sample.requests,
        requests_per_second=sample.requests / sample.seconds,
        p50_us=sample.p50_us,
        p99_us=sample.p99_us,
        cpu_us_per_request=used / sample.requests * 1e6,
        server_core_share=used / sample.seconds,
    )


def _look(name: str, one: Contestant, server: Running) -> None:
    """Asks the first few paths once, and looks at what comes. Raises BenchError."""
    question = one.question(0)
    connection = HTTPConnection(server.host, server.port, timeout=10)
    try:
        for path in question.paths[:5]:
            connection.request(question.method, path, question.body or None, dict(question.headers))
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200 or not one.right(path, body):
                raise BenchError(f"{name}: {path} gave an answer that is not right: {answer.status} {body[:200]!r}")
    finally:
        connection.close()


def _by_digest(digests: Sequence[str], number: int) -> Question:
    """Every digest once, in an order that is the same in every run and another in every round.

    The current one is among them, and alone is answered from memory: of ten it is a tenth of what is asked.
    """
    paths = [DESCRIPTORS + digest for digest in digests]
    random.Random(number).shuffle(paths)
    return Question(paths)


def _exchange_2(codec: Codec) -> Question:
    """Unsigned, as a stranger asks; so it may be asked again under one id."""
    body = encode(request_envelope({"exchange": 2}, time.time()), codec)
    return Question(["/entryway"], "POST", {"Content-Type": codec.value}, body)


def _says_the_same(card: bytes, descriptor: bytes) -> bool:
    """Whether an A2A card is the card of this Descriptor, and as long."""
    return json.loads(card)["description"] == json.loads(descriptor)["does"] and len(card) == len(descriptor)
