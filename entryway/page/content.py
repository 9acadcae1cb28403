"""What the page about one agent shows beside its offerings, part by part.

Source: section 9 of `rules-beyond-chapter-6`; chapters 6.9 and 6.10.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from descriptor.pointers import tokens
from descriptor.projections.agentdoc_looked import Members, object_of, objects_in
from descriptor.strictjson import JsonValue
from entryway.envelope import ENVELOPE_TAG
from entryway.page import measures, words
from entryway.page.facts import (
    MOST_OFFERINGS,
    Document,
    Fact,
    Held,
    Listed,
    Offering,
    few,
    held_by,
    listed,
    offerings_of,
    readable,
    text_of,
    when,
)
from entryway.page.text import link

_ENTRYWAY_BINDING = ENVELOPE_TAG.decode().strip()
_PLAIN_ENTRYWAY = re.compile(r"(https?://(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?)/entryway")

MOST_UNSAID = 400
"""Places that are listed one by one as not stated; the AgentDoc lists them all."""


@dataclass(frozen=True)
class Content:
    """Everything a template is given, by the parts of the page."""

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


def content_of(members: Members) -> Content:
    """What the page shows of an AgentDoc."""
    document = Document(members)
    subject = object_of(members.get("subject"))
    sold = document.get("sells", "offerings")
    sources = [one for _, one in objects_in(members.get("sources"))]
    signature = next((str(one.get("signature")) for one in sources if one.get("kind") == "agent-descriptor"), "")
    unsaid, within = _unsaid(document)
    return Content(
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
        door=_door(document),
        data=_data(document),
        settings=listed(readable(document.get("told", "run_config", "settings")), _setting),
        models=_listing(document.get("told", "run_config", "tested_models")),
        also=list(_also(document)),
        versions=[_version(one) for _, one in objects_in(document.get("standing", "versions"))],
        older=bool(document.get("standing", "older_versions")),
        peer=list(_peer(object_of(document.get("standing", "peer")))),
        sources=[_source(one) for one in sources],
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


def _door(document: Document) -> Mapping[str, object]:
    """Who gets in and how. No schemes stated, none needed, and a list are three different answers."""
    admission, sealing = document.text("access", "access", "admission"), document.text("access", "sealing")
    only, served = object_of(document.get("access", "accepting")), document.get("access", "interfaces_served")
    return {
        "admission": None if admission is None else words.ADMISSION[admission],
        "statement": document.text("access", "access", "statement"),
        "schemes": listed(document.get("access", "access", "schemes"), _scheme),
        "said_at_the_door": few(sorted(only)) if only else None,
        "sealing": None if sealing is None else words.SEALING[sealing],
        "sealing_reach": words.SEALING_REACH if sealing is not None else None,
        "key": document.text("access", "encryption_key"),
        "interfaces": listed(served, _interface),
        "base": next(filter(None, (_base(one) for _, one in objects_in(served))), None),
    }


def _scheme(one: Members) -> Mapping[str, object]:
    where = f"{one.get('in')} {one.get('name')}" if one.get("in") and one.get("name") else one.get("name")
    return {
        "what": f"{words.SCHEMES[str(one['type'])]}, {words.TRANSPORTS[str(one['transport'])]}",
        "where": where,
        "description": one.get("description"),
        "id": one.get("id"),
    }


def _interface(one: Members) -> Mapping[str, object]:
    url = text_of(one.get("url"))
    return {"url": url, "link": None if url is None else link(url), "protocol": one.get("protocolBinding")}


def _base(one: Members) -> str | None:
    """The base URL of an entryway, where it is so plain that a reader may paste it into a shell."""
    url = text_of(one.get("url")) or ""
    plain = _PLAIN_ENTRYWAY.fullmatch(url) if one.get("protocolBinding") == _ENTRYWAY_BINDING else None
    return None if plain is None else plain[1]


def _data(document: Document) -> Mapping[str, object]:
    """What the operator says of what it is sent. A promise that is left out is a promise that is not made."""
    block = document.get("handling", "data_use")
    use = object_of(block)
    promises = use.get("promises")
    made = [name for name in words.PROMISES if isinstance(promises, dict) and promises.get(name) is True]
    days = object_of(use.get("retention")).get("max_days")
    memory = text_of(use.get("memory"))
    return {
        "stated": block is not None,
        "promises": None if promises is None else [words.PROMISES[name] for name in made],
        "not_promised": [said for name, said in words.PROMISES_NOT_MADE.items() if name not in made],
        "kept": _kept(days) if isinstance(days, int) else None,
        "memory": None if memory is None else words.MEMORY[memory],
        "processors": listed_or_named(use.get("processors")),
        "countries": _listing(_upper(use.get("processed_in"))),
        "document": [_reference("A document about it", document.get("handling", "handling_ref"))],
        "compliance": listed(readable(document.get("handling", "compliance")), _claim),
    }


def _kept(days: int) -> str:
    return "It is not kept." if days == 0 else f"It is kept for {measures.count(days, 'day')} at most."


def _upper(value: JsonValue) -> JsonValue:
    return [str(one).upper() for one in value] if isinstance(value, list) else value


def listed_or_named(value: JsonValue) -> Listed:
    """Services, each a name or an object with one."""
    if not isinstance(value, list):
        return Listed(None)
    named: list[JsonValue] = [one if isinstance(one, dict) else {"name": one} for one in value]
    return listed(named, lambda one: {"name": one.get("name"), "purpose": one.get("purpose")})


def _claim(one: Members) -> Mapping[str, object]:
    attestation = object_of(one.get("attestation"))
    url = text_of(attestation.get("url"))
    return {
        "standard": one.get("standard"),
        "scope": one.get("scope"),
        "by": attestation.get("by"),
        "url": url,
        "link": None if url is None else link(url),
        "expires": attestation.get("expires_at"),
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
    yield Fact("Interfaces", _listing(document.get("shape", "interfaces")))
    yield Fact("Runs in", _listing(document.get("shape", "hosted_in")))
    fleet = document.get("shape", "fleet")
    one = {True: "Several processes answer as this one agent.", False: "One process answers."}
    yield Fact("How many answer", one[fleet] if isinstance(fleet, bool) else None)
    yield _reference("Prices", document.get("sells", "price_ref"))
    yield _reference("Samples of its work", document.get("sells", "samples_ref"))
    yield Fact("Types it takes in general", _listing(document.get("asked", "default_input_modes")))
    yield Fact("Types it gives in general", _listing(document.get("leaves", "default_output_modes")))


def _reference(label: str, value: JsonValue) -> Fact:
    """A pointer to another document."""
    if isinstance(value, dict):
        location = text_of(value.get("location"))
        digest = f"The document with the digest {value.get('digest')}"
        return Fact(label, digest) if location is None else Fact(label, location, digest, link(location))
    text = text_of(value)
    return Fact(label, text, link=None if text is None else link(text))


def _listing(value: JsonValue) -> str | None:
    return few(value) if isinstance(value, list) else None


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


def _source(one: Members) -> Mapping[str, object]:
    url = text_of(one.get("url"))
    kind = str(one.get("kind"))
    relative = url is not None and _is_path(url)
    return {
        "kind": words.SOURCES.get(kind, kind),
        "url": url,
        "link": url if relative else None if url is None else link(url),
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
