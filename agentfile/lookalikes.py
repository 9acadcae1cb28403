"""Whether two names look the same to a person though they are not.

The invariant: what a reader cannot tell apart has one skeleton. Width, letter case, blanks, hyphens and underscores,
what is invisible, and the letters of other scripts that are drawn like Latin ones do not count. A skeleton tells that
something is suspicious, and never that two names are one.

Source: `.agent` format 14 and 19, item 3; Unicode Technical Standard 39, of which the letters below are the part that
is met in names.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice

LONGEST = 1_000
"""How many characters of a text are looked at: a name has fewer, and no message shows more."""
_AT_ONCE = 25  # names

_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[A-Za-z]")
_NOT_DRAWN = re.compile(r"[^\w\n]+")  # but for what stands between two names
_DRAWN_ALIKE = dict(
    zip(
        "аеорсухіјѕһԁԛԝгпмтвнкαονικρτυχγ\u0131\u0261\u03f2\u1d0f\u0585\u057d\u0578",
        "aeopcyxijshdqwrnmtbhkaovikptuxyigcooun",
        strict=True,
    )
)


def skeleton(name: str) -> str:
    """`name` as it looks, in its first thousand characters: equal to that of every name that looks like it.

    >>> skeleton("credential_Ref"), skeleton("ｃredentialＲef"), skeleton("сrеdentialRef")
    ('credentialref', 'credentialref', 'credentialref')
    """
    (only,) = skeletons([name])
    return only


def skeletons(names: Iterable[str]) -> Iterator[str]:
    """The skeleton of each name, worked out for many of them at once; not for all, since one may be eighteen times as
    long as its name."""
    left = iter(names)
    while some := list(islice(left, _AT_ONCE)):
        joined = "\n".join([name[:LONGEST].replace("\n", " ") for name in some])
        # What is all ASCII is its own NFKD.
        plain = joined.lower() if joined.isascii() else _as_drawn(unicodedata.normalize("NFKD", joined).casefold())
        yield from _NOT_DRAWN.sub("", plain.replace("_", "")).split("\n")


def disguised(text: str) -> str | None:
    """The first character of `text` that passes for one of the Latin letters in its word; `None`: there is none.

    A word in another script altogether disguises nothing. What is invisible always does.

    >>> disguised("micrоsoft"), disguised("почта mail"), disguised("café")
    ('о', None, None)
    """
    if text.isascii():
        return None
    head = text[:LONGEST]
    hidden = None if head.isprintable() else next((char for char in head if unicodedata.category(char) == "Cf"), None)
    if hidden is not None or _LATIN.search(head) is None:
        return hidden
    words = (word for word in _WORD.findall(head) if any(map(str.isascii, word)))
    return next((char for word in words for char in word if _passing_for_latin(char)), None)


def _as_drawn(text: str) -> str:
    for char in _DRAWN_ALIKE.keys() & set(text):
        text = text.replace(char, _DRAWN_ALIKE[char])
    return text


def any_disguised(texts: Iterable[str]) -> bool:
    """Whether any of them may be `disguised`; nearly always it is told at once, of all of them, that none is."""
    heads = {text[:LONGEST] for text in texts if not text.isascii()}
    if not heads:
        return False
    chars = set().union(*heads)
    return not "".join(chars).isprintable() or bool(_passing_for_latin(chars))


def _passing_for_latin(chars: Iterable[str]) -> set[str]:
    """Those of the characters that are drawn like others that are Latin."""
    beyond = [char for char in chars if not char.isascii()]
    drawn = _as_drawn(unicodedata.normalize("NFKC", "\n".join(beyond)).lower()).split("\n")
    return {char for char, alike in zip(beyond, drawn, strict=True) if alike.isascii()} if beyond else set()
