"""What stands behind an offering: the tables `[handlers."<offering id>"]` of node.toml.

The invariant: a `Handler` names one program, in one of the three ways, and only limits that are applied to it; an
unknown name is refused with the nearest known one, a wrong value with what is allowed. Pure.

Source: binding 9.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any
from urllib.parse import urlsplit

from descriptor.errors import quoted
from descriptor.vocabulary import CEILINGS, MEMORY
from node.declared import Declared, declared_in, setting

AUTHORITY = "authority"
CLEAN_START = MEMORY[1]
MODEL_BUDGET = "model_budget_per_day"
ENFORCEABLE = (*CEILINGS, MODEL_BUDGET, AUTHORITY, CLEAN_START)
"""What a program can hold to. Of these the node itself applies job_seconds, and to a service not even that."""

WAYS = ("command", "python", "http")
_TABLES = "handlers has a table for each offering, such as [handlers.count-words]."
_OF_PROCESSES = ("memory_mb", "file_mb", "processes")


@dataclass(frozen=True)
class Handler:
    """The program behind one offering, and the limits of one job. State one of command, python and http."""

    command: tuple[str, ...] = setting(
        (),
        "A program and its arguments. It gets the job as JSON on stdin and answers with one JSON value on stdout; no "
        "shell is involved. A program with a slash in its name is found from the home of the node.",
        example=["./handlers/count-words"],
    )
    python: str | None = setting(
        None,
        'A Python function, as "module:function". The module is found in the directory handlers of the home, and '
        "imported anew for every job, in a process of its own. The function takes the job as a dict and returns the "
        "output; it may be async (trio).",
        one_word=True,
        example="letters:summarize",
    )
    http: str | None = setting(
        None,
        "The URL of a service on this machine (127.0.0.1, ::1 or localhost), which the job is POSTed to as JSON. It is "
        "a program that you start and stop; the node cannot end a job there, it only stops waiting.",
        one_word=True,
        example="http://127.0.0.1:8000/job",
    )
    seconds: float = setting(
        600.0,
        "How long a job may run. The offering's own job_seconds and what the request allows hold too; the least of "
        "them decides.",
        unit="seconds",
        low=0.1,
        high=604_800,
    )
    memory_mb: int = setting(
        1024,
        "The memory that each process of a job may have for itself. Memory that it shares is not counted.",
        unit="MiB",
        low=32,
        high=2**20,
    )
    file_mb: int = setting(1024, "The most that one file may grow to.", unit="MiB", low=1, high=2**20)
    processes: int = setting(64, "Processes that a job may have at a time.", unit="processes", low=1, high=4096)
    output_bytes: int = setting(
        2**20, "The most that the output of a job may be, as JSON.", unit="bytes", low=64, high=2**24
    )
    parallel: int = setting(1, "Jobs of this offering that run at the same time.", unit="jobs", low=1, high=256)
    enforces: tuple[str, ...] = setting(
        (),
        "What the Descriptor promises by rule and the program itself holds to, because the node cannot: it stops at "
        "the values that it is given. A Descriptor that promises one of these, and a program that does not enforce "
        "it, are refused together.",
        choices=ENFORCEABLE,
        example=["cost_per_job"],
    )

    @property
    def way(self) -> str:
        """`command`, `python` or `http`."""
        return next(way for way in WAYS if getattr(self, way))


HANDLER: Mapping[str, Declared] = {one.name: one for one in declared_in({"handlers": Handler})}
"""Every setting of a handler by its name, in the order of the page."""

Handlers = Mapping[str, Handler]
"""By the id of the offering."""


@dataclass(frozen=True, slots=True)
class Served:
    """What a node does about its offerings. `keep_days`: how long the outcome of a job is kept."""

    handlers: Handlers = field(default_factory=dict)
    keep_days: float = 0.0


def read_handlers(tables: object) -> dict[str, Handler]:
    """The handlers of a file. Raises ValueError with a sentence that says where, what, and what is allowed."""
    if not isinstance(tables, dict):
        raise ValueError(_TABLES)  # noqa: TRY004  # what an operator wrote, like every other refusal here
    return {offering: _handler(offering, table) for offering, table in tables.items()}


def _handler(offering: str, table: object) -> Handler:
    where = f"[handlers.{quoted(offering)}]"
    if not offering.strip():
        raise ValueError(f"{where} names no offering.")
    if not isinstance(table, dict):
        raise ValueError(f"{where} is none. {_TABLES}")  # noqa: TRY004  # as above
    values: dict[str, Any] = {}
    for name, value in table.items():
        one = HANDLER.get(name)
        if one is None:
            near = get_close_matches(name, HANDLER, n=1)
            known = f"the nearest is {near[0]}." if near else f"there are {', '.join(HANDLER)}."
            raise ValueError(f"{where}: there is no setting {quoted(name)}; {known}")
        try:
            values[name] = _command(value) if name == "command" else one.take(value)
        except ValueError as error:
            raise ValueError(f"{where} {name} must be {error}.") from error
    ways = [way for way in WAYS if way in values]
    if len(ways) != 1:
        stated = " and ".join(ways) or "none of them"
        raise ValueError(f"{where} states {stated}; it must state one of {', '.join(WAYS)}.")
    return Handler(**_checked(where, values))


def _checked(where: str, values: dict[str, Any]) -> dict[str, Any]:
    if "python" in values and not _is_function(values["python"]):
        raise ValueError(f'{where} python must be a module and a function, such as "letters:summarize".')
    if "http" in values:
        if not _is_loopback(values["http"]):
            raise ValueError(
                f"{where} http must be an http URL of this machine, such as http://127.0.0.1:8000/job, without a name "
                "or password in it."
            )
        unapplied = [name for name in _OF_PROCESSES if name in values]
        if unapplied:
            raise ValueError(
                f"{where} {unapplied[0]} is not applied to a service, which is no process of the node: limit it where "
                "you start it, and take the setting out."
            )
    return values


def _command(value: object) -> tuple[str, ...]:
    listed: Sequence[object] = value if isinstance(value, list) else ()
    command = tuple(one for one in listed if isinstance(one, str) and "\0" not in one)
    if not command or len(command) != len(listed) or not command[0].strip():
        raise ValueError('a list of texts, a program and its arguments, such as ["./handlers/count-words", "--short"]')
    return command


def _is_function(text: str) -> bool:
    module, colon, name = text.partition(":")
    return bool(colon) and all(part.isidentifier() for part in (*module.split("."), *name.split(".")))


def _is_loopback(url: str) -> bool:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
        if parts.scheme != "http" or host is None or "@" in parts.netloc:
            return False
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
