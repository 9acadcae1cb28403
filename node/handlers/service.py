"""A program that runs already: asked over loopback, by one POST for each job.

The invariant: what is asked is the URL that the operator wrote, and nothing else: no redirect is followed, no proxy of
the environment is used, no cookie is kept, and an answer is read up to its bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import trio


@dataclass(frozen=True, slots=True)
class Answered:
    """What the service answered. `body` ends after the bound, and then it is longer than it by one byte at least."""

    status: int
    body: bytes


class ServiceError(Exception):
    """The service was not reached, or did not answer as HTTP has it. The message is for the log."""


async def ask(url: str, body: bytes, output_bytes: int) -> Answered:
    """One job. The caller sets the deadline. Raises ServiceError."""
    import httpx  # noqa: PLC0415  # a fifth of a second that a node without such a handler does not pay

    headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
    transport = httpx.AsyncHTTPTransport(verify=False)  # nothing is encrypted on the way to this machine
    try:
        async with (
            httpx.AsyncClient(transport=transport, timeout=None, trust_env=False, follow_redirects=False) as client,  # noqa: S113  # the caller's deadline bounds it
            client.stream("POST", url, content=body, headers=headers) as answer,
        ):
            data = bytearray()
            # Reading ends by cancellation: httpx reads through generators inside one another, and only from the
            # innermost does each of them end in its turn.
            with trio.CancelScope() as reading:
                async for chunk in answer.aiter_raw():
                    data += chunk
                    if len(data) > output_bytes:
                        reading.cancel()
            return Answered(answer.status_code, bytes(data))
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ServiceError(f"{url}: {error or type(error).__name__}") from error
