"""A text gives away what its table says, and takes time that grows with its length and no faster."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptor.leaks import Leak, leaks
from tests.descriptor.strings import GIVES_AWAY, GIVES_NOTHING_AWAY

TABLE = [(text, what) for what, texts in GIVES_AWAY.items() for text in texts]


def test_the_table_is_of_a_size_to_mean_something() -> None:
    assert len({text for text, _ in TABLE}) == len(TABLE) >= 120
    assert len(set(GIVES_NOTHING_AWAY)) == len(GIVES_NOTHING_AWAY) >= 200


def test_precision_and_recall_over_the_table() -> None:
    missed = [(text, what) for text, what in TABLE if what not in {leak.what for leak in leaks(text)}]
    wrong = [(text, leak.what) for text in GIVES_NOTHING_AWAY for leak in leaks(text)]
    found = len(TABLE) - len(missed)
    recall, precision = found / len(TABLE), found / (found + len(wrong))
    print(
        f"leaks: {len(TABLE)} strings that give something away, {len(GIVES_NOTHING_AWAY)} that do not; "
        f"recall {recall:.3f}, precision {precision:.3f}"
    )
    assert (missed, wrong) == ([], [])


@pytest.mark.parametrize(("text", "what"), TABLE)
def test_a_leak_is_where_it_is_said_to_be(text: str, what: str) -> None:
    leak = next(leak for leak in leaks(f"Grüße, {text} und so weiter") if leak.what == what)
    assert 0 <= leak.start - len("Grüße, ") < leak.end - len("Grüße, ") <= len(text)


def test_a_name_tells_what_its_value_is() -> None:
    assert [*leaks("9f8e7d6c5b4a3210")] == []
    assert [leak.what for leak in leaks("9f8e7d6c5b4a3210", "api_key")] == ["a credential under a name that says so"]
    assert [*leaks("required", "api_key")] == []
    assert [*leaks("9f8e7d6c5b4a3210", "max_tokens")] == []
    assert [leak.what for leak in leaks("10.2.0.1")] == ["an IPv4 address"]
    assert [*leaks("10.2.0.1", "agent_version")] == []


@pytest.mark.parametrize(
    "text",
    [
        *("a" * 2**20, "a@" * 2**19, "@" * 2**20, "a." * 2**19, "1." * 2**19, "1:" * 2**19, ":" * 2**20, "/" * 2**20),
        *("eyJ" * (2**20 // 3), "a://" * 2**18, "1 " * 2**19, "+1" * 2**19, "-" * 2**20, "\\" * 2**20, "=" * 2**20),
        *(
            "4111 " * (2**20 // 5),
            "DE89 " * (2**20 // 5),
            "~a" * 2**19,
            "token " * (2**20 // 6),
            "A" * 2**20,
            "www." * 2**18,
        ),
        *(
            "a-" * 2**19,
            ("a" * 63 + "@") * 2**14,
            "0x" * 2**19,
            "bearer " * (2**20 // 7),
            "/home/" * (2**20 // 6),
            "é1.:" * 2**18,
        ),
    ],
    ids=lambda text: repr(text[:6]),
)
def test_no_text_takes_more_than_linear_time(text: str) -> None:
    began = time.process_time()
    for _ in leaks(text, "token"):
        pass
    assert time.process_time() - began < 4  # seconds for 1 MiB; what is quadratic takes hours


@given(st.text() | st.text("a1.:/@-+=_ \\~"), st.text(max_size=12))
def test_any_text_is_looked_at(text: str, name: str) -> None:
    for leak in leaks(text, name):
        assert isinstance(leak, Leak)
        assert 0 <= leak.start < leak.end <= len(text)
