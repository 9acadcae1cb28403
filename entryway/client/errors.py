"""The one exception family of the client.

The invariant: an error says whether the question may have reached the peer, so that nobody takes silence for a refusal.
"""

from __future__ import annotations

from collections.abc import Mapping

from descriptor.strictjson import JsonValue
from entryway.verdict import Verdict


class ClientError(Exception):
    """No answer that can be believed, or a question that was not asked.

    | code               | means                                                                                   |
    |--------------------|-----------------------------------------------------------------------------------------|
    | `BAD_TARGET`       | the target is not one; nothing was sent                                                 |
    | `UNREACHABLE`      | no connection, or it broke off                                                          |
    | `TIMEOUT`          | no whole answer in the time given                                                       |
    | `TOO_LARGE`        | the answer goes beyond its bound                                                        |
    | `UNREADABLE_REPLY` | what came is not what the binding says                                                  |
    | `REFUSED`          | the peer answered with another status than 200; `error` is its error body, when it sent one |
    | `DIGEST_MISMATCH`  | the bytes that came are not the ones the digest names                                   |
    | `NOT_VERIFIED`     | an answer came, and a check of it does not hold; `verdict` says which                   |
    | `NOT_PUBLISHED`    | the agent has published no Descriptor, so there is nothing to ask it for                |
    | `CANNOT_SEAL`      | the agent reads sealed requests only, and there is no key to seal to; nothing was sent  |
    | `ANSWER_NOT_SEALED`| a sealed answer was asked for, and it came in the clear                                 |
    | `UNSEALING_FAILED` | the answer is sealed, and does not open with the key that is held                       |

    `message` is for people, and holds text of the peer only stripped and bounded. `maybe_sent`: whether the question
    may have reached the peer. Work that may have reached it may be done, whatever became of the answer.
    """

    def __init__(
        self,
        code: str,
        message: str,
        error: Mapping[str, JsonValue] | None = None,
        *,
        maybe_sent: bool = False,
        verdict: Verdict | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.error = error
        self.maybe_sent = maybe_sent
        self.verdict = verdict
