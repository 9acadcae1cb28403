"""The boundary, run config: what a request sets, against the settings that the agent declares.

Pure. A job runs under every declared setting: its default, unless the request sets another value that it takes. Only a
setting that is declared, and that a job may set, can be set; an agent that declares no run config takes none.

Source: chapter 6.2 (run configs).
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from descriptor.errors import quoted
from descriptor.rules.section_6_2_run_config import value_problem
from descriptor.strictjson import JsonValue
from descriptor.view import RunConfig
from descriptor.view.values import Setting
from entryway.asked import Asked
from entryway.boundary_inputs import listed, series
from entryway.errors import EntrywayError


def resolve_settings(run_config: RunConfig | None, asked: Asked) -> dict[str, JsonValue]:
    """The run configuration of a job, by the names of its settings. Raises EntrywayError RUN_CONFIG_REFUSED."""
    declared: Mapping[str, Setting] = {} if run_config is None else run_config.settings
    for name, value in asked.settings.items():
        setting = declared.get(name)
        if setting is None or not setting.job_may_set:
            may_set = [one.name for one in declared.values() if one.job_may_set]
            why = "The agent declares no setting" if setting is None else "A job may not set"
            what = f"Set only {listed(may_set, 'and')}." if may_set else "A job may set none; leave `run_config` out."
            raise _refused(asked.offering, name, f"{why} {quoted(name)}. {what}", {"allowed": [*may_set]})
        allowed = None if setting.allowed is None else frozenset(one for one in setting.allowed if _is_value(one))
        problem = value_problem(_declared(setting), allowed, value)
        if problem is not None:
            takes, what = _takes(setting)
            raise _refused(
                asked.offering, name, f"The setting {quoted(name)} does not take what was sent. {problem} {what}", takes
            )
    return {name: asked.settings.get(name, setting.default) for name, setting in declared.items()}


def _declared(setting: Setting) -> dict[str, JsonValue]:
    return {"kind": setting.kind, "default": setting.default}


def _takes(setting: Setting) -> tuple[dict[str, JsonValue], str]:
    """What a setting takes: for programs, and as what to do, for people."""
    if setting.allowed is not None:
        # One that is in the list and over the ceiling is not taken, and so is not told either.
        taken = [one for one in setting.allowed if value_problem(_declared(setting), None, one) is None]
        values = series([quoted(one) if isinstance(one, str) else json.dumps(one) for one in taken], "or")
        return {"allowed": taken}, f"Set it to {values}, or leave it out." if taken else "Leave it out."
    if setting.kind == "rule" and isinstance(setting.default, int | float) and not isinstance(setting.default, bool):
        return {"most": setting.default}, f"Set it to {setting.default} at most, or leave it out."
    return {"default": setting.default}, "Set one of that type, or leave it out."


def _is_value(value: JsonValue) -> bool:
    return isinstance(value, str | int | float)


def _refused(offering: str, name: str, message: str, more: Mapping[str, JsonValue]) -> EntrywayError:
    return EntrywayError("RUN_CONFIG_REFUSED", message, {"offering": offering, "setting": name, **more})
