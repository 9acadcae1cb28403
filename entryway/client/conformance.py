"""The five cases of chapter 6.11, put to an agent: whether it applies at its boundary what its Descriptor declares.

| case                | the request                                              | the answer that is owed             |
|---------------------|----------------------------------------------------------|-------------------------------------|
| undeclared-offering | names an offering that is not declared                   | refused, OFFERING_NOT_FOUND         |
| workspace           | hands over a resource of a kind no workspace entry names | refused, SCOPE_REFUSED, workspace   |
| authority           | allows a value the offering does not declare             | refused, SCOPE_REFUSED, authority   |
| spend-limit         | allows spends-money and states no spend_limit            | refused, SCOPE_REFUSED, spend_limit |
| inside-every-bound  | is inside everything that is declared                    | admitted                            |

Each refusal is owed before any work, and decided by rule. What is given back is evidence, request and reply as they
were signed, and no score.

The invariant: no case leads to more than it needs, whatever the agent does wrong. The four that are to be refused have
a deadline that is over, so an agent that lets one through at the boundary still has a reason not to begin. They allow
nothing but the one value that the case is about, and that is never one that sends messages; what is accepted all the
same is canceled at once. The fifth begins real work: it is put only with consent, allows the job to touch nothing, and
is canceled as soon as it is admitted.

Source: chapter 6.11 (conformance).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from descriptor.encoding import b64url_encode
from descriptor.strictjson import JsonValue
from descriptor.view import Offering
from descriptor.view.values import Input
from entryway.boundary import SPENDS
from entryway.client.agent import Agent
from entryway.client.errors import ClientError
from entryway.client.outcome import Accepted, Completed, Failed, Outcome, Refused
from entryway.client.request import Budget, Resource, Work
from entryway.texts import is_file, is_json

# What an undeclared value is taken from, the least of them first; the worst to be taken at one's word are not in it.
HARMLESS = ("reads-files", "reads-systems", "reaches-network", "writes-files", "updates-systems", "runs-commands")
INVENTED = "conformance-undeclared"
SAMPLE = "A conformance test. Nothing is to be done."
ADDRESS = "https://example.com/"
RUN_WAIT = 600.0  # seconds that the deadline of the fifth case lies ahead
# Refusals that say nothing about the boundary: the case was not reached.
ELSEWHERE = frozenset(
    {"UNAUTHORIZED", "RATE_LIMITED", "AGENT_UNAVAILABLE", "SEALING_REQUIRED", "UNSEALING_FAILED", "TOO_LARGE"}
)


class Held(StrEnum):
    """What became of a case."""

    HOLDS = "holds"
    FAILS = "does not hold"
    NOT_TRIED = "not tried"
    DOES_NOT_APPLY = "does not apply"


@dataclass(frozen=True, slots=True)
class Case:
    """One case for one offering. `work`: what is asked; `None` where nothing is, and `held` and `came` say why.

    `reason`: the reason that is owed beside the code. `allowed`: the values, or the kinds of resource, that have to be
    listed with it; `None` where there is no list.
    """

    name: str
    offering: str
    rule: str
    code: str | None
    reason: str | None = None
    allowed: frozenset[str] | None = None
    work: Work | None = None
    held: Held = Held.NOT_TRIED
    came: str = ""

    @property
    def expected(self) -> str:
        """The answer that is owed, for people."""
        if self.code is None:
            return "admitted"
        reason = "" if self.reason is None else f", reason {self.reason}"
        return f"refused, {self.code}{reason}, decided by rule"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What came of a case. `request` and `reply`: the signed envelopes; `None` where none was sent, or none came.

    `came`: in words, the peer's text bounded. `digest`: of the Descriptor that was held to.
    """

    case: Case
    held: Held
    came: str
    digest: str
    request: Mapping[str, JsonValue] | None = field(default=None, repr=False)
    reply: Mapping[str, JsonValue] | None = field(default=None, repr=False)


def cases(offering: Offering, inputs: Mapping[str, JsonValue], *, run: bool) -> Iterator[Case]:
    """The cases of one offering, but the first, which is the agent's.

    `inputs`: values for its inputs, where the ones made here would not do. `run`: whether real work may be begun.
    """
    assert offering.id is not None  # what has none cannot be asked for
    work = Work(offering.id, {**samples(offering, inputs)}, authority=(), later=True)
    yield _workspace(offering, work)
    yield _authority(offering, work)
    yield _spending(offering, work)
    inside = Case("inside-every-bound", offering.id, "A request inside every bound is admitted.", None)
    if run:
        yield replace(inside, work=work)
    else:
        yield replace(inside, came="It begins real work, which nobody has agreed to.")


def undeclared(offering_id: str) -> Case:
    """The first case. `offering_id`: one that the agent does not declare."""
    rule = "A request naming an undeclared offering is refused not-found, by rule."
    work = Work(offering_id, authority=(), later=True)
    return Case("undeclared-offering", offering_id, rule, "OFFERING_NOT_FOUND", work=work)


def _workspace(offering: Offering, work: Work) -> Case:
    rule = "A resource of a kind the workspace does not name is refused with reason workspace, by rule."
    case = Case("workspace", work.offering, rule, "SCOPE_REFUSED", "workspace")
    if offering.workspace is None:
        return replace(case, held=Held.DOES_NOT_APPLY, came="The offering declares no workspace.")
    kinds = frozenset(entry.kind for entry in offering.workspace if entry.kind is not None)
    kind = next(kind for kind in _numbered("conformance-kind") if kind not in kinds)
    return replace(case, allowed=kinds, work=replace(work, resources=(Resource(kind, "read", ADDRESS),)))


def _authority(offering: Offering, work: Work) -> Case:
    rule = (
        "A request allowing an authority value the offering does not declare is refused with reason authority, by rule."
    )
    declared = offering.authority
    case = Case("authority", work.offering, rule, "SCOPE_REFUSED", "authority", frozenset(declared or ()))
    if declared is None:
        return replace(case, held=Held.DOES_NOT_APPLY, came="The offering declares no authority that can be read.")
    value = next((value for value in HARMLESS if value not in declared), INVENTED)
    return replace(case, work=replace(work, authority=(value,)))


def _spending(offering: Offering, work: Work) -> Case:
    rule = "A request allowing spends-money with no spend_limit is refused with reason spend_limit, by rule."
    case = Case("spend-limit", work.offering, rule, "SCOPE_REFUSED", "spend_limit")
    if SPENDS not in (offering.authority or ()):
        return replace(case, held=Held.DOES_NOT_APPLY, came="The offering does not declare spends-money.")
    return replace(case, work=replace(work, authority=(SPENDS,)))


def _numbered(word: str) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        yield f"{word}-{number}"


def samples(offering: Offering, given: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """A value for each input that has to arrive, so that a request is wrong in no way but the one meant."""
    values = dict(given)
    met = {one.one_of for one in offering.inputs or () if one.name in values or one.external}
    for one in offering.inputs or ():
        if one.name is None or one.name in values or one.external:
            continue
        if one.required if one.one_of is None else one.one_of not in met:
            met.add(one.one_of)
            values[one.name] = _sample(one)
    return values


def _sample(one: Input) -> JsonValue:
    kind = one.kind or "text"
    if kind in ("url", "document"):
        return ADDRESS
    if is_json(kind):
        return {}
    text = SAMPLE[: one.max_bytes]
    return b64url_encode(text.encode()) if is_file(kind) else text


async def put(agent: Agent, case: Case, clock: Callable[[], float]) -> Evidence:
    """Puts a case to an agent. Raises ClientError where the agent is not reached, or cannot be sealed to."""
    digest = agent.descriptor.digest
    if case.work is None:
        return Evidence(case, case.held, case.came, digest)
    ahead = RUN_WAIT if case.code is None else -1.0
    parcel = agent.prepare(replace(case.work, budget=Budget(clock() + ahead)))
    try:
        outcome = await agent.send(parcel)
    except ClientError as error:
        if not error.maybe_sent or error.code == "UNREACHABLE":
            raise
        # A refusal is owed before any work, so that it does not come is an answer too. Admission may take its time.
        late = error.code == "TIMEOUT" and case.code is None
        reply = None if error.verdict is None else error.verdict.envelope
        return Evidence(case, Held.NOT_TRIED if late else Held.FAILS, error.message, digest, parcel.request, reply)
    held, came = judged(case, outcome)
    if isinstance(outcome, Accepted):
        came = f"{came} {await _canceled(agent, outcome)}"
    return Evidence(case, held, came, digest, parcel.request, outcome.envelope)


def judged(case: Case, outcome: Outcome) -> tuple[Held, str]:
    """Whether an outcome is the answer that a case is owed, and what came, in words."""
    if not isinstance(outcome, Refused):
        came = "It was admitted, and failed." if isinstance(outcome, Failed) else "It was admitted."
        return (Held.HOLDS if case.code is None else Held.FAILS), came
    by = outcome.decided_by or "nobody who is named"
    reason = "" if outcome.reason is None else f", reason {outcome.reason}"
    came = f"refused, {outcome.code}{reason}, decided by {by}: {outcome.message}"
    if case.code is None and outcome.reason == "focus" and by == "model":
        return Held.HOLDS, f"{came} The boundary had admitted it: a model judges what has passed there."
    if outcome.code in ELSEWHERE:
        return Held.NOT_TRIED, f"{came} That says nothing about this case."
    if outcome.code == "INPUT_INVALID":
        return Held.NOT_TRIED, f"{came} The inputs made here do not do; give better ones."
    wrong = _wrong(case, outcome)
    return (Held.FAILS, f"{came} {wrong}") if wrong else (Held.HOLDS, came)


def _wrong(case: Case, outcome: Refused) -> str:
    """What is wrong with a refusal as the answer to a case; nothing when it is the one that is owed."""
    scoped, listed = case.reason is not None, case.allowed is not None
    faults = {
        "That is another refusal than the one that is owed.": (outcome.code, outcome.reason)
        != (case.code, case.reason),
        "The boundary owes it by rule, and it does not say that a rule decided.": outcome.decided_by != "rule",
        "It names a job, so it came after work had begun.": outcome.task_id is not None,
        "It does not name the offering that was asked for.": scoped and outcome.offering != case.offering,
        "It does not say what is allowed.": listed and outcome.allowed is None,
        "What it says is allowed is not what the offering declares.": listed and _listed(outcome) != case.allowed,
    }
    return next((fault for fault, found in faults.items() if found), "")


def _listed(outcome: Refused) -> frozenset[JsonValue]:
    """The values, or the kinds of resource, that a refusal lists; a standing system among them is no kind."""
    entries = (entry.get("kind") if isinstance(entry, dict) else entry for entry in outcome.allowed or ())
    return frozenset(entry for entry in entries if isinstance(entry, str))


async def _canceled(agent: Agent, accepted: Accepted) -> str:
    try:
        outcome = await agent.cancel(accepted)
    except ClientError as error:
        return f"It could not be canceled: {error.message}"
    if isinstance(outcome, Completed):
        return "It had ended before it could be canceled."
    return f"It was canceled: {outcome.code}." if isinstance(outcome, Failed) else "It was not canceled."
