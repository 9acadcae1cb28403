"""What a reply to our question is worth, check by check.

The invariant: nothing a peer says is believed because it was said. A reply is verified when every check that applies to
it holds; each that does not has a reason of its own, for people. There is no I/O here and no clock: the decoded reply,
the question and the time are handed in.

| check                | holds when                                                                              |
|----------------------|-----------------------------------------------------------------------------------------|
| envelope             | it is a well-formed envelope of type respond, with a status the exchange has            |
| answers_request      | `in_reply_to` is the id that was asked under                                            |
| fresh                | `ts` is inside the time window                                                          |
| addressed            | `to` is who asked; or it is absent, where it may be                                     |
| reply_signature      | `sig` is by `from`, over every other member                                             |
| digest               | the bytes that came have the digest and the size that the signed reply states           |
| descriptor_readable  | the bytes are a Descriptor: one strict JSON object                                      |
| descriptor_signature | the subject's own key signed the document                                               |
| one_agent            | `from`, `subject.id`, the signature's `by` and the id that was expected are one         |
| agent_version        | the reply states the agent_version that the document states                             |

The checks of a Descriptor apply when one came, or when the reply says that one is published. A check that cannot be
made because an earlier one failed is absent, not false.

Source: binding 4 and 7; chapter 6.5 and 6.6.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field

from descriptor.canonical import canonical
from descriptor.digests import digest_of
from descriptor.document import Descriptor
from descriptor.errors import DescriptorError, quoted
from descriptor.keys import verify
from descriptor.signatures import STATEMENT_TAG, Signature, verify_statement
from descriptor.strictjson import JsonValue
from entryway.envelope import ENVELOPE_TAG, PROTOCOL_VERSION, Envelope, read_envelope
from entryway.errors import EntrywayError
from entryway.protections import FRESH_AHEAD, FRESH_BEHIND

# What each exchange may state. Source: binding 4.
STATUSES: Mapping[JsonValue, tuple[str, ...]] = {
    1: ("described", "none-published"),
    2: ("published", "none-published"),
    3: ("admitted", "waiting", "refused"),
    4: ("stated", "not-stated"),
    5: ("never-asked", "waiting", "admitted", "refused"),
    "help": ("described", "none-published"),
}
UNSIGNED = "The Descriptor is unsigned."
"""Why `descriptor_signature` does not hold where there is no signature at all."""

_HOLDS = ""
_SHOWN = 200  # characters of a peer's text that people are shown


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came, and what it is worth.

    `checks` holds the checks that apply, in the order of this module's table; `reasons` one sentence for each that does
    not hold. `digest`: recomputed over `descriptor`, the exact bytes that came; `None` when none came. `document`: what
    these bytes are; `None` where they are no Descriptor. `status` and `agent_version` are fit to be shown; exactly as
    stated they are in `envelope`, the members as they came, and in `descriptor`. `error`: the `code`, `message` and
    `retryable` of the error body that the peer answered with, fit to be shown; then there are no checks, and nothing is
    verified.
    """

    checks: Mapping[str, bool] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    status: str | None = None
    digest: str | None = None
    agent_version: str | None = None
    envelope: Mapping[str, JsonValue] | None = None
    descriptor: bytes | None = field(default=None, repr=False)
    document: Descriptor | None = field(default=None, repr=False)
    error: Mapping[str, JsonValue] | None = None

    @property
    def verified(self) -> bool:
        """Whether every check that applies holds."""
        return bool(self.checks) and all(self.checks.values())


def judge_reply(
    reply: Mapping[str, JsonValue],
    request: Mapping[str, JsonValue],
    now: float,
    descriptor: bytes | None,
    *,
    expected_id: str | None = None,
    addressed: bool = False,
) -> Verdict:
    """What `reply`, a decoded reply map, is worth as the answer to `request`, the members of our envelope.

    `now`: seconds since 1970, when the reply had come. `descriptor`: the bytes beside the reply's envelope.
    `expected_id`: the agent that should have answered, when one was named. `addressed`: whether the reply has to name
    who asked, as the reply to work does; that to an exchange may leave it out. Raises nothing.
    """
    error = None if "envelope" in reply else read_error(reply)
    if error is not None:
        return Verdict(error=error)
    digest = None if descriptor is None else digest_of(descriptor)
    members = reply.get("envelope")
    try:
        envelope = read_envelope(members, "respond")
    except EntrywayError:
        malformed = f"The reply holds no well-formed envelope of type respond and version {PROTOCOL_VERSION}."
        return _verdict({"envelope": malformed}, members, None, digest, None, descriptor)
    status = _text(envelope.payload.get("status"))
    found = {
        "envelope": _status_problem(status, request, descriptor),
        "answers_request": _answer_problem(envelope, request),
        "fresh": _time_problem(envelope, now),
        "addressed": _address_problem(envelope, request, addressed),
        "reply_signature": _signature_problem(envelope),
    }
    document = None
    if descriptor is not None or status == "published":
        found["digest"] = _digest_problem(envelope.payload, descriptor, digest)
    if descriptor is not None:
        document, found["descriptor_readable"] = _read(descriptor)
    if document is not None:
        found["descriptor_signature"] = _statement_problem(document)
    if document is not None or expected_id is not None:
        found["one_agent"] = _agent_problem(envelope.sender, document, expected_id)
    if document is not None:
        found["agent_version"] = _version_problem(envelope.payload, document)
    return _verdict(found, members, status, digest, document, descriptor)


def read_error(body: Mapping[str, JsonValue]) -> dict[str, JsonValue] | None:
    """The `code`, `message` and `retryable` of the error body that `body` is, fit to be shown; `None` when it is none.

    `details` are there where the body has them, as they came. Source: binding 3.
    """
    error = body.get("error")
    if not isinstance(error, dict):
        return None
    code, message = error.get("code"), error.get("message")
    if not isinstance(code, str) or not isinstance(message, str):
        return None
    told: dict[str, JsonValue] = {
        "code": shown(code),
        "message": shown(message),
        "retryable": error.get("retryable") is True,
    }
    details = error.get("details")
    return {**told, "details": details} if isinstance(details, dict) else told


def shown(text: str, most: int = _SHOWN) -> str:
    """Text of a peer, fit for a terminal and a log: on one line, without control and format characters, bounded.

    `most`: characters.
    """
    # Letters are not judged, only what moves a cursor, reverses the line or hides: categories C* and line breaks.
    kept = "".join(" " if unicodedata.category(char)[0] in "CZ" else char for char in text[: 2 * most])
    line = " ".join(kept.split())
    return line if len(line) <= most else line[:most] + "…"


def _verdict(
    found: Mapping[str, str],
    members: JsonValue,
    status: str | None,
    digest: str | None,
    document: Descriptor | None,
    descriptor: bytes | None,
) -> Verdict:
    stated = None if document is None else document.agent_version
    return Verdict(
        checks={name: reason == _HOLDS for name, reason in found.items()},
        reasons={name: reason for name, reason in found.items() if reason != _HOLDS},
        status=None if status is None else shown(status),
        digest=digest,
        agent_version=None if stated is None else shown(stated),
        envelope=members if isinstance(members, dict) else None,
        descriptor=descriptor,
        document=document,
    )


# One function a check: the reason why it does not hold, empty when it does.


def _status_problem(status: str | None, request: Mapping[str, JsonValue], descriptor: bytes | None) -> str:
    if status is None:
        return "The reply states no status."
    payload = request.get("payload")
    exchange = payload.get("exchange") if isinstance(payload, dict) else None
    if isinstance(exchange, int | str) and status not in STATUSES.get(exchange, (status,)):
        return f"The reply states the status {quoted(status)}, which exchange {shown(str(exchange))} does not have."
    if descriptor is not None and status != "published":
        return f"The reply carries a Descriptor and states {quoted(status)}: one of the two is not so."
    return _HOLDS


def _answer_problem(envelope: Envelope, request: Mapping[str, JsonValue]) -> str:
    if envelope.members.get("in_reply_to") != request["id"]:
        return "The reply answers another question: in_reply_to is not the id of this one."
    return _HOLDS


def _time_problem(envelope: Envelope, now: float) -> str:
    age = now - envelope.ts
    if age > FRESH_BEHIND:
        return f"The reply is {age:.0f} seconds old by our clock, over the {FRESH_BEHIND:.0f} that are taken."
    if age < -FRESH_AHEAD:
        return f"The reply is from {-age:.0f} seconds ahead of our clock, over the {FRESH_AHEAD:.0f} that are taken."
    return _HOLDS


def _address_problem(envelope: Envelope, request: Mapping[str, JsonValue], addressed: bool) -> str:
    if envelope.recipient is None and addressed:
        return "The reply is addressed to nobody, and the answer to work is for who asked for it."
    if envelope.recipient is not None and envelope.recipient != request.get("from"):
        return "The reply is addressed to somebody else."
    return _HOLDS


def _signature_problem(envelope: Envelope) -> str:
    if envelope.sender is None or envelope.signature is None:
        return "The reply is not signed: it needs both from and sig."
    body = {name: value for name, value in envelope.members.items() if name != "sig"}
    if not verify(envelope.sender, ENVELOPE_TAG + canonical(body), envelope.signature):
        return "The signature of the reply does not verify: it was changed, or is by another key than its from."
    return _HOLDS


def _digest_problem(payload: Mapping[str, JsonValue], descriptor: bytes | None, digest: str | None) -> str:
    if descriptor is None:
        return "The reply says that a Descriptor is published, and carries none."
    if payload.get("digest") != digest:
        return f"The bytes that came have the digest {digest}, and the reply states another or none."
    if payload.get("size") != len(descriptor):
        return f"{len(descriptor)} bytes came, and the reply states another size or none."
    return _HOLDS


def _read(descriptor: bytes) -> tuple[Descriptor | None, str]:
    try:
        return Descriptor.read(descriptor, max_bytes=len(descriptor)), _HOLDS
    except DescriptorError as error:
        return None, f"The bytes that came are no Descriptor. {error.message}"


def _statement_problem(document: Descriptor) -> str:
    report = verify_statement(document.members)
    if report.state is Signature.UNSIGNED:
        return UNSIGNED
    if report.state is Signature.FAILED:
        return f"The signature of the Descriptor failed. {report.reason}"
    return _HOLDS


def _agent_problem(sender: str | None, document: Descriptor | None, expected_id: str | None) -> str:
    if sender is None:
        return "The reply does not say by whom it is."
    if expected_id is not None and sender != expected_id:
        return f"The reply is by {sender}, and {quoted(expected_id)} was asked."
    if document is None:
        return _HOLDS
    if document.subject_id != sender:
        about = "nobody" if document.subject_id is None else quoted(document.subject_id)
        return f"The reply is by {sender}, and the Descriptor is about {about}."
    if any(by != sender for by in _stated_by(document)):
        return f"The reply is by {sender}, and the Descriptor carries a statement by somebody else."
    return _HOLDS


def _stated_by(document: Descriptor) -> list[JsonValue]:
    entries = document.members.get("signatures")
    if not isinstance(entries, list):
        return []
    return [entry.get("by") for entry in entries if isinstance(entry, dict) and entry.get("tag") == STATEMENT_TAG]


def _version_problem(payload: Mapping[str, JsonValue], document: Descriptor) -> str:
    if payload.get("agent_version", "") != (document.agent_version or ""):
        return "The reply states another agent_version than the Descriptor."
    return _HOLDS


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None
