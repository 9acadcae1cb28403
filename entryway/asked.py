"""What a request for work says of itself, read once into typed values.

Whether what was said is allowed is the boundary's business; here it gets its types, and nothing of it is passed over
(`entryway.payload`). A payload that cannot be read is refused before any of it is judged.

Source: binding 5; chapters 6.2 (run configs) and 6.11.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from descriptor.errors import DescriptorError
from descriptor.rules import forms
from descriptor.rules.forms import Path
from descriptor.strictjson import JsonValue
from descriptor.timestamps import parse_timestamp
from descriptor.view import Money
from entryway.payload import refuse_first, refuse_unknown, unreadable
from entryway.work import Resource

WORK = ("offering", "input", "resources", "authority", "spend_limit", "budget", "run_config", "async")


@dataclass(frozen=True)
class Budget:
    """What the caller gives one job.

    `deadline`: seconds since 1970. `revision`: the caller's own number of this budget; the one that came is what holds.
    """

    deadline: float | None = None
    cost_ceiling: Money | None = None
    revision: int | None = None


@dataclass(frozen=True)
class Asked:
    """One piece of work that is asked for.

    `input`: values by the names of inputs. `authority`: `None` when the request does not narrow it; then it allows the
    offering's whole list. `settings`: by their names. `later`: the caller comes back for the outcome (`async`).
    """

    offering: str
    input: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)
    resources: tuple[Resource, ...] = ()
    authority: tuple[str, ...] | None = None
    spend_limit: Money | None = None
    budget: Budget = Budget()
    settings: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)
    later: bool = False


def read_asked(payload: Mapping[str, JsonValue], given: JsonValue) -> Asked:
    """`given`: the member `input`, opened where it was sealed; `None` where there is none.

    Raises EntrywayError INPUT_INVALID, with the place in the payload.
    """
    refuse_unknown(payload, WORK, ())
    refuse_first(forms.text(payload, "offering", (), required=True))
    refuse_first(forms.mapping({"input": given} if "input" in payload else {}, "input", ()))
    refuse_first(forms.list_of_objects(payload, "resources", ()))
    refuse_first(forms.list_of_texts(payload, "authority", ()))
    refuse_first(forms.flag(payload, "async", ()))
    authority = payload.get("authority")
    return Asked(
        offering=_text(payload, "offering"),
        input=given if isinstance(given, dict) else {},
        resources=tuple(_resource(entry, index) for index, entry in enumerate(_list(payload, "resources"))),
        authority=tuple(map(str, authority)) if isinstance(authority, list) else None,
        spend_limit=_money(payload, "spend_limit", ()),
        budget=_budget(payload),
        settings=_settings(payload),
        later=payload.get("async") is True,
    )


def _resource(entry: JsonValue, index: int) -> Resource:
    assert isinstance(entry, dict)  # `forms.list_of_objects` has looked
    path: Path = ("resources", index)
    refuse_unknown(entry, ("kind", "access", "locator"), path)
    for name in ("kind", "access"):
        refuse_first(forms.text(entry, name, path, required=True))
    refuse_first(forms.text(entry, "locator", path))
    locator = entry.get("locator")
    return Resource(_text(entry, "kind"), _text(entry, "access"), locator if isinstance(locator, str) else None)


def _budget(payload: Mapping[str, JsonValue]) -> Budget:
    budget = _object(payload, "budget", ("deadline", "cost_ceiling", "revision"))
    refuse_first(forms.whole_number(budget, "revision", ("budget",), least=0))
    refuse_first(forms.text(budget, "deadline", ("budget",)))
    revision, deadline = budget.get("revision"), None
    if "deadline" in budget:
        try:
            deadline = parse_timestamp(_text(budget, "deadline"))
        except DescriptorError as error:
            raise unreadable("/budget/deadline", error.message) from None
    return Budget(
        deadline, _money(budget, "cost_ceiling", ("budget",)), revision if isinstance(revision, int) else None
    )


def _settings(payload: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    run_config = _object(payload, "run_config", ("settings",))
    refuse_first(forms.mapping(run_config, "settings", ("run_config",)))
    settings = run_config.get("settings")
    return settings if isinstance(settings, dict) else {}


def _money(holder: Mapping[str, JsonValue], name: str, path: Path) -> Money | None:
    if name not in holder:
        return None
    value = holder[name]
    refuse_first(forms.money(value, (*path, name)))
    assert isinstance(value, dict)
    refuse_unknown(value, ("amount_micro", "currency"), (*path, name))
    amount = value["amount_micro"]
    assert isinstance(amount, int)
    return Money(amount, _text(value, "currency"))


def _object(holder: Mapping[str, JsonValue], name: str, known: Collection[str]) -> Mapping[str, JsonValue]:
    refuse_first(forms.mapping(holder, name, ()))
    value = holder.get(name)
    if not isinstance(value, dict):
        return {}
    refuse_unknown(value, known, (name,))
    return value


def _list(holder: Mapping[str, JsonValue], name: str) -> list[JsonValue]:
    value = holder.get(name)
    return value if isinstance(value, list) else []


def _text(holder: Mapping[str, JsonValue], name: str) -> str:
    value = holder[name]
    assert isinstance(value, str)  # its form has been looked at
    return value
