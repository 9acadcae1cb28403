"""Section 10.2: whether a file is of the kind, the format and the structure that a parameter asks for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfile.artifacts import Aspect, Candidate, accepts, compatibility, is_format
from agentfile.structures import Part, sheets, table

ASKED: dict[str, Any] = {"kind": "table", "accepts": [".xlsx", ".csv"], "structure": ['Sheet "Invoices": id, amount']}
BOOK = sheets({"invoices": ["ID", "Amount", "Date"]})


def aspects(artifact: dict[str, Any], candidate: Candidate) -> list[str]:
    found = compatibility(artifact, candidate)
    assert found.fits == (not found.misfits)
    return [misfit.aspect.value for misfit in found.misfits]


def test_what_fits() -> None:
    assert aspects(ASKED, Candidate("table", "Book.XLSX", None, BOOK)) == []
    assert aspects({"kind": "image", "accepts": ["image/*"]}, Candidate("image", None, "image/png", None)) == []


@pytest.mark.parametrize(
    ("candidate", "expected"),
    [
        (Candidate("document", "book.xlsx", None, BOOK), ["kind"]),
        (Candidate(None, "book.xlsx", None, BOOK), ["kind"]),
        (Candidate("Table", "book.xlsx", None, BOOK), ["kind"]),
        (Candidate("table", "book.ods", None, BOOK), ["format"]),
        (Candidate("table", None, "text/csv", BOOK), ["format"]),
        (Candidate("table", None, None, BOOK), ["format"]),
        (Candidate("table", "book.csv", None, table(["id", "amount"])), ["structure"]),
        (Candidate("table", "book.xlsx", None, sheets({"Invoices": ["id"]})), ["structure"]),
        (Candidate("table", "book.xlsx", None, None), ["structure"]),
        (Candidate("table", "book.xlsx", None, ()), ["structure"]),
        (Candidate("image", "a.png", "image/png", None), ["kind", "format", "structure"]),
        (Candidate(None, None, None, None), ["kind", "format", "structure"]),
    ],
)
def test_what_does_not_fit_is_told_in_full(candidate: Candidate, expected: list[str]) -> None:
    assert aspects(ASKED, candidate) == expected


def test_each_missing_item_is_told() -> None:
    asked = {**ASKED, "structure": ['Sheet "Invoices": id, total', 'Sheet "Customers": name']}
    found = compatibility(asked, Candidate("table", "a.csv", None, BOOK))
    assert [misfit.aspect for misfit in found.misfits] == [Aspect.STRUCTURE] * 2
    assert [one.missing for one in found.structure.unmet] == [("total",), ("name",)]


def test_no_message_holds_the_name_of_the_file() -> None:
    found = compatibility(ASKED, Candidate("document", "salaries-of-ada.doc", "application/msword", None))
    assert not any("ada" in misfit.message for misfit in found.misfits)


@pytest.mark.parametrize(
    ("entry", "name", "media_type", "taken"),
    [
        (".csv", "a.csv", None, True),
        (".CSV", "A.cSv", None, True),
        (" .csv ", "a.csv", None, True),
        (".gz", "a.tar.gz", None, True),
        (".tar.gz", "a.tar.gz", None, True),
        (".csv", "a.csv.exe", None, False),
        (".csv", "acsv", None, False),
        (".csv", ".csv", None, False),
        (".csv", "a.csv ", None, False),
        (".csv", None, "text/csv", False),
        ("csv", "a.csv", "text/csv", False),
        ("text/csv", None, "text/csv", True),
        ("text/csv", None, "Text/CSV; charset=utf-8", True),
        ("text/csv; header=present", None, "text/csv", True),
        ("text/csv", "a.csv", None, False),
        ("text/csv", None, "text/csvx", False),
        ("text/csv", None, "text/*", False),
        ("image/*", None, "image/svg+xml", True),
        ("image/*", None, "imagex/png", False),
        ("image/*", None, "image/", False),
        ("*/*", None, "image/png", True),
        ("*/*", "a.png", None, False),
        ("*/*", None, "nonsense", False),
        ("*/*", None, "image/*", False),
        ("image/*", None, "image/*", False),
        ("*/png", None, "image/png", False),
        ("*", "a", "image/png", False),
        ("", "a", "image/png", False),
        (".", "a.", None, False),
    ],
)
def test_accepts(entry: str, name: str | None, media_type: str | None, taken: bool) -> None:
    assert accepts(entry, name, media_type) is taken


def test_what_is_known_of_a_file_of_another_format_is_told() -> None:
    def told(file_name: str | None, media_type: str | None) -> str:
        (misfit,) = compatibility(
            {"kind": "table", "accepts": [".csv"]}, Candidate("table", file_name, media_type, None)
        ).misfits
        return misfit.message.partition("; ")[2]

    assert told("a.pdf", None) == "this one is of unknown media type and its name ends otherwise."
    assert told(None, "application/pdf") == "this one is of type 'application/pdf' and has an unknown name."


def test_an_entry_that_is_neither_an_extension_nor_a_media_type_is_told() -> None:
    (misfit,) = compatibility({"kind": "table", "accepts": ["csv"]}, Candidate("table", "a.csv", None, None)).misfits
    assert "'csv' is no extension, such as .csv, and no media type" in misfit.message
    assert [is_format(entry) for entry in (".csv", "text/csv", "image/*", "*/*", "csv", "*", "", "a/b/c")] == [
        *(True, True, True, True),
        *(False, False, False, False),
    ]


PARTS = st.none() | st.lists(st.builds(Part, st.none() | st.text(), st.just(())), max_size=2).map(tuple)


@given(
    st.fixed_dictionaries(
        {"kind": st.text(), "accepts": st.lists(st.text())}, optional={"structure": st.lists(st.text())}
    ),
    st.builds(Candidate, st.none() | st.text(), st.none() | st.text(), st.none() | st.text(), PARTS),
)
def test_comparing_never_raises_and_what_is_not_known_does_not_fit(
    artifact: dict[str, Any], candidate: Candidate
) -> None:
    found = compatibility(artifact, candidate)
    if found.fits:
        assert candidate.kind == artifact["kind"]
        assert candidate.file_name is not None or candidate.media_type is not None
        assert candidate.parts is not None or not artifact.get("structure")
