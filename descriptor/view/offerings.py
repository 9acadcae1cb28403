"""From members to values: how a reader takes an offering and what is in it.

Each function reads one object of the document, in the order of the chapter. What a reader makes of what it cannot read
is said where it is decided.

Source: chapters 6.2, 6.4 (rule 2), 6.9 and 6.11.
"""

from __future__ import annotations

from collections.abc import Mapping

from descriptor.kinds import is_media_type, kind_problem
from descriptor.pointers import pointer_to
from descriptor.rules import forms
from descriptor.rules.section_6_9_offerings import NEEDS, reporting_problems
from descriptor.strictjson import JsonValue
from descriptor.view.members import MembersReader
from descriptor.view.values import (
    Ceiling,
    Delivers,
    Input,
    Money,
    Need,
    Offering,
    Output,
    Reporting,
    Revisions,
    Workspace,
)
from descriptor.vocabulary import AUTHORITY, CEILINGS, DECIDED_BY, FOCUSES, SCOPES, WHEN, WORKSPACE_ACCESS

_TASK_SPECIFIC, _WITH_FOCUS, _OPEN_ENDED = SCOPES
_BESIDE = {"tool": "protocol", "credential": "scope"}

Modes = tuple[str, ...] | None


def read_input(reader: MembersReader) -> Input:
    """An input."""
    return Input(
        name=reader.text("name"),
        kind=_kind(reader),
        required=reader.flag("required"),
        external=reader.flag("external"),
        via=reader.texts("via"),
        one_of=reader.text("one_of"),
        max_bytes=reader.whole_number("max_bytes", least=1),
        fields=reader.texts("fields"),
        other=reader.other(),
    )


def read_output(reader: MembersReader) -> Output:
    """An output."""
    return Output(reader.text("name"), _kind(reader), reader.word("when", WHEN), reader.flag("working"), reader.other())


def _kind(reader: MembersReader) -> str | None:
    kind = reader.judged("kind", lambda kind: isinstance(kind, str) and kind_problem(kind) is None)
    return kind if isinstance(kind, str) else None


def read_modes(reader: MembersReader, name: str) -> Modes:
    """A list of media types, whole or not at all."""
    modes = reader.judged(
        name,
        lambda modes: isinstance(modes, list) and all(isinstance(one, str) and is_media_type(one) for one in modes),
    )
    return tuple(str(one) for one in modes) if isinstance(modes, list) else None


def read_offering(reader: MembersReader, modes: tuple[Modes, Modes]) -> Offering:
    """An offering. `modes`: the agent's own input and output modes, which hold where the offering states none."""
    stated = reader.word("scope", SCOPES)
    # One that is not recognized is read as the scope that claims least; an absent one has a meaning of its own.
    scope = stated or (_OPEN_ENDED if reader.has("scope") else _TASK_SPECIFIC)
    focus = reader.word("focus", FOCUSES)
    if scope == _WITH_FOCUS and focus is None:
        scope = _OPEN_ENDED
    return Offering(
        id=reader.text("id"),
        name=reader.text("name"),
        description=reader.text("description"),
        inputs=reader.objects("inputs", read_input),
        outputs=reader.objects("outputs", read_output),
        scope=scope,
        scope_stated=stated,
        focus=focus,
        role=reader.text("role"),
        workspace=reader.objects("workspace", _workspace),
        authority=_authority(reader),
        authority_decided_by=reader.word("authority_decided_by", DECIDED_BY),
        ceilings=_ceilings(reader.object("ceilings")),
        revisions=_revisions(reader.object("revisions")),
        input_modes=_first(read_modes(reader, "input_modes"), modes[0]),
        output_modes=_first(read_modes(reader, "output_modes"), modes[1]),
        needs=reader.objects("needs", _need),
        delivers=_delivers(reader.object("delivers")),
        reporting=_reporting(reader.object("reporting")),
        pointer=pointer_to(*reader.path),
        other=reader.other(),
    )


def _first(own: Modes, default: Modes) -> Modes:
    return default if own is None else own


def _authority(reader: MembersReader) -> tuple[str, ...] | None:
    # One value that is not recognized makes the list not stated: it could be the one that mattered.
    authority = reader.judged(
        "authority",
        lambda value: isinstance(value, list) and all(isinstance(one, str) and one in AUTHORITY for one in value),
    )
    return tuple(str(one) for one in authority) if isinstance(authority, list) else None


def _workspace(reader: MembersReader) -> Workspace | None:
    if reader.has("system"):
        system = reader.text("system")
        return None if system is None else Workspace(None, None, reader.text("for"), system, reader.other())
    kind, access = reader.text("kind"), reader.word("access", WORKSPACE_ACCESS)
    if kind is None or access is None:
        return None
    return Workspace(kind, access, reader.text("for"), None, reader.other())


def _ceilings(reader: MembersReader | None) -> Mapping[str, Ceiling]:
    if reader is None:
        return {}
    read = {name: _ceiling(reader.object(name), name) for name in CEILINGS}
    return {name: ceiling for name, ceiling in read.items() if ceiling is not None}


def _ceiling(reader: MembersReader | None, name: str) -> Ceiling | None:
    if reader is None:
        return None
    most: int | Money | None
    if name in ("cost_per_job", "spend_per_job"):
        most = read_money(reader.object("most"))
    else:
        most = reader.whole_number("most", least=1 if name == "job_seconds" else 0)
    decided_by = reader.word("decided_by", DECIDED_BY)
    if most is None:
        reader.unreadable()
        return None
    return Ceiling(most, decided_by)


def read_money(reader: MembersReader | None) -> Money | None:
    """Money, whole or not at all."""
    if reader is None:
        return None
    if next(forms.money(dict(reader.members), reader.path), None) is not None:
        reader.unreadable()
        return None
    amount, currency = reader.raw("amount_micro"), reader.raw("currency")
    return Money(amount, currency) if isinstance(amount, int) and isinstance(currency, str) else None


def _revisions(reader: MembersReader | None) -> Revisions | None:
    included = reader.object("included") if reader is not None else None
    if reader is None:
        return None
    if included is None:
        reader.unreadable()
        return None
    count, window = included.whole_number("count", least=0), included.whole_number("window_days", least=1)
    flat = reader.object("flat") if reader.has("flat") else None
    steps = reader.objects("steps", _priced_step) if reader.has("steps") else None
    prices = None if steps is None else dict(steps)
    # Of a step that is priced twice nobody knows the price.
    twice = steps is not None and prices is not None and len(prices) < len(steps)
    if count is None or window is None or (flat is None) == (steps is None) or twice:
        reader.unreadable()
        return None
    return Revisions(count, window, None if flat is None else flat.members, prices)


def _priced_step(reader: MembersReader) -> tuple[str, Mapping[str, JsonValue]] | None:
    step, price = reader.text("step"), reader.object("price")
    return None if step is None or price is None else (step, price.members)


def _need(reader: MembersReader) -> Need | None:
    kinds = [kind for kind in NEEDS if reader.has(kind)]
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    value = reader.text(kind)
    beside = reader.word("access", WORKSPACE_ACCESS) if kind == "resource" else None
    if kind in _BESIDE:
        beside = reader.text(_BESIDE[kind])
    if (
        value is None
        or (beside is None and kind in ("resource", *_BESIDE))
        or (kind == "file" and not is_media_type(value))
    ):
        return None
    return Need(kind, value, beside, reader.text("description"), reader.other())


def _delivers(reader: MembersReader | None) -> Delivers | None:
    if reader is None:
        return None
    return Delivers(reader.text("final"), reader.flag("interim"), reader.flag("in_resource"))


def _reporting(reader: MembersReader | None) -> Reporting | None:
    if reader is None:
        return None
    if next(reporting_problems(dict(reader.members), reader.path), None) is not None:
        reader.unreadable()
        return None
    level, every = reader.raw("level"), reader.raw("every")
    return Reporting(str(level), every if isinstance(every, str) else None)
