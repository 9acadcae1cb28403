"""What is read in the bench is what it says: sound, of 50 KiB, and looked into everywhere."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentfile import parse
from bench.agentfiles import BYTES, DENSE, dense, every_list, measure, usual
from bench.errors import BenchError
from bench.report import targets
from tests.agentfile.cases import places
from tests.agentfile.strategies import at


def test_the_usual_file_is_sound_of_its_size_and_mostly_prose() -> None:
    data = usual()
    assert len(data) == BYTES
    assert parse(data).findings == ()
    prose = sum(len(text) for _, text in places(json.loads(data)) if isinstance(text, str) and len(text) > 200)
    assert 0.5 < prose / BYTES < 0.75


def test_the_dense_files_are_sound_full_and_hold_no_entry_twice() -> None:
    files = dense()
    assert set(files) == {"every list", *DENSE}
    for name, data in files.items():
        assert BYTES - 120 < len(data) <= BYTES, name
        assert parse(data).findings == (), name
    for name in DENSE:
        values = [json.dumps(value) for path, value in places(json.loads(files[name])) if isinstance(path[-1], int)]
        assert len(set(values)) == len(values), name


def test_every_object_in_it_is_looked_into() -> None:
    whole = json.loads(every_list())
    objects = [path for path, value in places(whole) if isinstance(value, dict)]
    assert len(objects) > 400
    for path in objects[:: len(objects) // 40]:
        changed: dict[str, Any] = json.loads(every_list())
        at(changed, path)["executable"] = "x"
        assert [one.pointer.rpartition("/")[2] for one in parse(json.dumps(changed).encode()).errors] == ["executable"]


def test_both_kinds_are_measured_and_the_slowest_dense_file_is_judged() -> None:
    files = {name: data for name, data in dense().items() if name in ("every list", "reads")}
    read = measure(usual(), files)
    assert (read["bytes"], read["usual_ms"] > 0, read["draft_ms"] > 0) == (BYTES, True, True)
    assert set(read["dense_each_ms"]) == {"every list", "reads"}
    assert read["dense_ms"] == read["dense_each_ms"][read["dense_slowest"]] == max(read["dense_each_ms"].values())
    for kind in ("usual_ms", "dense_ms"):
        for milliseconds, met in ((4.9, True), (5.0, False), (None, None)):
            alone = {"agentfile": {kind: milliseconds}}
            assert {one["name"]: one["met"] for one in targets({}, None, None, alone)}[f"agentfile_{kind}"] is met


def test_what_is_not_clean_is_not_measured() -> None:
    unclean = json.dumps({**json.loads(usual()), "version": "latest"}).encode()
    for files in ((unclean, {"one": usual()}), (usual(), {"one": unclean})):
        with pytest.raises(BenchError):
            measure(*files)
