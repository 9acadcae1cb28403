"""From members to values: how a reader takes what stands beside the offerings, for the agent as a whole.

Each function reads one object of the document, in the order of the chapter. What a reader makes of what it cannot read
is said where it is decided.

Source: chapters 6.2, 6.4 (rule 2) and 6.9.
"""

from __future__ import annotations

from descriptor.digests import is_digest
from descriptor.rules.section_6_2_members import LIMITS
from descriptor.rules.section_6_9_access import is_moment
from descriptor.rules.section_6_9_data_use import JURISDICTIONS
from descriptor.strictjson import JsonValue
from descriptor.view.members import MembersReader
from descriptor.view.values import (
    Access,
    Claim,
    DataUse,
    Limit,
    Limits,
    NamedConfig,
    Processor,
    Reference,
    RunConfig,
    Scheme,
    Setting,
    System,
)
from descriptor.vocabulary import (
    ADMISSION,
    DECIDED_BY,
    SCHEME_TRANSPORTS,
    SCHEME_TYPES,
    SETTING_KINDS,
    SYSTEM_ACCESS,
)


def read_system(reader: MembersReader) -> System:
    """A standing system. `role` is another name of `name`, which stands over it."""
    alias = reader.has("role")
    name = reader.text("role") if alias and not reader.has("name") else reader.text("name")
    return System(name, reader.word("access", SYSTEM_ACCESS), reader.text("needs"), reader.other())


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
    if isinstance(most, int | float):
        return Limit(most, decided_by)
    if reader.has(name):
        reader.unreadable(name)
    return None


def _is_limit(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def read_reference(reader: MembersReader, name: str) -> Reference | None:
    """A pointer to another document."""
    if not isinstance(reader.raw(name), dict):
        text = reader.text(name)
        return None if text is None else Reference(text, None, None)
    inner = reader.object(name)
    digest = inner and inner.judged("digest", lambda value: isinstance(value, str) and is_digest(value))
    if inner is None or not isinstance(digest, str):
        reader.unreadable(name)
        return None
    return Reference(None, digest, inner.text("location"))


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
    if twice:
        reader.unreadable("settings")
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
    # Without a list a preference takes any value, so a list that cannot be read is not taken for none.
    if listed is None and (reader.has("allowed") or (kind == "rule" and isinstance(default, str))):
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
    name = next((name for name in JURISDICTIONS if reader.has(name)), JURISDICTIONS[0])
    countries = reader.texts(name)
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
