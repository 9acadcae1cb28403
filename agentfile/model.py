"""An `.agent` file as values: one class for each object that the format names, in the order of its sections.

The invariant: an `AgentFile` that `agentfile.parse` gave back broke no rule, so each member has the form its class
says. `None` is a member that the file does not have, and nothing else: JSON's `null` is refused. `other` holds the
members that the format does not name, as they stand; section 14's objects are closed and have none. Members that
hold plain JSON (a JSON Schema, `proof`, `config`, `other`) are to be treated as read-only at every level.

Names are the format's in snake case.

Source: `.agent` format 6 to 17.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

from agentfile.forms import is_number, is_pricing, is_string, is_strings
from agentfile.shapes import TEXTS, BareText, Shape, each, each_of, one, shaped
from agentfile.vocabulary import SCHEMA
from descriptor.strictjson import JsonValue

Members: TypeAlias = Mapping[str, JsonValue]
Scalar: TypeAlias = str | int | float | bool


@dataclass(frozen=True)
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


@dataclass(frozen=True, kw_only=True)
class ParameterOption:
    """One choice of a `select`. Source: 10."""

    value: Scalar
    label: str
    other: Members = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """The shape of a file that a parameter asks for. Source: 10.2."""

    kind: str
    accepts: tuple[str, ...] = field(metadata=TEXTS)
    structure: tuple[str, ...] | None = field(default=None, metadata=TEXTS)
    other: Members = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """What the owner sets before a run. `agentfile.parameters` settles and substitutes. Source: 10."""

    name: str
    label: str
    type: str
    required: bool
    options: tuple[ParameterOption, ...] | None = field(default=None, metadata=each(ParameterOption))
    artifact: Artifact | None = field(default=None, metadata=one(Artifact))
    description: str | None = None
    default: Scalar | None = None
    placeholder: str | None = None
    other: Members = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """What the agent takes. `accepts`: of `text`, `audio`, `image`. `schema`: a JSON Schema. Source: 11.1."""

    accepts: tuple[str, ...] = field(metadata=TEXTS)
    placeholder: str | None = None
    schema: Members | None = None
    other: Members = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """What the agent gives. `shape`: `text`, `json`, or `void` for an agent that acts in silence. Source: 11.2."""

    shape: str
    schema: Members | None = None
    description: str | None = None
    other: Members = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ScheduleTrigger:
    """`cron` is read in `timezone`, or in the host's when there is none. Source: 12."""

    type: Literal["schedule"] = "schedule"
    cron: str
    prompt: str | None = None
    timezone: str | None = None
    label: str | None = None
    other: Members = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class WebhookTrigger:
    """Started by an inbound HTTP request. Source: 12."""

    type: Literal["webhook"] = "webhook"
    path: str
    other: Members = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ApiTrigger:
    """Started by an API call. Source: 12."""

    type: Literal["api"] = "api"
    endpoint: str | None = None
    other: Members = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class OtherTrigger:
    """`manual`, which has no members of its own, and every type that the format does not know. Source: 12."""

    type: str
    other: Members = field(default_factory=dict)


Trigger: TypeAlias = ScheduleTrigger | WebhookTrigger | ApiTrigger | OtherTrigger
TRIGGERS = {"schedule": ScheduleTrigger, "webhook": WebhookTrigger, "api": ApiTrigger}


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Whose identity the agent speaks with. `role`: `owner`, whoever runs the file. Source: 13."""

    channel: str
    role: str | None = None
    other: Members = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Read:
    """What the agent reads. Source: 13."""

    provider: str
    resource: str
    other: Members = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """How the agent delivers. `via`: the tool that does it. `to`: `owner`. Source: 13."""

    channel: str
    via: str
    to: str | None = None
    other: Members = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Connectivity:
    """What the agent needs from the world beyond credentials. Source: 13."""

    identities: tuple[Identity, ...] | None = field(default=None, metadata=each(Identity))
    reads: tuple[Read, ...] | None = field(default=None, metadata=each(Read))
    delivers: tuple[Delivery, ...] | None = field(default=None, metadata=each(Delivery))
    other: Members = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Accepts:
    """What may be bound to a source: at least one list is not empty. Closed. Source: 14."""

    extensions: tuple[str, ...] | None = field(default=None, metadata=TEXTS)
    media_types: tuple[str, ...] | None = field(default=None, metadata=TEXTS)
    provider_types: tuple[str, ...] | None = field(default=None, metadata=TEXTS)


@dataclass(frozen=True, kw_only=True)
class Structure:
    """The shape of a source, never what is in it. Closed. `agentfile.structures` matches it. Source: 14."""

    required: tuple[str, ...] | None = field(default=None, metadata=TEXTS)
    optional: tuple[str, ...] | None = field(default=None, metadata=TEXTS)
    schema: JsonValue = None


@dataclass(frozen=True, kw_only=True)
class Freshness:
    """How old a source may be. Closed. Source: 14.2."""

    mode: str
    on_stale: str
    max_age_seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What a source's word counts. `priority`: 0 to 100. Closed. Source: 14.3."""

    authority: str
    conflict_policy: str
    citations: str
    priority: float | None = None


@dataclass(frozen=True, kw_only=True)
class Access:
    """What may be done with a source. `boundaries`: where it may be written, to be enforced. Closed. Source: 14.1."""

    capabilities: tuple[str, ...] = field(metadata=TEXTS)
    boundaries: tuple[str, ...] | None = field(default=None, metadata=TEXTS)


@dataclass(frozen=True, kw_only=True)
class Approval:
    """What of it needs the owner's word. Closed. Source: 14.4."""

    read: str | None = None
    write: str | None = None
    destructive: str | None = None


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """What of a source may go along with the file: policy only. Closed. Source: 14.5."""

    strategy: str
    derived_knowledge: str | None = None
    recipient_may_override: bool | None = None


@dataclass(frozen=True, kw_only=True)
class SourceRequirement:
    """What kind of thing the agent works from, never which. Closed. Source: 14."""

    id: str
    label: str
    role: str
    kind: str
    required: bool
    access: Access = field(metadata=one(Access))
    description: str | None = None
    accepts: Accepts | None = field(default=None, metadata=one(Accepts))
    structure: Structure | None = field(default=None, metadata=one(Structure))
    freshness: Freshness | None = field(default=None, metadata=one(Freshness))
    truth: Truth | None = field(default=None, metadata=one(Truth))
    approval: Approval | None = field(default=None, metadata=one(Approval))
    sharing: Sharing | None = field(default=None, metadata=one(Sharing))


@dataclass(frozen=True, kw_only=True)
class EvaluationCheck:
    """One check before the agent is deployed. `assertion`: declarative, never code. Source: 15.1."""

    id: str
    name: str
    type: str
    phase: str
    severity: str
    source_ids: tuple[str, ...] | None = field(default=None, metadata=TEXTS)
    assertion: str | None = None
    description: str | None = None
    config: Members | None = None
    other: Members = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """The checks, and what a failed one does. `minimum_score`: 0 to 1. Source: 15."""

    version: Literal[1] = 1
    failure_policy: str
    checks: tuple[EvaluationCheck, ...] = field(metadata=each(EvaluationCheck))
    minimum_score: float | None = None
    other: Members = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Pricing:
    """`kind`: `free`, or `one-time` with `amount_usd`. Source: 16."""

    kind: str
    amount_usd: float | None = field(default=None, metadata=shaped(Shape(fits=is_number)))
    other: Members = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Metadata:
    """Where the file comes from, in free form: a member of another form than is usual is in `other`. Source: 16."""

    source_url: str | None = field(default=None, metadata=shaped(Shape(fits=is_string)))
    source_user_id: str | None = field(default=None, metadata=shaped(Shape(fits=is_string)))
    tags: tuple[str, ...] | None = field(default=None, metadata=shaped(Shape(many=True, fits=is_strings)))
    pricing: Pricing | None = field(default=None, metadata=one(Pricing, fits=is_pricing))
    other: Members = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class BrainPage:
    """A page of what the agent knows of its owner's world. Private. Source: 17."""

    title: str
    content: str = field(repr=False)
    slug: str | None = None
    summary: str | None = field(default=None, repr=False)
    links: tuple[str, ...] | None = field(default=None, metadata=TEXTS)
    sources: tuple[str, ...] | None = field(default=None, metadata=TEXTS)
    other: Members = field(default_factory=dict, repr=False)


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One thing the agent learned. Private. Source: 17."""

    key: str
    value: str = field(repr=False)
    importance: float | None = None
    other: Members = field(default_factory=dict, repr=False)


@dataclass(frozen=True, kw_only=True)
class AgentFile:
    """An `.agent` file of version 1.

    `schema`: the file's `$schema`, either address of version 1. `version`: of the agent. `exported_at`: ISO 8601; a
    file that was read has it always, and one that is made to be built need not. `brain` and `memory` are private.

    Source: 6.
    """

    schema: str = field(default=SCHEMA, metadata=shaped(Shape(name="$schema")))
    id: str
    name: str
    description: str
    version: str
    exported_at: str | None = None
    emoji: str | None = None
    blueprint: Blueprint = field(metadata=one(Blueprint))
    parameters: tuple[Parameter, ...] | None = field(default=None, metadata=each(Parameter))
    inputs: Inputs = field(metadata=one(Inputs))
    outputs: Outputs | None = field(default=None, metadata=one(Outputs))
    triggers: tuple[Trigger, ...] | None = field(default=None, metadata=each_of(TRIGGERS, "type", OtherTrigger))
    connectivity: Connectivity | None = field(default=None, metadata=one(Connectivity))
    sources: tuple[SourceRequirement, ...] | None = field(default=None, metadata=each(SourceRequirement))
    evaluation: Evaluation | None = field(default=None, metadata=one(Evaluation))
    metadata: Metadata | None = field(default=None, metadata=one(Metadata))
    brain: tuple[BrainPage, ...] | None = field(default=None, metadata=each(BrainPage), repr=False)
    memory: tuple[Fact, ...] | None = field(default=None, metadata=each(Fact), repr=False)
    other: Members = field(default_factory=dict)
