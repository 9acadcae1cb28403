"""What the owner sets, what the agent takes and what it gives.

A parameter's name is compared as it is substituted, without regard to case: two that differ in case alone are one.

Source: `.agent` format 10, 11 and 18 (rules 12 to 18).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentfile import columns, forms
from agentfile.artifacts import is_format
from agentfile.columns import problems
from agentfile.rules.table import Check, Document, Problem, Severity
from agentfile.vocabulary import ARTIFACT_KINDS, MODALITIES, OUTPUT_SHAPES, PARAMETER_TYPES
from descriptor.pointers import pointer_to

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

_NAMED = columns.text("name", required=True, filled=True)
_STATED = (
    columns.text("label", required=True, filled=True),
    columns.word("type", PARAMETER_TYPES, required=True),
    columns.flag("required", required=True),
)
_OPTIONS = columns.objects("options")


def _accepts(document: Document) -> Iterator[Problem]:
    if "inputs" not in document:
        yield "/inputs", "`inputs` is missing, so nothing says what the agent takes."
    yield from problems(document.top, columns.mapping("inputs"))
    for inputs, path in document.top.one("inputs"):
        accepts = inputs.get("accepts")
        if "accepts" not in inputs:
            yield pointer_to(*path, "accepts"), "`accepts` is missing."
        elif not isinstance(accepts, list):
            yield pointer_to(*path, "accepts"), f"`accepts` is {forms.shown(accepts)}; it has to be a list."
        elif not accepts:
            yield pointer_to(*path, "accepts"), "`accepts` is empty, so the agent takes nothing."


def _modalities(document: Document) -> Iterator[Problem]:
    for inputs, path in document.top.one("inputs"):
        accepts = inputs.get("accepts")
        for index, entry in enumerate(accepts if isinstance(accepts, list) else ()):
            if entry not in MODALITIES:
                known = ", ".join(MODALITIES)
                yield pointer_to(*path, "accepts", index), f"This is {forms.shown(entry)}; it has to be one of {known}."


def _input_forms(document: Document) -> Iterator[Problem]:
    return problems(document.top.one("inputs"), columns.text("placeholder"), columns.mapping("schema"))


def _outputs(document: Document) -> Iterator[Problem]:
    yield from problems(document.top, columns.mapping("outputs"))
    yield from problems(document.top.one("outputs"), columns.word("shape", OUTPUT_SHAPES, required=True))


def _output_forms(document: Document) -> Iterator[Problem]:
    return problems(document.top.one("outputs"), columns.mapping("schema"), columns.text("description"))


def _outputs_stated(document: Document) -> Iterator[Problem]:
    if "outputs" not in document:
        yield "/outputs", "`outputs` is missing, so nobody knows before a run what to expect of it."


def _entries(document: Document) -> Iterator[Problem]:
    return problems(document.top, columns.objects("parameters"))


def _parameters(document: Document) -> Iterator[Problem]:
    stated = document.parameters.column("name")
    if _NAMED.sound(stated) and all(map(_NAME.fullmatch, stated)) and len({*map(str.lower, stated)}) == len(stated):
        yield from problems(document.parameters, *_STATED)
        return
    seen: set[str] = set()
    for parameter, path in document.parameters:
        yield from _NAMED.problems(parameter, path)
        name = parameter.get("name")
        if isinstance(name, str) and name:
            if not _NAME.fullmatch(name):
                said = "it has to begin with a letter and go on in letters, digits and _."
                yield pointer_to(*path, "name"), f"`name` is {forms.shown(name)}; {said}"
            elif name.lower() in seen:
                yield (
                    pointer_to(*path, "name"),
                    f"Another parameter is named {forms.shown(name)}, in this case or another.",
                )
            else:
                seen.add(name.lower())
        for form in _STATED:
            yield from form.problems(parameter, path)


def _select(document: Document) -> Iterator[Problem]:
    selects = document.parameters.where("type", "select")
    for place, options in enumerate(selects.column("options")):
        if not (isinstance(options, list) and options):
            path = selects.paths[place]
            yield pointer_to(*path, "options"), "This parameter is a choice, and `options` is no list of any."


def _file(document: Document) -> Iterator[Problem]:
    files = document.parameters.where("type", "file")
    for index, file in enumerate(files.holders):
        if "artifact" not in file:
            said = "`artifact` is missing, so nothing says which shape the file has."
            yield pointer_to(*files.paths[index], "artifact"), said
        if "default" in file:
            said = "A file has no `default`: the owner's file stays with the owner."
            yield pointer_to(*files.paths[index], "default"), said
    artifacts = files.one("artifact")
    yield from problems(files, columns.mapping("artifact"))
    yield from problems(
        artifacts,
        columns.word("kind", ARTIFACT_KINDS, required=True),
        columns.texts("accepts", required=True, filled=True),
        columns.texts("structure"),
    )
    for index, accepts in enumerate(artifacts.column("accepts")):
        if accepts == []:
            yield pointer_to(*artifacts.paths[index], "accepts"), "`accepts` is empty, so no file will do."


def _parameter_forms(document: Document) -> Iterator[Problem]:
    yield from problems(document.parameters, columns.text("description"), columns.text("placeholder"))
    others = document.parameters.where("type", "file", differs=True)
    yield from problems(others, columns.mapping("artifact"))
    for index, default in enumerate(others.column("default", "")):
        if not isinstance(default, str | int | float):
            said = f"`default` is {forms.shown(default)}; it has to be text, a number, true or false."
            yield pointer_to(*others.paths[index], "default"), said


def _options(document: Document) -> Iterator[Problem]:
    for parameter, path in document.parameters if not _OPTIONS.sound(document.parameters.column("options")) else ():
        # Of a choice whose options are no list at all, rule 17 tells.
        if parameter.get("type") != "select" or isinstance(parameter.get("options"), list):
            yield from _OPTIONS.problems(parameter, path)
    options = document.parameters.each("options")
    for index, value in enumerate(options.column("value", None)):
        if not isinstance(value, str | int | float):
            said = f"is {forms.shown(value)}" if "value" in options.holders[index] else "is missing"
            yield (
                pointer_to(*options.paths[index], "value"),
                f"`value` {said}; it has to be text, a number, true or false.",
            )
    yield from problems(options, columns.text("label", required=True))


def _unused_artifact(document: Document) -> Iterator[Problem]:
    return problems(
        document.parameters.where("type", "file", differs=True).one("artifact"),
        columns.text("kind", required=True),
        columns.texts("accepts", required=True),
        columns.texts("structure"),
    )


def _formats(document: Document) -> Iterator[Problem]:
    artifacts = document.parameters.one("artifact")
    for place, accepts in enumerate(artifacts.column("accepts")):
        for index, entry in enumerate(accepts if isinstance(accepts, list) else ()):
            if isinstance(entry, str) and entry.strip() and not is_format(entry):
                said = f"{forms.shown(entry)} is no extension and no media type, so no file has it."
                yield pointer_to(*artifacts.paths[place], "accepts", index), said


RULES = (
    Check(
        "R12",
        "11.1",
        12,
        Severity.ERROR,
        "`inputs.accepts` is a list that is not empty.",
        'Write "inputs": {"accepts": ["text"]}.',
        _accepts,
    ),
    Check(
        "R13",
        "11.1",
        13,
        Severity.ERROR,
        "An entry of `inputs.accepts` is `text`, `audio` or `image`.",
        "List what the model really takes, in these words.",
        _modalities,
    ),
    Check(
        "S11.1",
        "11.1",
        None,
        Severity.ERROR,
        "Of `inputs`, `placeholder` is a text and `schema` is an object.",
        "Give the member the form named here, or leave it out.",
        _input_forms,
    ),
    Check(
        "R14",
        "11.2",
        14,
        Severity.ERROR,
        "`outputs` is an object whose `shape` is `text`, `json` or `void`.",
        'Write "outputs": {"shape": "text"}; an agent that acts and says nothing has "void".',
        _outputs,
    ),
    Check(
        "S11.2",
        "11.2",
        None,
        Severity.ERROR,
        "Of `outputs`, `schema` is an object and `description` is a text.",
        "Give the member the form named here, or leave it out.",
        _output_forms,
    ),
    Check(
        "S11.2-stated",
        "11.2",
        None,
        Severity.WARNING,
        "A file says what the agent gives.",
        'Add "outputs": {"shape": "text", "description": "What the user will see."}.',
        _outputs_stated,
    ),
    Check(
        "R15",
        "10",
        15,
        Severity.ERROR,
        "`parameters` is a list of objects.",
        'Write "parameters": [{"name": "city", "label": "City", "type": "string", "required": true}], or leave it out.',
        _entries,
    ),
    Check(
        "R16",
        "10",
        16,
        Severity.ERROR,
        "A parameter has a `name` of its own in letters, digits and _, a `label`, a known `type`, and says whether it "
        "is `required`.",
        'Write it as {"name": "city", "label": "City", "type": "string", "required": true}, each name once.',
        _parameters,
    ),
    Check(
        "R17",
        "10",
        17,
        Severity.ERROR,
        "A parameter of type `select` has `options`.",
        'Add "options": [{"value": "eu", "label": "Europe"}].',
        _select,
    ),
    Check(
        "R18",
        "10.2",
        18,
        Severity.ERROR,
        "A parameter of type `file` has an `artifact` with a known `kind`, the formats it `accepts` and, at will, its "
        "`structure` in texts; it has no `default`.",
        'Write "artifact": {"kind": "table", "accepts": [".csv"], "structure": ["Sheet \\"Invoices\\": id, amount"]}.',
        _file,
    ),
    Check(
        "S10",
        "10",
        None,
        Severity.ERROR,
        "Of a parameter, `description` and `placeholder` are texts, `artifact` is an object, and `default` is a text, "
        "a number, true or false.",
        "Give the member the form named here, or leave it out.",
        _parameter_forms,
    ),
    Check(
        "S10-options",
        "10",
        None,
        Severity.ERROR,
        "An option has a `value` and a `label`.",
        'Write an option as {"value": "eu", "label": "Europe"}.',
        _options,
    ),
    Check(
        "S10.2",
        "10.2",
        None,
        Severity.ERROR,
        "An `artifact` has its form also where the parameter is no file.",
        "Take the artifact out, or give it the form it has in a parameter of type `file`.",
        _unused_artifact,
    ),
    Check(
        "S10.2-formats",
        "10.2",
        None,
        Severity.WARNING,
        "What a file parameter `accepts` are extensions and media types.",
        'Write extensions with their dot, such as ".csv", and media types such as "text/csv" or "image/*".',
        _formats,
    ),
)
