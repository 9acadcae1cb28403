"""Base64: one text for one byte string in one alphabet, and nothing else is read."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptor.encoding import b64_any_decode, b64url_decode, b64url_encode
from descriptor.errors import DescriptorError


@given(st.binary(max_size=100))
def test_base64url_round_trip(data: bytes) -> None:
    text = b64url_encode(data)
    assert "=" not in text
    assert b64url_decode(text) == b64url_decode(text, len(data)) == data
    assert base64.urlsafe_b64decode(text + "==") == data


@given(st.binary(max_size=100))
def test_any_base64_is_read_in_both_alphabets_padded_or_not(data: bytes) -> None:
    for text in (base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode()):
        assert b64_any_decode(text, len(data)) == data
        assert b64_any_decode(text.rstrip("="), len(data)) == data


@given(st.text(max_size=12))
def test_any_text_decodes_to_what_encodes_to_it_or_is_refused(text: str) -> None:
    try:
        data = b64url_decode(text)
    except DescriptorError as error:
        assert error.code == "BAD_BASE64"
        return
    assert b64url_encode(data) == text


REFUSED_BASE64URL = [
    ("padding", "AA=="),
    ("the standard alphabet", "++//"),
    ("a space", "AA AA"),
    ("a newline at the end", "AAAA\n"),
    ("a letter outside ASCII", "AAAé"),
    ("a digit outside ASCII", "AAA١"),
    ("one character over", "AAAAA"),
    ("left-over bits", "AB"),
    ("left-over bits", "AAB"),
    ("a lone surrogate", "AAA\ud800"),
]


@pytest.mark.parametrize(("why", "text"), REFUSED_BASE64URL)
def test_other_spellings_are_refused(why: str, text: str) -> None:
    with pytest.raises(DescriptorError) as raised:
        b64url_decode(text)
    assert raised.value.code == "BAD_BASE64"


REFUSED_ANY = [
    ("too little padding", "AA="),
    ("too much padding", "AA==="),
    ("too much padding", "AAA=="),
    ("padding that is not needed", "AAAA="),
    ("padding that is not needed", "AAAA===="),
    ("padding alone", "===="),
    ("padding inside", "AA==AAAA"),
    ("mixed alphabets", "+-AA"),
    ("mixed alphabets", "/_AA"),
    ("left-over bits", "AB=="),
    ("a space", " AAA"),
]


@pytest.mark.parametrize(("why", "text"), REFUSED_ANY)
def test_any_base64_is_still_one_text_an_alphabet(why: str, text: str) -> None:
    with pytest.raises(DescriptorError) as raised:
        b64_any_decode(text)
    assert raised.value.code == "BAD_BASE64"


@pytest.mark.parametrize("decode", [b64url_decode, b64_any_decode])
@pytest.mark.parametrize("size", [0, 31, 33])
def test_another_size_is_refused(decode: object, size: int) -> None:
    assert callable(decode)
    with pytest.raises(DescriptorError, match=f"32 bytes where {size} are expected"):
        decode(b64url_encode(bytes(32)), size)


def test_the_message_does_not_repeat_the_text() -> None:
    with pytest.raises(DescriptorError) as raised:
        b64url_decode("c2VjcmV0LXNlY3JldA!")
    assert "c2Vj" not in str(raised.value)
