"""Work as it crosses the door: what the boundary lets through, and what its caller is told in the end.

    request  ->  boundary  ->  Order  ->  workshop  ->  Ending  ->  the payload of the reply

Pure. The invariant: an `Order` holds nothing that the Descriptor does not declare and the request does not allow; each
of its bounds is the tighter of the two. Whoever does the work is given the order and never the envelope, a signature or
a key; and the output of a request that asked for a sealed answer leaves `payload_of` sealed or not at all.

Source: binding 5; chapter 6.11; 5.1 – 5.4 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from descriptor.strictjson import JsonValue
from entryway.sealing import seal

if TYPE_CHECKING:
    from descriptor.view import Money  # at run time it would bring the reader of Descriptors into every start


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource that a request hands over: its `kind`, and `access`, `read` or `read-write`.

    `locator`: where it is, as the caller says it; `None` when it does not. Nothing is fetched from it here.
    """

    kind: str
    access: str
    locator: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one job may not go beyond. `None`: neither the Descriptor nor the request states it.

    `seconds`: of the clock on the wall, from its start. `cost`, `spend`: money. `messages`: to parties other than the
    requester. `by_rule`: the names of the ceilings that the Descriptor says are applied by rule (`job_seconds` ...).
    `deadline`: the moment, in Unix seconds, at which it is over, started or not.
    """

    seconds: float | None = None
    cost: Money | None = None
    spend: Money | None = None
    messages: int | None = None
    by_rule: frozenset[str] = frozenset()
    deadline: float | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """One piece of admitted work.

    `caller`: a verified agent id. `request_id`: the UUID of the request. `offering`: the id of a declared one. `input`:
    the values by the names of the offering's inputs. `authority`: what the job may touch; `None` where none is
    declared. `settings`: the run configuration, resolved. `seal_to`: the key that the answer is sealed to, base64url;
    `None` for one in the clear.
    """

    caller: str
    request_id: str
    offering: str
    input: Mapping[str, JsonValue] = field(repr=False)
    resources: tuple[Resource, ...] = ()
    authority: tuple[str, ...] | None = None
    settings: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)
    bounds: Bounds = Bounds()
    seal_to: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Completed:
    """The work is done, and this came of it."""

    output: JsonValue = field(repr=False)


@dataclass(frozen=True, slots=True)
class Failed:
    """The work was begun, and came to nothing. `code`: `HANDLER_FAILED`, `DEADLINE_EXCEEDED`, `INTERRUPTED` ..."""

    code: str
    message: str
    decided_by: str = "rule"


@dataclass(frozen=True, slots=True)
class Declined:
    """The model of an open offering judged that the instruction is outside its focus. Source: chapter 6.11."""

    message: str


Ending = Completed | Failed | Declined


class Workshop(Protocol):
    """Where admitted work is done. Each method raises EntrywayError AGENT_UNAVAILABLE when it cannot be done now."""

    def serves(self, offering: str) -> bool:
        """Whether anything stands behind an offering."""

    async def begin(self, order: Order) -> str:
        """Takes an order: it is a row on the disk when this returns its task id. Raises RATE_LIMITED when full."""

    async def ended(self, task_id: str) -> Mapping[str, JsonValue]:
        """Waits for the end of a job, and returns the payload that tells of it."""

    async def state(self, caller: str, task_id: str) -> Mapping[str, JsonValue] | None:
        """The payload that tells how the caller's own job stands; `None` when the caller has no such job."""

    async def cancel(self, caller: str, task_id: str) -> Mapping[str, JsonValue] | None:
        """Ends the caller's own job unless it has ended, and tells how it stands; `None` likewise."""


def payload_of(order: Order, task_id: str, ending: Ending) -> dict[str, JsonValue]:
    """What the caller of an order is told of its end: the payload of a reply, sealed where the request asked for it."""
    if isinstance(ending, Completed):
        output = ending.output if order.seal_to is None else seal(ending.output, order.seal_to)
        return {"status": "completed", "task_id": task_id, "output": output}
    if isinstance(ending, Failed):
        return {
            "status": "failed",
            "task_id": task_id,
            "error": {"code": ending.code, "message": ending.message, "decided_by": ending.decided_by},
        }
    return {
        "status": "refused",
        "task_id": task_id,
        "error": {
            "code": "SCOPE_REFUSED",
            "message": ending.message,
            "decided_by": "model",
            "offering": order.offering,
            "reason": "focus",
        },
    }
