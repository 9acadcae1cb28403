"""A binding that somebody left in a file is refused and named, wherever under `sources` it hides, and goes no further.

The planter knows every place of a whole source: every object, every list, every text, in what is nested too. It plants
what a host keeps of a binding, under the names that the format lists and however else they are spelled, bare and
wrapped. Sections 3 and 14.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfile import parse
from agentfile.draft import draft_of
from agentfile.lookalikes import skeleton
from descriptor.pointers import pointer_to
from tests.agentfile.cases import SOURCE, WHOLE, Path, encoded, file, places
from tests.agentfile.strategies import OPEN_PLACES, at
from tests.node.parts import Told, new_home, told

LISTED = ("locator", "credentialRef", "adapterId", "path", "url", "revision", "displayName")
SECRET = "planted-4Qx7Zk2m"
SCHEMA = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "path": {"items": {"enum": ["a"]}}},
    "allOf": [{"required": ["id"]}],
}
WHOLE_SOURCE: dict[str, Any] = {
    **WHOLE["sources"][0],
    "id": "other",
    "structure": {**WHOLE["sources"][0]["structure"], "schema": SCHEMA},
}
SCHEMA_AT: Path = ("structure", "schema")


def spellings(name: str) -> Iterator[str]:
    """Names that a reader takes for `name`, itself first."""
    snake = "".join(f"_{char.lower()}" if char.isupper() else char for char in name)
    yield from dict.fromkeys((name, name.upper(), name.title(), snake, snake.replace("_", "-")))
    yield "".join(chr(ord(char) - 0x21 + 0xFF01) for char in name)  # of full width
    yield name.translate(str.maketrans("aeocpi", "аеосрі"))  # with letters of Cyrillic
    yield f"{name[:2]}\u200b{name[2:]}"  # with nothing to be seen between
    yield f" {name}\t"


NAMES = [spelling for name in LISTED for spelling in spellings(name)]
VALUES: tuple[Any, ...] = (SECRET, [SECRET], {"value": SECRET}, [{"value": [SECRET]}], {SECRET: {}})
OBJECTS: list[Path] = [(), *(path for path, value in places(WHOLE_SOURCE) if isinstance(value, dict))]
LISTS: list[Path] = [path for path, value in places(WHOLE_SOURCE) if isinstance(value, list)]
# Where a schema holds texts of its own, another text is one more of them: no name says that it is a binding.
TEXT_LISTS = [path for path in LISTS if path[:2] != SCHEMA_AT]
LEAVES: list[Path] = [path for path, value in places(WHOLE_SOURCE) if not isinstance(value, dict | list)]


def planted(path: Path, key: str | None, value: Any) -> tuple[dict[str, Any], str]:
    """A file with `value` in its second source: in the object at `path` under `key`, else in the list or in place.

    With the pointer of what was planted.
    """
    source = copy.deepcopy(WHOLE_SOURCE)
    holder = at(source, path)
    if key is not None:
        holder[key] = value
        path = (*path, key)
    elif isinstance(holder, list):
        holder.insert(0, value)
        path = (*path, 0)
    else:
        at(source, path[:-1])[path[-1]] = value
    return file(sources=[SOURCE, source]), pointer_to("sources", 1, *path)


def is_refused_and_named(document: dict[str, Any], pointer: str) -> str:
    """The rules that name the place. Nothing that is said repeats what was planted, and there is no file to go on."""
    parsed = parse(encoded(document))
    assert parsed.file is None
    named = [one for one in parsed.errors if one.pointer == pointer or one.pointer.startswith(f"{pointer}/")]
    assert named, f"nothing names {pointer}: {[one.pointer for one in parsed.errors]}"
    for one in parsed.findings:
        assert SECRET not in one.message + one.remedy
    return " ".join(one.rule for one in named)


def test_there_are_places_enough_to_mean_something() -> None:
    assert (len(OBJECTS), len(LISTS), len(LEAVES)) == (14, 10, 34)
    assert len(NAMES) > 50
    assert all(skeleton(name) in map(str.lower, LISTED) for name in NAMES)


@pytest.mark.parametrize("path", OBJECTS, ids=lambda path: pointer_to(*path) or "/")
def test_a_binding_in_an_object_is_refused_as_private(path: Path) -> None:
    for name in NAMES:
        for value in VALUES:
            document, pointer = planted(path, name, value)
            assert "S14-private" in is_refused_and_named(document, pointer)


@pytest.mark.parametrize("path", LISTS, ids=lambda path: pointer_to(*path))
def test_a_binding_in_a_list_is_refused(path: Path) -> None:
    for name in NAMES:
        for value in ({name: SECRET}, [{name: SECRET}], {name: [SECRET]}):
            is_refused_and_named(*planted(path, None, value))


@pytest.mark.parametrize("path", TEXT_LISTS, ids=lambda path: pointer_to(*path))
def test_a_list_of_texts_holds_nothing_else(path: Path) -> None:
    is_refused_and_named(*planted(path, None, {SECRET: SECRET}))
    is_refused_and_named(*planted(path, None, [SECRET]))


@pytest.mark.parametrize("path", LEAVES, ids=lambda path: pointer_to(*path))
def test_a_binding_in_the_place_of_a_value_is_refused(path: Path) -> None:
    for name in NAMES:
        document, pointer = planted(path, None, {name: SECRET})
        is_refused_and_named(document, pointer)


@given(st.sampled_from(OBJECTS[:1] + [path for path in OBJECTS if path[:2] != SCHEMA_AT]), st.text(), st.booleans())
def test_no_name_at_all_opens_what_is_closed(path: Path, name: str, deep: bool) -> None:
    if name not in at(WHOLE_SOURCE, path):
        document, pointer = planted(path, name, {"any": [SECRET]} if deep else SECRET)
        assert set(is_refused_and_named(document, pointer).split()) <= {"S14-private", "S14-closed"}


def test_what_leaks_is_told_of_every_source_also_of_too_many() -> None:
    sources = [{**SOURCE, "id": f"s{number}"} for number in range(40)]
    sources[39]["locator"] = SECRET
    assert "S14-private" in is_refused_and_named(file(sources=sources), "/sources/39/locator")


plants = st.tuples(
    st.sampled_from([*OBJECTS, *LISTS, *LEAVES]),
    st.sampled_from(NAMES),
    st.sampled_from(VALUES),
    st.sampled_from(LISTED),
)


@given(st.lists(plants, min_size=1, max_size=4))
def test_however_many_are_planted_together_there_is_no_file_to_export_or_import(hidden: list[Any]) -> None:
    """Some under the other's name, some within one another, some where the first took the place of the second."""
    source = copy.deepcopy(WHOLE_SOURCE)
    done = 0
    for path, name, value, inner in hidden:
        try:
            holder = at(source, path)
        except (KeyError, IndexError, TypeError):
            continue
        if isinstance(holder, dict):
            holder[name] = value
        elif isinstance(holder, list):
            holder.append({name: {inner: value}})
        else:
            at(source, path[:-1])[path[-1]] = {name: {inner: value}}
        done += 1
    assert done
    parsed = parse(encoded(file(sources=[SOURCE, source])))
    assert parsed.file is None
    assert any(one.pointer.startswith("/sources/1") for one in parsed.errors)
    assert not any(SECRET in one.message + one.remedy for one in parsed.findings)


beside = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(VALUES), min_size=1, max_size=3)


@given(st.sampled_from([path for path in OPEN_PLACES if path[:1] != ("sources",)]), beside)
def test_what_is_hidden_beside_the_sources_does_not_get_into_the_draft(path: Path, hidden: dict[str, Any]) -> None:
    """Elsewhere unknown members are kept, as the format has it: `export` hands them on, and a draft never does."""
    document = copy.deepcopy(WHOLE)
    at(document, path).update({name: value for name, value in hidden.items() if name not in at(document, path)})
    agent = parse(encoded(document)).file
    if agent is not None:
        drafted = draft_of(agent)
        assert SECRET not in json.dumps(drafted.members)
        assert not any(SECRET in line.message for line in drafted.report)


HIDDEN = [(path, LISTED[index % len(LISTED)], VALUES[index % len(VALUES)]) for index, path in enumerate(OBJECTS)]


@pytest.mark.parametrize(("path", "name", "value"), HIDDEN, ids=lambda one: str(one) if isinstance(one, str) else None)
def test_no_command_lets_a_binding_travel_onward(path: Path, name: str, value: Any, tmp_path: FilePath) -> None:
    document, pointer = planted(path, name, value)
    home, given_file = new_home(tmp_path / "h"), tmp_path / "given.agent"
    given_file.write_bytes(encoded(document))
    before = set(tmp_path.rglob("*"))

    def run(*arguments: str) -> Told:
        return told("agentfile", *arguments, home=home)

    target = str(tmp_path / "target")
    for command in (
        ("export", str(given_file)),
        ("export", str(given_file), "--personal", "--output", target),
        ("export", str(given_file), "--json"),
        ("import", str(given_file), "--yes", "--output", target),
        ("import", str(given_file), "--yes", "--output", target, "--json"),
        ("needs", str(given_file)),
        ("render", str(given_file)),
        ("check", str(given_file)),
        ("check", str(given_file), "--json"),
    ):
        answer = run(*command)
        assert answer.exit_code == 1, command
        assert SECRET not in answer.out + answer.err
        assert pointer in (answer.out + answer.err).replace("\\u200b", "\u200b")
    assert set(tmp_path.rglob("*")) == before


def test_a_source_without_a_binding_does_travel() -> None:
    """So that the tests above refuse for what was planted, and for nothing else."""
    assert parse(json.dumps(file(sources=[SOURCE, WHOLE_SOURCE])).encode()).errors == ()
