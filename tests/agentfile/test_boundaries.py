"""Section 14.1: a place is inside a declared boundary only if all of it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfile.boundaries import inside

SUMMARY = 'Sheet "Summary": B2:H40'
INSIDE = [
    (SUMMARY, SUMMARY),
    ('Sheet "Summary": B2', SUMMARY),
    ('Sheet "Summary": H40', SUMMARY),
    ('sheet "SUMMARY":  c3:d4', SUMMARY),
    ('Sheet "Summary": $C$3:$D$4', SUMMARY),
    ('Sheet "Summary": D4:C3', SUMMARY),
    ('Sheet "Summary": AA10', 'Sheet "Summary": Z1:AB20'),
    ('Sheet "Summary": B2', 'Sheet "Summary"'),
    ('Sheet "Summary"', 'Sheet "Summary"'),
    ('Sheet "Summary"', 'Sheet "Summary":'),
    ("folder: /Drafts", "folder: /Drafts"),
    ("folder: /Drafts/a.txt", "folder: /Drafts"),
    ("folder: /Drafts/2026//a.txt", "folder: /Drafts/"),
    ("Folder: /a", "folder: /"),
    ("/Drafts/a", "/Drafts"),
    ("label: Urgent", "label: Urgent"),
    ("Inbox", "inbox"),
]
OUTSIDE = [
    ('Sheet "Summary": A2', SUMMARY),
    ('Sheet "Summary": I40', SUMMARY),
    ('Sheet "Summary": B1', SUMMARY),
    ('Sheet "Summary": B2:H41', SUMMARY),
    ('Sheet "Summary": A1:Z99', SUMMARY),
    ('Sheet "Summary": AB3', SUMMARY),
    ('Sheet "Summary"', SUMMARY),
    ('Sheet "Summary":', SUMMARY),
    ('Sheet "Summary": B2, Z9', SUMMARY),
    ('Sheet "Summary 2": B2', SUMMARY),
    ("B2", SUMMARY),
    ('Sheet "Other": B2', 'Sheet "Summary"'),
    ('Sheet "Summary": B2', 'Sheet "Summary": B'),
    ("folder: /Drafts2/a", "folder: /Drafts"),
    ("folder: /drafts/a", "folder: /Drafts"),
    ("folder: /Drafts/../Sent", "folder: /Drafts"),
    ("folder: /Drafts/..", "folder: /Drafts"),
    ("folder: /Drafts\\..\\Sent", "folder: /Drafts"),
    ("folder: Drafts/a", "folder: /Drafts"),
    ("folder: /", "folder: /Drafts"),
    ("folder: /a", "folder: /Drafts, /a"),
    ("folder: /Drafts", "folder: /Drafts, old"),
    ("/Drafts/a", "folder: /Drafts"),
    ("folder: /Drafts/a", "/Drafts"),
    ("/drafts", "/Drafts"),
    ("label: urgent", "label: Urgent"),
    ("label: Urgent/x", "label: Urgent"),
    ("", ""),
    ("a", ""),
    ("", "a"),
]


@pytest.mark.parametrize(("place", "boundary"), INSIDE)
def test_inside(place: str, boundary: str) -> None:
    assert inside(place, boundary)


@pytest.mark.parametrize(("place", "boundary"), OUTSIDE)
def test_outside(place: str, boundary: str) -> None:
    assert not inside(place, boundary)


CELLS = st.tuples(st.integers(1, 26), st.integers(1, 60))


@given(CELLS, CELLS, CELLS)
def test_a_cell_is_inside_a_range_as_its_numbers_are(
    one: tuple[int, int], other: tuple[int, int], cell: tuple[int, int]
) -> None:
    def name(at: tuple[int, int]) -> str:
        return f"{chr(ord('A') + at[0] - 1)}{at[1]}"

    expected = all(sorted((one[side], other[side]))[0] <= cell[side] <= max(one[side], other[side]) for side in (0, 1))
    assert inside(f"S: {name(cell)}", f"S: {name(one)}:{name(other)}") == expected


@given(st.text(), st.text())
def test_any_two_texts_are_compared(place: str, boundary: str) -> None:
    if inside(place, boundary):
        assert boundary.strip()
