"""The exchanges: what a stranger may ask, as a table of pure functions.

Strangers read and never run. An exchange sees the snapshot and the question, and returns what to say; there is nothing
in its reach that could start work, create a job or write to the store.

Source: binding 4; 4.2 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from entryway.envelope import Envelope
from entryway.errors import EntrywayError
from entryway.reply import Beside, ReplyPayload
from entryway.snapshot import NONE_PUBLISHED, Damaged, NonePublished, Snapshot


class Question(NamedTuple):
    """One exchange asked: the envelope, and its sender once verified; None for an anonymous caller."""

    envelope: Envelope
    sender: str | None


class Saying(NamedTuple):
    """What to say: the payload to sign, and the Descriptor that travels beside the envelope."""

    payload: ReplyPayload
    beside: Beside | None = None


def show_descriptor(snapshot: Snapshot, _question: Question) -> Saying:
    """Exchange 2, "show me your Descriptor": the bytes and their digest, or that there are none.

    Raises EntrywayError AGENT_UNAVAILABLE when the stored bytes are damaged: "none published" would be false.
    Source: chapter 6.7.
    """
    if isinstance(snapshot, NonePublished):
        return Saying(NONE_PUBLISHED)
    if isinstance(snapshot, Damaged):
        raise unavailable()
    return Saying(snapshot.shown, snapshot.beside)


def unavailable() -> EntrywayError:
    """The answer while the current version cannot be read."""
    return EntrywayError(
        "AGENT_UNAVAILABLE", "The current Descriptor cannot be served just now. Its operator has to repair the store."
    )


Exchange = Callable[[Snapshot, Question], Saying]
EXCHANGES: dict[int | str, Exchange] = {2: show_descriptor}
# Exchanges that describe the agent: a private one does not answer them (binding 7).
DESCRIBING = frozenset({1, 2})
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
    return EntrywayError("PRIVATE", "This agent is private: it does not show its Descriptor.")


def answer(snapshot: Snapshot, question: Question) -> Saying:
    """Answers one exchange.

    Raises EntrywayError INPUT_INVALID when none is named, EXCHANGE_UNKNOWN, or what the exchange raises.
    """
    number = _exchange(question.envelope)
    if number is None:
        raise EntrywayError("INPUT_INVALID", 'Name the exchange in the payload, as {"exchange": 2}.')
    exchange = EXCHANGES.get(number)
    if exchange is None:
        answered = ", ".join(str(known) for known in EXCHANGES)
        raise EntrywayError("EXCHANGE_UNKNOWN", f"This node does not answer that exchange. It answers: {answered}.")
    return exchange(snapshot, question)


def _exchange(envelope: Envelope) -> int | str | None:
    number = envelope.payload.get("exchange")
    return number if isinstance(number, int | str) and not isinstance(number, bool) else None
