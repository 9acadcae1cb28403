"""A JSON value level by level: what is asked of everything in a document is asked of many values at a time.

Source: binding 10 (nesting).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

_DEEPEST = 1_000  # levels; what is deeper is no document, and what has no end is no value


def levels(value: Any) -> Iterator[tuple[set[Any], list[Any]]]:
    """For each level of nesting the names of its members, each once, and its values, objects and lists among them.

    The first level is `value` itself, which has no name. Objects are `dict`, lists are `list`; anything else is not
    looked into. Raises `RecursionError` for a value that is nested without end.
    """
    names: set[Any] = set()
    batch: list[Any] = [value]
    for _ in range(_DEEPEST):
        yield names, batch
        objects = [one for one in batch if isinstance(one, dict)]
        lists = [one for one in batch if isinstance(one, list)]
        if not objects and not lists:
            return
        names = set(chain.from_iterable(objects))
        batch = [*chain.from_iterable(one.values() for one in objects), *chain.from_iterable(lists)]
    raise RecursionError(f"it is nested more than {_DEEPEST} deep")
