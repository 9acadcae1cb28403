"""What the page about one agent shows beside its offerings, part by part.

Source: section 9 of `rules-beyond-chapter-6`; chapters 6.9 and 6.10.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from descriptor.pointers import tokens
from descriptor.projections.agentdoc_looked import Members, object_of, objects_in
from descriptor.strictjson import JsonValue
from entryway.page import measures, words
from entryway.page.facts import (
    MOST_ENTRIES,
    Document,
    Fact,
    Held,
    Listed,
    few,
    held_by,
    listed,
    listing,
    readable,
    reference,
    text_of,
    when,
)
from entryway.page.offerings import MOST_OFFERINGS, Offering, offerings_of
from entryway.page.terms import data_of, door_of
from entryway.page.text import link

MOST_UNSAID = 400
"""Places that are listed one by one as not stated; the AgentDoc lists them all."""


@dataclass(frozen=True)
class Content:
    """Everything a template is given, by the parts of the page."""

    served: bool
    name: str | None
    agent_id: str
    does: str | None
    guest: bool
    glance: Sequence[Fact]
    signature: str
    signed: str
    offerings: Sequence[Offering] | None
    more_offerings: int
    refusals: str | None
    limits: Sequence[Held]
    limit_facts: Sequence[Fact]
    systems: Listed
    door: Mapping[str, object]
    data: Mapping[str, object]
    settings: Listed
    models: str | None
    also: Sequence[Fact]
    versions: Sequence[Mapping[str, object]]
    older: bool
    peer: Sequence[Fact]
    noticed: Sequence[Mapping[str, object]]
    sources: Sequence[Mapping[str, object]]
    differences: Sequence[str]
    former: Sequence[str]
    unreadable: Sequence[str]
    unsaid: Sequence[str]
    unsaid_within: Sequence[str]
    more_unsaid: int
    assembled_at: str
    assembled_by: str
    stale_after: str | None


def content_of(members: Members, *, served: bool = True) -> Content:
    """What the page shows of an AgentDoc. `served`: whether the node of that agent serves it, beside what it links."""
    document = Document(members)
    subject = object_of(members.get("subject"))
    sold = document.get("sells", "offerings")
    sources = [one for _, one in objects_in(members.get("sources"))]
    signature = next((str(one.get("signature")) for one in sources if one.get("kind") == "agent-descriptor"), "")
    unsaid, within = _unsaid(document)
    return Content(
        served=served,
        name=text_of(subject.get("handle")),
        agent_id=str(subject.get("id")),
        does=document.text("identity", "does"),
        guest=document.get("standing", "standing") == "guest",
        glance=list(_glance(document)),
        signature=signature,
        signed=words.SIGNATURES.get(signature, words.NOT_STATED),
        offerings=offerings_of(document) if isinstance(sold, list) else None,
        more_offerings=max(0, len(sold) - MOST_OFFERINGS) if isinstance(sold, list) else 0,
        refusals=document.text("refuses", "refusals"),
        limits=list(_limits(document)),
        limit_facts=list(_limit_facts(document)),
        systems=listed(document.get("reaches", "systems"), _system),
        door=door_of(document),
        data=data_of(document),
        settings=listed(readable(document.get("told", "run_config", "settings")), _setting),
        models=listing(document.get("told", "run_config", "tested_models")),
        also=list(_also(document)),
        versions=[_version(one) for _, one in objects_in(document.get("standing", "versions"))],
        older=bool(document.get("standing", "older_versions")),
        peer=list(_peer(object_of(document.get("standing", "peer")))),
        noticed=[one for _, one in objects_in(document.get("standing", "reports"))][-MOST_ENTRIES:],
        sources=[_source(one, served=served) for one in sources],
        differences=[_difference(one) for _, one in objects_in(members.get("differences"))],
        former=[f"{one.get('path')} is read from {one.get('pointer')}" for _, one in objects_in(members.get("former"))],
        unreadable=[str(one) for one in sorted(map(str, document.unreadable))],
        unsaid=unsaid,
        unsaid_within=within[:MOST_UNSAID],
        more_unsaid=max(0, len(within) - MOST_UNSAID),
        assembled_at=str(members.get("assembled_at")),
        assembled_by=str(members.get("assembled_by")),
        stale_after=text_of(members.get("stale_after")),
    )


def _glance(document: Document) -> Iterator[Fact]:
    """What a stranger wants to know first."""
    acts_for = document.text("identity", "acts_for")
    organization = document.text("identity", "organization_name")
    whom = None if acts_for is None else words.ACTS_FOR[acts_for]
    yield Fact("Acts for", whom if organization is None else f"the organization {organization}")
    interaction = document.text("shape", "interaction")
    yield Fact(
        "When you write",
        None if interaction is None else words.INTERACTION[interaction],
        words.INTERACTION_NOT_STATED if interaction is None else "",
    )
    admission = document.text("access", "access", "admission")
    yield Fact("Who gets in", None if admission is None else words.ADMISSION[admission])
    version = document.text("identity", "agent_version")
    current = [one for _, one in objects_in(document.get("standing", "versions")) if one.get("current") is True]
    since = when(current[0].get("published_at")) if current else None
    yield Fact("Version", version, f"published {since}" if since else "")


def _limits(document: Document) -> Iterator[Held]:
    for name, label in (("requests_per_hour", "Requests in an hour"), ("model_budget_per_day", "Model budget a day")):
        limit = document.get("refuses", "limits", name)
        most = limit.get("most") if isinstance(limit, dict) else limit
        if isinstance(most, int | float):
            decided_by = limit.get("decided_by") if isinstance(limit, dict) else None
            yield Held(label, measures.number(most), held_by(decided_by))


def _limit_facts(document: Document) -> Iterator[Fact]:
    past = document.text("refuses", "limits", "past_them")
    if past is not None:
        yield Fact("Past them", past)
    longest = document.get("refuses", "limits", "max_inbound_chars")
    if isinstance(longest, int):
        yield Fact("Longest text it takes", measures.count(longest, "character"))


def _system(one: Members) -> Mapping[str, object]:
    access = text_of(one.get("access"))
    return {
        "name": one.get("name"),
        "access": None if access is None else words.SYSTEM_ACCESS[access],
        "needs": one.get("needs"),
    }


def _setting(one: Members) -> Mapping[str, object]:
    allowed = one.get("allowed")
    return {
        "name": one.get("name"),
        "kind": words.SETTING_KINDS[str(one["kind"])],
        "default": _plain(one.get("default")),
        "allowed": few([_plain(value) for value in allowed]) if isinstance(allowed, list) else _unlisted(one),
        "yours": "yes" if one.get("job_may_set") is True else "no",
    }


def _unlisted(setting: Members) -> str:
    """What a setting without a list takes: chapter 6.2 says it by its kind and its default."""
    default = setting.get("default")
    if isinstance(default, bool):
        return "yes or no"
    if setting.get("kind") == "rule":
        return f"at most {_plain(default)}"
    return "any number" if isinstance(default, int | float) else "any words"


def _plain(value: JsonValue) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _also(document: Document) -> Iterator[Fact]:
    yield Fact("Standard role", document.text("role", "role"))
    yield Fact("Interfaces", listing(document.get("shape", "interfaces")))
    yield Fact("Runs in", listing(document.get("shape", "hosted_in")))
    fleet = document.get("shape", "fleet")
    one = {True: "Several processes answer as this one agent.", False: "One process answers."}
    yield Fact("How many answer", one[fleet] if isinstance(fleet, bool) else None)
    yield reference("Prices", document.get("sells", "price_ref"))
    yield reference("Samples of its work", document.get("sells", "samples_ref"))
    yield Fact("Types it takes in general", listing(document.get("asked", "default_input_modes")))
    yield Fact("Types it gives in general", listing(document.get("leaves", "default_output_modes")))


def _version(one: Members) -> Mapping[str, object]:
    return {
        "agent_version": one.get("agent_version"),
        "at": one.get("published_at"),
        "digest": one.get("digest"),
        "current": one.get("current") is True,
    }


def _peer(peer: Members) -> Iterator[Fact]:
    for name, label in (("state", "What this node makes of it"), ("reason", "Why")):
        if peer.get(name):
            yield Fact(label, str(peer[name]))
    for name, label in (("first_seen", "First seen"), ("last_seen", "Last seen")):
        if peer.get(name):
            yield Fact(label, when(peer[name]))


def _source(one: Members, *, served: bool) -> Mapping[str, object]:
    url = text_of(one.get("url"))
    kind = str(one.get("kind"))
    relative = url is not None and _is_path(url)
    return {
        "kind": words.SOURCES.get(kind, kind),
        "url": url,
        "link": (url if served else None) if relative else None if url is None else link(url),
        "what": one.get("what"),
        "at": one.get("fetched_at") or one.get("at"),
        "digest": one.get("digest"),
        "signature": words.SIGNATURES.get(str(one.get("signature")), words.NOT_STATED),
        "failed": one.get("signature") == "failed",
        "observed": kind == "observation",
    }


def _is_path(url: str) -> bool:
    """Whether an address is a path of the node that serves the page, and no other host's."""
    return url.startswith("/") and not url.startswith("//") and link(f"http://host{url}") is not None


def _difference(one: Members) -> str:
    where = words.SOURCES.get({"card": "a2a-agent-card"}.get(str(one.get("source")), "entryway-exchange-4"), "")
    there = f"at {one.get('pointer')} it does not say what the Descriptor says at {one.get('descriptor')}"
    return f"{where.partition(',')[0]}: {there}. The Descriptor's word is shown."


def _unsaid(document: Document) -> tuple[list[str], list[str]]:
    """What is not stated of the agent, in words; and within what is stated, place by place."""
    whole, within = [], []
    for path in document.not_stated:
        steps = tokens(path)
        if len(steps) == 2:
            whole.append(words.PLACES.get(steps[1], steps[1]))
        else:
            within.append("/" + "/".join(steps[1:]))
    return whole, within
