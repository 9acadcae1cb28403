"""Text from a document, made fit to stand on a page.

The invariant: what is shown is bounded, and holds no character that reverses, hides or overlays what stands around it.
Such a character is not dropped but shown as its number, because a reader should see that it is there. Letters are not
judged: any script stays as it is, with as many marks on a letter as a language puts there.
"""

from __future__ import annotations

import unicodedata
from itertools import islice
from urllib.parse import urlsplit

NAME, SENTENCE, PASSAGE, PROSE = 120, 600, 1_200, 4_000
"""Characters of a name, of a sentence, of a value that changed, and of what the operator may say at length."""

_MOST_MARKS = 4
# Joiners that scripts and emoji are written with; they hide nothing.
_JOINERS = "\u200c\u200d"


def shown(text: str, most: int) -> str:
    """`text` with its control and format characters as `⟨U+202E⟩`, cut at `most` characters. Line breaks are kept."""
    if text.isascii() and text.isprintable():
        return text if len(text) <= most else text[:most] + "…"
    kept, marks = [], 0
    for char in islice(text, most):
        category = unicodedata.category(char)
        marks = marks + 1 if category in ("Mn", "Me") else 0
        if char in "\n\t" or char in _JOINERS:
            kept.append(char)
        elif category[0] == "C" or category in ("Zl", "Zp"):
            kept.append(f"⟨U+{ord(char):04X}⟩")
        elif marks <= _MOST_MARKS:
            kept.append(char)
    return "".join(kept) + ("…" if len(text) > most else "")


def link(text: str) -> str | None:
    """An address that may be followed from the page: http or https, plain, and bounded. `None` for any other text."""
    if len(text) > 2_000 or not text.isascii() or not text.isprintable() or " " in text or "\\" in text:
        return None
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return None
    sound = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc and port != 0
    return text if sound else None
