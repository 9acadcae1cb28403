"""`card`, `registration`, `reference` and `drift`: what is made from the Descriptor, and what checks it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import click

from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.projections.drift import Difference, Drift, drift_of, made_from, subject_of
from descriptor.projections.reference import Reference, Verified, verify_reference
from descriptor.projections.registration import registration_of
from descriptor.projections.serving import BY_DIGEST, Serving
from descriptor.signatures import Signature
from descriptor.strictjson import JsonValue, parse
from descriptor.view import view
from entryway.client import CARD_BYTES, ask, card, fetch
from entryway.verdict import shown
from node.commands.versions import kept, kept_versions
from node.console import Console, columns, operator_command, read_input
from node.errors import Exit, NodeError
from node.operate import running
from node.projecting import card_bytes, serving_at
from node.targets import Target, answered, find

Value = TypeVar("Value")

SHOWN, LONGEST = 50, 300  # differences that people are shown, and characters of a value
SAVE = click.option("--save", type=click.Path(dir_okay=False), metavar="FILE", help="Write it here as well.")


@click.command("card")
@SAVE
@operator_command
def card_command(console: Console, save: str | None) -> None:
    """Show the A2A card of the current version, as the running node serves it.

    The card is generated and signed; it is never edited. While no node runs it is made from the store, and names no
    address but the public_url of the settings, for a node that does not run listens nowhere.
    """
    served = served_card(console)
    data = card_bytes(_current(console), serving(console), console.keys().identity) if served is None else served
    members = _object(data, "The card")
    _tell(console, members, made_from(members), save, data)
    if served is None:
        console.note("The node does not run: this card names no address it would listen on.")


@click.command("registration")
@SAVE
@operator_command
def registration_command(console: Console, save: str | None) -> None:
    """Show the registration manifest of the current version: where it is, its digest, and what a registry sorts by."""
    descriptor = _current(console)
    members = registration_of(descriptor, serving(console)).members
    _tell(console, members, descriptor.digest, save, json.dumps(members, ensure_ascii=False, indent=2).encode() + b"\n")


@click.command("reference")
@click.argument("arguments", metavar="POINTER... | [TARGET]", nargs=-1)
@click.option("--digest", help="The version to reference, by its digest. [default: the current one]")
@click.option("--location", metavar="URL", help="Where its bytes are served. [default: this node, while it runs]")
@click.option("--verify", metavar="FILE", help="Check this reference against the bytes of TARGET.")
@SAVE
@operator_command
def reference_command(
    console: Console,
    arguments: Sequence[str],
    digest: str | None,
    location: str | None,
    verify: str | None,
    save: str | None,
) -> None:
    """Make a reference to members of a Descriptor, or check one.

    A reference is what a proposal signs to make members binding without restating them: the digest of the version, the
    JSON Pointer of each member (such as /offerings/0/inputs), and the digest of each value's canonical form.

    With --verify, TARGET is a file with the bytes, or a node (a URL, HOST:PORT, a handle or an id) that serves them by
    digest; without TARGET, the versions kept here are asked. Exit 0 when it holds, 1 when it does not.
    """
    if verify is not None:
        if len(arguments) > 1 or digest or location or save:
            raise NodeError(
                "USAGE", "--verify FILE stands with one TARGET, or none, and nothing else.", Exit.UNREADABLE
            )
        _verify(console, verify, arguments[0] if arguments else None)
        return
    if not arguments:
        raise NodeError("USAGE", "Name a member by its JSON Pointer, such as /offerings/0/inputs.", Exit.UNREADABLE)
    descriptor = _current(console) if digest is None else _kept(console, digest)
    # Versions of other agents are kept here, and not served.
    if location is None and descriptor.subject_id == console.agent_id():
        urls = serving(console).named(view(descriptor).access)
        location = f"{urls[0]}{BY_DIGEST}{descriptor.digest}" if urls else None
    members = Reference.to(descriptor, arguments, location).document()
    _tell(console, members, descriptor.digest, save, json.dumps(members, ensure_ascii=False, indent=2).encode() + b"\n")


@click.command("drift")
@click.argument("target", metavar="[FILE | TARGET]", required=False)
@click.option("--descriptor", "against", metavar="FILE", help="Compare with this Descriptor, not with the current one.")
@operator_command
def drift_command(console: Console, target: str | None, against: str | None) -> None:
    """Compare a card or a registration manifest with its Descriptor, and name each difference by both places.

    Without an argument, the card that this node serves. FILE is a card or a manifest about an agent whose versions are
    kept here; of TARGET (a URL, HOST:PORT, a handle or an id) the card that is served there is compared with the
    Descriptor that is. No side is picked: a difference is a defect of whoever made the projection.

    Exit 0 when they agree, 1 when they do not.
    """
    if target is None:
        data = served_card(console)
        if data is None:
            raise NodeError(
                "NODE_UNREACHED", "No node runs here, so no card is served. `agent-node run` starts it.", Exit.UNREACHED
            )
        document = _object(data, "The card")
        descriptor = _current(console)
        _tell_drift(console, drift_of(document, descriptor if against is None else _read(against)))
    elif target == "-" or Path(target).is_file():
        document = _object(read_input(target, CARD_BYTES), target)
        descriptor = _current(console, subject_of(document)) if against is None else _read(against)
        _tell_drift(console, drift_of(document, descriptor))
    else:
        url, descriptor = described_at(console, target)
        document = _object(answered(Target((url,)), card), "The card")
        _tell_drift(console, drift_of(document, descriptor if against is None else _read(against)))


def _tell(
    console: Console, members: Mapping[str, JsonValue], digest: str | None, save: str | None, data: bytes
) -> None:
    """A projection of the version with a digest, and its exact bytes into a file where one is named."""
    if save is not None:
        write_output(save, data)
    text = json.dumps(members, indent=2, ensure_ascii=False)
    console.result(members, (f"made from: {digest}", *text.splitlines()))


def write_output(file: str, data: bytes) -> None:
    """Writes what a command made into the file that its operator names. Raises NodeError OUTPUT_UNWRITABLE."""
    try:
        Path(file).write_bytes(data)
    except OSError as error:
        raise NodeError("OUTPUT_UNWRITABLE", f"{file} cannot be written: {error.strerror}.", Exit.UNREADABLE) from error


def _tell_drift(console: Console, drift: Drift) -> None:
    signature = drift.signature
    document = {
        "projection": drift.projection,
        "descriptor": drift.descriptor,
        "generated_from": drift.generated_from,
        "signature": None if signature is None else signature.state.value,
        "reason": None if signature is None else signature.reason,
        "agrees": drift.agrees,
        "differences": [
            {
                "kind": one.kind,
                "pointer": one.pointer,
                "sources": list(one.sources),
                "stands": one.stands,
                "expected": one.expected,
            }
            for one in drift.differences
        ],
    }
    facts = [("projection", drift.projection), ("generated from", drift.generated_from or "not stated")]
    facts += [("Descriptor", drift.descriptor)]
    if signature is not None:
        facts += [("signature", " ".join(filter(None, (signature.state.value, signature.reason))))]
    lines = [line for one in drift.differences[:SHOWN] for line in _difference_lines(one)]
    if len(drift.differences) > SHOWN:
        lines.append(f"... and {len(drift.differences) - SHOWN} more, which --json lists.")
    verdict = "They agree." if drift.agrees else "They do not agree. The Descriptor is what its operator signed."
    console.result(document, [*columns(facts), "", *lines, verdict])
    if not drift.agrees:
        raise SystemExit(Exit.NO)


def _difference_lines(one: Difference) -> list[str]:
    sources = ", ".join(place or "its bytes" for place in one.sources)
    stands, expected = (_cut(value) for value in (one.stands, one.expected))
    return [
        f"{one.kind}: {one.pointer} says {stands}",
        f"    from the Descriptor, at {sources}: {expected}",
    ]


def _cut(value: JsonValue) -> str:
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _verify(console: Console, file: str, target: str | None) -> None:
    reference = Reference.read(_object(read_input(file, CARD_BYTES), file))
    verified = verify_reference(reference, _bytes_of(console, reference, target))
    signature = verified.signature
    document = {
        "digest": verified.expected,
        "found": verified.found,
        "bound": verified.bound,
        "signature": signature.state.value,
        "reason": signature.reason,
        "members": [{"pointer": pointer, "state": state} for pointer, state in verified.members],
        "holds": verified.holds,
    }
    rows = [(pointer or "(the document)", state.value) for pointer, state in verified.members]
    console.result(document, [*_verified_lines(verified), *(columns(rows) if rows else ()), "", _verdict(verified)])
    if not verified.holds:
        raise SystemExit(Exit.NO)


def _verified_lines(verified: Verified) -> list[str]:
    signature = " ".join(filter(None, (verified.signature.state.value, verified.signature.reason)))
    return columns(
        [
            ("referenced", verified.expected),
            ("found", verified.found),
            ("subject", "stated" if verified.bound else "not stated: nothing binds to a draft"),
            ("signature", signature),
        ]
    )


def _verdict(verified: Verified) -> str:
    if not verified.holds:
        return "The reference does not hold."
    if verified.signature.state is Signature.UNSIGNED:
        return "The reference holds. The Descriptor is not signed: it is trusted as far as the place it came from."
    return "The reference holds."


def _bytes_of(console: Console, reference: Reference, target: str | None) -> bytes:
    """The bytes a reference is checked against. Those of a node are the ones it names, or the node is refused."""
    if target is None:
        return _kept(console, reference.digest).data
    if target == "-" or Path(target).is_file():
        return read_input(target)
    return answered(find(console, target), lambda url: fetch(url, reference.digest))


def described_at(console: Console, text: str) -> tuple[str, Descriptor]:
    """The base URL at which a target answered, and the Descriptor that it shows, verified. Raises NodeError."""
    found = find(console, text)
    answer = answered(found, lambda url: ask(url, expected_id=found.agent_id, clock=time.time))
    if answer.error is not None:
        raise NodeError("REFUSED", f"{answer.target} refused: {shown(str(answer.error.get('message')))}")
    if not answer.verified or answer.descriptor is None:
        raise NodeError("NOT_VERIFIED", f"What is served there does not verify; see `agent-node ask {text}`.")
    return answer.target, Descriptor.read(answer.descriptor)


def served_card(console: Console) -> bytes | None:
    """The card of the running node; None when none runs. Raises NodeError."""
    console.home.check()
    node = running(console.home)
    if node is None:
        return None
    with closing(node.client):
        return node.read("/card")


def serving(console: Console) -> Serving:
    """How the node is served: at the addresses it listens on while it runs."""
    urls: object = ()
    node = running(console.home)
    if node is not None:
        with closing(node.client):
            urls = node.ask("GET", "/status")["urls"]
    return serving_at([str(url) for url in urls] if isinstance(urls, list) else (), console.settings().http.public_url)


def _current(console: Console, agent_id: str | None = None) -> Descriptor:
    """The current version of this agent, or of another whose versions are kept. Raises NodeError and StoreError."""
    with kept_versions(console) as reader:
        current = reader.current(agent_id or console.agent_id()) if reader else None
        if current is None and agent_id is not None:
            raise NodeError(
                "NOT_FOUND", f"No version of {agent_id} is kept here. --descriptor FILE names its Descriptor."
            )
        if current is None:
            raise NodeError("NOT_PUBLISHED", "Nothing is published yet: agent-node publish FILE")
        return Descriptor.read(kept(reader, current.digest))


def _read(file: str) -> Descriptor:
    return Descriptor.read(read_input(file))


def _kept(console: Console, digest: str) -> Descriptor:
    with kept_versions(console) as reader:
        return Descriptor.read(kept(reader, digest))


def _object(data: bytes, what: str) -> dict[str, JsonValue]:
    """What a file or a peer holds, as one strict JSON object. Raises NodeError INPUT_UNREADABLE."""
    try:
        document = parse(data, max_bytes=max(len(data), 1))
    except DescriptorError as error:
        raise NodeError("INPUT_UNREADABLE", f"{what} cannot be read. {error.message}", Exit.UNREADABLE) from error
    if not isinstance(document, dict):
        raise NodeError("INPUT_UNREADABLE", f"{what} is no JSON object.", Exit.UNREADABLE)
    return document
