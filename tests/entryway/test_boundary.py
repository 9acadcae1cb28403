"""The boundary admits what is inside every declared bound, and refuses the rest by rule, with the reason."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptor.view import Money, view
from descriptor.vocabulary import AUTHORITY
from entryway.boundary import Admitted, Asked, Refused, Resource, judge
from tests.descriptor.rules.cases import OFFERING, draft
from tests.descriptor.rules.test_6_11 import CHAPTER
from tests.descriptor.whole import WHOLE

EURO = Money(5_000_000, "EUR")
SPENDER: dict[str, Any] = {
    **OFFERING,
    "id": "buy",
    "authority": ["spends-money", "reaches-network"],
    "ceilings": {"spend_per_job": {"most": {"amount_micro": 5_000_000, "currency": "EUR"}, "decided_by": "rule"}},
}
AGENT = view(
    draft(
        offerings=[
            OFFERING,
            CHAPTER,
            SPENDER,
            {**OFFERING, "id": "twice"},
            {**OFFERING, "id": "twice"},
            WHOLE["offerings"][2],
        ]
    )
)
REPOSITORY = Resource("git", "read-write")
CODE = "change-a-repository"

# What chapter 6.11 has every conforming node prove of itself.
FIVE: list[tuple[str, Asked, str | None, str | None]] = [
    ("an undeclared offering", Asked("nothing-like-it"), "OFFERING_NOT_FOUND", None),
    ("a kind the workspace does not name", Asked(CODE, [Resource("folder", "read")]), "SCOPE_REFUSED", "workspace"),
    (
        "an authority that is not declared",
        Asked(CODE, authority=["reads-files", "spends-money"]),
        "SCOPE_REFUSED",
        "authority",
    ),
    ("spending without a limit", Asked("buy", authority=["spends-money"]), "SCOPE_REFUSED", "spend_limit"),
    ("inside every bound", Asked(CODE, [REPOSITORY], ["reads-files", "writes-files"]), None, None),
]
MORE: list[tuple[str, Asked, str | None, str | None]] = [
    ("an id of two offerings", Asked("twice"), "OFFERING_NOT_FOUND", None),
    ("narrower access than declared", Asked(CODE, [Resource("git", "read")]), None, None),
    ("an access of no list", Asked(CODE, [Resource("git", "write")]), "SCOPE_REFUSED", "workspace"),
    ("a second resource beyond", Asked(CODE, [REPOSITORY, Resource("GIT", "read")]), "SCOPE_REFUSED", "workspace"),
    ("a resource where none is declared", Asked("read", [REPOSITORY]), "SCOPE_REFUSED", "workspace"),
    ("an authority where none is declared", Asked("read", authority=["reads-files"]), "SCOPE_REFUSED", "authority"),
    ("no authority allowed", Asked(CODE, authority=[]), None, None),
    ("spending allowed by silence, without a limit", Asked("buy"), "SCOPE_REFUSED", "spend_limit"),
    ("spending not allowed", Asked("buy", authority=["reaches-network"]), None, None),
    ("spending at the ceiling", Asked("buy", spend_limit=EURO), None, None),
    ("spending over the ceiling", Asked("buy", spend_limit=Money(5_000_001, "EUR")), "SCOPE_REFUSED", "spend_limit"),
    ("another currency", Asked("buy", spend_limit=Money(1, "USD")), "SCOPE_REFUSED", "spend_limit"),
    ("an open-ended offering within its authority", Asked("anything", authority=[]), None, None),
    ("an open-ended offering beyond it", Asked("anything", authority=["runs-commands"]), "SCOPE_REFUSED", "authority"),
]


@pytest.mark.parametrize(("what", "asked", "code", "reason"), FIVE + MORE, ids=[case[0] for case in FIVE + MORE])
def test_a_request_is_judged_by_what_is_declared(what: str, asked: Asked, code: str | None, reason: str | None) -> None:
    judged = judge(AGENT, asked)
    if code is None:
        assert isinstance(judged, Admitted)
        return
    assert isinstance(judged, Refused)
    assert (judged.code, judged.reason, judged.decided_by) == (code, reason, "rule")
    assert judged.details()["decided_by"] == "rule"
    assert judged.message.endswith(".")


def test_a_refusal_lists_what_is_allowed() -> None:
    workspace = judge(AGENT, Asked(CODE, [Resource("folder", "read")]))
    assert isinstance(workspace, Refused)
    assert workspace.details() == {
        "decided_by": "rule",
        "offering": CODE,
        "reason": "workspace",
        "allowed": [{"kind": "git", "access": "read-write"}],
    }
    authority = judge(AGENT, Asked(CODE, authority=["spends-money"]))
    assert isinstance(authority, Refused)
    assert authority.details()["allowed"] == CHAPTER["authority"]


def test_a_job_runs_under_the_narrower_list() -> None:
    narrowed = judge(AGENT, Asked(CODE, authority=["writes-files"]))
    whole = judge(AGENT, Asked(CODE))
    unstated = judge(AGENT, Asked("read"))
    assert isinstance(narrowed, Admitted)
    assert isinstance(whole, Admitted)
    assert isinstance(unstated, Admitted)
    assert (narrowed.authority, whole.authority, unstated.authority) == (
        ("writes-files",),
        tuple(CHAPTER["authority"]),
        None,
    )


def test_an_authority_that_cannot_be_read_allows_nothing() -> None:
    agent = view(draft(offerings=[{**CHAPTER, "authority": ["reads-files", "reads-minds"]}]))
    refused = judge(agent, Asked(CODE, authority=["reads-files"]))
    assert isinstance(refused, Refused)
    assert refused.reason == "authority"


@given(
    st.sampled_from(["read", CODE, "buy", "anything", "none"]),
    st.lists(
        st.builds(Resource, st.sampled_from(["git", "folder"]), st.sampled_from(["read", "read-write", "x"])),
        max_size=3,
    ),
    st.none() | st.lists(st.sampled_from(AUTHORITY), max_size=4),
    st.none() | st.builds(Money, st.integers(0, 10_000_000), st.sampled_from(["EUR", "USD"])),
)
def test_what_is_admitted_is_never_beyond_what_is_declared(
    offering: str, resources: list[Resource], authority: list[str] | None, spend_limit: Money | None
) -> None:
    judged = judge(AGENT, Asked(offering, resources, authority, spend_limit))
    if isinstance(judged, Admitted):
        declared = set(judged.offering.authority or ())
        assert set(judged.authority or ()) <= declared
        assert authority is None or set(judged.authority or ()) <= set(authority)
        assert {resource.kind for resource in resources} <= {entry.kind for entry in judged.offering.workspace or ()}
        if "spends-money" in (judged.authority or ()):
            assert spend_limit is not None
            assert (spend_limit.currency, spend_limit.amount_micro <= EURO.amount_micro) == ("EUR", True)
