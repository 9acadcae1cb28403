"""The record: what a node says of itself, and what is made of any bytes in the place of one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptor.digests import digest_of
from node.discovery.record import (
    LONGEST_READ,
    MOST_ADDRESSES,
    Advert,
    Heard,
    instance_names,
    read_record,
    text_of,
)
from tests.entryway.parts import OWNER

ID = OWNER.id
DIGEST = digest_of(b"")
ADVERT = Advert(ID, "paperwork.home", "1.4.0", DIGEST, 7420, ("0.0.0.0", "::"))


def read(text: dict[bytes, bytes | None], *addresses: str) -> Heard:
    return read_record("lan0", "x", text, 7420, addresses)


def test_the_text_is_that_of_the_binding() -> None:
    assert text_of(ADVERT) == {
        "txtvers": "1",
        "id": ID,
        "handle": "paperwork.home",
        "ver": "1.4.0",
        "digest": DIGEST,
        "path": "/entryway",
    }
    bare = replace(ADVERT, handle=None, agent_version=None, digest=None)
    assert text_of(bare) == {"txtvers": "1", "id": ID, "path": "/entryway"}


def test_a_string_holds_255_bytes_and_what_does_not_fit_is_left_out() -> None:
    assert "ver" in text_of(replace(ADVERT, agent_version="é" * 125))
    assert "ver" not in text_of(replace(ADVERT, agent_version="é" * 126))


@pytest.mark.parametrize(
    ("handle", "name"),
    [
        ("paperwork.home", f"paperwork-{ID[1:9]}"),
        ("paperwork", f"paperwork-{ID[1:9]}"),
        (None, ID[1:9]),
        (".home", ID[1:9]),
        ("a\x07b\x7f\x1b[2J\u202e.home", f"ab[2J-{ID[1:9]}"),
        ("\x00.home", ID[1:9]),
        ("Grüße.home", f"Grüße-{ID[1:9]}"),
        ("ü" * 60, f"{'ü' * 26}-{ID[1:9]}"),
    ],
)
def test_the_instance_name_is_the_handle_s_first_label_and_the_id_s_first_letters(
    handle: str | None, name: str
) -> None:
    names = instance_names(replace(ADVERT, handle=handle))
    assert names[:2] == (name, f"{name}-2")
    assert names[-1] == ID
    assert len(set(names)) == len(names) == 10
    assert all(len(one.encode()) <= 63 for one in names)


def test_what_is_announced_is_what_is_read() -> None:
    text: dict[bytes, bytes | None] = {name.encode(): value.encode() for name, value in text_of(ADVERT).items()}
    heard = read_record("lan0", "paperwork-X", text, 7420, ["10.0.0.2"])
    assert heard == Heard(
        "lan0", "paperwork-X", ID, "paperwork.home", "1.4.0", DIGEST, "", 7420, ("10.0.0.2",), problem=""
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ({}, "states no agent's id"),
        ({b"id": None}, "states no agent's id"),
        ({b"id": b""}, "states no agent's id"),
        ({b"id": b"\xff"}, "states no agent's id"),
        ({b"id": ID[:-1].encode() + b"A"}, "an id that is none"),
        ({b"id": b"x" * 250}, "an id that is none"),
        ({b"id": b"\x1b[2J\n"}, "an id that is none"),
        ({b"id": ID.encode(), b"path": b"/elsewhere"}, "names the path"),
        ({b"id": ID.encode(), b"path": b"//evil.example/entryway"}, "names the path"),
        ({b"id": ID.encode(), b"path": b"@evil.example/entryway"}, "names the path"),
        ({b"id": ID.encode(), b"path": b"/\r\nHost: x/entryway"}, "names the path"),
    ],
)
def test_a_record_that_cannot_be_asked_says_why(text: dict[bytes, bytes | None], problem: str) -> None:
    heard = read(text)
    assert problem in heard.problem
    assert heard.problem.isprintable()
    assert heard.prefix == ""


def test_members_that_are_not_what_they_should_be_are_as_good_as_absent() -> None:
    heard = read({b"id": ID.encode(), b"handle": b"a\nb", b"ver": b"9" * (LONGEST_READ + 1), b"digest": b"sha256:1"})
    assert (heard.handle, heard.agent_version, heard.digest, heard.problem) == (None, None, None, "")


def test_names_are_read_without_case_and_the_first_counts() -> None:
    assert read({b"ID": ID.encode(), b"id": b"x"}).id == ID


def test_a_path_before_the_entryway_is_kept() -> None:
    assert read({b"id": ID.encode(), b"path": b"/agents/one/entryway"}).prefix == "/agents/one"


def test_addresses_are_bounded() -> None:
    assert len(read({}, *(f"10.0.0.{number}" for number in range(100))).addresses) == MOST_ADDRESSES


@given(
    st.dictionaries(
        st.one_of(st.sampled_from([b"id", b"handle", b"ver", b"digest", b"path"]), st.binary(max_size=20)),
        st.one_of(st.none(), st.binary(max_size=300), st.text(max_size=100).map(str.encode)),
        max_size=8,
    ),
    st.text(max_size=80),
)
def test_any_text_is_read_and_what_comes_of_it_is_fit_to_be_shown(
    text: dict[bytes, bytes | None], instance: str
) -> None:
    heard = read_record("lan0", instance, text, 0, [])
    assert heard.problem or heard.id is not None
    shown = [heard.instance, heard.problem, heard.handle or "", heard.agent_version or "", heard.prefix]
    assert all(one.isprintable() and len(one) <= 400 for one in shown)
