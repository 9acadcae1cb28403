"""What came of a piece of work, for people and for programs.

The invariant: what an agent says is shown as its word, bounded and harmless to a terminal; an output goes to a file or
a pipe exactly as it is.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence

from descriptor.strictjson import JsonValue
from descriptor.view import Money
from entryway.admission import Reason
from entryway.client import Accepted, Completed, Failed, Outcome, Refused
from entryway.verdict import shown
from node.console import Console
from node.typed import written

NOT_LET_IN: Mapping[str, str] = {
    Reason.ALLOWLIST: "Only callers whom its owner added are let in; give the owner that id.",
    Reason.NEGOTIATED: "Who is let in is arranged with its owner beforehand; give the owner that id.",
    Reason.CLOSED: "Nobody new is let in.",
    Reason.REVOKED: "It was let in once, and is no more.",
    Reason.BUSY: "As many have knocked today as are taken in a day. Knock tomorrow.",
}
"""What a refusal at the door means, and what to do about it."""
LONGEST = 2_000  # characters of one thing that an agent says
TOLD = frozenset({"code", "message", "decided_by", "retryable"})
"""The members of a refusal that are told in words of their own, wherever it is told."""
_SAID_ELSEWHERE = TOLD | {"offering", "pointer", "input", "setting", "reason"}
# What to do about a refusal, in the words of the command line.
_BY_REASON = {
    "workspace": "The resources of a job: --resource KIND:ACCESS:LOCATOR.",
    "authority": "What a job may touch: --authority VALUE, once for each; none for nothing; all of it if left out.",
    "spend_limit": "The most a job may commit: --spend-limit 5.00USD. That it may commit nothing: --authority none.",
}
_BY_CODE = {
    "UNAUTHORIZED": "Ask to be let in, and wait for it: the same command with --knock.",
    "BUDGET_INSUFFICIENT": "What a job may cost: --cost-ceiling 0.50EUR.",
    "DEADLINE_UNMEETABLE": "When a job has to be done: --deadline 10m.",
    "RUN_CONFIG_REFUSED": "A setting of a job: --setting NAME=VALUE.",
}
_BY_POINTER = {"/input/reply_key": "To take the answer in the clear instead: the same command with --clear-answer."}


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
    """A refusal or a failure for people: what was wrong, what is allowed, who decided, and what to do."""
    word = "failed at it" if isinstance(outcome, Failed) else "refused"
    by = "" if outcome.decided_by is None else f", decided by {outcome.decided_by}"
    return (
        f"agent-node: The agent {word}: {outcome.message} [{outcome.code}{by}]",
        *(f"    {line}" for line in beside(outcome.error)),
    )


def beside(error: Mapping[str, JsonValue]) -> Iterator[str]:
    """What a refusal says beside its message, and what to do about it, in sentences."""
    for name, value in error.items():
        if name == "retry_after" and isinstance(value, int):
            yield f"Come back in {value} seconds."
        elif name not in _SAID_ELSEWHERE:
            yield f"{shown(name).replace('_', ' ').capitalize()}: {shown(_words(value), LONGEST) or 'nothing'}."
    hints = (("reason", _BY_REASON), ("code", _BY_CODE), ("pointer", _BY_POINTER))
    for name, known in hints:
        stated = error.get(name)
        if isinstance(stated, str) and stated in known:
            yield known[stated]


def _words(value: JsonValue) -> str:
    """A value in a sentence: a list without its brackets, a resource as it is typed, money as it is written."""
    if isinstance(value, list):
        return ("; " if any(isinstance(one, dict) for one in value) else ", ").join(map(_words, value))
    if isinstance(value, dict):
        amount, currency = value.get("amount_micro"), value.get("currency")
        if isinstance(amount, int) and isinstance(currency, str):
            return written(Money(amount, currency))
        return ", ".join(f"{name} {_words(member)}" for name, member in value.items())
    return value if isinstance(value, str) else json.dumps(value)


def write_value(console: Console, value: JsonValue) -> None:
    """A value on stdout: a text exactly as it is, anything else as JSON; on a terminal nothing that could drive it.

    Raises NodeError STDOUT_UNWRITABLE.
    """
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2) + "\n"
    if sys.stdout.isatty():
        console.result({}, text.splitlines())
    else:
        console.raw(text.encode(errors="surrogatepass"))
