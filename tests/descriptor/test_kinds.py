"""A kind is a media type by RFC 6838 or one of the four value kinds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptor.kinds import VALUE_KINDS, is_media_type, kind_problem

LONGEST = "a" * 127

MEDIA_TYPES = [
    "application/pdf",
    "text/csv",
    "application/gzip",
    "application/vnd.agentmesh.run-context+json",
    "APPLICATION/PDF",
    "image/svg+xml",
    "1/2",
    "a/b!#$&-^_.+",
    f"{LONGEST}/{LONGEST}",
]

NOT_KINDS = [
    ("", "neither"),
    ("pdf", "write application/pdf"),
    (".PDF", "write application/pdf"),
    ("string", "write text"),
    ("octets", "neither"),
    ("file", "write document"),
    ("Text", "lower case"),
    (" url", "lower case"),
    ("text/plain; charset=utf-8", "parameters"),
    ("text/plain ", "blanks"),
    ("text/*", "wildcard"),
    ("*/*", "wildcard"),
    ("text/", "neither"),
    ("/plain", "neither"),
    ("a/b/c", "neither"),
    (".a/b", "neither"),
    ("a/+b", "neither"),
    ("text/plain\n", "blanks"),
    ("tëxt/plain", "neither"),
    ("a(b)/c", "neither"),
    (f"{LONGEST}a/b", "neither"),
    (f"a/{LONGEST}b", "neither"),
]


def test_the_value_kinds_are_those_of_the_chapter() -> None:
    assert set(VALUE_KINDS) == {"text", "identifier", "url", "document"}


@pytest.mark.parametrize("kind", [*MEDIA_TYPES, *VALUE_KINDS])
def test_media_types_and_value_kinds_are_kinds(kind: str) -> None:
    assert kind_problem(kind) is None
    assert is_media_type(kind) == (kind in MEDIA_TYPES)


@pytest.mark.parametrize(("kind", "why"), NOT_KINDS)
def test_anything_else_is_no_kind_and_why(kind: str, why: str) -> None:
    problem = kind_problem(kind)
    assert problem is not None
    assert why in problem
    assert not is_media_type(kind)


name = st.text("abcXYZ019", min_size=1, max_size=1).flatmap(
    lambda first: st.text("abcXYZ019!#$&-^_.+", max_size=126).map(lambda rest: first + rest)
)


@given(name, name)
def test_every_restricted_name_makes_a_media_type(top: str, sub: str) -> None:
    assert kind_problem(f"{top}/{sub}") is None


@given(st.text())
def test_a_kind_of_any_text_is_judged_in_a_short_sentence(text: str) -> None:
    problem = kind_problem(text)
    assert problem is None or len(problem) < 800
