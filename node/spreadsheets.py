"""The header of a table: the names of its columns, of a CSV file or of each sheet of a workbook (XLSX).

Only the first row is looked at. A workbook is a ZIP archive of XML from an untrusted hand: what is unpacked of it is
bounded, and no entity is resolved.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator
from pathlib import PurePosixPath
from xml.etree import ElementTree

from agentfile.structures import Part, sheets, table
from node.errors import Exit, NodeError

MOST_BYTES = 64 * 2**20  # of a file
MOST_UNPACKED = 32 * 2**20  # of one part of a workbook
MOST_SHEETS = 200

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def parts_of(data: bytes, name: str) -> tuple[Part, ...]:
    """The parts of a file with the names of their columns: one of a CSV file, one for each sheet of a workbook.

    Raises NodeError INPUT_UNREADABLE.
    """
    if data.startswith(b"PK\x03\x04"):
        try:
            return sheets(dict(_sheets(data)))
        except (zipfile.BadZipFile, KeyError, ElementTree.ParseError, ValueError, NotImplementedError) as error:
            raise _unreadable(name, f"it is no workbook that can be read ({error})") from None
    try:
        text = data.decode("utf-8-sig")
        header = next(csv.reader(io.StringIO(text)), [])
    except (UnicodeDecodeError, csv.Error) as error:
        raise _unreadable(name, f"it is neither a workbook (XLSX) nor CSV in UTF-8 ({error})") from None
    return table(column.strip() for column in header if column.strip())


def _sheets(data: bytes) -> Iterator[tuple[str, list[str]]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        workbook = PurePosixPath("xl/workbook.xml")
        targets = {
            one.get("Id"): (workbook.parent / (one.get("Target") or "")).as_posix()
            for one in _xml(archive, "xl/_rels/workbook.xml.rels")
        }
        shared = _shared(archive)
        for sheet in [*_xml(archive, workbook.as_posix()).iter(f"{_MAIN}sheet")][:MOST_SHEETS]:
            target = targets[sheet.get(_RELATION)].replace("xl//xl/", "xl/")
            yield sheet.get("name") or "", _first_row(_xml(archive, target), shared)


def _shared(archive: zipfile.ZipFile) -> list[str]:
    if "xl/sharedStrings.xml" not in archive.namelist():
        return []
    return ["".join(one.itertext()) for one in _xml(archive, "xl/sharedStrings.xml").iter(f"{_MAIN}si")]


def _first_row(sheet: ElementTree.Element, shared: list[str]) -> list[str]:
    row = next(sheet.iter(f"{_MAIN}row"), None)
    cells = [] if row is None else [_cell(cell, shared) for cell in row]
    return [text.strip() for text in cells if text.strip()]


def _cell(cell: ElementTree.Element, shared: list[str]) -> str:
    text = "".join(cell.itertext())
    return shared[int(text)] if cell.get("t") == "s" else text


def _xml(archive: zipfile.ZipFile, name: str) -> ElementTree.Element:
    with archive.open(name) as part:
        data = part.read(MOST_UNPACKED + 1)
    if len(data) > MOST_UNPACKED:
        raise ValueError(f"{name} is larger than is read")
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise ValueError(f"{name} declares entities")
    return ElementTree.fromstring(data)  # noqa: S314  # what it could be made to expand was refused above


def _unreadable(name: str, why: str) -> NodeError:
    return NodeError("INPUT_UNREADABLE", f"{name} cannot be read: {why}.", Exit.UNREADABLE)
