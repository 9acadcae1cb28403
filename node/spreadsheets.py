"""The header of a table: the names of its columns, of a CSV file or of each sheet of a workbook (XLSX).

The header is the first row that is not empty. A title above it, as people write over their tables, is one cell, often
merged with its neighbors, with a wider row below; in CSV also with an empty line between, since there a lone name above
other texts may as well be the header of one column.

The invariant: a workbook is a ZIP archive of XML from an untrusted hand, and what is unpacked of it is bounded before
anything reads it. openpyxl, which reads it, is given an archive of our own in which no part is larger than a header
needs, and with defusedxml beside it expands no entity.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
import zipfile
from collections.abc import Iterator
from datetime import datetime, time
from pathlib import Path

from agentfile.structures import Part, sheets, table
from node.errors import Exit, NodeError

MOST_BYTES = 64 * 2**20  # of a file
MOST_PARTS = 2_000  # in the archive that a workbook is
MOST_OF_PART = 2**20
MOST_UNPACKED = 64 * 2**20  # of all parts
MOST_SHEETS = 200
MOST_ROWS = 20  # before the header: a title, and empty ones

_DELIMITERS = ",;\t"
_OLD_OR_SEALED = b"\xd0\xcf\x11\xe0"
# What a large sheet, and a large table of texts, may be cut after, and what then has to be closed.
_CUTS = (
    (re.compile(rb"</((?:\w+:)?)row\s*>"), ("sheetData", "worksheet")),
    (re.compile(rb"</((?:\w+:)?)si\s*>"), ("sst",)),
)


def parts_in(path: str) -> tuple[Part, ...]:
    """The parts of the file at `path`, as `parts_of` tells them. Raises NodeError INPUT_UNREADABLE."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    if not data or len(data) > MOST_BYTES:
        large = f"it is larger than {MOST_BYTES // 2**20} MiB; save its header as CSV"
        raise _unreadable(path, large if data else "it is empty")
    return parts_of(data, path)


def parts_of(data: bytes, name: str) -> tuple[Part, ...]:
    """The parts of a file with the names of their columns: one of a CSV file, one for each sheet of a workbook.

    CSV is in UTF-8, with commas, semicolons or tabs. `name`: of the file, for what is told of it.

    Raises NodeError INPUT_UNREADABLE.
    """
    if data.startswith(b"PK\x03\x04"):
        return sheets(_sheets(data, name))
    if data.startswith(_OLD_OR_SEALED):
        raise _unreadable(name, "it is a workbook of before 2007 or one with a password; save it as .xlsx without one")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _unreadable(name, "it is neither a workbook (.xlsx) nor CSV in UTF-8; save it as one of them") from None
    try:
        rows = [_header(csv.reader(io.StringIO(text), delimiter=delimiter), apart=True) for delimiter in _DELIMITERS]
    except csv.Error as error:
        raise _unreadable(name, f"it is no CSV ({error})") from None
    widest = max(rows, key=len)
    return table(widest)


def _header(rows: Iterator[list[str]], *, apart: bool = False) -> list[str]:
    """The names in the header. `apart`: what is one cell is a title only with an empty row below it."""
    named = [_names(row) for _, row in zip(range(MOST_ROWS), rows, strict=False)]
    first = next((place for place, columns in enumerate(named) if columns), None)
    if first is None:
        return []
    below = named[first + 1 :]
    if len(named[first]) == 1 and not (apart and any(below[:1])):
        return next((columns for columns in below if len(columns) > 1), named[first])
    return named[first]


def _names(row: list[str]) -> list[str]:
    return [column.strip() for column in row if column.strip()]


def _sheets(data: bytes, name: str) -> dict[str, list[str]]:
    # It costs a fifth of a second, and only who matches a workbook needs it.
    import openpyxl  # noqa: PLC0415  # see above

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions, which no header depends on
            workbook = openpyxl.load_workbook(_bounded(data), read_only=True, data_only=True, keep_links=False)
            found = {}
            for sheet in workbook.worksheets[:MOST_SHEETS]:
                sheet.reset_dimensions()  # what a sheet says of its size need not be so
                rows = sheet.iter_rows(max_row=MOST_ROWS, values_only=True)
                found[sheet.title] = _header([_shown(value) for value in row if value is not None] for row in rows)
            return found
    except Exception as error:  # whatever a library raises on a file that is damaged, or made to damage
        why = f" ({error})" if isinstance(error, _TooLargeError) else ""
        raise _unreadable(name, f"it is no workbook that can be read{why}; save its header as CSV") from None


def _shown(value: object) -> str:
    """A cell as text; a date, as everybody writes into the header of a month, without the midnight it is kept with."""
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    return str(value)


class _TooLargeError(Exception):
    """A workbook that unpacks to more than is read."""


def _bounded(data: bytes) -> io.BytesIO:
    """The workbook again, with nothing in it that is larger than is read."""
    bounded = io.BytesIO()
    unpacked = 0
    with zipfile.ZipFile(io.BytesIO(data)) as given, zipfile.ZipFile(bounded, "w") as kept:
        parts = given.infolist()
        if len(parts) > MOST_PARTS:
            raise _TooLargeError(f"it has {len(parts):,} parts, and {MOST_PARTS:,} at most are read")
        for part in parts:
            with given.open(part) as stream:
                content = _beginning(stream.read(MOST_OF_PART + 1))
            if content is None:
                continue  # a picture, or what else is no header; what a workbook cannot be without is missed
            unpacked += len(content)
            if unpacked > MOST_UNPACKED:
                raise _TooLargeError(f"it unpacks to more than {MOST_UNPACKED:,} bytes")
            kept.writestr(part.filename, content)
    bounded.seek(0)
    return bounded


def _beginning(content: bytes) -> bytes | None:
    """A part, or as much of its rows or texts as is read; `None` when it is too large and has neither."""
    if len(content) <= MOST_OF_PART:
        return content
    for end, elements in _CUTS:
        *_, last = [None, *end.finditer(content)]
        if last is not None:
            return content[: last.end()] + b"".join(b"</%s%s>" % (last[1], element.encode()) for element in elements)
    return None


def _unreadable(name: str, why: str) -> NodeError:
    return NodeError("INPUT_UNREADABLE", f"{name} cannot be read: {why}.", Exit.UNREADABLE)
