"""What the node writes to its standard error: lines for people on a terminal, JSON for programs elsewhere.

The invariants:

- One event is one line (a traceback for people is its own marked block below it), whatever strangers put into it:
  a value from a peer can neither begin a line of its own nor reach the terminal as a control sequence.
- No secret is written: a value under a secret's name is replaced, and so is the text of a seed anywhere.
- A line costs bounded memory, and one that cannot be written (a full disk, a closed pipe) is lost without a word:
  logging never stops the node.

The way of an event: name and values -> `_stamp` -> `_plain` (redacted, bounded, plain data) -> one renderer -> `_Sink`.
"""

from __future__ import annotations

import json
import logging
import os
import re
import time
from collections.abc import Callable, Mapping, MutableMapping
from itertools import islice
from typing import Any, TextIO

import structlog

from descriptor.timestamps import format_timestamp

TEXT_CHARACTERS = 1000
"""What is kept of one text; a traceback keeps eight times as much, from its end."""
ITEMS = 50
"""What is kept of one list or mapping."""
DEPTH = 4

_SECRET_WORDS = frozenset(
    ("seed", "secret", "passphrase", "password", "sig", "token", "credential", "authorization", "cookie", "private")
)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_SEED = re.compile(r"S[A-Z][A-Z2-7]{56}")
_REDACTED = "[redacted]"

_COLORS = {"debug": "2", "info": "32", "warning": "33", "error": "31", "critical": "31"}
_BARE = re.compile(r"[A-Za-z0-9_.:/@+-]+")

_Event = MutableMapping[str, Any]


def configure(level: str, form: str, stream: TextIO, environ: Mapping[str, str] = os.environ) -> None:
    """Makes every `structlog.get_logger()` write to `stream`, and the loggers of libraries with it.

    `level`: debug, info, warning or error. `form`: people, json, or auto, which is people where `stream` is a
    terminal. Colors are for terminals only, and not where `NO_COLOR` is set. Called again, it replaces what it set.
    """
    terminal = stream.isatty()
    people = form == "people" or (form == "auto" and terminal)
    colors = terminal and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            _stamp,
            _plain,
            _people(colors) if people else _json,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *_: _Sink(stream),
        cache_logger_on_first_use=False,
    )
    # What libraries log may quote a peer as well. Below a warning it is about their insides, not about the node.
    root = logging.getLogger()
    root.handlers = [one for one in root.handlers if not isinstance(one, _Bridge)] + [_Bridge()]
    root.setLevel(max(logging.WARNING, logging.getLevelName(level.upper())))


class _Sink:
    """The stream, one whole line at a time."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def msg(self, line: str) -> None:
        try:
            self._stream.write(line + "\n")
            self._stream.flush()
        except (OSError, ValueError):
            # ValueError: a stream that is closed, or cannot spell a character. There is nowhere left to say so.
            return

    debug = info = warning = error = critical = msg


class _Bridge(logging.Handler):
    """Sends the records of Python's own logging the same way as the node's events."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = record.getMessage()
        except (TypeError, ValueError):
            text = str(record.msg)
        values = {"exc_info": record.exc_info} if record.exc_info else {}
        level = min(max(record.levelno // 10 * 10, logging.DEBUG), logging.CRITICAL)
        structlog.get_logger().log(level, text, library=record.name, **values)


def _stamp(_logger: object, _method: str, event: _Event) -> _Event:
    first = {"timestamp": format_timestamp(time.time()), "level": event["level"], "event": event["event"]}
    return {**first, **event, **first}


def _plain(_logger: object, _method: str, event: _Event) -> _Event:
    """The event as plain data: what JSON holds, no secrets, bounded."""
    return {_text(name): _plain_value(name, value, DEPTH) for name, value in event.items()}


def _plain_value(name: str, value: object, depth: int) -> object:
    if any(word.lower().removesuffix("s") in _SECRET_WORDS for word in _WORDS.findall(name)):
        return _REDACTED
    if not isinstance(value, Mapping | list | tuple | set | frozenset):
        return _plain_scalar(value, keep_end=name == "exception")
    if not depth:
        return f"[{len(value)} items]"
    if isinstance(value, Mapping):
        pairs = islice(value.items(), ITEMS)
        return {_text(str(key)): _plain_value(str(key), one, depth - 1) for key, one in pairs}
    return [_plain_value(name, one, depth - 1) for one in islice(value, ITEMS)]


def _plain_scalar(value: object, keep_end: bool) -> object:
    match value:
        case None | bool():
            return value
        case int() | float():
            # NaN and the infinities are no JSON, and an integer's decimal digits may be too many to write.
            exact = abs(value) < 2**53
            return value if exact else _text(hex(value) if isinstance(value, int) else str(value))
        case bytes() | bytearray() | memoryview():
            return f"[{len(value)} bytes]"
        case BaseException():
            return _text(f"{type(value).__name__}: {value}")
    return _text(str(value), keep_end)


def _text(text: str, keep_end: bool = False) -> str:
    text = _SEED.sub(_REDACTED, text)
    most = TEXT_CHARACTERS * 8 if keep_end else TEXT_CHARACTERS
    if len(text) <= most:
        return text
    return "…" + text[-most:] if keep_end else text[:most] + f"… ({len(text)} characters)"


def _json(_logger: object, _method: str, event: _Event) -> str:
    return json.dumps(event).replace("\x7f", "\\u007f")


def _people(colors: bool) -> Callable[[object, str, _Event], str]:
    def paint(text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if colors else text

    def render(_logger: object, _method: str, event: _Event) -> str:
        values = dict(event)
        stamp, level = str(values.pop("timestamp")), str(values.pop("level"))
        said, traceback = str(values.pop("event")), values.pop("exception", None)
        line = [paint(stamp, "2"), paint(f"{level:<8}", _COLORS.get(level, "0")) + _printable(said)]
        line += [paint(_printable(name) + "=", "2") + _shown(value) for name, value in values.items()]
        below = [f"\n    | {_printable(one)}" for one in str(traceback).splitlines()] if traceback else []
        return " ".join(line) + "".join(below)

    return render


def _shown(value: object) -> str:
    if isinstance(value, str) and _BARE.fullmatch(value):
        return value
    return _printable(json.dumps(value, ensure_ascii=False))


def _printable(text: str) -> str:
    """The text with every character that is no plain mark or space written as its escape."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text)
