"""The one exception family of this floor: a refusal with a code that reaches the wire unchanged.

A refusal is an answer. It says what was wrong and what the caller can do, it never carries a secret, and its body
has one shape in both codecs: `{"error": {"code", "message", "retryable", "details"?}}` (binding 3).
"""

from __future__ import annotations

from collections.abc import Mapping

# Codes and their HTTP status. One table, so that a code cannot travel under two statuses. Where it travels in a signed
# reply (`entryway.requests`), the reply is an answer that came, and its status is 200.
STATUS = {
    "BAD_REQUEST": 400,
    "INVALID_ENVELOPE": 400,
    "INPUT_INVALID": 400,
    "EXCHANGE_UNKNOWN": 400,
    "UNSEALING_FAILED": 400,
    "RUN_CONFIG_REFUSED": 400,
    "BUDGET_INSUFFICIENT": 400,
    "DEADLINE_UNMEETABLE": 400,
    "UNAUTHORIZED": 403,
    "SEALING_REQUIRED": 403,
    "SCOPE_REFUSED": 403,
    "PRIVATE": 403,
    "NOT_FOUND": 404,
    "OFFERING_NOT_FOUND": 404,
    "NOT_PUBLISHED": 404,
    "METHOD_NOT_ALLOWED": 405,
    "REQUEST_TIMEOUT": 408,
    "TOO_LARGE": 413,
    "DESCRIPTOR_REFUSED": 422,
    "UNSUPPORTED_MEDIA_TYPE": 415,
    "RATE_LIMITED": 429,
    "HEADERS_TOO_LARGE": 431,
    "INTERNAL": 500,
    "AGENT_UNAVAILABLE": 503,
    "VERSION_NOT_SUPPORTED": 505,
    "REGISTRY_FULL": 507,
}

RETRYABLE = frozenset({"RATE_LIMITED", "REQUEST_TIMEOUT", "INTERNAL", "AGENT_UNAVAILABLE"})


class EntrywayError(Exception):
    """A typed refusal.

    `code` is a key of `STATUS`; `message` is for people; `details` are further members of the error body;
    `headers` are response fields that the refusal calls for (`Allow`, `Retry-After`).
    Source: binding 3.
    """

    def __init__(
        self,
        code: str,
        message: str,
        details: Mapping[str, object] | None = None,
        headers: tuple[tuple[str, str], ...] = (),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details
        self.headers = headers

    @property
    def status(self) -> int:
        """The HTTP status this code travels under."""
        return STATUS[self.code]

    @property
    def retryable(self) -> bool:
        """Whether the same may be asked again, and come to another answer."""
        return self.code in RETRYABLE

    def body(self) -> dict[str, object]:
        """The error body, ready for either codec."""
        error: dict[str, object] = {
            "code": self.code,
            "message": self.message,
            "retryable": self.retryable,
        }
        if self.details:
            error["details"] = dict(self.details)
        return {"error": error}
