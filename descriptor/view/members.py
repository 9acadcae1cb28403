"""One object of a document, read member by member by a reader who never fails and never guesses.

The invariant: a member is read exactly when the checker finds no fault with its form, because both ask
`descriptor.rules.forms`. What is absent is noted as not stated; what is there and cannot be read is noted as
unreadable, and is not stated as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from descriptor.rules import forms
from descriptor.rules.forms import Path
from descriptor.rules.table import Problem
from descriptor.strictjson import JsonValue

Value = TypeVar("Value")


@dataclass
class Notes:
    """The places of what was looked for and not found, and of what was found and not read, in the order of reading."""

    absent: dict[Path, None] = field(default_factory=dict)
    unreadable: dict[Path, None] = field(default_factory=dict)


class MembersReader:
    """Reads the members of one object, which stands at `path`. What is asked for is named; the rest is `other`."""

    def __init__(self, members: Mapping[str, JsonValue], path: Path, notes: Notes) -> None:
        self.members = members
        self.path = path
        self.notes = notes
        self._named: set[str] = set()

    def raw(self, name: str) -> JsonValue:
        """The member as it stands, for what is judged elsewhere. Absent reads as None, and is not noted."""
        self._named.add(name)
        return self.members.get(name)

    def has(self, name: str) -> bool:
        """Whether the member is there, readable or not."""
        self._named.add(name)
        return name in self.members

    def text(self, name: str) -> str | None:
        """A text that says something."""
        value = self._judged(name, forms.text(self.members, name, self.path))
        return value if isinstance(value, str) else None

    def flag(self, name: str) -> bool | None:
        """True or false."""
        value = self._judged(name, forms.flag(self.members, name, self.path))
        return value if isinstance(value, bool) else None

    def word(self, name: str, words: Sequence[str]) -> str | None:
        """A word of a closed vocabulary."""
        value = self._judged(name, forms.word(self.members, name, self.path, words))
        return value if isinstance(value, str) else None

    def texts(self, name: str) -> tuple[str, ...] | None:
        """A list of texts, whole or not at all."""
        value = self._judged(name, forms.list_of_texts(self.members, name, self.path))
        return tuple(str(one) for one in value) if isinstance(value, list) else None

    def whole_number(self, name: str, *, least: int) -> int | None:
        """An integer of at least `least`."""
        value = self._judged(name, forms.whole_number(self.members, name, self.path, least=least))
        return value if isinstance(value, int) else None

    def judged(self, name: str, judge: Callable[[JsonValue], bool]) -> JsonValue:
        """A member that `judge` finds readable; None otherwise."""
        self._named.add(name)
        if name not in self.members:
            self.notes.absent[(*self.path, name)] = None
        elif judge(self.members[name]):
            return self.members[name]
        else:
            self.unreadable(name)
        return None

    def object(self, name: str) -> MembersReader | None:
        """A member that is an object, to be read in its turn."""
        value = self.judged(name, lambda value: isinstance(value, dict))
        return MembersReader(value, (*self.path, name), self.notes) if isinstance(value, dict) else None

    def objects(self, name: str, read: Callable[[MembersReader], Value | None]) -> tuple[Value, ...] | None:
        """A list of objects, each read by `read`; not stated when an entry is no object, or one that `read` gives up.

        A list read in part could hide the entry that mattered.
        """
        entries = self.each(name, read)
        listed = self.members.get(name)
        if entries is not None and isinstance(listed, list) and len(entries) < len(listed):
            self.unreadable(name)
            return None
        return entries

    def each(self, name: str, read: Callable[[MembersReader], Value | None]) -> tuple[Value, ...] | None:
        """A list whose entries stand for themselves: one that cannot be read is left out, and noted."""
        value = self.judged(name, lambda value: isinstance(value, list))
        if not isinstance(value, list):
            return None
        entries = []
        for index, one in enumerate(value):
            entry = read(MembersReader(one, (*self.path, name, index), self.notes)) if isinstance(one, dict) else None
            if entry is None:
                self.unreadable(name, index)
            else:
                entries.append(entry)
        return tuple(entries)

    def unreadable(self, *steps: str | int) -> None:
        """Notes that what stands there is not read."""
        self.notes.unreadable[(*self.path, *steps)] = None

    def other(self) -> dict[str, JsonValue]:
        """The members that were not asked for, as they stand."""
        return {name: value for name, value in self.members.items() if name not in self._named}

    def _judged(self, name: str, problems: Iterator[Problem]) -> JsonValue:
        return self.judged(name, lambda _: next(problems, None) is None)
