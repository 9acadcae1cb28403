"""The source requirements, which are closed, and the evaluation contract, as values.

Source: `.agent` format 14 and 15.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from agentfile.model.blueprint import Members
from agentfile.shapes import TEXTS, each, one
from descriptor.strictjson import JsonValue


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
