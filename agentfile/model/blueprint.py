"""The blueprint as values: model, prompt, tools, guardrails, skills and caveats.

Source: `.agent` format 8 and 9.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

from agentfile.shapes import TEXTS, BareText, each, each_of, one
from descriptor.strictjson import JsonValue

Members: TypeAlias = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class LegacyTool(BareText):
    """A tool that the file names by a bare text: a builtin of that name. Source: 9."""

    kind: ClassVar[Literal["builtin"]] = "builtin"
    description: ClassVar[None] = None


@dataclass(frozen=True, kw_only=True)
class BuiltinTool:
    """A tool that the runtime has itself. Source: 9.1."""

    kind: Literal["builtin"] = "builtin"
    name: str
    description: str | None = None
    other: Members = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class McpTool:
    """A tool of an MCP server. `server`: an npm package or a URL, from an untrusted hand. Source: 9.2."""

    kind: Literal["mcp"] = "mcp"
    name: str
    server: str
    requires_user_auth: bool
    scopes: tuple[str, ...] | None = field(default=None, metadata=TEXTS)
    provider: str | None = None
    description: str | None = None
    other: Members = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class WebhookTool:
    """A tool that is an HTTP endpoint. `url`: from an untrusted hand (`agentfile.targets`). Source: 9.3."""

    kind: Literal["webhook"] = "webhook"
    name: str
    url: str
    method: str | None = None
    requires_user_auth: bool | None = None
    description: str | None = None
    other: Members = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class NangoTool:
    """A tool behind a credential broker. `endpoint`: relative to the provider's API. Source: 9.4."""

    kind: Literal["nango"] = "nango"
    name: str
    provider: str
    endpoint: str
    requires_user_auth: bool
    method: str | None = None
    scopes: tuple[str, ...] | None = field(default=None, metadata=TEXTS)
    description: str | None = None
    other: Members = field(default_factory=dict)


Tool: TypeAlias = LegacyTool | BuiltinTool | McpTool | WebhookTool | NangoTool
TOOLS = {"builtin": BuiltinTool, "mcp": McpTool, "webhook": WebhookTool, "nango": NangoTool}


@dataclass(frozen=True, kw_only=True)
class Guardrails:
    """What has to guard the agent wherever it runs. Source: 8.1."""

    side_effect_gate: str | None = None
    other: Members = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Skill:
    """A procedure that the agent learned, in plain text. `proof` grants nothing. Source: 8.2."""

    name: str
    trigger: str
    recipe: str
    verified: bool | None = None
    proof: Members | None = None
    other: Members = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class CaveatOption:
    """Another way to have what a caveat says is not done. Source: 8.3."""

    label: str
    detail: str
    recommended: bool | None = None
    other: Members = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Caveat:
    """What the agent does instead of what was asked, for people to read before they run it. Source: 8.3."""

    requested: str
    doing: str
    why: str
    options: tuple[CaveatOption, ...] | None = field(default=None, metadata=each(CaveatOption))
    other: Members = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Blueprint:
    """Model, prompt and tools. `max_tokens` and `extended_thinking_budget` are wishes, to be clamped. Source: 8."""

    primary_model: str
    system_prompt: str = field(repr=False)
    tools: tuple[Tool, ...] = field(metadata=each_of(TOOLS, "kind", BuiltinTool, LegacyTool))
    max_tokens: float | None = None
    extended_thinking_budget: float | None = None
    guardrails: Guardrails | None = field(default=None, metadata=one(Guardrails))
    thinking_patterns: tuple[str, ...] | None = field(default=None, metadata=TEXTS)
    architecture: str | None = None
    skills: tuple[Skill, ...] | None = field(default=None, metadata=each(Skill))
    caveats: tuple[Caveat, ...] | None = field(default=None, metadata=each(Caveat))
    other: Members = field(default_factory=dict)
