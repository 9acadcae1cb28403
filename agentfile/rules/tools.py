"""The tools, in both shapes: a bare text, and an object of one of four kinds.

Source: `.agent` format 9, 18 (rules 7, 8 and 9) and 19 (item 3).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import chain

from agentfile import columns, forms
from agentfile.columns import problems
from agentfile.forms import Path
from agentfile.lookalikes import any_disguised, disguised
from agentfile.rules.table import Check, Document, Problem, Severity
from agentfile.vocabulary import NANGO_METHODS, TOOL_KINDS, WEBHOOK_METHODS
from descriptor.pointers import pointer_to
from descriptor.strictjson import JsonValue

# By what somebody decides whether to grant a tool what it asks for; and its scopes.
_SHOWN = ("name", "server", "url", "provider", "endpoint")

_SHAPES = frozenset((str, dict))

# What a URL resolver would take for another host: a scheme, or two slashes of either slant.
_ABSOLUTE = re.compile(r"\s*(?:[A-Za-z][A-Za-z0-9+.-]*:)?[/\\]{2}")


def _listed(document: Document) -> Iterator[tuple[list[JsonValue], Path]]:
    """The list of tools, with its path; otherwise nothing."""
    for blueprint, path in document.blueprint:
        tools = blueprint.get("tools")
        if isinstance(tools, list):
            yield tools, (*path, "tools")


def _entries(document: Document) -> Iterator[Problem]:
    for tools, path in _listed(document):
        if _SHAPES.issuperset(map(type, tools)) and "" not in tools:
            return
        for index, tool in enumerate(tools):
            if tool == "":
                yield pointer_to(*path, index), "This tool is an empty text."
            elif not isinstance(tool, str | dict):
                said = f"This tool is {forms.shown(tool)}; it has to be text or an object."
                yield pointer_to(*path, index), said


def _kinds(document: Document) -> Iterator[Problem]:
    return problems(
        document.tools,
        columns.word("kind", TOOL_KINDS, required=True),
        columns.text("name", required=True, filled=True),
    )


def _nango_target(document: Document) -> Iterator[Problem]:
    return problems(
        document.nango_tools,
        columns.text("provider", required=True, filled=True),
        columns.text("endpoint", required=True, filled=True),
    )


def _builtin(document: Document) -> Iterator[Problem]:
    return problems(document.tools.where("kind", "builtin"), columns.text("description"))


def _mcp(document: Document) -> Iterator[Problem]:
    return problems(
        document.tools.where("kind", "mcp"),
        columns.text("server", required=True, filled=True),
        columns.flag("requiresUserAuth", required=True),
        columns.texts("scopes"),
        columns.text("provider"),
        columns.text("description"),
    )


def _webhook(document: Document) -> Iterator[Problem]:
    return problems(
        document.tools.where("kind", "webhook"),
        columns.text("url", required=True, filled=True),
        columns.word("method", WEBHOOK_METHODS),
        columns.flag("requiresUserAuth"),
        columns.text("description"),
    )


def _nango(document: Document) -> Iterator[Problem]:
    return problems(
        document.nango_tools,
        columns.flag("requiresUserAuth", required=True),
        columns.word("method", NANGO_METHODS),
        columns.texts("scopes"),
        columns.text("description"),
    )


def _endpoint(document: Document) -> Iterator[Problem]:
    tools = document.nango_tools
    for place, endpoint in enumerate(tools.column("endpoint")):
        if isinstance(endpoint, str) and _ABSOLUTE.match(endpoint):
            yield (
                pointer_to(*tools.paths[place], "endpoint"),
                "`endpoint` names a host of its own, to which the broker would send the user's token.",
            )


def _disguised(document: Document) -> Iterator[Problem]:
    texts = [text for tools, _ in _listed(document) for text in tools if isinstance(text, str)]
    texts += (text for name in _SHOWN for text in document.tools.column(name) if isinstance(text, str))
    listed = (scopes for scopes in document.tools.column("scopes") if isinstance(scopes, list))
    texts += (text for text in chain.from_iterable(listed) if isinstance(text, str))
    if not any_disguised(texts):
        return
    for tools, path in _listed(document):
        for index, tool in enumerate(tools):
            if isinstance(tool, str) and not tool.isascii():
                yield from _disguise(tool, (*path, index))
    for members, place in document.tools:
        for name in _SHOWN:
            yield from _disguise(members.get(name), (*place, name))
        scopes = members.get("scopes")
        for index, scope in enumerate(scopes if isinstance(scopes, list) else ()):
            yield from _disguise(scope, (*place, "scopes", index))


def _disguise(text: JsonValue, path: Path) -> Iterator[Problem]:
    char = disguised(text) if isinstance(text, str) else None
    if char is not None:
        name = unicodedata.name(char, "no name")
        yield pointer_to(*path), f"{forms.shown(text)} is not what it looks like: it holds U+{ord(char):04X} ({name})."


RULES = (
    Check(
        "R7",
        "9",
        7,
        Severity.ERROR,
        "A tool is a text that is not empty, or an object.",
        'Write a tool as "create_reminder" or as {"kind": "builtin", "name": "create_reminder"}.',
        _entries,
    ),
    Check(
        "R8",
        "9",
        8,
        Severity.ERROR,
        "A tool object has one of the four kinds and a `name` that is not empty.",
        "Give the tool its name and one of the kinds named here; a tool that no runtime knows cannot be left out in "
        "silence.",
        _kinds,
    ),
    Check(
        "R9",
        "9.4",
        9,
        Severity.ERROR,
        "A `nango` tool has a `provider` and an `endpoint` that are not empty.",
        'Write them as "provider": "microsoft-outlook", "endpoint": "/me/messages".',
        _nango_target,
    ),
    Check(
        "S9.1",
        "9.1",
        None,
        Severity.ERROR,
        "Of a `builtin` tool, `description` is a text.",
        "Write the description as a text, or leave it out.",
        _builtin,
    ),
    Check(
        "S9.2",
        "9.2",
        None,
        Severity.ERROR,
        "An `mcp` tool has a `server` that is not empty and says in `requiresUserAuth` whether it needs credentials; "
        "`scopes` is a list of texts, `provider` and `description` are texts.",
        'Write it as {"kind": "mcp", "name": "gmail.send", "server": "npm package or URL", "requiresUserAuth": true}.',
        _mcp,
    ),
    Check(
        "S9.3",
        "9.3",
        None,
        Severity.ERROR,
        "A `webhook` tool has a `url` that is not empty; `method` is GET, POST, PUT or DELETE, `requiresUserAuth` is "
        "true or false, `description` is a text.",
        'Write it as {"kind": "webhook", "name": "notify", "url": "https://example.org/hook", "method": "POST"}.',
        _webhook,
    ),
    Check(
        "S9.4",
        "9.4",
        None,
        Severity.ERROR,
        "A `nango` tool says in `requiresUserAuth` whether it needs credentials; `method` is GET, POST, PUT, PATCH or "
        "DELETE, `scopes` is a list of texts, `description` is a text.",
        'Add "requiresUserAuth": true or false, and give each other member the form named here or leave it out.',
        _nango,
    ),
    Check(
        "S19.3",
        "19",
        None,
        Severity.WARNING,
        "What a tool is called, where it leads and what it asks for is what it looks like.",
        "Ask whoever wrote the file; grant it nothing before you know whom you would be granting it to.",
        _disguised,
    ),
    Check(
        "S9.4-endpoint",
        "9.4",
        None,
        Severity.ERROR,
        "The `endpoint` of a `nango` tool is a path at its provider.",
        'Write the path alone, such as "/me/messages".',
        _endpoint,
    ),
)
