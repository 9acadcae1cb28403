"""Chapter 6.9, what an offering declares beyond its inputs and outputs: modes, needs, delivers and reporting."""

from __future__ import annotations

import re
from collections.abc import Iterator

from descriptor.kinds import is_media_type
from descriptor.pointers import pointer_to
from descriptor.rules import forms
from descriptor.rules.table import Document, Problem, Rule, Severity, described, objects, offerings
from descriptor.strictjson import JsonValue
from descriptor.vocabulary import REPORTING, WORKSPACE_ACCESS

NEEDS = ("resource", "file", "tool", "credential", "text")
# What goes with a need of one kind, and with no other.
_BESIDE = {"resource": "access", "tool": "protocol", "credential": "scope"}
_SIDES = {"inputs": "input", "outputs": "output"}
# ISO 8601 in whole numbers: weeks, or a date and a time of which at least one part is there.
_DURATION = re.compile(
    r"P(?:\d+W|(?=\d|T\d)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)", re.ASCII
)
_NOT_ZERO = re.compile(r"[1-9]")


def is_duration(text: str) -> bool:
    """Whether `text` is an ISO 8601 duration in whole numbers, such as `P1W` or `PT12H`, and lasts at all."""
    return _DURATION.fullmatch(text) is not None and _NOT_ZERO.search(text) is not None


def _mode_lists(document: Document) -> Iterator[Problem]:
    for side in _SIDES.values():
        yield from _media_types(document, f"default_{side}_modes", ())
    for place, offering in offerings(document):
        for side in _SIDES.values():
            yield from _media_types(offering, f"{side}_modes", ("offerings", place))


def _media_types(holder: forms.Holder, name: str, path: forms.Path) -> Iterator[Problem]:
    yield from forms.list_of_texts(holder, name, path, unique=True)
    modes = holder.get(name)
    for index, mode in enumerate(modes) if isinstance(modes, list) else ():
        if isinstance(mode, str) and mode.strip() and not is_media_type(mode):
            yield pointer_to(*path, name, index), f"{described(mode)} is no media type, such as application/pdf."


def _modes(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        for side, mode in _SIDES.items():
            if f"{mode}_modes" in offering or f"default_{mode}_modes" in document:
                continue
            # A media type says it by itself: kinds coarsen to modes (chapter 6.8).
            if any(item.get("kind") == "document" for _, item in objects(offering.get(side))):
                yield (
                    pointer_to("offerings", place, f"{mode}_modes"),
                    f"One of the {side} is any document, and nothing says which media types are meant.",
                )


def _needs(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        path: forms.Path = ("offerings", place)
        yield from forms.list_of_objects(offering, "needs", path)
        for index, need in objects(offering.get("needs")):
            yield from _need(need, (*path, "needs", index))


def _need(need: dict[str, JsonValue], path: forms.Path) -> Iterator[Problem]:
    kinds = [kind for kind in NEEDS if kind in need]
    if len(kinds) != 1:
        said = "none" if not kinds else " and ".join(kinds)
        yield pointer_to(*path), f"A need is exactly one of {', '.join(NEEDS)}, and this one is {said}."
        return
    (kind,) = kinds
    yield from forms.text(need, kind, path)
    if kind == "file" and isinstance(mode := need["file"], str) and mode.strip() and not is_media_type(mode):
        yield pointer_to(*path, "file"), f"{described(mode)} is no media type, such as application/pdf."
    if kind == "resource":
        yield from forms.word(need, "access", path, WORKSPACE_ACCESS, required=True)
    elif kind in _BESIDE:
        yield from forms.text(need, _BESIDE[kind], path, required=True)
    yield from forms.text(need, "description", path)


def _delivers(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        path: forms.Path = ("offerings", place)
        yield from forms.mapping(offering, "delivers", path)
        delivers = offering.get("delivers")
        if isinstance(delivers, dict):
            yield from forms.text(delivers, "final", (*path, "delivers"))
            yield from forms.flag(delivers, "interim", (*path, "delivers"))
            yield from forms.flag(delivers, "in_resource", (*path, "delivers"))


def _reporting(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        yield from forms.mapping(offering, "reporting", ("offerings", place))
        reporting = offering.get("reporting")
        if isinstance(reporting, dict):
            yield from reporting_problems(reporting, ("offerings", place, "reporting"))


def reporting_problems(reporting: dict[str, JsonValue], path: forms.Path) -> Iterator[Problem]:
    """What keeps a reporting level from being read. Source: chapter 6.9; binding 11."""
    yield from forms.word(reporting, "level", path, REPORTING, required=True)
    level, every = reporting.get("level"), reporting.get("every")
    if level == "check_ins" and "every" not in reporting:
        yield pointer_to(*path, "every"), "`every` is missing; check-ins come at an interval."
    elif level in REPORTING and level != "check_ins" and "every" in reporting:
        yield pointer_to(*path, "every"), f"Only check_ins come at an interval, and the level is {level}."
    elif "every" in reporting and not (isinstance(every, str) and is_duration(every)):
        yield (
            pointer_to(*path, "every"),
            f"`every` is {described(every)}; it has to be a duration such as P1W or PT12H.",
        )


RULES = (
    Rule(
        "D6.9-mode",
        "6.9",
        Severity.ERROR,
        "Modes are the media types an offering takes and gives, with the agent's own as what holds otherwise.",
        'List media types, each once, such as "input_modes": ["application/pdf"].',
        _mode_lists,
    ),
    Rule(
        "D6.9-modes",
        "6.9",
        Severity.WARNING,
        "An agent that handles anything beyond text declares it: a caller has no other way to learn it before sending.",
        "List the media types in `input_modes` or `output_modes` of the offering, or in the agent's defaults.",
        _modes,
    ),
    Rule(
        "D6.9-needs",
        "6.9",
        Severity.ERROR,
        "A need is one of: a `resource` with its `access`, a `file` by media type, a `tool` with its `protocol`, a "
        "`credential` with the narrowest `scope` that does, or `text`.",
        'Write one of them in each entry, for example {"credential": "a calendar service", "scope": "read events", '
        '"description": "…"}.',
        _needs,
    ),
    Rule(
        "D6.9-delivers",
        "6.9",
        Severity.ERROR,
        "`delivers` states the `final` deliverable, and whether there are `interim` ones and it lands `in_resource`.",
        'Write {"final": "text/markdown", "interim": false, "in_resource": false}.',
        _delivers,
    ),
    Rule(
        "D6.9-reporting",
        "6.9",
        Severity.ERROR,
        "`reporting` has a `level`, from the least to the most: " + ", ".join(REPORTING) + "; check_ins come "
        "`every` so often.",
        'Write {"level": "on_change"}, or {"level": "check_ins", "every": "P1W"}. Readers drop a level they cannot '
        "read.",
        _reporting,
    ),
)
