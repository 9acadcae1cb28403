"""JSON Pointers: what RFC 6901 says of its own example, and every pointer that is made leads back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptor.errors import DescriptorError
from descriptor.pointers import pointer_to, resolve, tokens

# RFC 6901, section 5.
DOCUMENT: dict[str, Any] = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "e^f": 3,
    "g|h": 4,
    "i\\j": 5,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
}
EXAMPLES: list[tuple[str, Any]] = [
    *(("", DOCUMENT), ("/foo", ["bar", "baz"]), ("/foo/0", "bar"), ("/", 0), ("/a~1b", 1), ("/c%d", 2)),
    *(("/e^f", 3), ("/g|h", 4), ("/i\\j", 5), ('/k"l', 6), ("/ ", 7), ("/m~0n", 8)),
]


@pytest.mark.parametrize(("pointer", "value"), EXAMPLES)
def test_the_examples_of_the_rfc(pointer: str, value: Any) -> None:
    assert resolve(DOCUMENT, pointer) == value


@pytest.mark.parametrize(
    ("pointer", "code"),
    [
        *((bad, "BAD_POINTER") for bad in ("foo", "/m~2", "/m~", "#/foo", "~", "~0", "0")),
        *((bad, "NOT_THERE") for bad in ("/fo", "/foo/2", "/foo/-", "/foo/00", "/foo/-1", "/foo/0/0", "//", "/m~01n")),
        *((bad, "NOT_THERE") for bad in ("/foo/1e0", "/foo/ 0", "/foo/0 ", "/foo/٠", "/foo/" + "9" * 5000, "/a")),
    ],
)
def test_what_leads_nowhere_is_refused(pointer: str, code: str) -> None:
    with pytest.raises(DescriptorError) as caught:
        resolve(DOCUMENT, pointer)
    assert caught.value.code == code
    assert len(caught.value.message) < 300


JSON = st.recursive(st.none() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@given(st.dictionaries(st.text(), JSON))
def test_every_pointer_that_is_made_leads_back(document: dict[str, Any]) -> None:
    def judge(value: Any, *path: str | int) -> None:
        assert resolve(document, pointer_to(*path)) == value
        for step, inner in (
            value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ())
        ):
            judge(inner, *path, step)

    judge(document)


@given(st.lists(st.text()))
def test_the_path_comes_back(path: list[str]) -> None:
    assert tokens(pointer_to(*path)) == path
