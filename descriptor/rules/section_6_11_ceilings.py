"""Chapter 6.11, ceilings: the most that one job takes, costs, spends and sends, and what holds it to that."""

from __future__ import annotations

from collections.abc import Iterator

from descriptor.pointers import pointer_to
from descriptor.rules import forms
from descriptor.rules.section_6_11 import OPEN, with_scope
from descriptor.rules.section_6_11_authority import authority_of
from descriptor.rules.table import Document, Problem, Rule, Severity, offerings
from descriptor.strictjson import JsonValue
from descriptor.vocabulary import CEILINGS, DECIDED_BY

_MONEY = ("cost_per_job", "spend_per_job")

_Offering = dict[str, JsonValue]


def _ceilings_of(offering: _Offering) -> dict[str, JsonValue]:
    ceilings = offering.get("ceilings")
    return ceilings if isinstance(ceilings, dict) else {}


def _ceilings(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        yield from forms.mapping(offering, "ceilings", ("offerings", place))
        for name in CEILINGS:
            yield from _ceiling(_ceilings_of(offering), name, ("offerings", place, "ceilings"))


def _ceiling(ceilings: dict[str, JsonValue], name: str, path: forms.Path) -> Iterator[Problem]:
    yield from forms.mapping(ceilings, name, path)
    ceiling = ceilings.get(name)
    if not isinstance(ceiling, dict):
        return
    if name in _MONEY:
        yield from forms.missing(ceiling, "most", (*path, name), "It bounds nothing.")
        if "most" in ceiling:
            yield from forms.money(ceiling["most"], (*path, name, "most"))
    else:
        least = 1 if name == "job_seconds" else 0
        yield from forms.whole_number(ceiling, "most", (*path, name), least=least, required=True)
    yield from forms.word(ceiling, "decided_by", (*path, name), DECIDED_BY)


def _ceiling_decided_by(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        for name, ceiling in _ceilings_of(offering).items():
            if name in CEILINGS and isinstance(ceiling, dict) and "decided_by" not in ceiling:
                yield (
                    pointer_to("offerings", place, "ceilings", name, "decided_by"),
                    f"Nothing says what holds a job to `{name}`, so nobody may call it enforced.",
                )


def _open_ceilings(document: Document) -> Iterator[Problem]:
    for path, offering in with_scope(document, *OPEN):
        for name in CEILINGS[:2]:
            if _lacks(offering, name):
                yield pointer_to(*path, "ceilings", name), f"An open offering carries `{name}`, and this one does not."


def _lacks(offering: _Offering, name: str) -> bool:
    """Whether the offering has no ceiling of this name. Of `ceilings` that are no object nothing can be said."""
    return isinstance(offering.get("ceilings", {}), dict) and name not in _ceilings_of(offering)


def _needed_ceiling(document: Document, value: str, name: str) -> Iterator[Problem]:
    for place, offering in offerings(document):
        if value in authority_of(offering) and _lacks(offering, name):
            yield (
                pointer_to("offerings", place, "ceilings", name),
                f"The authority includes {value}, and nothing bounds how much of it one job does.",
            )


def _spend_per_job(document: Document) -> Iterator[Problem]:
    return _needed_ceiling(document, "spends-money", "spend_per_job")


def _messages_per_job(document: Document) -> Iterator[Problem]:
    return _needed_ceiling(document, "sends-messages", "messages_per_job")


RULES = (
    Rule(
        "D6.11-ceilings",
        "6.11",
        Severity.ERROR,
        "`ceilings` bounds one job: each states the `most`, in seconds, messages or money, and by what it is "
        "`decided_by`.",
        'Write "job_seconds": {"most": 3600, "decided_by": "rule"} and "cost_per_job": {"most": {"amount_micro": '
        '20000000, "currency": "USD"}, "decided_by": "rule"}.',
        _ceilings,
    ),
    Rule(
        "D6.11-decided_by",
        "6.11",
        Severity.WARNING,
        "A ceiling says what applies it; one that does not is not presented as enforced.",
        'Write "decided_by": "rule" where the node or runtime stops the job, "model" where the model is only told.',
        _ceiling_decided_by,
    ),
    Rule(
        "D6.11-open-ceilings",
        "6.11",
        Severity.ERROR,
        "An open offering carries the ceilings `job_seconds` and `cost_per_job`.",
        "State how many seconds one job runs at most, and what it costs at most.",
        _open_ceilings,
    ),
    Rule(
        "D6.11-spend_per_job",
        "6.11",
        Severity.ERROR,
        "An offering whose authority includes spends-money carries the ceiling `spend_per_job`.",
        "State how much money one job may commit, or take spends-money out of `authority`.",
        _spend_per_job,
    ),
    Rule(
        "D6.11-messages_per_job",
        "6.11",
        Severity.ERROR,
        "An offering whose authority includes sends-messages carries the ceiling `messages_per_job`.",
        "State how many messages one job may send, or take sends-messages out of `authority`.",
        _messages_per_job,
    ),
)
