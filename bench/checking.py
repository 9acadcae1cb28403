"""What it costs to check a Descriptor, beside `jsonschema` validating a comparable schema of the same document.

Both are given bytes and asked for everything that is wrong; neither finds anything. The schema states the forms of the
members that the document has, and nothing of what a schema cannot say: no signature, no canonical form, nothing that
one member obliges another to. It does less, and is what somebody would otherwise take.
"""

from __future__ import annotations

import json
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

from bench.documents import DEMO, PADDING
from bench.errors import BenchError
from descriptor.checker import check
from descriptor.keys import Identity
from descriptor.publishing import Terms, plan

SMALL, LARGE = 4096, 1_048_576  # bytes
ROUNDS = {SMALL: 200, LARGE: 7}

_TEXT = {"type": "string", "minLength": 1}
_FLAG = {"type": "boolean"}
_KIND = {"type": "string", "pattern": r"^(text|identifier|url|document|[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+)$"}
_WHEN = {"enum": ["per_task", "standing"]}
_DECIDED_BY = {"enum": ["rule", "model"]}
_AUTHORITY = {
    "enum": [
        *("reads-files", "writes-files", "reads-systems", "updates-systems", "triggers-systems"),
        *("runs-commands", "reaches-network", "sends-messages", "spends-money"),
    ]
}


def _object(names: str, /, **properties: Any) -> dict[str, Any]:
    """An object that requires `names`, separated by blanks."""
    return {"type": "object", "required": names.split(), "properties": properties}


def _list(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


_CEILING = _object("most", most={"type": ["number", "object"]}, decided_by=_DECIDED_BY)
SCHEMA = _object(
    "format agent_version does subject acts_for signatures",
    format={"const": "agent-descriptor-v1"},
    agent_version=_TEXT,
    does=_TEXT,
    subject=_object("id", id={"type": "string", "pattern": "^U[A-Z2-7]{55}$"}, handle=_TEXT),
    acts_for={"enum": ["person", "organization", "anyone"]},
    interaction={"enum": ["interactive", "service"]},
    refusals=_TEXT,
    offerings=_list(
        _object(
            "id name description inputs outputs",
            id=_TEXT,
            name=_TEXT,
            description=_TEXT,
            scope={"enum": ["task-specific", "open-with-focus", "open-ended"]},
            inputs=_list(
                _object(
                    "name kind",
                    name=_TEXT,
                    kind=_KIND,
                    required=_FLAG,
                    one_of=_TEXT,
                    max_bytes={"type": "integer", "minimum": 1},
                )
            ),
            outputs=_list(
                _object(
                    "name kind when", name=_TEXT, kind=_KIND, when={"enum": ["per_task", "standing"]}, working=_FLAG
                )
            ),
            delivers=_object("", final=_TEXT, interim=_FLAG, in_resource=_FLAG),
            reporting=_object("level", level={"enum": ["records_only", "on_change", "check_ins"]}),
            authority={**_list(_AUTHORITY), "uniqueItems": True},
            authority_decided_by=_DECIDED_BY,
            ceilings={"type": "object", "additionalProperties": _CEILING},
        )
    ),
    systems=_list(_object("name access", name=_TEXT, access={"enum": ["read", "write", "trigger"]}, needs=_TEXT)),
    limits=_object("", requests_per_hour={"anyOf": [{"type": "number"}, _CEILING]}, past_them=_TEXT),
    run_config=_object(
        "settings",
        settings=_list(
            _object(
                "name kind default",
                name=_TEXT,
                kind={"enum": ["preference", "rule"]},
                allowed={"type": "array"},
                job_may_set=_FLAG,
            )
        ),
    ),
    data_use=_object(
        "",
        promises={"type": "object", "additionalProperties": {"const": True}},
        retention=_object("max_days", max_days={"type": "integer", "minimum": 0}),
        memory={"enum": ["remembers-across-jobs", "starts-clean-each-job"]},
        processors=_list({"anyOf": [_TEXT, _object("name", name=_TEXT, purpose=_TEXT)]}),
    ),
    access=_object(
        "",
        admission={"enum": ["open", "allowlist", "screened", "negotiated"]},
        statement=_TEXT,
        schemes=_list(_object("id transport type", id=_TEXT, transport={"enum": ["http", "mesh"]}, type=_TEXT)),
    ),
    signatures=_list(_object("tag by sig", tag=_TEXT, by=_TEXT, sig=_TEXT)),
)


def documents(now: float) -> dict[int, bytes]:
    """The demo, published, with as many offerings as fit, and its refusals made longer up to 4 KiB and to 1 MiB."""
    members = json.loads(DEMO.read_bytes())
    offering = members["offerings"][0]
    terms = Terms(Identity.generate(), handle="bench.home", acts_for="person")

    def published(offerings: int, padding: int) -> bytes:
        copies = [{**offering, "id": f"{offering['id']}-{number:04}"} for number in range(offerings)]
        refusals = f"{members['refusals']} {(PADDING * (padding // len(PADDING) + 1))[:padding]}"
        draft = json.dumps({**members, "offerings": copies, "refusals": refusals}, ensure_ascii=False)
        return plan(draft.encode(), None, terms, now).descriptor.data

    none, each = len(published(0, 1)), len(published(2, 1)) - len(published(1, 1))
    made = {}
    for size in (SMALL, LARGE):
        offerings = (size - none) // each
        made[size] = published(offerings, 1 + size - len(published(offerings, 1)))
        if len(made[size]) != size:
            raise BenchError(f"The document of {size} bytes came out at {len(made[size])}.")
    return made


def measure(data: dict[int, bytes]) -> dict[int, dict[str, float]]:
    """For each size the milliseconds that a check takes, and jsonschema; and the memory, in times the document's size.

    Raises BenchError when either finds fault with a document.
    """
    import jsonschema  # noqa: PLC0415  # the documents are tested where only the node is installed

    validator = jsonschema.Draft202012Validator(SCHEMA)

    def checked(document: bytes) -> None:
        if check(document).findings:
            raise BenchError("A document that is checked here is not clean.")

    def validated(document: bytes) -> None:
        if any(validator.iter_errors(json.loads(document))):
            raise BenchError("A document that is checked here does not validate.")

    return {
        size: {
            "check_ms": round(milliseconds(partial(checked, document), ROUNDS[size]), 3),
            "jsonschema_ms": round(milliseconds(partial(validated, document), ROUNDS[size]), 3),
            "memory_times_size": round(_memory(partial(checked, document)) / len(document), 2),
        }
        for size, document in data.items()
    }


def milliseconds(act: Callable[[], object], rounds: int) -> float:
    """How long `act` takes: the middle of so many times, after one that is not counted."""
    act()
    took = []
    for _ in range(rounds):
        began = time.perf_counter()
        act()
        took.append(time.perf_counter() - began)
    return median(took) * 1e3


def _memory(act: Callable[[], None]) -> int:
    """The most bytes that Python held for `act` at once, beyond what it held before."""
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
