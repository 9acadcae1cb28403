"""Whether a document may follow the one that is current, and with which bytes.

Pure: the caller says what is current and what time it is, and stores what comes back. The invariant: a plan that
changes something holds a Descriptor without errors, of the same subject, which nobody who orders the two by
`agent_version` places before the current one.

=====================================  ====================================================================
the bytes that are current             nothing changes
a later `agent_version`                published
the same `agent_version`               refused, unless the operator respells it
an earlier `agent_version`             refused: a rollback gives old content a new `agent_version`
=====================================  ====================================================================

Two different strings which the version order cannot tell apart (1.0 and 1.00, by natural order) are the same
`agent_version` here: whoever orders the two Descriptors by it sees two spellings of one version, so that is what
the operator is asked about.

Source: chapters 6.2 and 6.5.
"""

from __future__ import annotations

from dataclasses import dataclass

from descriptor.binding import PublishError, Terms, bind, bind_with, key_claim, rebadge
from descriptor.checker import check
from descriptor.document import Descriptor
from descriptor.errors import DescriptorError, quoted
from descriptor.versions import compare

__all__ = ["Plan", "PublishError", "Terms", "bind", "plan", "rebadge"]


@dataclass(frozen=True)
class Plan:
    """What publishing would store: `descriptor`, and whether it `changes` what is current."""

    descriptor: Descriptor
    changes: bool


def plan(data: bytes, current: Descriptor | None, terms: Terms, now: float, respell: bool = False) -> Plan:
    """What becomes of `data` when it is published over `current`, at `now` (Unix seconds).

    Publishing the same draft twice changes nothing the second time. `respell` allows other content under the
    current `agent_version`.

    Raises `PublishError`: those of `bind`; `FINDINGS` when the finished document breaks a MUST; `ANOTHER_SUBJECT` or
    `ANOTHER_HANDLE` when `current` has it; `SAME_AGENT_VERSION`, `OLDER_AGENT_VERSION`; `VERSION_UNREADABLE` when the
    current `agent_version` does not fit the order. And `DescriptorError`: what `Descriptor.read` raises, also for the
    finished document, `VERSION_UNREADABLE` and `VERSION_ORDER_UNKNOWN`.

    Source: chapters 6.2 and 6.5.
    """
    bound = bind_with(data, terms, key_claim(terms, now))
    if current is not None:
        # The time in a key claim is not content: with the claim that is served already, is it the same document?
        with_served_claim = bind_with(data, terms, current.members.get("trust"))
        if current.data in (bound, with_served_claim):
            return Plan(current, changes=False)
    descriptor = Descriptor.read(bound)
    report = check(bound)
    if report.errors:
        raise PublishError.of(report)
    _refuse_changed_subject(descriptor, current)
    _refuse_out_of_order(descriptor, current, terms.version_order, respell)
    return Plan(descriptor, changes=True)


def _refuse_changed_subject(new: Descriptor, current: Descriptor | None) -> None:
    """A subject does not change once it is bound (chapter 6.2). A handle that was not stated may be."""
    if current is None:
        return
    if new.subject_id != current.subject_id:
        raise PublishError(
            "ANOTHER_SUBJECT",
            f"What is published here is of the subject {quoted(current.subject_id or '')}, and this node is now "
            f"{quoted(new.subject_id or '')}. A new agent gets a home of its own: give one with --home.",
            "/subject/id",
        )
    if current.handle is not None and new.handle != current.handle:
        stated = "none" if new.handle is None else quoted(new.handle)
        raise PublishError(
            "ANOTHER_HANDLE",
            f"This subject is published under the handle {quoted(current.handle)}, and a subject does not change; this "
            f"document states {stated}. Set that handle again, or make a new agent with `agent-node init` in a home of "
            "its own.",
            "/subject/handle",
        )


def _refuse_out_of_order(new: Descriptor, current: Descriptor | None, order: str, respell: bool) -> None:
    version = new.agent_version or ""
    if current is None:
        compare(version, version, order)  # refuses what nothing could later be ordered after
        return
    last = current.agent_version or ""
    way = 0 if version == last else _compare_with_current(version, last, order)
    if way < 0:
        raise PublishError(
            "OLDER_AGENT_VERSION",
            f"agent_version {quoted(version)} comes before the current {quoted(last)} by the order {order}. Give the "
            "document a later one, or set the order the versions follow. To go back to what was published before, give "
            "that a later one: `agent-node rollback DIGEST --as VERSION`.",
            "/agent_version",
        )
    if way == 0 and not respell:
        same = "is" if version == last else f"is, by the order {order}, the same as"
        raise PublishError(
            "SAME_AGENT_VERSION",
            f"agent_version {quoted(version)} {same} the current {quoted(last)}, which was published with other "
            "content. A changed agent gets a later agent_version; if only the wording changed, publish with --respell, "
            "and both spellings stay fetchable.",
            "/agent_version",
        )


def _compare_with_current(version: str, last: str, order: str) -> int:
    compare(version, version, order)
    try:
        return compare(version, last, order)
    except DescriptorError as error:
        raise PublishError(
            "VERSION_UNREADABLE",
            f"The current agent_version {quoted(last)} does not fit the version order {order}, so nothing can be "
            "placed after it. Set an order that reads both; natural reads every string.",
            "/agent_version",
        ) from error
