"""What the page shows of how the agent is asked, and of what happens to what it is sent.

Source: chapter 6.9; section 9 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from descriptor.projections.agentdoc_looked import Members, object_of, objects_in
from descriptor.strictjson import JsonValue
from entryway.envelope import ENVELOPE_TAG
from entryway.page import measures, words
from entryway.page.facts import Document, Listed, few, listed, listing, readable, reference, text_of
from entryway.page.text import link

_ENTRYWAY_BINDING = ENVELOPE_TAG.decode().strip()
_PLAIN_ENTRYWAY = re.compile(r"(https?://(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?)/entryway")


def door_of(document: Document) -> Mapping[str, object]:
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


def data_of(document: Document) -> Mapping[str, object]:
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
        "processors": _listed_or_named(use.get("processors")),
        "countries": listing(_upper(use.get("processed_in"))),
        "document": [reference("A document about it", document.get("handling", "handling_ref"))],
        "compliance": listed(readable(document.get("handling", "compliance")), _claim),
    }


def _kept(days: int) -> str:
    return "It is not kept." if days == 0 else f"It is kept for {measures.count(days, 'day')} at most."


def _upper(value: JsonValue) -> JsonValue:
    return [str(one).upper() for one in value] if isinstance(value, list) else value


def _listed_or_named(value: JsonValue) -> Listed:
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
