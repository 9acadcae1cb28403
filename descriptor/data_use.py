"""Whether what an agent says of its data use can be read, for a reader: as a whole or not at all.

A privacy claim of which only a part can be read misleads more than none, so one unreadable part drops the block. The
judgement is the checker's own: what its rules find in a part is what a reader cannot read, so the two never disagree.

Source: chapter 6.9, data use; binding 11.
"""

from __future__ import annotations

from descriptor.rules.section_6_9_data_use import PARTS
from descriptor.strictjson import JsonValue


def readable(block: JsonValue) -> bool:
    """Whether a reader can take `block`, the value of a `data_use` member, as a whole. Raises nothing.

    Members that nobody knows make nothing unreadable. In a block that is readable every promise is true, known or not,
    and where both names of the jurisdictions stand they say the same.

    >>> readable({"memory": "starts-clean-each-job", "processors": []}), readable({"memory": "yes", "processors": []})
    (True, False)
    """
    document: dict[str, JsonValue] = {"data_use": block}
    return not any(next(part.find(document), None) for part in PARTS)
