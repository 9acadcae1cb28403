"""The boundary admits what is inside every declared bound, and refuses the rest by rule, with the reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptor.view import Money, view
from descriptor.vocabulary import AUTHORITY
from entryway.asked import Asked, Budget
from entryway.errors import EntrywayError
from entryway.protections import HourlyCounts
from entryway.work import Resource
from tests.descriptor.rules.cases import OFFERING, draft
from tests.descriptor.rules.test_6_11 import CHAPTER
from tests.descriptor.whole import WHOLE
from tests.entryway.bounded import assert_inside
from tests.entryway.judged import judged, ordered, refused
from tests.entryway.parts import NOW

EURO = Money(5_000_000, "EUR")
CONTRACT: dict[str, Any] = {"contract": "JVBERg"}
DO: dict[str, Any] = {"instruction": "Rename it."}
SPENDER: dict[str, Any] = {
    **OFFERING,
    "id": "buy",
    "inputs": [],
    "authority": ["spends-money", "reaches-network"],
    "ceilings": {"spend_per_job": {"most": {"amount_micro": 5_000_000, "currency": "EUR"}, "decided_by": "rule"}},
}
AGENT = view(
    draft(
        offerings=[
            OFFERING,
            CHAPTER,
            SPENDER,
            {**SPENDER, "id": "buy-unbounded", "ceilings": {}},
            {**OFFERING, "id": "twice"},
            {**OFFERING, "id": "twice"},
            {**OFFERING, "id": "of-systems", "inputs": [], "workspace": [{"system": "due list", "for": "adding"}]},
            WHOLE["offerings"][2],
        ]
    )
)
REPOSITORY = Resource("git", "read-write")
CODE = "change-a-repository"


def code(*resources: Resource, authority: tuple[str, ...] | None = None) -> Asked:
    return Asked(CODE, DO, resources, authority)


def buy(authority: tuple[str, ...] | None = None, limit: Money | None = None, offering: str = "buy") -> Asked:
    return Asked(offering, authority=authority, spend_limit=limit)


# What chapter 6.11 has every conforming node prove of itself.
FIVE: list[tuple[str, Asked, str | None, str | None]] = [
    ("an undeclared offering", Asked("nothing-like-it"), "OFFERING_NOT_FOUND", None),
    ("a kind the workspace does not name", code(Resource("folder", "read")), "SCOPE_REFUSED", "workspace"),
    (
        "an authority that is not declared",
        code(authority=("reads-files", "spends-money")),
        "SCOPE_REFUSED",
        "authority",
    ),
    ("spending without a limit", buy(("spends-money",)), "SCOPE_REFUSED", "spend_limit"),
    ("inside every bound", code(REPOSITORY, authority=("reads-files", "writes-files")), None, None),
]
MORE: list[tuple[str, Asked, str | None, str | None]] = [
    ("an id of two offerings", Asked("twice", CONTRACT), "OFFERING_NOT_FOUND", None),
    ("no offering's name", Asked("\x00" * 5_000), "OFFERING_NOT_FOUND", None),
    ("narrower access than declared", code(Resource("git", "read")), None, None),
    ("an access of no list", code(Resource("git", "write")), "SCOPE_REFUSED", "workspace"),
    ("a second resource beyond", code(REPOSITORY, Resource("GIT", "read")), "SCOPE_REFUSED", "workspace"),
    ("a resource where none is declared", Asked("read", CONTRACT, (REPOSITORY,)), "SCOPE_REFUSED", "workspace"),
    (
        "a system is not handed over",
        Asked("of-systems", {}, (Resource("due list", "read"),)),
        "SCOPE_REFUSED",
        "workspace",
    ),
    ("an offering of systems", Asked("of-systems"), None, None),
    (
        "an authority where none is declared",
        Asked("read", CONTRACT, (), ("reads-files",)),
        "SCOPE_REFUSED",
        "authority",
    ),
    ("an authority of no list", code(authority=("reads-minds",)), "SCOPE_REFUSED", "authority"),
    ("no authority allowed", code(authority=()), None, None),
    ("spending allowed by silence, without a limit", buy(), "SCOPE_REFUSED", "spend_limit"),
    ("spending not allowed", buy(("reaches-network",)), None, None),
    ("spending not allowed, with a limit", buy(("reaches-network",), Money(10**12, "USD")), None, None),
    ("spending at the ceiling", buy(limit=EURO), None, None),
    ("spending nothing", buy(limit=Money(0, "EUR")), None, None),
    ("spending over the ceiling", buy(limit=Money(5_000_001, "EUR")), "SCOPE_REFUSED", "spend_limit"),
    ("another currency", buy(limit=Money(1, "USD")), "SCOPE_REFUSED", "spend_limit"),
    ("spending without a ceiling", buy(limit=EURO, offering="buy-unbounded"), "SCOPE_REFUSED", "spend_limit"),
    ("an open-ended offering within its authority", Asked("anything", DO, (), ()), None, None),
    ("an open-ended offering beyond it", Asked("anything", DO, (), ("runs-commands",)), "SCOPE_REFUSED", "authority"),
]


@pytest.mark.parametrize(("what", "asked", "code", "reason"), FIVE + MORE, ids=[case[0] for case in FIVE + MORE])
def test_a_request_is_judged_by_what_is_declared(what: str, asked: Asked, code: str | None, reason: str | None) -> None:
    if code is None:
        ordered(AGENT, asked)
    else:
        assert refused(AGENT, asked, code).get("reason") == reason


def test_a_refusal_lists_what_is_allowed() -> None:
    assert refused(AGENT, code(Resource("folder", "read")), "SCOPE_REFUSED") == {
        "offering": CODE,
        "reason": "workspace",
        "allowed": [{"kind": "git", "access": "read-write"}],
    }
    assert refused(AGENT, code(authority=("spends-money",)), "SCOPE_REFUSED") == {
        "offering": CODE,
        "reason": "authority",
        "allowed": CHAPTER["authority"],
    }
    assert refused(AGENT, Asked("of-systems", {}, (REPOSITORY,)), "SCOPE_REFUSED")["allowed"] == [
        {"system": "due list"}
    ]
    assert refused(AGENT, Asked("read", CONTRACT, (REPOSITORY,)), "SCOPE_REFUSED")["allowed"] == []
    assert "allowed" not in refused(AGENT, buy(), "SCOPE_REFUSED")


@pytest.mark.parametrize(
    ("asked", "authority"),
    [
        (code(authority=("writes-files",)), ("writes-files",)),
        (code(authority=("writes-files", "reads-files", "writes-files")), ("reads-files", "writes-files")),
        (code(authority=()), ()),
        (code(), tuple(CHAPTER["authority"])),
        (Asked("anything", DO), ()),
        (Asked("read", CONTRACT), None),
        (Asked("read", CONTRACT, (), ()), ()),
    ],
)
def test_a_job_runs_under_the_narrower_list(asked: Asked, authority: tuple[str, ...] | None) -> None:
    assert ordered(AGENT, asked).authority == authority


def test_an_authority_that_cannot_be_read_allows_nothing() -> None:
    agent = view(draft(offerings=[{**CHAPTER, "authority": ["reads-files", "reads-minds"]}]))
    assert refused(agent, code(authority=("reads-files",)), "SCOPE_REFUSED")["reason"] == "authority"


def test_a_workspace_that_cannot_be_read_takes_nothing() -> None:
    agent = view(draft(offerings=[{**CHAPTER, "workspace": [*CHAPTER["workspace"], {"kind": "folder"}]}]))
    assert refused(agent, code(REPOSITORY), "SCOPE_REFUSED")["reason"] == "workspace"


def test_an_order_holds_what_was_handed_over() -> None:
    where = Resource("git", "read", "ssh://git.home/shop.git")
    order = ordered(AGENT, replace(code(where), later=True))
    assert (order.input, order.resources, order.settings, order.seal_to) == (DO, (where,), {}, None)
    assert "git.home" not in repr(order)
    assert "Rename" not in repr(order)


# The order of the checks: each request is wrong in everything that comes after, and is refused for the first.

LIMITED = view(
    {
        **WHOLE,
        "offerings": [
            {
                **SPENDER,
                "inputs": [{"name": "what", "kind": "text", "required": True, "max_bytes": 8}],
                "ceilings": {**CHAPTER["ceilings"], **SPENDER["ceilings"]},
            }
        ],
        "limits": {"requests_per_hour": 0, "past_them": "Come back later."},
    }
)
UNLIMITED = replace(LIMITED, limits=None)
WRONG = Asked(
    "sell",
    {"whatever": 7},
    (REPOSITORY,),
    ("spends-money", "reads-minds"),
    Money(1, "XXX"),
    Budget(NOW - 1, Money(1, "XXX")),
    {"mood": "cheerful"},
)
RIGHT: list[tuple[str, str | None, dict[str, Any], Callable[[Asked], Asked]]] = [
    ("OFFERING_NOT_FOUND", None, {}, lambda asked: replace(asked, offering="buy")),
    ("INPUT_INVALID", None, {"input": "what"}, lambda asked: replace(asked, input={"what": 7})),
    ("INPUT_INVALID", None, {"kind": "text"}, lambda asked: replace(asked, input={"what": "x" * 9, "more": 7})),
    ("INPUT_INVALID", None, {"max_bytes": 8}, lambda asked: replace(asked, input={"what": "x", "more": 7})),
    ("INPUT_INVALID", None, {"allowed": ["what"]}, lambda asked: replace(asked, input={"what": "x" * 8})),
    ("SCOPE_REFUSED", "workspace", {}, lambda asked: replace(asked, resources=())),
    ("SCOPE_REFUSED", "authority", {}, lambda asked: replace(asked, authority=("spends-money",))),
    ("SCOPE_REFUSED", "spend_limit", {}, lambda asked: replace(asked, spend_limit=EURO)),
    ("RUN_CONFIG_REFUSED", None, {"setting": "mood"}, lambda asked: replace(asked, settings={})),
    ("RATE_LIMITED", None, {"past_them": "Come back later."}, lambda asked: asked),
]


def test_a_request_wrong_in_many_ways_is_refused_for_the_first() -> None:
    asked = WRONG
    for expected, reason, told, mend in RIGHT:
        details = refused(LIMITED, asked, expected)
        assert details.get("reason") == reason
        assert told.items() <= details.items()
        asked = mend(asked)
    refused(UNLIMITED, asked, "BUDGET_INSUFFICIENT")
    asked = replace(asked, budget=Budget(NOW, Money(20_000_000, "USD")))
    refused(UNLIMITED, asked, "DEADLINE_UNMEETABLE")
    asked = replace(asked, budget=Budget(NOW + 1, Money(20_000_000, "USD")))
    assert ordered(UNLIMITED, asked).bounds.spend == EURO


def test_a_request_that_is_refused_before_its_limit_is_not_counted() -> None:
    agent = view({**WHOLE, "offerings": [SPENDER], "limits": {"requests_per_hour": 1}})
    counts = HourlyCounts()
    for _ in range(3):
        refused(agent, buy(), "SCOPE_REFUSED", counts=counts)
    ordered(agent, buy(("reaches-network",)), counts=counts)
    refused(agent, buy(("reaches-network",)), "RATE_LIMITED", counts=counts)


# Whatever is asked, what is admitted is inside.

MONEY = st.builds(Money, st.integers(0, 10_000_000), st.sampled_from(["EUR", "USD"]))
ASKED = st.builds(
    Asked,
    st.sampled_from(["read", CODE, "buy", "buy-unbounded", "of-systems", "anything", "none"]),
    st.dictionaries(st.sampled_from(["instruction", "contract", "x"]), st.sampled_from(["JVBERg", "a b", 7, None])),
    st.lists(
        st.builds(
            Resource, st.sampled_from(["git", "folder", "due list"]), st.sampled_from(["read", "read-write", "x"])
        ),
        max_size=3,
    ).map(tuple),
    st.none() | st.lists(st.sampled_from(AUTHORITY), max_size=4).map(tuple),
    st.none() | MONEY,
    st.builds(Budget, st.none() | st.floats(NOW - 10, NOW + 10_000), st.none() | MONEY),
    st.dictionaries(
        st.sampled_from(["voice", "pages", "model", "y"]), st.sampled_from(["a", 3, 11, True, "example/b"])
    ),
)


@given(ASKED)
def test_what_is_admitted_is_never_beyond_what_is_declared(asked: Asked) -> None:
    agent = replace(AGENT, run_config=view(WHOLE).run_config)
    order = judged(agent, asked)
    if not isinstance(order, EntrywayError):
        assert_inside(agent, asked, order)
