"""What an agent that was heard on the network is worth, and how that changes. Nothing here does I/O or has a clock.

The invariant: what is heard is a claim, and only an answer makes more of it. A peer is `verified` when the agent itself
has just said so; whatever else is the case has a state and a sentence that says why.

The first line that applies:

| state       | when                                                                                            |
|-------------|-------------------------------------------------------------------------------------------------|
| mismatch    | the record states no id, or nothing that could be asked                                         |
| conflict    | the record claims a handle that is pinned to another agent                                      |
| heard       | nobody has been asked yet                                                                       |
| unreachable | nobody answered, or what answered refused                                                       |
| mismatch    | what answered is no entryway                                                                    |
| unsigned    | the reply is not signed                                                                         |
| mismatch    | the reply does not verify, is by another agent, is stale, or does not match its bytes           |
| unsigned    | there is no Descriptor, or it carries no signature                                              |
| mismatch    | the signature of the Descriptor does not verify, or its handle is not the record's              |
| conflict    | the Descriptor claims a handle that is pinned to another agent                                  |
| rollback    | its agent_version is below the one that verified last                                           |
| verified    | otherwise                                                                                       |
| gone        | (no record) it said goodbye, its record ran out, or it has not been heard since the node began  |

Every record that comes, and every answer, judges anew: there is no way from one state to another but through this
table. What one judgment hands to the next is `Kept`: what verified last. A handle is pinned to the first agent that
verified under it.

Source: binding 7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from descriptor.document import Descriptor
from descriptor.errors import DescriptorError, quoted
from descriptor.versions import ORDERS, compare
from entryway.verdict import UNSIGNED, Verdict, shown
from node.discovery.record import Heard


class State(StrEnum):
    """What is made of a peer."""

    HEARD = "heard"
    VERIFIED = "verified"
    UNREACHABLE = "unreachable"
    MISMATCH = "mismatch"
    UNSIGNED = "unsigned"
    CONFLICT = "conflict"
    ROLLBACK = "rollback"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Nothing came that could be judged. `code` is a `ClientError`'s; `message` is for people."""

    code: str
    message: str


Answered = Verdict | NoAnswer


@dataclass(frozen=True, slots=True)
class Kept:
    """What verified last of an agent."""

    agent_version: str | None
    digest: str


@dataclass(frozen=True, slots=True)
class PeerState:
    """A judgment. `handle`, `agent_version` and `digest` are of the Descriptor that came when the state is verified."""

    state: State
    reason: str = ""
    handle: str | None = None
    agent_version: str | None = None
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class _Case:
    heard: Heard
    answer: Answered | None
    kept: Kept | None
    pins: Mapping[str, str]
    document: Descriptor | None

    @property
    def verdict(self) -> Verdict:
        assert isinstance(self.answer, Verdict)  # the rows above it have seen to the others
        return self.answer


def judge(heard: Heard, answer: Answered | None, kept: Kept | None, pins: Mapping[str, str]) -> PeerState:
    """What a peer is worth.

    `answer`: what came of asking it exchange 2, None before. `kept`: what verified last of the agent whose id the
    record states. `pins`: the agent that each handle is pinned to (`pinned_form`). Raises nothing.
    """
    case = _Case(heard, answer, kept, pins, answer.document if isinstance(answer, Verdict) else None)
    for state, problem in _TABLE:
        reason = problem(case)
        if reason:
            return PeerState(state, reason)
    assert case.document is not None  # a reply without one is unsigned
    verdict = case.verdict
    return PeerState(State.VERIFIED, _remark(case), case.document.handle, case.document.agent_version, verdict.digest)


def pinned_form(handle: str) -> str:
    """A handle as pins are kept: two spellings that people would take for one are one."""
    return handle.casefold()


# One function a row: the reason why it applies, empty when it does not.


def _unread(case: _Case) -> str:
    return case.heard.problem


def _claimed_pin(case: _Case) -> str:
    return _pinned_elsewhere(case, case.heard.handle, "Its record")


def _unasked(case: _Case) -> str:
    return "It has not been asked yet." if case.answer is None else ""


def _silent(case: _Case) -> str:
    answer = case.answer
    if isinstance(answer, NoAnswer):
        return answer.message if answer.code in ("UNREACHABLE", "TIMEOUT", "REFUSED") else ""
    error = case.verdict.error
    return "" if error is None else f"It refused: {error.get('message')} [{error.get('code')}]"


def _foreign(case: _Case) -> str:
    answer = case.answer
    return f"What answers there is no entryway. {answer.message}" if isinstance(answer, NoAnswer) else ""


def _unsigned_reply(case: _Case) -> str:
    envelope = case.verdict.envelope or {}
    return "The reply is not signed." if not (envelope.get("from") and envelope.get("sig")) else ""


def _untrue(case: _Case) -> str:
    verdict, heard = case.verdict, case.heard
    sender = (verdict.envelope or {}).get("from")
    if verdict.checks.get("reply_signature") and sender != heard.id:
        return f"Its record claims to be {heard.id}; what answers there is {shown(str(sender))}."
    return " ".join(reason for name, reason in verdict.reasons.items() if name != "descriptor_signature")


def _undeclared(case: _Case) -> str:
    if case.document is None:
        return "It has published no Descriptor."
    unsigned = case.verdict.reasons.get("descriptor_signature") == UNSIGNED
    return "Its Descriptor is unsigned." if unsigned else ""


def _misdeclared(case: _Case) -> str:
    verdict, document = case.verdict, case.document
    if not verdict.verified or document is None:
        return " ".join(verdict.reasons.values()) or "The reply does not verify."
    if case.heard.handle is not None and case.heard.handle != document.handle:
        stated = "none" if document.handle is None else quoted(shown(document.handle))
        return f"Its record claims the handle {quoted(case.heard.handle)}, and its Descriptor states {stated}."
    return ""


def _declared_pin(case: _Case) -> str:
    return _pinned_elsewhere(case, case.document.handle if case.document else None, "Its Descriptor")


def _older(case: _Case) -> str:
    if case.kept is None or case.document is None:
        return ""
    now, before = case.document.agent_version or "", case.kept.agent_version or ""
    if not _is_below(now, before):
        return ""
    return f"It shows agent_version {shown(now)}, which is below {shown(before)}, the last that verified."


_TABLE: tuple[tuple[State, Callable[[_Case], str]], ...] = (
    (State.MISMATCH, _unread),
    (State.CONFLICT, _claimed_pin),
    (State.HEARD, _unasked),
    (State.UNREACHABLE, _silent),
    (State.MISMATCH, _foreign),
    (State.UNSIGNED, _unsigned_reply),
    (State.MISMATCH, _untrue),
    (State.UNSIGNED, _undeclared),
    (State.MISMATCH, _misdeclared),
    (State.CONFLICT, _declared_pin),
    (State.ROLLBACK, _older),
)


def _remark(case: _Case) -> str:
    """What is odd about a peer that verified all the same."""
    document, kept = case.document, case.kept
    respelled = kept is not None and document is not None and kept.agent_version == document.agent_version
    if respelled and kept is not None and kept.digest != case.verdict.digest:
        return "Another Descriptor was seen under the same agent_version before."
    if case.heard.digest is not None and case.heard.digest != case.verdict.digest:
        return "Its record still announces another digest."
    return ""


def _pinned_elsewhere(case: _Case, handle: str | None, who: str) -> str:
    holder = None if handle is None else case.pins.get(pinned_form(handle))
    if handle is None or holder is None or holder == case.heard.id:
        return ""
    return f"{who} claims the handle {quoted(shown(handle))}, which belongs to {holder}."


def _is_below(now: str, before: str) -> bool:
    """Whether every order that reads both sorts `now` first: which one its operator chose is not declared."""
    results = []
    for order in ORDERS:
        try:
            results.append(compare(now, before, order))
        except DescriptorError:
            continue
    return all(result < 0 for result in results)
