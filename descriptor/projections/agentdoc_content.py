"""What an AgentDoc says, held against its sources as far as they are at hand.

Source: section 9 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from descriptor.canonical import canonical
from descriptor.errors import DescriptorError, quoted
from descriptor.levels import levels
from descriptor.pointers import pointer_to, tokens
from descriptor.projections.agentdoc import NOT_CHECKED
from descriptor.projections.agentdoc_looked import Found, Looked, Members, object_of, objects_in
from descriptor.projections.agentdoc_sections import PLACES, Path, Shape
from descriptor.projections.card_signature import verify_card
from descriptor.signatures import verify_statement
from descriptor.strictjson import JsonValue, parse

# What would be a verdict, as a word of a member's name.
_GRADES = re.compile(
    r"(?:^|_)(?:badges?|grades?|rank(?:ing)?|ratings?|reputation|scores?|stars|trust(?:ed|worthy|mark)?|verdicts?)(?:_|$)"
)
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|-")
_BESIDE = ("_from", "_state")


def digests(looked: Looked) -> Found:
    """Whether the bytes at hand are those that their source names, and their signature is as it says."""
    sources = objects_in(looked.members.get("sources"))
    at_hand = [(place, one) for place, one in sources if str(one.get("id")) in looked.bytes_of]
    states: dict[tuple[str, str], str | None] = {}

    def wrong() -> Iterator[tuple[str, str]]:
        for place, source in at_hand:
            at, name = pointer_to("sources", place), str(source["id"])
            if source.get("digest") != looked.digests[name]:
                yield f"{at}/digest", f"The bytes at hand have the digest {looked.digests[name]}."
            elif source.get("signature") != NOT_CHECKED:
                key = (name, str(source.get("kind")))
                if key not in states:
                    states[key] = _signature_of(looked, source, _parsed(looked.bytes_of[name]))
                found = states[key]
                if found is not None and source.get("signature") != found:
                    yield f"{at}/signature", f"The signature of the bytes at hand is {found}."

    return wrong(), bool(at_hand)


def _signature_of(looked: Looked, source: Members, document: Members) -> str | None:
    """The state of the signature in the bytes of a source; `None` where none would stand in them."""
    if source.get("kind") == "agent-descriptor":
        return verify_statement(document).state.value
    if source.get("kind") == "a2a-agent-card":
        return verify_card(document, str(object_of(looked.members.get("subject")).get("id"))).state.value
    return None


def values(looked: Looked) -> Found:
    """Whether every value stands in its source, as far as the sources are at hand."""
    reading = looked.reading
    parts = {name: _parts(data) for name, data in looked.bytes_of.items()}
    made = False
    found: list[tuple[str, str]] = []
    for name, section in looked.sections.items():
        for member, value in _stated(section):
            source = section.get(f"{member}_from", section.get("from"))
            if not isinstance(source, str) or source not in parts:
                continue
            made = True
            if reading is not None and source == reading[0] and member in PLACES.get(name, {}):
                given = reading[1].sections[name]
                if member not in given or not _is_part(value, given[member]):
                    found.append((pointer_to("sections", name, member), "The Descriptor does not say this."))
            elif not _made_of(value, parts[source]):
                found.append((pointer_to("sections", name, member), f"This does not stand in {quoted(source)}."))
    return found, made


def not_stated(looked: Looked) -> Found:
    """Whether every place is stated or listed as not stated, and none is both."""
    listed = looked.members.get("not_stated")
    paths = [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
    told = set(paths)
    reading = looked.reading

    def wrong() -> Iterator[tuple[str, str]]:
        for path in paths:
            if _is_stated(looked.sections, tokens(path)):
                yield f"/sections{path}", "This is stated, and listed as not stated."
        for path in _outermost() if reading is None else reading[1].not_stated:
            if path not in told and not _is_stated(looked.sections, tokens(path)):
                yield f"/sections{path}", "This is neither stated nor listed as not stated."
        for section, members in {} if reading is None else reading[1].sections.items():
            for member in members:
                path = pointer_to(section, member)
                if path in told or member not in looked.sections.get(section, {}):
                    yield f"/sections{path}", "The Descriptor states this, and it is not carried."

    return wrong(), True


def _outermost() -> Iterator[str]:
    """The places that are known without the Descriptor; what is within them depends on it, and so do these two."""
    for section, members in PLACES.items():
        for member in members:
            if member != "organization_name" and (member != "offerings" or section == "sells"):
                yield pointer_to(section, member)


def no_grade(looked: Looked) -> Found:
    """Whether nothing in it grades the agent. What is carried whole is the operator's, names and all."""

    def wrong() -> Iterator[tuple[str, str]]:
        own = {name: value for name, value in looked.members.items() if name not in ("sections", "signatures")}
        yield from _graded(own, {}, ())
        for section, members in object_of(looked.members.get("sections")).items():
            yield from _graded(members, PLACES.get(section, {}), ("sections", section))

    return wrong(), True


def _graded(value: JsonValue, shape: Shape, path: Path) -> Iterator[tuple[str, str]]:
    """Members beyond the shape whose name would say what the agent is worth."""
    if isinstance(value, list) and shape is not None:
        for place, one in enumerate(value):
            yield from _graded(one, shape[0] if isinstance(shape, list) else shape, (*path, place))
    if isinstance(value, dict) and shape is not None:
        known = shape if isinstance(shape, Mapping) else {}
        for name, one in value.items():
            if name not in known and _GRADES.search(_WORDS.sub("_", name).lower()):
                yield pointer_to(*path, name), f"{quoted(name)} is a verdict, and an AgentDoc carries none."
            yield from _graded(one, known.get(name, {}), (*path, name))


def _stated(section: Members) -> Iterator[tuple[str, JsonValue]]:
    for name, value in section.items():
        if name not in ("from", "state") and not name.endswith(_BESIDE):
            yield name, value


def _is_stated(sections: Mapping[str, Members], steps: list[str]) -> bool:
    """Whether a value stands there. `{}` in a list keeps the place of an entry that nobody could read."""
    if not steps:
        return True
    section, *within = steps
    value: object = sections.get(section)
    if value is None:
        return False
    inside_list = False
    for step in within:
        if isinstance(value, dict) and step in value:
            inside_list, value = False, value[step]
        elif isinstance(value, list) and step.isdecimal() and len(step) < 9 and int(step) < len(value):
            inside_list, value = True, value[int(step)]
        else:
            return False
    return not (inside_list and value == {})


def _is_part(value: JsonValue, given: JsonValue) -> bool:
    """Whether a value is what is given, or some of it in its place."""
    if isinstance(value, dict) and isinstance(given, dict):
        return all(name in given and _is_part(one, given[name]) for name, one in value.items())
    if isinstance(value, list) and isinstance(given, list):
        return len(value) == len(given) and all(map(_is_part, value, given))
    return canonical(value) == canonical(given)


def _parts(data: bytes) -> set[bytes]:
    """Everything that a document says, part by part, in canonical form."""
    try:
        return {canonical(one) for _, values in levels(parse(data)) for one in values}
    except DescriptorError:
        return set()


def _made_of(value: JsonValue, parts: set[bytes]) -> bool:
    """Whether a value stands in a document, or is put together from what stands in it."""
    if canonical(value) in parts:
        return True
    if isinstance(value, list):
        return all(_made_of(one, parts) for one in value)
    return isinstance(value, dict) and all(_made_of(one, parts) for one in value.values())


def _parsed(data: bytes) -> Members:
    try:
        return object_of(parse(data))
    except DescriptorError:
        return {}
