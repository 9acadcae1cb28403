"""The file as a whole: its encoding, its version, its own members, and what no member of it may hold.

Source: `.agent` format 3, 5, 6, 7, 8.2, 18 (rules 1 to 4), 19 and 20.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from agentfile import columns, forms
from agentfile.columns import problems
from agentfile.lookalikes import skeleton
from agentfile.model import AgentFile
from agentfile.rules.table import Check, Document, Problem, Rule, Severity
from agentfile.shapes import plan, planned
from agentfile.vocabulary import LEGACY_SCHEMA, SCHEMA, SCHEMA_V2, SCHEMAS
from descriptor.errors import DescriptorError, quoted
from descriptor.leaks import credentials
from descriptor.pointers import pointer_to
from descriptor.strictjson import JsonValue
from descriptor.timestamps import parse_timestamp

_VERSION = re.compile(r"v?[0-9]+(\.[0-9]+)*([-+][0-9A-Za-z.+-]+)?")
_LONGEST = 1_000  # characters of a version
_NAMED = frozenset(skeleton(name) for model in planned(AgentFile) for name in plan(model).names)
_BINDINGS = ("sourcebinding", "sourcebindings")  # as their skeletons


def top_problems(value: JsonValue) -> Iterator[Problem]:
    """Rule 1."""
    if not isinstance(value, dict):
        yield "", f"The file is {forms.shown(value)}; an `.agent` file is one JSON object."


def schema_problems(document: Document) -> Iterator[Problem]:
    """Rule 2, which is asked before any other member is looked at."""
    schema = document.get("$schema")
    if "$schema" not in document:
        yield "/$schema", "`$schema` is missing, so nothing says that this is an `.agent` file."
    elif schema == SCHEMA_V2:
        yield "/$schema", "This is a file of version 2, which may hold code. Version 1 is read here, and nothing else."
    elif schema not in SCHEMAS:
        yield (
            "/$schema",
            f"`$schema` is {forms.shown(schema)}; version 1 is {SCHEMA}, or, from before, {LEGACY_SCHEMA}.",
        )


def _texts(document: Document) -> Iterator[Problem]:
    named = ("id", "name", "description", "version", "exportedAt")
    return problems(document.top, *(columns.text(name, required=True, filled=True) for name in named))


def _emoji(document: Document) -> Iterator[Problem]:
    return problems(document.top, columns.text("emoji"))


def _version(document: Document) -> Iterator[Problem]:
    version = document.get("version")
    if isinstance(version, str) and version and not (len(version) <= _LONGEST and _VERSION.fullmatch(version)):
        yield "/version", f"`version` is {forms.shown(version)}, which nobody can tell from a later one."


def _exported_at(document: Document) -> Iterator[Problem]:
    moment = document.get("exportedAt")
    if isinstance(moment, str) and moment and not _is_moment(moment):
        yield "/exportedAt", f"`exportedAt` is {forms.shown(moment)}, which is no time in ISO 8601."


def _is_moment(text: str) -> bool:
    try:
        parse_timestamp(text)
    except DescriptorError:
        try:
            datetime.fromisoformat(text)
        except ValueError:
            return False
    return True


def _metadata(document: Document) -> Iterator[Problem]:
    return problems(document.top, columns.mapping("metadata"))


def _executable(document: Document) -> Iterator[Problem]:
    for _, name, path in document.unnamed() if "executable" in document.looks else ():
        if name == "executable":
            yield pointer_to(*path, name), "An `executable` stands here; version 1 holds no code, only texts."
    for members, path in (*document.top, *document.blueprint):
        if "capabilityCapsules" in members:
            yield pointer_to(*path, "capabilityCapsules"), "`capabilityCapsules` hold code, which version 1 does not."


def _alike(document: Document) -> Iterator[Problem]:
    if document.looks.isdisjoint(_NAMED):
        return
    known: dict[type[Any], dict[str, str]] = {}
    for model, name, path in document.unnamed():
        if model not in known:
            known[model] = {skeleton(one): one for one in plan(model).names}
        meant = known[model].get(skeleton(name))
        if meant is not None:
            said = f"{quoted(name)} is not `{meant}`, which it looks like, and counts for nothing."
            yield pointer_to(*path, name), said


def _bindings(document: Document) -> Iterator[Problem]:
    for _, name, path in () if document.looks.isdisjoint(_BINDINGS) else document.unnamed():
        if skeleton(name) in _BINDINGS:
            yield pointer_to(*path, name), f"{quoted(name)} says which private thing a source is, and not what kind."


def _secrets(document: Document) -> Iterator[Problem]:
    texts = [
        *((parameter, "default", path) for parameter, path in document.parameters),
        *((blueprint, "systemPrompt", path) for blueprint, path in document.blueprint),
    ]
    for path, found in forms.searched(texts, credentials):
        leak = next(found, None)
        if leak is not None:
            yield pointer_to(*path), f"`{path[-1]}` holds {leak.what}, at character {leak.start + 1}."


ENCODING = Rule(
    "S5",
    "5",
    1,
    Severity.ERROR,
    "The file is one JSON document in UTF-8, with each member once and numbers that a double holds.",
    "Write the file as one JSON object, in UTF-8 without a byte order mark; JSON has no comments, and no comma before "
    "} or ].",
)
LIMITS = Rule(
    "S19.10",
    "19",
    None,
    Severity.ERROR,
    "A file has a size, a nesting and a number of values that a reader can bear.",
    "Take out of the file what is no declaration; it holds requirements, and never what satisfies them.",
)
TOP = Rule(
    "R1",
    "18",
    1,
    Severity.ERROR,
    "The top-level value is a JSON object.",
    'Write one object: {"$schema": …, "id": …, "name": …, ….}.',
)
SCHEMA_MARKER = Rule(
    "R2",
    "7",
    2,
    Severity.ERROR,
    "`$schema` says that the file is of version 1; of a file of another version nothing else is read.",
    f'Write "$schema": "{SCHEMA}", if it is a file of version 1; otherwise open it with what knows its version.',
)

RULES = (
    Check(
        "R3",
        "6",
        3,
        Severity.ERROR,
        "`id`, `name`, `description`, `version` and `exportedAt` are texts that are not empty.",
        "Give each of the five a text.",
        _texts,
    ),
    Check(
        "R4",
        "6",
        4,
        Severity.ERROR,
        "`emoji` is a text.",
        "Write one emoji as a text, or leave it out.",
        _emoji,
    ),
    Check(
        "S6-version",
        "6",
        None,
        Severity.WARNING,
        "`version` is a version in the style of Semantic Versioning.",
        'Count the versions of the agent, such as "version": "1.2.0".',
        _version,
    ),
    Check(
        "S6-exportedAt",
        "6",
        None,
        Severity.WARNING,
        "`exportedAt` is a time in ISO 8601.",
        'Write it as "exportedAt": "2026-07-30T06:00:00Z".',
        _exported_at,
    ),
    Check(
        "S6-metadata",
        "6",
        None,
        Severity.ERROR,
        "`metadata` is an object.",
        'Write it as "metadata": {"tags": ["finance"]}, or leave it out.',
        _metadata,
    ),
    Check(
        "S6-alike",
        "6",
        None,
        Severity.WARNING,
        "No member has a name that only looks like one of the format: in another letter case, or with other letters.",
        "Correct the name, or take the member out.",
        _alike,
    ),
    Check(
        "S8.2-executable",
        "8.2",
        None,
        Severity.ERROR,
        "No member holds executable content: an `executable` is refused wherever the format has an object.",
        "Take it out and say in plain text what is to be done; code needs a file of version 2.",
        _executable,
    ),
    Check(
        "S3-binding",
        "3",
        None,
        Severity.ERROR,
        "A binding, which names the actual file, item or account behind a source, stays with the host.",
        "Take it out; say under `sources` what kind of thing is needed, and bind it where the agent runs.",
        _bindings,
    ),
    Check(
        "S19.8",
        "19",
        None,
        Severity.WARNING,
        "The prompt and the defaults of parameters hold no secret.",
        "Take it out, and have it changed where it is valid: whoever has had the file may have read it.",
        _secrets,
    ),
)
