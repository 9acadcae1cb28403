"""The forms that members have, and what keeps a member from having its own.

Each function looks at one member, `name`, of one object, `holder`, which stands at `path` in the document, and yields
the problem with it, at the member's own place. An absent member has no problem, unless it is `required`: then the
problem stands where it would stand. JSON's `null` is no way to say nothing: it is a value of the wrong type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from descriptor.pointers import pointer_to
from descriptor.rules.table import Problem, described
from descriptor.strictjson import JsonValue

Path = tuple[str | int, ...]
Holder = Mapping[str, JsonValue]

_CURRENCY = re.compile(r"[A-Z]{3}")


def missing(holder: Holder, name: str, path: Path, why: str) -> Iterator[Problem]:
    """`name` has to be there. `why`: a sentence that says what its absence leaves open."""
    if name not in holder:
        yield pointer_to(*path, name), f"`{name}` is missing. {why}"


def text(holder: Holder, name: str, path: Path, *, required: bool = False) -> Iterator[Problem]:
    """A text that says something: not empty, not only blanks."""
    if name not in holder:
        if required:
            yield pointer_to(*path, name), f"`{name}` is missing."
        return
    value = holder[name]
    if not isinstance(value, str):
        yield pointer_to(*path, name), f"`{name}` is {described(value)}; it has to be text."
    elif not value.strip():
        yield pointer_to(*path, name), f"`{name}` is empty."


def flag(holder: Holder, name: str, path: Path, *, required: bool = False) -> Iterator[Problem]:
    """`true` or `false`."""
    if name not in holder:
        if required:
            yield pointer_to(*path, name), f"`{name}` is missing."
    elif not isinstance(holder[name], bool):
        yield pointer_to(*path, name), f"`{name}` is {described(holder[name])}; it has to be true or false."


def word(holder: Holder, name: str, path: Path, words: Sequence[str], *, required: bool = False) -> Iterator[Problem]:
    """One word of a closed vocabulary, spelled as it stands there."""
    if name not in holder:
        if required:
            yield pointer_to(*path, name), f"`{name}` is missing; it is one of {', '.join(words)}."
    elif holder[name] not in words:
        yield pointer_to(*path, name), f"`{name}` is {described(holder[name])}; it has to be one of {', '.join(words)}."


def list_of_texts(
    holder: Holder, name: str, path: Path, *, unique: bool = False, required: bool = False
) -> Iterator[Problem]:
    """A list of texts that each say something; an empty list is one. `unique`: no text stands twice."""
    yield from items(holder, name, path, required=required)
    value = holder.get(name)
    if not isinstance(value, list):
        return
    seen = set()
    for index, item in enumerate(value):
        if not isinstance(item, str):
            yield pointer_to(*path, name, index), f"This entry is {described(item)}; it has to be text."
        elif not item.strip():
            yield pointer_to(*path, name, index), "This entry is empty."
        elif unique and item in seen:
            yield pointer_to(*path, name, index), f"{described(item)} stands here twice."
        else:
            seen.add(item)


def items(holder: Holder, name: str, path: Path, *, required: bool = False) -> Iterator[Problem]:
    """A list, of whatever."""
    if name not in holder:
        if required:
            yield pointer_to(*path, name), f"`{name}` is missing."
    elif not isinstance(holder[name], list):
        yield pointer_to(*path, name), f"`{name}` is {described(holder[name])}; it has to be a list."


def list_of_objects(holder: Holder, name: str, path: Path, *, required: bool = False) -> Iterator[Problem]:
    """A list in which every entry is an object."""
    yield from items(holder, name, path, required=required)
    value = holder.get(name)
    if isinstance(value, list):
        for index, item in enumerate(value):
            if not isinstance(item, dict):
                yield pointer_to(*path, name, index), f"This entry is {described(item)}; it has to be an object."


def mapping(holder: Holder, name: str, path: Path, *, required: bool = False) -> Iterator[Problem]:
    """An object."""
    if name not in holder:
        if required:
            yield pointer_to(*path, name), f"`{name}` is missing."
    elif not isinstance(holder[name], dict):
        yield pointer_to(*path, name), f"`{name}` is {described(holder[name])}; it has to be an object."


def whole_number(holder: Holder, name: str, path: Path, *, least: int, required: bool = False) -> Iterator[Problem]:
    """An integer of at least `least`."""
    if name not in holder:
        if required:
            yield pointer_to(*path, name), f"`{name}` is missing."
    elif not is_whole(holder[name], least):
        value = holder[name]
        shown = value if isinstance(value, int | float) and not isinstance(value, bool) else described(value)
        yield pointer_to(*path, name), f"`{name}` is {shown}; it has to be a whole number of {least} or more."


def money(value: JsonValue, path: Path) -> Iterator[Problem]:
    """Money: `{"amount_micro": integer of 0 or more, "currency": ISO 4217 code}`. `path` leads to `value` itself."""
    if not isinstance(value, dict):
        yield (
            pointer_to(*path),
            f'This is {described(value)}; money is written {{"amount_micro": 20000000, "currency": "USD"}}.',
        )
        return
    yield from whole_number(value, "amount_micro", path, least=0, required=True)
    currency = value.get("currency")
    if "currency" not in value:
        yield pointer_to(*path, "currency"), "`currency` is missing."
    elif not isinstance(currency, str) or not _CURRENCY.fullmatch(currency):
        yield (
            pointer_to(*path, "currency"),
            f"`currency` is {described(currency)}; it has to be an ISO 4217 code such as USD.",
        )


def is_whole(value: JsonValue, least: int) -> bool:
    """Whether `value` is an integer of at least `least`. `true` is none, and neither is 1.5."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
