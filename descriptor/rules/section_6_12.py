"""Chapter 6.12, retiring `shape`: what is written now does not carry it."""

from __future__ import annotations

from collections.abc import Iterator

from descriptor.rules.table import Document, Problem, Rule, Severity


def _shape(document: Document) -> Iterator[Problem]:
    if "shape" in document:
        yield "/shape", "`shape` described the agent from the inside and has been taken apart."


RULES = (
    Rule(
        "D6.12-shape",
        "6.12",
        Severity.ERROR,
        "A document written now does not carry `shape`.",
        "Take `shape` out. Say `memory` and the model as one of the `processors` in `data_use`, `fleet` beside "
        "`subject`, and `scope` and `authority` on each offering; `kind` and `harness` have no successor here.",
        _shape,
    ),
)
