"""A Descriptor is its bytes, and everything else is derived from them."""

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptor.digests import digest_of
from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from tests.vectors import NKEYS

ID: str = NKEYS[0]["public"]
BOUND = f"""{{
  "format": "agent-descriptor",
  "agent_version":   "1.0",
  "subject": {{"handle": "reports.example", "id": "{ID}"}}
}}
""".encode()


def test_the_bytes_are_kept_exactly_and_named_by_their_digest() -> None:
    read = Descriptor.read(BOUND)
    assert read.data is BOUND
    assert read.digest == digest_of(BOUND)
    assert read.members == json.loads(BOUND)


def test_a_bound_descriptor_says_who_it_is_about() -> None:
    read = Descriptor.read(BOUND)
    assert (read.subject_id, read.handle, read.agent_version) == (ID, "reports.example", "1.0")
    assert not read.is_draft


def test_a_draft_leaves_subject_absent() -> None:
    read = Descriptor.read(b'{"agent_version":"1"}')
    assert (read.subject_id, read.handle, read.agent_version) == (None, None, "1")
    assert read.is_draft


@pytest.mark.parametrize("subject", [None, 1, "text", [], {}, {"id": 1, "handle": ["a"]}, {"id": None}])
def test_a_member_of_a_wrong_type_reads_as_not_stated(subject: Any) -> None:
    read = Descriptor.read(json.dumps({"subject": subject, "agent_version": 1.5}).encode())
    assert (read.subject_id, read.handle, read.agent_version) == (None, None, None)
    assert not read.is_draft


@pytest.mark.parametrize("data", [b"[]", b"null", b'"text"', b"1", b"true"])
def test_json_that_is_no_object_is_no_descriptor(data: bytes) -> None:
    with pytest.raises(DescriptorError) as raised:
        Descriptor.read(data)
    assert raised.value.code == "NOT_AN_OBJECT"


def test_the_limits_are_the_callers() -> None:
    with pytest.raises(DescriptorError) as raised:
        Descriptor.read(BOUND, max_bytes=10)
    assert raised.value.code == "TOO_LARGE"
    with pytest.raises(DescriptorError) as raised:
        Descriptor.read(BOUND, max_depth=1)
    assert raised.value.code == "TOO_DEEP"


def test_it_does_not_change() -> None:
    read = Descriptor.read(BOUND)
    with pytest.raises(dataclasses.FrozenInstanceError):
        read.digest = "sha256:0"  # type: ignore[misc]  # what the test is about
    with pytest.raises(TypeError):
        read.members["subject"] = None  # type: ignore[index]  # what the test is about


def test_two_spellings_are_two_descriptors() -> None:
    assert Descriptor.read(BOUND) == Descriptor.read(bytes(bytearray(BOUND)))
    assert Descriptor.read(BOUND) != Descriptor.read(BOUND.strip())
    assert len({Descriptor.read(BOUND), Descriptor.read(BOUND), Descriptor.read(BOUND.strip())}) == 2


def test_its_repr_is_short_whatever_its_size() -> None:
    large = b'{"about":"' + b"a" * 100_000 + b'"}'
    assert len(repr(Descriptor.read(large))) < 250


@given(st.binary(max_size=60) | st.dictionaries(st.text(max_size=4), st.none()).map(json.dumps).map(str.encode))
def test_any_bytes_are_a_descriptor_or_refused(data: bytes) -> None:
    try:
        read = Descriptor.read(data)
    except DescriptorError:
        return
    assert read.data == data
