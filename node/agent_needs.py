"""What an `.agent` file would reach, sign in to and start by itself, for whoever decides what to do with it.

The invariant: what section 19 has a consumer show before anything else is shown as the file writes it: tools with
servers and endpoints, providers with exact scopes, what may be changed where, what runs with nobody there, what the
agent does not do, and that the file holds private knowledge. A URL that leads to a machine at home, and any other that
`agentfile.targets` refuses, is told as such: nothing is resolved for that.

Source: `.agent` format 8.3, 9.5 and 19 (items 2 to 6).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agentfile import AgentFile, members
from agentfile.credentials import Need, credential_needs
from agentfile.model import McpTool, NangoTool, SourceRequirement, Tool, WebhookTool
from agentfile.rules.evaluation import PRIVATE
from agentfile.targets import Refusal, judge_target
from agentfile.triggers import trigger_reports
from node.console import columns


def needs_document(agent: AgentFile) -> dict[str, Any]:
    """The needs of a file, as `agentfile needs --json` tells them."""
    blueprint: Any = members(agent)["blueprint"]
    triggers: Any = members(agent).get("triggers", [])
    found = credential_needs(blueprint["tools"])
    return {
        "name": agent.name,
        "version": agent.version,
        "description": agent.description,
        "tools": [
            {"name": tool.name, "kind": tool.kind, "reaches": _reaches(tool), "refusal": _refusal(tool)}
            for tool in agent.blueprint.tools
        ],
        "sign_ins": [_sign_in(need) for need in found.by_provider],
        "sign_ins_unnamed": [
            {"tool": one.tool, "reaches": one.target, "scopes": [*one.scopes]} for one in found.unnamed
        ],
        "sources": [_source(one) for one in agent.sources or ()],
        "triggers": [
            {"type": one.type, "support": one.support, "unattended": one.unattended, "message": one.message}
            for one in trigger_reports(triggers)
        ],
        "caveats": [
            {"requested": one.requested, "doing": one.doing, "why": one.why} for one in agent.blueprint.caveats or ()
        ],
        "private": [name for name in PRIVATE if getattr(agent, name)],
    }


def _sign_in(need: Need) -> dict[str, Any]:
    return {
        "provider": need.provider,
        "scopes": [*need.scopes],
        "tools": [*need.tools],
        "tools_without_scopes": [*need.without_scopes],
    }


def _source(one: SourceRequirement) -> dict[str, Any]:
    approval = one.approval
    return {
        "id": one.id,
        "label": one.label,
        "kind": one.kind,
        "required": one.required,
        "capabilities": [*one.access.capabilities],
        "boundaries": [*(one.access.boundaries or ())],
        "approval": {
            name: value
            for name in ("read", "write", "destructive")
            if approval is not None and (value := getattr(approval, name)) is not None
        },
    }


def _reaches(tool: Tool) -> str | None:
    match tool:
        case McpTool():
            return tool.server
        case WebhookTool():
            return f"{tool.method} {tool.url}" if tool.method else tool.url
        case NangoTool():
            return f"{tool.provider} {tool.method or 'GET'} {tool.endpoint}"
    return None


def _refusal(tool: Tool) -> str | None:
    """Why what a tool would ask is nothing that may be asked on behalf of a file, as far as its URL tells."""
    match tool:
        case WebhookTool():
            judged = judge_target(tool.url)
        case McpTool() if "://" in tool.server:
            judged = judge_target(tool.server)
        case _:
            return None
    return judged.reason if isinstance(judged, Refusal) else None


def needs_lines(needs: dict[str, Any]) -> Iterator[str]:
    """The same for people."""
    yield f"{needs['name']}, version {needs['version']}"
    yield f"  {needs['description']}"
    yield ""
    yield "Whatever runs this agent as the file says would"
    yield from _section("use these tools", [_tool_row(one) for one in needs["tools"]], "use no tools")
    yield from _section("sign in for you to", [*_sign_in_rows(needs)], "sign in nowhere")
    yield from _section("work with", [_source_row(one) for one in needs["sources"]], "work with no files or folders")
    alone = [one for one in needs["triggers"] if one["unattended"]]
    title = "start it with nobody there, which this node does not"
    yield from _section(title, [(one["message"],) for one in alone], "start it only when asked")
    yield ""
    yield "This node does none of that: it says what the agent does, and answers who asks."
    if needs["caveats"]:
        yield ""
        yield "Its author could not have it do all that was asked:"
        for one in needs["caveats"]:
            yield f"  Asked:    {one['requested']}"
            yield f"  It does:  {one['doing']}"
            yield f"  Because:  {one['why']}"
    if needs["private"]:
        yield ""
        held = " and ".join(needs["private"])
        yield f"WARNING: the file holds private knowledge of its owner ({held}). Do not hand it on; export it without."


def _section(title: str, rows: list[tuple[str, ...]], none: str) -> Iterator[str]:
    yield f"  {title}:" if rows else f"  {none}"
    yield from (f"    {row}" for row in (columns(rows) if rows else ()))


def _tool_row(tool: dict[str, Any]) -> tuple[str, str]:
    how = {
        "builtin": "built into whatever runs it",
        "mcp": f"runs or asks the server {tool['reaches']}",
        "webhook": f"calls {tool['reaches']}",
        "nango": f"calls {tool['reaches']}",
    }
    return tool["name"], how[tool["kind"]] + (f"; WARNING: {tool['refusal']}" if tool["refusal"] else "")


def _sign_in_rows(needs: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for one in needs["sign_ins"]:
        scopes = ", ".join(one["scopes"]) or "no scopes stated"
        without = f"; {', '.join(one['tools_without_scopes'])} without saying which scopes" if one["scopes"] else ""
        yield one["provider"], scopes, f"for {', '.join(one['tools'])}" + without * bool(one["tools_without_scopes"])
    for one in needs["sign_ins_unnamed"]:
        scopes = ", ".join(one["scopes"]) or "no scopes stated"
        yield "a service it does not name", scopes, f"for {one['tool']}, at {one['reaches']}"


def _source_row(source: dict[str, Any]) -> tuple[str, str, str]:
    approval = ", ".join(f"{name} approval {value}" for name, value in source["approval"].items())
    within = f"only within {'; '.join(source['boundaries'])}" if source["boundaries"] else ""
    terms = "; ".join(one for one in (approval, within) if one)
    kind = f"{source['label']} ({source['kind']}{'' if source['required'] else ', can do without'})"
    return kind, ", ".join(source["capabilities"]), terms
