"""The AgentDoc of this agent, and the same as a page for people.

    request --> made for this snapshot already? --> laid out, sent
                          | no
                          v
                in a worker thread, once for all who wait: assemble, sign, render, lay out

The invariant: both are of the snapshot that is current when they are asked for, and making them keeps nobody else
waiting. What changed between two versions is made when it is asked for, one at a time, and the last ones are kept: a
pair of digests always gives the same page.

Source: binding 3; section 9 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import parse_qs

import trio

from descriptor.digests import digest_of, parse_digest
from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.keys import Identity
from entryway.errors import EntrywayError
from entryway.exchanges import none_published, unavailable
from entryway.http import Request, Response, response
from entryway.router import NO_STORE, PLAIN_TYPE, Answer
from entryway.snapshot import Fields, NonePublished, Published, Representation, Snapshot, validators
from store import Version

AGENTDOC, PAGE, ROOT = b"/.well-known/agentdoc.json", b"/.well-known/agentdoc", b"/"
MOST_VERSIONS = 50
MOST_CHANGES_KEPT = 16  # pages, of a megabyte at the very most

# What a browser may do with a page beside what its Content-Security-Policy says.
_HTML: Fields = (
    ("Content-Type", "text/html; charset=utf-8"),
    PLAIN_TYPE,
    ("Referrer-Policy", "no-referrer"),
)
_TITLES = {
    "NOT_PUBLISHED": "Nothing is published here yet",
    "PRIVATE": "This agent does not describe itself",
    "AGENT_UNAVAILABLE": "This agent cannot be shown just now",
}
_ADVICE = {
    "NOT_PUBLISHED": "If the agent is yours: write down what it does, then run agent-node publish FILE. "
    "agent-node init makes a first draft.",
    "PRIVATE": "Its operator has chosen that. If you know the operator, ask them.",
    "AGENT_UNAVAILABLE": "If the agent is yours: agent-node doctor says what is wrong.",
}


class Archive(Protocol):
    """What is read that is not in memory. Both raise EntrywayError AGENT_UNAVAILABLE for damaged rows."""

    async def artifact(self, digest: str) -> bytes | None:
        """The exact bytes under a digest; None when there are none."""

    async def history(self, limit: int, before: int | None) -> tuple[tuple[Version, ...], int | None]:
        """Versions of this agent, newest first, and the `before` of the next page."""


@dataclass(frozen=True, slots=True)
class _Made:
    """What was made of a snapshot."""

    snapshot: Published
    agentdoc: Representation
    page: Representation


class Pages:
    """The AgentDoc and the pages of one agent."""

    def __init__(self, identity: Identity, archive: Archive, clock: Callable[[], float]) -> None:
        self._identity = identity
        self._archive = archive
        self._clock = clock
        self._made: _Made | None = None
        self._making = trio.Lock()
        self._apart = trio.CapacityLimiter(1)
        self._changes: OrderedDict[tuple[str, str], Representation] = OrderedDict()

    def agentdoc(self, snapshot: Snapshot, request: Request) -> Answer:
        """The AgentDoc. Raises EntrywayError NOT_PUBLISHED, AGENT_UNAVAILABLE, NOT_FOUND."""
        current = _published(snapshot)
        made = self._made
        if made is not None and made.snapshot is current:
            return made.agentdoc.answer(request.headers.get(b"if-none-match"))
        return self._agentdoc_later(current, request)

    def page(self, snapshot: Snapshot, request: Request) -> Answer:
        """The page, or with `from` and `to` in the query what changed between two versions. Raises likewise."""
        current = _published(snapshot)
        if request.query:
            query = parse_qs(request.query.decode("latin-1"))
            if "from" in query or "to" in query:
                return self._changes_later(current, _digest(query, "from"), _digest(query, "to"), request)
        made = self._made
        if made is not None and made.snapshot is current:
            return made.page.answer(request.headers.get(b"if-none-match"))
        return self._page_later(current, request)

    def as_page(self, answer: Callable[[Request], Answer]) -> Callable[[Request], Answer]:
        """A route for people: what it refuses, it refuses on a page."""

        def answering(request: Request) -> Answer:
            try:
                given = answer(request)
            except EntrywayError as error:
                return self._refused(error)
            return given if isinstance(given, Response) else self._awaited(given)

        return answering

    async def _awaited(self, answer: Answer) -> Response:
        assert not isinstance(answer, tuple)  # neither at once nor without an end: no page is either
        try:
            given = await answer
        except EntrywayError as error:
            return await self._refused(error)
        assert isinstance(given, Response)  # no page is work
        return given

    async def _refused(self, error: EntrywayError) -> Response:
        return await trio.to_thread.run_sync(_notice, error, limiter=self._apart)

    async def _agentdoc_later(self, snapshot: Published, request: Request) -> Response:
        made = await self._make(snapshot)
        return made.agentdoc.answer(request.headers.get(b"if-none-match"))

    async def _page_later(self, snapshot: Published, request: Request) -> Response:
        made = await self._make(snapshot)
        return made.page.answer(request.headers.get(b"if-none-match"))

    async def _make(self, snapshot: Published) -> _Made:
        async with self._making:
            if self._made is None or self._made.snapshot is not snapshot:
                kept, older = await self._archive.history(MOST_VERSIONS, None)
                now = self._clock()
                self._made = await trio.to_thread.run_sync(
                    _make, self._identity, snapshot, kept, older is not None, now, limiter=self._apart
                )
            return self._made

    async def _changes_later(self, snapshot: Published, before: str, after: str, request: Request) -> Response:
        pair = (before, after)
        if pair not in self._changes:
            was, is_now = await self._version(snapshot, before), await self._version(snapshot, after)
            made = await trio.to_thread.run_sync(_make_changes, was, is_now, limiter=self._apart)
            self._changes[pair] = made
            while len(self._changes) > MOST_CHANGES_KEPT:
                self._changes.popitem(last=False)
        self._changes.move_to_end(pair)
        return self._changes[pair].answer(request.headers.get(b"if-none-match"))

    async def _version(self, snapshot: Published, digest: str) -> bytes:
        if digest == snapshot.descriptor.digest:
            return snapshot.descriptor.data
        data = await self._archive.artifact(digest)
        # A registry keeps other agents' documents under their digests, and they are no versions of this agent.
        if data is None or Descriptor.read(data).subject_id != self._identity.id:
            raise EntrywayError(
                "NOT_FOUND", "No version with this digest was ever served here. Choose one of those at /descriptors."
            )
        return data


def _published(snapshot: Snapshot) -> Published:
    if isinstance(snapshot, Published):
        return snapshot
    if isinstance(snapshot, NonePublished):
        raise none_published()
    raise unavailable()


def _digest(query: dict[str, list[str]], name: str) -> str:
    try:
        return parse_digest(query.get(name, [""])[-1])
    except DescriptorError:
        raise EntrywayError(
            "INPUT_INVALID", "Two versions are compared by their digests. Name both: /?from=sha256:…&to=sha256:…"
        ) from None


# What runs in a worker thread. What it needs is imported when somebody first looks: a node that nobody looks at starts
# quickly, and does not carry a template engine in memory.


def _make(identity: Identity, snapshot: Published, kept: Sequence[Version], older: bool, now: float) -> _Made:
    from entryway.assembled import DESCRIPTOR, own, versions_seen  # noqa: PLC0415  # as said above
    from entryway.page.content import content_of  # noqa: PLC0415  # as said above
    from entryway.page.render import agent_page  # noqa: PLC0415  # as said above

    history = versions_seen(kept, snapshot.seq, older=older)
    try:
        made = own(identity, now, snapshot.descriptor, snapshot.card.full.body, history)
    except DescriptorError as error:
        raise EntrywayError("NOT_FOUND", f"{error.message} Read the Descriptor itself at {DESCRIPTOR}.") from error
    page = agent_page(content_of(made.members))
    return _Made(
        snapshot,
        Representation.of(made.data, made.digest, validators(made.digest, "no-cache")),
        _representation(page),
    )


def _make_changes(before: bytes, after: bytes) -> Representation:
    from entryway.page.changes import MOST_BYTES, changes_of  # noqa: PLC0415  # as said above
    from entryway.page.render import changes_page  # noqa: PLC0415  # as said above

    changes = changes_of(Descriptor.read(before), Descriptor.read(after))
    if changes is None:
        raise EntrywayError(
            "NOT_FOUND",
            f"Documents over {MOST_BYTES // 1024} KiB are not compared on a page. Fetch both under /descriptors, and "
            "compare them with agent-node diff A B.",
        )
    return _representation(changes_page(changes.after.handle, changes))


def _representation(page: bytes) -> Representation:
    digest = digest_of(page)
    return Representation.of(page, digest, validators(digest, "no-cache"), (*_HTML, _policy()))


def _policy() -> tuple[str, str]:
    from entryway.page.render import content_security_policy  # noqa: PLC0415  # as said above

    return ("Content-Security-Policy", content_security_policy())


def _notice(error: EntrywayError) -> Response:
    from entryway.page.render import notice_page  # noqa: PLC0415  # as said above

    title = _TITLES.get(error.code, "That is not here")
    sentences = [str(error), *([_ADVICE[error.code]] if error.code in _ADVICE else [])]
    return response(error.status, (*_HTML, _policy(), NO_STORE, *error.headers), notice_page(title, sentences))
