"""What of a payload is text, for the cap on text: all of it but what is sealed, and the contents of files.

An input whose kind is a media type is a file, and travels as bytes: base64url without padding in JSON, a bin in
msgpack. Text that came as a file would be read as text, so `text/*` and JSON are not among them. What is sealed is
counted when it has been opened. Names of members count wherever they stand.

Source: 4.8 of `rules-beyond-chapter-6`; chapter 6.3.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from descriptor.kinds import is_media_type
from descriptor.rules.table import objects, offerings
from descriptor.strictjson import JsonValue
from entryway.sealing import is_sealed

Files = Mapping[str, frozenset[str]]
"""By the id of an offering, the names of its inputs that are files."""


def is_file(kind: str) -> bool:
    """Whether an input of this kind is the bytes of a file."""
    lower = kind.lower()
    return is_media_type(kind) and not lower.startswith("text/") and not is_json(kind)


def is_json(kind: str) -> bool:
    """Whether an input of this kind is a JSON value."""
    subtype = kind.lower().partition("/")[2]
    return subtype == "json" or subtype.endswith("+json")


def declared_files(document: Mapping[str, JsonValue]) -> Files:
    """What a Descriptor's offerings take as files."""
    found: dict[str, frozenset[str]] = {}
    for _, offering in offerings(document):
        identifier = offering.get("id")
        if isinstance(identifier, str):
            found[identifier] = frozenset(
                name
                for _, one in objects(offering.get("inputs"))
                if isinstance(name := one.get("name"), str)
                and isinstance(kind := one.get("kind"), str)
                and is_file(kind)
            )
    return found


def texts_of(payload: Mapping[str, JsonValue], files: Files) -> JsonValue:
    """A payload without what is no text in it."""
    offering, given = payload.get("offering"), payload.get("input")
    if not isinstance(given, dict):
        return dict(payload)
    if is_sealed(given):
        return {**payload, "input": {name: value for name, value in given.items() if name != "ct"}}
    taken: Collection[str] = files.get(offering, frozenset()) if isinstance(offering, str) else ()
    texts = {name: None if name in taken and isinstance(value, str) else value for name, value in given.items()}
    return {**payload, "input": texts}
