"""A request for work as it goes out: judged beforehand, sealed as the agent's posture asks, signed.

Pure: the time is handed in. The invariant: a `Parcel` is one request under one id, and an agent takes it once, however
often it is sent; and where an agent reads sealed requests only, there is none in the clear.

Source: binding 5; chapters 6.9 and 6.11; 7.2 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from descriptor.document import Descriptor
from descriptor.keys import Identity
from descriptor.strictjson import JsonValue
from descriptor.view import View
from entryway.boundary import judge
from entryway.client.errors import ClientError
from entryway.client.request import Work, work_payload
from entryway.client.transport import ClientLimits
from entryway.codec import MAX_NESTING, MAX_VALUES, Codec, decode
from entryway.envelope import new_uuid, request_envelope
from entryway.errors import EntrywayError
from entryway.protections import HourlyCounts, refuse_long_text, text_cap
from entryway.sealing import Decision, Way, seal
from entryway.texts import declared_files, texts_of


@dataclass(frozen=True, slots=True)
class Parcel:
    """One request, signed, and sealed where the agent asks for it.

    `way` and `reason`: how it goes out, and why, for people. `answer_sealed`: whether the answer is asked to be sealed.
    `wait`: seconds until it has to be answered.
    """

    request: Mapping[str, JsonValue] = field(repr=False)
    way: Way
    reason: str
    answer_sealed: bool
    wait: float

    @property
    def id(self) -> str:
        """The id of the request, under which the agent takes it once."""
        return str(self.request["id"])


def refusal_of(work: Work, descriptor: Descriptor, view: View, caller: str, now: float) -> EntrywayError | None:
    """The refusal that the agent's boundary owes a piece of work of `caller`, by its Descriptor; `None` for none.

    How often the caller has asked already is not known here, and not counted.
    """
    members = descriptor.members
    try:
        payload = work_payload(work, dict(work.input))
        refuse_long_text(texts_of(payload, declared_files(members)), text_cap(members.get("limits")))
        judge(view, work, caller=caller, request_id=new_uuid(), now=now, counts=HourlyCounts())
    except EntrywayError as error:
        return error
    return None


def pack(
    work: Work,
    view: View,
    decision: Decision,
    identity: Identity,
    reply_key: str | None,
    limits: ClientLimits,
    now: float,
) -> Parcel:
    """The request of `identity` to the agent of a view. `reply_key`: what a sealed answer is sealed to.

    Raises ClientError CANNOT_SEAL; DescriptorError NOT_CANONICAL.
    """
    if decision.way is Way.NOT_AT_ALL:
        raise ClientError("CANNOT_SEAL", decision.reason)
    given: JsonValue = dict(work.input)
    if decision.key is not None:
        given = seal(given, decision.key, reply_key=reply_key)
    request = request_envelope(work_payload(work, given), now, to=view.subject_id, identity=identity)
    answer_sealed = decision.key is not None and reply_key is not None
    return Parcel(request, decision.way, decision.reason, answer_sealed, _wait(work, view, limits, now))


def refuse_unreadable(content: bytes, codec: Codec, most: int) -> None:
    """Refuses a request that no node reads; it would be answered as any broken one is. Raises ClientError TOO_LARGE."""
    if len(content) > most:
        raise ClientError(
            "TOO_LARGE",
            f"The request has {len(content)} bytes, and an agent takes {most} at most. Nothing was sent. Send less.",
        )
    try:
        decode(content, codec)
    except EntrywayError:
        raise ClientError(
            "TOO_LARGE",
            f"The request is made of more than {MAX_VALUES} values, or nested more than {MAX_NESTING} deep, which no "
            "node reads. Nothing was sent. Send less, or less deep.",
        ) from None


def _wait(work: Work, view: View, limits: ClientLimits, now: float) -> float:
    """Seconds until the answer to a piece of work is due: what the job may take, and what a question may."""
    if work.later:
        return limits.wait
    offering = view.offering(work.offering)
    stated = None if offering is None else offering.ceilings.get("job_seconds")
    bounds = [float(stated.most)] if stated is not None and isinstance(stated.most, int) else []
    if work.budget.deadline is not None:
        bounds.append(max(0.0, work.budget.deadline - now))
    return min(bounds, default=limits.work_wait) + limits.wait
