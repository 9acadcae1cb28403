"""Section 14.7: a structure is matched by whole names, whatever their case, width and blanks."""

from __future__ import annotations

import sys
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfile.structures import Part, folded, headings, match_structure, read_entry, sheets, split_qualifier, table

BOOK = sheets({"Invoices": ["invoice_id", "Customer", "due_date", "discount_amount"], "Q1: paid": ["invoice_id"]})
LEDGER = table(["id", "Last, first", "due date", "total"])
REPORT = headings(["Summary", "Terms and Conditions"])

MET = [
    ('Sheet "Invoices": invoice_id, due_date', BOOK),
    ('Sheet "Invoices": due_date, customer', BOOK),
    ('sheet "INVOICES":INVOICE_ID', BOOK),
    ('  Sheet   "invoices"  :  invoice_id  ,  customer  ', BOOK),
    ("Ｓｈｅｅｔ　＂Ｉｎｖｏｉｃｅｓ＂：ｉｎｖｏｉｃｅ＿ｉｄ，ｃｕｓｔｏｍｅｒ", BOOK),
    ('Sheet "Invoices": invoice_id,, customer,', BOOK),
    ('Sheet "Invoices": invoice_id, invoice_id', BOOK),
    ('Sheet "Invoices":', BOOK),
    ('Sheet "Invoices"', BOOK),
    ('Sheet "Q1: paid": invoice_id', BOOK),
    ('Sheet "Q1: paid"', BOOK),
    ("invoice_id, due_date", BOOK),
    ("customer", BOOK),
    ("id, total", LEDGER),
    ('"Last, first", id', LEDGER),
    ("ＤＵＥ\u00a0Date", LEDGER),
    (": id", LEDGER),
    ("Terms and conditions", REPORT),
    ("STRASSE", table(["Straße"])),
    ("ﬁle", table(["FILE"])),
    ("e\u0301tat", table(["État"])),
    ('5" pipe: length', (Part('5" Pipe', ("Length",)),)),
]
UNMET = [
    ("amount", BOOK, ["amount"]),
    ('Sheet "Invoices": amount', BOOK, ["amount"]),
    ('Sheet "Invoices": invoice_id, amount, invoice', BOOK, ["amount", "invoice"]),
    ('Sheet "Invoices": due date', BOOK, ["due date"]),
    ('Sheet "Invoice": invoice_id', BOOK, ["invoice_id"]),
    ("Sheet Invoices: invoice_id", BOOK, ["invoice_id"]),
    ("Sheet “Invoices”: invoice_id", BOOK, ["invoice_id"]),
    ("Invoices: invoice_id", BOOK, ["invoice_id"]),
    ('Sheet "Q1": paid', BOOK, ["paid"]),
    ('Sheet "Missing":', BOOK, []),
    ('Sheet "Invoices": invoice_id', table(["invoice_id"]), ["invoice_id"]),
    ("invoice_id, customer, id", sheets({"a": ["invoice_id"], "b": ["customer"]}), ["customer", "id"]),
    ("Last, first", LEDGER, ["Last", "first"]),
    ("due_date", LEDGER, ["due_date"]),
    ("Terms", REPORT, ["Terms"]),
    ("id", (), ["id"]),
    ("id", table([]), ["id"]),
    ("", BOOK, []),
    (" , ", BOOK, []),
    (" : ", BOOK, []),
]


@pytest.mark.parametrize(("entry", "candidate"), MET)
def test_14_7_met(entry: str, candidate: tuple[Part, ...]) -> None:
    match = match_structure([entry], candidate)
    assert match.fits
    assert match.unmet == ()
    (found,) = match.required
    assert found.part in candidate
    assert (found.missing, found.near, found.elsewhere) == ((), {}, ())


@pytest.mark.parametrize(("entry", "candidate", "missing"), UNMET)
def test_14_7_unmet_says_exactly_what_is_missing(entry: str, candidate: tuple[Part, ...], missing: list[str]) -> None:
    match = match_structure([entry], candidate)
    assert not match.fits
    (found,) = match.unmet
    assert (found.entry, list(found.missing)) == (entry, missing)
    assert found.message.endswith(".")
    assert all(repr(item) in found.message for item in missing) or found.part is None


def test_14_7_a_similar_name_is_told_and_does_not_count() -> None:
    (found,) = match_structure(['Sheet "Invoices": amount'], BOOK).unmet
    assert found.part == BOOK[0]
    assert found.near == {"amount": ("discount_amount",)}
    assert found.message == (
        "'Sheet \"Invoices\": amount' is not met: 'Sheet \"Invoices\"' has no 'amount'."
        " 'discount_amount' resembles 'amount' and does not count as it."
    )


@pytest.mark.parametrize(
    ("wanted", "has", "near"),
    [
        ("amount", "discount_amount", True),
        ("Invoice ID", "invoice_id", True),
        ("invoiceid", "invoice_id", True),
        ("due_date", "due_dat", True),
        ("amount", "total", False),
        ("id", "amount", False),
        ("a" * 81, "a" * 82, False),
    ],
)
def test_what_is_a_near_miss(wanted: str, has: str, near: bool) -> None:
    (found,) = match_structure([wanted], table(["x", has])).unmet
    assert found.near == ({wanted: (has,)} if near else {})


def test_a_near_qualifier_and_the_parts_that_have_it_all_are_told() -> None:
    (found,) = match_structure(['Sheet "Invoice": invoice_id'], BOOK).unmet
    assert found.part is None
    assert found.near == {'Sheet "Invoice"': ('Sheet "Invoices"',)}
    assert found.elsewhere == BOOK
    (found,) = match_structure(['Sheet "Ledger": id'], LEDGER).unmet
    assert found.elsewhere == LEDGER
    assert "the table" in found.message


def test_the_part_that_comes_closest_is_told() -> None:
    parts = sheets({"a": ["x"], "b": ["x", "y"], "c": ["z"]})
    (found,) = match_structure(["x, y, z"], parts).unmet
    assert (found.part, found.missing) == (parts[1], ("z",))
    assert match_structure(["x, y"], parts).required[0].part == parts[1]


def test_two_parts_of_one_name_are_each_looked_at() -> None:
    parts = (Part("A", ("x",)), Part("a", ("y",)))
    assert match_structure(["A: y", "a: x"], parts).fits
    assert not match_structure(["A: x, y"], parts).fits


def test_optional_entries_are_told_and_never_needed() -> None:
    match = match_structure(["id"], LEDGER, optional=["total", "amount"])
    assert match.fits
    assert [one.met for one in match.optional] == [True, False]


def test_every_entry_is_told_in_its_order() -> None:
    match = match_structure(["nothing", "id", "nobody"], LEDGER)
    assert [one.entry for one in match.required] == ["nothing", "id", "nobody"]
    assert [one.entry for one in match.unmet] == ["nothing", "nobody"]
    assert match_structure([], ()).fits


@pytest.mark.parametrize(
    ("entry", "name", "items"),
    [
        ("a", None, ["a"]),
        ("a, b", None, ["a", "b"]),
        ("q: a", "q", ["a"]),
        ("q: a: b, c", "q", ["a: b", "c"]),
        ('"a:b", c', None, ["a:b", "c"]),
        ('"a, b"', None, ["a, b"]),
        ('a "b, c"', None, ['a "b', 'c"']),
        ('Sheet "a, b": c', 'Sheet "a, b"', ["c"]),
        ('5" pipe: 3 m', '5" pipe', ["3 m"]),
        ("q：a，b﹐c︐d", "q", ["a", "b", "c", "d"]),
        ('""', None, ['""']),
    ],
)
def test_field_boundaries(entry: str, name: str | None, items: list[str]) -> None:
    assert read_entry(entry) == Part(name, tuple(items))
    assert split_qualifier(entry)[0] == name


@pytest.mark.parametrize(("boundary", "name"), [(":", "a:b"), (",", "a,b")])
def test_a_boundary_of_any_width_is_one(boundary: str, name: str) -> None:
    same = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.normalize("NFKC", chr(code)) == boundary]
    assert len(same) == 4
    for char in same:
        assert read_entry(name.replace(boundary, char)) == read_entry(name)


def test_folding_a_folded_name_changes_nothing() -> None:
    moved = (char for char in map(chr, range(sys.maxunicode + 1)) if not char.casefold() == char == _compatible(char))
    assert [char for char in moved if folded(folded(char)) != folded(char)] == []


def _compatible(char: str) -> str:
    return unicodedata.normalize("NFKC", char)


@pytest.mark.parametrize("entry", ['"' * 2**20, '"a' * 2**19, '"a,' * 2**18, ": " * 2**19, "a" * 2**20, ", " * 2**19])
def test_reading_takes_linear_time(entry: str) -> None:
    began = time.process_time()
    read_entry(entry)
    assert time.process_time() - began < 2  # seconds for 1 MiB; what is quadratic takes hours


def test_near_misses_take_bounded_time() -> None:
    candidate = table(f"column_{number}_name" for number in range(2_000))
    began = time.process_time()
    match = match_structure([f"colum_{number}_names" for number in range(2_000)], candidate)
    assert time.process_time() - began < 10
    assert len(match.unmet) == 2_000


# --- Properties

# The dotless i is a letter of its own whose capital is another's: Unicode gives the two no common form.
LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\u0131\"':,：，\ufe13\ufe55\ufe10\ufe50＂")
NAMES = st.text(LETTERS, min_size=1, max_size=8).filter(lambda name: bool(folded(name)))
WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)} | {0x20: 0x3000}
CHANGES = [str.upper, str.lower, str.title, lambda text: text.translate(WIDE), lambda text: f" {text}\t"]


@given(NAMES, st.lists(NAMES, max_size=4), st.lists(NAMES, max_size=4), st.data())
def test_matching_is_the_same_under_changes_of_case_and_width(
    name: str, required: list[str], others: list[str], data: st.DataObject
) -> None:
    def changed(text: str) -> str:
        return data.draw(st.sampled_from(CHANGES))(text)

    def has(names: list[str]) -> tuple[Part, ...]:
        return (Part(changed(f'Sheet "{name}"'), tuple(map(changed, names))),)

    entry = changed(f'Sheet "{name}": {", ".join(required)}')
    assert match_structure([entry], has(required + others)).fits
    wanted, there = set(map(folded, required)), set(map(folded, others))
    found = match_structure([entry], has(others)).required[0]
    assert found.met == (wanted <= there)
    assert {folded(item) for item in found.missing} == wanted - there


@given(st.lists(st.text()), st.lists(st.builds(Part, st.none() | st.text(), st.lists(st.text()).map(tuple))))
def test_matching_never_raises_and_says_what_is_missing(entries: list[str], candidate: list[Part]) -> None:
    match = match_structure(entries, candidate)
    assert [one.entry for one in match.required] == entries
    for one in match.required:
        assert one.message
        if one.met:
            assert one.part in candidate
        else:
            assert set(one.missing) <= set(read_entry(one.entry).items)
