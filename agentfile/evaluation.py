"""What the checks of an `.agent` file's `evaluation` come to, given what a host knows, and whether it may go on.

The invariant: a check passes only on knowledge. What is not known, what the format leaves to judgment and what this
node cannot read is undecided, and an undecided check counts as one that did not pass.

    type             passes when, for each source it names
    source-ready     it is bound, and every capability it declares is proven
    freshness        it is as fresh as it declares; one that is to `warn` when stale is a warning and no error
    citation         the output cites it, at least once; whether every claim is cited takes a judge
    write-boundary   nothing was written outside its boundaries
    output-schema    the output has the shape and fits the schema of `outputs`
    invariant        a judge said so: the assertion is prose, and nothing here reads prose
    custom           likewise

A check that names no source is about every source that is required (citation: whose citations are required; freshness:
that declares it; write-boundary: that may be written to). One about no source at all is undecided.

    failurePolicy       an error that did not pass, or a score below the minimum
    block               block
    require-approval    require-approval
    warn                warn

A warning that did not pass warns under each of them.

Source: `.agent` format 15; 14.1 to 14.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from agentfile.boundaries import inside
from agentfile.schemas import holds
from descriptor.errors import DescriptorError, quoted
from descriptor.strictjson import JsonValue, parse

Members = Mapping[str, JsonValue]

_WRITES = frozenset({"write", "append", "create", "delete"})
_POLICIES = ("block", "require-approval", "warn")


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"


class Decision(StrEnum):
    """What a contract comes to, the best first."""

    PROCEED = "proceed"
    WARN = "warn"
    REQUIRE_APPROVAL = "require-approval"
    BLOCK = "block"


@dataclass(frozen=True)
class SourceFacts:
    """What a host knows of one source in one run. `None`: not known.

    `proven`: the capabilities it has proven to work. `age`: seconds since what it holds was current. `current`: whether
    it was refreshed for this run (`on-run`), or is kept synchronized (`watch`). `written`: every place that was written
    to, in the form of a boundary.
    """

    bound: bool
    proven: frozenset[str] = frozenset()
    age: float | None = None
    current: bool | None = None
    written: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Facts:
    """What a host knows of one run. `None`: not known.

    `sources`: by id; one that is not there is not bound. `output`: as text, `""` for none. `cited`: the ids of the
    sources that the output cites. `judged`: what a judge, a person or a model, said of each check, by its id.
    """

    sources: Mapping[str, SourceFacts] = field(default_factory=dict)
    output: str | None = None
    cited: frozenset[str] | None = None
    judged: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class CheckResult:
    """What became of one check. `severity`: `error` or `warning`. `reason`: for people."""

    id: str
    outcome: Outcome
    severity: str
    reason: str


@dataclass(frozen=True)
class Verdict:
    """What a contract comes to.

    `score`: the share of its checks that passed, 0 to 1, each counting the same; `None` until every one was run.
    `reasons`: the results that did not pass.
    """

    decision: Decision
    score: float | None
    reasons: tuple[CheckResult, ...]


def run_checks(agent: Members, facts: Facts, phase: str | None = None) -> tuple[CheckResult, ...]:
    """What each check of a phase comes to, in the order of the file; `None`: of every phase. Raises nothing.

    `agent`: the members of a file that the parser has accepted. `phase`: `bind`, `pre-run` or `post-run`.
    """
    checks = _objects(_object(agent.get("evaluation")).get("checks"))
    sources = {str(source.get("id")): source for source in _objects(agent.get("sources"))}
    return tuple(
        _run(check, _Run(agent, sources, facts)) for check in checks if phase is None or check.get("phase") == phase
    )


def decide(evaluation: Members, results: Sequence[CheckResult]) -> Verdict:
    """What these results come to under the contract `evaluation`. The score needs a result for every check.

    >>> contract = {"failurePolicy": "block", "checks": [{"id": "a"}, {"id": "b"}], "minimumScore": 0.4}
    >>> passed = CheckResult("a", Outcome.PASSED, "error", "")
    >>> verdict = decide(contract, [passed, CheckResult("b", Outcome.UNDECIDED, "warning", "")])
    >>> verdict.decision.value, verdict.score
    ('warn', 0.5)
    """
    reasons = tuple(result for result in results if result.outcome is not Outcome.PASSED)
    ids = {str(check.get("id")) for check in _objects(evaluation.get("checks"))}
    passed = {result.id for result in results} - {result.id for result in reasons}
    score = len(passed & ids) / len(ids) if ids and ids <= {result.id for result in results} else None
    minimum = evaluation.get("minimumScore")
    low = score is not None and isinstance(minimum, int | float) and score < minimum
    if low or any(result.severity != "warning" for result in reasons):
        policy = evaluation.get("failurePolicy")
        return Verdict(Decision(str(policy)) if policy in _POLICIES else Decision.BLOCK, score, reasons)
    return Verdict(Decision.WARN if reasons else Decision.PROCEED, score, reasons)


@dataclass(frozen=True)
class _Run:
    agent: Members
    sources: Mapping[str, Members]
    facts: Facts

    def about(self, check: Members, applies: Callable[[Members], bool]) -> list[tuple[str, Members, SourceFacts]]:
        """The sources that a check is about, with what is known of each."""
        named = check.get("sourceIds")
        if isinstance(named, list) and named:
            ids = [str(one) for one in named]
        else:
            ids = [one for one, source in self.sources.items() if applies(source)]
        return [(one, self.sources.get(one, {}), self.facts.sources.get(one, SourceFacts(bound=False))) for one in ids]


@dataclass(frozen=True)
class _Said:
    """What is found of one source, or of the output. `mild`: a warning at most, whatever the check's severity."""

    outcome: Outcome
    reason: str
    mild: bool = False


def _passed(reason: str) -> _Said:
    return _Said(Outcome.PASSED, reason)


def _failed(reason: str) -> _Said:
    return _Said(Outcome.FAILED, reason)


def _undecided(reason: str) -> _Said:
    return _Said(Outcome.UNDECIDED, reason)


def _run(check: Members, run: _Run) -> CheckResult:
    kind = str(check.get("type"))
    said = list(_KINDS[kind](check, run)) if kind in _KINDS else [_undecided(f"{quoted(kind)} is no type of check.")]
    if not said:
        said = [_undecided("It is about no source, so there is nothing to check.")]
    if kind not in _JUDGED and check.get("config") and all(one.outcome is Outcome.PASSED for one in said):
        said = [_undecided("It has a 'config', and the format does not say what one means.")]
    severity = "warning" if check.get("severity") == "warning" else "error"
    open_ = [one for one in said if one.outcome is not Outcome.PASSED]
    if open_ and all(one.mild for one in open_):
        severity = "warning"
    outcome = next((one for one in _WORST_FIRST if any(said_one.outcome is one for said_one in said)), Outcome.PASSED)
    return CheckResult(str(check.get("id")), outcome, severity, " ".join(one.reason for one in open_ or said))


_WORST_FIRST = (Outcome.FAILED, Outcome.UNDECIDED)


def _source_ready(check: Members, run: _Run) -> Iterable[_Said]:
    for name, source, known in run.about(check, lambda source: source.get("required") is True):
        missing = _capabilities(source) - known.proven
        if not known.bound:
            yield _failed(f"Source {quoted(name)} is bound to nothing.")
        elif missing:
            yield _failed(f"Source {quoted(name)} is not proven to {', '.join(sorted(missing))}.")
        else:
            yield _passed(f"Source {quoted(name)} is ready.")


def _freshness(check: Members, run: _Run) -> Iterable[_Said]:
    for name, source, known in run.about(check, lambda source: "freshness" in source):
        declared = _object(source.get("freshness"))
        if not declared:
            yield _undecided(f"Source {quoted(name)} does not say how fresh it has to be.")
        elif not known.bound:
            yield _failed(f"Source {quoted(name)} is bound to nothing.")
        else:
            yield replace(_age_of(name, declared, known), mild=declared.get("onStale") == "warn")


def _age_of(name: str, declared: Members, known: SourceFacts) -> _Said:
    most = declared.get("maxAgeSeconds")
    if declared.get("mode") != "snapshot" and known.current is not True:
        if known.current is None:
            return _undecided(f"Whether source {quoted(name)} is up to date is not known.")
        return _failed(f"Source {quoted(name)} is not up to date.")
    if isinstance(most, int | float):
        if known.age is None:
            return _undecided(f"How old source {quoted(name)} is, is not known.")
        if not known.age <= most:
            return _failed(f"Source {quoted(name)} is {known.age:g} seconds old; it may be {most:g}.")
    return _passed(f"Source {quoted(name)} is as fresh as it has to be.")


def _citation(check: Members, run: _Run) -> Iterable[_Said]:
    for name, _, _ in run.about(check, lambda source: _object(source.get("truth")).get("citations") == "required"):
        if run.facts.cited is None:
            yield _undecided(f"Whether the output cites source {quoted(name)} is not known.")
        elif name in run.facts.cited:
            yield _passed(f"The output cites source {quoted(name)}.")
        else:
            yield _failed(f"The output does not cite source {quoted(name)}.")


def _write_boundary(check: Members, run: _Run) -> Iterable[_Said]:
    for name, source, known in run.about(check, lambda source: bool(_capabilities(source) & _WRITES)):
        boundaries = _strings(_object(source.get("access")).get("boundaries"))
        if known.written is None:
            yield _undecided(f"What was written to source {quoted(name)} is not known.")
            continue
        outside = [place for place in known.written if not any(inside(place, one) for one in boundaries)]
        if not outside:
            yield _passed(f"Nothing was written outside the boundaries of source {quoted(name)}.")
        elif not boundaries and _capabilities(source) & _WRITES:
            yield _undecided(f"Source {quoted(name)} was written to, and declares no boundaries.")
        else:
            yield _failed(f"Source {quoted(name)} was written to outside its boundaries, at {quoted(outside[0])}.")


def _output_schema(check: Members, run: _Run) -> Iterable[_Said]:
    declared, output = _object(run.agent.get("outputs")), run.facts.output
    if output is None:
        yield _undecided("There is no output yet.")
        return
    match declared.get("shape"):
        case "void":
            yield (
                _failed("The agent is to stay silent, and did not.") if output else _passed("The agent stayed silent.")
            )
        case "text":
            yield _passed("The output is text.") if output.strip() else _failed("The output is empty.")
        case "json":
            yield _json_output(output, declared.get("schema", True))
        case _:
            yield _undecided("The file does not declare what its output is like.")


def _json_output(output: str, schema: JsonValue) -> _Said:
    try:
        value = parse(output.encode())
    except UnicodeEncodeError:
        return _failed("The output is no Unicode text.")
    except DescriptorError as error:
        return _failed(f"The output is no JSON that can be read in one way. {error}")
    answer = holds(schema, value)
    if answer.holds is None:
        return _undecided(f"Whether the output fits its schema cannot be told: {answer.reasons[0]}.")
    if not answer.holds:
        return _failed(f"The output does not fit its schema: {'; '.join(answer.reasons)}.")
    return _passed("The output is JSON, and fits its schema.")


def _judged(check: Members, run: _Run) -> Iterable[_Said]:
    asserted = quoted(str(check.get("assertion")))
    match run.facts.judged.get(str(check.get("id"))):
        case True:
            return [_passed(f"It was judged to hold: {asserted}")]
        case False:
            return [_failed(f"It was judged not to hold: {asserted}")]
        case _:
            return [_undecided(f"Nobody has judged it yet: {asserted}")]


_KINDS: Mapping[str, Callable[[Members, _Run], Iterable[_Said]]] = {
    "source-ready": _source_ready,
    "freshness": _freshness,
    "citation": _citation,
    "write-boundary": _write_boundary,
    "output-schema": _output_schema,
    "invariant": _judged,
    "custom": _judged,
}
_JUDGED = frozenset({"invariant", "custom"})


def _capabilities(source: Members) -> frozenset[str]:
    return frozenset(_strings(_object(source.get("access")).get("capabilities")))


def _object(value: JsonValue) -> Members:
    return value if isinstance(value, dict) else {}


def _objects(value: JsonValue) -> list[Members]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _strings(value: JsonValue) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
