"""Chapter 6.11, scope: what each offering may be asked, and what it declares because of it.

    scope               has to declare
    task-specific       its inputs and outputs (the default, and section 6.2's business)
    open-with-focus     focus, workspace, authority, at least one output, ceilings
    open-ended          authority, ceilings, and the agent its data use

A word outside its list is an error here, and is told once: what depends on it is then left alone. Workspace and
authority are looked at in `section_6_11_authority`, ceilings in `section_6_11_ceilings`.
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptor.kinds import kind_problem
from descriptor.pointers import pointer_to
from descriptor.rules import forms
from descriptor.rules.table import Document, Problem, Rule, Severity, offerings
from descriptor.strictjson import JsonValue
from descriptor.vocabulary import FOCUSES, SCOPES

_TASK_SPECIFIC, _WITH_FOCUS, _OPEN_ENDED = SCOPES
OPEN = (_WITH_FOCUS, _OPEN_ENDED)
# Facts of an offering, which would be spelled a second time beside the offerings.
_OF_AN_OFFERING = ("scopes", "focus", "workspace", "authority", "authority_decided_by", "ceilings")


def with_scope(document: Document, *scopes: str) -> Iterator[tuple[forms.Path, dict[str, JsonValue]]]:
    """The offerings with one of these scopes, each with the path that leads to it."""
    for place, offering in offerings(document):
        if offering.get("scope") in scopes:
            yield ("offerings", place), offering


def _scope(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        yield from forms.word(offering, "scope", ("offerings", place), SCOPES)


def _focus(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        required = offering.get("scope") == _WITH_FOCUS
        yield from forms.word(offering, "focus", ("offerings", place), FOCUSES, required=required)


def _focus_unused(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        if offering.get("focus") in FOCUSES and offering.get("scope", _TASK_SPECIFIC) in (_TASK_SPECIFIC, _OPEN_ENDED):
            yield (
                pointer_to("offerings", place, "focus"),
                f"A focus bounds an {_WITH_FOCUS} offering, and this one is {offering.get('scope', _TASK_SPECIFIC)}.",
            )


def _role(document: Document) -> Iterator[Problem]:
    for path, offering in with_scope(document, _WITH_FOCUS):
        if "role" not in offering:
            yield pointer_to(*path, "role"), "The offering takes any instruction within its focus and names no role."


def _role_form(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        yield from forms.text(offering, "role", ("offerings", place))


def _outputs(document: Document) -> Iterator[Problem]:
    for path, offering in with_scope(document, _WITH_FOCUS):
        if offering.get("outputs", []) == []:
            yield pointer_to(*path, "outputs"), f"An {_WITH_FOCUS} offering declares at least one deliverable."


def _instruction(document: Document) -> Iterator[Problem]:
    for path, offering in with_scope(document, *OPEN):
        inputs = offering.get("inputs", [])
        if isinstance(inputs, list) and not any(map(_may_be_instruction, inputs)):
            yield pointer_to(*path, "inputs"), "The offering takes an instruction, and no input of the kind text."


def _may_be_instruction(item: JsonValue) -> bool:
    """Whether an input is a text, or is told elsewhere to be none that can be read."""
    kind = item.get("kind") if isinstance(item, dict) else None
    return not isinstance(kind, str) or kind == "text" or kind_problem(kind) is not None


def _data_use(document: Document) -> Iterator[Problem]:
    if not any(with_scope(document, _OPEN_ENDED)) or _stands_elsewhere(document):
        return
    data_use = document.get("data_use", {})
    if isinstance(data_use, dict):
        for name in ("retention", "processors", "memory"):
            if name not in data_use:
                yield pointer_to("data_use", name), f"An offering takes any instruction, and `{name}` is not declared."


def _data_use_elsewhere(document: Document) -> Iterator[Problem]:
    if any(with_scope(document, _OPEN_ENDED)) and _stands_elsewhere(document):
        yield "/handling_ref", "An offering takes any instruction, and the data use stands where no checker looks."


def _stands_elsewhere(document: Document) -> bool:
    return "data_use" not in document and isinstance(document.get("handling_ref"), str | dict)


def _agent_level(document: Document) -> Iterator[Problem]:
    if "scope" in document:
        yield "/scope", "`scope` is declared on each offering and nowhere else."


def _agent_level_facts(document: Document) -> Iterator[Problem]:
    for name in _OF_AN_OFFERING:
        if name in document:
            yield pointer_to(name), f"`{name}` is read on each offering, and nobody reads it here."


RULES = (
    Rule(
        "D6.11-scope",
        "6.11",
        Severity.ERROR,
        "`scope` says what an offering may be asked: " + ", ".join(SCOPES) + ".",
        "Write one of the three words; readers take any other as open-ended. Absent, it is task-specific.",
        _scope,
    ),
    Rule(
        "D6.11-focus",
        "6.11",
        Severity.ERROR,
        "An open-with-focus offering names its `focus`: " + ", ".join(FOCUSES) + ".",
        "Write one of the five words; readers take an offering without a readable focus as open-ended.",
        _focus,
    ),
    Rule(
        "D6.11-focus-unused",
        "6.11",
        Severity.NOTE,
        "A focus belongs to an open-with-focus offering.",
        'Write "scope": "open-with-focus" if any instruction within the focus is taken, or take `focus` out.',
        _focus_unused,
    ),
    Rule(
        "D6.11-role",
        "6.11",
        Severity.WARNING,
        "An open-with-focus offering also names its `role`: a contract with refusals that a reader can check.",
        'Write the standard offering name of a role, such as "role": "role-code-writer".',
        _role,
    ),
    Rule(
        "D6.11-role-name",
        "6.11",
        Severity.ERROR,
        "The `role` of an offering is the name of a role of the registry.",
        "Write it as text, or leave it out.",
        _role_form,
    ),
    Rule(
        "D6.11-outputs",
        "6.11",
        Severity.ERROR,
        "An open-with-focus offering declares its deliverables.",
        'List at least one output, such as {"name": "summary", "kind": "text/markdown", "when": "per_task"}.',
        _outputs,
    ),
    Rule(
        "D6.11-instruction",
        "6.11",
        Severity.WARNING,
        "An open offering receives its instruction as an input of the kind text.",
        'List {"name": "instruction", "kind": "text", "required": true} among the inputs.',
        _instruction,
    ),
    Rule(
        "D6.11-data_use",
        "6.11",
        Severity.ERROR,
        "An agent with an open-ended offering declares its data use with retention, processors and memory.",
        "State it in `data_use`, or point at it with `handling_ref`.",
        _data_use,
    ),
    Rule(
        "D6.11-data_use-elsewhere",
        "6.11",
        Severity.NOTE,
        "The data use of an agent with an open-ended offering may stand behind `handling_ref`.",
        "See that the document there states retention, processors and memory: this checker could not look.",
        _data_use_elsewhere,
    ),
    Rule(
        "D6.11-agent-level",
        "6.11",
        Severity.ERROR,
        "A Descriptor carries no `scope` of the agent as a whole: a summary is derived from its offerings.",
        "Move it to the offerings it is true of.",
        _agent_level,
    ),
    Rule(
        "D6.11-agent-level-facts",
        "6.11",
        Severity.WARNING,
        "What goes with a scope is declared on the offering that has it.",
        "Move it to the offerings it is true of.",
        _agent_level_facts,
    ),
)
