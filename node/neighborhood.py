"""The peers of one node: hears records, asks their agents, keeps what came of it.

    hear     a record came, changed or went      -> judged as a claim; its agent is asked if it may be asked
    ask      exchange 2 at its addresses         -> judged (`node.peers`), kept (`node.peerbook`)
    again    one that answers now and then, one that does not less and less often, anyone at once whose record changed

The invariant: nothing that is announced makes this node do more than a bounded amount of work, or reach beyond its own
links. A bounded number of records is attended to, a bounded number of questions is open, one address is asked at a
bounded pace, and only addresses inside the networks of the link on which a record came are dialed.

Source: binding 7.
"""

from __future__ import annotations

import math
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import structlog
import trio

from entryway.verdict import Verdict, shown
from node.discovery.record import LONGEST_READ, Heard, Key
from node.interfaces import Link
from node.pace import Pace
from node.peerbook import PeerBook, Write
from node.peers import Answered, NoAnswer, PeerState, State, judge, pinned_form
from node.sightings import Sighting, entries, peer_document
from store import Peer

AT_ONCE = 16  # questions that are open at a time
ADDRESSES_TRIED = 4  # of one record
QUESTION_WAIT = 5.0  # seconds for one address
RECHECKED = 30  # questions in the time of a recheck: with more peers than that each of them waits longer
FIRST_RETRY, LAST_RETRY = 2.0, 300.0  # seconds until one that did not answer is asked again: doubled each time
EARLIEST = 0.01  # seconds: nothing is looked at more often

Ask = Callable[[str, str], Awaitable[Answered]]
"""Asks exchange 2 at a base URL, of the agent with an id."""

Hint = Callable[[str, str | None, Sequence[str]], None]
"""Told that the agent with an id has answered, which digest it shows, and at which base URLs."""

log = structlog.get_logger("peers")


@dataclass(frozen=True, slots=True)
class PeerLimits:
    """`peers`: how many are kept, and how many records attended to. `recheck`: seconds between two questions to one.

    More than `RECHECKED` peers wait longer, so that what they cost does not grow with their number.
    """

    peers: int
    recheck: float


@dataclass(frozen=True, slots=True)
class _Asked:
    """What came of asking. `wait`: seconds, when it was too early to ask. `address`: where the answer came from."""

    answer: Answered
    address: str | None = None
    wait: float = 0.0


class Neighborhood:
    """All peers of one node. `links`: the links it is on just now. `hint`: told where an agent itself has answered."""

    def __init__(
        self,
        own_id: str,
        kept: Iterable[Peer],
        limits: PeerLimits,
        *,
        write: Write,
        links: Callable[[], Sequence[Link]],
        clock: Callable[[], float],
        ask: Ask | None = None,
        hint: Hint | None = None,
    ) -> None:
        self.limits = limits
        self.revision = 1
        """Counts what would be shown otherwise than before."""
        self._own_id = own_id
        self._links = links
        self._clock = clock
        self._ask = ask or _ask_over_http(clock)
        self._hint = hint
        self._book = PeerBook(kept, write)
        self._sightings: dict[Key, Sighting] = {}
        self._keys: dict[str, set[Key]] = {}  # by id; what states none is under the empty text
        self._asking = 0
        self._pace = Pace()
        self._woken = trio.Event()

    async def run(self) -> None:
        """Asks and keeps until it is canceled; what is known by then is on the disk."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._book.run)
            while True:
                for key, sighting in self._due(trio.current_time()):
                    sighting.asking = True
                    self._asking += 1
                    nursery.start_soon(self._question, key, sighting)
                with trio.move_on_at(self._next_due()):
                    await self._woken.wait()
                self._woken = trio.Event()

    def hear(self, batch: Mapping[Key, Heard | None]) -> None:
        """Takes what was heard; None: the record is gone. The agent's own record says nothing new to it."""
        for key, heard in batch.items():
            if heard is None or heard.id == self._own_id:
                self._lose(key)
            else:
                self._meet(key, heard)
        self._woken.set()

    def document(self) -> list[dict[str, object]]:
        """Every peer in the `--json` shape of `peers`: who is there first, then who was."""
        known = sorted((self._book.rows.keys() | self._keys.keys()) - {""})
        listed = [peer for agent_id in known for peer in self._entries(agent_id)]
        listed += [one for key in sorted(self._keys.get("", ())) for one in entries("", None, [self._sightings[key]])]
        return [peer_document(peer) for peer in sorted(listed, key=lambda peer: peer.state == State.GONE)]

    def count(self, state: State) -> int:
        """How many records are in a state now."""
        return sum(sighting.state.state is state for sighting in self._sightings.values())

    def forget(self, agent_id: str) -> bool:
        """Forgets a peer and the handle that is pinned to it; if it is heard, it is met anew. False: unknown."""
        if not self._book.drop(agent_id) and agent_id not in self._keys:
            return False
        for sighting in list(self._sightings.values()):
            if sighting.heard.id == agent_id or sighting.state.state is State.CONFLICT:
                sighting.due = trio.current_time()
                self._judged(sighting, self._claim(sighting.heard))
        self.revision += 1
        self._woken.set()
        return True

    # Hearing.

    def _meet(self, key: Key, heard: Heard) -> None:
        now = round(self._clock(), 3)
        sighting = self._sightings.get(key)
        if sighting is not None and sighting.heard.id != heard.id:
            self._lose(key)  # another agent stands here now
            sighting = None
        if sighting is None:
            if not self._make_room():
                return
            sighting = self._sightings[key] = Sighting(heard, PeerState(State.HEARD), now, now, trio.current_time())
            self._keys.setdefault(heard.id or "", set()).add(key)
            self._judged(sighting, self._claim(heard))
            return
        before, sighting.heard, sighting.seen = sighting.heard, heard, now
        sighting.addresses = self._dialable(heard, sighting.addresses)
        claim = self._claim(heard)
        self._judged(sighting, sighting.state if claim.state is State.HEARD else claim)
        if heard != before or sighting.state.state is State.UNREACHABLE:
            sighting.due, sighting.failures = trio.current_time(), 0
            self.revision += heard != before

    def _claim(self, heard: Heard) -> PeerState:
        """What is made of a record alone."""
        return judge(heard, None, self._book.verified(heard.id), self._book.pins)

    def _lose(self, key: Key) -> None:
        sighting = self._sightings.pop(key, None)
        if sighting is None:
            return
        agent_id = sighting.heard.id or ""
        self._keys[agent_id].discard(key)
        self.revision += 1
        if self._keys[agent_id]:
            self._keep(agent_id)
            return
        del self._keys[agent_id]
        if self._book.verified(agent_id) is None:
            self._book.drop(agent_id)
        else:
            self._keep(agent_id)
            log.info("peer_gone", id=agent_id, handle=sighting.heard.handle)

    def _make_room(self) -> bool:
        """Whether one more record is attended to: for it the one that has been unverified longest may have to go."""
        if len(self._sightings) < self.limits.peers:
            return True
        unverified = [key for key, one in self._sightings.items() if one.state.state is not State.VERIFIED]
        if unverified:
            self._lose(min(unverified, key=lambda key: self._sightings[key].first))
        return bool(unverified)

    # Asking.

    def _due(self, now: float) -> list[tuple[Key, Sighting]]:
        """Whom to ask now: those that verified before first, then those that failed least, the newest of them first.

        Whoever comes now is therefore met, however many came before who do not answer.
        """
        due = [(key, one) for key, one in self._sightings.items() if one.due <= now and not one.asking]
        due.sort(key=lambda item: (self._book.verified(item[1].heard.id) is None, item[1].failures, -item[1].due))
        return due[: AT_ONCE - self._asking]

    def _next_due(self) -> float:
        if self._asking >= AT_ONCE:
            return math.inf
        due = min((sighting.due for sighting in self._sightings.values() if not sighting.asking), default=math.inf)
        return max(due, trio.current_time() + EARLIEST)

    async def _question(self, key: Key, sighting: Sighting) -> None:
        heard = sighting.heard
        try:
            sighting.addresses = self._dialable(heard, sighting.addresses)
            asked = await self._answer(heard, sighting.addresses)
        except Exception:  # what a stranger answers must not be able to end the node
            log.exception("question_failed", id=heard.id)
            asked = _Asked(NoAnswer("UNREACHABLE", "Its answer could not be taken, and the log says why."))
        finally:
            sighting.asking = False
            self._asking -= 1
            self._woken.set()
        if self._sightings.get(key) is not sighting:
            return  # it went meanwhile
        if asked.wait or sighting.heard != heard:
            sighting.due = trio.current_time() + asked.wait
            return
        if asked.address is not None:
            sighting.addresses = self._dialable(heard, (asked.address,))
            sighting.seen = round(self._clock(), 3)
        self._conclude(sighting, asked.answer)

    async def _answer(self, heard: Heard, addresses: Sequence[str]) -> _Asked:
        """The answer that says most, of the addresses that are tried."""
        if heard.id is None or heard.problem:
            return _Asked(NoAnswer("UNREACHABLE", heard.problem))
        silent = _Asked(NoAnswer("UNREACHABLE", _nowhere(heard)))
        told = None
        for address in addresses[:ADDRESSES_TRIED]:
            wait = self._pace.wait(_host(address), trio.current_time(), queued=self._book.verified(heard.id) is None)
            if wait:
                return _Asked(silent.answer, wait=wait)
            answer = await self._ask(f"http://{address}{heard.prefix}", heard.id)
            if isinstance(answer, Verdict) and answer.verified:
                return _Asked(answer, address)
            if isinstance(answer, NoAnswer) and answer.code in ("UNREACHABLE", "TIMEOUT"):
                silent = _Asked(answer)
            elif told is None:
                told = _Asked(answer, address)
        return told or silent

    def _conclude(self, sighting: Sighting, answer: Answered) -> None:
        agent_id = sighting.heard.id
        state = judge(sighting.heard, answer, self._book.verified(agent_id), self._book.pins)
        if state.state is State.UNREACHABLE:
            sighting.due = trio.current_time() + min(LAST_RETRY, FIRST_RETRY * 2.0 ** min(sighting.failures, 16))
            sighting.failures += 1
        else:
            sighting.due, sighting.failures = trio.current_time() + self._recheck(state.state), 0
        if state.state is State.VERIFIED and agent_id is not None and isinstance(answer, Verdict):
            self._pin(agent_id, sighting, state, answer.descriptor)
        if isinstance(answer, Verdict) and answer.verified and agent_id is not None and self._hint is not None:
            places = [f"http://{address}{sighting.heard.prefix}" for address in sighting.addresses[:1]]
            self._hint(agent_id, answer.digest, places)
        self._judged(sighting, state)

    def _recheck(self, state: State) -> float:
        """Seconds until one in this state is asked again; many of them are spread over a longer time."""
        crowding = self.count(state) / RECHECKED
        if crowding > 1.0:
            crowding *= random.uniform(1.0, 1.5)  # noqa: S311  # spreads questions, guards nothing
        return self.limits.recheck * max(1.0, crowding)

    def _pin(self, agent_id: str, sighting: Sighting, state: PeerState, descriptor: bytes | None) -> None:
        row = self._book.rows[agent_id]  # there since its record was met
        handle, agent_version = _bounded(state.handle), _bounded(state.agent_version)
        row = replace(row, handle=handle, agent_version=agent_version, digest=state.digest, last_seen=sighting.seen)
        self._book.pin(replace(row, state=state.state, reason=state.reason, addresses=sighting.addresses), descriptor)
        for other in list(self._sightings.values()):
            if other.heard.id != agent_id and handle is not None and other.heard.handle is not None:
                claim = self._claim(other.heard) if pinned_form(other.heard.handle) == pinned_form(handle) else None
                if claim is not None and claim.state is State.CONFLICT:
                    self._judged(other, claim)

    # Keeping.

    def _judged(self, sighting: Sighting, state: PeerState) -> None:
        """A judgment is in force from here on: shown, kept, and logged when it is new."""
        before, sighting.state = sighting.state, state
        self._keep(sighting.heard.id or "")
        if before != state:
            self.revision += 1
            _log_state(sighting)

    def _keep(self, agent_id: str) -> None:
        if agent_id:
            self._book.put(self._entries(agent_id)[0])
            self._book.shrink(self.limits.peers, self._keys)

    def _entries(self, agent_id: str) -> list[Peer]:
        sightings = [self._sightings[key] for key in sorted(self._keys.get(agent_id, ()))]
        return entries(agent_id, self._book.rows.get(agent_id), sightings)

    def _dialable(self, heard: Heard, first: Sequence[str]) -> tuple[str, ...]:
        """The addresses of a record inside the networks of its link, as `host:port`; the first of `first` in front."""
        links = [link for link in self._links() if link.name == heard.link]
        hosts = [host for address in heard.addresses for link in links if (host := link.dialable(address))]
        named = [f"[{host}]:{heard.port}" if ":" in host else f"{host}:{heard.port}" for host in hosts if heard.port]
        return tuple(dict.fromkeys([*(one for one in first[:1] if one in named), *named]))


def _nowhere(heard: Heard) -> str:
    if not heard.port or not heard.addresses:
        return "Its record states no address."
    return f"Its record states no address on a network of {heard.link}, and no other one is dialed."


def _host(address: str) -> str:
    return address.rpartition(":")[0].strip("[]")


def _bounded(text: str | None) -> str | None:
    return text if text is None or (len(text) <= LONGEST_READ and text.isprintable()) else shown(text)


def _log_state(sighting: Sighting) -> None:
    # What nobody has verified is not worth a line each time: whoever floods the network would fill the log.
    told = {State.VERIFIED: log.info, State.CONFLICT: log.warning, State.ROLLBACK: log.warning}
    heard, state = sighting.heard, sighting.state
    tell = told.get(state.state, log.debug)
    tell("peer", id=heard.id, handle=heard.handle, state=str(state.state), reason=state.reason, link=heard.link)


def _ask_over_http(clock: Callable[[], float]) -> Ask:
    async def asking(url: str, agent_id: str) -> Answered:
        from entryway.client import ClientError, ClientLimits, ask  # noqa: PLC0415  # who asks nobody needs no client

        try:
            return await ask(url, expected_id=agent_id, limits=ClientLimits(wait=QUESTION_WAIT), clock=clock)
        except ClientError as error:
            return NoAnswer(error.code, error.message)

    return asking
