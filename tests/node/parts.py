"""What the tests of floor 4 are made of: a home, drafts, the command line, and damage as a bad disk does it."""

from __future__ import annotations

import base64
import json
import logging
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nacl.signing
import rfc8785
import structlog
from click.testing import CliRunner

from descriptor.keys import Identity
from node.cli import main
from node.home import Home
from node.identity import create

NOW = 1_790_000_000.0
QUIET = {"COLUMNS": "200", "AGENT_NODE_MDNS": "false"}
"""What commands are run with: on wide lines, and without a word to the network that the tests happen to run on."""
HOSTILE = "1\x1b]0;gone\x07\x1b[2J\u202e\r\n2"
"""What would clear a terminal, name its window, turn the line round and begin a new one."""


def draft(agent_version: str = "1.0", **members: Any) -> bytes:
    """A draft that the checker is content with."""
    content = {"format": "agent-descriptor-v1", "agent_version": agent_version, "does": "Reads letters."}
    return json.dumps({**content, "interaction": "service", "offerings": [], **members}, indent=2).encode() + b"\n"


def new_home(path: Path, settings: str = 'acts_for = "person"') -> Home:
    """A home with its keys, and `settings` in the section [agent]."""
    home = Home(path)
    create(home)
    home.config.write_text(f"[agent]\n{settings}\n")
    return home


def key_of(agent_id: str) -> nacl.signing.VerifyKey:
    """The key behind an id, read by code that is not ours."""
    return nacl.signing.VerifyKey(base64.b32decode(agent_id)[1:33])


def verified_document(data: bytes) -> dict[str, Any]:
    """A Descriptor, once its statement has been verified by code that is not ours."""
    document: dict[str, Any] = json.loads(data)
    (entry,) = [entry for entry in document["signatures"] if entry["tag"] == "descriptor-statement-v1"]
    unsigned = {name: value for name, value in document.items() if name != "signatures"}
    assert entry["by"] == document["subject"]["id"]
    key_of(entry["by"]).verify(
        b"descriptor-statement-v1\n" + rfc8785.dumps(unsigned), base64.b64decode(entry["sig"], validate=True)
    )
    return document


def verified_envelope(line: str | bytes | Mapping[str, Any]) -> dict[str, Any]:
    """An envelope, once its signature has been verified by code that is not ours."""
    envelope: dict[str, Any] = dict(line) if isinstance(line, Mapping) else json.loads(line)
    unsigned = {name: value for name, value in envelope.items() if name != "sig"}
    key_of(envelope["from"]).verify(
        b"agentmesh-envelope-v1\n" + rfc8785.dumps(unsigned), base64.urlsafe_b64decode(envelope["sig"] + "==")
    )
    return envelope


def damage(database: Path, digest: str) -> None:
    """Turns a bit of the stored bytes of a version, as a bad disk does it: without a word."""
    with closing(sqlite3.connect(database)) as connection, connection:
        (data,) = connection.execute("SELECT bytes FROM artifacts WHERE digest = ?", (digest,)).fetchone()
        changed = bytes([data[0] ^ 1]) + data[1:]
        connection.execute("UPDATE artifacts SET bytes = ? WHERE digest = ?", (changed, digest))


@dataclass(frozen=True)
class Told:
    """How a command ended: its exit code, and what stood on stdout and stderr."""

    exit_code: int
    out: str
    err: str

    def document(self) -> dict[str, Any]:
        """The one JSON document that stdout is."""
        assert self.out.count("\n") == 1
        assert self.out.endswith("\n")
        document: dict[str, Any] = json.loads(self.out)
        return document

    def error(self) -> dict[str, Any]:
        """The refusal that stdout is, with `--json`."""
        document = self.document()
        assert set(document) == {"error"}
        return dict(document["error"])


def told(
    *arguments: str | Path, home: Home | None = None, stdin: bytes = b"", env: Mapping[str, str] | None = None
) -> Told:
    """Runs a command in this process. No end of it may show a traceback or a secret of the home."""
    no_settings = {name: None for name in os.environ if name.startswith("AGENT_NODE_")}
    flag = [] if home is None else ["--home", str(home.path)]
    with own_logging():
        result = CliRunner().invoke(
            main, [*map(str, arguments), *flag], input=stdin, env={**no_settings, **QUIET, **(env or {})}
        )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    end = Told(result.exit_code, result.stdout, result.stderr)
    assert "Traceback" not in end.out + end.err
    if home is not None:
        for seed in (home.agent_seed, home.seal_seed):
            secret = seed.read_bytes().strip() if seed.is_file() else b""
            assert not secret or secret not in (end.out + end.err).encode()
    return end


@contextmanager
def own_logging() -> Iterator[None]:
    """Puts back, in the end, what a command does to the logging of its process."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        structlog.reset_defaults()


def published(home: Home, data: bytes, *arguments: str) -> str:
    """Publishes with the command, which has to succeed; returns the digest."""
    end = told("publish", "-", *arguments, "--json", home=home, stdin=data)
    assert end.exit_code == 0, end.out + end.err
    return str(end.document()["digest"])


def identity_of(home: Home) -> Identity:
    """The identity of a home whose seeds are not sealed."""
    return Identity.from_seed_text(home.agent_seed.read_text().strip())


def digests(home: Home) -> list[str]:
    """Of the versions, newest first."""
    return [row["digest"] for row in told("history", "--json", home=home).document()["versions"]]


def filled(home: Home, arguments: list[str]) -> list[str]:
    """Arguments with the names of this home in the place of `{old}`, `{new}`, `{draft}` and `{home}`.

    `{card}` and `{current}` are files, written where they are asked for: the card, and the Descriptor that is current.
    """
    made = {name: home.path.parent / name for name in ("card", "current", "new")}
    if any("{card}" in text for text in arguments):
        told("card", "--save", made["card"], home=home)
    if any("{current}" in text for text in arguments):
        made["current"].write_text(told("show", "--raw", home=home).out)
    return [text.format(old=digests(home)[-1], draft=home.draft, home=home.path, **made) for text in arguments]
