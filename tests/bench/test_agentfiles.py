"""What is read in the bench is what it says: sound, of 50 KiB, and looked into everywhere."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentfile import parse
from bench.agentfiles import BYTES, document, measure
from bench.errors import BenchError
from bench.report import targets
from tests.agentfile.cases import places
from tests.agentfile.strategies import at


def test_the_file_is_sound_and_of_its_size() -> None:
    data = document()
    assert len(data) == BYTES
    assert parse(data).findings == ()


def test_every_object_in_it_is_looked_into() -> None:
    whole = json.loads(document())
    objects = [path for path, value in places(whole) if isinstance(value, dict)]
    assert len(objects) > 400
    for path in objects[:: len(objects) // 40]:
        changed: dict[str, Any] = json.loads(document())
        at(changed, path)["executable"] = "x"
        assert [one.pointer.rpartition("/")[2] for one in parse(json.dumps(changed).encode()).errors] == ["executable"]


def test_it_is_measured_and_judged() -> None:
    read = measure(document())
    assert (read["bytes"], read["parse_ms"] > 0, read["draft_ms"] > 0) == (BYTES, True, True)
    for milliseconds, met in ((4.9, True), (5.0, False)):
        told = {one["name"]: one["met"] for one in targets({}, None, None, {"agentfile": {"parse_ms": milliseconds}})}
        assert told["agentfile_ms_51200"] is met
    assert {one["name"]: one["met"] for one in targets({}, None, None, {})}["agentfile_ms_51200"] is None


def test_what_is_not_clean_is_not_measured() -> None:
    with pytest.raises(BenchError):
        measure(json.dumps({**json.loads(document()), "version": "latest"}).encode())
