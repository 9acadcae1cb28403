"""The pages and files that are made from the code, so that they cannot say anything else.

`python -m node.reference` writes them below the working directory; with `--check` it writes nothing, names the ones
that differ and exits 1. The invariant: a page here is a pure function of the declarations.
"""

from __future__ import annotations

import inspect
import json
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import click

from node.cli import COMMANDS
from node.cli import main as main_group
from node.config import RESERVED
from node.declared import PREFIX, Declared
from node.handlers.settings import HANDLER, WAYS
from node.rules_page import render_rules
from node.settings import DECLARED, HANDLERS, SECTIONS

_WIDTH = 110
_OFFERING = "count-words"
_HANDLERS = (
    f"What does the work of an offering: a table for each, by the id that the Descriptor gives the offering. One of "
    f"{', '.join(WAYS)} is stated; docs/handlers.md shows how. A running node takes a change for the jobs that begin "
    "after it; there are no variables for these settings."
)


def render_toml(stated: Mapping[str, object] | None = None) -> str:
    """The annotated `node.toml`: every setting with its documentation, commented out at its default.

    Settings in `stated`, by name, are written with their values; None among them is not stated.
    """
    return "\n".join(_toml_lines(stated or {})) + "\n"


def render_markdown() -> str:
    """The reference of settings, `docs/settings.md`."""
    return "\n".join(_markdown_lines()) + "\n"


def render_commands() -> str:
    """The reference of the command line, `docs/cli.md`: what `--help` says."""
    return "\n".join(_command_lines()) + "\n"


PAGES: Mapping[str, Callable[[], str]] = {
    "configs/node.toml": render_toml,
    "docs/cli.md": render_commands,
    "docs/rules.md": render_rules,
    "docs/settings.md": render_markdown,
}
"""What is generated, by its path in the repository."""


def main(arguments: list[str], root: Path) -> int:
    """Writes every page below `root`, or with `--check` only compares. Returns the exit code."""
    stale = []
    for name, render in PAGES.items():
        page, text = root / name, render()
        if arguments == ["--check"]:
            if not page.is_file() or page.read_text(encoding="utf-8") != text:
                stale.append(name)
        else:
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text, encoding="utf-8")
    for name in stale:
        sys.stderr.write(f"{name} is not what the code says; write it again with: python -m node.reference\n")
    return 1 if stale else 0


def _toml_lines(stated: Mapping[str, object]) -> Iterator[str]:
    yield from _comment(
        "The settings of one agent-node, each at its default. Take the # away before a name to change it. "
        f"The environment ({PREFIX}PORT for port) stands over this file, and flags stand over both."
    )
    yield from _comment("Sizes are bytes, durations are seconds. A setting without a default is not stated.")
    for section in SECTIONS:
        yield from ("", "")
        yield from _comment(_about(section))
        yield f"[{section}]"
        for one in _settings(section):
            yield ""
            yield from _comment(one.about.text)
            yield from _comment(_sentence(one))
            if stated.get(one.name) is not None:
                yield f"{one.name} = {_toml(stated[one.name])}"
            else:
                yield f"#{one.name} = {_toml(_example(one))}"
    yield from ("", "")
    yield from _comment(_HANDLERS)
    yield f"#[{HANDLERS}.{_OFFERING}]"
    for one in HANDLER.values():
        yield ""
        yield from _comment(one.about.text)
        yield from _comment(_sentence(one))
        yield f"#{one.name} = {_toml(_example(one))}"


def _markdown_lines() -> Iterator[str]:
    yield from (
        "# Settings",
        "",
        "<!-- Made from node/settings.py by `python -m node.reference`. Changes here are lost. -->",
        "",
        *textwrap.wrap(
            "A setting is stated in `node.toml` in the node's home, in the environment, or as a flag; each of these "
            f"stands over the one before. In the environment its name is `{PREFIX}` and the name in capitals; a list "
            "is written with commas, and an empty variable states nothing. An unknown name is refused with the "
            "nearest known one, in the file and in the environment. "
            + " and ".join(f"`{name}`" for name in RESERVED)
            + " are variables of their own: where the home is, and what opens sealed seeds. Sizes are bytes, "
            "durations are seconds.",
            _WIDTH,
        ),
        "",
        *textwrap.wrap(
            "A running node reads its settings again on `SIGHUP`. What it takes then is marked *reload*; the rest "
            "waits for a restart, and the log names it.",
            _WIDTH,
        ),
    )
    for section in SECTIONS:
        yield from ("", f"## `[{section}]`", "", *textwrap.wrap(_about(section), _WIDTH))
        for one in _settings(section):
            default = "not stated" if one.default is None else f"`{_toml(one.default)}`"
            taken = "reload" if one.about.reload else "restart"
            yield from ("", f"### `{one.name}`", "", *textwrap.wrap(one.about.text, _WIDTH), "")
            yield f"`{one.variable}` · {one.allowed} · default {default} · *{taken}*"
    yield from ("", f"## `[{HANDLERS}.<offering id>]`", "", *textwrap.wrap(_HANDLERS, _WIDTH))
    for one in HANDLER.values():
        default = f"`{_toml(one.default)}`" if one.default else "not stated"
        yield from ("", f"### `{one.name}`", "", *textwrap.wrap(one.about.text, _WIDTH), "")
        yield f"{one.allowed} · default {default} · *reload*"


def _command_lines() -> Iterator[str]:
    yield from (
        "# The command line",
        "",
        "<!-- Made from node/commands/ by `python -m node.reference`. Changes here are lost. -->",
        "",
        *textwrap.wrap(
            "Every command takes `--home` and `--json`. With `--json` there is one JSON document on stdout, whether "
            'the command succeeds or refuses (`{"error": {"code", "message", …}}`). Exit codes: 0 done, 1 the answer '
            "is no (findings, refused, not found), 2 usage or unreadable input, 3 the node or peer was not reached.",
            _WIDTH,
        ),
    )
    group = click.Context(main_group, info_name="agent-node", **main_group.context_settings)
    for name in COMMANDS:
        command = main_group.get_command(group, name)
        assert command is not None
        yield from _command_help(command, name, group)


def _command_help(command: click.Command, name: str, parent: click.Context) -> Iterator[str]:
    context = click.Context(command, parent, info_name=name, max_content_width=_WIDTH, terminal_width=_WIDTH)
    path = context.command_path.removeprefix("agent-node ")
    yield from ("", f"{'#' * (1 + len(path.split()))} `{path}`", "", "```", command.get_help(context), "```")
    for below, one in command.commands.items() if isinstance(command, click.Group) else ():
        yield from _command_help(one, below, context)


def _settings(section: str) -> list[Declared]:
    return [one for one in DECLARED.values() if one.section == section]


def _example(one: Declared) -> object:
    """What the annotated file shows: the default, and of a setting that has none, what one may look like."""
    return one.about.example if one.default in (None, ()) else one.default


def _about(section: str) -> str:
    return inspect.cleandoc(SECTIONS[section].__doc__ or "")


def _sentence(one: Declared) -> str:
    allowed = one.allowed[0].upper() + one.allowed[1:]
    return f"{allowed}." if one.about.reload else f"{allowed}. A change needs a restart."


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="# ", subsequent_indent="# ")


def _toml(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.10g}"
    return json.dumps(list(value) if isinstance(value, tuple) else value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Path.cwd()))
