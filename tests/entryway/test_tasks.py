"""The states of a task: every pair of them, against the sentences of the specification."""

from __future__ import annotations

from itertools import product

import pytest

from entryway.tasks import ENDED, TRANSITIONS, InvalidTransition, TaskState, after

# As the specification says it, read by other code than that which is tested.
WRITTEN = {
    "submitted": "working canceled exhausted rejected",
    "working": "completed failed input_required auth_required canceled exhausted",
    "input_required": "working canceled exhausted",
    "auth_required": "working canceled exhausted",
}


@pytest.mark.parametrize(("state", "following"), list(product(TaskState, TaskState)))
def test_a_change_is_one_of_the_table_or_refused(state: TaskState, following: TaskState) -> None:
    if following.value in WRITTEN.get(state.value, "").split():
        assert after(state, following) is following
    else:
        with pytest.raises(InvalidTransition, match=f"{state} does not become {following}"):
            after(state, following)


def test_what_has_ended_has_ended() -> None:
    assert {state.value for state in ENDED} == {"completed", "failed", "canceled", "rejected", "exhausted"}
    assert set(TRANSITIONS) == set(TaskState)


def test_every_state_can_be_reached_and_left_or_is_an_end() -> None:
    reached = {TaskState.SUBMITTED}
    while more := {to for state in reached for to in TRANSITIONS[state]} - reached:
        reached |= more
    assert reached == set(TaskState)
    assert all(ENDED & TRANSITIONS[state] for state in TaskState if state not in ENDED)
