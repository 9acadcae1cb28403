"""What came of a piece of work, as its agent signed it: a payload made into one of four values.

Pure. The invariant: an output that was asked for sealed is handed over only when it came sealed, to the key that was
asked for; whatever else comes is an error and no output.

| status      | value       | means                                                                     |
|-------------|-------------|---------------------------------------------------------------------------|
| `completed` | `Completed` | the work is done, and this came of it                                     |
| `accepted`  | `Accepted`  | it is a job now, and has not ended: ask again with its `task_id`          |
| `refused`   | `Refused`   | it was not begun, or is outside the offering's focus; nothing was done    |
| `failed`    | `Failed`    | it was begun, and came to nothing                                         |

Source: binding 5; chapters 6.11 and 7.2; 5.1 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from descriptor.errors import quoted
from descriptor.keys import SealingKey
from descriptor.strictjson import JsonValue
from entryway.client.errors import ClientError
from entryway.client.transport import DEFAULT_LIMITS, unreadable
from entryway.errors import EntrywayError
from entryway.sealing import is_sealed, unseal
from entryway.verdict import shown

LONGEST_MESSAGE = 2_000  # characters of a refusal that people are shown

Members: TypeAlias = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Completed:
    """The work is done. `sealed`: whether the output came sealed; here it is opened. `envelope`: the signed reply."""

    output: JsonValue = field(repr=False)
    sealed: bool
    task_id: str | None
    envelope: Members = field(repr=False)


@dataclass(frozen=True, slots=True)
class Accepted:
    """The work is a job that has not ended. `state`: one of 5.2, such as `working`.

    `sealed`: whether its answer was asked to be sealed; `None` where that is not known.
    """

    task_id: str
    state: str
    sealed: bool | None
    envelope: Members = field(repr=False)


@dataclass(frozen=True, slots=True)
class Refused:
    """The work was not begun. `code`, `message` and `reason` are fit to be shown.

    `decided_by`: `rule` or `model`; `None` where the agent does not say. `reason`: of `SCOPE_REFUSED`. `allowed`: what
    the offering declares, where the reason has a list. `error`: all that the agent says of it. `task_id`: of the job
    that was refused; `None` when there is no job.
    """

    code: str
    message: str
    decided_by: str | None
    offering: str | None
    reason: str | None
    allowed: tuple[JsonValue, ...] | None
    retryable: bool
    task_id: str | None
    error: Members = field(repr=False)
    envelope: Members = field(repr=False)


@dataclass(frozen=True, slots=True)
class Failed:
    """The work was begun, and came to nothing. The members are those of `Refused`."""

    code: str
    message: str
    decided_by: str | None
    task_id: str | None
    error: Members = field(repr=False)
    envelope: Members = field(repr=False)


Outcome: TypeAlias = Completed | Accepted | Refused | Failed


def read_outcome(
    envelope: Members, *, sealed: bool | None, key: SealingKey | None, most: int = DEFAULT_LIMITS.output_bytes
) -> Outcome:
    """What the envelope of a verified reply says came of the work.

    `sealed`: whether the answer was asked to be sealed; `None` where that is not known, and then it is opened if it is.
    `key`: what it is opened with. `most`: bytes of JSON that are opened.

    Raises ClientError: UNREADABLE_REPLY, ANSWER_NOT_SEALED, UNSEALING_FAILED.
    """
    payload = envelope.get("payload")
    assert isinstance(payload, dict)  # what a verified envelope has
    status = payload.get("status")
    match status:
        case "completed":
            if "output" not in payload:
                raise unreadable("The agent says that the work is completed, and sends no output.")
            output, came_sealed = _opened(payload["output"], sealed, key, most)
            return Completed(output, came_sealed, _task_id(payload), envelope)
        case "accepted":
            task_id, state = _task_id(payload), payload.get("state")
            if task_id is None:
                raise unreadable("The agent says that the work is accepted, and does not say under which task_id.")
            return Accepted(task_id, shown(state) if isinstance(state, str) else "not stated", sealed, envelope)
        case "refused":
            error = _error(payload)
            allowed = error.get("allowed")
            return Refused(
                code=_shown(error, "code") or "",
                message=_message(error),
                decided_by=_shown(error, "decided_by"),
                offering=_shown(error, "offering"),
                reason=_shown(error, "reason"),
                allowed=tuple(allowed) if isinstance(allowed, list) else None,
                retryable=error.get("retryable") is True,
                task_id=_task_id(payload),
                error=error,
                envelope=envelope,
            )
        case "failed":
            error = _error(payload)
            decided_by = _shown(error, "decided_by")
            code = _shown(error, "code") or ""
            return Failed(code, _message(error), decided_by, _task_id(payload), error, envelope)
    stated = f"the status {quoted(shown(status))}" if isinstance(status, str) else "no status"
    raise unreadable(f"The reply states {stated}; of work it is completed, accepted, refused or failed.")


def _opened(output: JsonValue, sealed: bool | None, key: SealingKey | None, most: int) -> tuple[JsonValue, bool]:
    """The output, and whether it came sealed."""
    if sealed is False or (sealed is None and not is_sealed(output)):
        return output, False
    if not is_sealed(output):
        raise ClientError(
            "ANSWER_NOT_SEALED",
            "A sealed answer was asked for, and it came in the clear, readable by everybody on the way. It is not "
            "taken. Tell the agent's operator; its node does not keep what its Descriptor promises.",
            maybe_sent=True,
        )
    if key is None:
        raise ClientError(
            "UNSEALING_FAILED",
            "The answer is sealed, and there is no sealing key here to open it. Ask from the home that has it.",
            maybe_sent=True,
        )
    try:
        return unseal(output, key, max_bytes=most).value, True
    except EntrywayError:
        raise ClientError(
            "UNSEALING_FAILED",
            "The answer does not open with the sealing key that it was asked for under: it was sealed to another key, "
            "or changed. It is not taken. Look whether this home has the key that your Descriptor declares.",
            maybe_sent=True,
        ) from None


def _task_id(payload: Members) -> str | None:
    task_id = payload.get("task_id")
    if task_id is None:
        return None
    if not isinstance(task_id, str) or not task_id or shown(task_id) != task_id:
        raise unreadable("The reply names its task by something that is no id.")
    return task_id


def _error(payload: Members) -> Members:
    error = payload.get("error")
    if not isinstance(error, dict) or not _shown(error, "code") or not isinstance(error.get("message"), str):
        raise unreadable(f"The agent says {quoted(str(payload['status']))}, and not why: it sends no code and message.")
    return error


def _message(error: Members) -> str:
    return shown(str(error["message"]), LONGEST_MESSAGE)


def _shown(error: Members, name: str) -> str | None:
    value = error.get(name)
    return shown(value) if isinstance(value, str) else None
