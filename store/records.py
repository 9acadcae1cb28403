"""What the store gives back, as values.

The invariant: these are frozen and hold no connection, so they may cross threads and outlive the store. Every
`digest` is `"sha256:"` + 64 lowercase hex, every time is Unix seconds, every `seq` counts from 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Version:
    """One row of a subject's history.

    `seq` orders the whole history and is the key to page by. `size`: bytes. `previous_digest` is `None` for a
    subject's first version. `current`: this very row is what the subject's pointer names.
    """

    seq: int
    subject: str
    digest: str
    agent_version: str
    size: int
    published_at: float
    previous_digest: str | None
    current: bool


@dataclass(frozen=True, slots=True)
class Event:
    """One row of the event log. `data` is one line of text, sent as it is. Source: binding 6."""

    seq: int
    type: str
    subject: str
    at: float
    data: str


@dataclass(frozen=True, slots=True)
class Knock:
    """Somebody who asked to be let in: who, when first and last, and how often. Nothing of what was said."""

    subject: str
    first_at: float
    last_at: float
    count: int


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of admitted work. `state`: of 5.2 of `rules-beyond-chapter-6`. `request_id`: of its request.

    `payload`: JSON, what its caller is told of its end; `None` before it has ended, and where it was not read.
    """

    task_id: str
    caller: str
    request_id: str
    offering: str
    state: str
    created_at: float
    began_at: float | None = None
    ended_at: float | None = None
    payload: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Reported:
    """Something a follower has to tell. `kind`: such as `rollback`; `digest`: what it is about, `None` for none.

    `at`: when it was found last; `times`: how often.
    """

    at: float
    kind: str
    message: str
    digest: str | None = None
    times: int = 1


@dataclass(frozen=True, slots=True)
class Follow:
    """A standing subscription to one agent.

    `url`: where it was last found. `seq`: the number of its last event that was handled, `None` before the first.
    `synced`: everything the peer served up to `seq` is kept; `False` where something could not be had. `reports`: the
    newest last, a bounded number.
    """

    id: str
    url: str
    since: float
    seq: int | None
    synced: bool
    reports: tuple[Reported, ...] = ()


@dataclass(frozen=True, slots=True)
class Copy:
    """A version of somebody else, to be kept. `data`: the exact bytes, which `digest` names."""

    data: bytes
    digest: str
    agent_version: str
    published_at: float


@dataclass(frozen=True, slots=True)
class Standing:
    """What the history of a subject says about one version.

    `seq` and `agent_version` are the version's own, `None` when it is not kept; `current_…` those of the version that
    is current, `None` when none is. `versions` and `size`: how many are kept of the subject, and their bytes.
    """

    seq: int | None
    agent_version: str | None
    current_seq: int | None
    current_digest: str | None
    current_version: str | None
    current_published_at: float | None
    versions: int
    size: int

    @property
    def kept(self) -> bool:
        """Whether the version is kept."""
        return self.seq is not None


@dataclass(frozen=True, slots=True)
class Peer:
    """An agent that was heard on the network. `state` and `reason`: what is made of it (binding 7).

    `agent_version` and `digest` are of the Descriptor that verified last, and `None` before one did; so is `handle`
    then, and until then it is what the agent claims. `addresses`: where it answers, as `host:port`.
    """

    id: str
    handle: str | None
    state: str
    reason: str
    agent_version: str | None
    digest: str | None
    addresses: tuple[str, ...]
    first_seen: float
    last_seen: float


@dataclass(frozen=True, slots=True)
class Publication:
    """A publish that is on the disk: its row in the history (`seq`) and its event."""

    seq: int
    digest: str
    previous_digest: str | None
    event: Event

    @property
    def event_seq(self) -> int:
        """The event's number in the log."""
        return self.event.seq


@dataclass(frozen=True, slots=True)
class Counts:
    """How much a store holds."""

    artifacts: int
    versions: int
    subjects: int
    events: int


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that `verify` found.

    `code`: `INTEGRITY` (the file is malformed), `DAMAGED` (an artifact does not match its digest), `DANGLING` (a row
    names another that is not there) or `EVENT_GAP`. `digest`: the artifact it is about, else `None`.
    """

    code: str
    message: str
    digest: str | None = None
