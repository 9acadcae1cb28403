"""Section 15: a check passes only on knowledge, and a contract is no better than its checks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfile.evaluation import CheckResult, Decision, Facts, Outcome, SourceFacts, decide, run_checks

SOURCE: dict[str, Any] = {
    "id": "book",
    "label": "Book",
    "role": "working",
    "kind": "file",
    "required": True,
    "access": {"capabilities": ["read", "cite", "sync"]},
}
WRITABLE = {
    **SOURCE,
    "access": {"capabilities": ["read", "write"], "boundaries": ['Sheet "Summary": B2:H40', "folder: /Drafts"]},
}


def source(**members: Any) -> dict[str, Any]:
    return {**SOURCE, **members}


def fresh(**members: Any) -> dict[str, Any]:
    return source(freshness={"mode": "snapshot", "onStale": "fail", **members})


def check(kind: str, **members: Any) -> dict[str, Any]:
    return {"id": "c", "name": "C", "type": kind, "phase": "post-run", "severity": "error", **members}


def result(one: dict[str, Any], facts: Facts, sources: list[dict[str, Any]] | None = None, **agent: Any) -> CheckResult:
    contract = {"version": 1, "failurePolicy": "block", "checks": [one]}
    (found,) = run_checks({"sources": [SOURCE] if sources is None else sources, "evaluation": contract, **agent}, facts)
    assert found.id == one["id"]
    assert found.reason
    return found


def of_book(**known: Any) -> Facts:
    return Facts(sources={"book": SourceFacts(**{"bound": True, **known})})


ALL = frozenset({"read", "cite", "sync", "write"})


@pytest.mark.parametrize(
    ("facts", "outcome"),
    [
        (of_book(proven=ALL), "passed"),
        (of_book(proven=frozenset({"read", "cite", "sync"})), "passed"),
        (of_book(proven=frozenset({"read", "cite"})), "failed"),
        (of_book(), "failed"),
        (of_book(bound=False, proven=ALL), "failed"),
        (Facts(), "failed"),
    ],
)
def test_source_ready_needs_every_declared_capability_proven(facts: Facts, outcome: str) -> None:
    assert result(check("source-ready", sourceIds=["book"]), facts).outcome == outcome
    assert result(check("source-ready"), facts).outcome == outcome


def test_a_check_that_names_no_source_is_about_those_it_can_be_about() -> None:
    optional = source(id="extra", required=False)
    assert result(check("source-ready"), of_book(proven=ALL), [SOURCE, optional]).outcome == "passed"
    assert (
        result(check("source-ready", sourceIds=["extra"]), of_book(proven=ALL), [SOURCE, optional]).outcome == "failed"
    )
    for kind in ("source-ready", "freshness", "citation", "write-boundary"):
        found = result(check(kind), of_book(proven=ALL), [optional])
        assert (found.outcome, found.reason) == ("undecided", "It is about no source, so there is nothing to check.")


def test_one_source_that_fails_fails_the_check() -> None:
    both = [SOURCE, source(id="other")]
    facts = Facts(sources={"book": SourceFacts(True, ALL), "other": SourceFacts(True)})
    found = result(check("source-ready", sourceIds=["book", "other"]), facts, both)
    assert found.outcome == "failed"
    assert found.reason == "Source 'other' is not proven to cite, read, sync."


@pytest.mark.parametrize(
    ("declared", "facts", "outcome"),
    [
        (fresh(), of_book(), "passed"),
        (fresh(), Facts(), "failed"),
        (fresh(maxAgeSeconds=60), of_book(age=60), "passed"),
        (fresh(maxAgeSeconds=60), of_book(age=60.5), "failed"),
        (fresh(maxAgeSeconds=60), of_book(age=float("nan")), "failed"),
        (fresh(maxAgeSeconds=60), of_book(), "undecided"),
        (fresh(mode="on-run"), of_book(current=True), "passed"),
        (fresh(mode="on-run"), of_book(current=False), "failed"),
        (fresh(mode="on-run"), of_book(), "undecided"),
        (fresh(mode="watch", maxAgeSeconds=60), of_book(current=True, age=61), "failed"),
        (fresh(mode="watch", maxAgeSeconds=60), of_book(current=True, age=0), "passed"),
        (SOURCE, of_book(current=True, age=0), "undecided"),
    ],
)
def test_freshness_is_what_the_source_declares(declared: dict[str, Any], facts: Facts, outcome: str) -> None:
    found = result(check("freshness", sourceIds=["book"]), facts, [declared])
    assert (found.outcome, found.severity) == (outcome, "error")


def test_what_is_to_warn_when_stale_warns() -> None:
    warns = fresh(maxAgeSeconds=60, onStale="warn")
    found = result(check("freshness"), of_book(age=61), [warns])
    assert (found.outcome, found.severity) == ("failed", "warning")
    assert result(check("freshness"), Facts(), [warns]).severity == "error"
    other = {**fresh(maxAgeSeconds=60), "id": "other"}
    facts = Facts(sources={"book": SourceFacts(True, age=61), "other": SourceFacts(True, age=61)})
    assert result(check("freshness"), facts, [warns, other]).severity == "error"


@pytest.mark.parametrize(
    ("cited", "outcome"),
    [(None, "undecided"), (frozenset(), "failed"), (frozenset({"other"}), "failed"), (frozenset({"book"}), "passed")],
)
def test_citation_needs_the_source_cited(cited: frozenset[str] | None, outcome: str) -> None:
    assert result(check("citation", sourceIds=["book"]), Facts(cited=cited)).outcome == outcome
    truth = {"authority": "authoritative", "conflictPolicy": "fail", "citations": "required"}
    assert result(check("citation"), Facts(cited=cited), [source(truth=truth)]).outcome == outcome


@pytest.mark.parametrize(
    ("declared", "written", "outcome"),
    [
        (WRITABLE, None, "undecided"),
        (WRITABLE, (), "passed"),
        (WRITABLE, ('sheet "summary": C3', "folder: /Drafts/a"), "passed"),
        (WRITABLE, ('Sheet "Summary": C3', "folder: /Sent/a"), "failed"),
        (WRITABLE, ("elsewhere",), "failed"),
        (SOURCE, (), "passed"),
        (SOURCE, ("folder: /a",), "failed"),
        (source(access={"capabilities": ["append"]}), ("folder: /a",), "undecided"),
    ],
)
def test_write_boundary_needs_every_place_inside(
    declared: dict[str, Any], written: tuple[str, ...] | None, outcome: str
) -> None:
    found = result(check("write-boundary", sourceIds=["book"]), of_book(written=written), [declared])
    assert found.outcome == outcome


@pytest.mark.parametrize(
    ("outputs", "output", "outcome"),
    [
        ({"shape": "text"}, "a", "passed"),
        ({"shape": "text"}, " \n", "failed"),
        ({"shape": "void"}, "", "passed"),
        ({"shape": "void"}, "a", "failed"),
        ({"shape": "json"}, "[1]", "passed"),
        ({"shape": "json"}, "", "failed"),
        ({"shape": "json"}, "```json\n[1]\n```", "failed"),
        ({"shape": "json"}, '{"a": 1, "a": 2}', "failed"),
        ({"shape": "json"}, '"\ud800"', "failed"),
        ({"shape": "json", "schema": {"type": "array"}}, "[1]", "passed"),
        ({"shape": "json", "schema": {"type": "array"}}, "{}", "failed"),
        ({"shape": "json", "schema": {"pattern": "a"}}, '"a"', "undecided"),
        ({"shape": "json", "schema": {"$ref": "#"}}, "1", "undecided"),
        ({"shape": "text"}, None, "undecided"),
        ({}, "a", "undecided"),
    ],
)
def test_output_schema_is_what_outputs_declares(outputs: dict[str, Any], output: str | None, outcome: str) -> None:
    assert result(check("output-schema"), Facts(output=output), outputs=outputs).outcome == outcome


def test_a_file_without_outputs_leaves_its_output_undecided() -> None:
    assert result(check("output-schema"), Facts(output="a")).outcome == "undecided"


@pytest.mark.parametrize("kind", ["invariant", "custom"])
def test_an_assertion_in_prose_is_for_a_judge(kind: str) -> None:
    asserted = check(kind, assertion="Totals add up.", config={"rows": 3})
    assert result(asserted, Facts()).outcome == "undecided"
    assert "'Totals add up.'" in result(asserted, Facts()).reason
    assert result(asserted, Facts(judged={"c": True})).outcome == "passed"
    assert result(asserted, Facts(judged={"c": False})).outcome == "failed"
    assert result(asserted, Facts(judged={"d": True})).outcome == "undecided"


def test_nothing_passes_by_a_judge_that_can_be_told_from_facts() -> None:
    assert result(check("source-ready"), Facts(judged={"c": True})).outcome == "failed"


def test_a_config_that_the_format_does_not_define_leaves_a_check_undecided() -> None:
    ready, missing = of_book(proven=ALL), of_book()
    assert result(check("source-ready", config={"retries": 3}), ready).outcome == "undecided"
    assert result(check("source-ready", config={"retries": 3}), missing).outcome == "failed"
    assert result(check("source-ready", config={}), ready).outcome == "passed"


def test_a_type_that_nobody_knows_is_undecided() -> None:
    assert result(check("vibes"), Facts()).outcome == "undecided"


def test_checks_are_run_by_phase_in_the_order_of_the_file() -> None:
    checks = [
        check("custom", id=f"{place}", phase=phase)
        for place, phase in enumerate(["bind", "post-run", "pre-run", "bind"])
    ]
    agent = {"evaluation": {"checks": checks}}
    assert [one.id for one in run_checks(agent, Facts(), "bind")] == ["0", "3"]
    assert [one.id for one in run_checks(agent, Facts(), "pre-run")] == ["2"]
    assert [one.id for one in run_checks(agent, Facts())] == ["0", "1", "2", "3"]
    assert run_checks({}, Facts()) == ()


# --- What a contract comes to


def results(*outcomes: str) -> list[CheckResult]:
    """`+` passed, `-` failed, `?` undecided; a `w` after it: of severity warning."""
    kinds = {"+": Outcome.PASSED, "-": Outcome.FAILED, "?": Outcome.UNDECIDED}
    return [
        CheckResult(f"{place}", kinds[text[0]], "warning" if text.endswith("w") else "error", "why")
        for place, text in enumerate(outcomes)
    ]


def contract(count: int, policy: str = "block", minimum: float | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {"version": 1, "failurePolicy": policy, "checks": [{"id": f"{n}"} for n in range(count)]}
    return made if minimum is None else {**made, "minimumScore": minimum}


@pytest.mark.parametrize("policy", ["block", "require-approval", "warn"])
@pytest.mark.parametrize(
    ("outcomes", "minimum", "decision"),
    [
        (["+", "+w"], None, "proceed"),
        (["+", "+"], 1, "proceed"),
        (["+", "-w"], None, "warn"),
        (["+", "?w"], 0.5, "warn"),
        (["+", "-w"], 0.51, "policy"),
        (["+", "-"], None, "policy"),
        (["+", "?"], 0, "policy"),
        (["-", "-w"], None, "policy"),
    ],
)
def test_the_failure_policy(policy: str, outcomes: list[str], minimum: float | None, decision: str) -> None:
    found = results(*outcomes)
    verdict = decide(contract(len(found), policy, minimum), found)
    assert verdict.decision.value == (policy if decision == "policy" else decision)
    assert verdict.score == sum(text.startswith("+") for text in outcomes) / len(outcomes)
    assert verdict.reasons == tuple(one for one in found if one.outcome is not Outcome.PASSED)


def test_the_score_waits_for_every_check() -> None:
    assert decide(contract(3, minimum=1), results("+", "+w")).score is None
    assert decide(contract(3, minimum=1), results("+", "+w")).decision is Decision.PROCEED
    assert decide(contract(2, minimum=1), results("+", "-w")).decision is Decision.BLOCK
    assert decide(contract(0), []).score is None


def test_a_policy_that_nobody_knows_blocks() -> None:
    assert decide(contract(1, "shrug"), results("-")).decision is Decision.BLOCK


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "type", "checks", "sources", "config"]) | st.text(max_size=3), children
        )
    ),
    max_leaves=8,
)
KINDS = ["source-ready", "freshness", "citation", "write-boundary", "output-schema", "invariant", "custom"]
CHECKS = st.fixed_dictionaries(
    {"id": st.sampled_from("abc"), "type": st.sampled_from(KINDS)},
    optional={"sourceIds": ANY, "severity": ANY, "config": ANY, "assertion": ANY, "phase": ANY},
)


@given(st.lists(CHECKS, max_size=4), ANY, ANY, st.text(max_size=5) | st.none())
def test_running_and_deciding_never_raise_and_nothing_known_passes_nothing(
    checks: list[Any], sources: Any, outputs: Any, output: str | None
) -> None:
    agent: dict[str, Any] = {
        "evaluation": {"checks": checks, "failurePolicy": "block"},
        "sources": sources,
        "outputs": outputs,
    }
    found = run_checks(agent, Facts(output=output))
    assert len(found) == len(checks)
    assert not any(one.outcome is Outcome.PASSED for one in run_checks(agent, Facts()))
    verdict = decide(agent["evaluation"], found)
    assert (verdict.decision is Decision.PROCEED) == all(one.outcome is Outcome.PASSED for one in found)
