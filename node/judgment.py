"""What a followed agent's version is worth, and what there is to report of it. Pure.

| kind              | is reported of                                                                | kept |
|-------------------|-------------------------------------------------------------------------------|------|
| `rollback`        | an older version than the last one, or one that was replaced already          | yes  |
| `two-spellings`   | another document under an `agent_version` that is kept                        | yes  |
| `gap`             | an event or a version that was announced and could not be had                 |      |
| `too-much`        | a version beyond what is kept of one agent                                    | no   |
| `bad-signature`   | an event or a document that the agent did not sign, or that cannot be read    | no   |
| `changed-subject` | a Descriptor of another subject                                               | no   |
| `conflict`        | another agent that answers in its place                                       |      |

The invariant: nothing is merged, and nothing decided for the reader. What the agent signed is kept, whatever it says,
and what it should not have done stands beside it.

Source: binding 8; chapters 6.5 and 6.6.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from descriptor.document import Descriptor
from descriptor.errors import DescriptorError, quoted
from descriptor.signatures import Signature, verify_statement
from descriptor.versions import surely_below
from entryway.verdict import shown
from store import Reported, Standing

REPORTS_OF_A_KIND = 10
"""Reports kept of one agent and one kind, so that many of one cannot push out the only one of another."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to report. `kind` is one of the table; `digest`: of the version it is about, `None` for none."""

    kind: str
    message: str
    digest: str | None = None


def read_version(data: bytes, digest: str, agent_id: str) -> Descriptor | Finding:
    """The Descriptor that `data` is, once the agent is seen to have signed it as its own; else what to report.

    `digest`: of `data`. Source: chapter 6.6.
    """
    try:
        descriptor = Descriptor.read(data)
    except DescriptorError as error:
        return Finding("bad-signature", f"What it serves is no Descriptor. {error.message}", digest)
    if descriptor.subject_id != agent_id:
        about = "nobody" if descriptor.subject_id is None else quoted(shown(descriptor.subject_id))
        return Finding("changed-subject", f"It serves a Descriptor of {about} as its own.", digest)
    report = verify_statement(descriptor.members)
    if report.state is Signature.UNSIGNED:
        return Finding("bad-signature", "It serves a Descriptor that is not signed.", digest)
    if report.state is not Signature.VERIFIED:
        return Finding("bad-signature", report.reason or "The signature does not hold.", digest)
    return descriptor


def rollback(digest: str, agent_version: str, standing: Standing) -> Finding | None:
    """What there is to report when the agent says that a version is current: that it went back, if it did.

    `standing`: before it is taken in. Source: binding 8; chapter 6.5.
    """
    if standing.current_digest in (None, digest) or standing.current_version is None:
        return None
    replaced = standing.seq is not None and standing.current_seq is not None and standing.seq < standing.current_seq
    if not replaced and not surely_below(agent_version, standing.current_version):
        return None
    before, now = (quoted(shown(one)) for one in (standing.current_version, agent_version))
    return Finding("rollback", f"It went back from agent_version {before} to {now}.", digest)


def two_spellings(digest: str, agent_version: str, other: str | None) -> Finding | None:
    """What there is to report of a version that is new here. `other`: one that is kept under the same agent_version."""
    if other is None:
        return None
    stated = quoted(shown(agent_version))
    return Finding("two-spellings", f"{digest} and {other} both say that they are agent_version {stated}.", digest)


def with_findings(reports: tuple[Reported, ...], found: Iterable[Finding], at: float) -> tuple[Reported, ...]:
    """The reports with what was found, the newest last. The same again is the same report, made once more.

    `at`: seconds since 1970.
    """
    for finding in found:
        same = [one for one in reports if (one.kind, one.digest) == (finding.kind, finding.digest)]
        times = sum(one.times for one in same) + 1
        rest = [one for one in reports if one not in same]
        kind = [one for one in rest if one.kind == finding.kind]
        if len(kind) >= REPORTS_OF_A_KIND:
            rest.remove(kind[0])
        reports = (*rest, Reported(at, finding.kind, finding.message, finding.digest, times))
    return reports
