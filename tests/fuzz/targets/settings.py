"""Settings: any `node.toml` and any environment fill the one object within its bounds, or are refused.

The file comes first. Behind the first zero byte, which no TOML holds, stands the environment, in lines of `NAME=value`.

- `load` raises nothing but `NodeError`, of exit code 2, whose text is fit to be shown.
- Every value it gives is within the bounds of its declaration.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from node.config import load
from node.declared import Declared
from node.errors import Exit, NodeError
from node.settings import DECLARED
from tests.fuzz.promises import assert_fit_to_show, loose

TOKENS = (
    *(f"{name} = " for name in DECLARED),
    *(f"\n{one.variable}=" for one in DECLARED.values()),
    *("[agent]\n", "[http]\n", "[limits]\n", "[log]\n", "[[http]]\n", "\x00", "AGENT_NODE_", "AGENT_NODE_HOME=", "\n"),
    *("#", "=", '"', "'", '"""', "'''", "[", "]", "{", "}", ",", ".", "true", "false", "inf", "nan", "1e400", "0x10"),
    *("1_0", "-1", "9" * 30, '"person"', '"organization"', '"semver"', '"json"', '"debug"', '["::1"]', "\\u0000"),
    *("\\x1b", "1979-05-27T07:32:00Z"),
)


def one_input(data: bytes) -> None:
    file, _, lines = data.partition(b"\x00")
    environ = dict(line.partition("=")[::2] for line in loose(lines).split("\n") if "=" in line)
    with tempfile.NamedTemporaryFile() as written:
        written.write(file)
        written.flush()
        try:
            settings = load(Path(written.name), environ, {})
        except NodeError as error:
            assert error.exit_code is Exit.UNREADABLE
            assert_fit_to_show(error)
            return
    for one in DECLARED.values():
        value = getattr(getattr(settings, one.section), one.name)
        if value != one.default:
            _assert_within(one, value)


def _assert_within(one: Declared, value: object) -> None:
    match one.kind:
        case "switch":
            assert isinstance(value, bool)
        case "whole" | "number":
            assert type(value) is (int if one.kind == "whole" else float)
            assert one.about.low <= value <= one.about.high
        case "text" | "texts":
            texts = value if isinstance(value, tuple) else (value,)
            assert isinstance(value, tuple) == (one.kind == "texts")
            assert texts
            assert all(isinstance(text, str) and text.strip() and text.isprintable() for text in texts)
            assert not one.about.choices or value in one.about.choices
        case _:
            raise AssertionError(f"a kind of setting that is not judged here: {one.kind}")
