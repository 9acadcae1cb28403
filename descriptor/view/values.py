"""What a reader has of a Descriptor: typed values, in which `None` means that the operator has not said.

The invariant: nothing here is a default, but for those that the chapter itself defines and docstrings name. An empty
tuple is a statement. Every value is the operator's word, `declared`; where one says what applies it
(`decided_by`), that is declared as well. `other` holds the members the chapter does not name, as they stand.

Source: chapters 6.2, 6.4, 6.9, 6.10 and 6.11.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from descriptor.strictjson import JsonValue

Members: TypeAlias = Mapping[str, JsonValue]


@dataclass(frozen=True)
class Money:
    """`amount_micro`: millionths of one unit of `currency` (ISO 4217)."""

    amount_micro: int
    currency: str


@dataclass(frozen=True)
class Limit:
    """A ceiling for each caller. `decided_by`: `rule`, `model`, or `None` for not stated."""

    most: float
    decided_by: str | None

    @property
    def enforced(self) -> bool:
        """Whether the operator says that the node or runtime applies it. Not stated is not enforced."""
        return self.decided_by == "rule"


@dataclass(frozen=True)
class Ceiling:
    """A bound on one job. `most`: seconds, messages, or money. `decided_by`: `rule`, `model`, or `None`."""

    most: int | Money
    decided_by: str | None

    @property
    def enforced(self) -> bool:
        """Whether the operator says that the node or runtime stops the job. Not stated is not enforced."""
        return self.decided_by == "rule"


@dataclass(frozen=True)
class Input:
    """What an offering takes. `max_bytes`: bytes. `one_of`: the group of which any input does."""

    name: str | None
    kind: str | None
    required: bool | None
    external: bool | None
    via: tuple[str, ...] | None
    one_of: str | None
    max_bytes: int | None
    fields: tuple[str, ...] | None
    other: Members = field(repr=False)


@dataclass(frozen=True)
class Output:
    """What an offering gives. `when`: `per_task` or `standing`. `working`: the agent's working out."""

    name: str | None
    kind: str | None
    when: str | None
    working: bool | None
    other: Members = field(repr=False)


@dataclass(frozen=True)
class System:
    """A standing system. `name` is read from `role` where the document has no `name`.

    `access`: `read`, `write` or `trigger`.
    """

    name: str | None
    access: str | None
    needs: str | None
    other: Members = field(repr=False)


@dataclass(frozen=True)
class Workspace:
    """A resource an offering works in, by `kind` and `access`; or a standing `system`, which says its own access."""

    kind: str | None
    access: str | None
    purpose: str | None
    system: str | None
    other: Members = field(repr=False)


@dataclass(frozen=True)
class Need:
    """What is in hand before work starts. `kind`: resource, file, tool, credential or text; `value`: what stands there.

    `beside`: a resource's access, a tool's protocol, a credential's scope.
    """

    kind: str
    value: str
    beside: str | None
    description: str | None
    other: Members = field(repr=False)


@dataclass(frozen=True)
class Delivers:
    """What the caller gets, and how."""

    final: str | None
    interim: bool | None
    in_resource: bool | None


@dataclass(frozen=True)
class Reporting:
    """The level of progress reports. `every`: an ISO 8601 duration, of `check_ins` only."""

    level: str
    every: str | None


@dataclass(frozen=True)
class Revisions:
    """What a change to delivered work costs: so many included for so many days, then `flat` or by step."""

    count: int
    window_days: int
    flat: Members | None
    steps: Mapping[str, Members] | None


@dataclass(frozen=True)
class Offering:
    """One hireable thing.

    `scope` is what a reader goes by: an absent one is task-specific, as the chapter defines; one that is not
    recognized, or open-with-focus without a readable focus, is open-ended. `scope_stated` is the word that stands there
    and is recognized. `authority` is whole or `None`. `input_modes` and `output_modes` are the offering's own, else the
    agent's, else `None`.
    """

    id: str | None
    name: str | None
    description: str | None
    inputs: tuple[Input, ...] | None
    outputs: tuple[Output, ...] | None
    scope: str
    scope_stated: str | None
    focus: str | None
    role: str | None
    workspace: tuple[Workspace, ...] | None
    authority: tuple[str, ...] | None
    authority_decided_by: str | None
    ceilings: Mapping[str, Ceiling]
    revisions: Revisions | None
    input_modes: tuple[str, ...] | None
    output_modes: tuple[str, ...] | None
    needs: tuple[Need, ...] | None
    delivers: Delivers | None
    reporting: Reporting | None
    pointer: str
    other: Members = field(repr=False)


@dataclass(frozen=True)
class Limits:
    """Ceilings for each caller.

    `model_budget_per_day`: as the operator counts it. `max_inbound_chars`: UTF-16 code units.
    """

    requests_per_hour: Limit | None
    model_budget_per_day: Limit | None
    past_them: str | None
    max_inbound_chars: int | None
    other: Members = field(repr=False)


@dataclass(frozen=True)
class Reference:
    """A pointer to a document that keeps its own home: `text`, or `digest` with an optional `location`."""

    text: str | None
    digest: str | None
    location: str | None


@dataclass(frozen=True)
class Setting:
    """A setting of a job.

    `allowed` is `None` where no list is stated: then a preference takes any value of the default's type, and a rule
    whose default is a number takes any that is not over it. `job_may_set` is false where it is absent, as the chapter
    defines.
    """

    name: str
    kind: str
    default: str | float | bool
    allowed: tuple[JsonValue, ...] | None
    job_may_set: bool


@dataclass(frozen=True)
class NamedConfig:
    """One of the author's run configs. `digest` is what the document says, and is not recomputed here."""

    name: str
    settings: Members
    digest: str | None


@dataclass(frozen=True)
class RunConfig:
    """What a job may set. `replay` is false where it is absent, as the chapter defines."""

    settings: Mapping[str, Setting]
    tested_models: tuple[str, ...] | None
    named: tuple[NamedConfig, ...] | None
    replay: bool
    other: Members = field(repr=False)


@dataclass(frozen=True)
class Processor:
    """A service that content passes through."""

    name: str
    purpose: str | None


@dataclass(frozen=True)
class DataUse:
    """What happens to content. `promises` holds those that are made, and says nothing of others."""

    promises: frozenset[str] | None
    max_days: int | None
    memory: str | None
    processors: tuple[Processor, ...] | None
    processed_in: frozenset[str] | None


@dataclass(frozen=True)
class Claim:
    """A compliance posture, self-declared, its attestation included. `expires_at`: a date or RFC 3339."""

    standard: str
    scope: str | None
    by: str | None
    url: str | None
    expires_at: str | None


@dataclass(frozen=True)
class Scheme:
    """One way to present identity; any one of several does."""

    id: str
    transport: str
    type: str
    in_: str | None
    name: str | None
    scheme: str | None
    description: str | None


@dataclass(frozen=True)
class Access:
    """The door. An admission that is not recognized is `None`, never open.

    `schemes`: `None` says nothing, `()` says that there is nothing to present, and of several any one does.
    """

    admission: str | None
    statement: str | None
    schemes: tuple[Scheme, ...] | None
    other: Members = field(repr=False)
