"""The file as a value, with where it comes from and what is private in it.

Source: `.agent` format 6, 16 and 17.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from agentfile.forms import is_number, is_pricing, is_string, is_strings
from agentfile.model.blueprint import Blueprint, Members
from agentfile.model.contracts import Evaluation, SourceRequirement
from agentfile.model.interface import TRIGGERS, Connectivity, Inputs, OtherTrigger, Outputs, Parameter, Trigger
from agentfile.shapes import TEXTS, Shape, each, each_of, one, shaped
from agentfile.vocabulary import SCHEMA


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
