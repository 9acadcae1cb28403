"""The order of two `agent_version` strings, under the scheme the operator chose.

Chapter 6.2 leaves the scheme of `agent_version` to the operator and says only that Descriptors of one subject are
ordered by it. The node's setting names one of four orders. Each is total over the strings it reads: any two
compare as -1, 0 or 1, swapped they give the opposite, and it is transitive. 0 means that the order cannot tell
the two apart, which can happen to different strings (last column).

=========  ============================================  ===========================================  ==============
order      reads                                         sorts                                        equal, say
=========  ============================================  ===========================================  ==============
natural    any string; the default                       runs of `0-9` as integers and the text     1.01, 1.1
                                                         between them by code point, left to right
semver     Semantic Versioning 2.0.0                     by its precedence: 1.0.0-rc.1 < 1.0.0;       1.0.0+a, 1.0.0
                                                         build metadata (after `+`) is ignored
pep440     Python versions, through `packaging`        1.0.dev1 < 1.0rc1 < 1.0 < 1.0.post1          1.0, 1.0.0
calver     a year (four digits, or two, counted from     field by field as integers; one that goes    26.4, 2026.04
           2000), then at least one more dotted number,  on sorts after the one it goes on from:
           then `-N` for that date's N-th release      26.4.1 < 26.4.1-2
=========  ============================================  ===========================================  ==============

**natural and pre-releases.** `1.0` sorts *before* `1.0-rc1`: a string that goes on sorts after the one it goes
on from, as `sort -V` has it. Natural order reads no words, so it cannot know that `rc` announces a release
while the `-2` of `2026.11.30-2` follows one, and a guess would be wrong for somebody. An operator who publishes
release candidates sets `semver` or `pep440`. By code point means upper case before lower case.

Digit runs compare by length and then as text, so their size has no limit (Python refuses to read an integer of
more than 4,300 digits). `pep440` reads integers, and calls a longer run unreadable.

Source: chapter 6.2 (`agent_version`), chapter 6.5.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from packaging.version import Version

from descriptor.errors import DescriptorError, quoted

ORDERS = ("natural", "semver", "pep440", "calver")

# A key is a tuple of parts that Python compares left to right. A number's part is its length and its digits, a
# text's is a rank and the text, and no two parts of different kinds meet at one place with equal first halves.
_Part = tuple[int, str]
_ABOVE_NUMBERS = sys.maxsize

_DIGITS = re.compile(r"([0-9]+)")
_IDENTIFIER = re.compile(r"[0-9A-Za-z-]+")
_CALVER = re.compile(r"([0-9]{4}|[0-9]{2})((?:\.[0-9]+)+)(?:-([0-9]+))?")


def compare(a: str, b: str, order: str) -> int:
    """-1 when `a` sorts before `b` under `order`, 1 when after, 0 when the order cannot tell them apart.

    Raises `DescriptorError`: `VERSION_UNREADABLE` when a string does not fit the order, `VERSION_ORDER_UNKNOWN`
    when `order` is none of `ORDERS`. Natural order reads every string.

    >>> compare("1.9", "1.10", "natural")
    -1
    """
    read = _READERS.get(order)
    if read is None:
        raise DescriptorError(
            "VERSION_ORDER_UNKNOWN", f"There is no version order {quoted(order)}; choose one of {', '.join(ORDERS)}."
        )
    first, second = read(a), read(b)
    return int(first > second) - int(first < second)


def surely_below(a: str, b: str) -> bool:
    """Whether `a` sorts before `b` under every order that reads both.

    Which order its operator chose is not declared in a Descriptor, so a reader says that a version went back only when
    no order has it otherwise. Natural order reads every string.

    >>> surely_below("1.9", "1.10"), surely_below("1.0", "1.0-rc1")
    (True, False)
    """
    results = []
    for order in ORDERS:
        with suppress(DescriptorError):
            results.append(compare(a, b, order))
    return all(result < 0 for result in results)


def _natural(text: str) -> tuple[_Part, ...]:
    # Splitting on a group alternates text and digits, text first: like always meets like.
    return tuple(_number(part) if place % 2 else (0, part) for place, part in enumerate(_DIGITS.split(text)))


def _semver(text: str) -> tuple[_Part, ...]:
    version, has_build, build = text.partition("+")
    core, has_release, pre_release = version.partition("-")
    numbers = core.split(".")
    identifiers = pre_release.split(".") if has_release else []
    sound = (
        len(numbers) == 3
        and all(_is_number(number) for number in numbers)
        and all(_IDENTIFIER.fullmatch(part) for part in identifiers)
        and all(_is_number(part) for part in identifiers if part.isdigit())
        and (not has_build or all(_IDENTIFIER.fullmatch(part) for part in build.split(".")))
    )
    if not sound:
        raise _unreadable(text, "semver", "three numbers without leading zeros, as in 1.4.0 or 1.4.0-rc.1")
    # A version without a pre-release comes after all that have one (SemVer 11.3).
    released = (1, "") if not has_release else (0, "")
    return (
        *(_number(number) for number in numbers),
        released,
        *(_number(part) if part.isdigit() else (_ABOVE_NUMBERS, part) for part in identifiers),
    )


def _pep440(text: str) -> Version:
    try:
        return Version(text)
    except ValueError as error:  # InvalidVersion is one, and so is an integer past Python's limit
        raise _unreadable(text, "pep440", "a Python version, as in 1.4, 1.4rc1 or 1.4.post1") from error


def _calver(text: str) -> tuple[_Part, ...]:
    found = _CALVER.fullmatch(text)
    if found is None:
        raise _unreadable(text, "calver", "a year and at least one more number, as in 2026.11.30 or 26.4.1-2")
    year, rest, release = found.groups()
    fields = tuple(_number(field) for field in rest[1:].split("."))
    # The end of the date sorts below any further field, so that 26.4.1-2 stays below 26.4.1.1 whatever its N.
    return (_number(year if len(year) == 4 else "20" + year), *fields, (-1, ""), _number(release or ""))


def _number(digits: str) -> _Part:
    """An integer of any size, ready to compare: leading zeros do not count."""
    digits = digits.lstrip("0")
    return len(digits), digits


def _is_number(text: str) -> bool:
    return _DIGITS.fullmatch(text) is not None and (text == "0" or not text.startswith("0"))


def _unreadable(text: str, order: str, shape: str) -> DescriptorError:
    return DescriptorError(
        "VERSION_UNREADABLE",
        f"The agent_version {quoted(text)} does not fit the version order {order}, which reads {shape}. "
        "Change the agent_version, or set another version order.",
    )


_READERS: dict[str, Callable[[str], Any]] = {
    "natural": _natural,
    "semver": _semver,
    "pep440": _pep440,
    "calver": _calver,
}
