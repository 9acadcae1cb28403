"""How the agent is started, what it needs of the world, and where the file comes from.

A trigger of a type that nobody knows breaks no rule: it is what a newer version may add.

Source: `.agent` format 12, 13, 16 and 18 (rules 19 and 20).
"""

from __future__ import annotations

from collections.abc import Iterator

from agentfile import columns, forms
from agentfile.columns import Places, problems
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
    yield from problems(document.top, columns.objects("triggers"))
    yield from problems(document.triggers, columns.text("type", required=True, filled=True))
    for kind, needed in _NEEDED.items():
        yield from problems(document.triggers.where("type", kind), columns.text(needed, required=True))


def _trigger_forms(document: Document) -> Iterator[Problem]:
    for kind, optional in _OPTIONAL.items():
        yield from problems(document.triggers.where("type", kind), *map(columns.text, optional))


def _connectivity(document: Document) -> Iterator[Problem]:
    yield from problems(document.top, columns.mapping("connectivity"))
    connectivity = document.top.one("connectivity")
    for name, (texts, _) in _ENTRIES.items():
        if any(isinstance(value, list) for value in connectivity.column(name)):
            yield from problems(connectivity, columns.objects(name))
        yield from problems(connectivity.each(name), *(columns.text(text, required=True) for text in texts))


def _connectivity_lists(document: Document) -> Iterator[Problem]:
    return problems(document.top.one("connectivity"), *map(columns.items, _ENTRIES))


def _entries(document: Document) -> Iterator[tuple[Places, tuple[str, ...], str | None]]:
    """The entries of each list, with what they have to say and which member says whose each is."""
    connectivity = document.top.one("connectivity")
    return ((connectivity.each(name), texts, role) for name, (texts, role) in _ENTRIES.items())


def _roles(document: Document) -> Iterator[Problem]:
    for entries, _, role in _entries(document):
        for index, stated in enumerate(entries.column(role, _OWNER) if role is not None else ()):
            if stated != _OWNER:
                # What stands there may be somebody's number or address: it is not repeated.
                said = f'`{role}` names somebody; it has to be "{_OWNER}", whoever runs the file.'
                yield pointer_to(*entries.paths[index], str(role)), said


def _roles_stated(document: Document) -> Iterator[Problem]:
    for entries, _, role in _entries(document):
        for index, entry in enumerate(entries.holders if role is not None else ()):
            if role not in entry:
                said = f'`{role}` is missing; "{_OWNER}" is the only one there is.'
                yield pointer_to(*entries.paths[index], str(role)), said


def _literals(document: Document) -> Iterator[Problem]:
    texts = [
        (value, entries, index, name)
        for entries, names, _ in _entries(document)
        for index, entry in enumerate(entries.holders)
        for name in names
        if isinstance(value := entry.get(name), str)
    ]
    for place, leak in forms.given_away([text for text, *_ in texts]):
        _, entries, index, name = texts[place]
        yield pointer_to(*entries.paths[index], name), f"`{name}` holds what looks like {leak.what}."


def _metadata(document: Document) -> Iterator[Problem]:
    for metadata, path in document.top.one("metadata"):
        yield from forms.string(metadata, "sourceUrl", path)
        yield from forms.string(metadata, "sourceUserId", path)
        yield from forms.strings(metadata, "tags", path)
        yield from forms.mapping(metadata, "pricing", path)
    for pricing, path in document.top.one("metadata").one("pricing"):
        yield from _pricing(pricing, path)


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
