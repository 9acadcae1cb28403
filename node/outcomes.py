"""What came of a piece of work, for people and for programs.

The invariant: what an agent says is shown as its word, bounded and harmless to a terminal; an output goes to a file or
a pipe exactly as it is.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from descriptor.strictjson import JsonValue
from entryway.client import Accepted, Completed, Failed, Outcome, Refused
from entryway.verdict import shown
from node.console import Console

LONGEST = 2_000  # characters of one thing that an agent says
_SAID_ELSEWHERE = frozenset({"code", "message", "decided_by", "offering", "retryable", "pointer"})


def outcome_document(outcome: Outcome) -> dict[str, object]:
    """The members of an outcome for `--json`; `envelope` is the signed reply, and the evidence."""
    payload = outcome.envelope["payload"]
    status = payload.get("status") if isinstance(payload, dict) else None
    document: dict[str, object] = {"status": status, "task_id": outcome.task_id}
    match outcome:
        case Completed():
            document |= {"output": outcome.output, "output_sealed": outcome.sealed}
        case Accepted():
            document |= {"state": outcome.state}
        case _:
            document |= {"error": dict(outcome.error)}
    return {**document, "envelope": dict(outcome.envelope)}


def refusal_lines(outcome: Refused | Failed) -> Sequence[str]:
    """A refusal or a failure for people: what was wrong, what is allowed, and who decided."""
    word = "failed at it" if isinstance(outcome, Failed) else "refused"
    by = "" if outcome.decided_by is None else f", decided by {outcome.decided_by}"
    lines = [f"agent-node: The agent {word}: {outcome.message} [{outcome.code}{by}]"]
    for name, value in outcome.error.items():
        if name not in _SAID_ELSEWHERE:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            lines.append(f"    {shown(name)}: {shown(text, LONGEST)}")
    if outcome.code == "UNAUTHORIZED":
        lines.append("    Ask to be let in, and wait for it: the same command with --knock.")
    if outcome.error.get("pointer") == "/input/reply_key":
        lines.append("    To take the answer in the clear instead: the same command with --clear-answer.")
    return lines


def write_value(console: Console, value: JsonValue) -> None:
    """A value on stdout: a text exactly as it is, anything else as JSON; on a terminal nothing that could drive it.

    Raises NodeError STDOUT_UNWRITABLE.
    """
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2) + "\n"
    if sys.stdout.isatty():
        console.result({}, text.splitlines())
    else:
        console.raw(text.encode(errors="surrogatepass"))
