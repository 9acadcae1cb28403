"""A directory returns what is declared, fails closed, and never lets an offering claim more than it does."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from descriptor.directory import Query, search
from descriptor.view import Money, view
from tests.descriptor.rules.cases import OFFERING, draft, without
from tests.descriptor.rules.test_6_11 import CHAPTER
from tests.descriptor.whole import WHOLE

OPEN: dict[str, Any] = {
    **without(CHAPTER, "focus", "role"),
    "id": "anything",
    "scope": "open-ended",
    "name": "Contracts",
}
USE = WHOLE["data_use"]
AGENT = view(draft(offerings=[OFFERING, CHAPTER, OPEN], data_use=USE, compliance=WHOLE["compliance"]))
SILENT = view(draft(offerings=[OFFERING, CHAPTER, OPEN]))


def stated(case: object) -> str:
    """A query by what it asks for; sets in order, so that a test has the same name in every process."""
    if not isinstance(case, Query):
        return str(case)
    asked = {name: value for name, value in dataclasses.asdict(case).items() if value is not None}
    return ", ".join(f"{name}={sorted(v) if isinstance(v, frozenset) else v}" for name, v in asked.items())


def ids(query: Query, agent: Any = AGENT) -> list[str | None]:
    return [match.offering.id for match in search([agent], query)]


@pytest.mark.parametrize(
    ("wanting", "found"),
    [
        ("read contract", ["read"]),
        ("CONTRACT", ["read"]),
        ("ｃｏｎｔｒａｃｔ", ["read"]),
        ("obligations, contract!", ["read"]),
        ("repository", []),
        ("change a repository", []),
        ("contracts", []),
        ("", []),
        ("?", []),
    ],
)
def test_work_wanted_is_matched_by_words_of_named_work_alone(wanting: str, found: list[str]) -> None:
    assert ids(Query(wanting=wanting)) == found


def test_an_open_ended_offering_is_listed_when_it_is_asked_for_and_never_by_work() -> None:
    assert ids(Query()) == ["read", "change-a-repository"]
    assert ids(Query(scope="open-ended")) == ["anything"]
    assert "anything" in ids(Query(authority=frozenset(CHAPTER["authority"])))
    assert "anything" in ids(Query(ceilings={"job_seconds": 3600}))
    assert "anything" in ids(Query(max_days=30))
    assert "anything" in ids(Query(jurisdictions=frozenset({"de", "fr"})))
    assert ids(Query(scope="open-ended", wanting="contracts")) == []
    assert ids(Query(max_days=30, wanting="contracts")) == []
    assert ids(Query(acts_for="person")) == []
    assert "anything" not in ids(Query(ceilings={}, promises=frozenset(), compliance=frozenset()))


def test_an_open_with_focus_offering_is_found_by_focus_and_role_and_shown_as_one() -> None:
    (match,) = search([AGENT], Query(focus="software"))
    assert match.by_work is False
    assert match.shown() == {
        "id": "change-a-repository",
        "name": "Change a repository",
        "scope": "open-with-focus",
        "focus": "software",
        "role": "role-code-writer",
        "authority": ["reads-files", "writes-files", "runs-commands"],
        "authority_decided_by": "rule",
        "ceilings": CHAPTER["ceilings"],
    }
    assert ids(Query(role="role-code-writer")) == ["change-a-repository"]
    assert ids(Query(focus="software", wanting="change a repository")) == []
    assert ids(Query(focus="data")) == []


def test_a_focus_that_is_not_recognized_finds_nothing() -> None:
    unknown_focus = draft(offerings=[{**CHAPTER, "focus": "cooking"}])
    unknown = view(unknown_focus)
    assert ids(Query(focus="cooking"), unknown) == []
    assert ids(Query(role="role-code-writer"), unknown) == []
    assert ids(Query(role="role-code-writer", scope="open-ended"), unknown) == []
    assert ids(Query(role="role-code-writer", max_days=30), view({**unknown_focus, "data_use": USE})) == []
    assert ids(Query(scope="open-ended"), unknown) == ["change-a-repository"]


@pytest.mark.parametrize(
    ("query", "met"),
    [
        (Query(authority=frozenset(CHAPTER["authority"])), True),
        (Query(authority=frozenset({"reads-files"})), False),
        (Query(authority=frozenset()), False),
        (Query(ceilings={"job_seconds": 3600}), True),
        (Query(ceilings={"job_seconds": 3599}), False),
        (Query(ceilings={"cost_per_job": Money(20_000_000, "USD")}), True),
        (Query(ceilings={"cost_per_job": Money(19_999_999, "USD")}), False),
        (Query(ceilings={"cost_per_job": Money(20_000_000, "EUR")}), False),
        (Query(ceilings={"cost_per_job": 20_000_000}), False),
        (Query(ceilings={"messages_per_job": 5}), False),
        (Query(promises=frozenset({"no_training"})), True),
        (Query(promises=frozenset({"no_logging"})), False),
        (Query(max_days=30), True),
        (Query(max_days=29), False),
        (Query(memory="remembers-across-jobs"), True),
        (Query(memory="starts-clean-each-job"), False),
        (Query(jurisdictions=frozenset({"de", "fr", "us"})), True),
        (Query(jurisdictions=frozenset({"de"})), False),
        (Query(compliance=frozenset({"iso-27001"})), True),
        (Query(compliance=frozenset({"iso"})), False),
    ],
    ids=stated,
)
def test_a_requirement_is_met_by_what_is_declared(query: Query, met: bool) -> None:
    assert ("change-a-repository" in ids(query)) == met


@pytest.mark.parametrize(
    "query",
    [
        Query(promises=frozenset({"no_training"})),
        Query(max_days=3650),
        Query(memory="starts-clean-each-job"),
        Query(jurisdictions=frozenset({"de"})),
        Query(compliance=frozenset({"iso-27001"})),
        Query(acts_for="person"),
    ],
    ids=stated,
)
def test_silence_does_not_meet_a_requirement(query: Query) -> None:
    assert ids(query, SILENT) == []


def test_an_authority_that_is_not_stated_is_not_empty() -> None:
    assert ids(Query(authority=frozenset()), view(draft(offerings=[OFFERING]))) == []
    assert ids(Query(authority=frozenset()), view(draft(offerings=[{**OFFERING, "authority": []}]))) == ["read"]
    assert ids(Query(authority=frozenset({"x"})), view(draft(offerings=[{**OFFERING, "authority": ["x"]}]))) == []


def test_matches_come_in_the_order_of_what_was_given() -> None:
    matches = [*search([SILENT, AGENT], Query())]
    assert [match.agent for match in matches] == [SILENT, SILENT, AGENT, AGENT]
