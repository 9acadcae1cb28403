"""A column of members is sound exactly when each of them has its form."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfile import columns
from agentfile.columns import Form, Places, problems
from descriptor.pointers import pointer_to
from descriptor.strictjson import parse

WORDS = ("text", "audio")
FORMS: dict[str, Form] = {
    "a text": columns.text("m"),
    "a text that has to be there": columns.text("m", required=True),
    "a text that is not empty": columns.text("m", filled=True),
    "a word": columns.word("m", WORDS),
    "a word that has to be there": columns.word("m", WORDS, required=True),
    "a flag": columns.flag("m"),
    "a flag that has to be there": columns.flag("m", required=True),
    "an object": columns.mapping("m"),
    "an object that has to be there": columns.mapping("m", required=True),
    "a list": columns.items("m"),
    "a list that has to be there": columns.items("m", required=True),
    "a list of objects": columns.objects("m"),
    "a list of objects that has to be there": columns.objects("m", required=True),
    "a list of texts": columns.texts("m"),
    "a list of texts that has to be there": columns.texts("m", required=True),
    "a list of texts that are not empty": columns.texts("m", filled=True),
    "a number": columns.number("m"),
    "a number with limits": columns.number("m", least=0, most=100),
}
leaves = st.sampled_from((None, True, False, 0, 1, -1, 100, 101, 0.5, parse(b"9007199254740993"), "", " ", *WORDS))
values = leaves | st.lists(leaves | st.just({}), max_size=3) | st.just({})
holders = st.lists(st.just({}) | st.builds(lambda value: {"m": value}, values), max_size=4)


@pytest.mark.parametrize("name", FORMS)
@given(holders)
def test_a_column_is_sound_exactly_when_nothing_is_wrong_in_it(name: str, found: list[dict[str, Any]]) -> None:
    form = FORMS[name]
    one_by_one = [problem for index, holder in enumerate(found) for problem in form.problems(holder, ("l", index))]
    assert form.sound([holder.get("m", columns.ABSENT) for holder in found]) is (one_by_one == [])
    places = Places([{"l": found}], lambda: [()]).each("l")
    assert list(problems(places, form)) == one_by_one


def test_objects_are_reached_in_the_order_of_the_file_with_their_paths() -> None:
    top = Places([{"a": {"l": [{"k": 1}, 7, {"k": "2", "o": {}}]}, "b": [{}]}], lambda: [()])
    listed = top.one("a").each("l")
    cases = (
        (listed, ["/a/l/0", "/a/l/2"]),
        (listed.one("o"), ["/a/l/2/o"]),
        (listed.first(1), ["/a/l/0"]),
        (listed.where("k", "2"), ["/a/l/2"]),
        (listed.where("k", "2", differs=True), ["/a/l/0"]),
        (listed.one("k"), []),
        (top.each("a"), []),
        (top.one("b"), []),
        (top.each("c"), []),
    )
    for places, pointers in cases:
        assert [pointer_to(*path) for _, path in places] == pointers
        assert len(places.holders) == len(pointers)
    assert listed.column("o", None) == [None, {}]
