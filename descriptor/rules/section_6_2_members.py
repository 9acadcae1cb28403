"""Chapter 6.2, the members beside the offerings: who attends, what is refused, what the agent is and reaches."""

from __future__ import annotations

from collections.abc import Iterator

from descriptor.digests import is_digest
from descriptor.pointers import pointer_to
from descriptor.rules import forms
from descriptor.rules.table import Document, Problem, Rule, Severity, described, objects
from descriptor.strictjson import JsonValue
from descriptor.vocabulary import DECIDED_BY, INTERACTION, SYSTEM_ACCESS

REFS = ("handling_ref", "price_ref", "samples_ref")
LIMITS = ("requests_per_hour", "model_budget_per_day")


def system_name(system: dict[str, JsonValue]) -> JsonValue:
    """What names a system: `name`, or `role`, its alias for one revision. Absent reads as None."""
    return system.get("name", system.get("role"))


def _interaction(document: Document) -> Iterator[Problem]:
    return forms.word(document, "interaction", (), INTERACTION)


def _refusals(document: Document) -> Iterator[Problem]:
    return forms.text(document, "refusals", ())


def _role(document: Document) -> Iterator[Problem]:
    return forms.text(document, "role", ())


def _interfaces(document: Document) -> Iterator[Problem]:
    return forms.list_of_texts(document, "interfaces", (), unique=True)


def _fleet(document: Document) -> Iterator[Problem]:
    return forms.flag(document, "fleet", ())


def _hosted_in(document: Document) -> Iterator[Problem]:
    return forms.list_of_texts(document, "hosted_in", (), unique=True)


def _systems(document: Document) -> Iterator[Problem]:
    yield from forms.list_of_objects(document, "systems", ())
    seen = set()
    for index, system in objects(document.get("systems")):
        path: forms.Path = ("systems", index)
        yield from forms.text(
            system, "role" if "role" in system and "name" not in system else "name", path, required=True
        )
        yield from forms.word(system, "access", path, SYSTEM_ACCESS, required=True)
        yield from forms.text(system, "needs", path, required=True)
        name, access = system_name(system), system.get("access")
        # One system may be reached in several ways, and each is an entry.
        if isinstance(name, str) and isinstance(access, str):
            if (name, access) in seen:
                yield pointer_to(*path), f"The system {described(name)} is listed twice with this access."
            seen.add((name, access))


def _system_alias(document: Document) -> Iterator[Problem]:
    for index, system in objects(document.get("systems")):
        if "role" in system:
            beside = ", beside a `name` that stands over it" if "name" in system else ""
            yield pointer_to("systems", index, "role"), f"The system is named by `role`{beside}."


def _limits(document: Document) -> Iterator[Problem]:
    yield from forms.mapping(document, "limits", ())
    limits = document.get("limits")
    if not isinstance(limits, dict):
        return
    for name in LIMITS:
        limit = limits.get(name)
        if isinstance(limit, dict):
            yield from forms.missing(limit, "most", ("limits", name), "It limits nothing.")
            yield from _number(limit, "most", ("limits", name))
            yield from forms.word(limit, "decided_by", ("limits", name), DECIDED_BY)
        else:
            yield from _number(limits, name, ("limits",))
    yield from forms.text(limits, "past_them", ("limits",))
    yield from forms.whole_number(limits, "max_inbound_chars", ("limits",), least=1)


def _number(holder: dict[str, JsonValue], name: str, path: forms.Path) -> Iterator[Problem]:
    value = holder.get(name)
    if name not in holder:
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield pointer_to(*path, name), f"`{name}` is {described(value)}; it has to be a number."
    elif value < 0:
        yield pointer_to(*path, name), f"`{name}` is {value}; a limit is 0 or more."


def _limit_decided_by(document: Document) -> Iterator[Problem]:
    limits = document.get("limits")
    for name in LIMITS if isinstance(limits, dict) else ():
        assert isinstance(limits, dict)
        limit = limits.get(name)
        if isinstance(limit, dict) and "decided_by" not in limit:
            yield pointer_to("limits", name, "decided_by"), f"Nothing says what holds the agent to `{name}`."


def _refs(document: Document) -> Iterator[Problem]:
    for name in REFS:
        ref = document.get(name)
        if not isinstance(ref, dict):
            yield from forms.text(document, name, ())
            continue
        digest = ref.get("digest")
        if "digest" not in ref:
            yield pointer_to(name, "digest"), "`digest` is missing, so nobody can tell which document is meant."
        elif not isinstance(digest, str) or not is_digest(digest):
            yield pointer_to(name, "digest"), f"`digest` is {described(digest)}, which is no digest."
        yield from forms.text(ref, "location", (name,))


RULES = (
    Rule(
        "D6.2-interaction",
        "6.2",
        Severity.ERROR,
        "`interaction` says whether a person attends the agent right now: interactive, or service when nobody does.",
        'Write "interaction": "service" or "interactive", or leave it out.',
        _interaction,
    ),
    Rule(
        "D6.2-refusals",
        "6.2",
        Severity.ERROR,
        "`refusals` is prose: what the agent will not do, in the operator's own words.",
        "Write it as one text, or leave it out.",
        _refusals,
    ),
    Rule(
        "D6.2-role",
        "6.2",
        Severity.ERROR,
        "`role` is the standard role that the agent holds, by its offering name.",
        "Write the name as text, or leave it out.",
        _role,
    ),
    Rule(
        "D6.2-interfaces",
        "6.2",
        Severity.ERROR,
        "`interfaces` lists the interfaces that the agent implements, by name.",
        "List each name once, as text.",
        _interfaces,
    ),
    Rule(
        "D6.2-fleet",
        "6.2",
        Severity.ERROR,
        "`fleet` is true when several processes answer as one identity.",
        "Write true or false, or leave it out.",
        _fleet,
    ),
    Rule(
        "D6.2-hosted_in",
        "6.2",
        Severity.ERROR,
        "`hosted_in` lists the jurisdictions or regions that the runtime sits in.",
        'List each region once, as text, such as "eu-central".',
        _hosted_in,
    ),
    Rule(
        "D6.2-system",
        "6.2",
        Severity.ERROR,
        "A standing system has a `name`, an `access` of read, write or trigger, and in `needs` what the access is for.",
        'Write it as {"name": "calendar", "access": "read", "needs": "finding a free hour"}; a system that is reached '
        "in "
        "several ways has an entry for each.",
        _systems,
    ),
    Rule(
        "D6.2-system-alias",
        "6.2",
        Severity.WARNING,
        "A system is named by `name`; `role` is read as the same member for one revision only.",
        "Write `name` in place of `role`.",
        _system_alias,
    ),
    Rule(
        "D6.2-limits",
        "6.2",
        Severity.ERROR,
        "A limit for each caller is a number, or an object that says the `most` and by what it is `decided_by`.",
        'Write "requests_per_hour": {"most": 30, "decided_by": "rule"}, and `past_them` as text.',
        _limits,
    ),
    Rule(
        "D6.2-limit-decided_by",
        "6.2",
        Severity.WARNING,
        "A limit that is written as an object also says what holds the agent to it.",
        'Write "decided_by": "rule" where the node or runtime stops the caller, "model" where the model is only told.',
        _limit_decided_by,
    ),
    Rule(
        "D6.2-ref",
        "6.2",
        Severity.ERROR,
        "`handling_ref`, `price_ref` and `samples_ref` point at the documents that keep those facts.",
        'Write a text that says where it is, or {"digest": "sha256:…", "location": "…"}.',
        _refs,
    ),
)
