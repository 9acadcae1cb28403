"""Chapter 6.3, kinds: what an offering takes and gives is a media type or one of four value kinds.

A kind that is not stated is none of this section's business.
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptor.kinds import VALUE_KINDS, kind_problem
from descriptor.pointers import pointer_to
from descriptor.rules.table import Document, Problem, Rule, Severity, described, objects


def _kinds(document: Document) -> Iterator[Problem]:
    for place, offering in objects(document.get("offerings")):
        for side in ("inputs", "outputs"):
            for index, item in objects(offering.get(side)):
                if "kind" not in item:
                    continue
                kind = item["kind"]
                if not isinstance(kind, str):
                    problem: str | None = f"is {described(kind)}; it has to be text."
                else:
                    problem = kind_problem(kind)
                if problem:
                    yield pointer_to("offerings", place, side, index, "kind"), f"The kind {problem}"


RULES = (
    Rule(
        "D6.3-kind",
        "6.3",
        Severity.ERROR,
        "The kind of an input or output is a media type where the thing is a file, and a value kind where it is not.",
        f"Write a file's media type, such as application/pdf, or one of {', '.join(VALUE_KINDS)} for what is no file.",
        _kinds,
    ),
)
