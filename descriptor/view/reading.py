"""From members to values: how a reader takes each part of a Descriptor.

Each function reads one object of the document, in the order of the chapter. What a reader makes of what it cannot read
is said where it is decided.

Source: chapters 6.2, 6.4 (rule 2), 6.9 and 6.11.
"""

from __future__ import annotations

from collections.abc import Mapping

from descriptor.digests import is_digest
from descriptor.kinds import is_media_type, kind_problem
from descriptor.pointers import pointer_to
from descriptor.rules import forms
from descriptor.rules.section_6_2_members import LIMITS
from descriptor.rules.section_6_9_access import is_moment
from descriptor.rules.section_6_9_data_use import JURISDICTIONS
from descriptor.rules.section_6_9_offerings import NEEDS, reporting_problems
from descriptor.strictjson import JsonValue
from descriptor.view.members import MembersReader
from descriptor.view.values import (
    Access,
    Ceiling,
    Claim,
    DataUse,
    Delivers,
    Input,
    Limit,
    Limits,
    Money,
    NamedConfig,
    Need,
    Offering,
    Output,
    Processor,
    Reference,
    Reporting,
    Revisions,
    RunConfig,
    Scheme,
    Setting,
    System,
    Workspace,
)
from descriptor.vocabulary import (
    ADMISSION,
    AUTHORITY,
    CEILINGS,
    DECIDED_BY,
    FOCUSES,
    SCHEME_TRANSPORTS,
    SCHEME_TYPES,
    SCOPES,
    SETTING_KINDS,
    SYSTEM_ACCESS,
    WHEN,
    WORKSPACE_ACCESS,
)

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


def read_system(reader: MembersReader) -> System:
    """A standing system. `role` is another name of `name`, which stands over it."""
    alias = reader.has("role")
    name = reader.text("role") if alias and not reader.has("name") else reader.text("name")
    return System(name, reader.word("access", SYSTEM_ACCESS), reader.text("needs"), reader.other())


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
    return None if most is None else Ceiling(most, decided_by)


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
    if reader is None or included is None:
        return None
    count, window = included.whole_number("count", least=0), included.whole_number("window_days", least=1)
    flat = reader.object("flat") if reader.has("flat") else None
    steps = reader.objects("steps", _priced_step) if reader.has("steps") else None
    if count is None or window is None or (flat is None) == (steps is None):
        reader.unreadable()
        return None
    return Revisions(count, window, None if flat is None else flat.members, None if steps is None else dict(steps))


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


def read_limits(reader: MembersReader | None) -> Limits | None:
    """The ceilings for each caller, in either form."""
    if reader is None:
        return None
    limits = {name: _limit(reader, name) for name in LIMITS}
    return Limits(
        **limits,
        past_them=reader.text("past_them"),
        max_inbound_chars=reader.whole_number("max_inbound_chars", least=1),
        other=reader.other(),
    )


def _limit(reader: MembersReader, name: str) -> Limit | None:
    if isinstance(reader.raw(name), dict):
        limit = reader.object(name)
        most = None if limit is None else limit.judged("most", _is_limit)
        decided_by = None if limit is None else limit.word("decided_by", DECIDED_BY)
    else:
        most, decided_by = reader.judged(name, _is_limit), None
    return Limit(most, decided_by) if isinstance(most, int | float) else None


def _is_limit(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def read_reference(reader: MembersReader, name: str) -> Reference | None:
    """A pointer to another document."""
    if not isinstance(reader.raw(name), dict):
        text = reader.text(name)
        return None if text is None else Reference(text, None, None)
    inner = reader.object(name)
    digest = inner and inner.judged("digest", lambda value: isinstance(value, str) and is_digest(value))
    return Reference(None, digest, inner.text("location")) if inner and isinstance(digest, str) else None


def read_run_config(reader: MembersReader | None) -> RunConfig | None:
    """What a job may set. A setting that cannot be read, or whose name another one has, cannot be set."""
    if reader is None:
        return None
    settings: dict[str, Setting] = {}
    twice = set()
    for setting in reader.each("settings", _setting) or ():
        if setting.name in settings:
            twice.add(setting.name)
        settings[setting.name] = setting
    return RunConfig(
        settings={name: setting for name, setting in settings.items() if name not in twice},
        tested_models=reader.texts("tested_models"),
        named=reader.each("named", _named),
        replay=reader.flag("replay") or False,
        other=reader.other(),
    )


def _setting(reader: MembersReader) -> Setting | None:
    name, kind = reader.text("name"), reader.word("kind", SETTING_KINDS)
    default = reader.judged("default", lambda value: isinstance(value, str | int | float))
    allowed = reader.judged("allowed", lambda value: isinstance(value, list))
    if name is None or kind is None or not isinstance(default, str | int | float):
        return None
    listed = tuple(allowed) if isinstance(allowed, list) else None
    if listed is None and kind == "rule" and isinstance(default, str):
        return None
    return Setting(name, kind, default, listed, reader.flag("job_may_set") or False)


def _named(reader: MembersReader) -> NamedConfig | None:
    name, settings = reader.text("name"), reader.object("settings")
    digest = reader.judged("digest", lambda value: isinstance(value, str) and is_digest(value))
    if name is None or settings is None:
        return None
    return NamedConfig(name, settings.members, digest if isinstance(digest, str) else None)


def read_data_use(reader: MembersReader) -> DataUse:
    """A block that is readable as a whole: the caller has asked."""
    promises, retention = reader.object("promises"), reader.object("retention")
    processors = reader.judged("processors", lambda value: isinstance(value, list))
    countries = next((reader.texts(name) for name in JURISDICTIONS if reader.has(name)), None)
    memory = reader.text("memory")
    return DataUse(
        promises=None if promises is None else frozenset(promises.members),
        max_days=None if retention is None else retention.whole_number("max_days", least=0),
        memory=memory,
        processors=tuple(map(_processor, processors)) if isinstance(processors, list) else None,
        processed_in=None if countries is None else frozenset(countries),
    )


def _processor(value: JsonValue) -> Processor:
    if not isinstance(value, dict):
        return Processor(str(value), None)
    purpose = value.get("purpose")
    return Processor(str(value["name"]), purpose if isinstance(purpose, str) else None)


def read_claim(reader: MembersReader) -> Claim | None:
    """A compliance posture."""
    standard, scope, attestation = reader.text("standard"), reader.text("scope"), reader.object("attestation")
    if standard is None:
        return None
    expires = attestation and attestation.judged(
        "expires_at", lambda value: isinstance(value, str) and is_moment(value)
    )
    return Claim(
        standard,
        scope,
        attestation.text("by") if attestation else None,
        attestation.text("url") if attestation else None,
        expires if isinstance(expires, str) else None,
    )


def read_access(reader: MembersReader | None) -> Access | None:
    """The door. A list of schemes read in part could come out empty, which would say that nothing is asked for."""
    if reader is None:
        return None
    return Access(
        reader.word("admission", ADMISSION),
        reader.text("statement"),
        reader.objects("schemes", _scheme),
        reader.other(),
    )


def _scheme(reader: MembersReader) -> Scheme | None:
    scheme_id = reader.text("id")
    transport, kind = reader.word("transport", SCHEME_TRANSPORTS), reader.word("type", SCHEME_TYPES)
    if scheme_id is None or transport is None or kind is None:
        return None
    names = {name: reader.text(name) for name in ("name", "scheme", "description")}
    return Scheme(scheme_id, transport, kind, reader.text("in"), **names)
