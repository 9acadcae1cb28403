"""What an input takes and an output gives: a media type for a file, a value kind for what is no file.

The invariant: a kind is judged by its syntax alone, so any media type that RFC 6838 could register is read,
known here or not. A media type carries no parameters: it says what a thing is, not how one copy is encoded.

Source: chapter 6.3; RFC 6838 section 4.2.
"""

from __future__ import annotations

import re

from descriptor.errors import quoted

VALUE_KINDS = ("text", "identifier", "url", "document")

# What people write before they know the vocabulary, and what they mean by it.
_MEANT = {
    "csv": "text/csv",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "file": "document",
    "gz": "application/gzip",
    "handle": "identifier",
    "html": "text/html",
    "id": "identifier",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "json": "application/json",
    "link": "url",
    "markdown": "text/markdown",
    "md": "text/markdown",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "name": "identifier",
    "pdf": "application/pdf",
    "png": "image/png",
    "str": "text",
    "string": "text",
    "txt": "text/plain",
    "uri": "url",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xml": "application/xml",
    "zip": "application/zip",
}

_RESTRICTED_NAME = r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}"
_MEDIA_TYPE = re.compile(f"{_RESTRICTED_NAME}/{_RESTRICTED_NAME}")


def is_media_type(text: str) -> bool:
    """Whether `text` is `type/subtype` by RFC 6838 section 4.2: no parameters, no wildcard, either letter case."""
    return _MEDIA_TYPE.fullmatch(text) is not None


def media_type_of(ending: str) -> str | None:
    """The media type of files whose names end in `ending`, without its dot; `None` where that is not well known.

    >>> media_type_of("CSV"), media_type_of("link")
    ('text/csv', None)
    """
    meant = _MEANT.get(ending.lower())
    return meant if meant is not None and is_media_type(meant) else None


def kind_problem(text: str) -> str | None:
    """Why `text` is no kind, in a sentence for people; `None` when it is one.

    Value kinds are lower case as chapter 6.3 spells them; media types are not case-sensitive.
    """
    if text in VALUE_KINDS or is_media_type(text):
        return None
    shown = quoted(text)
    if text.strip().lower() in VALUE_KINDS:
        return f"{shown} is not spelled as the value kind {quoted(text.strip().lower())}, in lower case."
    meant = _MEANT.get(text.strip().lower().removeprefix("."))
    if meant is not None:
        return f"{shown} is no kind; write {meant}."
    if is_media_type(text.partition(";")[0].strip()):
        return f"{shown} has more than a media type in it; parameters and blanks are no part of a kind."
    if "*" in text:
        return f"{shown} is a wildcard, which says nothing about what is taken or given."
    return f"{shown} is neither a media type (such as application/pdf) nor one of {', '.join(VALUE_KINDS)}."
