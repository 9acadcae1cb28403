"""What every command shares: `--home`, `--json`, one result on stdout, refusals as one sentence and an exit code.

The invariant: with `--json` stdout holds one JSON document and nothing else, whether the command succeeds or refuses;
without it, stdout is for people. Text from elsewhere is shown without its control characters. No mistake of an operator
shows a traceback.

Source: binding 9.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from descriptor.errors import DescriptorError
from descriptor.strictjson import MAX_BYTES
from entryway.errors import EntrywayError
from node.config import load
from node.errors import Exit, NodeError, Refusal, as_node_error
from node.home import Home
from node.identity import Keys, public_id
from node.identity import load as load_keys
from node.settings import Settings
from store import StoreError

Value = TypeVar("Value")

HOME_HELP = "The home of the node. [default: $AGENT_NODE_HOME, else agent-node in the platform's state directory]"
FAMILIES = (NodeError, DescriptorError, StoreError, EntrywayError)


@dataclass(frozen=True)
class Console:
    """One run of a command: where its home is and how it answers."""

    home: Home
    as_json: bool

    def settings(self, overrides: Mapping[str, object] | None = None) -> Settings:
        """The settings of this home. Raises NodeError."""
        return load(self.home.config, os.environ, overrides or {})

    def keys(self) -> Keys:
        """The keys of this home; a person at a terminal is asked for the passphrase. Raises NodeError."""
        self.home.check()
        return load_keys(self.home, ask_passphrase if sys.stdin.isatty() else None, os.environ)

    def agent_id(self) -> str:
        """The id of this home's agent; the key is opened only where the id is not beside it. Raises NodeError."""
        return public_id(self.home) or self.keys().identity.id

    def result(self, document: Mapping[str, object], lines: Iterable[str]) -> None:
        """The answer: `document` with `--json`, `lines` for people. Raises NodeError STDOUT_UNWRITABLE."""
        shown = [json.dumps(document)] if self.as_json else [plain(line) for line in lines]
        self.raw("".join(f"{line}\n" for line in shown).encode(errors="backslashreplace"))

    def line(self, text: str) -> None:
        """One line of an answer that has no end. Raises NodeError STDOUT_UNWRITABLE."""
        self.raw(f"{plain(text)}\n".encode(errors="backslashreplace"))

    def raw(self, data: bytes) -> None:
        """The answer, byte for byte. Raises NodeError STDOUT_UNWRITABLE."""
        try:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise NodeError("STDOUT_UNWRITABLE", f"The answer cannot be written: {error.strerror}.") from error

    def note(self, line: str) -> None:
        """A remark for people, on stderr, so that stdout stays what was asked for."""
        click.echo(plain(line), err=True)


def ask_passphrase() -> str:
    """Asks on the terminal."""
    return str(click.prompt("Passphrase", hide_input=True, err=True))


def plain(text: str) -> str:
    """Text that cannot drive a terminal: every character that is neither printable nor a tab shows as its escape."""
    return "".join(char if char.isprintable() or char == "\t" else ascii(char)[1:-1] for char in text)


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def operator_command(function: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a click command `--home` and `--json`, hands it a `Console`, and turns refusals into their exit code."""

    @click.option("--home", "home_flag", metavar="DIR", help=HOME_HELP)
    @click.option("--json", "as_json", is_flag=True, help="Answer with one JSON document on stdout.")
    @functools.wraps(function)
    def command(home_flag: str | None, as_json: bool, **arguments: Any) -> None:
        try:
            function(Console(Home.locate(home_flag, os.environ), as_json), **arguments)
        except FAMILIES as error:
            # What stdout does not take is not told there either.
            raise SystemExit(refuse(error, as_json and error.code != "STDOUT_UNWRITABLE")) from None
        except BrokenPipeError:
            raise  # who read the answer has read enough; click ends the program without a word
        except OSError as error:  # refused by the system where no room foresaw it: still no fault of the program
            where = f"{error.filename}: " if error.filename else ""
            refusal = NodeError("SYSTEM_REFUSED", f"{where}{error.strerror or error}.")
            raise SystemExit(refuse(refusal, as_json)) from None

    return command


def refuse(error: Refusal, as_json: bool) -> int:
    """Tells a refusal and returns the exit code."""
    refusal = as_node_error(error)
    details = dict(refusal.details or {})
    with suppress(OSError):  # where nothing can be written, the exit code has to say it
        if as_json:
            click.echo(json.dumps({"error": {"code": refusal.code, "message": refusal.message, **details}}))
        else:
            click.echo(f"agent-node: {plain(refusal.message)} [{refusal.code}]", err=True)
            findings = details.get("findings")
            for line in finding_lines(findings) if isinstance(findings, list) else ():
                click.echo(plain(line), err=True)
    return int(refusal.exit_code)


def finding_lines(findings: Iterable[Mapping[str, object]]) -> Iterable[str]:
    """Findings for people: what, where, and what to do."""
    for finding in findings:
        yield f"{finding['severity']}: {finding['message']}"
        yield f"    at {finding['pointer'] or '(the document)'}   rule {finding['rule']}, section {finding['section']}"
        yield f"    {finding['remedy']}"


def read_input(path: str, most: int = MAX_BYTES) -> bytes:
    """The bytes of a file, or of stdin for `-`: `most` of them, and one that says there are more.

    As many as a Descriptor may have, unless said otherwise. Raises NodeError INPUT_UNREADABLE.
    """
    try:
        if path == "-":
            return sys.stdin.buffer.read(most + 1)
        with open(path, "rb") as file:  # noqa: PTH123  # what the operator named, as it was named
            return file.read(most + 1)
    except OSError as error:
        raise NodeError("INPUT_UNREADABLE", f"{path} cannot be read: {error.strerror}.", Exit.UNREADABLE) from error


def read_as(path: str, meant: Callable[[bytes], Value], most: int = MAX_BYTES) -> Value:
    """What `meant` makes of the bytes of a file, or of stdin for `-`.

    Raises NodeError INPUT_UNREADABLE, and what `meant` raises: a DescriptorError says in which file.
    """
    data = read_input(path, most)
    try:
        return meant(data)
    except DescriptorError as error:
        name = "What came on stdin" if path == "-" else path
        raise DescriptorError(error.code, f"{name} cannot be read. {error.message}", error.pointer) from error
