"""The first draft that `init` writes: nothing of it holds of any agent, and `does` asks to be written."""

from __future__ import annotations

from collections.abc import Mapping

from descriptor.strictjson import JsonValue

FIRST_DRAFT: Mapping[str, JsonValue] = {
    "format": "agent-descriptor-v1",
    "agent_version": "0.1.0",
    "does": "Says nothing yet: its operator has to write here, in one sentence, what this agent does.",
    "interaction": "service",
    "offerings": [],
}
UNWRITTEN = "It still says what `init` wrote. Say in `does` what the agent does, and in `offerings` what it offers."


def is_unwritten(members: Mapping[str, JsonValue]) -> bool:
    """Whether a document still says of the agent what the first draft says."""
    return members.get("does") == FIRST_DRAFT["does"]
