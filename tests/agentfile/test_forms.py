"""What many texts give away is what each of them gives away."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentfile.forms import given_away, gives_away
from descriptor.leaks import leaks

# Beginnings and ends of what is searched for, which side by side could be one.
PIECES = (
    *("1.2.3", "10.0.0.1", "version", "ada@", "ada@example.org", "example.org", "http://x", "tel", "+1 555 123 4567"),
    *("token", ": a1b2c3d4", "is", "/home/x", "C:", "\\x", "host", ":8080", "db.internal", "sk-", "a" * 20, "call me"),
    *(
        "4111 1111",
        "1111 1111",
        "account",
        "id 12345",
        "bearer",
        "Abcdefghijklmnop12",
        "|",
        " ",
        "\n",
        ".",
        ":",
        "-",
        "",
    ),
)
texts = st.lists(st.lists(st.sampled_from(PIECES), max_size=3).map("".join), max_size=5)


@given(texts)
def test_texts_are_searched_together_as_each_alone(said: list[str]) -> None:
    alone = [(place, next(leaks(text))) for place, text in enumerate(said) if any(leaks(text))]
    assert list(given_away(said)) == alone
    assert not alone or gives_away(said)


def test_of_many_texts_no_more_is_searched_than_anybody_would_read() -> None:
    leak = "ada@example.org"
    assert [place for place, _ in given_away(["x" * 2**17, leak])] == []
    assert [place for place, _ in given_away([leak, "x" * 2**17, leak])] == [0]
