"""What the node serves beside its Descriptor and makes from it: today, the A2A card.

The invariant: a projection that is served was made from the bytes that are served, and says how the node is served. It
is laid out when a version becomes current, and again when the addresses have changed. Each time what is served is read
back and compared with its Descriptor, and a difference is a defect that is logged.

Source: chapter 6.8; binding 3.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit

import structlog

from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.keys import Identity
from descriptor.projections.card import card_of
from descriptor.projections.card_signature import sign_card
from descriptor.projections.drift import drift_of
from descriptor.projections.serving import Serving
from descriptor.signatures import Signature
from descriptor.strictjson import JsonValue, parse
from entryway.envelope import ENVELOPE_TAG, PROTOCOL_VERSION
from entryway.routes import ENTRYWAY
from entryway.snapshot import Published, Snapshot

BINDING = ENVELOPE_TAG.decode().strip()
"""What a card calls the protocol of the entryway: none of A2A's own, so the tag of the envelopes that it takes."""

TOLD = 20  # differences that a line of the log names
LOOPBACK = ("localhost", "127.", "::1")

log = structlog.get_logger("projections")


def serving_at(urls: Sequence[str], public_url: str | None) -> Serving:
    """How a node is served that listens at `urls`, base URLs. Loopback is named only where there is nothing else."""
    reached = tuple(url for url in urls if not (urlsplit(url).hostname or "").startswith(LOOPBACK)) or tuple(urls)
    return Serving(
        reached,
        None if public_url is None else public_url.rstrip("/"),
        ENTRYWAY.decode(),
        BINDING,
        PROTOCOL_VERSION,
    )


def card_bytes(descriptor: Descriptor, serving: Serving, identity: Identity) -> bytes:
    """The card as it is served: signed, UTF-8. Raises DescriptorError `NOT_BOUND`."""
    return _signed(card_of(descriptor, serving).members, identity)


def _signed(card: Mapping[str, JsonValue], identity: Identity) -> bytes:
    return json.dumps(sign_card(card, identity), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


class Projector:
    """Makes the projections of one node. `serving` says how the node is served just now."""

    def __init__(self, identity: Identity, serving: Callable[[], Serving]) -> None:
        self._identity = identity
        self._serving = serving
        self._made_for: Serving | None = None

    def is_stale(self) -> bool:
        """Whether the node is served otherwise than the last card says."""
        return self._serving() != self._made_for

    def card(self, descriptor: Descriptor) -> bytes:
        """The card of a version, as it is served. Of a large Descriptor it takes a while: for a worker thread."""
        self._made_for = serving = self._serving()
        card = card_of(descriptor, serving).members
        _tell_unnamed(card, serving)
        return _signed(card, self._identity)


def check_served(snapshot: Snapshot) -> bool:
    """Whether what is served beside the current version agrees with it; what does not is logged. For a thread."""
    return not isinstance(snapshot, Published) or check_card(snapshot.card.full.body, snapshot.descriptor)


def check_card(data: bytes, descriptor: Descriptor) -> bool:
    """Whether a card that is served says what its Descriptor says and is signed by its subject; logs where not."""
    told = {"projection": "card", "digest": descriptor.digest}
    try:
        card = parse(data, max_bytes=len(data))
        drift = drift_of(card if isinstance(card, dict) else {}, descriptor)
    except DescriptorError as error:
        log.error("projection_drifted", **told, reason=error.message)
        return False
    signature = Signature.UNSIGNED if drift.signature is None else drift.signature.state
    if drift.differences or signature is not Signature.VERIFIED:
        pointers = [one.pointer for one in drift.differences[:TOLD]]
        log.error("projection_drifted", **told, differences=pointers, signature=signature.value)
        return False
    return True


def _tell_unnamed(card: Mapping[str, JsonValue], serving: Serving) -> None:
    """Says which address of the settings a card does not name, or that it names none: an operator would wonder."""
    named = card["supportedInterfaces"]
    stated = serving.public_url
    if not isinstance(named, list) or not named:
        log.warning("no_address_named", reason="each leads here from outside, and no scheme over http is declared")
    elif stated is not None and not any(
        isinstance(one, dict) and one["url"] == f"{stated}{ENTRYWAY.decode()}" for one in named
    ):
        log.warning(
            "public_url_not_named",
            public_url=stated,
            reason="it leads here from outside, and the Descriptor's access declares no scheme over http",
        )
