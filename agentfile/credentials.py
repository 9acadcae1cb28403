"""The credentials that the tools of an `.agent` file need, as its owner is to see them before granting any.

The invariant: every tool that says it needs its user's authorization is in exactly one of `Needs.by_provider` and
`Needs.unnamed`, and every scope is shown as the file writes it: nothing is widened, renamed or left out. Providers
and scopes are compared as they are written, since a name that differs in one letter may be somebody else's.

Source: `.agent` format 9.5; 19, item 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from descriptor.strictjson import JsonValue

_MERGED = ("mcp", "nango")


@dataclass(frozen=True)
class Need:
    """What is needed of one provider.

    `scopes`: each scope with the names of the tools that ask for it. `tools`: all the tools behind this need.
    `without_scopes`: those of them that state no scope, so that what they will ask for is not known from the file.
    """

    provider: str
    scopes: Mapping[str, tuple[str, ...]]
    tools: tuple[str, ...]
    without_scopes: tuple[str, ...]


@dataclass(frozen=True)
class Unnamed:
    """A tool that needs authorization from nobody it names. `target`: its MCP server or its URL, as written."""

    tool: str
    kind: str
    target: str
    scopes: tuple[str, ...]


@dataclass(frozen=True)
class Needs:
    """The needs by provider, in the order in which the file comes to them, and the tools that name no provider."""

    by_provider: tuple[Need, ...]
    unnamed: tuple[Unnamed, ...]


def credential_needs(tools: Iterable[JsonValue]) -> Needs:
    """What the entries of `blueprint.tools`, accepted by the parser, need of their user. Raises nothing.

    The format merges `mcp` and `nango` tools by provider. An `mcp` tool need not name one, and a `webhook` tool
    cannot: these are told one by one.

    >>> mail = {"kind": "nango", "name": "mail.list", "provider": "mail", "scopes": ["Read"], "requiresUserAuth": True}
    >>> need, = credential_needs(["create_reminder", mail, {**mail, "name": "mail.find"}]).by_provider
    >>> need.provider, need.scopes
    ('mail', {'Read': ('mail.list', 'mail.find')})
    """
    providers: dict[str, dict[str, dict[str, None]]] = {}
    unnamed: list[Unnamed] = []
    for tool in tools:
        if not isinstance(tool, dict) or tool.get("requiresUserAuth") is not True:
            continue
        name, kind, provider, scopes = str(tool.get("name")), tool.get("kind"), tool.get("provider"), _scopes(tool)
        if kind in _MERGED and isinstance(provider, str) and provider.strip():
            providers.setdefault(provider, {}).setdefault(name, {}).update(scopes)
        else:
            target = tool.get("server", tool.get("url", tool.get("endpoint", "")))
            unnamed.append(Unnamed(name, str(kind), str(target), tuple(scopes)))
    return Needs(tuple(_need(provider, asked) for provider, asked in providers.items()), tuple(unnamed))


def _need(provider: str, asked: Mapping[str, Mapping[str, None]]) -> Need:
    by_scope: dict[str, list[str]] = {}
    for tool, scopes in asked.items():
        for scope in scopes:
            by_scope.setdefault(scope, []).append(tool)
    return Need(
        provider,
        scopes={scope: tuple(tools) for scope, tools in by_scope.items()},
        tools=tuple(asked),
        without_scopes=tuple(tool for tool, scopes in asked.items() if not scopes),
    )


def _scopes(tool: Mapping[str, JsonValue]) -> dict[str, None]:
    """In the order of the file, each once."""
    scopes = tool.get("scopes")
    stated = scopes if isinstance(scopes, list) else []
    return dict.fromkeys(scope for scope in stated if isinstance(scope, str))
