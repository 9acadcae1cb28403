"""What the agent says of itself: every member copied, not stated, or left out, and nothing that was not declared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from descriptor.canonical import canonical
from descriptor.document import Descriptor
from descriptor.pointers import tokens
from entryway import description
from entryway.codec import MAX_VALUES, Codec, decode, encode
from entryway.description import admission_of, described, door_statement, usage
from tests.entryway.parts import OWNER, document
from tests.entryway.test_codec import JSON_VALUES

EXAMPLES = sorted((Path(__file__).parents[2] / "configs" / "examples").glob("*.json"))
OFFERING = {"id": "sort", "name": "Sort", "description": "Sorts letters.", "inputs": [], "outputs": []}
SCHEME = {"id": "own", "transport": "mesh", "type": "mesh-identity"}
WHAT = {
    *("subject", "agent_version", "does", "acts_for", "interaction", "standing", "role", "interfaces", "fleet"),
    *("hosted_in", "refusals", "offerings"),
}
HOW = {
    *("interaction", "access", "sealing", "encryption_key", "trust", "default_input_modes", "default_output_modes"),
    *("data_use", "limits", "run_config", "offerings"),
}


def descriptor(**members: Any) -> Descriptor:
    return Descriptor.read(document(**members))


def first(pointer: str) -> str:
    return tokens(pointer)[0]


def test_exchange_1_copies_what_is_stated_and_names_what_is_not() -> None:
    one = descriptor(interaction="service", fleet=False, offerings=[{**OFFERING, "scope": "task-specific"}])
    assert described(one) == {
        "status": "described",
        "digest": one.digest,
        "description": {
            "subject": {"id": OWNER.id, "handle": "paperwork.home"},
            "agent_version": "1.4.0",
            "does": "Reads receipts. Grüße! 🚀",
            "acts_for": "person",
            "interaction": "service",
            "fleet": False,
            "offerings": [
                {"id": "sort", "name": "Sort", "description": "Sorts letters.", "scope": "task-specific"},
            ],
        },
        "not_stated": ["/standing", "/role", "/interfaces", "/hosted_in", "/refusals"],
    }


def test_help_copies_how_the_agent_is_used() -> None:
    one = descriptor(
        interaction="interactive",
        access={"admission": "screened", "schemes": []},
        limits={"requests_per_hour": 4},
        offerings=[OFFERING],
    )
    said = usage(one)
    assert said["description"] == {
        "interaction": "interactive",
        "access": {"admission": "screened", "schemes": []},
        "limits": {"requests_per_hour": 4},
        "offerings": [OFFERING],
    }
    assert said["digest"] == one.digest
    assert "/access/statement" in said["not_stated"]  # type: ignore[operator]  # it is a list
    assert "/sealing" in said["not_stated"]  # type: ignore[operator]  # as above


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"acts_for": "everybody"}, "/acts_for"),
        ({"does": ""}, "/does"),
        ({"does": ["x"]}, "/does"),
        ({"interaction": "Service"}, "/interaction"),
        ({"standing": "resident"}, "/standing"),
        ({"fleet": "no"}, "/fleet"),
        ({"fleet": None}, "/fleet"),
        ({"interfaces": ["a", 7]}, "/interfaces"),
        ({"hosted_in": "eu"}, "/hosted_in"),
        ({"refusals": None}, "/refusals"),
        ({"subject": {"id": 7, "handle": "a"}}, "/subject/id"),
        ({"subject": {"id": OWNER.id}}, "/subject/handle"),
        ({"subject": []}, "/subject/id"),
        ({"offerings": {}}, "/offerings"),
        ({"offerings": [OFFERING, 7]}, "/offerings"),
        ({"offerings": [{**OFFERING, "name": 7}]}, "/offerings/0/name"),
        ({"offerings": [{"id": "a", "name": "b"}]}, "/offerings/0/description"),
        ({"acts_for": "organization"}, "/organization_name"),
        ({"acts_for": "organization", "organization_name": 7}, "/organization_name"),
    ],
)
def test_what_is_absent_or_cannot_be_read_is_not_stated(members: dict[str, Any], pointer: str) -> None:
    said = described(descriptor(sign=False, **members))
    assert pointer in said["not_stated"]  # type: ignore[operator]  # it is a list
    copied: Any = said["description"]
    *holders, name = tokens(pointer)
    for step in holders:
        copied = copied[int(step)] if isinstance(copied, list) else copied.get(step, {})
    assert name not in copied


def test_an_organization_is_named_only_where_the_agent_acts_for_one() -> None:
    named = described(descriptor(acts_for="organization", organization_name="Willow Street Library"))
    assert named["description"]["organization_name"] == "Willow Street Library"  # type: ignore[index, call-overload]  # it is an object
    other = described(descriptor(organization_name="Willow Street Library"))
    assert "organization_name" not in json.dumps(other)


def test_data_use_is_told_whole_or_not_at_all() -> None:
    readable = {"promises": {"no_training": True}, "retention": {"max_days": 3}}
    assert usage(descriptor(data_use=readable))["description"]["data_use"] == readable  # type: ignore[index, call-overload]  # it is an object
    unreadable = usage(descriptor(data_use={**readable, "memory": "perhaps"}))
    assert "data_use" not in unreadable["description"]  # type: ignore[operator]  # it is an object
    assert "/data_use" in unreadable["not_stated"]  # type: ignore[operator]  # it is a list


# Exchange 4.


@pytest.mark.parametrize(
    ("access", "stated", "not_stated"),
    [
        (
            {"admission": "open", "schemes": [SCHEME], "statement": "Everybody."},
            {"admission": "open", "schemes": [SCHEME], "statement": "Everybody."},
            [],
        ),
        ({"schemes": []}, {"schemes": []}, ["admission", "statement"]),
        ({"admission": "screened"}, {"admission": "screened"}, ["schemes", "statement"]),
        ({"admission": "Open", "statement": "x"}, {"statement": "x"}, ["admission", "schemes"]),
        ({"admission": "public"}, {}, ["admission", "schemes", "statement"]),
        ({"admission": None, "schemes": None}, {}, ["admission", "schemes", "statement"]),
        # A list read in part could come out empty, which would say that there is nothing to present.
        ({"schemes": [SCHEME, {"id": "b"}]}, {}, ["admission", "schemes", "statement"]),
        ({"schemes": ["mesh"]}, {}, ["admission", "schemes", "statement"]),
        ({}, {}, ["admission", "schemes", "statement"]),
        ([], {}, ["admission", "schemes", "statement"]),
        # With a secret in it the block is dropped whole.
        ({"admission": "open", "token": "x"}, {}, ["admission", "schemes", "statement"]),
        (
            {"admission": "open", "schemes": [{**SCHEME, "client_secret": "x"}]},
            {},
            ["admission", "schemes", "statement"],
        ),
    ],
)
def test_the_door_is_told_as_it_is_declared(access: Any, stated: dict[str, Any], not_stated: list[str]) -> None:
    members = descriptor(access=access).members
    assert door_statement(members) == {
        "status": "stated" if stated else "not-stated",
        **stated,
        "not_stated": [f"/access/{name}" for name in not_stated],
    }
    assert admission_of(members) == stated.get("admission")


def test_a_door_that_was_never_described_is_not_stated() -> None:
    members = descriptor().members
    assert door_statement(members)["status"] == "not-stated"
    assert admission_of(members) is None


# Whatever the Descriptor is.


def test_an_answer_fits_its_reader_however_large_the_descriptor_is() -> None:
    many = [{**OFFERING, "id": f"sort-{number}"} for number in range(2_000)]
    one = descriptor(does="x" * 500_000, refusals="Short.", offerings=many, limits={"past_them": "y" * 90_000})
    for say, left_out in ((described, ["/does", "/offerings"]), (usage, ["/limits", "/offerings"])):
        said = say(one)
        assert said["left_out"] == left_out
        assert len(canonical(said)) < 48 * 1024
    assert described(one)["description"]["refusals"] == "Short."  # type: ignore[index, call-overload]  # it is an object
    statement = door_statement(descriptor(access={"admission": "open", "statement": "z" * 90_000}).members)
    assert statement["left_out"] == ["/access/statement"]
    assert statement["admission"] == "open"


def test_a_member_that_nests_too_deeply_is_left_out() -> None:
    deep: Any = "x"
    for _ in range(55):
        deep = [deep]
    assert usage(descriptor(limits={"unknown": deep}))["left_out"] == ["/limits"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize(("say", "members"), [(described, WHAT), (usage, HOW)])
def test_every_fact_is_the_document_s_own(path: Path, say: Any, members: set[str]) -> None:
    one = Descriptor.read(path.read_bytes())
    said = say(one)
    check_partition(said, members)
    for name, value in said["description"].items():
        if name not in ("offerings", "subject", "access"):
            assert value == one.members[name]
    for told, offering in zip(said["description"]["offerings"], one.members["offerings"], strict=True):  # type: ignore[arg-type]  # it is a list
        assert told.items() <= offering.items()  # type: ignore[union-attr]  # it is an object


def check_partition(said: dict[str, Any], members: set[str]) -> None:
    """That every member is copied, not stated or left out, as a whole or in its parts."""
    left_out = {first(pointer) for pointer in said.get("left_out", [])}
    unstated = {first(pointer) for pointer in said["not_stated"]}
    whole = {tokens(pointer)[0] for pointer in said["not_stated"] if len(tokens(pointer)) == 1}
    copied = set(said["description"])
    assert members <= copied | unstated | left_out
    assert not copied & (left_out | whole)
    assert not left_out & unstated


NAMES = st.sampled_from(sorted(WHAT | HOW | {"organization_name"}))
VALUES = JSON_VALUES | st.sampled_from(
    ["open", "service", "person", "organization", [OFFERING], {"admission": "open"}, {"schemes": [SCHEME]}, {"id": "x"}]
)


@settings(deadline=None, max_examples=300)
@given(st.dictionaries(NAMES, VALUES, max_size=8))
def test_any_object_is_described_without_failing_and_the_answer_travels(members: dict[str, Any]) -> None:
    one = Descriptor.read(json.dumps(members).encode())
    for say, about in ((described, WHAT), (usage, HOW)):
        said = say(one)
        check_partition(said, about)
        for codec in Codec:
            read = decode(encode({"envelope": {"payload": said}}, codec), codec)
            assert canonical(read) == canonical({"envelope": {"payload": said}})
    statement = door_statement(one.members)
    assert (statement["status"] == "stated") is bool({"admission", "schemes", "statement"} & set(statement))


def test_the_bounds_leave_room_for_the_envelope() -> None:
    assert description.MOST_VALUES < MAX_VALUES / 2 + 1
    assert description.MOST_CHARACTERS <= 32 * 1024
