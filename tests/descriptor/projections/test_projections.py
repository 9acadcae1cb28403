"""What holds of every projection: it is what it was, each value has a source, and silence never becomes a value."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.pointers import pointer_to, resolve
from descriptor.projections.card import COARSE, NOT_STATED, SILENT_MODE, card_of
from descriptor.projections.registration import registration_of
from descriptor.projections.serving import Serving
from descriptor.projections.tracing import Entries, Projection, Said, fixed, lay_out, said
from tests.descriptor.projections.cases import DOCUMENTS, SERVING, SNAPSHOTS, WHOLE_BOUND, descriptor, snapshot
from tests.descriptor.rules.cases import DRAFT, ID
from tests.descriptor.test_mutations import members

MADE: dict[str, Callable[[Descriptor, Serving], Projection]] = {"card": card_of, "registration": registration_of}

# What stands in a projection and is said by no member of the Descriptor: its format, and how the node is served.
NOT_FROM_A_MEMBER = {
    *("/supportedInterfaces/0/url", "/supportedInterfaces/0/protocolBinding", "/supportedInterfaces/0/protocolVersion"),
    *("/capabilities/streaming", "/capabilities/pushNotifications", "/capabilities/extensions/0/uri"),
    *("/capabilities/extensions/0/description", "/capabilities/extensions/0/params/location", "/provider/url"),
    *("/registration", "/descriptor/location"),
}
# What a scope means that is absent or cannot be read (6.11).
READINGS = {"task-specific", "open-ended"}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_projection_is_what_it_was(name: str) -> None:
    assert snapshot(name) == (SNAPSHOTS / f"{name}.json").read_text(encoding="utf-8")


def test_every_snapshot_is_of_a_document() -> None:
    assert {path.stem for path in SNAPSHOTS.iterdir()} == set(DOCUMENTS)


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_a_draft_has_no_projection(make: Callable[[Descriptor, Serving], Projection]) -> None:
    for document in (DRAFT, {**DRAFT, "subject": {}}, {**DRAFT, "subject": ID}):
        with pytest.raises(DescriptorError) as caught:
            make(descriptor(document), SERVING)
        assert caught.value.code == "NOT_BOUND"


def texts(value: Any) -> Iterator[str]:
    """Every text that stands in a value."""
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts(inner)


def found(document: dict[str, Any], pointer: str) -> Any:
    try:
        return resolve(document, pointer)
    except DescriptorError:
        return None


def sound(leaf: Said, one: Descriptor) -> bool:
    """Whether the value of a leaf is what stands at its pointers, as it is or coarsened."""
    document = dict(one.members)
    if leaf.pointers == ("",):
        return leaf.value == one.digest
    there = [found(document, pointer) for pointer in leaf.pointers]
    if any(leaf.value == value and type(leaf.value) is type(value) for value in there):
        return True
    known = {text for value in there for text in texts(value)}
    known |= {COARSE[text] for text in known if text in COARSE} | READINGS
    stated = leaf.value if isinstance(leaf.value, list) else [leaf.value]
    return all(isinstance(text, str) and text in known for text in stated)


def neutral(value: Any) -> bool:
    """Whether a value claims nothing: it says so, it is how silence is read, or it points at the silence."""
    return value in (None, NOT_STATED, [SILENT_MODE]) or str(value).startswith("/offerings/")


def judge(projection: Projection, one: Descriptor) -> None:
    """That each value of a projection has a source and is sound, and that there is no other value."""
    traced = {}
    for path, leaf in projection.leaves():
        if leaf.value is None:
            continue
        traced[pointer_to(*path)] = leaf.value
        if not leaf.pointers:
            assert pointer_to(*path) in NOT_FROM_A_MEMBER
        elif leaf.stated:
            assert sound(leaf, one), (path, leaf)
        else:
            assert neutral(leaf.value), (path, leaf)
    held = dict(every_value(projection.members, traced))
    assert held == traced


def every_value(value: Any, known: dict[str, Any], path: tuple[str | int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every value that is no object and no list of objects; and what is traced as a whole."""
    if pointer_to(*path) in known or not isinstance(value, dict | list):
        yield pointer_to(*path), value
        return
    for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield from every_value(inner, known, (*path, step))


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_value_has_a_source(name: str, make: Callable[[Descriptor, Serving], Projection]) -> None:
    one = descriptor(DOCUMENTS[name])
    judge(make(one, SERVING), one)


def within(pointer: str, place: str) -> bool:
    """Whether one of the two holds the other."""
    return f"{pointer}/".startswith(f"{place}/") or f"{place}/".startswith(f"{pointer}/")


def removed(document: dict[str, Any], path: tuple[str | int, ...]) -> dict[str, Any]:
    changed: Any = copy.deepcopy(document)
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    del holder[path[-1]]
    return dict(changed)


# A member is removed from its object; an entry from the end of its list, so that the others stay where they are.
REMOVABLE = [
    (name, path)
    for name, document in DOCUMENTS.items()
    for path, _ in members(document)
    if isinstance(path[-1], str) or path[-1] == len(found(document, pointer_to(*path[:-1]))) - 1
]


def by_source(projection: Projection) -> dict[tuple[Any, ...], Said]:
    """The leaves by the names on their path and by what says them: an entry may move up where one before it goes."""
    return {
        (tuple(step for step in path if isinstance(step, str)), leaf.pointers): leaf
        for path, leaf in projection.leaves()
    }


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_a_member_that_is_removed_takes_what_came_from_it_and_nothing_else(
    make: Callable[[Descriptor, Serving], Projection],
) -> None:
    lost = 0
    for name, path in REMOVABLE:
        if path in (("subject",), ("subject", "id")):
            continue
        document, place = DOCUMENTS[name], pointer_to(*path)
        one = descriptor(removed(document, path))
        projection = make(one, SERVING)
        # What is left is said by what is left.
        judge(projection, one)
        before, after = by_source(make(descriptor(document), SERVING)), by_source(projection)
        for where, leaf in before.items():
            if "" in leaf.pointers or not leaf.pointers:
                continue
            if not any(within(pointer, place) for pointer in leaf.pointers):
                assert after.get(where) == leaf, (name, place, where)
            elif leaf.stated and leaf != after.get(where):
                lost += 1
        # And nothing is said that was not.
        names = {names for (names, _), leaf in before.items() if leaf.value is not None}
        assert {names for (names, _), leaf in after.items() if leaf.value is not None} <= names, (name, place)
    assert lost > 20


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_what_cannot_be_read_is_as_if_it_were_not_there(make: Callable[[Descriptor, Serving], Projection]) -> None:
    for path, _ in members(WHOLE_BOUND):
        if path in (("subject",), ("subject", "id")):
            continue
        for value in (None, [], "\x00", -7):
            document: Any = copy.deepcopy(WHOLE_BOUND)
            holder = document
            for step in path[:-1]:
                holder = holder[step]
            holder[path[-1]] = value
            one = descriptor(document)
            judge(make(one, SERVING), one)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=4) | st.sampled_from(["text", "a/b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(
    ["id", "name", "description", "scope", "focus", "role", "inputs", "outputs", "input_modes", "output_modes", "kind"]
)
OFFERINGS = st.lists(
    st.dictionaries(NAMES, JSON | st.lists(st.dictionaries(NAMES, JSON)), max_size=6) | JSON, max_size=3
)
TOP = st.sampled_from(
    [
        *("does", "agent_version", "acts_for", "organization_name", "interaction", "fleet", "shape", "sealing"),
        *("default_input_modes", "default_output_modes", "access", "trust", "encryption_key", "signatures"),
    ]
)


@given(st.dictionaries(TOP, JSON, max_size=5), OFFERINGS | JSON, JSON)
def test_whatever_a_document_holds_its_projections_are_sound(
    document: dict[str, Any], offerings: Any, handle: Any
) -> None:
    one = descriptor({**document, "offerings": offerings, "subject": {"id": ID, "handle": handle}})
    for make in MADE.values():
        judge(make(one, SERVING), one)


def test_an_object_in_which_nothing_is_said_is_left_out_and_an_empty_list_is_not() -> None:
    made = lay_out({"a": {"b": said(None, "/b")}, "c": Entries([], "id"), "d": Entries([{"id": fixed(None)}], "id")})
    assert made.members == {"c": [], "d": [{}]}
    assert [path for path, _ in made.leaves()] == [("a", "b"), ("d", 0, "id")]


def test_a_neutral_value_stands_only_where_nothing_is_said() -> None:
    assert said("x", "/a").or_neutral("y") == Said("x", ("/a",), stated=True)
    assert said(None, "/a").or_neutral("y") == Said("y", ("/a",), stated=False)
    assert said(False, "/a").or_neutral("y").value is False


def test_the_documents_are_as_odd_as_they_are_meant_to_be() -> None:
    assert json.loads(snapshot("odd"))["card"]["skills"][0]["id"] == "/offerings/0"
    assert len(REMOVABLE) > 300
