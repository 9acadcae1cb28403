"""What several targets promise alike."""

from __future__ import annotations

from typing import Any, Protocol


class Refusal(Protocol):
    """The exception families of all floors."""

    code: str
    message: str


def assert_fit_to_show(refusal: Refusal) -> None:
    """A refusal is one line for people, bounded whatever came in, and its code is stable."""
    assert refusal.code.isupper()
    assert refusal.code.replace("_", "").isalnum()
    assert refusal.message
    assert refusal.message.isprintable()
    assert len(refusal.message) < 1_000


def typed(value: Any) -> Any:
    """A JSON value with its types beside it, since Python has 1 == 1.0 == True."""
    if isinstance(value, dict):
        return {name: typed(member) for name, member in value.items()}
    if isinstance(value, list):
        return [typed(item) for item in value]
    return type(value), value


def loose(data: bytes) -> str:
    """Bytes as the text a command line would make of them: whatever is no UTF-8 becomes half a surrogate pair."""
    return data.decode("utf-8", "surrogateescape")
