"""Whether a file that somebody has is one that a `file` parameter asks for, by its shape and never by its content.

The invariant: a file that fits has the declared kind, a declared format and every structural item. What could not be
found out about it does not fit, and is told as not known.

Source: `.agent` format 10.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from agentfile.structures import Part, StructureMatch, match_structure
from descriptor.errors import quoted
from descriptor.strictjson import JsonValue

_EXTENSION = re.compile(r"\.[^\s/\\]+")
_MEDIA_TYPE = re.compile(r"(?P<type>[\w!#$&^.+-]+)/(?P<subtype>[\w!#$&^.+-]+|\*)|\*/\*", re.ASCII)


@dataclass(frozen=True)
class Candidate:
    """What a host knows of a file without telling its content. `None`: not known.

    `kind`: `document`, `table` or `image`. `file_name`: with its extension, of which alone use is made. `media_type`:
    such as `text/csv`, parameters allowed. `parts`: its structure (`agentfile.structures`).
    """

    kind: str | None
    file_name: str | None
    media_type: str | None
    parts: tuple[Part, ...] | None


class Aspect(StrEnum):
    """What of a file is compared with what is asked."""

    KIND = "kind"
    FORMAT = "format"
    STRUCTURE = "structure"


@dataclass(frozen=True)
class Misfit:
    """One thing in which a file is not what is asked. `message`: for people; it holds no name of the file's owner."""

    aspect: Aspect
    message: str


@dataclass(frozen=True)
class Compatibility:
    """What keeps a file from being what is asked, and what became of each structural item."""

    misfits: tuple[Misfit, ...]
    structure: StructureMatch

    @property
    def fits(self) -> bool:
        return not self.misfits


def compatibility(artifact: Mapping[str, JsonValue], candidate: Candidate) -> Compatibility:
    """Whether `candidate` fits `artifact`, a member of a parameter that the parser has accepted. Raises nothing.

    >>> ledger = Candidate("table", "ledger.CSV", None, (Part(None, ("id", "total")),))
    >>> found = compatibility({"kind": "table", "accepts": [".csv"], "structure": ["id, amount"]}, ledger)
    >>> [misfit.message for misfit in found.misfits]
    ["'id, amount' is not met: the table has no 'amount'."]
    """
    structure = match_structure(_strings(artifact.get("structure")), candidate.parts or ())
    misfits = [
        *_kind_misfits(str(artifact.get("kind")), candidate.kind),
        *_format_misfits(_strings(artifact.get("accepts")), candidate),
    ]
    if candidate.parts is None and structure.required:
        said = f"The structure of the file is not known, and {len(structure.required)} items of it are asked for."
        misfits.append(Misfit(Aspect.STRUCTURE, said))
    else:
        misfits += [Misfit(Aspect.STRUCTURE, entry.message) for entry in structure.unmet]
    return Compatibility(tuple(misfits), structure)


def accepts(entry: str, file_name: str | None, media_type: str | None) -> bool:
    """Whether one entry of an `accepts` takes a file: by the end of its name, or by its media type. Case is no matter.

    >>> accepts("image/*", None, "image/png"), accepts(".csv", "ledger.csv", None), accepts(".csv", ".csv", None)
    (True, True, False)
    """
    entry = entry.strip().casefold()
    if _EXTENSION.fullmatch(entry):
        return file_name is not None and file_name.casefold().endswith(entry) and len(file_name) > len(entry)
    asked = _MEDIA_TYPE.fullmatch(_essence(entry))
    stated = _MEDIA_TYPE.fullmatch(_essence(media_type or ""))
    if asked is None or stated is None or stated["type"] is None or stated["subtype"] == "*":
        return False
    if asked["type"] is None:
        return True
    return asked["type"] == stated["type"] and asked["subtype"] in ("*", stated["subtype"])


def is_format(entry: str) -> bool:
    """Whether an entry of an `accepts` is an extension (`.csv`) or a media type (`text/csv`, `image/*`) at all."""
    return any(pattern.fullmatch(_essence(entry)) for pattern in (_EXTENSION, _MEDIA_TYPE))


def _kind_misfits(asked: str, kind: str | None) -> Iterable[Misfit]:
    if kind is None:
        yield Misfit(Aspect.KIND, f"A file of kind {quoted(asked)} is asked for; the kind of this one is not known.")
    elif kind != asked:
        yield Misfit(Aspect.KIND, f"A file of kind {quoted(asked)} is asked for; this one is of kind {quoted(kind)}.")


def _format_misfits(entries: tuple[str, ...], candidate: Candidate) -> Iterable[Misfit]:
    if any(accepts(entry, candidate.file_name, candidate.media_type) for entry in entries):
        return
    is_of = "of unknown media type" if candidate.media_type is None else f"of type {quoted(candidate.media_type)}"
    said = f"The file has to be one of {', '.join(map(quoted, entries))}; this one is {is_of} and "
    said += "has an unknown name" if candidate.file_name is None else "its name ends otherwise"
    unread = [entry for entry in entries if not is_format(entry)]
    if unread:
        said += f". {', '.join(map(quoted, unread))} is no extension, such as .csv, and no media type, such as text/csv"
    yield Misfit(Aspect.FORMAT, said + ".")


def _essence(media_type: str) -> str:
    """A media type without its parameters."""
    return media_type.partition(";")[0].strip().casefold()


def _strings(value: JsonValue) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()
