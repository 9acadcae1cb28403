"""A digest is SHA-256 over exact bytes, in one spelling."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptor.digests import digest_of, parse_digest
from descriptor.errors import DescriptorError

HEX = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_the_digest_of_no_bytes() -> None:
    assert digest_of(b"") == f"sha256:{HEX}"


@given(st.binary(), st.binary())
def test_a_digest_names_exactly_its_bytes(one: bytes, other: bytes) -> None:
    assert digest_of(one) == "sha256:" + hashlib.sha256(one).hexdigest()
    assert (digest_of(one) == digest_of(other)) == (one == other)


@pytest.mark.parametrize("text", [f"sha256:{HEX}", HEX])
def test_a_digest_is_read_with_and_without_its_prefix(text: str) -> None:
    assert parse_digest(text) == f"sha256:{HEX}"


REFUSED = [
    "",
    "sha256:",
    HEX[:-1],
    HEX + "0",
    HEX.upper(),
    "sha256:" + HEX.upper(),
    "SHA256:" + HEX,
    "sha512:" + HEX,
    "sha256:sha256:" + HEX,
    "sha256-" + HEX,
    " " + HEX,
    HEX + "\n",
    HEX[:-1] + "g",
    HEX[:-1] + "１",
    "../" * 20,
    "x" * 10_000,
]


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_other_spellings_are_refused(text: str) -> None:
    with pytest.raises(DescriptorError) as raised:
        parse_digest(text)
    assert raised.value.code == "BAD_DIGEST"
    assert len(raised.value.message) < 250
