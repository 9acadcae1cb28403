"""From an `.agent` file to a draft Descriptor, and a report of what became of each part of the file.

A draft states what the file says and nothing else: what the file does not say is left not stated, for the operator to
say. The invariant: the draft passes the checker without an error; no address, endpoint, credential or prompt of the
file is in it, and every part of the file is in the report. Nothing is executed, fetched or activated.

What is taken and given is in `interface`, what is reached in `reach`, and the report in `report`.

Source: chapters 6.2, 6.9 and 6.11; `.agent` format 3 and 19.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agentfile.builder import members
from agentfile.interface import inputs_of, outputs_of
from agentfile.model import AgentFile, Parameter
from agentfile.reach import authority_of, needs_of, systems_of
from agentfile.report import Became, Line, Notes, slug, untold
from agentfile.triggers import Support, trigger_reports
from descriptor.errors import quoted
from descriptor.leaks import leaks
from descriptor.pointers import pointer_to
from descriptor.rules.section_6_2 import FORMAT
from descriptor.rules.section_6_2_run_config import names_a_secret
from descriptor.strictjson import JsonValue

__all__ = ["Became", "Drafted", "Line", "draft_of"]

_GATED = "Effects outside are guarded against instructions that hide in what it reads: they"
_GATES = {"confirm": f"{_GATED} wait for a confirmation.", "refuse": f"{_GATED} are refused."}


@dataclass(frozen=True)
class Drafted:
    """A draft's members, ready to be written, and the report."""

    members: dict[str, JsonValue]
    report: tuple[Line, ...]


def draft_of(file: AgentFile) -> Drafted:
    """The draft Descriptor of a file that was parsed. Raises nothing."""
    notes, whole = Notes(), members(file)
    document: dict[str, JsonValue] = {
        "format": FORMAT,
        "agent_version": _version(file, notes),
        "does": _does(file, notes),
    }
    refusals = " ".join(_refusals(file, notes))
    systems = systems_of(file, notes)
    offering = _offering(file, notes)
    authority = authority_of(file, systems, notes)
    needs = [*needs_of(_list(whole.get("blueprint"), "tools"), notes)]
    offering |= ({"needs": needs} if needs else {}) | ({} if authority is None else {"authority": authority})
    document |= {"refusals": refusals} if refusals else {}
    document["offerings"] = [offering]
    document |= {"systems": [*systems]} if systems else {}
    document["run_config"] = {"settings": [*_settings(file, notes)]}
    _stays_out(file, [one for one in _list(whole, "triggers") if isinstance(one, dict)], notes)
    return Drafted(document, (*notes.lines, *untold(whole, notes.lines)))


def _list(holder: JsonValue, name: str) -> list[JsonValue]:
    value = holder.get(name) if isinstance(holder, dict) else None
    return value if isinstance(value, list) else []


def _version(file: AgentFile, notes: Notes) -> str:
    version = notes.text(file.version, "/version", "The version")
    if version is None:
        return "1"
    notes.carried("/version", f"The version, {quoted(version)}, is the `agent_version`.")
    return version


def _does(file: AgentFile, notes: Notes) -> str:
    said = notes.text(file.description, "/description", "The description")
    if said is not None:
        notes.carried("/description", "The description says what the agent `does`, and describes the offering.")
        return said
    return notes.text(file.name, "/name", "The name") or "Say here in one sentence what the agent does."


def _offering(file: AgentFile, notes: Notes) -> dict[str, JsonValue]:
    name = notes.text(file.name, "/name", "The name") or "Run"
    notes.carried("/name", f"The agent has one offering, {quoted(slug(name))}, named after it.")
    described = next(leaks(file.description), None) is None and " ".join(file.description.split())
    inputs, modes = inputs_of(file, notes)
    said = "so it reads as task-specific: say so in `scope` of the offering, or what else may be asked."
    notes.left("/blueprint", f"Nothing in the file says what the agent may be asked, {said}")
    offering: dict[str, JsonValue] = {
        "id": slug(name),
        "name": name,
        "description": described or name,
        "inputs": inputs,
        "outputs": outputs_of(file, notes),
    }
    return offering | ({"input_modes": modes} if modes else {})


def _refusals(file: AgentFile, notes: Notes) -> Iterator[str]:
    guardrails = file.blueprint.guardrails
    gate = _GATES.get(guardrails.side_effect_gate or "") if guardrails is not None else None
    if gate is not None:
        said = "is a refusal in words. Whatever runs the agent has to keep it: this node cannot."
        notes.carried("/blueprint/guardrails/sideEffectGate", f"The guard on effects outside {said}")
        yield gate
    elif guardrails is not None and guardrails.side_effect_gate is not None:
        notes.left("/blueprint/guardrails/sideEffectGate", "The guard on effects outside is off: nothing is refused.")
    for name in guardrails.other if guardrails is not None else ():
        said = "is not one that the format knows: if it refuses something, say it in `refusals`."
        notes.left(pointer_to("blueprint", "guardrails", name), f"The guardrail {quoted(name)} {said}")
    for place, caveat in enumerate(file.blueprint.caveats or ()):
        pointer = f"/blueprint/caveats/{place}"
        asked = notes.text(caveat.requested, f"{pointer}/requested", "What was asked for")
        doing = notes.text(caveat.doing, f"{pointer}/doing", "What is done instead")
        if asked is not None and doing is not None:
            notes.carried(pointer, "What the agent does not do, and what it does instead, is a refusal in words.")
            yield f"It does not do this: {asked.rstrip('.')}. It does this instead: {doing.rstrip('.')}."


def _settings(file: AgentFile, notes: Notes) -> Iterator[dict[str, JsonValue]]:
    model = notes.text(file.blueprint.primary_model, "/blueprint/primaryModel", "The model's name")
    if model is not None:
        notes.carried("/blueprint/primaryModel", f"The model, {quoted(model)}, is a setting that no job may change.")
        yield {"name": "model", "kind": "rule", "default": model, "allowed": [model], "job_may_set": False}
    named = {"model"}
    for place, one in enumerate(file.parameters or ()):
        if one.type == "file":
            continue  # it is an input
        pointer = f"/parameters/{place}"
        setting = _setting(one, pointer, notes)
        if setting is None:
            continue
        if setting["name"] in named:
            notes.left(pointer, f"The parameter {quoted(one.name)} has the name of another setting; give it another.")
            continue
        named.add(str(setting["name"]))
        notes.carried(
            pointer, f"The parameter {quoted(one.name)} is a setting; no job may change it unless you say so."
        )
        yield setting


def _setting(one: Parameter, pointer: str, notes: Notes) -> dict[str, JsonValue] | None:
    called = f"The parameter {quoted(one.name)}"
    if names_a_secret(one.name) or next(leaks(one.name), None):
        notes.left(pointer, f"{called} is by its name a credential or an address, which belongs to the installation.")
        return None
    default: JsonValue = one.default
    if isinstance(default, str):
        default = notes.text(default, f"{pointer}/default", f"The default of the parameter {quoted(one.name)}")
    if default is None:
        said = "has no default that can be stated, and a setting has one: state the setting if a job may choose it."
        notes.left(pointer, f"{called} {said}")
        return None
    setting: dict[str, JsonValue] = {"name": one.name, "kind": "preference", "default": default, "job_may_set": False}
    values = [option.value for option in one.options or ()]
    if values and default in values and all(type(value) is type(default) for value in values):
        if any(isinstance(value, str) and next(leaks(value), None) for value in values):
            notes.left(f"{pointer}/options", f"{called} has a choice that gives something away; say it without.")
        else:
            setting["allowed"] = list(dict.fromkeys(values))
    return setting


def _stays_out(file: AgentFile, triggers: list[dict[str, JsonValue]], notes: Notes) -> None:
    for report in trigger_reports(triggers):
        tell = notes.carried if report.support is Support.ANSWERED else notes.left
        tell(report.pointer, report.message)
    notes.left("/blueprint/systemPrompt", "The prompt stays with whatever runs the agent; a Descriptor holds none.")
    if file.evaluation is not None:
        said = "are for whatever runs the agent to carry out; a Descriptor claims nothing of them."
        notes.left("/evaluation", f"The checks before the agent is deployed {said}")
    private: Mapping[str, object] = {"brain": file.brain, "memory": file.memory}
    for name, held in private.items():
        if held:
            notes.left(f"/{name}", f"{quoted(name)} is private knowledge and stays out; do not hand this file on.")
