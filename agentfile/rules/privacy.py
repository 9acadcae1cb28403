"""What may not stand in a source requirement: its schema is closed, so that nothing private travels on in it.

The invariant: a source that no rule here complains of holds only the members that its class in `agentfile.model` names,
and in the one member that holds anything, `schema`, nothing under a name that a host gives to what it binds.

Source: `.agent` format 3, 14 and 18 (rule 21).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from agentfile import forms
from agentfile.forms import Holder, Path
from agentfile.lookalikes import skeleton, skeletons
from agentfile.rules.table import Check, Document, Problem, Severity
from agentfile.schemas import KEYWORDS
from descriptor.errors import quoted
from descriptor.levels import levels
from descriptor.pointers import pointer_to
from descriptor.strictjson import JsonValue

_WORDED = {
    "accepts": ("extensions", "mediaTypes", "providerTypes"),
    "structure": ("required", "optional"),
    "access": ("boundaries",),
}

# What a host keeps of a binding, as the format lists it and as it is commonly called; each as its skeleton.
_OF_A_BINDING = frozenset(("locator", "credentialref", "adapterid", "binding", "bindingid", "sourcebinding"))
_PRIVATE = _OF_A_BINDING | frozenset(
    (
        *("path", "url", "revision", "displayname"),
        *("credential", "credentials", "secret", "token", "accesstoken", "refreshtoken", "password"),
        *("apikey", "uri", "href", "filepath", "filename", "fileid", "folderid", "driveid", "itemid", "siteid"),
        *("documentid", "spreadsheetid", "workspaceid", "provider", "providerid", "provideritemid", "accountid"),
        *("connectionid", "userid", "tenantid", "owner", "email", "etag", "checksum", "hash", "digest", "content"),
        *("data", "rows", "lastsyncedat", "boundat"),
    )
)
# The keywords of JSON Schema under which members are names in what is described.
_NAMING = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependentRequired")


def _in_schemas(document: Document) -> Iterator[tuple[Path, str]]:
    """The private members in the `schema` of each source's structure, which says a shape and never a value.

    A column may be called `path`, and then a schema stands there: that is no private member, and is looked into.
    """
    for structure, path in document.top.each("sources").one("structure"):
        schema = structure.get("schema")
        if all(_PRIVATE.isdisjoint(skeletons(names)) for names, _ in levels(schema)):
            continue
        left: list[tuple[JsonValue, Path, bool]] = [(schema, (*path, "schema"), False)]
        while left:
            value, at, names = left.pop()
            if isinstance(value, list):
                left += [(entry, (*at, index), False) for index, entry in reversed([*enumerate(value)])]
            for name, inner in value.items() if isinstance(value, dict) else ():
                if _is_private(name) and not (_is_schema(inner) and (names or skeleton(name) not in _OF_A_BINDING)):
                    yield at, name
                left.append((inner, (*at, name), not names and name in _NAMING))


def _texts(source: Holder, path: Path) -> Iterator[tuple[str, Path]]:
    """Every text of a source that its author words, with its path."""
    for name in ("label", "description"):
        value = source.get(name)
        if isinstance(value, str):
            yield value, (*path, name)
    for contract, names in _WORDED.items():
        members = source.get(contract)
        for name in names:
            listed = members.get(name) if isinstance(members, dict) else None
            for index, text in enumerate(listed if isinstance(listed, list) else ()):
                if isinstance(text, str):
                    yield text, (*path, contract, name, index)


def _literals(document: Document) -> Iterator[Problem]:
    sources = document.requirements
    worded = sources.column("label") + sources.column("description")
    for contract, names in _WORDED.items():
        members = sources.one(contract)
        lists = chain.from_iterable(members.column(name) for name in names)
        worded += chain.from_iterable(listed for listed in lists if isinstance(listed, list))
    if forms.gives_away(text for text in worded if isinstance(text, str)):
        texts = [one for source, path in sources for one in _texts(source, path)]
        for place, leak in forms.given_away([text for text, _ in texts]):
            yield pointer_to(*texts[place][1]), f"The text holds what looks like {leak.what}."


def _is_schema(value: JsonValue) -> bool:
    return isinstance(value, bool) or (isinstance(value, dict) and value.keys() <= KEYWORDS)


def _is_private(name: str) -> bool:
    return len(name) < 40 and skeleton(name) in _PRIVATE


def _closed(document: Document) -> Iterator[Problem]:
    for _, name, path in document.undeclared():
        if not _is_private(name):
            yield pointer_to(*path, name), f"{quoted(name)} is no member that the format has here."


def _private(document: Document) -> Iterator[Problem]:
    said = "is private to the runtime that bound the source: it tells which thing is meant, or how to get at it."
    # Of every source, also of those that are too many: what leaks has to be told at once.
    undeclared = ((path, name) for _, name, path in document.undeclared() if _is_private(name))
    for path, name in chain(undeclared, _in_schemas(document)):
        yield pointer_to(*path, name), f"{quoted(name)} {said}"


RULES = (
    Check(
        "S14-closed",
        "14",
        21,
        Severity.ERROR,
        "A source and the objects in it have the members that the format names and no other.",
        "Take it out, or correct its name.",
        _closed,
    ),
    Check(
        "S14-private",
        "14",
        21,
        Severity.ERROR,
        "A source holds no runtime-private member: where it is, which it is and what opens it stay with the host.",
        "Take it out of the file and keep it in the binding, where the agent runs; if the file has been shared, "
        "whoever has it knows.",
        _private,
    ),
    Check(
        "S3-literal",
        "3",
        None,
        Severity.WARNING,
        "No text of a source holds a secret, a phone number or an address: it says what kind of thing is needed.",
        "Say the role of the thing, such as its sheet and columns, and leave which one to whoever runs the file.",
        _literals,
    ),
)
