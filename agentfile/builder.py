"""An `AgentFile` to bytes that every reader of version 1 reads as that file, and a name to save them under.

The invariants: what `build` returns parses without an error, to the file that it was given; and nothing private is in
it unless the owner asked for a personal export in so many words.

Source: `.agent` format 6, 7, 17, 22 and 23.
"""

from __future__ import annotations

import json
import unicodedata
from dataclasses import replace

from agentfile.findings import AgentFileError
from agentfile.model import AgentFile
from agentfile.parser import MAX_BYTES, parse
from agentfile.shapes import write
from agentfile.vocabulary import SCHEMA
from descriptor.strictjson import JsonValue
from descriptor.timestamps import format_timestamp

_LONGEST_SLUG = 40
_ID_PREFIX = 8


def members(file: AgentFile) -> dict[str, JsonValue]:
    """The members of `file` as plain JSON, `$schema` first; what is `None` is left out. To be treated as read-only.

    What the file was read from held the same members with the same values.
    """
    written = write(file)
    return written if isinstance(written, dict) else {}


def shareable(file: AgentFile) -> AgentFile:
    """`file` without what is private: no `brain`, no `memory`. Source: 17."""
    return replace(file, brain=None, memory=None)


def build(file: AgentFile, *, now: float, personal: bool = False) -> bytes:
    """The bytes of `file`, exported at `now` (Unix seconds), under the current `$schema`, in UTF-8.

    `personal`: whether its owner asked for an export with `brain` and `memory`; otherwise they are left out.

    Raises `AgentFileError`: `REFUSED`, with the findings, when the file breaks a rule; `NOT_JSON` when a member holds
    what JSON does not have; `NOT_THE_SAME` when a reader of the bytes would not have `file` again: a member that the
    format names stands in an `other`, or a value is not of its field's type. And `DescriptorError` `BAD_TIMESTAMP`.

    Source: 7; 17; 23, last paragraph.
    """
    exported = replace(file if personal else shareable(file), schema=SCHEMA, exported_at=format_timestamp(now))
    try:
        data = _encoded(members(exported))
    except (ValueError, TypeError, RecursionError) as error:
        raise AgentFileError("NOT_JSON", f"A member holds what JSON does not have: {error}.") from None
    if parse(data).require() != exported:
        raise AgentFileError(
            "NOT_THE_SAME",
            "Read back, the file would not be the one to be written. Give each member that the format names in its "
            "own field and not in `other`, with a value of the field's type, and no number that a double rounds.",
        )
    return data


def _encoded(document: dict[str, JsonValue]) -> bytes:
    """For people to read, unless the blanks alone would make it too large to be read at all."""
    data = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2).encode() + b"\n"
    if len(data) <= MAX_BYTES:
        return data
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def file_name(file: AgentFile) -> str:
    """The name to save `file` under: its name and the beginning of its id, such as `invoice-chaser-a1b2c3d4.agent`.

    In small letters and digits of any script, with `-` for everything else, so that no file system minds.

    Source: 22.
    """
    words = [_slug(file.name, _LONGEST_SLUG) or "agent", _slug(file.id, _ID_PREFIX)]
    return "-".join(word for word in words if word) + ".agent"


def _slug(text: str, most: int) -> str:
    folded = unicodedata.normalize("NFKC", text).lower()
    kept = "".join(char if unicodedata.category(char)[0] in "LMN" else " " for char in folded)
    return "-".join(kept.split())[:most].strip("-")
