"""The forms of members, asked of many objects at once.

The invariant: a column is sound exactly when `agentfile.forms` has nothing to say of any object in it. A file is sound
nearly always, so that is found out first, for all the objects of a list together and at the speed of C; which object is
wrong, and where it stands, is worked out only when one is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress, islice
from typing import Any

from agentfile import forms
from agentfile.forms import Holder, Path
from descriptor.rules.table import Problem
from descriptor.strictjson import RoundedInteger


class Absent:
    """The type of what stands in a column for a member that its object does not have."""


ABSENT = Absent()
"""What stands there."""
_NUMBERS = frozenset((int, float, RoundedInteger, Absent))


@dataclass(frozen=True)
class Places:
    """Objects of one kind in a file, in its order. `walk`: the path of each, which is asked for when one is wrong."""

    holders: Sequence[Holder]
    walk: Callable[[], Iterable[Path]]

    @cached_property
    def paths(self) -> list[Path]:
        return list(self.walk())

    def __iter__(self) -> Iterator[tuple[Holder, Path]]:
        """Each with its path. Whoever has seen enough stops, and the paths of the rest are never made."""
        return zip(self.holders, self.walk(), strict=True)

    def column(self, name: str, absent: Any = ABSENT) -> list[Any]:
        """What each of them has as its member `name`."""
        return [holder.get(name, absent) for holder in self.holders]

    def one(self, name: str) -> Places:
        """The objects that their members `name` are."""
        inner = [value for value in self.column(name) if isinstance(value, dict)]
        return Places(inner, lambda: ((*path, name) for holder, path in self if isinstance(holder.get(name), dict)))

    def each(self, name: str) -> Places:
        """The objects in the lists that their members `name` are."""
        entries = chain.from_iterable(value for value in self.column(name) if isinstance(value, list))
        return Places([entry for entry in entries if isinstance(entry, dict)], lambda: self._paths_of_each(name))

    def first(self, count: int) -> Places:
        """No more of them than `count`."""
        return Places(self.holders[:count], lambda: islice(self.walk(), count))

    def where(self, name: str, value: str, *, differs: bool = False) -> Places:
        """Those whose member `name` is `value`; `differs`: the others."""
        chosen = [(holder.get(name) == value) is not differs for holder in self.holders]
        return Places(list(compress(self.holders, chosen)), lambda: compress(self.walk(), chosen))

    def _paths_of_each(self, name: str) -> Iterator[Path]:
        for holder, path in self:
            value = holder.get(name)
            for index, entry in enumerate(value if isinstance(value, list) else ()):
                if isinstance(entry, dict):
                    yield *path, name, index


@dataclass(frozen=True)
class Form:
    """The form of the member `name`. `sound`: of a column. `problems`: of one object, as `agentfile.forms` has them."""

    name: str
    sound: Callable[[Sequence[Any]], bool]
    problems: Callable[[Holder, Path], Iterable[Problem]]


def problems(places: Places, *members: Form) -> Iterator[Problem]:
    """What is wrong with these members of these objects: object by object, and member by member in each."""
    if all(form.sound(places.column(form.name)) for form in members):
        return
    for holder, path in places:
        for form in members:
            yield from form.problems(holder, path)


def text(name: str, *, required: bool = False, filled: bool = False) -> Form:
    """As `forms.string`."""
    types = _types(str, required)

    def sound(column: Sequence[Any]) -> bool:
        return types.issuperset(map(type, column)) and not (filled and "" in column)

    return Form(name, sound, lambda holder, path: forms.string(holder, name, path, required=required, filled=filled))


def word(name: str, words: Sequence[str], *, required: bool = False) -> Form:
    """As `forms.word`."""
    types = _types(str, required)
    known = frozenset((*words, ABSENT))

    def sound(column: Sequence[Any]) -> bool:
        return types.issuperset(map(type, column)) and known.issuperset(column)

    return Form(name, sound, lambda holder, path: forms.word(holder, name, path, words, required=required))


def flag(name: str, *, required: bool = False) -> Form:
    """As `forms.flag`."""
    return _typed(name, bool, required, lambda holder, path: forms.flag(holder, name, path, required=required))


def mapping(name: str, *, required: bool = False) -> Form:
    """As `forms.mapping`."""
    return _typed(name, dict, required, lambda holder, path: forms.mapping(holder, name, path, required=required))


def items(name: str, *, required: bool = False) -> Form:
    """As `forms.items`."""
    return _typed(name, list, required, lambda holder, path: forms.items(holder, name, path, required=required))


def objects(name: str, *, required: bool = False) -> Form:
    """As `forms.objects`."""
    types = _types(list, required)

    def sound(column: Sequence[Any]) -> bool:
        return types.issuperset(map(type, column)) and _DICT.issuperset(map(type, _entries(column)))

    return Form(name, sound, lambda holder, path: forms.objects(holder, name, path, required=required))


def texts(name: str, *, required: bool = False, filled: bool = False) -> Form:
    """As `forms.strings`."""
    types = _types(list, required)

    def sound(column: Sequence[Any]) -> bool:
        if not types.issuperset(map(type, column)) or not _STR.issuperset(map(type, _entries(column))):
            return False
        return not filled or all(map(str.strip, _entries(column)))

    return Form(name, sound, lambda holder, path: forms.strings(holder, name, path, required=required, filled=filled))


def number(name: str, *, least: float | None = None, most: float | None = None) -> Form:
    """As `forms.number`."""

    def sound(column: Sequence[Any]) -> bool:
        if not _NUMBERS.issuperset(map(type, column)):
            return False
        stated = [value for value in column if value is not ABSENT]
        return not stated or not (
            (least is not None and min(stated) < least) or (most is not None and max(stated) > most)
        )

    return Form(name, sound, lambda holder, path: forms.number(holder, name, path, least=least, most=most))


_DICT = frozenset((dict,))
_STR = frozenset((str,))


def _types(of: type[Any], required: bool) -> frozenset[type[Any]]:
    return frozenset((of,)) if required else frozenset((of, Absent))


def _typed(name: str, of: type[Any], required: bool, told: Callable[[Holder, Path], Iterable[Problem]]) -> Form:
    types = _types(of, required)
    return Form(name, lambda column: types.issuperset(map(type, column)), told)


def _entries(column: Sequence[Any]) -> Iterable[Any]:
    return chain.from_iterable(value for value in column if value is not ABSENT)
