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

LONGEST = 1_000
"""How many characters of a text are looked at: a name has fewer, and no message shows more."""

_WORD = re.compile(r"[^\W\d_]+")
_DRAWN_ALIKE = str.maketrans(
    "аеорсухіјѕһԁԛԝгпмтвнкαονικρτυχγ\u0131\u0261\u03f2\u1d0f\u0585\u057d\u0578",
    "aeopcyxijshdqwrnmtbhkaovikptuxyigcooun",
)


def skeleton(name: str) -> str:
    """`name` as it looks, in its first thousand characters: equal to that of every name that looks like it.

    >>> skeleton("credential_Ref"), skeleton("ｃredentialＲef"), skeleton("сrеdentialRef")
    ('credentialref', 'credentialref', 'credentialref')
    """
    if name.isascii():
        plain = name[:LONGEST].lower()
    else:
        plain = unicodedata.normalize("NFKD", name[:LONGEST]).casefold().translate(_DRAWN_ALIKE)
    return "".join(char for char in plain if char.isalnum())


def disguised(text: str) -> str | None:
    """The first character of `text` that passes for one of the Latin letters in its word; `None`: there is none.

    A word in another script altogether disguises nothing. What is invisible always does.

    >>> disguised("micrоsoft"), disguised("почта mail"), disguised("café")
    ('о', None, None)
    """
    if text.isascii():
        return None
    head = text[:LONGEST]
    hidden = next((char for char in head if unicodedata.category(char) == "Cf"), None)
    words = (word for word in _WORD.findall(head) if any(map(str.isascii, word)))
    return hidden or next((char for word in words for char in word if _passes_for_latin(char)), None)


def _passes_for_latin(char: str) -> bool:
    drawn = unicodedata.normalize("NFKC", char).lower().translate(_DRAWN_ALIKE)
    return drawn.isascii() and not char.isascii()
