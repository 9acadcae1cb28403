"""[handlers]: one program behind an offering, limits that are applied to it, and every mistake named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from node.config import load
from node.errors import NodeError
from node.handlers.settings import HANDLER, Handler, read_handlers

COMMAND = "command = ['./x']\n"


def test_each_way_with_its_defaults() -> None:
    found = read_handlers(
        {"a": {"command": ["x", ""]}, "b": {"python": "m.n:f.g"}, "c": {"http": "http://[::1]:80/x?y=1", "parallel": 9}}
    )
    assert found["a"] == Handler(command=("x", ""))
    assert found["b"] == Handler(python="m.n:f.g")
    assert found["c"] == Handler(http="http://[::1]:80/x?y=1", parallel=9)
    assert [found[name].way for name in "abc"] == ["command", "python", "http"]
    assert (found["a"].seconds, found["a"].memory_mb, found["a"].output_bytes, found["a"].parallel) == (
        *(600, 1024, 2**20),
        1,
    )


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"a": {}}, "states none of them; it must state one of command, python, http"),
        ({"a": {"seconds": 1}}, "states none of them"),
        ({"a": {"command": ["x"], "python": "m:f"}}, "states command and python"),
        ({"a": {"command": ["x"], "second": 1}}, "there is no setting 'second'; the nearest is seconds."),
        ({"a": {"comand": ["x"]}}, "the nearest is command."),
        ({"a": {"zzz": 1}}, "there are command, python, http"),
        ({"a": {"command": "x y"}}, "command must be a list of texts"),
        ({"a": {"command": []}}, "command must be a list of texts"),
        ({"a": {"command": ["", "x"]}}, "command must be a list of texts"),
        ({"a": {"command": ["x", 1]}}, "command must be a list of texts"),
        ({"a": {"command": ["x\0y"]}}, "command must be a list of texts"),
        ({"a": {"python": "module"}}, "must be a module and a function"),
        ({"a": {"python": "mod-ule:f"}}, "must be a module and a function"),
        ({"a": {"python": ":f"}}, "must be a module and a function"),
        ({"a": {"python": "m:f()"}}, "must be a module and a function"),
        ({"a": {"http": "http://192.168.1.2/"}}, "must be an http URL of this machine"),
        ({"a": {"http": "http://127.0.0.1.example.org/"}}, "must be an http URL of this machine"),
        ({"a": {"http": "http://localhost.example.org/"}}, "must be an http URL of this machine"),
        ({"a": {"http": "http://me:secret@127.0.0.1/"}}, "must be an http URL of this machine"),
        ({"a": {"http": "http://127.0.0.1:99999/"}}, "must be an http URL of this machine"),
        ({"a": {"http": "https://127.0.0.1/"}}, "must be an http URL of this machine"),
        ({"a": {"http": "file:///etc/passwd"}}, "must be an http URL of this machine"),
        ({"a": {"http": "http://127.0.0.1/", "memory_mb": 64}}, "memory_mb is not applied to a service"),
        ({"a": {"http": "http://127.0.0.1/", "processes": 1}}, "processes is not applied to a service"),
        ({"a": {"command": ["x"], "seconds": 0}}, "seconds must be a number of seconds from 0.1"),
        ({"a": {"command": ["x"], "memory_mb": 1.5}}, "memory_mb must be a whole number"),
        ({"a": {"command": ["x"], "parallel": True}}, "parallel must be a whole number"),
        ({"a": {"command": ["x"], "enforces": ["everything"]}}, 'enforces must be one of "job_seconds"'),
        ({"a": ["x"]}, "[handlers.'a'] is none."),
        ({" ": {"command": ["x"]}}, "names no offering"),
        (7, "a table for each offering"),
    ],
)
def test_what_is_wrong_is_named(tables: Any, said: str) -> None:
    with pytest.raises(ValueError, match=r"handlers") as caught:
        read_handlers(tables)
    assert said in str(caught.value)


def test_they_stand_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "node.toml"
    path.write_text(f"[handlers.'sort letters']\n{COMMAND}seconds = 5\n[jobs]\njobs_parallel = 2\n")
    settings = load(path, {}, {})
    assert settings.handlers == {"sort letters": Handler(command=("./x",), seconds=5.0)}
    assert settings.jobs.jobs_parallel == 2


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("[handlers.a]\nsecond = 5\n", "SETTING_INVALID", "[handlers.'a']: there is no setting 'second'"),
        ("[handler.a]\nseconds = 5\n", "SETTING_UNKNOWN", "the nearest is handlers"),
        ("handlers = 5\n", "SETTING_INVALID", "a table for each offering"),
    ],
)
def test_a_mistake_in_the_file_says_where(tmp_path: Path, text: str, code: str, said: str) -> None:
    path = tmp_path / "node.toml"
    path.write_text(text)
    with pytest.raises(NodeError) as caught:
        load(path, {}, {})
    assert caught.value.code == code
    assert str(path) in caught.value.message
    assert said in caught.value.message


def test_every_setting_says_what_it_is() -> None:
    assert all(one.about.text for one in HANDLER.values())
    assert set(HANDLER) == set(Handler.__dataclass_fields__)
