"""`publish` and `rollback`: what makes a version current."""

from __future__ import annotations

import json
from collections.abc import Mapping

import click

from descriptor.digests import parse_digest
from descriptor.document import Descriptor
from node.console import Console, finding_lines, operator_command, read_as
from node.first_draft import UNWRITTEN, is_unwritten
from node.operate import change
from node.publisher import with_terms


@click.command("publish")
@click.argument("file")
@click.option("--respell", is_flag=True, help="Allow other content under the current agent_version.")
@click.option(
    "--acts-for",
    type=click.Choice(["person", "organization", "anyone"]),
    help="Whom the agent acts for, when the settings do not state it.",
)
@click.option("--organization-name", help="The organization's public name; only beside organization.")
@operator_command
def publish_command(
    console: Console, file: str, respell: bool, acts_for: str | None, organization_name: str | None
) -> None:
    """Bind, sign, store and serve a Descriptor; print its digest. FILE may be - for stdin.

    A draft is given its subject, acts_for and a signature; its text stays as it is otherwise. A document that this
    agent has signed already is stored byte for byte. Publishing the same again changes nothing. Works whether or not
    the node runs; a running node answers with the new version before this command returns.
    """
    descriptor = read_as(file, Descriptor.read)  # what cannot be read is refused here, and never travels
    data = descriptor.data
    document = change(
        console,
        lambda node: node.ask(
            "POST",
            "/publish",
            data,
            respell="1" if respell else None,
            acts_for=acts_for,
            organization_name=organization_name,
        ),
        lambda publisher: publisher.publish(
            data, respell=respell, terms=with_terms(publisher.terms, acts_for, organization_name)
        ).document(),
    )
    if is_unwritten(descriptor.members):
        console.note(f"{UNWRITTEN} Then give it a later agent_version, and publish it again.")
    tell(console, document)


@click.command("rollback")
@click.argument("digest")
@click.option("--as", "agent_version", required=True, metavar="VERSION", help="The new agent_version.")
@operator_command
def rollback_command(console: Console, digest: str, agent_version: str) -> None:
    """Publish an older version's content again, under a new agent_version.

    What was served stays served: the version that is replaced stays fetchable under its digest.
    """
    digest = parse_digest(digest)
    document = change(
        console,
        lambda node: node.ask("POST", "/rollback", json.dumps({"digest": digest, "as": agent_version}).encode()),
        lambda publisher: publisher.rollback(digest, agent_version).document(),
    )
    tell(console, document)


def tell(console: Console, document: Mapping[str, object]) -> None:
    """The digest on stdout, all else as remarks."""
    warnings = document.get("warnings")
    if isinstance(warnings, list) and not console.as_json:
        for line in finding_lines(warnings):
            console.note(line)
    if not document["changed"]:
        console.note("The store is repaired." if document["healed"] else "This version is current already.")
    console.result(document, (str(document["digest"]),))
