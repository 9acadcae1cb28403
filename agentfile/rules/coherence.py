"""What has to go together in a source requirement, so that no declared intent outruns the access that is asked for.

The rules are numbered in the order of the table that they come from.

Source: `.agent` format 14.6 and 18 (rule 21).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from agentfile import forms
from agentfile.forms import Holder, Path, is_number
from agentfile.rules.table import Check, Document, Problem, Severity
from agentfile.vocabulary import CAPABILITIES, DESTRUCTIVE_APPROVALS, WRITE_CAPABILITIES
from descriptor.pointers import pointer_to
from descriptor.strictjson import JsonValue

_FORMATS = ("extensions", "mediaTypes", "providerTypes")


def _capable(document: Document) -> Iterator[tuple[Holder, Path, list[JsonValue]]]:
    """The sources that list their capabilities, each with its path and what it lists."""
    for source, path in document.requirements:
        access = source.get("access")
        listed = access.get("capabilities") if isinstance(access, dict) else None
        if isinstance(listed, list):
            yield source, path, listed


def _word(source: Holder, contract: str, name: str) -> object:
    members = source.get(contract)
    return members.get(name) if isinstance(members, dict) else None


def _lacks(needed: str, because: str, asks: Callable[[Holder], bool]) -> Callable[[Document], Iterator[Problem]]:
    """The rule that a source for which `asks` is true has the capability `needed`."""

    def find(document: Document) -> Iterator[Problem]:
        for source, path, capabilities in _capable(document):
            if asks(source) and needed not in capabilities:
                yield pointer_to(*path, "access", "capabilities"), f"{because}, and `{needed}` is not among these."

    return find


def _output(document: Document) -> Iterator[Problem]:
    for source, path, capabilities in _capable(document):
        if source.get("role") == "output" and not any(one in capabilities for one in WRITE_CAPABILITIES):
            known = ", ".join(WRITE_CAPABILITIES)
            said = f"The source is an output, and nothing here lets the agent write to it: none of {known}."
            yield pointer_to(*path, "access", "capabilities"), said


def _write(document: Document) -> Iterator[Problem]:
    for source, path, capabilities in _capable(document):
        writing = [one for one in WRITE_CAPABILITIES if one in capabilities]
        if writing and "write" not in _approval(source):
            said = f"The source may be changed ({', '.join(writing)}), and nothing says whether that needs approval."
            yield pointer_to(*path, "approval", "write"), said


def _delete(document: Document) -> Iterator[Problem]:
    for source, path, capabilities in _capable(document):
        stated = _approval(source).get("destructive", DESTRUCTIVE_APPROVALS[0])
        if "delete" in capabilities and stated == DESTRUCTIVE_APPROVALS[0]:
            said = "The agent may delete here, and nothing says that each deletion is approved."
            yield pointer_to(*path, "approval", "destructive"), said


def _approval(source: Holder) -> Holder:
    """What is approved. A member of the wrong form is another rule's business, and reads as if all was said in it."""
    approval = source.get("approval", {})
    return approval if isinstance(approval, dict) else {"write": None, "destructive": None}


def _accepts(document: Document) -> Iterator[Problem]:
    for accepts, place in document.requirements.one("accepts"):
        if all(accepts.get(name, []) == [] for name in _FORMATS):
            yield pointer_to(*place), f"`accepts` accepts nothing: it has no entry in any of {', '.join(_FORMATS)}."


def _capabilities(document: Document) -> Iterator[Problem]:
    for access, place in document.requirements.one("access"):
        listed = access.get("capabilities")
        if listed == []:
            yield pointer_to(*place, "capabilities"), "`capabilities` is empty, so the source is of no use."
        seen: set[str] = set()
        for index, one in enumerate(listed if isinstance(listed, list) else ()):
            if not isinstance(one, str):
                continue
            if one not in CAPABILITIES:
                said = f"{forms.shown(one)} is no capability; there are {', '.join(CAPABILITIES)}."
                yield pointer_to(*place, "capabilities", index), said
            elif one in seen:
                yield pointer_to(*place, "capabilities", index), f"{forms.shown(one)} stands here twice."
            seen.add(one)


def _max_age(document: Document) -> Iterator[Problem]:
    for freshness, place in document.requirements.one("freshness"):
        value = freshness.get("maxAgeSeconds", 1)
        if not isinstance(value, int | float) or not is_number(value) or value <= 0:
            yield pointer_to(*place, "maxAgeSeconds"), "`maxAgeSeconds` is not a number above 0."


def _priority(document: Document) -> Iterator[Problem]:
    for truth, place in document.requirements.one("truth"):
        yield from forms.number(truth, "priority", place, least=0, most=100)


RULES = (
    Check(
        "S14.6.1",
        "14.6",
        21,
        Severity.ERROR,
        "A source with the role `output` may be written.",
        'Add "write", "append" or "create" to its capabilities, with `approval.write`; or give it another role.',
        _output,
    ),
    Check(
        "S14.6.2",
        "14.6",
        21,
        Severity.ERROR,
        "A source that is refreshed on each run has the capability `sync`.",
        'Add "sync" to its capabilities, or make `freshness.mode` "snapshot".',
        _lacks(
            "sync",
            "The source is refreshed on each run",
            lambda source: _word(source, "freshness", "mode") == "on-run",
        ),
    ),
    Check(
        "S14.6.3",
        "14.6",
        21,
        Severity.ERROR,
        "A source that is watched has the capability `watch`.",
        'Add "watch" to its capabilities, or make `freshness.mode` "snapshot".',
        _lacks("watch", "The source is watched", lambda source: _word(source, "freshness", "mode") == "watch"),
    ),
    Check(
        "S14.6.4",
        "14.6",
        21,
        Severity.ERROR,
        "A source from which citations are required has the capability `cite`.",
        'Add "cite" to its capabilities, or ask for less in `truth.citations`.',
        _lacks("cite", "Citations are required", lambda source: _word(source, "truth", "citations") == "required"),
    ),
    Check(
        "S14.6.5",
        "14.6",
        21,
        Severity.ERROR,
        "A source that may be changed says in `approval.write` what that takes.",
        'Add "approval": {"write": "every-action"}, or take the capabilities that change it away.',
        _write,
    ),
    Check(
        "S14.6.6",
        "14.6",
        21,
        Severity.ERROR,
        "A source in which the agent may delete has each deletion approved.",
        'Add "destructive": "every-action" to `approval`, or take "delete" away.',
        _delete,
    ),
    Check(
        "S14.6.7",
        "14.6",
        21,
        Severity.ERROR,
        "An `accepts` accepts something.",
        'Write it as "accepts": {"extensions": [".csv"]}, or leave it out.',
        _accepts,
    ),
    Check(
        "S14.6.8",
        "14.6",
        21,
        Severity.ERROR,
        "`capabilities` names at least one of the known capabilities, and each once.",
        'Write it as "capabilities": ["read", "cite"].',
        _capabilities,
    ),
    Check(
        "S14.6.9",
        "14.6",
        21,
        Severity.ERROR,
        "`maxAgeSeconds` is a number above 0.",
        'Write it as "maxAgeSeconds": 3600, or leave it out.',
        _max_age,
    ),
    Check(
        "S14.6.10",
        "14.6",
        21,
        Severity.ERROR,
        "`truth.priority` is a number from 0 to 100.",
        'Write it as "priority": 50, or leave it out.',
        _priority,
    ),
)
