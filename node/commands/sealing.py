"""`seal` and `unseal`: a file that one agent's host can read, and nobody on the way."""

from __future__ import annotations

import json
import sys
from functools import partial

import click
import trio

from descriptor.document import Descriptor
from descriptor.encoding import b64url_decode, b64url_encode
from descriptor.errors import DescriptorError
from descriptor.keys import Identity
from descriptor.signatures import Signature, verify_statement
from descriptor.strictjson import JsonValue, parse
from entryway.client import Caller, ClientError
from entryway.sealing import declared_key, seal, unseal
from node.callers import discovered, meant, told
from node.console import Console, operator_command, read_as, read_input
from node.errors import Exit, NodeError
from node.outcomes import write_value

FILE_BYTES = 16 * 2**20  # of a file that is sealed whole, in memory
SEALED_BYTES = 2 * FILE_BYTES  # what it becomes: bytes as base64url, sealed, as base64url again
# What stands for the bytes of a file that is no text: JSON has no bytes.
_BYTES = "base64url"


@click.command("seal")
@click.argument("arguments", nargs=-1, required=True, metavar="[TARGET] FILE")
@click.option("--id", "agent_id", metavar="ID", help="The agent that is meant; nothing is sealed to another one.")
@click.option(
    "--key", "descriptor", metavar="DESCRIPTOR", help="A file with the agent's signed Descriptor, for TARGET."
)
@operator_command
def seal_command(console: Console, arguments: tuple[str, ...], agent_id: str | None, descriptor: str | None) -> None:
    """Seal FILE (- for stdin) to the agent at TARGET; prints the sealed payload, one line of JSON.

    It is sealed to the encryption key that the agent's own signature vouches for, and to no other. It opens with
    unseal, in the home of that agent; whoever runs its host can read it. Nobody can tell who sealed it.

    TARGET is what request takes. With --key nobody is asked: the key is in a Descriptor that you have.
    """
    if len(arguments) != (2 if descriptor is None else 1):
        raise NodeError("USAGE", "Give a TARGET and a FILE, or --key DESCRIPTOR and a FILE.", Exit.UNREADABLE)
    value = _value(_read(arguments[-1], FILE_BYTES))
    document = _asked(console, arguments[0], agent_id) if descriptor is None else _kept(descriptor, agent_id)
    key = declared_key(document.members)
    if key is None:
        raise NodeError(
            "CANNOT_SEAL",
            f"{document.subject_id} declares no encryption key that its own signature vouches for, so nothing is "
            "sealed. Its operator declares one by stating a sealing posture.",
        )
    line = json.dumps(seal(value, key)).encode() + b"\n"
    if len(line) > SEALED_BYTES:
        raise _too_large(arguments[-1], FILE_BYTES)
    console.raw(line)


@click.command("unseal")
@click.argument("file")
@operator_command
def unseal_command(console: Console, file: str) -> None:
    """Open FILE (- for stdin), which was sealed to this home's agent, and print what is in it.

    A file comes out as it went in; the sealed input or output of a request as its text or JSON. With --json the value
    comes as JSON, with the reply_key that was sealed beside it.
    """
    sealed = read_as(file, partial(parse, max_bytes=SEALED_BYTES), SEALED_BYTES)
    opened = unseal(sealed, console.keys().sealing, max_bytes=SEALED_BYTES)
    data = _file(opened.value)
    if console.as_json:
        console.result({"value": opened.value, "reply_key": opened.reply_key}, ())
    elif data is None:
        write_value(console, opened.value)
    elif sys.stdout.isatty():
        raise NodeError("STDOUT_UNWRITABLE", "This is no text. Send it to a file: agent-node unseal FILE > NAME")
    else:
        console.raw(data)


def _asked(console: Console, target: str, agent_id: str | None) -> Descriptor:
    """The Descriptor of the agent at a target, as it shows it now. Raises NodeError."""
    where = meant(console, target, agent_id)

    async def ask() -> Descriptor:
        # Nothing that is asked is signed, so it does not matter by whom.
        return (await discovered(Caller(Identity.generate()), where)).descriptor

    try:
        return trio.run(ask)
    except ClientError as error:
        raise told(error) from error


def _kept(path: str, agent_id: str | None) -> Descriptor:
    document = read_as(path, Descriptor.read)
    if verify_statement(document.members).state is not Signature.VERIFIED:
        raise NodeError("NOT_VERIFIED", f"{path} is not signed by the agent that it is about, so nothing is sealed.")
    if agent_id is not None and document.subject_id != agent_id:
        raise NodeError("ANOTHER_AGENT", f"{path} is about {document.subject_id}, and --id names another.")
    return document


def _read(path: str, most: int) -> bytes:
    data = read_input(path, most)
    if len(data) > most:
        raise _too_large(path, most)
    return data


def _too_large(path: str, most: int) -> NodeError:
    return NodeError("TOO_LARGE", f"{path} has more than the {most} bytes that are taken.", Exit.UNREADABLE)


def _value(data: bytes) -> JsonValue:
    """A file as a JSON value: its text where it is UTF-8, and else its bytes."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {_BYTES: b64url_encode(data)}


def _file(value: JsonValue) -> bytes | None:
    """The bytes that a value stands for; `None` when it stands for itself."""
    if not isinstance(value, dict) or set(value) != {_BYTES}:
        return None
    text = value[_BYTES]
    try:
        return b64url_decode(text) if isinstance(text, str) else None
    except DescriptorError:
        return None
