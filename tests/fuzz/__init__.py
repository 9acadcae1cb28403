"""Coverage-guided fuzzing: hostile bytes against everything that reads what a stranger or an operator wrote.

A target is a module of `tests.fuzz.targets`: what it promises is asserted in its `one_input`, which takes any bytes.
`run` drives it with atheris; `test_replay` gives it, in the normal suite, the inputs that are kept: `corpus/<target>/`
(where fuzzing begins) and `regressions/<target>/` (each broke a promise once). See `docs/fuzzing.md`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Protocol, cast

from tests.fuzz import targets

HERE = Path(__file__).parent
TARGETS = tuple(sorted(module.name for module in pkgutil.iter_modules(targets.__path__)))

Mutation = Callable[[bytes, Random], bytes | None]
"""Another input made of one: `None` when it is not of the form that the mutation knows."""


class Target(Protocol):
    """A module of `tests.fuzz.targets`. It may have a `mutate` of its own too, a `Mutation`."""

    TOKENS: Sequence[str]
    """What the format is made of, for the fuzzer's dictionary."""

    @staticmethod
    def one_input(data: bytes) -> None:
        """Returns when the promises hold for `data`, whatever it is; raises anything when they do not."""


def load(name: str) -> Target:
    """The target of this name."""
    return cast("Target", import_module(f"tests.fuzz.targets.{name}"))


def kept(kind: str, name: str) -> Path:
    """Where a target's inputs are. `kind`: `corpus` or `regressions`."""
    return HERE / kind / name
