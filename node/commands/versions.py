"""`history`, `show` and `diff`: the versions that are kept, read from the store without disturbing the node."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager

import click

from descriptor.difference import Change, ChangeKind, NewVersion, diff
from descriptor.digests import parse_digest
from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.timestamps import format_timestamp
from node.console import Console, columns, operator_command, read_as
from node.errors import Exit, NodeError
from store import Reader


@click.command("history")
@click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="How many versions.")
@click.option("--before", type=click.IntRange(1), help="Only versions before this number.")
@operator_command
def history_command(console: Console, limit: int, before: int | None) -> None:
    """List the versions of this agent, newest first."""
    with kept_versions(console) as reader:
        versions, following = reader.history(console.agent_id(), limit, before) if reader else ((), None)
    listed = [
        {
            "number": version.seq,
            "digest": version.digest,
            "agent_version": version.agent_version,
            "published_at": format_timestamp(version.published_at),
            "size": version.size,
            "current": version.current,
        }
        for version in versions
    ]
    rows = [("", "agent_version", "published", "bytes", "digest")]
    rows += [
        (
            "*" if version.current else "",
            version.agent_version,
            format_timestamp(version.published_at),
            str(version.size),
            version.digest,
        )
        for version in versions
    ]
    lines = columns(rows) if versions else ["Nothing is published yet: agent-node publish FILE"]
    if following is not None:
        lines.append(f"There are older ones: agent-node history --before {following}")
    console.result({"versions": listed, "next": following}, lines)


@click.command("show")
@click.argument("digest", required=False)
@click.option("--raw", is_flag=True, help="The exact bytes, and nothing else.")
@operator_command
def show_command(console: Console, digest: str | None, raw: bool) -> None:
    """Show a version, the current one without DIGEST.

    --raw writes the exact bytes: their SHA-256 is the digest.
    """
    if raw and console.as_json:
        raise NodeError("USAGE", "--raw and --json are two forms of one answer; choose one.", Exit.UNREADABLE)
    with kept_versions(console) as reader:
        if digest is None:
            current = reader.current(console.agent_id()) if reader else None
            if current is None:
                raise NodeError("NOT_PUBLISHED", "Nothing is published yet: agent-node publish FILE")
            digest = current.digest
        descriptor = Descriptor.read(kept(reader, digest))
    if raw:
        console.raw(descriptor.data)
        return
    text = json.dumps(dict(descriptor.members), indent=2, ensure_ascii=False)
    console.result(
        {"digest": descriptor.digest, "size": len(descriptor.data), "descriptor": dict(descriptor.members)},
        (f"digest: {descriptor.digest}", f"bytes: {len(descriptor.data)}", *text.splitlines()),
    )


@click.command("diff")
@click.argument("a")
@click.argument("b")
@operator_command
def diff_command(console: Console, a: str, b: str) -> None:
    """Compare two Descriptors member by member. A and B are digests that are kept here, or files.

    A change marked ! is of what the agent is declared to do, and obliges a new agent_version; one marked ? obliges it
    only if the agent changed and not only the words. Exit 0 when they say the same, 1 when they differ.
    """
    before, after = (_named(console, name) for name in (a, b))
    changes = diff(before.members, after.members)
    document = {
        "a": before.digest,
        "b": after.digest,
        "changes": [
            {
                "pointer": change.pointer,
                "kind": change.kind,
                "before": change.before,
                "after": change.after,
                "new_version": change.new_version,
            }
            for change in changes
        ],
    }
    lines = [_change_line(change) for change in changes] or ["They say the same."]
    console.result(document, [*lines, *_version_lines(before, after, changes)])
    if changes:
        raise SystemExit(Exit.NO)


@contextmanager
def kept_versions(console: Console) -> Iterator[Reader | None]:
    """The store, to be read; None before the first publish makes it. Raises NodeError and StoreError."""
    console.home.check()
    if not console.home.database.exists():
        yield None
        return
    with Reader.open(console.home.database) as reader:
        yield reader


def kept(reader: Reader | None, digest: str) -> bytes:
    """The exact bytes under a digest. Raises NodeError NOT_FOUND, DescriptorError BAD_DIGEST and StoreError."""
    digest = parse_digest(digest)
    data = reader.artifact(digest) if reader else None
    if data is None:
        raise NodeError("NOT_FOUND", f"No version {digest} is kept here. `agent-node history` lists them.")
    return data


def _version_lines(before: Descriptor, after: Descriptor, changes: list[Change]) -> Iterator[str]:
    owed = {change.new_version for change in changes}
    if before.agent_version != after.agent_version or not owed - {NewVersion.NO}:
        return
    if NewVersion.YES in owed:
        yield f"Both say agent_version {after.agent_version}. B describes a changed agent and needs one of its own."
    else:
        yield f"Both say agent_version {after.agent_version}. B needs one of its own if the agent changed."


def _change_line(change: Change) -> str:
    mark = {NewVersion.YES: "!", NewVersion.PERHAPS: "?", NewVersion.NO: " "}[change.new_version]
    return f"{mark} {_changed(change)}"


def _changed(change: Change) -> str:
    before, after = (json.dumps(value, ensure_ascii=False) for value in (change.before, change.after))
    said = {
        ChangeKind.ADDED: f"+ {change.pointer}: {after}",
        ChangeKind.REMOVED: f"- {change.pointer}: {before}",
        ChangeKind.CHANGED: f"~ {change.pointer}: {before} -> {after}",
    }
    return said[change.kind]


def _named(console: Console, name: str) -> Descriptor:
    if name == "-" or os.path.exists(name):  # noqa: PTH110  # the one that answers no to what cannot be a name
        return read_as(name, Descriptor.read)
    try:
        digest = parse_digest(name)
    except DescriptorError as error:
        raise NodeError("NOT_FOUND", f"There is no file {name}. {error.message}") from error
    with kept_versions(console) as reader:
        return Descriptor.read(kept(reader, digest))
