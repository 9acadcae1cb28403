"""How jobs end: the endings that are the node's own doing, the state that one leads to, and what a caller is told.

Source: 5.2 – 5.4 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TypeAlias

from descriptor.strictjson import JsonValue
from entryway.tasks import TaskState
from entryway.work import Completed, Declined, Ending, Failed, Order, payload_of

Payload: TypeAlias = Mapping[str, JsonValue]

CANCELED = Failed("CANCELED", "The job was canceled.")
OUT_OF_TIME = Failed(
    "DEADLINE_EXCEEDED", "The job was not done in the time it had, and was ended. Ask for less, or allow more."
)
INTERRUPTED = Failed("INTERRUPTED", "The node stopped before the job was done. Nothing goes on; ask again.")

_STATES = {
    CANCELED.code: TaskState.CANCELED,
    OUT_OF_TIME.code: TaskState.EXHAUSTED,
    INTERRUPTED.code: TaskState.FAILED,
}


def state_of(ending: Ending, state: TaskState) -> TaskState:
    """The state that an ending leads to from `state`. What was never begun cannot fail: it is turned away."""
    match ending:
        case Completed():
            return TaskState.COMPLETED
        case Failed(code=code) if code in _STATES:
            following = _STATES[code]
            return TaskState.REJECTED if (state, following) == (TaskState.SUBMITTED, TaskState.FAILED) else following
        case Failed() | Declined():
            return TaskState.FAILED


def told(order: Order, task_id: str, ending: Ending) -> tuple[Payload, str]:
    """The payload that tells of an ending, and its JSON text. Raises DescriptorError where it cannot be sealed."""
    payload = payload_of(order, task_id, ending)
    return payload, json.dumps(payload)
