"""The blueprint: model, prompt, guardrails, skills and caveats. Its tools are in `tools`.

Source: `.agent` format 8 and 18 (rules 5, 6, 10 and 11).
"""

from __future__ import annotations

from collections.abc import Iterator

from agentfile import columns, forms
from agentfile.columns import problems
from agentfile.forms import Path
from agentfile.rules.table import Check, Document, Problem, Severity
from agentfile.vocabulary import ARCHITECTURES, SIDE_EFFECT_GATES
from descriptor.pointers import pointer_to


def _blueprint(document: Document) -> Iterator[Problem]:
    if "blueprint" not in document:
        yield "/blueprint", "`blueprint` is missing; it has to be an object."
    yield from problems(document.top, columns.mapping("blueprint"))


def _core(document: Document) -> Iterator[Problem]:
    return problems(
        document.blueprint,
        columns.text("primaryModel", required=True),
        columns.text("systemPrompt", required=True),
        columns.items("tools", required=True),
    )


def _forms(document: Document) -> Iterator[Problem]:
    return problems(
        document.blueprint,
        columns.number("maxTokens"),
        columns.number("extendedThinkingBudget"),
        columns.mapping("guardrails"),
        columns.texts("thinkingPatterns"),
        columns.text("architecture"),
    )


def _architecture(document: Document) -> Iterator[Problem]:
    for blueprint, path in document.blueprint:
        stated = blueprint.get("architecture")
        if isinstance(stated, str) and stated not in ARCHITECTURES:
            known = ", ".join(ARCHITECTURES)
            yield pointer_to(*path, "architecture"), f"`architecture` is {forms.shown(stated)}; known are {known}."


def _guardrails(document: Document) -> Iterator[Problem]:
    return problems(document.blueprint.one("guardrails"), columns.word("sideEffectGate", SIDE_EFFECT_GATES))


def _skills(document: Document) -> Iterator[Problem]:
    yield from problems(document.blueprint, columns.objects("skills"))
    yield from problems(
        document.blueprint.each("skills"),
        columns.text("name", required=True, filled=True),
        columns.text("trigger", required=True),
        columns.text("recipe", required=True),
    )


def _skill_forms(document: Document) -> Iterator[Problem]:
    return problems(document.blueprint.each("skills"), columns.flag("verified"), columns.mapping("proof"))


def _caveats(document: Document) -> Iterator[Problem]:
    yield from problems(document.blueprint, columns.objects("caveats"))
    said = (columns.text(name, required=True) for name in ("requested", "doing", "why"))
    yield from problems(document.blueprint.each("caveats"), *said)


def _caveat_options(document: Document) -> Iterator[Problem]:
    caveats = document.blueprint.each("caveats")
    yield from problems(caveats, columns.objects("options"))
    yield from problems(
        caveats.each("options"),
        columns.text("label", required=True),
        columns.text("detail", required=True),
        columns.flag("recommended"),
    )


def _recommended(document: Document) -> Iterator[Problem]:
    recommended: set[Path] = set()
    for option, path in document.blueprint.each("caveats").each("options"):
        if option.get("recommended") is True:
            options = path[:-1]
            if options in recommended:
                yield pointer_to(*path, "recommended"), "Another option of this caveat is recommended already."
            recommended.add(options)


RULES = (
    Check(
        "R5",
        "8",
        5,
        Severity.ERROR,
        "`blueprint` is an object.",
        'Write "blueprint": {"primaryModel": …, "systemPrompt": …, "tools": []}.',
        _blueprint,
    ),
    Check(
        "R6",
        "8",
        6,
        Severity.ERROR,
        "The blueprint has the texts `primaryModel` and `systemPrompt` and the list `tools`.",
        "Name the model, write the prompt in full, and list the tools; an agent without tools has an empty list.",
        _core,
    ),
    Check(
        "S8-forms",
        "8",
        None,
        Severity.ERROR,
        "`maxTokens` and `extendedThinkingBudget` are numbers, `guardrails` is an object, `thinkingPatterns` is a list "
        "of texts, `architecture` is a text.",
        "Give the member the form named here, or leave it out.",
        _forms,
    ),
    Check(
        "S8-architecture",
        "8",
        None,
        Severity.WARNING,
        "`architecture` is one that the format knows.",
        "Use one of the words named here, or leave it out.",
        _architecture,
    ),
    Check(
        "S8.1",
        "8.1",
        None,
        Severity.ERROR,
        "`sideEffectGate` is a gate that a runtime can keep: `off`, `confirm` or `refuse`.",
        'Write "sideEffectGate": "confirm", or another of the three: a gate that nobody knows guards nothing.',
        _guardrails,
    ),
    Check(
        "R10",
        "8.2",
        10,
        Severity.ERROR,
        "A skill has a `name` that is not empty and the texts `trigger` and `recipe`.",
        "Give each skill its name, when to use it, and its steps in plain text; or leave `skills` out.",
        _skills,
    ),
    Check(
        "S8.2-forms",
        "8.2",
        None,
        Severity.ERROR,
        "Of a skill, `verified` is true or false and `proof` is an object.",
        "Give the member the form named here, or leave it out.",
        _skill_forms,
    ),
    Check(
        "R11",
        "8.3",
        11,
        Severity.ERROR,
        "A caveat has the texts `requested`, `doing` and `why`.",
        "Say of each caveat what was asked for, what is done instead, and why; or leave `caveats` out.",
        _caveats,
    ),
    Check(
        "S8.3-options",
        "8.3",
        None,
        Severity.ERROR,
        "An option of a caveat has the texts `label` and `detail`; `recommended` is true or false.",
        'Write an option as {"label": "Keep the approval step", "detail": "One tap a batch."}.',
        _caveat_options,
    ),
    Check(
        "S8.3-recommended",
        "8.3",
        None,
        Severity.ERROR,
        "At most one option of a caveat is recommended.",
        "Recommend one of them.",
        _recommended,
    ),
)
