"""Chapter 6.11: what each scope declares, what an offering may touch, and what it is held to."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from descriptor.checker import check
from descriptor.pointers import pointer_to
from descriptor.rules.chapter import RULES
from descriptor.rules.forms import Path
from descriptor.vocabulary import AUTHORITY, FOCUSES
from tests.descriptor.rules.cases import OFFERING, Case, accepted, bound, draft, judge, offering, refused, without
from tests.descriptor.whole import WHOLE

# The example of the chapter.
CHAPTER: dict[str, Any] = {
    "id": "change-a-repository",
    "name": "Change a repository",
    "description": "Makes the change an instruction asks for in one code repository and opens it for review.",
    "scope": "open-with-focus",
    "focus": "software",
    "role": "role-code-writer",
    "inputs": [{"name": "instruction", "kind": "text", "required": True}],
    "outputs": [
        {"name": "change", "kind": "identifier", "when": "per_task"},
        {"name": "summary", "kind": "text/markdown", "when": "per_task"},
    ],
    "workspace": [
        {"kind": "git", "access": "read-write", "for": "the repository the change is made in, on a branch of its own"}
    ],
    "authority": ["reads-files", "writes-files", "runs-commands"],
    "authority_decided_by": "rule",
    "ceilings": {
        "job_seconds": {"most": 3600, "decided_by": "rule"},
        "cost_per_job": {"most": {"amount_micro": 20000000, "currency": "USD"}, "decided_by": "rule"},
    },
}
SPEND = {"most": {"amount_micro": 5_000_000, "currency": "EUR"}, "decided_by": "rule"}
MESSAGES = {"most": 3, "decided_by": "model"}
DATA_USE: dict[str, Any] = {
    "retention": {"max_days": 30},
    "processors": ["Example Models"],
    "memory": "starts-clean-each-job",
}
SYSTEMS = [{"name": name, "access": name, "needs": "the work"} for name in ("read", "write", "trigger")]
AT = "/offerings/0"
ANYTHING: tuple[Any, ...] = (None, True, 0, -1.5, "", "x", [], ["x", None, []], {}, {"x": {}}, [[{}]])


def focused(*left_out: str, **changes: Any) -> dict[str, Any]:
    """A draft with the chapter's offering, changed."""
    return draft(offerings=[{**without(CHAPTER, *left_out), **changes}])


def open_ended(*left_out: str, **changes: Any) -> dict[str, Any]:
    """A draft with an open-ended offering and the data use that goes with it."""
    opened = {**without(CHAPTER, "focus", "role", "workspace", *left_out), "scope": "open-ended", "authority": []}
    return draft(offerings=[{**without(opened, *left_out), **changes}], data_use=DATA_USE)


def held(**ceilings: Any) -> dict[str, Any]:
    """The chapter's offering with other ceilings beside the two it carries."""
    return focused(ceilings={**CHAPTER["ceilings"], **ceilings})


CASES: list[Case] = [
    *accepted(
        "D6.11-scope", offering(scope="task-specific"), offering(), focused(), open_ended(), bound(offerings=[CHAPTER])
    ),
    *refused(
        "D6.11-scope",
        *((offering(scope=scope), f"{AT}/scope") for scope in ("any", "Open-Ended", None, ["open-ended"])),
    ),
    *accepted("D6.11-focus", *(focused(focus=focus) for focus in FOCUSES)),
    *refused(
        "D6.11-focus",
        (focused("focus"), f"{AT}/focus"),
        (focused(focus="cooking"), f"{AT}/focus"),
        (focused(focus=["software"]), f"{AT}/focus"),
        (offering(focus="cooking"), f"{AT}/focus"),
    ),
    *accepted("D6.11-focus-unused", focused()),
    *refused(
        "D6.11-focus-unused",
        (offering(focus="data"), f"{AT}/focus"),
        (open_ended(focus="data"), f"{AT}/focus"),
    ),
    *accepted("D6.11-role", focused(), open_ended()),
    *refused("D6.11-role", (focused("role"), f"{AT}/role")),
    *accepted("D6.11-role-name", offering(role="role-reader")),
    *refused("D6.11-role-name", (focused(role=7), f"{AT}/role"), (offering(role=""), f"{AT}/role")),
    *accepted(
        "D6.11-workspace",
        focused(workspace=[], authority=[]),
        offering(workspace=[{"kind": "git", "access": "read", "for": "reading"}]),
        {**focused(workspace=[{"system": "write"}]), "systems": SYSTEMS},
    ),
    *refused(
        "D6.11-workspace",
        (focused("workspace"), f"{AT}/workspace"),
        (offering(workspace={}), f"{AT}/workspace"),
        (offering(workspace=["git"]), f"{AT}/workspace/0"),
        (offering(workspace=[{"access": "read", "for": "x"}]), f"{AT}/workspace/0/kind"),
        (offering(workspace=[{"kind": "git", "for": "x"}]), f"{AT}/workspace/0/access"),
        (offering(workspace=[{"kind": "git", "access": "write", "for": "x"}]), f"{AT}/workspace/0/access"),
        (offering(workspace=[{"kind": "git", "access": "read"}]), f"{AT}/workspace/0/for"),
        ({**offering(workspace=[{"system": "read", "kind": "git"}]), "systems": SYSTEMS}, f"{AT}/workspace/0/kind"),
        (offering(workspace=[{"system": 7}]), f"{AT}/workspace/0/system"),
    ),
    *accepted(
        "D6.11-workspace-system",
        {**offering(workspace=[{"system": "read"}]), "systems": SYSTEMS},
        {**offering(workspace=[{"system": "read", "access": "read"}]), "systems": SYSTEMS},
        {
            **offering(workspace=[{"system": "read", "access": "write"}]),
            "systems": [*SYSTEMS, {**SYSTEMS[0], "access": "write"}],
        },
    ),
    *refused(
        "D6.11-workspace-system",
        ({**offering(workspace=[{"system": "elsewhere"}]), "systems": SYSTEMS}, f"{AT}/workspace/0/system"),
        (offering(workspace=[{"system": "elsewhere", "access": "read"}]), f"{AT}/workspace/0/system"),
        *(
            (
                {**offering(workspace=[{"system": "write", "access": access}]), "systems": SYSTEMS},
                f"{AT}/workspace/0/access",
            )
            for access in ("read", "read-write", None)
        ),
    ),
    *accepted(
        "D6.11-authority",
        offering(authority=[]),
        {**held(spend_per_job=SPEND, messages_per_job=MESSAGES), "systems": SYSTEMS},
        {
            **draft(
                offerings=[
                    {
                        **CHAPTER,
                        "authority": [*AUTHORITY],
                        "ceilings": {**CHAPTER["ceilings"], "spend_per_job": SPEND, "messages_per_job": MESSAGES},
                    }
                ]
            ),
            "systems": SYSTEMS,
        },
    ),
    *refused(
        "D6.11-authority",
        (offering(authority="reads-files"), f"{AT}/authority"),
        (open_ended(authority=None), f"{AT}/authority"),
        (offering(authority=["reads-minds"]), f"{AT}/authority/0"),
        (offering(authority=["reaches-network", 7, ["runs-commands"]]), (f"{AT}/authority/1", f"{AT}/authority/2")),
        (offering(authority=["reads-minds", "reads-minds"]), (f"{AT}/authority/0", f"{AT}/authority/1")),
    ),
    *accepted("D6.11-authority-stated", open_ended(), focused(workspace=[], authority=[]), offering()),
    *refused(
        "D6.11-authority-stated",
        (focused("authority"), f"{AT}/authority"),
        (open_ended("authority"), f"{AT}/authority"),
    ),
    *accepted("D6.11-authority-once", offering(authority=["reaches-network", "runs-commands"])),
    *refused(
        "D6.11-authority-once",
        (
            offering(authority=["runs-commands", "reaches-network", "runs-commands", "runs-commands"]),
            (f"{AT}/authority/2", f"{AT}/authority/3"),
        ),
    ),
    *accepted("D6.11-authority_decided_by", offering(authority=[], authority_decided_by="model")),
    *refused(
        "D6.11-authority_decided_by",
        *((offering(authority_decided_by=word), f"{AT}/authority_decided_by") for word in ("me", True, None)),
    ),
    *accepted(
        "D6.11-authority-systems",
        *(
            {**offering(authority=[value]), "systems": [SYSTEMS[place]]}
            for place, value in enumerate(("reads-systems", "updates-systems", "triggers-systems"))
        ),
        {**offering(authority=["reads-systems"]), "systems": [SYSTEMS[1], SYSTEMS[0]]},
    ),
    *refused(
        "D6.11-authority-systems",
        (offering(authority=["reaches-network", "reads-systems"]), f"{AT}/authority/1"),
        ({**offering(authority=["updates-systems"]), "systems": [SYSTEMS[0], SYSTEMS[2]]}, f"{AT}/authority/0"),
        ({**offering(authority=["triggers-systems"]), "systems": SYSTEMS[:2]}, f"{AT}/authority/0"),
    ),
    *accepted("D6.11-authority-files", offering(authority=["reads-files"]), focused()),
    *refused(
        "D6.11-authority-files",
        (focused(workspace=[]), (f"{AT}/authority/0", f"{AT}/authority/1")),
        (focused(workspace=[{"kind": "git", "access": "read", "for": "reading"}]), f"{AT}/authority/1"),
    ),
    *accepted("D6.11-outputs", focused(), open_ended("outputs")),
    *refused("D6.11-outputs", (focused("outputs"), f"{AT}/outputs"), (focused(outputs=[]), f"{AT}/outputs")),
    *accepted("D6.11-instruction", focused(), open_ended()),
    *refused(
        "D6.11-instruction",
        (focused("inputs"), f"{AT}/inputs"),
        (open_ended(inputs=[]), f"{AT}/inputs"),
        (focused(inputs=[{"name": "page", "kind": "url"}, {"name": "n", "kind": "text/plain"}]), f"{AT}/inputs"),
    ),
    *accepted("D6.11-ceilings", offering(ceilings={}), offering(ceilings={"job_seconds": MESSAGES, "unknown": 7})),
    *refused(
        "D6.11-ceilings",
        (offering(ceilings=[]), f"{AT}/ceilings"),
        (offering(ceilings={"job_seconds": 60}), f"{AT}/ceilings/job_seconds"),
        (held(job_seconds={"decided_by": "rule"}), f"{AT}/ceilings/job_seconds/most"),
        *(
            (held(job_seconds={"most": most, "decided_by": "rule"}), f"{AT}/ceilings/job_seconds/most")
            for most in (0, 1.5, "60")
        ),
        (held(job_seconds={"most": 60, "decided_by": "me"}), f"{AT}/ceilings/job_seconds/decided_by"),
        (held(cost_per_job={"decided_by": "rule"}), f"{AT}/ceilings/cost_per_job/most"),
        (held(cost_per_job={"most": 20, "decided_by": "rule"}), f"{AT}/ceilings/cost_per_job/most"),
        (
            held(cost_per_job={"most": {"amount_micro": 1.5, "currency": "usd"}, "decided_by": "rule"}),
            (f"{AT}/ceilings/cost_per_job/most/amount_micro", f"{AT}/ceilings/cost_per_job/most/currency"),
        ),
        (held(messages_per_job={"most": -1, "decided_by": "rule"}), f"{AT}/ceilings/messages_per_job/most"),
    ),
    *accepted("D6.11-decided_by", held(job_seconds={"most": 60, "decided_by": "model"})),
    *refused("D6.11-decided_by", (held(job_seconds={"most": 60}), f"{AT}/ceilings/job_seconds/decided_by")),
    *accepted("D6.11-open-ceilings", focused(), open_ended(), offering(ceilings={})),
    *refused(
        "D6.11-open-ceilings",
        (focused("ceilings"), (f"{AT}/ceilings/job_seconds", f"{AT}/ceilings/cost_per_job")),
        (focused(ceilings=without(CHAPTER["ceilings"], "job_seconds")), f"{AT}/ceilings/job_seconds"),
        (open_ended(ceilings=without(CHAPTER["ceilings"], "cost_per_job")), f"{AT}/ceilings/cost_per_job"),
    ),
    *accepted("D6.11-spend_per_job", offering(authority=["spends-money"], ceilings={"spend_per_job": SPEND})),
    *refused(
        "D6.11-spend_per_job",
        (offering(authority=["spends-money"]), f"{AT}/ceilings/spend_per_job"),
        (focused(authority=["spends-money"]), f"{AT}/ceilings/spend_per_job"),
    ),
    *accepted(
        "D6.11-messages_per_job", offering(authority=["sends-messages"], ceilings={"messages_per_job": MESSAGES})
    ),
    *refused(
        "D6.11-messages_per_job",
        (offering(authority=["sends-messages"], ceilings={}), f"{AT}/ceilings/messages_per_job"),
    ),
    *accepted("D6.11-data_use", open_ended(), focused()),
    *refused(
        "D6.11-data_use",
        (
            without(open_ended(), "data_use"),
            ("/data_use/retention", "/data_use/processors", "/data_use/memory"),
        ),
        ({**open_ended(), "data_use": without(DATA_USE, "memory")}, "/data_use/memory"),
        ({**open_ended(), "data_use": without(DATA_USE, "processors"), "handling_ref": "x"}, "/data_use/processors"),
    ),
    *accepted("D6.11-data_use-elsewhere", {**open_ended(), "handling_ref": "the handling document"}),
    *refused(
        "D6.11-data_use-elsewhere",
        ({**without(open_ended(), "data_use"), "handling_ref": "the handling document"}, "/handling_ref"),
    ),
    *accepted("D6.11-agent-level", offering(scope="task-specific")),
    *refused(
        "D6.11-agent-level",
        *((draft(scope=scope), "/scope") for scope in ("task-specific", "mixed", None, ["open-ended"])),
        ({**focused(), "scope": "open-with-focus"}, "/scope"),
    ),
    *accepted("D6.11-agent-level-facts", focused()),
    *refused(
        "D6.11-agent-level-facts",
        *(
            (draft(**{name: value}), f"/{name}")
            for name, value in {
                "scopes": ["task-specific"],
                "focus": "data",
                "authority": [],
                "authority_decided_by": "rule",
                "workspace": [],
                "ceilings": {},
            }.items()
        ),
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_scope_and_authority(case: Case) -> None:
    judge(case)


@pytest.mark.parametrize(
    ("document", "rule"),
    [
        ({**offering(authority=["reads-systems"]), "systems": "a calendar"}, "D6.2-system"),
        ({**offering(authority=["reads-systems"]), "systems": [{**SYSTEMS[0], "access": "all"}]}, "D6.2-system"),
        ({**offering(workspace=[{"system": "read"}]), "systems": {}}, "D6.2-system"),
        (
            {**offering(workspace=[{"system": "read", "access": "read"}]), "systems": [{**SYSTEMS[0], "access": 7}]},
            "D6.2-system",
        ),
        (focused(inputs=[{"name": "instruction", "kind": "Text"}]), "D6.3-kind"),
        (focused(inputs="an instruction"), "D6.2-offering-sides"),
        (focused(outputs={}), "D6.2-offering-sides"),
        (focused(authority="spends-money"), "D6.11-authority"),
        (focused(ceilings=7), "D6.11-ceilings"),
        ({**without(open_ended(), "data_use"), "data_use": []}, "D6.9-data_use"),
        ({**open_ended(), "data_use": {**DATA_USE, "memory": "never"}}, "D6.9-memory"),
    ],
)
def test_one_mistake_is_told_once(document: dict[str, Any], rule: str) -> None:
    assert [finding.rule for finding in check(json.dumps(document).encode()).findings] == [rule]


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """The path of every member and entry within a value."""
    for step, inner in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield (*path, step)
        yield from places(inner, (*path, step))


def test_nothing_raises_and_a_wrong_value_is_told_once_whatever_stands_where() -> None:
    rules = [rule for rule in RULES if rule.section in ("6.9", "6.11", "6.12")]
    for path in places(WHOLE):
        for value in ANYTHING:
            document: Any = copy.deepcopy(WHOLE)
            holder = document
            for step in path[:-1]:
                holder = holder[step]
            holder[path[-1]] = value
            told = [where for rule in rules for where, _ in rule.find(document) if where == pointer_to(*path)]
            assert len(told) <= 1, (path, value)


def test_the_chapter_s_example_is_clean_in_a_bound_document() -> None:
    judge(Case("D6.11-scope", bound(offerings=[CHAPTER, OFFERING])))
