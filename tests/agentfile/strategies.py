"""What the properties of the reader and the writer are tried on: what looks like `.agent` files, and anything else."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import strategies as st

from agentfile.model import AgentFile
from agentfile.shapes import plan
from tests.agentfile.cases import EXAMPLE, LEGACY_SCHEMA, SCHEMA, WHOLE, Path, places

NAMES = sorted({str(path[-1]) for path, _ in places(WHOLE)} | {"executable", "locator", "unknown", "a/~"})
WORDS = sorted({value for _, value in places(WHOLE) if isinstance(value, str)} | {SCHEMA, LEGACY_SCHEMA, "", "²"})

names = st.sampled_from(NAMES) | st.text(max_size=2)
texts = st.sampled_from(WORDS) | st.text(max_size=5)
leaves = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | texts
)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)
# Any object at all, but that it says it is an `.agent` file, so that it is looked into.
documents = st.dictionaries(names, values, max_size=12).map(lambda members: {**members, "$schema": SCHEMA})


@st.composite
def mutations(draw: st.DrawFn) -> dict[str, Any]:
    """The example of section 21, or the whole file, with a few things in it changed, added or taken out."""
    document: dict[str, Any] = copy.deepcopy(draw(st.sampled_from((EXAMPLE, WHOLE))))
    for _ in range(draw(st.integers(1, 4))):
        path, _ = draw(st.sampled_from(list(places(document)) or [(("$schema",), "")]))
        holder = at(document, path[:-1])
        what = draw(st.sampled_from(("change", "take", "add")))
        if what == "take" and path[-1:] != ("$schema",):
            del holder[path[-1]]
        elif what == "add" and isinstance(holder, dict):
            holder[draw(names)] = draw(values)
        elif path != ("$schema",):
            holder[path[-1]] = draw(values)
    return document


def objects(
    model: type[Any], members: Mapping[str, Any], path: Path = ()
) -> Iterator[tuple[type[Any], Mapping[str, Any], Path]]:
    """Every object within `members` that `model` or a model in it describes, itself first."""
    yield model, members, path
    for name, of, many, _ in plan(model).nested:
        value = members.get(name)
        entries = enumerate(value) if many and isinstance(value, list) else [(None, value)]
        for index, entry in entries:
            if isinstance(entry, dict):
                yield from objects(of(entry).model, entry, (*path, name) if index is None else (*path, name, index))


# Unknown members in every object of a sound file that may have them: the file stays sound.
OPEN_PLACES: list[Path] = [path for model, _, path in objects(AgentFile, WHOLE) if not plan(model).closed]
unknown_names = st.text(min_size=1, max_size=6).map(lambda name: f"x-{name}")


@st.composite
def extended(draw: st.DrawFn) -> dict[str, Any]:
    """The whole file with unknown members, and anything in them, in some of its open objects."""
    document: dict[str, Any] = copy.deepcopy(WHOLE)
    for path in draw(st.lists(st.sampled_from(OPEN_PLACES), min_size=1, max_size=6)):
        at(document, path).update(draw(st.dictionaries(unknown_names, values, max_size=3)))
    return document


def at(document: Any, path: Path) -> Any:
    """What stands there."""
    for step in path:
        document = document[step]
    return document
