"""What a request for work costs: boundary decisions a second, and refusals a second for a flood of strangers.

The boundary is asked in this process, a request that is inside every bound and one that is refused at the last check
but one. The strangers ask a real node: each request is signed, under an id of its own, and large enough to be one, so
that a refusal is paid for in full.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from bench.documents import FilledHome
from bench.errors import BenchError
from bench.generator import Sample, run
from bench.load import CONNECTIONS, Question, requests_for
from bench.machine import cpu_seconds
from bench.servers import node
from descriptor.keys import Identity
from descriptor.timestamps import format_timestamp
from descriptor.view import view
from entryway.asked import read_asked
from entryway.boundary import judge
from entryway.codec import Codec, encode
from entryway.envelope import request_envelope
from entryway.errors import EntrywayError
from entryway.protections import HourlyCounts

DECISIONS, ROUNDS = 2_000, 5
STRANGERS = 100  # keys among which the flood is divided
MOST_A_SECOND = 12_000  # requests that are laid out for each second: each may be sent once
MONEY = {"amount_micro": 5_000_000, "currency": "EUR"}
OFFERING: dict[str, Any] = {
    "id": "change-a-program",
    "scope": "open-with-focus",
    "focus": "software",
    "inputs": [
        {"name": "instruction", "kind": "text", "required": True, "max_bytes": 10_000},
        {"name": "sample", "kind": "application/pdf", "max_bytes": 100_000},
    ],
    "outputs": [{"name": "change", "kind": "identifier", "when": "per_task"}],
    "workspace": [{"kind": "git", "access": "read-write", "for": "the repository that is changed"}],
    "authority": ["reads-files", "writes-files", "runs-commands", "spends-money"],
    "ceilings": {
        "job_seconds": {"most": 3600, "decided_by": "rule"},
        "cost_per_job": {"most": MONEY, "decided_by": "rule"},
        "spend_per_job": {"most": MONEY, "decided_by": "rule"},
    },
}
SETTINGS = [
    {"name": "model", "kind": "rule", "default": "a", "allowed": ["a", "b"], "job_may_set": True},
    {"name": "pages", "kind": "rule", "default": 10, "job_may_set": True},
]
DOCUMENT: dict[str, Any] = {
    "offerings": [OFFERING],
    "limits": {"requests_per_hour": 10**9},
    "run_config": {"settings": SETTINGS},
}


def request(now: float) -> dict[str, Any]:
    """A request that states everything there is to state, inside every bound."""
    return {
        "offering": OFFERING["id"],
        "input": {"instruction": "Rename what is named twice. " * 8, "sample": "JVBERi0xLjcK"},
        "resources": [{"kind": "git", "access": "read", "locator": "ssh://git.home/shop.git"}],
        "authority": ["reads-files", "writes-files", "spends-money"],
        "spend_limit": MONEY,
        "budget": {"deadline": format_timestamp(now + 600), "cost_ceiling": MONEY},
        "run_config": {"settings": {"model": "b", "pages": 3}},
    }


def decisions() -> dict[str, float]:
    """Decisions a second, each with the reading of the payload. Raises BenchError for one that is not right."""
    now, agent, counts = time.time(), view(DOCUMENT), HourlyCounts()
    taken = request(now)
    refused = {**taken, "run_config": {"settings": {"pages": 11}}}

    def decide(payload: dict[str, Any]) -> str | None:
        try:
            asked = read_asked(payload, payload["input"])
            judge(agent, asked, caller="U", request_id="", now=now, counts=counts)
        except EntrywayError as error:
            return error.code
        return None

    if decide(taken) is not None or decide(refused) != "RUN_CONFIG_REFUSED":
        raise BenchError("The boundary did not decide as it should.")
    return {
        "admitted_per_second": _rate(lambda: decide(taken)),
        "refused_per_second": _rate(lambda: decide(refused)),
    }


def refusals(home: FilledHome, directory: Path, core: int, seconds: float) -> dict[str, float]:
    """How a node fares under a flood of signed requests by strangers. Raises BenchError for any other answer."""
    with node("strangers", home.path, directory, core) as running:
        to, now = str(json.loads(home.current)["subject"]["id"]), time.time()
        strangers = [Identity.generate() for _ in range(STRANGERS)]
        flood = [
            requests_for(running.host, running.port, question(strangers[number % STRANGERS], to, now))[0]
            for number in range(round(MOST_A_SECOND * seconds))
        ]
        before = cpu_seconds(running.pid)
        sample: Sample = run(running.host, running.port, flood, seconds, CONNECTIONS)
        used = cpu_seconds(running.pid) - before
    if sample.requests > len(flood) - CONNECTIONS:
        raise BenchError("More was refused than was laid out to be sent.")
    return {
        "refused_per_second": round(sample.requests / sample.seconds),
        "cpu_us_each": round(used / sample.requests * 1e6, 1),
        "p99_us": round(sample.p99_us),
    }


def question(stranger: Identity, to: str, now: float) -> Question:
    """The request, signed by a stranger to the agent `to`, under an id of its own."""
    body = encode(request_envelope(request(now), now, to=to, identity=stranger), Codec.JSON)
    return Question(["/requests"], "POST", {"Content-Type": Codec.JSON.value}, body)


def _rate(act: Callable[[], object]) -> float:
    rates = []
    for _ in range(ROUNDS):
        # Of the processor's time: nothing is waited for here, and other load on the machine moves it less.
        began = time.process_time()
        for _ in range(DECISIONS):
            act()
        rates.append(DECISIONS / (time.process_time() - began))
    return round(median(rates))
