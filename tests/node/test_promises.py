"""What a Descriptor promises of work is applied where it is done, or said: a row of the table for each promise."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from descriptor.checker import Severity
from node.handlers.settings import Served, read_handlers
from node.home import Home
from node.promises import unapplied
from tests.node.parts import draft, new_home, told

OFFERING: dict[str, Any] = {"id": "sort", "name": "Sort", "description": "Sorts.", "inputs": [], "outputs": []}
COMMAND, SERVICE = {"command": ["sort"]}, {"http": "http://127.0.0.1:8000/"}
MONEY = {"amount_micro": 5_000_000, "currency": "EUR"}
RULE, MODEL = {"decided_by": "rule"}, {"decided_by": "model"}
PROMISE = {
    "job_seconds": {"most": 60, **RULE},
    "cost_per_job": {"most": MONEY, **RULE},
    "spend_per_job": {"most": MONEY, **RULE},
    "messages_per_job": {"most": 3, **RULE},
}


def ceilings(name: str, **other: Any) -> dict[str, Any]:
    return {"offerings": [{**OFFERING, "ceilings": {name: {**PROMISE[name], **other}}}]}


def ceiling_of(name: str) -> tuple[str, str]:
    return "served-ceiling", f"/offerings/0/ceilings/{name}/decided_by"


def offering(**members: Any) -> dict[str, Any]:
    return {"offerings": [{**OFFERING, **members}]}


def agent(**members: Any) -> dict[str, Any]:
    return {"offerings": [OFFERING], **members}


def enforcing(*what: str, by: dict[str, Any] = COMMAND) -> dict[str, Any]:
    return {**by, "enforces": list(what)}


BY_RULE = offering(authority=[], authority_decided_by="rule")
BUDGET = agent(limits={"model_budget_per_day": {"most": 1000, **RULE}})
CLEAN = agent(data_use={"memory": "starts-clean-each-job"})
RETENTION = agent(data_use={"retention": {"max_days": 7}})

# The document, what stands behind "sort" (None: nothing), and what is said of it: a rule, its severity and its place.
CASES: list[tuple[str, dict[str, Any], dict[str, Any] | None, tuple[str, str] | None]] = [
    ("an offering with a handler", agent(), COMMAND, None),
    ("an offering without one", agent(), None, ("served-no-handler", "/offerings/0")),
    ("a handler without an offering", {"offerings": []}, COMMAND, ("served-no-offering", "/offerings")),
    ("seconds, which the node applies to a command", ceilings("job_seconds"), COMMAND, None),
    ("seconds of a service", ceilings("job_seconds"), SERVICE, ceiling_of("job_seconds")),
    ("seconds of a service that stops", ceilings("job_seconds"), enforcing("job_seconds", by=SERVICE), None),
    ("a promise of what nobody does", ceilings("cost_per_job"), None, ("served-no-handler", "/offerings/0")),
    *(
        case
        for name in ("cost_per_job", "spend_per_job", "messages_per_job")
        for case in (
            (f"{name} by rule", ceilings(name), COMMAND, ceiling_of(name)),
            (f"{name} by rule, of another", ceilings(name), enforcing("authority"), ceiling_of(name)),
            (f"{name} by rule, enforced", ceilings(name), enforcing(name), None),
            (f"{name} by a model", ceilings(name, **MODEL), COMMAND, None),
        )
    ),
    (
        "authority by rule",
        offering(authority=[], authority_decided_by="rule"),
        COMMAND,
        ("served-authority", "/offerings/0/authority_decided_by"),
    ),
    ("authority by rule, enforced", BY_RULE, enforcing("authority"), None),
    ("authority by a model", offering(authority=[], authority_decided_by="model"), COMMAND, None),
    ("a model budget by rule", BUDGET, COMMAND, ("served-budget", "/limits/model_budget_per_day/decided_by")),
    ("a model budget by rule, enforced", BUDGET, enforcing("model_budget_per_day"), None),
    ("a retention shorter than what is kept", RETENTION, COMMAND, ("served-retention", "/data_use/retention/max_days")),
    ("a clean start of a process", CLEAN, COMMAND, None),
    ("a clean start of a service", CLEAN, SERVICE, ("served-memory", "/data_use/memory")),
    ("a clean start of a service, enforced", CLEAN, enforcing("starts-clean-each-job", by=SERVICE), None),
    (
        "revisions",
        offering(revisions={"included": {"count": 1, "window_days": 7}, "flat": MONEY}),
        COMMAND,
        ("served-revisions", "/offerings/0/revisions"),
    ),
]
WARNINGS = {"served-no-handler", "served-no-offering", "served-memory", "served-revisions"}


@pytest.mark.parametrize(("document", "handler", "said"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_promise_is_applied_or_said(
    document: dict[str, Any], handler: dict[str, Any] | None, said: tuple[str, str] | None
) -> None:
    found = unapplied(document, Served(read_handlers({} if handler is None else {"sort": handler}), 30.0))
    assert [(one.rule, one.pointer) for one in found] == ([] if said is None else [said])
    for one in found:
        assert one.severity is (Severity.WARNING if one.rule in WARNINGS else Severity.ERROR)
        assert one.message.endswith(".")
        assert one.remedy.endswith(".")


@pytest.mark.parametrize(("keep_days", "kept"), [(7.0, True), (7.001, False), (0.0, True)])
def test_outcomes_are_kept_no_longer_than_is_said(keep_days: float, kept: bool) -> None:
    assert (unapplied(RETENTION, Served(read_handlers({"sort": COMMAND}), keep_days)) == ()) is kept


# The commands that say it.

BROKEN = draft("1", **ceilings("cost_per_job"))
SETTINGS = '[agent]\nacts_for = "person"\n\n[handlers.sort]\ncommand = ["sort"]\n'


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = new_home(tmp_path / "home")
    home.config.write_text(SETTINGS)
    yield home


def test_check_holds_promises_against_a_node_only_where_it_is_asked_to(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "draft.json"
    file.write_bytes(BROKEN)
    assert told("check", file, "--json", home=home).exit_code == 0
    ended = told("check", file, "--as-served", "--json", home=home)
    assert ended.exit_code == 1
    assert [one["rule"] for one in ended.document()["findings"] if one["severity"] == "error"] == ["served-ceiling"]
    home.config.write_text(SETTINGS + 'enforces = ["cost_per_job"]\n')
    assert told("check", file, "--as-served", "--json", home=home).exit_code == 0


def test_what_nobody_does_is_a_warning_which_strict_heeds(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "draft.json"
    file.write_bytes(draft("1", **agent()))
    home.config.write_text('[agent]\nacts_for = "person"\n')
    assert told("check", file, "--as-served", home=home).exit_code == 0
    assert "Nothing stands behind the offering" in told("check", file, "--as-served", home=home).out
    assert told("check", file, "--as-served", "--strict", home=home).exit_code == 1


def test_a_promise_that_nothing_applies_is_not_published(home: Home) -> None:
    error = told("publish", "-", "--json", home=home, stdin=BROKEN).error()
    assert (error["code"], error["pointer"]) == (
        "PROMISE_NOT_APPLIED",
        "/offerings/0/ceilings/cost_per_job/decided_by",
    )
    assert "enforces" in error["message"]
    assert told("history", "--json", home=home).document()["versions"] == []


def test_an_offering_that_nothing_does_is_published_with_a_warning(home: Home) -> None:
    home.config.write_text('[agent]\nacts_for = "person"\n')
    ended = told("publish", "-", "--json", home=home, stdin=draft("1", **agent()))
    assert ended.exit_code == 0
    assert "served-no-handler" in json.dumps(ended.document())
