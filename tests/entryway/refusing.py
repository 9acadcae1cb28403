"""What a refusal has to say to somebody who meets it for the first time."""

from __future__ import annotations

import re

# The words that a sentence begins with which says what to do.
TO_DO = {
    *("Add", "Allow", "Ask", "Become", "Begin", "Check", "Choose", "Come", "Declare", "Fetch", "Get", "Give", "Hand"),
    *("Knock", "Leave", "Look", "Mend", "Name", "Nothing goes on; ask", "Read", "Resume", "Seal", "Send", "Set"),
    *("State", "Tell", "Try", "Use", "Write"),
}
_SENTENCE = re.compile(r"(?<=[.:?])\s+|;\s+")


def says_what_to_do(message: str) -> bool:
    """Whether a refusal first says what was wrong, and then, in a sentence of its own, what to do about it."""
    _, *after = _SENTENCE.split(message)
    return any(one.split()[0].rstrip(",").capitalize() in TO_DO for one in after if one)
