"""The exchanges: what a stranger may ask, as a table of functions.

| exchange | question                          | answered from                                   | signed |
|----------|-----------------------------------|-------------------------------------------------|--------|
| 1        | What are you?                     | the snapshot, laid out at publish               |        |
| 2        | Show me your Descriptor           | the snapshot, laid out at publish               |        |
| 3        | Will you let me talk to you?      | the roster; one knock is kept                   | yes    |
| 4        | Are you accepting new callers?    | the snapshot, laid out at publish               |        |
| 5        | Where do I stand?                 | the roster and the knocks, in memory            | yes    |
| "help"   | How do I use you?                 | the snapshot, laid out at publish               |        |

Strangers read and never run. An exchange sees the snapshot, the question and the door, and returns what to say; there
is nothing in its reach that could start work or create a job. All that is ever written is the row of a knock.

Source: binding 4; 4.2 – 4.4 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from entryway.admission import ADMITTED, NEVER_ASKED, REFUSED, WAITING, Position
from entryway.door import Door
from entryway.envelope import Envelope
from entryway.errors import EntrywayError
from entryway.reply import Beside, ReplyPayload
from entryway.snapshot import NONE_PUBLISHED, Damaged, NonePublished, Published, Snapshot


class Question(NamedTuple):
    """One exchange asked: the envelope, its sender once verified (None for an anonymous caller), and the time."""

    envelope: Envelope
    sender: str | None
    now: float


class Saying(NamedTuple):
    """What to say: the payload to sign, and the Descriptor that travels beside the envelope."""

    payload: ReplyPayload
    beside: Beside | None = None


NOT_STATED = ReplyPayload.of({"status": "not-stated"})


def _saying(position: Position) -> Saying:
    members: dict[str, str] = {"status": position.status.value}
    if position.reason is not None:
        members["reason"] = position.reason.value
    return Saying(ReplyPayload.of(members))


_SAYINGS = {position: _saying(position) for position in (NEVER_ASKED, WAITING, ADMITTED, *REFUSED.values())}


def describe(snapshot: Snapshot, _question: Question, _door: Door) -> Saying:
    """Exchange 1, "what are you?": facts copied from the Descriptor, and what it does not state."""
    current = _current(snapshot)
    return Saying(NONE_PUBLISHED if current is None else current.described)


def show_descriptor(snapshot: Snapshot, _question: Question, _door: Door) -> Saying:
    """Exchange 2, "show me your Descriptor": the bytes and their digest, or that there are none.

    Raises EntrywayError AGENT_UNAVAILABLE when the stored bytes are damaged: "none published" would be false.
    Source: chapter 6.7.
    """
    if isinstance(snapshot, NonePublished):
        return Saying(NONE_PUBLISHED)
    if isinstance(snapshot, Damaged):
        raise unavailable()
    return Saying(snapshot.shown, snapshot.beside)


def knock(snapshot: Snapshot, question: Question, door: Door) -> Saying | Awaitable[Saying]:
    """Exchange 3, "will you let me talk to you?". It says who asks and nothing else: work found in it is not done.

    Raises EntrywayError INPUT_INVALID, RATE_LIMITED, AGENT_UNAVAILABLE.
    """
    if len(question.envelope.payload) != 1:
        raise EntrywayError(
            "INPUT_INVALID", 'A knock carries no work. Send {"exchange": 3} as its payload, and nothing else.'
        )
    caller, admission = _caller(question), _admission(snapshot)
    door.count(caller, admission, question.now)
    position = door.knock(caller, admission, question.now)
    return _SAYINGS[position] if isinstance(position, Position) else _later(position)


def accepting(snapshot: Snapshot, _question: Question, _door: Door) -> Saying:
    """Exchange 4, "are you accepting new callers?": what the Descriptor declares, the same for whoever asks."""
    current = _current(snapshot)
    return Saying(NOT_STATED if current is None else current.accepting)


def where_i_stand(snapshot: Snapshot, question: Question, door: Door) -> Saying:
    """Exchange 5, "where do I stand?": for the caller that asks, and about nobody else.

    Raises EntrywayError RATE_LIMITED, AGENT_UNAVAILABLE.
    """
    caller, admission = _caller(question), _admission(snapshot)
    door.count(caller, admission, question.now)
    return _SAYINGS[door.where(caller, admission, question.now)]


def explain_use(snapshot: Snapshot, _question: Question, _door: Door) -> Saying:
    """Help, "how do I use you?": declared facts, with the digest that governs them."""
    current = _current(snapshot)
    return Saying(NONE_PUBLISHED if current is None else current.usage)


def unavailable() -> EntrywayError:
    """The answer while the current version cannot be read."""
    return EntrywayError(
        "AGENT_UNAVAILABLE",
        "The current Descriptor cannot be served just now: the operator has to repair the store. Ask again later.",
    )


def none_published() -> EntrywayError:
    """The answer of an agent without a Descriptor, where its Descriptor is asked for by its address."""
    return EntrywayError("NOT_PUBLISHED", "This agent has not published a Descriptor. Ask again later.")


Exchange = Callable[[Snapshot, Question, Door], Saying | Awaitable[Saying]]
EXCHANGES: dict[int | str, Exchange] = {
    1: describe,
    2: show_descriptor,
    3: knock,
    4: accepting,
    5: where_i_stand,
    "help": explain_use,
}
# Exchanges that describe the agent: a private one does not answer them (binding 7).
DESCRIBING = frozenset({1, 2, "help"})
# Exchanges that are about who asks: without a signature they are refused before they are looked at.
NEED_SIGNATURE = frozenset({3, 5})


def needs_signature(envelope: Envelope) -> bool:
    """Whether the exchange that is asked has to say, and prove, who asks."""
    number = _exchange(envelope)
    return number in NEED_SIGNATURE


def describes(envelope: Envelope) -> bool:
    """Whether the exchange that is asked would describe the agent."""
    return _exchange(envelope) in DESCRIBING


def private() -> EntrywayError:
    """The answer of an agent that does not describe itself."""
    return EntrywayError(
        "PRIVATE", "This agent is private: it does not describe itself. Ask its owner for its Descriptor."
    )


def answer(snapshot: Snapshot, question: Question, door: Door) -> Saying | Awaitable[Saying]:
    """Answers one exchange, at once unless a knock has to be kept first.

    Raises EntrywayError INPUT_INVALID when none is named, EXCHANGE_UNKNOWN, or what the exchange raises.
    """
    number = _exchange(question.envelope)
    if number is None:
        raise EntrywayError("INPUT_INVALID", 'The payload names no exchange. Name one, as in {"exchange": 2}.')
    exchange = EXCHANGES.get(number)
    if exchange is None:
        answered = ", ".join(str(known) for known in EXCHANGES)
        raise EntrywayError("EXCHANGE_UNKNOWN", f"This node does not answer that exchange. Name one of {answered}.")
    return exchange(snapshot, question, door)


def _exchange(envelope: Envelope) -> int | str | None:
    number = envelope.payload.get("exchange")
    return number if isinstance(number, int | str) and not isinstance(number, bool) else None


def _current(snapshot: Snapshot) -> Published | None:
    """What is published; None when nothing is. Raises EntrywayError AGENT_UNAVAILABLE when it is damaged."""
    if isinstance(snapshot, Damaged):
        raise unavailable()
    return snapshot if isinstance(snapshot, Published) else None


def _admission(snapshot: Snapshot) -> str | None:
    current = _current(snapshot)
    return None if current is None else current.admission


def _caller(question: Question) -> str:
    assert question.sender is not None  # `needs_signature` had it verified
    return question.sender


async def _later(position: Awaitable[Position]) -> Saying:
    return _SAYINGS[await position]
