"""One setting as it is declared, and how a text or a value becomes it.

The invariant: a value leaves `Declared.take` only as the declared type and within the declared bounds; whatever
else was written is refused with `allowed`, which is made from the same declaration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, get_type_hints
from urllib.parse import urlsplit

PREFIX = "AGENT_NODE_"

_KINDS = {
    str: "text",
    str | None: "text",
    tuple[str, ...]: "texts",
    int: "whole",
    float: "number",
    bool: "switch",
}


@dataclass(frozen=True)
class About:
    """What is said of one setting beside its type and default."""

    text: str
    unit: str | None = None
    low: float = 0
    high: float = 0
    choices: tuple[str, ...] = ()
    one_word: bool = False
    base_url: bool = False
    reload: bool = True
    """Whether a running node takes a new value on SIGHUP."""
    example: object = None
    """What the annotated file shows for a setting that has no default."""


def setting(default: object, text: str, **about: Any) -> Any:
    """The dataclass field of one setting."""
    return field(default=default, metadata={"about": About(text, **about)})


@dataclass(frozen=True)
class Declared:
    """One setting. `kind`: "text", "texts", "whole" (number), "number" or "switch"."""

    section: str
    name: str
    kind: str
    default: object
    about: About

    @property
    def variable(self) -> str:
        """The setting's name in the environment."""
        return PREFIX + self.name.upper()

    @property
    def allowed(self) -> str:
        """What the setting takes, for people."""
        about = self.about
        if about.choices:
            return "one of " + ", ".join(f'"{choice}"' for choice in about.choices)
        if self.kind == "switch":
            return "true or false"
        if self.kind in ("whole", "number"):
            number = "a whole number" if self.kind == "whole" else "a number"
            unit = f" of {about.unit}" if about.unit else ""
            digits = ".0f" if self.kind == "whole" else ".10g"
            return f"{number}{unit} from {about.low:{digits}} to {about.high:{digits}}"
        if about.base_url:
            return "a URL, http or https, with a host and without user, query or fragment"
        spaces = " without spaces" if about.one_word else ""
        return f"a list of texts{spaces}" if self.kind == "texts" else f"a text{spaces}"

    def read(self, text: str) -> object:
        """What a text from the environment or the command line spells; the text itself when it spells nothing."""
        try:
            match self.kind:
                case "texts":
                    return [part.strip() for part in text.split(",")]
                case "switch":
                    return {"true": True, "false": False}.get(text, text)
                case "whole":
                    return int(text)
                case "number":
                    return float(text)
        except ValueError:
            pass
        return text

    def take(self, value: object) -> object:
        """The value as the settings hold it. Raises ValueError when it is not `allowed`."""
        low, high = self.about.low, self.about.high
        match self.kind, value:
            case "switch", bool():
                return value
            case _, bool():
                pass  # Python counts true among the numbers; an operator does not
            case "whole", int() if low <= value <= high:
                return value
            case "number", int() | float() if low <= value <= high:
                return float(value)
            case "text", str() if self._is_text(value):
                return value
            case "texts", str():
                return self.take(self.read(value))
            case "texts", list() | tuple() if value and all(map(self._is_text, value)):
                return tuple(value)
        raise ValueError(self.allowed)

    def _is_text(self, text: object) -> bool:
        if not isinstance(text, str):
            return False
        if self.about.choices:
            return text in self.about.choices
        if self.about.base_url:
            return _is_base_url(text)
        return bool(text.strip()) and text.isprintable() and not (self.about.one_word and " " in text)


def _is_base_url(text: str) -> bool:
    """Whether paths can be put behind a text to reach a node, as they stand in a document that is signed."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:  # a host in brackets that is no address, a port that is no number
        return False
    authority = parts.netloc
    return (
        text.isascii()
        and text.isprintable()
        and not any(char in text for char in ' "<>\\^`{|}?#')
        and parts.scheme in ("http", "https")
        and bool(parts.hostname)
        and "@" not in authority
        and not authority.endswith(":")
        and port != 0
    )


def declared_in(sections: Mapping[str, type[Any]]) -> Iterator[Declared]:
    """Every setting of these sections, in order."""
    for section, shape in sections.items():
        types = get_type_hints(shape)
        for one in fields(shape):
            yield Declared(section, one.name, _KINDS[types[one.name]], one.default, one.metadata["about"])
