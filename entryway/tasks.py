"""The states of a task, and the only ways from one to another.

    submitted   ->  working, canceled, exhausted, rejected
    working     ->  completed, failed, input_required, auth_required, canceled, exhausted
    the two that wait for the caller  ->  working, canceled, exhausted
    completed, failed, canceled, rejected, exhausted  ->  nothing

Pure. The invariant: a task that has ended has ended; a change that is not in the table is refused, by `after`.

Source: 5.2 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class TaskState(StrEnum):
    """A state, by the name that travels."""

    SUBMITTED = "submitted"
    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    AUTH_REQUIRED = "auth_required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"
    REJECTED = "rejected"
    EXHAUSTED = "exhausted"


_WAITING = frozenset({TaskState.WORKING, TaskState.CANCELED, TaskState.EXHAUSTED})
_ENDED: frozenset[TaskState] = frozenset()

TRANSITIONS: Mapping[TaskState, frozenset[TaskState]] = {
    TaskState.SUBMITTED: _WAITING | {TaskState.REJECTED},
    TaskState.WORKING: frozenset(
        {
            TaskState.COMPLETED,
            TaskState.FAILED,
            TaskState.INPUT_REQUIRED,
            TaskState.AUTH_REQUIRED,
            TaskState.CANCELED,
            TaskState.EXHAUSTED,
        }
    ),
    TaskState.INPUT_REQUIRED: _WAITING,
    TaskState.AUTH_REQUIRED: _WAITING,
    TaskState.COMPLETED: _ENDED,
    TaskState.FAILED: _ENDED,
    TaskState.CANCELED: _ENDED,
    TaskState.REJECTED: _ENDED,
    TaskState.EXHAUSTED: _ENDED,
}

ENDED = frozenset(state for state, following in TRANSITIONS.items() if not following)
"""The states that nothing follows."""


class InvalidTransition(Exception):  # noqa: N818  # the specification's words
    """A change of state that the table does not have."""


def after(state: TaskState, following: TaskState) -> TaskState:
    """`following`, when it may follow `state`. Raises InvalidTransition."""
    if following not in TRANSITIONS[state]:
        raise InvalidTransition(f"A task that is {state} does not become {following}.")
    return following
