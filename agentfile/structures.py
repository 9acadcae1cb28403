"""Whether a file has the structure that an `.agent` file requires, by its names alone and never by its content.

The invariant: a name satisfies a requirement only as a whole. `discount_amount` is no `amount`, whatever the two have
in common; it is told as a near miss and changes no outcome. Case, width, Unicode form and runs of blanks do not count.

    entry of the file              read as                      met by
    Sheet "Invoices": id, due      qualifier and items          a part of that name with every one of the items
    id, due                        items alone                  any one part with every one of the items
    Summary                        the one item                 that too, or a part of that name

A qualifier ends at the first colon outside double quotes, and an item at a comma, unless the whole item is in double
quotes. A part that has more than is required is as good.

Source: `.agent` format 14.7; 10.2; 14, `structure`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from descriptor.errors import quoted

# The characters that NFKC makes a colon, a comma and a double quote, so that a boundary has any width.
_COLON, _COMMA, _QUOTE = ":\ufe13\ufe55\uff1a", ",\ufe10\ufe50\uff0c", '"\uff02'
_QUALIFIER = re.compile(rf"((?:[^{_COLON}{_QUOTE}]|[{_QUOTE}][^{_QUOTE}]*+[{_QUOTE}])*+)[{_COLON}]")
_FIRST_COLON = re.compile(rf"([^{_COLON}]*+)[{_COLON}]")
_ITEM = re.compile(rf"\s*+[{_QUOTE}]([^{_QUOTE}]+)[{_QUOTE}]\s*+(?:[{_COMMA}]|\Z)|([^{_COMMA}]*+)(?:[{_COMMA}]|\Z)")
_WORD = re.compile(r"[^\W_]+")

# Near misses are a courtesy, and comparing names letter by letter is slow: only so many, and only names of this length.
_LONGEST_COMPARED = 80
_MOST_COMPARED = 4_000
_MOST_NEAR = 3
_ALIKE = 0.75
_MOST_LISTED = 10


@dataclass(frozen=True)
class Part:
    """One part of a file, or one entry of a requirement: its name, and the names of its columns or headings.

    `name`: such as `Sheet "Invoices"`; `None` for a file that is one part, such as a table in CSV.
    """

    name: str | None
    items: tuple[str, ...]


@dataclass(frozen=True)
class EntryMatch:
    """What became of one required entry.

    `entry`: as the file writes it. `part`: what meets it or, when nothing does, comes closest; `None`: nothing has any
    of it. `missing`: the items, as the entry writes them, that `part` does not have. `near`: by missing name, the
    item's or the qualifier's, names of the candidate that resemble it and do not satisfy it. `elsewhere`: the parts of
    another name that have every item. `message`: for people.
    """

    entry: str
    met: bool
    part: Part | None
    missing: tuple[str, ...]
    near: Mapping[str, tuple[str, ...]]
    elsewhere: tuple[Part, ...]
    message: str


@dataclass(frozen=True)
class StructureMatch:
    """What became of every required entry, in the order of the file, and of every optional one."""

    required: tuple[EntryMatch, ...]
    optional: tuple[EntryMatch, ...] = ()

    @property
    def fits(self) -> bool:
        return all(one.met for one in self.required)

    @property
    def unmet(self) -> tuple[EntryMatch, ...]:
        return tuple(one for one in self.required if not one.met)


def table(columns: Iterable[str]) -> tuple[Part, ...]:
    """The structure of a file that is one table: the names in its header."""
    return (Part(None, tuple(columns)),)


def sheets(columns: Mapping[str, Iterable[str]]) -> tuple[Part, ...]:
    """The structure of a workbook: the names in the header of each sheet, by the sheet's name."""
    return tuple(Part(f'Sheet "{name}"', tuple(header)) for name, header in columns.items())


def headings(names: Iterable[str]) -> tuple[Part, ...]:
    """The structure of a document: its headings."""
    return (Part(None, tuple(names)),)


def split_qualifier(entry: str) -> tuple[str | None, str]:
    """What stands before the first colon outside double quotes, and the rest. `None`: nothing stands there.

    >>> split_qualifier('Sheet "Q1: paid": B2:H40')
    ('Sheet "Q1: paid"', 'B2:H40')
    """
    found = _QUALIFIER.match(entry)
    if found is None and sum(map(entry.count, _QUOTE)) % 2:
        found = _FIRST_COLON.match(entry)  # a quote that encloses nothing, such as inches
    if found is None:
        return None, entry.strip()
    return found[1].strip() or None, entry[found.end() :].strip()


def read_entry(entry: str) -> Part:
    """An entry of a `structure`, taken apart at its field boundaries.

    >>> read_entry('Sheet "Invoices": invoice_id, "Last, first"')
    Part(name='Sheet "Invoices"', items=('invoice_id', 'Last, first'))
    """
    name, rest = split_qualifier(entry)
    found = (match[1] or match[2] for match in _ITEM.finditer(rest))
    return Part(name, tuple(item.strip() for item in found if item and item.strip()))


def folded(name: str) -> str:
    """`name` as it is compared: NFKC, without case, each run of blanks one space.

    >>> folded("  Ｄｕｅ\\tDATE ")
    'due date'
    """
    # Folding can take a text out of its normal form, and the other way round: Unicode's caseless match (D146) goes
    # over it twice.
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFD", name).casefold())
    return " ".join(unicodedata.normalize("NFKC", text.casefold()).split())


def match_structure(required: Iterable[str], candidate: Sequence[Part], optional: Iterable[str] = ()) -> StructureMatch:
    """Whether `candidate`, the parts of a file, has every required entry; of each, what is missing. Raises nothing.

    >>> found = match_structure(['Sheet "Invoices": invoice_id, amount'], sheets({"invoices": ["Invoice_ID", "total"]}))
    >>> found.fits, found.unmet[0].missing
    (False, ('amount',))
    """
    index = _Index(candidate)
    return StructureMatch(
        tuple(_match(entry, index) for entry in required), tuple(_match(entry, index) for entry in optional)
    )


class _Index:
    """A candidate, folded once, and what is left of the work that near misses may cost."""

    def __init__(self, candidate: Sequence[Part]) -> None:
        self.parts = tuple(candidate)
        self.names = tuple(None if part.name is None else folded(part.name) for part in self.parts)
        self.items = tuple(frozenset(map(folded, part.items)) for part in self.parts)
        self.comparisons_left = _MOST_COMPARED

    def without(self, items: Sequence[str], place: int) -> int:
        """How many of these items the part at `place` does not have."""
        return sum(item not in self.items[place] for item in items)

    def near(self, name: str, among: Iterable[str]) -> tuple[str, ...]:
        """Names that resemble `name` and are not it, the most alike first."""
        wanted = folded(name)
        rated: dict[str, float] = {}
        for other in dict.fromkeys(among):
            if self.comparisons_left <= 0:
                break
            self.comparisons_left -= 1
            likeness = _likeness(wanted, folded(other)) if len(other) <= _LONGEST_COMPARED else 0
            if likeness >= _ALIKE:
                rated[other] = likeness
        return tuple(sorted(rated, key=lambda other: -rated[other])[:_MOST_NEAR])


def _likeness(wanted: str, other: str) -> float:
    """From 0 to 1; two names of which one has all the words of the other are alike."""
    if not wanted or wanted == other or len(wanted) > _LONGEST_COMPARED:
        return 0
    words, other_words = set(_WORD.findall(wanted)), set(_WORD.findall(other))
    if words and other_words and (words <= other_words or other_words <= words):
        return 1
    matcher = SequenceMatcher(None, wanted, other, autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= _ALIKE else 0


def _match(entry: str, index: _Index) -> EntryMatch:
    wanted = read_entry(entry)
    items = tuple(map(folded, wanted.items))
    if wanted.name is None and not items:
        said = (
            f"The entry {quoted(entry)} names nothing to look for, so nothing can meet it; its author has to say what."
        )
        return EntryMatch(entry, False, None, (), {}, (), said)
    places = tuple(_places(wanted, items, index))
    best = min(places, key=lambda place: index.without(items, place), default=None)
    if best is not None and (not index.without(items, best) or _is_name(wanted, items, index.names[best])):
        return EntryMatch(entry, True, index.parts[best], (), {}, (), f"{quoted(entry)} is there.")
    return _unmet(entry, wanted, items, index, best)


def _places(wanted: Part, items: Sequence[str], index: _Index) -> Iterator[int]:
    """Where the entry may be met, by name; what a part is called comes before what it holds."""
    if wanted.name is not None:
        name = folded(wanted.name)
        return (place for place, other in enumerate(index.names) if other == name)
    named = [place for place, other in enumerate(index.names) if _is_name(wanted, items, other)]
    return iter(named or range(len(index.parts)))


def _is_name(wanted: Part, items: Sequence[str], name: str | None) -> bool:
    return wanted.name is None and len(items) == 1 and items[0] == name


def _unmet(entry: str, wanted: Part, items: Sequence[str], index: _Index, best: int | None) -> EntryMatch:
    near: dict[str, tuple[str, ...]] = {}
    elsewhere: tuple[Part, ...] = ()
    part = index.parts[best] if best is not None else None
    if wanted.name is not None and best is None:
        near[wanted.name] = index.near(wanted.name, (one.name for one in index.parts if one.name is not None))
        elsewhere = tuple(one for place, one in enumerate(index.parts) if items and not index.without(items, place))
    missing = tuple(
        item
        for item, as_compared in zip(wanted.items, items, strict=True)
        if best is None or as_compared not in index.items[best]
    )
    if part is not None:
        among = index.parts if wanted.name is None else (part,)
        near.update((item, index.near(item, (name for one in among for name in one.items))) for item in missing)
        if len(missing) == len(items) and wanted.name is None:
            part = None
    near = {name: names for name, names in near.items() if names}
    return EntryMatch(entry, False, part, missing, near, elsewhere, _why(entry, wanted, part, missing, near, elsewhere))


def _why(
    entry: str,
    wanted: Part,
    part: Part | None,
    missing: Sequence[str],
    near: Mapping[str, Sequence[str]],
    elsewhere: Sequence[Part],
) -> str:
    if part is not None:
        lacks = f"{_called(part)} has no {_listed(missing)}"
    elif wanted.name is not None:
        lacks = f"the file has no {quoted(wanted.name)}"
    else:
        lacks = f"the file has no {_listed(missing)}"
    said = f"{quoted(entry)} is not met: {lacks}."
    for name, names in near.items():
        said += f" {_listed(names)} resembles {quoted(name)} and does not count as it."
    if any(part.name is None for part in elsewhere):
        said += (
            " All it asks for is in the table, which has no name, as none in CSV has; a sheet of a workbook has one."
        )
    elif elsewhere:
        said += f" All it asks for is in {', '.join(map(_called, elsewhere[:_MOST_NEAR]))}, under another name."
    return said


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(quoted, names[:_MOST_LISTED]))
    return shown if len(names) <= _MOST_LISTED else f"{shown} and {len(names) - _MOST_LISTED} more"


def _called(part: Part) -> str:
    return "the table" if part.name is None else quoted(part.name)
