"""Whether a projection still says what its Descriptor says, and where it does not.

The invariant: what is compared is every member that comes from the Descriptor, and nothing else: an address, a scheme
or an icon is no fact of the Descriptor and cannot drift from one. No side is picked; a difference names both places.

| kind      | the projection                          | which is a defect, because               |
|-----------|-----------------------------------------|------------------------------------------|
| `differs` | says something else than the Descriptor | it spells a fact a second time (6.1)     |
| `missing` | does not say what the Descriptor says   | it is generated, and would say it        |
| `unsaid`  | says what the Descriptor does not       | silence has become a value (6.4, rule 2) |

Entries are matched by their `id` or `uri`, and lists of words compared as sets: their order says nothing.

Source: chapter 6.8.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from descriptor.canonical import canonical
from descriptor.document import Descriptor
from descriptor.errors import DescriptorError
from descriptor.pointers import pointer_to
from descriptor.projections.card import EXTENSION, card_of
from descriptor.projections.card_signature import verify_card
from descriptor.projections.registration import registration_of
from descriptor.projections.serving import Serving
from descriptor.projections.tracing import Entries, Path, Said, Tree, value_of
from descriptor.signatures import SignatureReport
from descriptor.strictjson import JsonValue

CARD, REGISTRATION = "card", "registration"


class Kind(StrEnum):
    """How a projection differs; the table above."""

    DIFFERS = "differs"
    MISSING = "missing"
    UNSAID = "unsaid"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference. `pointer`: in the projection. `sources`: in the Descriptor, where it says, or would say it.

    `stands`: what the projection says, `None` where it says nothing. `expected`: what it would say.
    """

    kind: Kind
    pointer: str
    sources: tuple[str, ...]
    stands: JsonValue
    expected: JsonValue


@dataclass(frozen=True, slots=True)
class Drift:
    """How a projection stands to a Descriptor.

    `projection`: `card` or `registration`. `generated_from`: the digest it names, `None` when it names none.
    `signature`: of a card, by the Descriptor's subject; `None` of what is never signed.
    """

    projection: str
    descriptor: str
    generated_from: str | None
    signature: SignatureReport | None
    differences: tuple[Difference, ...]

    @property
    def agrees(self) -> bool:
        """Whether there is nothing to report. A card that nobody signed agrees; one whose signature fails does not."""
        failed = self.signature is not None and self.signature.state.value == "failed"
        return not self.differences and not failed


def drift_of(document: Mapping[str, JsonValue], descriptor: Descriptor) -> Drift:
    """Compares a card or a registration manifest with a Descriptor.

    Raises DescriptorError: `NOT_A_PROJECTION` for a document that is neither, `NOT_BOUND` for a draft.
    """
    if "registration" in document:
        expected = registration_of(descriptor, _AT_NO_ADDRESS)
        return Drift(
            REGISTRATION,
            descriptor.digest,
            made_from(document),
            None,
            tuple(differences(expected.tree, dict(document))),
        )
    if "supportedInterfaces" not in document and "skills" not in document:
        raise DescriptorError(
            "NOT_A_PROJECTION",
            "This is neither an A2A card (supportedInterfaces, skills) nor a registration manifest (registration). "
            "`agent-node reference --verify` checks a reference, and `agent-node agentdoc --check` an AgentDoc.",
            "",
        )
    return Drift(
        CARD,
        descriptor.digest,
        made_from(document),
        verify_card(document, descriptor.subject_id or ""),
        tuple(card_differences(document, descriptor)),
    )


def card_differences(card: Mapping[str, JsonValue], descriptor: Descriptor) -> Iterator[Difference]:
    """Where a card says something else than the Descriptor, or does not say what it would. Raises DescriptorError."""
    # A card names a provider only where it names an address.
    expected = card_of(descriptor, _AT_SOME_ADDRESS if card.get("supportedInterfaces") else _AT_NO_ADDRESS)
    return differences(expected.tree, dict(card))


def subject_of(document: Mapping[str, JsonValue]) -> str | None:
    """The id of the agent that a card or a manifest says it is about; None where it does not say."""
    about = document.get("subject") if "registration" in document else _extension_of(document)
    subject = about.get("id" if "registration" in document else "subject") if isinstance(about, dict) else None
    return subject if isinstance(subject, str) else None


def made_from(document: Mapping[str, JsonValue]) -> str | None:
    """The digest that a card or a manifest says it was generated from; None where it does not say."""
    holder = document.get("descriptor") if "registration" in document else _extension_of(document)
    digest = holder.get("digest") if isinstance(holder, dict) else None
    return digest if isinstance(digest, str) else None


def differences(expected: Tree, given: JsonValue, place: Path = ()) -> Iterator[Difference]:
    """What stands otherwise in `given`, which is at `place`, than in a projection, with where each value comes from."""
    if isinstance(expected, Said):
        yield from _difference(expected, given, place)
    elif isinstance(expected, Entries):
        yield from _entries(expected, given if isinstance(given, list) else [], place)
    else:
        for name, one in expected.items():
            yield from differences(one, given.get(name) if isinstance(given, dict) else None, (*place, name))


def _difference(expected: Said, stands: JsonValue, place: Path) -> Iterator[Difference]:
    if not expected.pointers:
        return
    if stands is None:
        # To leave out what the Descriptor does not say is no difference, whatever the format requires.
        if expected.stated:
            yield Difference(Kind.MISSING, pointer_to(*place), expected.pointers, None, expected.value)
    elif not _same(stands, expected.value):
        kind = Kind.DIFFERS if expected.stated else Kind.UNSAID
        yield Difference(kind, pointer_to(*place), expected.pointers, stands, expected.value)


def _entries(expected: Entries, given: list[JsonValue], place: Path) -> Iterator[Difference]:
    """Each entry beside the one of the same key, in their order; then those of `given` that stand for nothing."""
    places: dict[str, list[int]] = {}
    for index, entry in reversed([*enumerate(given)]):
        name = entry.get(expected.key) if isinstance(entry, dict) else None
        if isinstance(name, str):
            places.setdefault(name, []).append(index)
    matched = set()
    for index, own in enumerate(expected.entries):
        same = places.get(str(value_of(own[expected.key])))
        if same:
            found = same.pop()
            matched.add(found)
            yield from differences(own, given[found], (*place, found))
        elif expected.pointer is None:
            yield from differences(own, None, (*place, index))
        else:
            yield Difference(Kind.MISSING, pointer_to(*place, index), (expected.pointer,), None, value_of(own))
    if expected.pointer is not None:
        for index, entry in enumerate(given):
            if index not in matched:
                yield Difference(Kind.UNSAID, pointer_to(*place, index), (expected.pointer,), entry, None)


def _same(a: JsonValue, b: JsonValue) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return set(map(canonical, a)) == set(map(canonical, b))
    return canonical(a) == canonical(b)


def _extension_of(card: Mapping[str, JsonValue]) -> JsonValue:
    capabilities = card.get("capabilities")
    listed = capabilities.get("extensions") if isinstance(capabilities, dict) else None
    for extension in listed if isinstance(listed, list) else ():
        if isinstance(extension, dict) and extension.get("uri") == EXTENSION:
            return extension.get("params")
    return None


# What a projection is compared by has connection facts as well, which are not looked at.
_AT_NO_ADDRESS = Serving((), None, "", "-", "-")
_AT_SOME_ADDRESS = Serving(("http://localhost",), None, "", "-", "-")
