"""Text on a page is text: bounded, visible, and going one way."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entryway.page.text import NAME, link, shown


@pytest.mark.parametrize(
    ("text", "on_the_page"),
    [
        ("plain", "plain"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a\u2066b\u2069", "a⟨U+2066⟩b⟨U+2069⟩"),
        ("\u200b\ufeff", "⟨U+200B⟩⟨U+FEFF⟩"),
        ("\x00\x1b[2J\x7f", "⟨U+0000⟩⟨U+001B⟩[2J⟨U+007F⟩"),
        ("a\u2028b", "a⟨U+2028⟩b"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("مرحبا שלום 你好 नमस्ते", "مرحبا שלום 你好 नमस्ते"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("e" + "\u0301" * 50 + "x", "e" + "\u0301" * 4 + "x"),
        ("x" * 130, "x" * 120 + "…"),
        ("ü" * 130, "ü" * 120 + "…"),
    ],
)
def test_what_is_shown(text: str, on_the_page: str) -> None:
    assert shown(text, NAME) == on_the_page


@given(st.text())
def test_nothing_that_is_shown_hides_reverses_or_runs_on(text: str) -> None:
    got = shown(text, 20)
    assert len(got) <= 20 * len("⟨U+10FFFF⟩") + 1
    kept = [char for char in got if char not in "\n\t\u200c\u200d"]
    assert all(unicodedata.category(char)[0] != "C" and unicodedata.category(char) not in ("Zl", "Zp") for char in kept)


@pytest.mark.parametrize(
    "url", ["https://a.example/x?y=1#z", "http://192.168.1.4:7420/", "https://[fe80::1]:7420/", "HTTPS://A.EXAMPLE"]
)
def test_an_http_address_may_be_followed(url: str) -> None:
    assert link(url) == url


@pytest.mark.parametrize(
    "url",
    [
        *("javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "//a.example/", "/path", "a.example", ""),
        *("https://user:word@a.example/", "https://a.example@b.example/", "https://", "http:///x", "ftp://a.example/"),
        *("https://a.example/\u202e", "https://münchen.example/", "https://a.example/ b", "https://a.example:99999/"),
        *("https:\\\\a.example", "https://a.example/\n", "https://[::1", "https://a.example/" + "x" * 2000),
    ],
)
def test_nothing_else_is_a_link(url: str) -> None:
    assert link(url) is None
