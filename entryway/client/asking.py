"""Asks another node one exchange. What comes is judged by `verdict`; here is only the way to it.

Source: binding 4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Self

from descriptor.encoding import b64url_decode
from descriptor.errors import DescriptorError
from descriptor.keys import Identity
from descriptor.strictjson import JsonValue
from entryway.client.errors import ClientError
from entryway.client.transport import (
    DEFAULT_LIMITS,
    ClientLimits,
    error_of,
    judged,
    refused,
    reply_map,
    send,
    unreadable,
)
from entryway.codec import Codec, encode
from entryway.envelope import request_envelope
from entryway.verdict import Verdict, judge_reply


@dataclass(frozen=True, slots=True)
class Answer(Verdict):
    """What came, what it is worth, and `target`: the base URL that was asked."""

    target: str = ""

    @classmethod
    def of(cls, target: str, verdict: Verdict) -> Self:
        """The verdict on what `target` answered."""
        return cls(**{one.name: getattr(verdict, one.name) for one in fields(verdict)}, target=target)


async def ask(
    url: str,
    *,
    exchange: int | str = 2,
    codec: Codec = Codec.MSGPACK,
    identity: Identity | None = None,
    expected_id: str | None = None,
    limits: ClientLimits = DEFAULT_LIMITS,
    clock: Callable[[], float],
) -> Answer:
    """Asks the node at `url`, a base URL (`target_url`), one exchange.

    `identity` signs the question. `expected_id`: the agent that should answer. A signed question is also addressed to
    it, so that nobody can pass the question on to another; an unsigned one is not, so that another agent at this place
    answers and is named (`one_agent`). `clock`: seconds since 1970. A typed refusal is an answer too: it stands in
    `error`.

    Raises ClientError: UNREACHABLE, TIMEOUT, TOO_LARGE, UNREADABLE_REPLY, REFUSED.
    Source: binding 4.
    """
    addressee = expected_id if identity is not None else None
    request = request_envelope({"exchange": exchange}, clock(), to=addressee, identity=identity)
    # In JSON the Descriptor is base64url: four characters for three bytes.
    most = limits.envelope_bytes + 4 * -(-limits.descriptor_bytes // 3)
    received = await send(f"{url}/entryway", most, limits.wait, accept=codec, content=encode(request, codec))
    if received.status != 200:
        error = error_of(received)
        if error is None:
            raise refused(received, None)
        return Answer(target=url, error=error)
    came = clock()

    def judge() -> Verdict:
        reply = reply_map(received)
        return judge_reply(reply, request, came, _descriptor_in(reply, limits), expected_id=expected_id)

    return Answer.of(url, await judged(received, judge))


def _descriptor_in(reply: dict[str, JsonValue], limits: ClientLimits) -> bytes | None:
    """The bytes beside the envelope; `None` when there are none. Both codecs bring them as base64url (`codec`)."""
    if "descriptor" not in reply:
        return None
    text = reply["descriptor"]
    if not isinstance(text, str):
        raise unreadable("The descriptor beside the envelope is not bytes.")
    try:
        data = b64url_decode(text)
    except DescriptorError as error:
        raise unreadable(f"The descriptor beside the envelope is unreadable. {error.message}") from None
    if len(data) > limits.descriptor_bytes:
        raise ClientError(
            "TOO_LARGE", f"The Descriptor goes beyond the {limits.descriptor_bytes} bytes that are taken."
        )
    return data
