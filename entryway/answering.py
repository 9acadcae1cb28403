"""A signed reply as an HTTP response: what every question that names its exchange or its work is answered with.

Source: binding 4.
"""

from __future__ import annotations

from typing import NamedTuple

from descriptor.keys import Identity
from entryway.codec import Codec, body_codec, encode_reply, reply_codec
from entryway.http import Request, Response, response
from entryway.reply import Beside, ReplyPayload, sign_reply
from entryway.router import NO_STORE, PLAIN_TYPE

# Bytes of a signed question above which it is read in a worker thread, one at a time: up to a tenth of a second of the
# processor, which anybody may ask for and everybody else would wait for.
LARGE_QUESTION = 4096
REPLY_HEADERS = {codec: (("Content-Type", codec.value), PLAIN_TYPE, NO_STORE) for codec in Codec}


class Codecs(NamedTuple):
    """What a question came in, and what its reply goes out in."""

    asked: Codec
    reply: Codec

    @classmethod
    def of(cls, request: Request) -> Codecs:
        """By the headers of the request. Raises EntrywayError UNSUPPORTED_MEDIA_TYPE."""
        asked = body_codec(request.headers.get(b"content-type"))
        return cls(asked, reply_codec(request.headers.get(b"accept"), asked))


def signed_response(
    identity: Identity,
    payload: ReplyPayload,
    codec: Codec,
    *,
    in_reply_to: str,
    to: str | None,
    now: float,
    beside: Beside | None = None,
) -> Response:
    """The signed reply to the request `in_reply_to`, whose verified sender is `to`. `now`: seconds since 1970."""
    own, shared = encode_reply(sign_reply(identity, payload, in_reply_to, to, now), codec, beside)
    return response(200, REPLY_HEADERS[codec], own, shared=shared)
