"""What the agent says of itself, copied from what it declared.

Exchanges 1 and 4 and help are projections of one Descriptor, laid out once a publish. The invariant: every member that
an answer is about is in one of three places. It is copied, as it stands in the document; or it is in `not_stated`, by
JSON Pointer, because it is absent or cannot be read; or it is in `left_out`, because it is too large for an answer, and
the document itself has to be asked for. Nothing is filled in, and nothing is said that is not in the signed bytes.

What cannot be read is read as not stated, never as the safe-sounding value.

Source: chapters 6.4 (rule 2), 6.9 and 6.10; binding 4; 4.2 of `rules-beyond-chapter-6`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from descriptor.canonical import canonical
from descriptor.data_use import readable as data_use_readable
from descriptor.document import Descriptor
from descriptor.pointers import pointer_to
from descriptor.rules import forms
from descriptor.rules.section_6_9_access import RULES as ACCESS_RULES
from descriptor.rules.table import Problem, objects
from descriptor.strictjson import JsonValue
from descriptor.vocabulary import ACTS_FOR, ADMISSION, INTERACTION, SEALING, STANDING

# What one answer copies at most. A reader takes an envelope of 64 KiB made of 4,096 values, nested 64 deep.
MOST_CHARACTERS = 32 * 1024
MOST_VALUES = 2_000
DEEPEST = 32

Members = Mapping[str, JsonValue]
Form = Callable[[Members, str], bool]


@dataclass
class _Answer:
    """An answer as it is put together."""

    facts: dict[str, JsonValue] = field(default_factory=dict)
    not_stated: list[JsonValue] = field(default_factory=list)
    left_out: list[JsonValue] = field(default_factory=list)
    characters: int = MOST_CHARACTERS
    values: int = MOST_VALUES

    def put(self, name: str, value: JsonValue, unstated: tuple[str, ...] = ()) -> None:
        """Copies a member, and names the places within it that are not stated; or leaves it out whole.

        `None`: nothing of it is stated.
        """
        copied: list[JsonValue] = [value, list(unstated)]
        size, count = len(canonical(copied)), _count(copied)
        if count is None or count > self.values or size > self.characters:
            self.left_out.append(pointer_to(name))
            return
        self.values -= count
        self.characters -= size
        if value is not None:
            self.facts[name] = value
        self.not_stated += unstated

    def members(self, descriptor: Descriptor) -> dict[str, JsonValue]:
        """The payload of the reply. The signed bytes that it was copied from stand above it, and are named."""
        payload: dict[str, JsonValue] = {
            "status": "described",
            "digest": descriptor.digest,
            "description": self.facts,
            "not_stated": self.not_stated,
        }
        if self.left_out:
            payload["left_out"] = self.left_out
        return payload


def described(descriptor: Descriptor) -> dict[str, JsonValue]:
    """Exchange 1, "what are you?": the payload of the reply."""
    answer = _Answer()
    _copy_subject(answer, descriptor.members)
    _copy(answer, descriptor.members, _WHAT)
    if descriptor.members.get("acts_for") == "organization":
        _copy(answer, descriptor.members, {"organization_name": _text})
    _copy_offerings(answer, descriptor.members, _summary)
    return answer.members(descriptor)


def usage(descriptor: Descriptor) -> dict[str, JsonValue]:
    """Help, "how do I use you?": the payload of the reply."""
    answer = _Answer()
    _copy(answer, descriptor.members, {"interaction": _interaction})
    access, unstated = _access(descriptor.members)
    answer.put("access", access or None, unstated)
    _copy(answer, descriptor.members, _HOW)
    _copy_offerings(answer, descriptor.members, lambda offering: offering)
    return answer.members(descriptor)


def door_statement(members: Members) -> dict[str, JsonValue]:
    """Exchange 4, "are you accepting new callers?": the payload of the reply, the same for whoever asks.

    Three states of `schemes`: a list, an empty list (nothing to present), and not stated.
    """
    access, unstated = _access(members)
    answer = _Answer()
    for name, value in access.items():
        answer.put(name, value)
    payload: dict[str, JsonValue] = {"status": "stated" if access else "not-stated", **answer.facts}
    payload["not_stated"] = list(unstated)
    if answer.left_out:
        payload["left_out"] = [f"/access{pointer}" for pointer in answer.left_out]
    return payload


def admission_of(members: Members) -> str | None:
    """The declared admission; `None` when it is not stated. A word that nobody knows is unstated, never open."""
    access, _ = _access(members)
    admission = access.get("admission")
    return admission if isinstance(admission, str) else None


# How a member is read.


def _holds(problems: Iterator[Problem]) -> bool:
    return next(problems, None) is None


def _text(holder: Members, name: str) -> bool:
    return _holds(forms.text(holder, name, ()))


def _flag(holder: Members, name: str) -> bool:
    return _holds(forms.flag(holder, name, ()))


def _texts(holder: Members, name: str) -> bool:
    return _holds(forms.list_of_texts(holder, name, ()))


def _mapping(holder: Members, name: str) -> bool:
    return _holds(forms.mapping(holder, name, ()))


def _objects(holder: Members, name: str) -> bool:
    return _holds(forms.list_of_objects(holder, name, ()))


def _interaction(holder: Members, name: str) -> bool:
    return _holds(forms.word(holder, name, (), INTERACTION))


_WHAT: Mapping[str, Form] = {
    "agent_version": _text,
    "does": _text,
    "acts_for": lambda holder, name: _holds(forms.word(holder, name, (), ACTS_FOR)),
    "interaction": _interaction,
    "standing": lambda holder, name: _holds(forms.word(holder, name, (), STANDING)),
    "role": _text,
    "interfaces": _texts,
    "fleet": _flag,
    "hosted_in": _texts,
    "refusals": _text,
}
"""What the agent is, and the form in which a reader takes it."""

_HOW: Mapping[str, Form] = {
    "sealing": lambda holder, name: _holds(forms.word(holder, name, (), SEALING)),
    "encryption_key": _text,
    "trust": _mapping,
    "default_input_modes": _texts,
    "default_output_modes": _texts,
    "data_use": lambda holder, name: data_use_readable(holder[name]),
    "limits": _mapping,
    "run_config": _mapping,
}
"""What a caller has to know, likewise."""

_SECRETS = next(rule.find for rule in ACCESS_RULES if rule.id == "D6.9-access-secret")
_SCHEMES = next(rule.find for rule in ACCESS_RULES if rule.id == "D6.9-access-scheme")


def _copy(answer: _Answer, members: Members, names: Mapping[str, Form]) -> None:
    for name, is_read in names.items():
        if name in members and is_read(members, name):
            answer.put(name, members[name])
        else:
            answer.not_stated.append(pointer_to(name))


def _copy_subject(answer: _Answer, members: Members) -> None:
    stated = members.get("subject")
    subject = stated if isinstance(stated, dict) else {}
    copied: dict[str, JsonValue] = {
        name: subject[name] for name in ("id", "handle") if name in subject and _text(subject, name)
    }
    unstated = tuple(pointer_to("subject", name) for name in ("id", "handle") if name not in copied)
    answer.put("subject", copied or None, unstated)


def _copy_offerings(answer: _Answer, members: Members, copied: Callable[[Members], Members]) -> None:
    """The offerings, each as far as it can be read; `copied` says how much of one is told."""
    if "offerings" not in members or not _objects(members, "offerings"):
        answer.not_stated.append("/offerings")
        return
    listed: list[JsonValue] = []
    unstated: list[str] = []
    for index, offering in objects(members["offerings"]):
        missing = [name for name in ("id", "name", "description") if name not in offering or not _text(offering, name)]
        told = copied(offering)
        listed.append({name: value for name, value in told.items() if name not in missing})
        unstated += [pointer_to("offerings", index, name) for name in missing]
    answer.put("offerings", listed, tuple(unstated))


def _summary(offering: Members) -> Members:
    """What an offering is, without how it is asked for."""
    return {name: offering[name] for name in ("id", "name", "description", "scope", "focus") if name in offering}


def _access(members: Members) -> tuple[dict[str, JsonValue], tuple[str, ...]]:
    """What is stated of the door, and the places of what is not. A block with a secret in it is dropped whole."""
    stated = members.get("access")
    access = stated if isinstance(stated, dict) and _holds(_SECRETS(members)) else {}
    problems = {
        "admission": forms.word(access, "admission", (), ADMISSION),
        "schemes": _SCHEMES(members),
        "statement": forms.text(access, "statement", ()),
    }
    read = {name: access[name] for name, found in problems.items() if name in access and _holds(found)}
    return read, tuple(pointer_to("access", name) for name in problems if name not in read)


def _count(value: JsonValue) -> int | None:
    """How many values `value` is made of; `None` when they nest deeper than is copied."""
    count, depth, level = 0, 0, [value]
    while level:
        if depth > DEEPEST:
            return None
        depth += 1
        count += len(level)
        below: list[JsonValue] = []
        for one in level:
            if isinstance(one, list):
                below += one
            elif isinstance(one, dict):
                below += one.values()
        level = below
    return count
