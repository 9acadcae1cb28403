"""Every MUST and SHOULD of chapter 6, in its order, and the rule that checks it, or why no document can show it.

One entry is one key word of the chapter: MUST and MUST NOT, SHOULD, REQUIRED and REQUIRES, in our words. An entry has
rules or a reason, and may have both: what a rule can see of it, and what it cannot. A test counts the entries against
the chapter, section by section. `docs/rules.md` is made from this table and from the rules.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Obligation:
    """One obligation. `strength`: `MUST` or `SHOULD`. `rules`: ids of what checks it. `elsewhere`: who keeps it, or why
    the document cannot show it; `None` when the rules see all of it."""

    section: str
    strength: str
    sentence: str
    rules: tuple[str, ...] = ()
    elsewhere: str | None = None


def _must(section: str, sentence: str, *rules: str, elsewhere: str | None = None) -> Obligation:
    return Obligation(section, "MUST", sentence, rules, elsewhere)


def _should(section: str, sentence: str, *rules: str, elsewhere: str | None = None) -> Obligation:
    return Obligation(section, "SHOULD", sentence, rules, elsewhere)


_READER = "It binds a reader: `descriptor.view` reads it so."
_PROJECTION = "It binds whoever shows the Descriptor, not the Descriptor."
_DIRECTORY = "It binds a directory: `descriptor.directory` searches so."
_BOUNDARY = "It binds a running node at its boundary; a document says nothing about a request."

OBLIGATIONS: tuple[Obligation, ...] = (
    _must("6.2", '`format` says "agent-descriptor-v1".', "D6.2-format"),
    _must(
        "6.2",
        "A signed proposal does not reference a Descriptor without a subject.",
        elsewhere="It binds the proposal, which is another document.",
    ),
    _must(
        "6.2",
        "A registry does not store a Descriptor without a subject as an agent's.",
        elsewhere="It binds a registry: `descriptor.intake` refuses a draft.",
    ),
    _must(
        "6.2",
        "The subject of a bound Descriptor does not change.",
        elsewhere="One document shows one subject. Publishing refuses a document of another subject.",
    ),
    _must("6.2", "A bound Descriptor carries `acts_for`.", "D6.2-acts_for"),
    _must("6.2", "A reader does not guess `acts_for` from anything else.", elsewhere=_READER),
    _must(
        "6.2",
        "At least one input of a `one_of` group arrives with a request.",
        elsewhere=f"{_BOUNDARY} That no member of a group is required on its own is checked: `D6.2-one_of`.",
    ),
    _must(
        "6.2",
        "A renderer lists the deliverables first and does not drop the working pieces.",
        elsewhere=_PROJECTION,
    ),
    _must("6.2", "A writer does not emit `shape`.", "D6.12-shape"),
    _must("6.2", "A reader treats `systems[].role` and `systems[].name` as one member.", elsewhere=_READER),
    _must("6.2", "Where a system carries both, a reader prefers `name`.", elsewhere=_READER),
    _should("6.2", "A writer names a system with `name`.", "D6.2-system-alias"),
    _must("6.2", "A rule whose values are words carries `allowed`.", "D6.2-setting-allowed"),
    _should("6.2", "`tested_models` is a subset of what the model setting allows.", "D6.2-tested_models-allowed"),
    _must(
        "6.2",
        "A declared setting is no credential, key, address or account identifier.",
        "D6.2-setting-secret",
    ),
    _must(
        "6.2",
        "A consumer ignores a member it does not recognize.",
        elsewhere="It binds a consumer: no rule reports an unknown member, and `descriptor.view` passes it on.",
    ),
    _must(
        "6.3",
        "An input that is no file uses a value kind.",
        "D6.3-kind",
        elsewhere="Whether a thing is a file is known only where its kind gives it away.",
    ),
    _must("6.4", "A consumer reads an absent member as not stated, never as a default.", elsewhere=_READER),
    _must(
        "6.4",
        "No address, credential, endpoint or account identifier appears anywhere.",
        "D6.4-shapes-only",
        "D6.9-access-secret",
    ),
    _must(
        "6.5",
        "A Descriptor that describes a changed agent carries a new `agent_version`.",
        elsewhere="It takes two documents: `agent-node diff` says which changes oblige one, and publishing refuses "
        "another document under the same `agent_version` unless it is a respelling.",
    ),
    _should("6.6", "A bound Descriptor carries its operator's signature.", "D6.6-unsigned"),
    _must("6.6", "The statement is by the subject's own key.", "D6.6-signature"),
    _should(
        "6.7",
        "A subject at a domain serves its Descriptor at the well-known address.",
        elsewhere="The node serves it there; which domain leads to it is the operator's.",
    ),
    _should(
        "6.7",
        "A registration carries the Descriptor's location and digest.",
        elsewhere="It binds the registration, which is another document.",
    ),
    _should(
        "6.7",
        "At registration the subject hands over the Descriptor itself.",
        elsewhere="It is an act, and a document does not show it.",
    ),
    _must("6.7", "A registry serves the current Descriptor of a subject.", elsewhere="It binds a registry."),
    _must("6.7", "A registry keeps and serves every version it has stored.", elsewhere="It binds a registry."),
    _must(
        "6.7",
        "A consumer does not merge a registry's copy with the operator's where they disagree.",
        elsewhere="It takes two copies, and binds who holds them.",
    ),
    _should(
        "6.7",
        "A subject answers a request for its own Descriptor.",
        elsewhere="The node does: entryway exchange 2.",
    ),
    _must(
        "6.7",
        "Whoever serves Descriptors keeps serving every version, by digest.",
        elsewhere="The node does: nothing is ever taken out of its store.",
    ),
    _should("6.7", "An operator keeps the history.", elsewhere="The node does: `agent-node history`."),
    _should(
        "6.7",
        "A replacement is announced as an event.",
        elsewhere="The node does: an event is written with every publish.",
    ),
    _must(
        "6.8",
        "A consumer that sees a projection disagree with its Descriptor reports it.",
        elsewhere=_PROJECTION,
    ),
    _must(
        "6.9",
        "A platform declares `guest` on every guest it provisions.",
        elsewhere="Whether an agent is a guest is known to its platform alone.",
    ),
    _must("6.9", "A guest runs under an allowance.", elsewhere="It binds a running agent."),
    _must("6.9", "A guest declares no price and holds no offerings.", "D6.9-guest"),
    _must(
        "6.9",
        "A registry refuses a price or offerings of a guest.",
        "D6.9-guest",
        elsewhere="It binds a registry: `descriptor.intake` refuses what that rule finds.",
    ),
    _must("6.9", "A guest's commitments fit inside its allowance.", elsewhere="It binds a running agent."),
    _should(
        "6.9",
        "A careful caller treats an unknown `interaction` as interactive.",
        elsewhere="It binds a caller.",
    ),
    _should(
        "6.9",
        "`interaction` is derived from how the agent runs.",
        elsewhere="How the agent runs is not in the document.",
    ),
    _must("6.9", "A caller does not read `acts_for` from `interaction`, nor the other way.", elsewhere=_READER),
    _must(
        "6.9",
        "No connection is offered from an agent that does not declare `person`.",
        elsewhere="It binds whoever offers connections.",
    ),
    _must(
        "6.9",
        "No connection is offered to an agent that declares `organization` or `anyone`.",
        elsewhere="It binds whoever offers connections.",
    ),
    _must(
        "6.9",
        "An agent for anyone does not say that it keeps the rules for messages to a person.",
        elsewhere="Those rules are declared in another specification.",
    ),
    _must("6.9", "Modes that are not stated are not read as a refusal.", elsewhere=_READER),
    _should("6.9", "An agent that handles anything beyond text declares its modes.", "D6.9-modes"),
    _should("6.9", "A renderer shows a credential need more prominently.", elsewhere=_PROJECTION),
    _must("6.9", "A reporting level is shown as self-declared.", elsewhere=_PROJECTION),
    _must(
        "6.9",
        "An unreadable reporting level is not presented as if it declared something.",
        "D6.9-reporting",
        elsewhere="`descriptor.view` reads it as not stated.",
    ),
    _must("6.9", "A sender seals to an agent whose posture is `required`.", elsewhere="It binds a sender."),
    _must("6.9", "A receiver that requires sealing refuses a clear request.", elsewhere=_BOUNDARY),
    _should("6.9", "A sender seals when it can, where sealing is preferred.", elsewhere="It binds a sender."),
    _must("6.9", "A sender infers no posture from silence.", elsewhere=_READER),
    _must("6.9", "A sender does not seal to an agent that did not ask for it.", elsewhere="It binds a sender."),
    _must("6.9", "A posture goes with an encryption key.", "D6.9-sealing-key", "D6.9-key-claim"),
    _must(
        "6.9",
        "A registry refuses a posture without a key.",
        "D6.9-sealing-key",
        elsewhere="It binds a registry: `descriptor.intake` refuses what that rule finds.",
    ),
    _must(
        "6.9",
        "Sealing is not described as anonymity or traffic confidentiality.",
        elsewhere="What prose promises is for people to judge.",
    ),
    _must("6.9", "A reader infers no promise that was left out.", elsewhere=_READER),
    _must("6.9", "A reader does not read silence about memory as a clean start.", elsewhere=_READER),
    _must("6.9", "Data use is shown as self-declared.", elsewhere=_PROJECTION),
    _must(
        "6.9",
        "An admission policy that is none of the four is read as unstated, never as open.",
        "D6.9-access",
        elsewhere="`descriptor.view` reads it so.",
    ),
    _must("6.9", "The projections of an agent on a mesh alone name no outside endpoint.", elsewhere=_PROJECTION),
    _must("6.9", "A reader tells no schemes stated from an empty list of schemes.", elsewhere=_READER),
    _must("6.9", "An access declaration carries no secret and nothing of one caller.", "D6.9-access-secret"),
    _must(
        "6.9",
        "A registry drops an access block with a secret in it whole.",
        "D6.9-access-secret",
        elsewhere="It binds a registry: bytes are served as they came, so `descriptor.intake` refuses the document.",
    ),
    _must(
        "6.11",
        "Each scope declares what it requires: inputs and outputs; focus, workspace, authority, outputs and ceilings; "
        "authority, ceilings and data use.",
        "D6.2-offering-sides",
        "D6.11-focus",
        "D6.11-workspace",
        "D6.11-authority-stated",
        "D6.11-outputs",
        "D6.11-open-ceilings",
        "D6.11-data_use",
    ),
    _must("6.11", "A Descriptor carries no scope of the agent as a whole.", "D6.11-agent-level"),
    _should("6.11", "An offering within a focus also names its role.", "D6.11-role"),
    _must("6.11", "A reader does not read an absent authority as empty.", elsewhere=_READER),
    _must(
        "6.11",
        "A registry refuses an authority with a value outside the list.",
        "D6.11-authority",
        elsewhere="It binds a registry: `descriptor.intake` refuses what that rule finds.",
    ),
    _must("6.11", "A reader keeps none of an authority that it could read only in part.", elsewhere=_READER),
    _must("6.11", "`spend_per_job` is stated where the authority includes `spends-money`.", "D6.11-spend_per_job"),
    _must(
        "6.11", "`messages_per_job` is stated where the authority includes `sends-messages`.", "D6.11-messages_per_job"
    ),
    _must("6.11", "An open offering carries `job_seconds` and `cost_per_job`.", "D6.11-open-ceilings"),
    _must(
        "6.11",
        "A ceiling without `decided_by` is not presented as enforced.",
        "D6.11-decided_by",
        elsewhere="It binds a renderer: `descriptor.view` shows such a ceiling as not enforced.",
    ),
    _must(
        "6.11",
        "An install does not raise an offering's ceilings.",
        elsewhere="It takes the package's draft beside the document.",
    ),
    _must("6.11", "A request that allows `spends-money` carries `spend_limit`.", elsewhere=_BOUNDARY),
    _must(
        "6.11",
        "An evaluation record carries no capability case for an open-ended offering.",
        elsewhere="It binds the record, which is another document.",
    ),
    _must(
        "6.11",
        "A reader does not take a pass on an open-ended offering's limits for what it can do.",
        elsewhere="It binds whoever reads the record.",
    ),
    _must("6.11", "An open-ended offering is no match for a search by the work wanted.", elsewhere=_DIRECTORY),
    _must(
        "6.11",
        "An offering within a focus is shown with its scope, focus, authority and ceilings.",
        elsewhere=_DIRECTORY,
    ),
    _must(
        "6.11",
        "An offering within a focus is not presented as able to do particular work.",
        elsewhere=_DIRECTORY,
    ),
)
