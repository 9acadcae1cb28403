"""The forms that members of an `.agent` file have, and what keeps a member from having its own.

As in `descriptor.rules.forms`, each function looks at one member, `name`, of one object, `holder`, which stands at
`path`, and yields the problem with it. What is otherwise here: the format says where a text may not be empty, so any
other may be, and one of blanks is not empty.

The invariant: what a message says of a value costs the same for every value. A text is looked at in its beginning
alone, of which the message shows less, and the search for what it gives away ends where nobody would read on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from descriptor.leaks import Leak, leaks
from descriptor.pointers import pointer_to
from descriptor.rules import forms
from descriptor.rules.table import Problem, described
from descriptor.strictjson import JsonValue

_SHOWN = 1_000
_MOST_SEARCHED = 2**17

Path = tuple[str | int, ...]
Holder = Mapping[str, JsonValue]


def is_string(value: JsonValue) -> bool:
    """Whether it is a text, empty or not."""
    return isinstance(value, str)


def is_number(value: JsonValue) -> bool:
    """Whether it is a number; `true` is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_strings(value: JsonValue) -> bool:
    """Whether it is a list of texts."""
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def is_pricing(value: JsonValue) -> bool:
    """Whether it is an object that says what kind of price it is. Source: 16."""
    return isinstance(value, dict) and isinstance(value.get("kind"), str)


def one(holder: Holder, name: str, path: Path = ()) -> Iterator[tuple[Holder, Path]]:
    """The member when it is an object, with its path; otherwise nothing."""
    value = holder.get(name)
    if isinstance(value, dict):
        yield value, (*path, name)


def each(holder: Holder, name: str, path: Path = ()) -> Iterator[tuple[Holder, Path]]:
    """The objects in the member when it is a list, each with its path; otherwise nothing."""
    value = holder.get(name)
    if isinstance(value, list):
        place = (*path, name)
        for index, entry in enumerate(value):
            if isinstance(entry, dict):
                yield entry, (*place, index)


def shown(value: JsonValue) -> str:
    """A value in a message: short, and no secret."""
    return described(value[:_SHOWN] if isinstance(value, str) else value)


def searched(texts: Iterable[tuple[Holder, str, Path]]) -> Iterator[tuple[Path, Iterator[Leak]]]:
    """What each of these members gives away when it is a text, in the first 131,072 characters of them all."""
    room = _MOST_SEARCHED
    for holder, name, path in texts:
        value = holder.get(name)
        if isinstance(value, str):
            yield (*path, name), leaks(value[:room])
            room = max(0, room - len(value))


def word(holder: Holder, name: str, path: Path, words: Sequence[str], *, required: bool = False) -> Iterator[Problem]:
    """One word of a closed vocabulary, spelled as it stands there."""
    return forms.word(_brief(holder, name), name, path, words, required=required)


def flag(holder: Holder, name: str, path: Path, *, required: bool = False) -> Iterator[Problem]:
    """`true` or `false`."""
    return forms.flag(_brief(holder, name), name, path, required=required)


def mapping(holder: Holder, name: str, path: Path, *, required: bool = False) -> Iterator[Problem]:
    """An object."""
    return forms.mapping(_brief(holder, name), name, path, required=required)


def items(holder: Holder, name: str, path: Path, *, required: bool = False) -> Iterator[Problem]:
    """A list, of whatever."""
    return forms.items(_brief(holder, name), name, path, required=required)


def objects(holder: Holder, name: str, path: Path, *, required: bool = False) -> Iterator[Problem]:
    """A list in which every entry is an object."""
    yield from items(holder, name, path, required=required)
    value = holder.get(name)
    for index, entry in enumerate(value if isinstance(value, list) else ()):
        if not isinstance(entry, dict):
            yield pointer_to(*path, name, index), f"This entry is {shown(entry)}; it has to be an object."


def _brief(holder: Holder, name: str) -> Holder:
    """The member alone and cut, when it is a long text: no such text is a word, or has a form other than a text's."""
    value = holder.get(name)
    return {name: value[:_SHOWN]} if isinstance(value, str) and len(value) > _SHOWN else holder


def string(holder: Holder, name: str, path: Path, *, required: bool = False, filled: bool = False) -> Iterator[Problem]:
    """A text. `filled`: not an empty one."""
    if name not in holder:
        if required:
            yield pointer_to(*path, name), f"`{name}` is missing; it has to be text."
    elif not isinstance(holder[name], str):
        yield pointer_to(*path, name), f"`{name}` is {shown(holder[name])}; it has to be text."
    elif filled and not holder[name]:
        yield pointer_to(*path, name), f"`{name}` is empty."


def strings(
    holder: Holder, name: str, path: Path, *, required: bool = False, filled: bool = False
) -> Iterator[Problem]:
    """A list of texts, of any length. `filled`: none of them is empty, or of blanks."""
    yield from items(holder, name, path, required=required)
    value = holder.get(name)
    for index, entry in enumerate(value if isinstance(value, list) else ()):
        if not isinstance(entry, str):
            yield pointer_to(*path, name, index), f"This entry is {shown(entry)}; it has to be text."
        elif filled and not entry.strip():
            yield pointer_to(*path, name, index), "This entry is empty."


def number(
    holder: Holder, name: str, path: Path, *, least: float | None = None, most: float | None = None
) -> Iterator[Problem]:
    """A number between `least` and `most`, both allowed."""
    if name not in holder:
        return
    value = holder[name]
    if not isinstance(value, int | float) or isinstance(value, bool):
        yield pointer_to(*path, name), f"`{name}` is {shown(value)}; it has to be a number."
    elif (least is not None and value < least) or (most is not None and value > most):
        yield pointer_to(*path, name), f"`{name}` is {value}; it has to be from {least} to {most}."
