"""What an agent reaches, as systems by role and by name, as needs and as authority.

The invariant: nothing here says where a thing is, and authority is stated only where the file says all of what its
tools touch.

Source: chapters 6.2 and 6.9; `.agent` format 3, 9, 13 and 14.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentfile.credentials import credential_needs
from agentfile.model import AgentFile, McpTool, NangoTool, SourceRequirement, Tool, WebhookTool
from agentfile.report import Notes, slug
from agentfile.vocabulary import WRITE_CAPABILITIES
from descriptor.errors import quoted
from descriptor.strictjson import JsonValue

System = dict[str, JsonValue]

_READ_METHODS = frozenset({"GET", "HEAD"})
_TOOLS = "/blueprint/tools"


def systems_of(file: AgentFile, notes: Notes) -> list[System]:
    """Sources by label and providers by name, once for each access."""
    seen: dict[tuple[str, str], System] = {}
    for entry in (*_sources(file, notes), *_providers(file, notes), *_reads(file, notes)):
        seen.setdefault((str(entry["name"]), str(entry["access"])), entry)
    return [*seen.values()]


def _sources(file: AgentFile, notes: Notes) -> Iterator[System]:
    for place, source in enumerate(file.sources or ()):
        pointer = f"/sources/{place}"
        label = notes.text(source.label, f"{pointer}/label", f"The label of the source {quoted(source.id)}")
        name = label or source.role
        about = notes.text(source.description, f"{pointer}/description", f"The description of {quoted(source.id)}")
        said = "stays with whatever runs the agent: its structure, how fresh it has to be, what may be written where."
        notes.coarsened(pointer, f"{quoted(name)} is a system that the agent works on. The rest of it {said}")
        for access in _accesses(source):
            yield {"name": name, "access": access, "needs": about or name}


def _accesses(source: SourceRequirement) -> list[str]:
    asked, writing = set(source.access.capabilities), set(WRITE_CAPABILITIES)
    return [access for access, wanted in (("read", asked - writing), ("write", asked & writing)) if wanted]


def _providers(file: AgentFile, notes: Notes) -> Iterator[System]:
    for place, tool in enumerate(file.blueprint.tools):
        pointer = f"{_TOOLS}/{place}"
        if not isinstance(tool, NangoTool):
            notes.left(pointer, f"The tool {quoted(tool.name)} {_why_left(tool)}")
            continue
        name = notes.text(tool.provider, f"{pointer}/provider", "The provider's name")
        if name is not None:
            access = "read" if (tool.method or "GET").upper() in _READ_METHODS else "write"
            about = notes.text(tool.description, f"{pointer}/description", "The description of the tool")
            said = f"is a system that it may {access}. The address of the call stays out."
            notes.coarsened(pointer, f"The tool {quoted(tool.name)} calls {quoted(name)}, which {said}")
            yield {"name": name, "access": access, "needs": about or slug(tool.name)}


def _why_left(tool: Tool) -> str:
    match tool:
        case McpTool():
            return "is a server's (MCP), and its address stays out; say in `systems` what it touches."
        case WebhookTool():
            return "calls an address that stays out; say in `systems` what is behind it."
        case _:
            return "is built into whatever the file was made for; say in `systems` what it touches, if anything."


def _reads(file: AgentFile, notes: Notes) -> Iterator[System]:
    reads = file.connectivity.reads if file.connectivity is not None else None
    for place, read in enumerate(reads or ()):
        pointer = f"/connectivity/reads/{place}"
        name = notes.text(read.provider, f"{pointer}/provider", "The provider's name")
        what = notes.text(read.resource, f"{pointer}/resource", "What is read there")
        if name is not None and what is not None:
            notes.carried(pointer, f"It reads {quoted(what)} of {quoted(name)}: that is a system with read access.")
            yield {"name": name, "access": "read", "needs": what}


def authority_of(file: AgentFile, systems: Sequence[System], notes: Notes) -> list[JsonValue] | None:
    """What the agent may do to systems; `None` where a tool's reach is not known, which leaves it to the operator."""
    unknown = [tool.name for tool in file.blueprint.tools if not isinstance(tool, NangoTool)]
    if unknown:
        named = ", ".join(map(quoted, unknown[:3])) + (" and others" if len(unknown) > 3 else "")
        notes.left(_TOOLS, f"What {named} may touch is not in the file, so `authority` is not stated: state it.")
        return None
    reached = {str(one["access"]) for one in systems}
    return [value for value, access in (("reads-systems", "read"), ("updates-systems", "write")) if access in reached]


def needs_of(tools: Sequence[JsonValue], notes: Notes) -> Iterator[JsonValue]:
    """The sign-ins that the tools need, as credentials with their exact scopes. `tools`: as the file has them."""
    found = credential_needs(tools)
    for need in found.by_provider:
        name = notes.text(need.provider, _TOOLS, "The name of a provider")
        scope = notes.text(", ".join(need.scopes), _TOOLS, "A scope")
        if name is None:
            continue
        if scope is None:
            said = "and the file states no scope that can be stated: state the narrowest in `needs`."
            notes.left(_TOOLS, f"A sign-in to {quoted(name)} is needed, {said}")
            continue
        notes.carried(
            _TOOLS, f"A sign-in to {quoted(name)} is a need of the offering, with its exact scopes: {quoted(scope)}."
        )
        entry: dict[str, JsonValue] = {"credential": name, "scope": scope}
        used = notes.text(", ".join(need.tools), _TOOLS, "The name of a tool")
        yield entry | ({"description": f"For {used}."} if used else {})
    for one in found.unnamed:
        notes.left(_TOOLS, f"The tool {quoted(one.tool)} needs a sign-in and names no service: state it in `needs`.")
