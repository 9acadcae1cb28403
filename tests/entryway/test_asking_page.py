"""`docs/asking.md`: every example is run, and says what stands below it."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from tests.entryway.parts import OWNER
from tests.entryway.workplace import Workplace, in_thread

PAGE = Path(__file__).parents[2] / "docs" / "asking.md"
EXAMPLE = re.compile(r"```python\n(?P<program>.*?)```\n+```text\n(?P<said>.*?)```", re.DOTALL)
EXAMPLES = [(found["program"], found["said"]) for found in EXAMPLE.finditer(PAGE.read_text())]
TASK = re.compile(r"task_id='[^']*'")


def test_the_page_is_read_whole() -> None:
    assert len(EXAMPLES) == PAGE.read_text().count("```python") == 5
    assert OWNER.id in PAGE.read_text()


@pytest.mark.parametrize(("program", "said"), EXAMPLES)
def test_an_example_says_what_stands_below_it(
    program: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = Workplace()
    (tmp_path / "descriptor.json").write_bytes(place.data)
    heard = io.StringIO()
    with in_thread(place) as url, contextlib.redirect_stdout(heard):
        exec(compile(program.replace("http://desk.local:7420", url), PAGE.name, "exec"), {"__name__": "__main__"})
    assert TASK.sub("task_id='…'", heard.getvalue()) == said
