"""The settings as they are read.

The invariant: `node.toml`, the environment and the flags fill one frozen object, in that order, and nothing
reaches it unread: an unknown name is refused with the nearest known one, a wrong value with what is allowed.

Source: binding 9 and 10.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from descriptor.errors import quoted
from node import home, passphrase
from node.declared import PREFIX, Declared
from node.errors import Exit, NodeError
from node.handlers.settings import Handlers, read_handlers
from node.settings import (
    DECLARED,
    HANDLERS,
    SECTIONS,
    Agent,
    Discovery,
    FollowingLimits,
    Http,
    Jobs,
    Limits,
    Log,
    RegistryRole,
    Settings,
)

RESERVED = (home.VARIABLE, passphrase.VARIABLE)
"""Variables with the prefix that are no settings."""


def load(path: Path | None, environ: Mapping[str, str], overrides: Mapping[str, object]) -> Settings:
    """The settings of a file, over which stands the environment, over which stand flags by setting name.

    A file that is not there states nothing; so do an empty variable and a flag that is None.
    Raises NodeError (exit 2): CONFIG_UNREADABLE, SETTING_UNKNOWN, SETTING_INVALID, each with the place.
    """
    values, handlers = _from_file(path) if path else ({}, {})
    values |= _from_environ(environ)
    values |= _from_flags(overrides)
    agent = Agent(**_section(values, "agent"))
    if agent.organization_name and agent.acts_for not in (None, "organization"):
        raise _refused(
            "SETTING_INVALID",
            f'organization_name appears only beside acts_for = "organization", and acts_for is "{agent.acts_for}".',
        )
    return Settings(
        agent,
        Http(**_section(values, "http")),
        Discovery(**_section(values, "discovery")),
        FollowingLimits(**_section(values, "following")),
        RegistryRole(**_section(values, "registry")),
        Limits(**_section(values, "limits")),
        Jobs(**_section(values, "jobs")),
        Log(**_section(values, "log")),
        handlers,
    )


def _section(values: Mapping[str, Any], section: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if DECLARED[name].section == section}


def _from_file(path: Path) -> tuple[dict[str, object], Handlers]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}, {}
    except (OSError, ValueError, RecursionError) as error:
        # ValueError: what is no UTF-8, no TOML, or a number of thousands of digits. RecursionError: arrays without end.
        why = error.strerror if isinstance(error, OSError) else error
        raise _refused("CONFIG_UNREADABLE", f"{path} cannot be read: {why}.") from error
    values: dict[str, object] = {}
    try:
        handlers = read_handlers(document.pop(HANDLERS, {}))
    except ValueError as error:
        raise _refused("SETTING_INVALID", f"{path}: {error}") from error
    for section, table in document.items():
        if not isinstance(table, dict):
            raise _unknown(str(path), section, "outside every section")
        if section not in SECTIONS:
            near = _nearest(section, [*SECTIONS, HANDLERS])
            raise _refused("SETTING_UNKNOWN", f"{path}: there is no section [{_shown(section)}]; {near}")
        for name, value in table.items():
            one = DECLARED.get(name)
            if one is None or one.section != section:
                raise _unknown(str(path), name, f"in [{section}]")
            values[name] = _taken(one, value, f"{path}, [{section}] {name}")
    return values, handlers


def _from_environ(environ: Mapping[str, str]) -> dict[str, object]:
    by_variable = {one.variable: one for one in DECLARED.values()}
    values: dict[str, object] = {}
    for variable, text in environ.items():
        if not variable.startswith(PREFIX) or variable in RESERVED:
            continue
        one = by_variable.get(variable)
        if one is None:
            # Compared without the prefix, which would make every name near.
            ends = [known.removeprefix(PREFIX) for known in (*by_variable, *RESERVED)]
            near = _nearest(variable.removeprefix(PREFIX), ends, PREFIX)
            raise _refused("SETTING_UNKNOWN", f"The environment: there is no setting {_shown(variable)}; {near}")
        if text:
            values[one.name] = _taken(one, one.read(text), variable)
    return values


def _from_flags(overrides: Mapping[str, object]) -> dict[str, object]:
    values: dict[str, object] = {}
    for name, value in overrides.items():
        one, flag = DECLARED[name], "--" + name.replace("_", "-")
        if value is not None:
            values[name] = _taken(one, one.read(value) if isinstance(value, str) else value, flag)
    return values


def _taken(one: Declared, value: object, where: str) -> object:
    try:
        return one.take(value)
    except ValueError as error:
        raise _refused("SETTING_INVALID", f"{where} is {_written(value)}; it must be {error}.") from error


def _written(value: object) -> str:
    match value:
        case dict():
            return "a table"
        case list() | tuple():
            return "a list that is empty or holds something else"
        case int() if value.bit_length() > 64:
            return "a number of very many digits"
    return quoted(str(value))


def _unknown(where: str, name: str, place: str) -> NodeError:
    known = DECLARED.get(name)
    near = f"it stands in [{known.section}]." if known else _nearest(name, [*DECLARED])
    return _refused("SETTING_UNKNOWN", f"{where}: there is no setting {_shown(name)} {place}; {near}")


def _nearest(name: str, known: list[str], prefix: str = "") -> str:
    match get_close_matches(name, known, n=1):
        case [near]:
            section = f" in [{DECLARED[near].section}]" if near in DECLARED else ""
            return f"the nearest is {prefix}{near}{section}."
    return f"there are {', '.join(prefix + one for one in known)}."


def _shown(name: str) -> str:
    """A name from outside, safe to stand in a message, without quotes where it needs none."""
    return name if name.replace("_", "").isalnum() and len(name) < 60 else quoted(name)


def _refused(code: str, message: str) -> NodeError:
    return NodeError(code, message, Exit.UNREADABLE)
