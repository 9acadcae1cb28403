"""Path to answer: the fixed routes of the entryway.

No question waits for the store, but a knock that has to be kept: the current version is answered from the snapshot in
memory. Only the history and older versions are read from the archive, in a worker thread.

Source: binding 3.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs, unquote

import trio

from descriptor.digests import parse_digest
from descriptor.errors import DescriptorError
from descriptor.keys import Identity
from descriptor.strictjson import MAX_BYTES
from descriptor.timestamps import format_timestamp
from entryway.answering import LARGE_QUESTION, Codecs, signed_response
from entryway.codec import Codec, decode
from entryway.door import Door
from entryway.envelope import Envelope, read_envelope, signed_bytes
from entryway.errors import EntrywayError
from entryway.events import Feed, place, stream_response
from entryway.exchanges import (
    Question,
    Saying,
    answer,
    describes,
    needs_signature,
    none_published,
    private,
    unavailable,
)
from entryway.http import Request, Response, Streaming, json_body, response
from entryway.pages import AGENTDOC, PAGE, ROOT, Archive, Pages
from entryway.paging import page_of
from entryway.protections import Inbound
from entryway.registry import PATH, PREFIX, Registry
from entryway.requests import Means, Requests
from entryway.router import CORS, EXPOSED, PLAIN_TYPE, Answer, Router, get, post, put
from entryway.snapshot import (
    IMMUTABLE,
    Damaged,
    NonePublished,
    Published,
    Snapshot,
    full,
    matches,
    not_modified,
    validators,
)

DESCRIPTORS = b"/descriptors/"
ENTRYWAY = b"/entryway"
CARD = b"/.well-known/agent-card.json"
JSON_HEADERS = (("Content-Type", Codec.JSON.value), PLAIN_TYPE, ("Cache-Control", "no-cache"), CORS, EXPOSED)


class Entryway:
    """What one agent answers. `snapshot` is replaced as a whole at publish; everything else stays."""

    def __init__(
        self,
        identity: Identity,
        archive: Archive,
        clock: Callable[[], float],
        *,
        snapshot: Snapshot,
        door: Door,
        feed: Feed,
        body_limit: int,
        request_limit: int = MAX_BYTES,
        registry: Registry | None = None,
        means: Means | None = None,
    ) -> None:
        self.snapshot = snapshot
        self.door = door
        self.private = False
        """Whether nothing that describes the agent is answered. Source: binding 7."""
        self.feed = feed
        self._identity = identity
        self._archive = archive
        self._clock = clock
        self._inbound = Inbound(identity.id)
        work = Requests(
            identity,
            clock,
            current=lambda: self.snapshot,
            door=door,
            inbound=self._inbound,
            means=means or Means(),
        )
        self._apart = trio.CapacityLimiter(1)
        self._pages = Pages(identity, archive, clock)
        page = get("page", self._pages.as_page(self._open(self._page)), public=True)
        registered = {} if registry is None else {PATH: put("register", registry.put, MAX_BYTES)}
        shelved = {} if registry is None else {PREFIX: get("registry", registry.get, public=True)}
        self.router = Router(
            {
                b"/.well-known/agent-descriptor.json": get("well-known", self._open(self._well_known), public=True),
                CARD: get("card", self._open(self._card), public=True),
                AGENTDOC: get("agentdoc", self._open(self._agentdoc), public=True),
                PAGE: page,
                ROOT: page,
                b"/descriptors": get("history", self._open(self._history), public=True),
                b"/events": get("events", self._open(self._events), public=True),
                ENTRYWAY: post("entryway", self._entryway),
                b"/requests": post("requests", work.post, request_limit),
                **registered,
            },
            {DESCRIPTORS: get("by-digest", self._open(self._by_digest), public=True), **shelved},
            body_limit,
            "Begin with the agent's Descriptor, at /.well-known/agent-descriptor.json.",
        )

    def _open(self, read: Callable[[Request], Answer]) -> Callable[[Request], Answer]:
        """What a private agent does not show."""

        def reading(request: Request) -> Answer:
            if self.private:
                raise private()
            return read(request)

        return reading

    def _well_known(self, request: Request) -> Response:
        return self._published().well_known.answer(request.headers.get(b"if-none-match"))

    def _card(self, request: Request) -> Response:
        return self._published().card.answer(request.headers.get(b"if-none-match"))

    def _published(self) -> Published:
        snapshot = self.snapshot
        if isinstance(snapshot, Published):
            return snapshot
        if isinstance(snapshot, NonePublished):
            raise none_published()
        raise unavailable()

    def _agentdoc(self, request: Request) -> Answer:
        return self._pages.agentdoc(self.snapshot, request)

    def _page(self, request: Request) -> Answer:
        return self._pages.page(self.snapshot, request)

    def _by_digest(self, request: Request) -> Answer:
        try:
            digest = parse_digest(unquote(request.path.removeprefix(DESCRIPTORS).decode("latin-1")))
        except DescriptorError as error:
            raise EntrywayError("NOT_FOUND", f"{error.message} Choose one of those at /descriptors.") from None
        if_none_match = request.headers.get(b"if-none-match")
        snapshot = self.snapshot
        if isinstance(snapshot, Published) and snapshot.descriptor.digest == digest:
            return snapshot.by_digest.answer(if_none_match)
        if isinstance(snapshot, Damaged) and snapshot.digest == digest:
            raise unavailable()
        return self._archived(digest, if_none_match)

    async def _archived(self, digest: str, if_none_match: bytes | None) -> Response:
        data = await self._archive.artifact(digest)
        if data is None:
            raise EntrywayError(
                "NOT_FOUND", "No version with this digest was ever served here. Choose one of those at /descriptors."
            )
        fields = validators(digest, IMMUTABLE)
        return not_modified(fields) if matches(if_none_match, digest) else full(data, fields)

    async def _history(self, request: Request) -> Response:
        limit, before = page_of(request)
        versions, following = await self._archive.history(limit, before)
        snapshot = self.snapshot
        current = None if isinstance(snapshot, NonePublished) else snapshot.seq
        listed = [
            {
                "digest": version.digest,
                "agent_version": version.agent_version,
                "published_at": format_timestamp(version.published_at),
                "size": version.size,
                "current": version.seq == current,
            }
            for version in versions
        ]
        return response(200, JSON_HEADERS, json_body({"versions": listed, "next": following}))

    def _events(self, request: Request) -> Streaming:
        query = parse_qs(request.query.decode("latin-1"), keep_blank_values=True)
        after = place(query.get("after", [None])[-1], request.headers.get(b"last-event-id"))
        return Streaming(
            stream_response(),
            self.feed.check,
            lambda sock, scope, key: self.feed.serve(sock, scope, key, after),
        )

    def _entryway(self, request: Request) -> Answer:
        codecs = Codecs.of(request)
        envelope = read_envelope(decode(request.body, codecs.asked))
        if envelope.signature is not None and len(request.body) > LARGE_QUESTION:
            return self._entryway_apart(envelope, codecs.reply)
        return self._answered(envelope, codecs.reply)

    async def _entryway_apart(self, envelope: Envelope, codec: Codec) -> Response:
        over = await trio.to_thread.run_sync(signed_bytes, envelope, limiter=self._apart)
        answer = self._answered(envelope, codec, over)
        return answer if isinstance(answer, Response) else await answer

    def _answered(self, envelope: Envelope, codec: Codec, over: bytes | None = None) -> Response | Awaitable[Response]:
        now = self._clock()
        sender = self._inbound.judge(envelope, now, signed=needs_signature(envelope), over=over)
        if self.private and describes(envelope):
            raise private()
        question = Question(envelope, sender, now)
        saying = answer(self.snapshot, question, self.door)
        if isinstance(saying, Saying):
            return self._signed(saying, question, codec, now)
        return self._signed_later(saying, question, codec)

    async def _signed_later(self, saying: Awaitable[Saying], question: Question, codec: Codec) -> Response:
        return self._signed(await saying, question, codec, self._clock())

    def _signed(self, saying: Saying, question: Question, codec: Codec, now: float) -> Response:
        return signed_response(
            self._identity,
            saying.payload,
            codec,
            in_reply_to=question.envelope.id,
            to=question.sender,
            now=now,
            beside=saying.beside,
        )
