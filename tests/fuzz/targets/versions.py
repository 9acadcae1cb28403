"""The order of versions: each of the four is an order over the strings it reads.

- It raises nothing but `VERSION_UNREADABLE`, and natural order raises nothing at all.
- Whether a string is read does not depend on what it is compared with.
- By natural order zeros in front of a number change nothing.
- Swapped, two strings compare the other way round; a string equals itself; three never form a circle.
"""

from __future__ import annotations

import re
from itertools import permutations

from descriptor.errors import DescriptorError
from descriptor.versions import ORDERS, compare
from tests.fuzz.promises import assert_fit_to_show, loose

TOKENS = (
    *("\n", "1.0", "1.0.0", "1.10.0", "01", "-rc.1", "-alpha", "+build", "+", "-", ".", "2026.11.30", "26.4.1-2", "1!"),
    *("rc1", ".dev0", ".post1", "a1", "b2", "v1", "\u0661", "\u00b2", "\uff11", "9" * 40, "99999999999999999999", "0"),
)
# Forty nines stand for as many, among them around the limit that Python has on the digits of an integer.
LONG = (40, 4_299, 4_300, 4_301)


def one_input(data: bytes) -> None:
    texts = [text.replace("9" * 40, "9" * LONG[len(data) % 4]) for text in loose(data).split("\n")[:3]]
    for text in texts:
        assert compare(text, re.sub("[0-9]+", lambda digits: "0" + digits[0], text), "natural") == 0
    for order in ORDERS:
        read = [text for text in texts if _is_read(text, order)]
        assert order != "natural" or read == texts
        for a, b in permutations(read, 2):
            assert compare(a, b, order) == -compare(b, a, order)
            assert a != b or compare(a, b, order) == 0
        for a, b, c in permutations(read, 3):
            if compare(a, b, order) <= 0 and compare(b, c, order) <= 0:
                assert compare(a, c, order) <= 0


def _is_read(text: str, order: str) -> bool:
    try:
        assert compare(text, text, order) == 0
    except DescriptorError as error:
        assert_fit_to_show(error)
        assert error.code == "VERSION_UNREADABLE"
        return False
    return True
