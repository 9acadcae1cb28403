"""How the agent is started, what it needs of the world, and where the file comes from.

A trigger of a type that nobody knows breaks no rule: it is what a newer version may add.

Source: `.agent` format 12, 13, 16 and 18 (rules 19 and 20).
"""

from __future__ import annotations

from collections.abc import Iterator

from agentfile import forms
from agentfile.forms import Holder, Path, is_number
from agentfile.rules.table import Check, Document, Problem, Severity
from descriptor.pointers import pointer_to

_OWNER = "owner"
# By list: what its entries have to say, and which member says whose it is.
_ENTRIES = {
    "identities": (("channel",), "role"),
    "reads": (("provider", "resource"), None),
    "delivers": (("channel", "via"), "to"),
}
_NEEDED = {"schedule": "cron", "webhook": "path"}
_OPTIONAL = {"schedule": ("prompt", "timezone", "label"), "api": ("endpoint",)}


def _triggers(document: Document) -> Iterator[Problem]:
    yield from forms.objects(document, "triggers", ())
    for trigger, path in forms.each(document, "triggers"):
        yield from forms.string(trigger, "type", path, required=True, filled=True)
        needed = _NEEDED.get(_type(trigger))
        if needed is not None:
            yield from forms.string(trigger, needed, path, required=True)


def _trigger_forms(document: Document) -> Iterator[Problem]:
    for trigger, path in forms.each(document, "triggers"):
        for name in _OPTIONAL.get(_type(trigger), ()):
            yield from forms.string(trigger, name, path)


def _type(trigger: Holder) -> str:
    stated = trigger.get("type")
    return stated if isinstance(stated, str) else ""


def _connectivity(document: Document) -> Iterator[Problem]:
    yield from forms.mapping(document, "connectivity", ())
    for connectivity, path in forms.one(document, "connectivity"):
        for name, (texts, _) in _ENTRIES.items():
            if isinstance(connectivity.get(name), list):
                yield from forms.objects(connectivity, name, path)
            for entry, place in forms.each(connectivity, name, path):
                for text in texts:
                    yield from forms.string(entry, text, place, required=True)


def _connectivity_lists(document: Document) -> Iterator[Problem]:
    for connectivity, path in forms.one(document, "connectivity"):
        for name in _ENTRIES:
            yield from forms.items(connectivity, name, path)


def _entries(document: Document) -> Iterator[tuple[Holder, Path, tuple[str, ...], str | None]]:
    for connectivity, path in forms.one(document, "connectivity"):
        for name, (texts, role) in _ENTRIES.items():
            yield from ((entry, place, texts, role) for entry, place in forms.each(connectivity, name, path))


def _roles(document: Document) -> Iterator[Problem]:
    for entry, path, _, role in _entries(document):
        if role is not None and role in entry and entry[role] != _OWNER:
            # What stands there may be somebody's number or address: it is not repeated.
            yield pointer_to(*path, role), f'`{role}` names somebody; it has to be "{_OWNER}", whoever runs the file.'


def _roles_stated(document: Document) -> Iterator[Problem]:
    for entry, path, _, role in _entries(document):
        if role is not None and role not in entry:
            yield pointer_to(*path, role), f'`{role}` is missing; "{_OWNER}" is the only one there is.'


def _literals(document: Document) -> Iterator[Problem]:
    texts = ((entry, name, path) for entry, path, names, _ in _entries(document) for name in names)
    for path, found in forms.searched(texts):
        leak = next(found, None)
        if leak is not None:
            yield pointer_to(*path), f"`{path[-1]}` holds what looks like {leak.what}."


def _metadata(document: Document) -> Iterator[Problem]:
    for metadata, path in forms.one(document, "metadata"):
        yield from forms.string(metadata, "sourceUrl", path)
        yield from forms.string(metadata, "sourceUserId", path)
        yield from forms.strings(metadata, "tags", path)
        yield from forms.mapping(metadata, "pricing", path)
        for pricing, place in forms.one(metadata, "pricing", path):
            yield from _pricing(pricing, place)


def _pricing(pricing: Holder, path: Path) -> Iterator[Problem]:
    kind = pricing.get("kind")
    if kind not in ("free", "one-time"):
        said = f"is {forms.shown(kind)}" if "kind" in pricing else "is missing"
        yield pointer_to(*path, "kind"), f"`kind` {said}; known are free and one-time."
    if ("amountUsd" in pricing or kind == "one-time") and not is_number(pricing.get("amountUsd")):
        yield pointer_to(*path, "amountUsd"), "`amountUsd` is no number."


RULES = (
    Check(
        "R19",
        "12",
        19,
        Severity.ERROR,
        "A trigger has a `type` that is not empty; a `schedule` has a text `cron`, a `webhook` a text `path`.",
        'Write it as {"type": "schedule", "cron": "0 7 * * 1-5"} or {"type": "manual"}.',
        _triggers,
    ),
    Check(
        "S12",
        "12",
        None,
        Severity.ERROR,
        "Of a schedule, `prompt`, `timezone` and `label` are texts, and so is `endpoint` of an `api` trigger.",
        "Write the member as a text, or leave it out.",
        _trigger_forms,
    ),
    Check(
        "R20",
        "13",
        20,
        Severity.ERROR,
        "`connectivity` is an object. An identity has a text `channel`, a read a `provider` and a `resource`, a "
        "delivery a `channel` and a `via`.",
        'Write it as {"delivers": [{"channel": "whatsapp", "to": "owner", "via": "whatsapp.send"}]}.',
        _connectivity,
    ),
    Check(
        "S13-lists",
        "13",
        None,
        Severity.ERROR,
        "`identities`, `reads` and `delivers` are lists.",
        "Write a list, also of one entry, or leave the member out.",
        _connectivity_lists,
    ),
    Check(
        "S13-role",
        "13",
        None,
        Severity.ERROR,
        'Whoever is named is a role, and the role is "owner": never a number or an address.',
        'Write "owner"; it stands for whoever runs the file.',
        _roles,
    ),
    Check(
        "S13-role-stated",
        "13",
        None,
        Severity.WARNING,
        'An identity has the `role`, and a delivery goes `to`, "owner".',
        'Add it with the value "owner".',
        _roles_stated,
    ),
    Check(
        "S13-literal",
        "13",
        None,
        Severity.WARNING,
        "An entry of `connectivity` holds no secret, phone number or address.",
        "Name the kind of thing that is needed, such as a channel, and leave which one to whoever runs the file.",
        _literals,
    ),
    Check(
        "S16",
        "16",
        None,
        Severity.WARNING,
        "In `metadata`, `sourceUrl` and `sourceUserId` are texts, `tags` is a list of texts, and `pricing` is free or "
        "has a price.",
        'Write pricing as {"kind": "free"} or {"kind": "one-time", "amountUsd": 5}; nothing depends on it here.',
        _metadata,
    ),
)
