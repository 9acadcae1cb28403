"""Every refusal is for somebody who meets it for the first time: what was wrong, and then what to do.

The texts are found where they are written, so that a new one cannot be forgotten; those that are put together from what
a Descriptor declares are held to the same where the boundary is tested (`judged`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import entryway
import node
from tests.entryway.refusing import says_what_to_do

FAMILIES = ("EntrywayError", "ClientError")
# Of these a person is told by the node that asks on his behalf, which asks again by itself.
BY_ITSELF = {"feed.py", "follower.py", "asking.py", "documents.py"}


# A value that stands for a whole sentence.
SENTENCE = re.compile(r"(?:^|(?<=[.?x] ))x(?= [A-Z]|$| x)")


def written(error: ast.expr) -> str | None:
    """A text as it stands in the source, with `x` for each of its values; None where its end is made elsewhere."""
    match error:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            text = "".join(str(one.value) if isinstance(one, ast.Constant) else "x" for one in values)
            text = SENTENCE.sub("x.", text)
            return None if text.split(". ")[-1] == "x." else text
    return None


def texts() -> Iterator[tuple[str, str]]:
    for package in (entryway, node):
        assert package.__file__ is not None
        root = Path(package.__file__).parent
        for path in sorted(root.rglob("*.py")):
            if path.name in BY_ITSELF:
                continue
            for call in ast.walk(ast.parse(path.read_text())):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in FAMILIES:
                    text = written(call.args[1])
                    if text is not None:
                        yield path.name, text


TEXTS = sorted(set(texts()))


def test_there_are_texts_to_be_found() -> None:
    assert len(TEXTS) > 50


@pytest.mark.parametrize(("where", "text"), TEXTS, ids=[f"{where}: {text[:60]}" for where, text in TEXTS])
def test_a_refusal_says_what_was_wrong_and_what_to_do(where: str, text: str) -> None:
    assert says_what_to_do(text), f"{where}: {text}"
