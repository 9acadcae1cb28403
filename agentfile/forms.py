"""The forms that members of an `.agent` file have, and what keeps a member from having its own.

As in `descriptor.rules.forms`, each function looks at one member, `name`, of one object, `holder`, which stands at
`path`, and gives the problems with it. What is otherwise here: the format says where a text may not be empty, so any
other may be, and one of blanks is not empty.

The invariant: what a message says of a value costs the same for every value. A text is looked at in its beginning
alone, of which the message shows less, and the search for what it gives away ends where nobody would read on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from descriptor.leaks import Leak, leaks
from descriptor.pointers import pointer_to
from descriptor.rules import forms
from descriptor.rules.table import Problem, described
from descriptor.strictjson import JsonValue

_SHOWN = 1_000
_MOST_SEARCHED = 2**17
_APART = "|"
_SOUND: tuple[Problem, ...] = ()  # what nearly every member is: said without a generator

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


def shown(value: JsonValue) -> str:
    """A value in a message: short, and no secret."""
    return described(value[:_SHOWN] if isinstance(value, str) else value)


def searched(
    texts: Iterable[tuple[Holder, str, Path]], search: Callable[[str], Iterator[Leak]] = leaks
) -> Iterator[tuple[Path, Iterator[Leak]]]:
    """What each of these members gives away when it is a text, in the first 131,072 characters of them all."""
    room = _MOST_SEARCHED
    for holder, name, path in texts:
        value = holder.get(name)
        if isinstance(value, str):
            yield (*path, name), search(value[:room])
            room = max(0, room - len(value))


def given_away(texts: Sequence[str]) -> Iterator[tuple[int, Leak]]:
    """The first thing that each text gives away, with its place in `texts`.

    Looked at are the first 131,072 characters of them all. Nearly always nothing is, so that is asked first.
    """
    if not gives_away(texts):
        return
    room = _MOST_SEARCHED
    for place, text in enumerate(texts):
        if room <= 0:
            return
        leak = next(leaks(text[:room]), None)
        room -= len(text)
        if leak is not None:
            yield place, leak


def gives_away(texts: Iterable[str]) -> bool:
    """Whether any of these texts may give something away: all of them are searched at once, unless they are long."""
    # Between two texts stands what ends whatever a search could see in both.
    joined = _APART.join(dict.fromkeys(texts))
    return len(joined) > _MOST_SEARCHED or any(leaks(joined))


def word(holder: Holder, name: str, path: Path, words: Sequence[str], *, required: bool = False) -> Iterable[Problem]:
    """One word of a closed vocabulary, spelled as it stands there."""
    value = holder.get(name)
    if isinstance(value, str) and value in words:
        return _SOUND
    return forms.word(_brief(holder, name), name, path, words, required=required)


def flag(holder: Holder, name: str, path: Path, *, required: bool = False) -> Iterable[Problem]:
    """`true` or `false`."""
    if isinstance(holder.get(name), bool):
        return _SOUND
    return forms.flag(_brief(holder, name), name, path, required=required)


def mapping(holder: Holder, name: str, path: Path, *, required: bool = False) -> Iterable[Problem]:
    """An object."""
    if isinstance(holder.get(name), dict) or (name not in holder and not required):
        return _SOUND
    return forms.mapping(_brief(holder, name), name, path, required=required)


def items(holder: Holder, name: str, path: Path, *, required: bool = False) -> Iterable[Problem]:
    """A list, of whatever."""
    if isinstance(holder.get(name), list) or (name not in holder and not required):
        return _SOUND
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


def string(holder: Holder, name: str, path: Path, *, required: bool = False, filled: bool = False) -> Iterable[Problem]:
    """A text. `filled`: not an empty one."""
    value = holder.get(name)
    if isinstance(value, str):
        return _SOUND if value or not filled else ((pointer_to(*path, name), f"`{name}` is empty."),)
    if name in holder:
        return ((pointer_to(*path, name), f"`{name}` is {shown(value)}; it has to be text."),)
    return ((pointer_to(*path, name), f"`{name}` is missing; it has to be text."),) if required else _SOUND


def strings(
    holder: Holder, name: str, path: Path, *, required: bool = False, filled: bool = False
) -> Iterable[Problem]:
    """A list of texts, of any length. `filled`: none of them is empty, or of blanks."""
    value = holder.get(name)
    if not isinstance(value, list):
        return items(holder, name, path, required=required)
    return _SOUND if all(_is_sound(entry, filled) for entry in value) else _unsound(value, (*path, name), filled)


def _is_sound(entry: JsonValue, filled: bool) -> bool:
    return isinstance(entry, str) and not (filled and not entry.strip())


def _unsound(entries: Sequence[JsonValue], path: Path, filled: bool) -> Iterator[Problem]:
    for index, entry in enumerate(entries):
        if not isinstance(entry, str):
            yield pointer_to(*path, index), f"This entry is {shown(entry)}; it has to be text."
        elif not _is_sound(entry, filled):
            yield pointer_to(*path, index), "This entry is empty."


def number(
    holder: Holder, name: str, path: Path, *, least: float | None = None, most: float | None = None
) -> Iterable[Problem]:
    """A number between `least` and `most`, both allowed."""
    if name not in holder:
        return _SOUND
    value = holder[name]
    if not isinstance(value, int | float) or isinstance(value, bool):
        return ((pointer_to(*path, name), f"`{name}` is {shown(value)}; it has to be a number."),)
    if (least is not None and value < least) or (most is not None and value > most):
        return ((pointer_to(*path, name), f"`{name}` is {value}; it has to be from {least} to {most}."),)
    return _SOUND
