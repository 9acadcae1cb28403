"""The header of a table, as spreadsheets write it and as somebody writes one who means harm."""

from __future__ import annotations

import io
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.chart import BarChart, Reference

from agentfile.structures import Part
from node.errors import NodeError
from node.spreadsheets import MOST_OF_PART, MOST_PARTS, MOST_SHEETS, parts_of

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
# As a program writes them that is not openpyxl: with a prefix, addresses from here, and neither styles nor dimensions.
BY_HAND = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/xl/workbook.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    '<Override PartName="/xl/sharedStrings.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<x:workbook xmlns:x="{MAIN}" xmlns:r="{OFFICE}"><x:sheets>'
    '<x:sheet name="Invoices" sheetId="1" r:id="rId1"/></x:sheets></x:workbook>',
    "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="rId1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
    "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}"><si><t>invoice_id</t></si><si><r><t>due</t></r><r><t>_date</t></r>'
    '<rPh sb="0" eb="1"><t>ふりがな</t></rPh></si></sst>',
    "xl/worksheets/sheet1.xml": f'<x:worksheet xmlns:x="{MAIN}"><x:sheetData><x:row r="1">'
    '<x:c r="A1" t="s"><x:v>0</x:v></x:c><x:c r="B1" t="s"><x:v>1</x:v></x:c>'
    '<x:c r="C1" t="inlineStr"><x:is><x:t>amount</x:t></x:is></x:c>'
    '<x:c r="D1" t="str"><x:f>"to"&amp;"tal"</x:f><x:v>total</x:v></x:c></x:row>'
    '<x:row r="2"><x:c r="A2"><x:v>7</x:v></x:c></x:row></x:sheetData></x:worksheet>',
}
SHEET, TEXTS = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"
HEADER = (Part('Sheet "Invoices"', ("invoice_id", "due_date", "amount", "total")),)


def archive(**changes: str | bytes | None) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in {**BY_HAND, **changes}.items():
            if content is not None:
                made.writestr(name, content)
    return data.getvalue()


def workbook(*sheets: tuple[str, list[list[Any]]]) -> bytes:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.remove(book.active)
    for title, rows in sheets:
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def refused(data: bytes) -> str:
    with pytest.raises(NodeError) as raised:
        parts_of(data, "book.xlsx")
    assert (raised.value.code, raised.value.exit_code) == ("INPUT_UNREADABLE", 2)
    assert raised.value.message.startswith("book.xlsx cannot be read: ")
    return raised.value.message


def test_a_workbook_written_by_hand_is_read() -> None:
    assert parts_of(archive(), "book") == HEADER


def test_a_workbook_written_by_a_library_is_read() -> None:
    rich = CellRichText("due", TextBlock(InlineFont(b=True), "_date"))
    book = workbook(("Invoices", [["invoice_id", rich, 2026, None, True], [1, 2, 3]]), ("Empty", []))
    assert parts_of(book, "book") == (
        Part('Sheet "Invoices"', ("invoice_id", "due_date", "2026", "True")),
        Part('Sheet "Empty"', ()),
    )


def test_a_header_may_stand_below_a_title_that_is_empty() -> None:
    assert parts_of(workbook(("A", [[], [None, " "], [None, "id", "amount"], ["x"]])), "book")[0].items == (
        "id",
        "amount",
    )
    assert parts_of(workbook(("A", [[None]] * 20 + [["id"]])), "book")[0].items == ()


def test_a_title_of_one_cell_above_a_table_is_no_header() -> None:
    header, row = ["id", "amount"], [1, 2]
    cases: list[tuple[list[list[Any]], tuple[str, ...]]] = [
        ([["Invoices 2026"], header, row], ("id", "amount")),
        ([["Invoices 2026"], [], ["as of May"], [], header, row], ("id", "amount")),
        ([["id"], [1], [2]], ("id",)),
        ([["Invoices 2026"], *[[None]] * 19, header], ("Invoices 2026",)),
    ]
    for rows, columns in cases:
        assert parts_of(workbook(("A", rows)), "book")[0].items == columns
    book = openpyxl.load_workbook(io.BytesIO(workbook(("A", [["Invoices 2026"], header, row]))))
    book["A"].merge_cells("A1:B1")
    data = io.BytesIO()
    book.save(data)
    assert parts_of(data.getvalue(), "book")[0].items == ("id", "amount")


def test_a_date_in_a_header_is_read_as_a_date() -> None:
    row = [datetime(2026, 5, 1), date(2026, 6, 1), datetime(2026, 7, 1, 12, 30)]
    assert parts_of(workbook(("A", [row])), "book")[0].items == ("2026-05-01", "2026-06-01", "2026-07-01 12:30:00")


def test_a_chart_is_no_table() -> None:
    book = openpyxl.load_workbook(io.BytesIO(workbook(("A", [["id"]]))))
    chart = BarChart()
    chart.add_data(Reference(book["A"], min_col=1, min_row=1))
    book.create_chartsheet("Chart").add_chart(chart)
    data = io.BytesIO()
    book.save(data)
    assert [part.name for part in parts_of(data.getvalue(), "book")] == ['Sheet "A"']


@pytest.mark.parametrize(
    ("data", "columns"),
    [
        (b'\xef\xbb\xbfa,"b, c", ,d\r\n1,2,3,4\n', ("a", "b, c", "d")),
        (b"id;due date;amount, net\n", ("id", "due date", "amount, net")),
        (b"id\tdue\n1,2\t3\n", ("id", "due")),
        (b"\n,,\n a , b\n", ("a", "b")),
        (b"one", ("one",)),
        (b"Invoices 2026\n\nid;due\n1;2\n", ("id", "due")),
        (b"name\nDoe; John\nRoe, Jane\n", ("name",)),
        (b"", ()),
    ],
)
def test_csv_is_read_with_the_delimiter_that_it_has(data: bytes, columns: tuple[str, ...]) -> None:
    assert parts_of(data, "t") == (Part(None, columns),)


# What is no table


def test_what_is_no_table_is_told_what_it_is() -> None:
    assert "save it as .xlsx without one" in refused(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 an old workbook")
    assert "neither a workbook (.xlsx) nor CSV in UTF-8" in refused(b"\xff\xfei\x00d\x00")
    assert "no CSV" in refused(b'"' + b"x" * 200_000)
    assert "no workbook that can be read; save its header as CSV" in refused(b"PK\x03\x04 nothing")


@pytest.mark.parametrize("name", [name for name in BY_HAND if name not in ("_rels/.rels", TEXTS)])
def test_a_workbook_that_lacks_a_part_is_refused_or_has_no_sheet(name: str) -> None:
    if name == SHEET:
        assert parts_of(archive(**{name: None}), "book") == ()
    else:
        refused(archive(**{name: None}))


@given(st.integers(0, len(archive()) - 1), st.binary(min_size=1, max_size=4))
def test_damage_is_refused_and_never_raised(at: int, damage: bytes) -> None:
    data = archive()
    try:
        parts_of(data[:at] + damage + data[at + len(damage) :], "book")
    except NodeError as error:
        assert error.code == "INPUT_UNREADABLE"


@given(st.sampled_from(sorted(BY_HAND)), st.binary(max_size=30), st.integers(0, 400))
def test_damage_within_a_part_is_refused_and_never_raised(name: str, damage: bytes, at: int) -> None:
    content = BY_HAND[name].encode()
    try:
        parts_of(archive(**{name: content[:at] + damage + content[at + len(damage) :]}), "book")
    except NodeError as error:
        assert error.code == "INPUT_UNREADABLE"


# What is made to harm

ENTITIES = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "x" * 10}">' for n in range(9))
BOMB = f'<?xml version="1.0" encoding="{{encoding}}"?><!DOCTYPE a [{ENTITIES}]><a>&e8;</a>'
OUTSIDE = f'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]><worksheet xmlns="{MAIN}"><a>&b;</a></worksheet>'
ROW = '<x:row><x:c t="inlineStr"><x:is><x:t>x</x:t></x:is></x:c></x:row>'


def large_sheet(rows: str) -> str:
    head, tail = BY_HAND[SHEET].split("</x:sheetData>")
    return f"{head}{rows}</x:sheetData>{tail}"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("name", [SHEET, TEXTS, "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "[Content_Types].xml"])
def test_entities_are_not_expanded_in_any_part_and_encoding(name: str, encoding: str) -> None:
    assert costs_little(lambda: refused(archive(**{name: BOMB.format(encoding=encoding).encode(encoding)})))


def test_nothing_outside_the_archive_is_read() -> None:
    refused(archive(**{SHEET: OUTSIDE}))


def test_a_large_sheet_is_read_at_its_beginning() -> None:
    rows = ROW * (2 * MOST_OF_PART // len(ROW))
    assert costs_little(lambda: parts_of(archive(**{SHEET: large_sheet(rows)}), "book") == HEADER)


def test_a_large_table_of_texts_is_read_at_its_beginning() -> None:
    texts = BY_HAND[TEXTS].replace("</sst>", f"<si><t>{'x' * 200}</t></si>" * (2 * MOST_OF_PART // 200) + "</sst>")
    assert costs_little(lambda: parts_of(archive(**{TEXTS: texts}), "book") == HEADER)


@pytest.mark.parametrize("name", [SHEET, TEXTS, "xl/media/image1.png"])
def test_a_part_that_unpacks_to_very_much_is_not_unpacked(name: str) -> None:
    data = io.BytesIO(archive(**{name: None}))
    with zipfile.ZipFile(data, "a", zipfile.ZIP_DEFLATED) as made, made.open(name, "w", force_zip64=True) as part:
        for _ in range(200):
            part.write(b"\0" * 2**20)

    def read() -> bool:
        try:
            return bool(parts_of(data.getvalue(), "book")) or True
        except NodeError:
            return True

    assert costs_little(read)


def test_many_parts_and_many_large_ones_are_refused() -> None:
    many = {f"xl/n{number}.xml": "" for number in range(MOST_PARTS)}
    assert "parts, and 2,000 at most are read" in refused(archive(**many))
    large = {f"xl/n{number}.xml": b" " * MOST_OF_PART for number in range(65)}
    assert "unpacks to more than" in refused(archive(**large))


def test_of_many_sheets_the_first_are_read() -> None:
    book = workbook(*((f"S{number}", [["id"]]) for number in range(MOST_SHEETS + 5)))
    assert len(parts_of(book, "book")) == MOST_SHEETS


@pytest.mark.parametrize("place", ["XFD1048576", "XFD1", "A1048576", "ZZZ1"])
def test_a_cell_in_the_last_corner_costs_nothing(place: str) -> None:
    sheet = BY_HAND[SHEET].replace('r="2"', f'r="{place.lstrip("ABCDEFXZ")}"').replace('"A2"', f'"{place}"')
    sheet = sheet.replace("<x:sheetData>", '<x:dimension ref="A1:XFD1048576"/><x:sheetData>')
    assert costs_little(lambda: parts_of(archive(**{SHEET: sheet}), "book") == HEADER)


def costs_little(act: Callable[[], object]) -> bool:
    """What `act` says, if it took less than 100 MiB, and less than half a minute of this process."""
    began = time.process_time()
    tracemalloc.start()
    try:
        said = act()
        assert tracemalloc.get_traced_memory()[1] < 100 * 2**20
    finally:
        tracemalloc.stop()
    assert time.process_time() - began < 30
    return bool(said)
