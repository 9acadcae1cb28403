"""From an `.agent` file to a draft Descriptor, and a report of what became of each part of the file.

A draft states what the file says and nothing else: what the file does not say is left not stated, for the operator to
say. The invariant: the draft passes the checker without an error; no address, endpoint, credential or prompt of the
file is in it, and every part that is not carried as it stands is in the report. Nothing is executed, fetched or
activated.

Source: chapters 6.2, 6.9 and 6.11; `.agent` format 3 and 19.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from agentfile.builder import members
from agentfile.credentials import credential_needs
from agentfile.model import AgentFile, NangoTool, Parameter, SourceRequirement
from agentfile.triggers import trigger_reports
from agentfile.vocabulary import WRITE_CAPABILITIES
from descriptor.kinds import is_media_type
from descriptor.leaks import leaks
from descriptor.rules.section_6_2 import FORMAT
from descriptor.rules.section_6_2_run_config import names_a_secret
from descriptor.strictjson import JsonValue

_READ_METHODS = frozenset({"GET", "HEAD"})
_MODALITY_KINDS = {"text": "text", "audio": "document", "image": "document"}
_FILE_TYPES = frozenset({"file", "artifact", "document"})


class Became(StrEnum):
    """What became of a part of the file."""

    CARRIED = "carried"
    COARSENED = "coarsened"
    LEFT = "left"


@dataclass(frozen=True)
class Line:
    """One line of the report. `pointer`: JSON Pointer in the `.agent` file. `message`: for people."""

    became: Became
    pointer: str
    message: str


@dataclass(frozen=True)
class Drafted:
    """A draft's members, ready to be written, and the report."""

    members: dict[str, JsonValue]
    report: tuple[Line, ...]


def draft_of(file: AgentFile) -> Drafted:
    """The draft Descriptor of a file that was parsed. Raises nothing."""
    return _Drafting(file).drafted()


@dataclass
class _Drafting:
    file: AgentFile
    report: list[Line] = field(default_factory=list)

    def drafted(self) -> Drafted:
        file = self.file
        document: dict[str, JsonValue] = {"format": FORMAT, "agent_version": self._version(), "does": self._does()}
        systems = list(self._systems())
        refusals = " ".join(self._refusals())
        if refusals:
            document["refusals"] = refusals
        document["offerings"] = [self._offering(systems)]
        if systems:
            document["systems"] = list(systems)
        document["run_config"] = {"settings": list(self._settings())}
        for report in trigger_reports(self._list("triggers")):
            self._left(report.pointer, report.message)
        self._private()
        self._left("/blueprint/systemPrompt", "The prompt stays with whatever runs the agent; a Descriptor has none.")
        if file.evaluation is not None:
            self._left(
                "/evaluation", "Checks before a deployment are the runtime's; a Descriptor makes no claim of them."
            )
        if file.connectivity is not None and file.connectivity.delivers:
            self._left("/connectivity/delivers", "What is delivered to its owner is the answer of a request here.")
        return Drafted(document, tuple(self.report))

    def _carried(self, pointer: str, message: str) -> None:
        self.report.append(Line(Became.CARRIED, pointer, message))

    def _coarsened(self, pointer: str, message: str) -> None:
        self.report.append(Line(Became.COARSENED, pointer, message))

    def _left(self, pointer: str, message: str) -> None:
        self.report.append(Line(Became.LEFT, pointer, message))

    def _list(self, name: str) -> list[dict[str, JsonValue]]:
        listed = members(self.file).get(name)
        return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []

    def _text(self, text: str | None, pointer: str) -> str | None:
        """A text that may stand in a Descriptor, on one line; `None`, and told, when it gives something away."""
        said = " ".join((text or "").split())
        if not said:
            return None
        leak = next(leaks(said), None)
        if leak is None:
            return said
        self._left(pointer, f"It holds {leak.what}, which no Descriptor may; say it without.")
        return None

    def _version(self) -> str:
        version = self._text(self.file.version, "/version")
        if version is None:
            return "1"
        self._carried("/version", "It is the `agent_version`.")
        return version

    def _does(self) -> str:
        said = self._text(self.file.description, "/description")
        if said is not None:
            self._carried("/description", "It is `does`, and describes the offering.")
            return said
        return self._text(self.file.name, "/name") or "Say here in one sentence what the agent does."

    def _offering(self, systems: Sequence[dict[str, JsonValue]]) -> dict[str, JsonValue]:
        name = self._text(self.file.name, "/name") or "Run"
        offering: dict[str, JsonValue] = {
            "id": _slug(name),
            "name": name,
            "description": self._text(self.file.description, "/description") or name,
            "inputs": list(self._inputs()),
            "outputs": list(self._outputs()),
        }
        needs = list(self._needs())
        if needs:
            offering["needs"] = list(needs)
        authority = self._authority(systems)
        if authority is not None:
            offering["authority"] = list(authority)
        self._left(
            "/blueprint", "It does not say what may be asked: without `scope` the offering reads as task-specific."
        )
        return offering

    def _inputs(self) -> Iterator[dict[str, JsonValue]]:
        accepted = [one for one in self.file.inputs.accepts if one in _MODALITY_KINDS]
        for modality in accepted:
            entry: dict[str, JsonValue] = {"name": modality, "kind": _MODALITY_KINDS[modality]}
            if len(accepted) > 1:
                entry["one_of"] = "input"
            yield entry
            if _MODALITY_KINDS[modality] == "document":
                self._coarsened(
                    "/inputs/accepts", f"{modality} is any document here: state which media types in `input_modes`."
                )
        for place, one in enumerate(self.file.parameters or ()):
            if one.artifact is not None or one.type in _FILE_TYPES:
                yield self._file_input(one, f"/parameters/{place}", {*accepted})

    def _file_input(self, one: Parameter, pointer: str, taken: set[str]) -> dict[str, JsonValue]:
        kinds = [entry for entry in (one.artifact.accepts if one.artifact else ()) if is_media_type(entry)]
        name = _slug(one.name)
        if len(kinds) == 1:
            self._carried(pointer, "It is an input.")
        else:
            self._coarsened(pointer, "It is an input, of any document: the file does not name one media type.")
        return {
            "name": f"{name}-file" if name in taken else name,
            "kind": kinds[0] if len(kinds) == 1 else "document",
            "required": one.required,
        }

    def _outputs(self) -> Iterator[dict[str, JsonValue]]:
        outputs = self.file.outputs
        if outputs is None:
            self._left(
                "/outputs", "The file does not say what comes back, and the offering lists no output: state them."
            )
        elif outputs.shape == "json":
            self._carried("/outputs", "It is an output.")
            yield {"name": "answer", "kind": "application/json", "when": "per_task"}
        elif outputs.shape == "text":
            self._carried("/outputs", "It is an output.")
            yield {"name": "answer", "kind": "text", "when": "per_task"}
        else:
            self._carried("/outputs", "The agent acts in silence: the offering lists no output.")

    def _systems(self) -> Iterator[dict[str, JsonValue]]:
        """Sources by role and providers by name, once for each access. Never where they are."""
        seen: set[tuple[str, str]] = set()
        for entry in (*self._source_systems(), *self._provider_systems()):
            key = (str(entry["name"]), str(entry["access"]))
            if key not in seen:
                seen.add(key)
                yield entry

    def _source_systems(self) -> Iterator[dict[str, JsonValue]]:
        for place, source in enumerate(self.file.sources or ()):
            pointer = f"/sources/{place}"
            name = self._text(source.label, f"{pointer}/label") or self._text(source.role, f"{pointer}/role")
            if name is None:
                continue
            needs = self._text(source.description, f"{pointer}/description") or name
            self._coarsened(
                pointer, "It is a system by its label; structure, freshness and boundaries are the runtime's."
            )
            for access in _accesses(source):
                yield {"name": name, "access": access, "needs": needs}

    def _provider_systems(self) -> Iterator[dict[str, JsonValue]]:
        for place, tool in enumerate(self.file.blueprint.tools):
            pointer = f"/blueprint/tools/{place}"
            if not isinstance(tool, NangoTool):
                continue
            name = self._text(tool.provider, f"{pointer}/provider")
            if name is not None:
                access = "read" if (tool.method or "GET").upper() in _READ_METHODS else "write"
                self._coarsened(pointer, "It is a system by its provider's name; the endpoint stays out.")
                yield {
                    "name": name,
                    "access": access,
                    "needs": self._text(tool.description, pointer) or _slug(tool.name),
                }
        reads = self.file.connectivity.reads if self.file.connectivity is not None else None
        for place, read in enumerate(reads or ()):
            pointer = f"/connectivity/reads/{place}"
            name, what = self._text(read.provider, pointer), self._text(read.resource, pointer)
            if name is not None and what is not None:
                self._carried(pointer, "It is a system that is read.")
                yield {"name": name, "access": "read", "needs": what}

    def _authority(self, systems: Sequence[dict[str, JsonValue]]) -> list[str] | None:
        """What is reached, where the file says all of it: a tool whose reach is not known leaves the list unstated."""
        unknown = [tool for tool in self.file.blueprint.tools if not isinstance(tool, NangoTool)]
        if unknown:
            self._left(
                "/blueprint/tools", "What some of the tools touch is not in the file: state `authority` yourself."
            )
            return None
        reached = {str(one["access"]) for one in systems}
        return [
            value for value, access in (("reads-systems", "read"), ("updates-systems", "write")) if access in reached
        ]

    def _needs(self) -> Iterator[dict[str, JsonValue]]:
        found = credential_needs(self._tools())
        for need in found.by_provider:
            name = self._text(need.provider, "/blueprint/tools")
            scope = self._text(", ".join(need.scopes), "/blueprint/tools")
            if name is None:
                continue
            if scope is None:
                self._left(
                    "/blueprint/tools", f"A sign-in to {name} is needed with no scope stated: state the narrowest."
                )
                continue
            used = self._text(", ".join(need.tools), "/blueprint/tools")
            self._carried("/blueprint/tools", f"A sign-in to {name} is a credential need, with its exact scopes.")
            entry: dict[str, JsonValue] = {"credential": name, "scope": scope}
            if used is not None:
                entry["description"] = f"For {used}."
            yield entry
        for one in found.unnamed:
            self._left(
                "/blueprint/tools", f"The tool {_slug(one.tool)} needs a sign-in and names no service: state the need."
            )

    def _tools(self) -> list[JsonValue]:
        blueprint = members(self.file).get("blueprint")
        tools = blueprint.get("tools") if isinstance(blueprint, dict) else None
        return tools if isinstance(tools, list) else []

    def _refusals(self) -> Iterator[str]:
        guardrails = self.file.blueprint.guardrails
        gate = guardrails.side_effect_gate if guardrails is not None else None
        said = self._text(gate, "/blueprint/guardrails")
        if said is not None:
            self._carried("/blueprint/guardrails", "It is a refusal, in words.")
            yield f"What has an effect outside is gated: {said}."
        for place, caveat in enumerate(self.file.blueprint.caveats or ()):
            pointer = f"/blueprint/caveats/{place}"
            asked, doing = self._text(caveat.requested, pointer), self._text(caveat.doing, pointer)
            if asked is not None and doing is not None:
                self._carried(pointer, "It is a refusal, in words.")
                yield f"It does not do this: {asked.rstrip('.')}. It does this instead: {doing.rstrip('.')}."

    def _settings(self) -> Iterator[dict[str, JsonValue]]:
        model = self._text(self.file.blueprint.primary_model, "/blueprint/primaryModel")
        if model is not None:
            self._carried("/blueprint/primaryModel", "It is the setting `model`, which no job may change.")
            yield {"name": "model", "kind": "rule", "default": model, "allowed": [model], "job_may_set": False}
        named = {"model"}
        for place, one in enumerate(self.file.parameters or ()):
            pointer = f"/parameters/{place}"
            if one.artifact is not None or one.type in _FILE_TYPES:
                continue
            setting = self._setting(one, pointer)
            if setting is None:
                continue
            if setting["name"] in named:
                self._left(pointer, "Another setting has this name.")
                continue
            named.add(str(setting["name"]))
            self._carried(pointer, "It is a setting, which no job may change unless you say so.")
            yield setting

    def _setting(self, one: Parameter, pointer: str) -> dict[str, JsonValue] | None:
        name = self._text(one.name, pointer)
        if name is None or names_a_secret(name):
            self._left(pointer, "By its name it is a credential or an address, which belongs to the installation.")
            return None
        default = self._text(one.default, pointer) if isinstance(one.default, str) else one.default
        if default is None:
            self._left(pointer, "It has no default that may be published, and a setting has one.")
            return None
        setting: dict[str, JsonValue] = {"name": name, "kind": "preference", "default": default, "job_may_set": False}
        values = [option.value for option in one.options or ()]
        if values and default in values and all(type(value) is type(default) for value in values):
            if any(isinstance(value, str) and next(leaks(value), None) for value in values):
                self._left(f"{pointer}/options", "An option holds what no Descriptor may.")
            else:
                setting["allowed"] = list(dict.fromkeys(values))
        return setting

    def _private(self) -> None:
        for name in ("brain", "memory"):
            if getattr(self.file, name):
                self._left(f"/{name}", "It is private and stays out; do not hand this file on.")


def _accesses(source: SourceRequirement) -> list[str]:
    asked, writing = set(source.access.capabilities), set(WRITE_CAPABILITIES)
    return [access for access, wanted in (("read", asked - writing), ("write", asked & writing)) if wanted]


def _slug(text: str) -> str:
    """Small letters and digits, with `-` between."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return "-".join(re.findall(r"[a-z0-9]+", plain))[:60].strip("-") or "run"
