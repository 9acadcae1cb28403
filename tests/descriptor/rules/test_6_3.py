"""Chapter 6.3: what an offering takes and gives is a media type or one of four value kinds."""

from __future__ import annotations

import pytest

from tests.descriptor.rules.cases import Case, accepted, judge, offering, refused

CASES: list[Case] = [
    *accepted(
        "D6.3-kind",
        offering(inputs=[{"name": "pages", "kind": "Image/PNG"}]),
        offering(inputs=[{"name": "question", "kind": "text"}, {"name": "page", "kind": "url"}]),
    ),
    *refused(
        "D6.3-kind",
        (offering(inputs=[{"name": "a", "kind": "text"}, {"name": "b", "kind": "pdf"}]), "/offerings/0/inputs/1/kind"),
        (offering(inputs=[{"name": "a", "kind": "text/plain; charset=utf-8"}]), "/offerings/0/inputs/0/kind"),
        (offering(inputs=[{"name": "a", "kind": None}]), "/offerings/0/inputs/0/kind"),
        (offering(outputs=[{"name": "a", "kind": "file", "when": "per_task"}]), "/offerings/0/outputs/0/kind"),
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_kinds(case: Case) -> None:
    judge(case)
