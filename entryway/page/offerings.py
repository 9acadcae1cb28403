"""What the page shows of each offering.

Source: chapters 6.2, 6.10 and 6.11.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
    list_of,
    listed,
    text_of,
)

MOST_OFFERINGS = 100
"""A page shows so many; the Descriptor itself has them all."""


@dataclass(frozen=True)
class Offering:
    """One thing to ask for. A `None` is not stated; an empty list is a statement."""

    anchor: str
    name: str | None
    id: str | None
    description: str | None
    scope: str
    scope_means: str
    role: str | None
    inputs: Listed
    grants: Sequence[Mapping[str, object]]
    outputs: Listed
    workings: Sequence[Mapping[str, object]]
    needs: Listed
    workspace: Listed
    authority: Sequence[str] | None
    authority_by: str
    bounds: Sequence[Held]
    further: Sequence[Fact]
    not_stated: Sequence[str]


def offerings_of(document: Document) -> list[Offering]:
    """The offerings that a page shows, at most `MOST_OFFERINGS`."""
    unsaid: dict[str, list[str]] = {}
    for path in document.not_stated:
        steps = tokens(path)
        if len(steps) == 4 and steps[1] == "offerings":
            unsaid.setdefault(steps[2], []).append(steps[3])
    parts = document.offerings()[:MOST_OFFERINGS]
    return [_offering(document, place, one, unsaid.get(str(place), [])) for place, one in enumerate(parts)]


def _offering(document: Document, place: int, parts: Mapping[str, Members], unsaid: Sequence[str]) -> Offering:
    asked, sells, reaches, leaves = (parts[name] for name in ("asked", "sells", "reaches", "leaves"))
    scope, means = _scope(document, place, asked)
    inputs = listed(asked.get("inputs"), _input)
    outputs = listed(leaves.get("outputs"), _output)
    authority = reaches.get("authority")
    return Offering(
        anchor=f"offering-{place + 1}",
        name=text_of(sells.get("name")),
        id=text_of(sells.get("id")),
        description=text_of(sells.get("description")),
        scope=scope,
        scope_means=means,
        role=text_of(parts["role"].get("role")),
        inputs=_only(inputs, lambda one: not one["grant"]),
        grants=[one for one in inputs.entries or () if one["grant"]],
        outputs=_only(outputs, lambda one: not one["working"]),
        workings=[one for one in outputs.entries or () if one["working"]],
        needs=listed(asked.get("needs"), _need),
        workspace=listed(reaches.get("workspace"), _workspace),
        authority=[words.AUTHORITY[str(one)] for one in authority] if isinstance(authority, list) else None,
        authority_by=words.AUTHORITY_BY.get(str(reaches.get("authority_decided_by")), words.AUTHORITY_BY_NOT_STATED),
        bounds=list(_bounds(object_of(parts["refuses"].get("ceilings")))),
        further=list(_further(asked, sells, leaves)),
        # A field is for an open offering to state; of another nobody expects one.
        not_stated=[words.PLACES.get(name, name) for name in unsaid if name != "focus" or asked.get("scope") is None],
    )


def _scope(document: Document, place: int, asked: Members) -> tuple[str, str]:
    """What it may be asked, as a reader goes by it: chapter 6.11 says what an absent and an unreadable word mean."""
    scope, focus = text_of(asked.get("scope")), text_of(asked.get("focus"))
    if scope is None:
        if f"/offerings/{place}/scope" in document.unreadable:
            return words.SCOPES["open-ended"][0], words.SCOPE_UNREADABLE
        return words.SCOPES["task-specific"][0], words.SCOPE_NOT_STATED
    if scope == "open-with-focus" and focus is None:
        return words.SCOPES["open-ended"][0], words.SCOPE_UNREADABLE
    name, means = words.SCOPES[scope]
    if scope == "open-with-focus" and focus is not None:
        return name.format(focus), means.format(words.FOCUSES[focus])
    return name, means


def _input(one: Members) -> Mapping[str, object]:
    via, fields = list_of(one.get("via")), list_of(one.get("fields"))
    group, required, most = one.get("one_of"), one.get("required"), one.get("max_bytes")
    return {
        "name": one.get("name"),
        **kind_of(one.get("kind")),
        "needed": "yes" if required is True else f"at least one of “{group}”" if group else _yes_no(required),
        "most": measures.size(most) if isinstance(most, int) else None,
        "grant": bool(via) or one.get("external") is True,
        "via": [str(name) for name in via],
        "fields": [str(name) for name in fields],
    }


def _yes_no(value: JsonValue) -> str | None:
    return None if value is None else "yes" if value else "no"


def _output(one: Members) -> Mapping[str, object]:
    when = text_of(one.get("when"))
    return {
        "name": one.get("name"),
        **kind_of(one.get("kind")),
        "when": None if when is None else words.WHEN[when],
        "working": one.get("working") is True,
    }


def kind_of(value: JsonValue) -> Mapping[str, str | None]:
    """A kind in words, and the media type where the words are for one."""
    if not isinstance(value, str):
        return {"kind": None, "type": None}
    plain = words.MEDIA_TYPES.get(value)
    return {"kind": plain or words.KINDS.get(value, value), "type": value if plain else None}


def _need(one: Members) -> Mapping[str, object]:
    kind = next(name for name in ("credential", "resource", "file", "tool", "text") if name in one)
    beside = {"credential": "scope", "resource": "access", "tool": "protocol"}.get(kind)
    said = text_of(one.get(beside)) if beside else None
    labels = {
        "credential": "A sign-in to a service",
        "resource": "Something you share",
        "file": "A file",
        "tool": "A tool",
        "text": "Also",
    }
    if kind == "resource" and said is not None:
        said = f"it {words.WORKSPACE_ACCESS[said]} it"
    return {
        "label": labels[kind],
        "value": one[kind],
        "beside": said,
        "description": one.get("description"),
        "credential": kind == "credential",
    }


def _workspace(one: Members) -> Mapping[str, object]:
    access = text_of(one.get("access"))
    return {
        "name": one.get("kind") or one.get("system"),
        "access": None if access is None else words.WORKSPACE_ACCESS[access],
        "system": "system" in one,
        "purpose": one.get("for"),
    }


def _bounds(ceilings: Members) -> Iterator[Held]:
    for name, label in words.CEILINGS.items():
        ceiling = object_of(ceilings.get(name))
        most = ceiling.get("most")
        if isinstance(most, dict):
            yield Held(label, measures.money(most), held_by(ceiling.get("decided_by")))
        elif isinstance(most, int | float):
            said = measures.seconds(most) if name == "job_seconds" else measures.number(most)
            yield Held(label, said, held_by(ceiling.get("decided_by")))


def _further(asked: Members, sells: Members, leaves: Members) -> Iterator[Fact]:
    """What an offering says of the way work is done, where it says it."""
    for label, modes in (("Types it takes", asked.get("input_modes")), ("Types it gives", leaves.get("output_modes"))):
        if isinstance(modes, list):
            yield Fact(label, few(modes))
    delivers = object_of(leaves.get("delivers"))
    if delivers:
        yield Fact("Delivered", "; ".join(_delivered(delivers)) or None)
    reporting = object_of(sells.get("reporting"))
    if reporting:
        every = text_of(reporting.get("every"))
        said = words.REPORTING[str(reporting["level"])]
        yield Fact("Progress", f"It {said}{f' every {measures.duration(every)}' if every else ''}.")
    revisions = object_of(sells.get("revisions"))
    included = object_of(revisions.get("included"))
    if included:
        times, days = included["count"], included["window_days"]
        assert isinstance(times, int) and isinstance(days, int)
        free = f"{measures.count(times, 'change')} within {measures.count(days, 'day')}" if times else "No changes"
        yield Fact("Changes afterwards", f"{free} included; after that {_priced(revisions)}.")


def _delivered(delivers: Members) -> Iterator[str]:
    final = text_of(delivers.get("final"))
    if final is not None:
        yield words.MEDIA_TYPES.get(final, final)
    if "interim" in delivers:
        yield "with results on the way" if delivers["interim"] else "all at the end"
    if "in_resource" in delivers:
        yield "put into what you shared" if delivers["in_resource"] else "sent back to you"


def _priced(revisions: Members) -> str:
    flat = revisions.get("flat")
    if isinstance(flat, dict):
        return f"{price(flat)} each"
    steps = [one for _, one in objects_in(revisions.get("steps"))]
    said = [f"{one.get('step')}: {price(object_of(one.get('price')))}" for one in steps[:MOST_ENTRIES]]
    return "by step (" + ", ".join(said) + ")"


def price(value: Members) -> str:
    """A price, where it is plain money; any other shape of one is in the Descriptor."""
    plain = isinstance(value.get("amount_micro"), int) and isinstance(value.get("currency"), str)
    return measures.money(value) if plain else "a price its Descriptor gives"


def _only(found: Listed, wanted: Callable[[Mapping[str, object]], bool]) -> Listed:
    return found if found.entries is None else Listed([one for one in found.entries if wanted(one)], found.more)
