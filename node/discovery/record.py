"""What a node says of itself over mDNS, and what is read of somebody else's record. Nothing here does I/O.

The invariant: what is read is a claim of bounded size. Each member is either what the binding says it is or absent, and
a record that does not say whose it is says so in `problem`; nothing of it is believed before its agent was asked.

Source: binding 7.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from descriptor.digests import parse_digest
from descriptor.errors import DescriptorError, quoted
from descriptor.keys import decode_public
from entryway.verdict import shown

SERVICE = "_agent-entryway._tcp.local."
PATH = "/entryway"
MOST_ADDRESSES = 16
LONGEST_LABEL = 63  # bytes of one label of a DNS name
LONGEST_STRING = 255  # bytes of one string of a TXT record
LONGEST_READ = 253  # characters of a handle or an agent_version
ID_LETTERS = slice(1, 9)  # the first eight after U

_PATH = re.compile(r"(/[A-Za-z0-9._~-]+){0,8}/entryway")


@dataclass(frozen=True, slots=True)
class Advert:
    """What this node says of itself. `hosts`: the addresses it listens on; a wildcard is every one of its family."""

    id: str
    handle: str | None
    agent_version: str | None
    digest: str | None
    port: int
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Heard:
    """What a record says, on the link it was heard on.

    `id`: None when it states none that can be read, and then `problem` says so. `prefix`: what stands before the paths
    of the node, mostly nothing. `port`: 0 when the record came without one. `addresses`: as claimed, anywhere.
    """

    link: str
    instance: str
    id: str | None
    handle: str | None
    agent_version: str | None
    digest: str | None
    prefix: str
    port: int
    addresses: tuple[str, ...]
    problem: str = ""


Key = tuple[str, str]
"""What a record is known by: its link, and its instance name in lower case."""


def instance_names(advert: Advert) -> tuple[str, ...]:
    """The names to announce under, in the order in which they are tried: nobody else has a reason to bear the last."""
    # Control characters have no place in a name (RFC 6763, 4.1.1), and what does not show tells nobody apart.
    first = "".join(filter(str.isprintable, (advert.handle or "").partition(".")[0]))
    ending = advert.id[ID_LETTERS]
    # Room is left for the hyphen, the letters, and a number behind them.
    label = first.encode()[: LONGEST_LABEL - len(ending) - 3].decode(errors="ignore").strip()
    base = f"{label}-{ending}" if label else ending
    return (base, *(f"{base}-{number}" for number in range(2, 10)), advert.id)


def text_of(advert: Advert) -> dict[str, str]:
    """The strings of the TXT record. A value that does not fit into one is left out: the Descriptor has it."""
    stated = {
        "txtvers": "1",
        "id": advert.id,
        "handle": advert.handle,
        "ver": advert.agent_version,
        "digest": advert.digest,
        "path": PATH,
    }
    return {
        name: value
        for name, value in stated.items()
        if value is not None and len(f"{name}={value}".encode()) <= LONGEST_STRING
    }


def read_record(
    link: str, instance: str, text: Mapping[bytes, bytes | None], port: int, addresses: Sequence[str]
) -> Heard:
    """What a record says. Raises nothing, whatever is in it."""
    agent_id, problem = _agent_id(text)
    path = _string(text, b"path") or PATH
    if not problem and not _PATH.fullmatch(path):
        problem = f"Its record names the path {quoted(shown(path))}, which does not end in {PATH}."
    return Heard(
        link,
        shown(instance),
        agent_id,
        _shown(text, b"handle"),
        _shown(text, b"ver"),
        _digest(text),
        path.removesuffix(PATH) if not problem else "",
        port,
        tuple(addresses[:MOST_ADDRESSES]),
        problem,
    )


def _agent_id(text: Mapping[bytes, bytes | None]) -> tuple[str | None, str]:
    stated = _string(text, b"id")
    if not stated:
        return None, "Its record states no agent's id."
    try:
        decode_public(stated)
    except DescriptorError:
        return None, f"Its record states an id that is none: {quoted(shown(stated))}."
    return stated, ""


def _digest(text: Mapping[bytes, bytes | None]) -> str | None:
    stated = _string(text, b"digest")
    try:
        return None if stated is None else parse_digest(stated)
    except DescriptorError:
        return None


def _shown(text: Mapping[bytes, bytes | None], name: bytes) -> str | None:
    """A text that is fit to be shown, or None: one that is not printable or too long is as good as none."""
    stated = _string(text, name)
    return stated if stated and len(stated) <= LONGEST_READ and stated.isprintable() else None


def _string(text: Mapping[bytes, bytes | None], name: bytes) -> str | None:
    # Names are compared without case (RFC 6763, 6.4); one that is there twice counts once, the first time.
    for key, value in text.items():
        if key.lower() == name:
            try:
                return None if value is None else value.decode()
            except UnicodeDecodeError:
                return None
    return None
