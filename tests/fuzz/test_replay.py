"""Every input that is kept, once more: where fuzzing begins, and what broke a promise before."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz import HERE, TARGETS, kept, load

INPUTS = [
    (name, path)
    for name in TARGETS
    for kind in ("corpus", "regressions")
    for path in sorted(kept(kind, name).glob("*"))
]


@pytest.mark.parametrize(
    ("name", "path"), [pytest.param(name, path, id=str(path.relative_to(HERE))) for name, path in INPUTS]
)
def test_a_kept_input_breaks_no_promise(name: str, path: Path) -> None:
    load(name).one_input(path.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_an_input_that_is_cut_short_breaks_no_promise(name: str) -> None:
    target = load(name)
    for path in kept("corpus", name).iterdir():
        data = path.read_bytes()
        for size in (0, 1, 2, len(data) // 2, len(data) - 1):
            target.one_input(data[:size])


@pytest.mark.parametrize("name", TARGETS)
def test_the_words_of_a_target_make_a_dictionary(name: str) -> None:
    """libFuzzer takes no empty word, and does not begin with a dictionary that has one."""
    tokens = load(name).TOKENS
    assert tokens
    assert all(tokens)


@pytest.mark.parametrize("kind", ["corpus", "regressions"])
def test_what_is_kept_belongs_to_a_target_and_is_small(kind: str) -> None:
    folders = {folder.name for folder in (HERE / kind).iterdir()}
    assert folders <= set(TARGETS)
    assert kind == "regressions" or folders == set(TARGETS)
    assert all(path.stat().st_size <= 2_048 for path in (HERE / kind).glob("*/*"))
