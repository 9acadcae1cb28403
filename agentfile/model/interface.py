"""What goes into an agent, what comes out, how it is started and what it needs of the world, as values.

Source: `.agent` format 10 to 13.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from agentfile.model.blueprint import Members
from agentfile.shapes import TEXTS, each, one

Scalar: TypeAlias = str | int | float | bool


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
