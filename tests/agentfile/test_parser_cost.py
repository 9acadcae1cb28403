"""The cost of a hostile file: linear in its size, and never a second."""

from __future__ import annotations

import copy
import gc
import json
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from agentfile import parse
from agentfile.parser import MAX_BYTES, MAX_OBJECTS, MAX_VALUES
from tests.agentfile.cases import (
    LEAST,
    MCP,
    PARAMETER,
    SCHEMA,
    SOURCE,
    WHOLE,
    blueprint,
    check,
    encoded,
    file,
    places,
    source,
    tool,
)
from tests.agentfile.strategies import at

Hostile = Callable[[int], bytes]


def filled(piece: str, document: dict[str, Any]) -> Hostile:
    """As many of `piece` as fit, in the place of `@@` in `document`."""
    return between(piece, *json.dumps(document).split("@@"))


def listed(entry: Any, *place: str) -> Hostile:
    """As many of `entry` as fit, in the list of the whole file that stands at `place`."""
    document = copy.deepcopy(WHOLE)
    at(document, place[:-1])[place[-1]] = ["@@"]
    head, tail = json.dumps(document).split('"@@"')
    return between(json.dumps(entry) + ",", head, json.dumps(entry) + tail)


def between(piece: str, head: str, tail: str) -> Hostile:
    def fill(size: int) -> bytes:
        times = (size - len(head.encode()) - len(tail.encode())) // len(piece.encode())
        return (head + piece * times + tail).encode()

    return fill


def named(size: int) -> bytes:
    """A source with as many undeclared members as fit."""
    return encoded(source(**{f"path_{number:06d}": 1 for number in range((size - 600) // 18)}))


def grown(size: int) -> bytes:
    """Members in what is no part of the format and beside it, each of 900 characters that are eighteen as they look."""
    names = {f"{chr(0xFDFA) * 900}{number}": 1 for number in range(size // 5_500)}
    return json.dumps(LEAST | names | {"n": names}, ensure_ascii=False).encode()


# Whatever searches this for addresses looks long.
LEAKY = "a@b.c:1/d\\\\ +1 "

HOSTILE: dict[str, Hostile] = {
    "tokens": filled("sk-", blueprint(systemPrompt="@@")),
    "addresses": filled(LEAKY, blueprint(systemPrompt="@@")),
    "numbers in a text": filled("1.", blueprint(systemPrompt="@@")),
    "a default": filled("key: ", file(parameters=[{**PARAMETER, "default": "@@"}])),
    "an id": filled("ü", file(id="@@")),
    "blanks before": between(" ", "", json.dumps(LEAST | {"emoji": 1})),
    "blanks at the schema": between(" ", '{"$schema":', '"x"}'),
    "an unknown schema": between("x", '{"$schema": "', '"}'),
    "an escaped schema": between("\\\\", '{"$schema": "', '"}'),
    "a channel": filled("1-", file(connectivity={"reads": [{"provider": "@@", "resource": 1}]})),
    "a tool's kind": filled(LEAKY, tool({"kind": "@@", "name": "n"})),
    "a flag": filled(LEAKY, source(required="@@")),
    "an object that is a text": filled(LEAKY, file(blueprint="@@")),
    "a list that is a text": filled(LEAKY, file(triggers="@@")),
    "an entry that is a text": filled(LEAKY, file(parameters=["@@"])),
    "a number that is a text": filled(LEAKY, blueprint(maxTokens="@@")),
    "a capability": filled(LEAKY, source(access={"capabilities": ["@@"]})),
    "a version": filled("1.", file(version="@@")),
    "a source id": filled("a", source(id="@@")),
    "an endpoint": filled(" ", tool({**MCP, "kind": "nango", "provider": "p", "endpoint": "@@//"})),
    "a format": filled("a/", file(parameters=[{**PARAMETER, "type": "file", "artifact": {"accepts": ["@@"]}}])),
    "undeclared members": named,
    "empty tools": listed("", "blueprint", "tools"),
    "no tools": listed(7, "blueprint", "tools"),
    "tools without members": listed({}, "blueprint", "tools"),
    "tools": listed(MCP, "blueprint", "tools"),
    "skills": listed({}, "blueprint", "skills"),
    "caveats": listed({"options": [{"recommended": True}] * 9}, "blueprint", "caveats"),
    "parameters": listed(PARAMETER, "parameters"),
    "modalities": listed("x", "inputs", "accepts"),
    "triggers": listed({"type": "schedule"}, "triggers"),
    "deliveries": listed({"to": "+966501234567", "via": "a@b.example"}, "connectivity", "delivers"),
    "empty sources": listed({}, "sources"),
    "sources": listed({**SOURCE, "locator": "x", "role": "output"}, "sources"),
    "checks": listed(check()["evaluation"]["checks"][0], "evaluation", "checks"),
    "sources of checks": listed({"id": "a", "sourceIds": ["x", "y", "z"]}, "evaluation", "checks"),
    "facts": listed({"key": "k", "value": "v"}, "memory"),
    "pages": listed({"links": ["a", 1]}, "brain"),
    "names that look much longer": grown,
    "names of a schema that look much longer": lambda size: encoded(
        source(structure={"schema": {"properties": json.loads(grown(size - 800))["n"]}})
    ),
    "brackets": between("[", '{"$schema": "' + SCHEMA + '", "a": ', "}"),
}


def cost(data: bytes) -> float:
    """Seconds of this process, of three attempts the fewest: what else the machine does is no fault of the reader.

    Nor is what else the process holds: it is not looked through again whenever Python collects garbage.
    """
    took = []
    gc.freeze()
    for _ in range(3):
        began = time.process_time()
        parse(data)
        took.append(time.process_time() - began)
    gc.unfreeze()
    return min(took)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_of_one_mebibyte_takes_less_than_a_second_and_no_more_than_its_share(name: str) -> None:
    part, whole = HOSTILE[name](2**18), HOSTILE[name](2**20)
    assert 2**20 * 0.95 <= len(whole) <= 2**20
    took = cost(whole)
    assert took < 1
    # Four times the file; a quadratic reader would take sixteen times the time.
    assert took < 10 * max(cost(part), 0.005)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_takes_no_more_memory_than_its_share(name: str) -> None:
    data = HOSTILE[name](2**18)
    parse(data)
    tracemalloc.start()
    try:
        parse(data)
        assert tracemalloc.get_traced_memory()[1] < 50 * len(data)
    finally:
        tracemalloc.stop()


def test_a_flood_of_objects_or_values_is_not_looked_into() -> None:
    held = list(places(LEAST))
    objects_held = 1 + sum(isinstance(value, dict) for _, value in held)
    values_held = 1 + len(held) + 1  # the file, what is in it, and the list that is added
    for entry, room in (({}, MAX_OBJECTS - objects_held), (1, MAX_VALUES - values_held)):
        assert parse(encoded(file(n=[entry] * room))).findings == ()
        assert broken(encoded(file(n=[entry] * (room + 1), emoji=1))) == [("S19.10", "")]
    braces = file(n="{,[" * MAX_VALUES)
    assert parse(encoded(braces)).findings == ()


def test_a_personal_export_of_years_is_read() -> None:
    page = {"title": "A customer", "content": "They pay late, and say so. " * 80, "links": ["suppliers"]}
    fact = {"key": "customer_0042.pays", "value": "late, on the 12th of a month", "importance": 0.5}
    pages, facts = ([entry] * (5 * 2**20 // len(json.dumps(entry))) for entry in (page, fact))
    for document, place in ((file(brain=pages), "/brain"), (file(memory=facts), "/memory")):
        data = encoded(document)
        assert 5 * 2**20 < len(data) < MAX_BYTES
        assert broken(data) == [("S17-private", place)]


def broken(data: bytes) -> list[tuple[str, str]]:
    return [(finding.rule, finding.pointer) for finding in parse(data).findings]


def test_a_file_that_was_read_leaves_nothing_behind_for_the_garbage_collector() -> None:
    """What a large file took is free as soon as nobody holds it, and not when Python next looks for rings."""
    data = encoded(WHOLE)
    parse(data)
    gc.collect()
    gc.disable()
    try:
        parse(data)
        assert gc.collect() == 0
    finally:
        gc.enable()
