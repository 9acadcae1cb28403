"""Chapter 6.12, retiring `shape`: what is written now does not carry it."""

from __future__ import annotations

from collections.abc import Iterator

from descriptor.rules.table import Document, Problem, Rule, Severity

# The former members, and where each of their facts is said now.
SUCCESSORS = {
    "kind": "`kind` is said nowhere",
    "memory": "`memory` is `data_use.memory`",
    "model": "`model` is one of `data_use.processors`",
    "steps": "`steps` is the `scope` of each offering",
    "tools_runtime": "`tools_runtime` is the `authority` of each offering",
    "fleet": "`fleet` stands beside `subject`",
    "harness": "`harness` is said nowhere",
}


def _shape(document: Document) -> Iterator[Problem]:
    if "shape" not in document:
        return
    shape = document["shape"]
    moved = [said for name, said in SUCCESSORS.items() if isinstance(shape, dict) and name in shape]
    told = f" Of what it holds: {'; '.join(moved)}." if moved else ""
    yield "/shape", f"`shape` described the agent from the inside and has been taken apart.{told}"


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
