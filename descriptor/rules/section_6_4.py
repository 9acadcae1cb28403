"""Chapters 6.1, 6.4 and 6.5: a Descriptor carries shapes, no evidence, and every fact once.

Every text of the document is looked at, and every name, unknown members included. A few members hold what would be
found anywhere else: keys and signatures, the handle, and the places where the chapter allows a pointer, in which an
address is at home and a credential is not. The access block is section 6.9's.
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptor.errors import quoted
from descriptor.leaks import Family, Leak, leaks, tells_of_credentials
from descriptor.levels import levels
from descriptor.pointers import pointer_to
from descriptor.rules.forms import Path
from descriptor.rules.misspellings import misspelled
from descriptor.rules.section_6_2_members import REFS
from descriptor.rules.table import Document, Problem, Rule, Severity, offerings
from descriptor.strictjson import JsonValue

# What holds keys and names by its purpose, and the block that section 6.9 looks through.
_LEFT_OUT = frozenset({"subject", "encryption_key", "trust", "signatures", "access"})
_SHOWN = 4  # characters of a credential that a message repeats

_EVIDENCE = frozenset(
    {
        *("badge", "badges", "endorsements", "evaluation", "evaluations", "evaluation_record", "evaluation_records"),
        *("rating", "ratings", "record", "records", "reputation", "review", "reviews"),
        *("score", "scores", "trust_score"),
        *("verdict", "verdicts", "verified", "verified_by"),
    }
)
_CONNECTION = frozenset(
    {
        *("additionalInterfaces", "authentication", "endpoint", "endpoints", "preferredTransport", "security"),
        *("securitySchemes", "supportedInterfaces", "url", "urls"),
    }
)
_SECOND_SPELLINGS = {
    "capabilities": "offerings",
    "description": "does",
    "handle": "subject.handle",
    "id": "subject.id",
    "inputs": "offerings",
    "models": "run_config",
    "model": "run_config",
    "outputs": "offerings",
    "skills": "offerings",
    "summary": "does",
    "version": "agent_version",
}


def _shapes_only(document: Document) -> Iterator[Problem]:
    looked_at = {name: value for name, value in document.items() if name not in _LEFT_OUT}
    yield from given_away(looked_at, ())
    subject = document.get("subject")
    if isinstance(subject, dict):
        others = {name: value for name, value in subject.items() if name not in ("id", "handle")}
        yield from given_away(others, ("subject",))


def _may_give_away(value: JsonValue, path: Path) -> bool:
    """Whether any text or name within `value` could give something away, wherever it stands. Quick, and says not where.

    Much of a document is said many times, and is looked at once.
    """
    if tells_of_credentials(_named(path)):
        return True
    texts: set[str] = set()
    for names, values in levels(value):
        if any(tells_of_credentials(name) for name in names):
            return True
        texts |= names
        texts.update([one for one in values if isinstance(one, str)])
    return any(next(leaks(text), None) is not None for text in texts)


def given_away(value: JsonValue, path: Path) -> Iterator[Problem]:
    """What the texts and names within `value`, which stands at `path`, give away, each place once."""
    if _may_give_away(value, path):
        yield from _places(value, path)


def _named(path: Path) -> str:
    """The name of the member that a value at `path` is in."""
    return next((step for step in reversed(path) if isinstance(step, str)), "")


def _places(value: JsonValue, path: Path) -> Iterator[Problem]:
    if isinstance(value, str):
        found = [
            leak for leak in leaks(value, _named(path)) if leak.family is not Family.ADDRESS or not _may_point(path)
        ]
        if found:
            yield pointer_to(*path), f"This text holds {_told(value, found)}."
    elif isinstance(value, dict):
        for member, inner in value.items():
            if found := [*leaks(member)]:
                yield pointer_to(*path, member), f"The name of this member holds {_told(member, found)}."
            yield from _places(inner, (*path, member))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _places(inner, (*path, index))


def _may_point(path: Path) -> bool:
    """Whether the chapter allows a pointer in this place: a reference, or the attestation of a compliance claim."""
    match path:
        case (str(ref),) | (str(ref), "location"):
            return ref in REFS
        case ("compliance", int(), "attestation", "url"):
            return True
    return False


def _told(text: str, found: list[Leak]) -> str:
    told: dict[str, str] = {}
    for leak in found:
        piece = text[leak.start : leak.end]
        shown = quoted(piece if leak.family is Family.ADDRESS else f"{piece[:_SHOWN]}…")
        told.setdefault(leak.what, f"{leak.what}, {shown}")
    return " and ".join(list(told.values())[:3])


def _evidence(document: Document) -> Iterator[Problem]:
    for name in _EVIDENCE & document.keys():
        yield pointer_to(name), f"`{name}` is something others say of the agent after the fact."
    for place, offering in offerings(document):
        for name in _EVIDENCE & offering.keys():
            yield (
                pointer_to("offerings", place, name),
                f"`{name}` is something others say of the offering after the fact.",
            )


def _connection(document: Document) -> Iterator[Problem]:
    for name in _CONNECTION & document.keys():
        yield pointer_to(name), f"`{name}` says how to connect, which is no fact about the agent."


def _second_spelling(document: Document) -> Iterator[Problem]:
    for name in _SECOND_SPELLINGS.keys() & document.keys():
        yield pointer_to(name), f"`{name}` looks like a second spelling of what `{_SECOND_SPELLINGS[name]}` says."
    yield from misspelled(document)


def _own_digest(document: Document) -> Iterator[Problem]:
    if "digest" in document:
        yield "/digest", "A document cannot hold its own digest: the digest is over all of its bytes."


RULES = (
    Rule(
        "D6.1-second-spelling",
        "6.1",
        Severity.WARNING,
        "A fact about the agent appears in the Descriptor once.",
        "Spell it so, take it out, or say in the member named here what it says beyond that.",
        _second_spelling,
    ),
    Rule(
        "D6.1-connection",
        "6.1",
        Severity.ERROR,
        "A Descriptor is no card: it carries no endpoint and no authentication, which are facts of a connection.",
        "Take it out; how the agent is reached is said where it is served, and who gets in under `access`.",
        _connection,
    ),
    Rule(
        "D6.4-shapes-only",
        "6.4",
        Severity.ERROR,
        "A Descriptor carries shapes only: no address, credential, endpoint or account identifier, in names, values or "
        "prose.",
        "Say what kind of thing it is and not which one: a media type, a region, the name of a system. A credential "
        "that "
        "was published has to be revoked.",
        _shapes_only,
    ),
    Rule(
        "D6.4-evidence",
        "6.4",
        Severity.ERROR,
        "Evidence stays outside: nothing that others issue after something happened is a member.",
        "Take it out; records and verdicts are signed by who issues them and stand beside the Descriptor.",
        _evidence,
    ),
    Rule(
        "D6.5-own-digest",
        "6.5",
        Severity.WARNING,
        "The digest of a Descriptor is over the exact bytes that are served, so it stands outside of them.",
        "Take `digest` out; publishing prints it, and every answer carries it.",
        _own_digest,
    ),
)
