"""What an agent takes and gives, as the inputs and outputs of an offering.

The invariant: every input has a name of its own, and a kind is never narrower than the file says.

Source: chapters 6.2, 6.3 and 6.9; `.agent` format 10.2 and 11.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentfile.model import AgentFile, Parameter
from agentfile.report import Notes, slug
from descriptor.errors import quoted
from descriptor.kinds import is_media_type, media_type_of
from descriptor.strictjson import JsonValue

_TEXT, _DOCUMENT = "text", "document"


def inputs_of(file: AgentFile, notes: Notes) -> tuple[list[JsonValue], list[JsonValue]]:
    """The inputs, and the media types of the documents among them; of those none, where not all of them are known."""
    modalities = [*dict.fromkeys(file.inputs.accepts)]
    inputs = [*_modalities(modalities, notes)]
    taken = {*modalities}
    types: dict[str, None] = {}
    known = set(modalities) <= {_TEXT}
    for place, one in enumerate(file.parameters or ()):
        if one.type != "file":
            continue
        of_one = _media_types(one)
        known = known and of_one is not None
        types |= dict.fromkeys(of_one or ())
        inputs.append(_file_input(one, f"/parameters/{place}", of_one or [], taken, notes))
    return [*inputs], [*types] if known else []


def _modalities(accepted: list[str], notes: Notes) -> Iterator[dict[str, JsonValue]]:
    for modality in accepted:
        entry: dict[str, JsonValue] = {"name": modality, "kind": _TEXT if modality == _TEXT else _DOCUMENT}
        yield entry | ({"one_of": "input"} if len(accepted) > 1 else {})
    if set(accepted) <= {_TEXT}:
        notes.carried("/inputs/accepts", "The agent takes text: that is the input of the offering.")
        return
    said = f"The agent takes {', '.join(accepted)}, and what is not text is any document here: the file names no media"
    notes.coarsened("/inputs/accepts", f"{said} types. List those that it takes in `input_modes` of the offering.")


def _media_types(one: Parameter) -> list[str] | None:
    """What a file parameter accepts, where every entry of it is a media type or the ending of one."""
    accepts = one.artifact.accepts if one.artifact is not None else ()
    types = [entry if is_media_type(entry) else media_type_of(entry.strip().removeprefix(".")) for entry in accepts]
    return [*dict.fromkeys(one for one in types if one)] if types and all(types) else None


def _file_input(one: Parameter, pointer: str, types: list[str], taken: set[str], notes: Notes) -> dict[str, JsonValue]:
    name = slug(one.name)
    while name in taken:
        name += "-file"
    taken.add(name)
    called = f"The file that the agent asks for as {quoted(one.label)} is the input {quoted(name)} of the offering"
    if len(types) == 1:
        notes.carried(pointer, f"{called}. What it has to look like inside stays out.")
    else:
        notes.coarsened(pointer, f"{called}, as any document: the file does not name one media type.")
    return {"name": name, "kind": types[0] if len(types) == 1 else _DOCUMENT, "required": one.required}


def outputs_of(file: AgentFile, notes: Notes) -> list[JsonValue]:
    """What the offering gives."""
    if file.outputs is None:
        notes.left("/outputs", "The file does not say what the agent gives, so the offering lists no output: state it.")
        return []
    if file.outputs.shape == "void":
        notes.carried("/outputs/shape", "The agent acts and says nothing: the offering lists no output.")
        return []
    kind = "application/json" if file.outputs.shape == "json" else _TEXT
    notes.carried("/outputs/shape", f"The agent gives {file.outputs.shape}: that is the output of the offering.")
    return [{"name": "answer", "kind": kind, "when": "per_task"}]
