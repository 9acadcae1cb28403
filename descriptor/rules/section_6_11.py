"""Chapter 6.11, scope and authority: what each offering may be asked, may touch, and is held to.

    scope               has to declare
    task-specific       its inputs and outputs (the default, and section 6.2's business)
    open-with-focus     focus, workspace, authority, at least one output, ceilings
    open-ended          authority, ceilings, and the agent its data use

A word outside its list is an error here, and is told once: what depends on it is then left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptor.pointers import pointer_to
from descriptor.rules import forms
from descriptor.rules.section_6_2_members import system_name
from descriptor.rules.table import Document, Problem, Rule, Severity, described, objects, offerings
from descriptor.strictjson import JsonValue
from descriptor.vocabulary import (
    AUTHORITY,
    AUTHORITY_OVER_SYSTEMS,
    CEILINGS,
    DECIDED_BY,
    FOCUSES,
    SCOPES,
    WORKSPACE_ACCESS,
)

_TASK_SPECIFIC, _WITH_FOCUS, _OPEN_ENDED = SCOPES
_OPEN = (_WITH_FOCUS, _OPEN_ENDED)
_MONEY = ("cost_per_job", "spend_per_job")
# Facts of an offering, which would be spelled a second time beside the offerings.
_OF_AN_OFFERING = ("scope", "scopes", "focus", "workspace", "authority", "authority_decided_by", "ceilings")
_FILES = {"reads-files": WORKSPACE_ACCESS, "writes-files": WORKSPACE_ACCESS[1:]}

_Offering = dict[str, JsonValue]


def _with_scope(document: Document, *scopes: str) -> Iterator[tuple[forms.Path, _Offering]]:
    for place, offering in offerings(document):
        if offering.get("scope") in scopes:
            yield ("offerings", place), offering


def _authority_of(offering: _Offering) -> list[JsonValue]:
    authority = offering.get("authority")
    return authority if isinstance(authority, list) else []


def _ceilings_of(offering: _Offering) -> dict[str, JsonValue]:
    ceilings = offering.get("ceilings")
    return ceilings if isinstance(ceilings, dict) else {}


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
    for path, offering in _with_scope(document, _WITH_FOCUS):
        if "role" not in offering:
            yield pointer_to(*path, "role"), "The offering takes any instruction within its focus and names no role."


def _role_form(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        yield from forms.text(offering, "role", ("offerings", place))


def _workspace(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        path: forms.Path = ("offerings", place)
        yield from forms.list_of_objects(offering, "workspace", path, required=offering.get("scope") == _WITH_FOCUS)
        for index, entry in objects(offering.get("workspace")):
            yield from _workspace_entry(entry, (*path, "workspace", index))


def _workspace_entry(entry: dict[str, JsonValue], path: forms.Path) -> Iterator[Problem]:
    if "system" in entry:
        yield from forms.text(entry, "system", path)
        for name in ("kind", "access"):
            if name in entry:
                yield (
                    pointer_to(*path, name),
                    f"The entry names a system, which says its own access, and a `{name}` too.",
                )
    else:
        yield from forms.text(entry, "kind", path, required=True)
        yield from forms.word(entry, "access", path, WORKSPACE_ACCESS, required=True)
    yield from forms.text(entry, "for", path, required="system" not in entry)


def _workspace_system(document: Document) -> Iterator[Problem]:
    known = {name for _, system in objects(document.get("systems")) if isinstance(name := system_name(system), str)}
    for place, offering in offerings(document):
        for index, entry in objects(offering.get("workspace")):
            name = entry.get("system")
            if isinstance(name, str) and name.strip() and name not in known:
                yield (
                    pointer_to("offerings", place, "workspace", index, "system"),
                    f"No system named {described(name)} is listed in `systems`.",
                )


def _authority(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        path: forms.Path = ("offerings", place)
        yield from forms.items(offering, "authority", path, required=offering.get("scope") in _OPEN)
        seen = set()
        for index, value in enumerate(_authority_of(offering)):
            where = pointer_to(*path, "authority", index)
            if not isinstance(value, str) or value not in AUTHORITY:
                yield where, f"{described(value)} is no authority; readers take the whole list as not stated for it."
            elif value in seen:
                yield where, f"{described(value)} stands here twice."
            else:
                seen.add(value)


def _authority_decided_by(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        yield from forms.word(offering, "authority_decided_by", ("offerings", place), DECIDED_BY)


def _authority_over_systems(document: Document) -> Iterator[Problem]:
    reached = {
        access for _, system in objects(document.get("systems")) if isinstance(access := system.get("access"), str)
    }
    for place, offering in offerings(document):
        for index, value in enumerate(_authority_of(offering)):
            access = AUTHORITY_OVER_SYSTEMS.get(value) if isinstance(value, str) else None
            if access is not None and access not in reached:
                yield (
                    pointer_to("offerings", place, "authority", index),
                    f"{described(value)} is declared, and `systems` lists none with the access {access}.",
                )


def _authority_over_files(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        entries = list(objects(offering.get("workspace")))
        if not isinstance(offering.get("workspace"), list) or any("system" in entry for _, entry in entries):
            continue
        for index, value in enumerate(_authority_of(offering)):
            wanted = _FILES.get(value) if isinstance(value, str) else None
            if wanted is not None and not any(entry.get("access") in wanted for _, entry in entries):
                yield (
                    pointer_to("offerings", place, "authority", index),
                    f"{described(value)} is declared, and no workspace entry has the access {' or '.join(wanted)}.",
                )


def _outputs(document: Document) -> Iterator[Problem]:
    for path, offering in _with_scope(document, _WITH_FOCUS):
        if offering.get("outputs", []) == []:
            yield pointer_to(*path, "outputs"), f"An {_WITH_FOCUS} offering declares at least one deliverable."


def _instruction(document: Document) -> Iterator[Problem]:
    for path, offering in _with_scope(document, *_OPEN):
        inputs = offering.get("inputs", [])
        if isinstance(inputs, list) and not any(item.get("kind") == "text" for _, item in objects(inputs)):
            yield pointer_to(*path, "inputs"), "The offering takes an instruction, and no input of the kind text."


def _ceilings(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        yield from forms.mapping(offering, "ceilings", ("offerings", place))
        for name in CEILINGS:
            yield from _ceiling(_ceilings_of(offering), name, ("offerings", place, "ceilings"))


def _ceiling(ceilings: dict[str, JsonValue], name: str, path: forms.Path) -> Iterator[Problem]:
    yield from forms.mapping(ceilings, name, path)
    ceiling = ceilings.get(name)
    if not isinstance(ceiling, dict):
        return
    if name in _MONEY:
        yield from forms.missing(ceiling, "most", (*path, name), "It bounds nothing.")
        if "most" in ceiling:
            yield from forms.money(ceiling["most"], (*path, name, "most"))
    else:
        least = 1 if name == "job_seconds" else 0
        yield from forms.whole_number(ceiling, "most", (*path, name), least=least, required=True)
    yield from forms.word(ceiling, "decided_by", (*path, name), DECIDED_BY)


def _ceiling_decided_by(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        for name, ceiling in _ceilings_of(offering).items():
            if name in CEILINGS and isinstance(ceiling, dict) and "decided_by" not in ceiling:
                yield (
                    pointer_to("offerings", place, "ceilings", name, "decided_by"),
                    f"Nothing says what holds a job to `{name}`, so nobody may call it enforced.",
                )


def _open_ceilings(document: Document) -> Iterator[Problem]:
    for path, offering in _with_scope(document, *_OPEN):
        for name in CEILINGS[:2]:
            if "ceilings" not in offering or (
                isinstance(offering["ceilings"], dict) and name not in _ceilings_of(offering)
            ):
                yield pointer_to(*path, "ceilings", name), f"An open offering carries `{name}`, and this one does not."


def _needed_ceiling(document: Document, value: str, name: str) -> Iterator[Problem]:
    for place, offering in offerings(document):
        if value not in _authority_of(offering):
            continue
        if "ceilings" not in offering or (
            isinstance(offering["ceilings"], dict) and name not in _ceilings_of(offering)
        ):
            yield (
                pointer_to("offerings", place, "ceilings", name),
                f"The authority includes {value}, and nothing bounds how much of it one job does.",
            )


def _spend_per_job(document: Document) -> Iterator[Problem]:
    return _needed_ceiling(document, "spends-money", "spend_per_job")


def _messages_per_job(document: Document) -> Iterator[Problem]:
    return _needed_ceiling(document, "sends-messages", "messages_per_job")


def _data_use(document: Document) -> Iterator[Problem]:
    if not any(_with_scope(document, _OPEN_ENDED)) or ("handling_ref" in document and "data_use" not in document):
        return
    data_use = document.get("data_use", {})
    for name in ("retention", "processors", "memory") if isinstance(data_use, dict) else ():
        assert isinstance(data_use, dict)
        if name not in data_use:
            yield pointer_to("data_use", name), f"An offering takes any instruction, and `{name}` is not declared."


def _data_use_elsewhere(document: Document) -> Iterator[Problem]:
    if any(_with_scope(document, _OPEN_ENDED)) and "handling_ref" in document and "data_use" not in document:
        yield "/handling_ref", "An offering takes any instruction, and the data use stands where no checker looks."


def _agent_level(document: Document) -> Iterator[Problem]:
    for name in _OF_AN_OFFERING:
        if name in document:
            yield pointer_to(name), f"`{name}` is declared on each offering and nowhere else."


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
        "D6.11-workspace",
        "6.11",
        Severity.ERROR,
        "`workspace` lists the resources an offering works in, by `kind`, `access` and `for`, or names a `system`; an "
        "open-with-focus offering states it, and an empty list says that it works on what it is sent.",
        'Write each as {"kind": "git", "access": "read-write", "for": "the repository the change is made in"}, or as '
        '{"system": "…"}.',
        _workspace,
    ),
    Rule(
        "D6.11-workspace-system",
        "6.11",
        Severity.ERROR,
        "A workspace entry that names a system names one of `systems`.",
        "List the system in `systems` with its access, or name one that is there.",
        _workspace_system,
    ),
    Rule(
        "D6.11-authority",
        "6.11",
        Severity.ERROR,
        "`authority` lists what an offering can touch beyond its inputs and outputs, from a closed list; an open "
        "offering "
        "states it, and an empty list says that it touches nothing.",
        "Use only " + ", ".join(AUTHORITY) + ", each once.",
        _authority,
    ),
    Rule(
        "D6.11-authority_decided_by",
        "6.11",
        Severity.ERROR,
        "`authority_decided_by` says what keeps a running job inside its authority.",
        'Write "rule" where the runtime stops the job, "model" where the model is only asked, or leave it out.',
        _authority_decided_by,
    ),
    Rule(
        "D6.11-authority-systems",
        "6.11",
        Severity.ERROR,
        "An authority over systems goes with an entry of `systems` at the matching access.",
        "List the system with the access read, write or trigger, or take the value out of `authority`.",
        _authority_over_systems,
    ),
    Rule(
        "D6.11-authority-files",
        "6.11",
        Severity.WARNING,
        "An authority over files is over the files of the workspace.",
        "Name what is read or written in `workspace`, or take the value out of `authority`.",
        _authority_over_files,
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
        "D6.11-ceilings",
        "6.11",
        Severity.ERROR,
        "`ceilings` bounds one job: each states the `most`, in seconds, messages or money, and by what it is "
        "`decided_by`.",
        'Write "job_seconds": {"most": 3600, "decided_by": "rule"} and "cost_per_job": {"most": {"amount_micro": '
        '20000000, "currency": "USD"}, "decided_by": "rule"}.',
        _ceilings,
    ),
    Rule(
        "D6.11-decided_by",
        "6.11",
        Severity.WARNING,
        "A ceiling says what applies it; one that does not is not presented as enforced.",
        'Write "decided_by": "rule" where the node or runtime stops the job, "model" where the model is only told.',
        _ceiling_decided_by,
    ),
    Rule(
        "D6.11-open-ceilings",
        "6.11",
        Severity.ERROR,
        "An open offering carries the ceilings `job_seconds` and `cost_per_job`.",
        "State how many seconds one job runs at most, and what it costs at most.",
        _open_ceilings,
    ),
    Rule(
        "D6.11-spend_per_job",
        "6.11",
        Severity.ERROR,
        "An offering whose authority includes spends-money carries the ceiling `spend_per_job`.",
        "State how much money one job may commit, or take spends-money out of `authority`.",
        _spend_per_job,
    ),
    Rule(
        "D6.11-messages_per_job",
        "6.11",
        Severity.ERROR,
        "An offering whose authority includes sends-messages carries the ceiling `messages_per_job`.",
        "State how many messages one job may send, or take sends-messages out of `authority`.",
        _messages_per_job,
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
        "Scope, and what goes with it, is declared on each offering and nowhere else.",
        "Move it to the offerings it is true of.",
        _agent_level,
    ),
)
