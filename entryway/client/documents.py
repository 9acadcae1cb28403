"""What a node or a registry serves by HTTP: exact bytes by digest, the history, the card, and the registry's copies.

Source: binding 3 and 8.
"""

from __future__ import annotations

from collections.abc import Mapping

from descriptor.digests import digest_of, parse_digest
from descriptor.errors import DescriptorError
from descriptor.strictjson import JsonValue
from descriptor.timestamps import parse_timestamp
from entryway.client.errors import ClientError
from entryway.client.transport import (
    DEFAULT_LIMITS,
    ClientLimits,
    codec_of,
    error_of,
    refused,
    reply_map,
    send,
    unreadable,
)
from entryway.codec import Codec

HISTORY_BYTES = 4096  # bytes of one version in a history
CARD_BYTES = 2**22  # bytes of a card: what it adds to each offering may come to more than a small one says


async def fetch(url: str, digest: str, *, limits: ClientLimits = DEFAULT_LIMITS) -> bytes:
    """The exact bytes that `digest` names, from the node at `url`, a base URL (`target_url`). They match it.

    Raises DescriptorError BAD_DIGEST; ClientError: UNREACHABLE, TIMEOUT, TOO_LARGE, UNREADABLE_REPLY, REFUSED,
    DIGEST_MISMATCH.
    Source: binding 3; chapter 6.5.
    """
    digest = parse_digest(digest)
    received = await send(f"{url}/descriptors/{digest}", limits.descriptor_bytes, limits.wait, accept=Codec.JSON)
    if received.status != 200:
        raise refused(received, error_of(received))
    if codec_of(received) is not Codec.JSON:
        raise unreadable("A Descriptor is application/json; this answer says otherwise.")
    if digest_of(received.body) != digest:
        raise ClientError(
            "DIGEST_MISMATCH", f"The bytes that came have the digest {digest_of(received.body)}, not {digest}."
        )
    return received.body


async def card(url: str, *, limits: ClientLimits = DEFAULT_LIMITS) -> bytes:
    """The A2A card that the node at `url`, a base URL (`target_url`), serves. It is what came, and not yet verified.

    Raises ClientError: UNREACHABLE, TIMEOUT, TOO_LARGE, REFUSED. Source: binding 3.
    """
    received = await send(f"{url}/.well-known/agent-card.json", CARD_BYTES, limits.wait, accept=Codec.JSON)
    if received.status != 200:
        raise refused(received, error_of(received))
    return received.body


async def register(url: str, data: bytes, *, limits: ClientLimits = DEFAULT_LIMITS) -> Mapping[str, JsonValue]:
    """Hands a Descriptor to the registry at `url`; returns what it says: subject, digest, and whether it is current.

    Raises ClientError: UNREACHABLE, TIMEOUT, TOO_LARGE, UNREADABLE_REPLY, REFUSED. Source: binding 8.
    """
    asked = f"{url}/registry"
    received = await send(asked, limits.envelope_bytes, limits.wait, accept=Codec.JSON, content=data, method="PUT")
    if received.status not in (200, 201):
        error = error_of(received)
        if received.status == 404 and error is not None:  # there is no such path where the role is off
            error = {**error, "message": f"{url} keeps no registry: its operator has to set `registry` to true."}
        raise refused(received, error)
    return reply_map(received)


async def registered(url: str, subject: str, *, limits: ClientLimits = DEFAULT_LIMITS) -> bytes | None:
    """The bytes that the registry at `url` serves as the current Descriptor of `subject`; `None` when it has none.

    They are what came, and not yet verified. Raises ClientError: UNREACHABLE, TIMEOUT, TOO_LARGE, REFUSED.
    """
    received = await send(f"{url}/registry/{subject}", limits.descriptor_bytes, limits.wait, accept=Codec.JSON)
    if received.status == 404:
        return None
    if received.status != 200:
        raise refused(received, error_of(received))
    return received.body


async def history(
    url: str, *, limit: int, before: int | None = None, limits: ClientLimits = DEFAULT_LIMITS
) -> tuple[tuple[tuple[str, float], ...], int | None]:
    """A page of the history of the node at `url`, newest first: digests and when each was published.

    The second value is the `before` of the next page, `None` on the last. What is read here is a list of names: each
    version is believed when its bytes verify. Raises ClientError: UNREACHABLE, TIMEOUT, TOO_LARGE, UNREADABLE_REPLY,
    REFUSED. Source: binding 3.
    """
    asked = f"{url}/descriptors?limit={limit}" + ("" if before is None else f"&before={before}")
    received = await send(asked, HISTORY_BYTES * limit + limits.envelope_bytes, limits.wait, accept=Codec.JSON)
    if received.status != 200:
        raise refused(received, error_of(received))
    page = reply_map(received)
    listed, following = page.get("versions"), page.get("next")
    try:
        versions = tuple(_listed(one) for one in (listed if isinstance(listed, list) else [None]))
    except DescriptorError:
        raise unreadable("The history is not a list of versions.") from None
    if following is not None and (isinstance(following, bool) or not isinstance(following, int) or following < 1):
        raise unreadable("The history does not say where it goes on.")
    if isinstance(following, int) and before is not None and following >= before:
        raise unreadable("The history goes on where it has been.")
    return versions, following


def _listed(version: JsonValue) -> tuple[str, float]:
    """Digest and time of one version of a history. Raises DescriptorError."""
    stated = version if isinstance(version, dict) else {}
    digest, published_at = stated.get("digest"), stated.get("published_at")
    if not isinstance(digest, str) or not isinstance(published_at, str):
        raise DescriptorError("NOT_AN_OBJECT", "A version has a digest and a time.")
    return parse_digest(digest), parse_timestamp(published_at)
