"""`agentfile`: `.agent` files, looked at, rendered, matched, exported, and turned into a draft Descriptor.

Nothing of a file is executed, fetched or activated by any of these.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from agentfile import AgentFile, build, file_name, members, parse
from agentfile.credentials import credential_needs
from agentfile.draft import Became, draft_of
from agentfile.findings import Finding
from agentfile.model import McpTool, NangoTool, WebhookTool
from agentfile.parameters import fill, settle
from agentfile.parameters import read as read_parameters
from agentfile.structures import match_structure
from agentfile.triggers import trigger_reports
from descriptor.checker import check
from node.console import Console, columns, finding_lines, operator_command, read_input
from node.errors import Exit, NodeError
from node.spreadsheets import MOST_BYTES, parts_of


@click.group("agentfile")
def agentfile_command() -> None:
    """Look at `.agent` files, and turn one into a draft Descriptor.

    Nothing of a file is executed, fetched or activated. FILE may be - for stdin.
    """


@agentfile_command.command("check")
@click.argument("file")
@operator_command
def check_agentfile(console: Console, file: str) -> None:
    """Check a file against version 1 of the format. Exit 0: it can be read; 1: it is refused."""
    parsed = parse(read_input(file))
    findings = [_finding(one) for one in parsed.findings]
    verdict = "refused" if parsed.file is None else "sound"
    lines = [*finding_lines(findings), f"{file} is {verdict}."]
    console.result({"file": file, "verdict": verdict, "findings": findings}, lines)
    if parsed.file is None:
        raise SystemExit(Exit.NO)


@agentfile_command.command("needs")
@click.argument("file")
@operator_command
def needs_command(console: Console, file: str) -> None:
    """Show what a file would reach, sign in to and start by itself, if something ran it."""
    agent = _file(file)
    console.result(_needs(agent), _need_lines(agent))


@agentfile_command.command("render")
@click.argument("file")
@click.argument("values", metavar="[NAME=VALUE]...", nargs=-1)
@operator_command
def render_command(console: Console, file: str, values: tuple[str, ...]) -> None:
    """Show the prompt with the parameters in it. Exit 1 when a value that is needed is missing or does not fit."""
    agent = _file(file)
    given = dict(_assignment(value) for value in values)
    settled = settle(read_parameters(_objects(members(agent).get("parameters"))), given)
    filled = fill(agent.blueprint.system_prompt, settled.values)
    problems = [{"name": one.name, "reason": one.reason, "message": one.message} for one in settled.problems]
    console.result(
        {"prompt": filled.text, "left": list(filled.left), "problems": problems},
        [*filled.text.splitlines(), *(f"- {one.message}" for one in settled.problems)],
    )
    if not settled.ready:
        raise SystemExit(Exit.NO)


@agentfile_command.command("match")
@click.argument("file")
@click.argument("name")
@click.argument("table")
@operator_command
def match_command(console: Console, file: str, name: str, table: str) -> None:
    """Match the header of TABLE (CSV, or each sheet of an XLSX) with the structure of a source or parameter.

    NAME is the id of a source or the name of a parameter of FILE. Only the first row of TABLE is looked at. Exit 1 when
    it does not have what is required, and then what is missing is named.
    """
    required, optional = _structure(_file(file), name)
    matched = match_structure(required, parts_of(_table(table), table), optional)
    entries = [
        {"entry": one.entry, "met": one.met, "missing": list(one.missing), "message": one.message}
        for one in (*matched.required, *matched.optional)
    ]
    lines = [str(one["message"]) for one in entries]
    lines.append(f"{table} fits." if matched.fits else f"{table} does not fit.")
    console.result({"fits": matched.fits, "entries": entries}, lines)
    if not matched.fits:
        raise SystemExit(Exit.NO)


@agentfile_command.command("import")
@click.argument("file")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--output", type=click.Path(dir_okay=False), help="Where the draft goes; never over a file.")
@operator_command
def import_command(console: Console, file: str, yes: bool, output: str | None) -> None:
    """Turn a file into a draft Descriptor, after showing what the agent would need.

    The draft states what the file says and leaves the rest unstated; a report lists what was carried, coarsened and
    left behind. Finish it, check it, publish it.
    """
    agent = _file(file)
    path = Path(output or file_name(agent).removesuffix(".agent") + ".draft.json")
    if not yes:
        if console.as_json:
            raise NodeError("CONSENT_NEEDED", "With --json nobody can be asked: give --yes too.", Exit.UNREADABLE)
        for line in _need_lines(agent):
            console.note(line)
        if not click.confirm("Make a draft Descriptor of it?", err=True):
            raise NodeError("NOT_DONE", "Nothing was written.")
    drafted = draft_of(agent)
    data = json.dumps(drafted.members, indent=2, ensure_ascii=False).encode() + b"\n"
    report = check(data)
    if report.errors:
        raise NodeError("FINDINGS", f"The draft does not pass the checker: {report.errors[0].message}")
    try:
        with path.open("xb") as draft:
            draft.write(data)
    except FileExistsError:
        raise NodeError("OUTPUT_EXISTS", f"{path} is there already; give another --output.", Exit.UNREADABLE) from None
    except OSError as error:
        raise NodeError("OUTPUT_UNWRITABLE", f"{path} cannot be written: {error.strerror}.", Exit.UNREADABLE) from error
    told = [{"became": one.became, "pointer": one.pointer, "message": one.message} for one in drafted.report]
    lines = [f"{path} is the draft. Finish it, then: agent-node check {path}", ""]
    for became in Became:
        rows = [(one.pointer, one.message) for one in drafted.report if one.became is became]
        lines += [f"{became}:", *(f"  {row}" for row in columns(rows))] if rows else []
    console.result({"draft": str(path), "report": told}, lines)


@agentfile_command.command("export")
@click.argument("file")
@click.option("--personal", is_flag=True, help="Keep what is private (brain, memory); not to be handed on.")
@click.option("--output", type=click.Path(dir_okay=False), help="Write it here; stdout otherwise.")
@operator_command
def export_command(console: Console, file: str, personal: bool, output: str | None) -> None:
    """Write a file anew: under the current schema, shareable, with what is private left out."""
    agent = _file(file)
    data = build(agent, now=time.time(), personal=personal)
    if output is None:
        if console.as_json:
            console.result({"name": file_name(agent), "file": json.loads(data)}, ())
        else:
            console.raw(data)
        return
    try:
        with Path(output).open("xb") as target:
            target.write(data)
    except OSError as error:
        raise NodeError(
            "OUTPUT_UNWRITABLE", f"{output} cannot be written: {error.strerror}.", Exit.UNREADABLE
        ) from error
    console.result({"name": file_name(agent), "output": output, "size": len(data)}, [f"{output} is written."])


def _file(name: str) -> AgentFile:
    """Raises AgentFileError, which names the first finding, and NodeError."""
    return parse(read_input(name)).require()


def _finding(one: Finding) -> dict[str, str]:
    return {
        "pointer": one.pointer,
        "rule": one.rule,
        "section": one.section,
        "severity": one.severity.value,
        "message": one.message,
        "remedy": one.remedy,
    }


def _needs(agent: AgentFile) -> dict[str, Any]:
    found = credential_needs(_tools(agent))
    return {
        "tools": [{"name": tool.name, "kind": tool.kind, "reaches": _reaches(tool)} for tool in agent.blueprint.tools],
        "sign_ins": [
            {"provider": need.provider, "scopes": list(need.scopes), "tools": list(need.tools)}
            for need in found.by_provider
        ],
        "sign_ins_unnamed": [
            {"tool": one.tool, "reaches": one.target, "scopes": list(one.scopes)} for one in found.unnamed
        ],
        "sources": [
            {"id": one.id, "label": one.label, "capabilities": list(one.access.capabilities)}
            for one in agent.sources or ()
        ],
        "triggers": [
            {"type": one.type, "support": one.support, "unattended": one.unattended, "message": one.message}
            for one in trigger_reports(_objects(members(agent).get("triggers")))
        ],
        "caveats": [{"requested": one.requested, "doing": one.doing} for one in agent.blueprint.caveats or ()],
        "private": [name for name in ("brain", "memory") if getattr(agent, name)],
    }


def _need_lines(agent: AgentFile) -> list[str]:
    needs = _needs(agent)
    lines = [f"{agent.name}, version {agent.version}: {agent.description}"]
    for tool in needs["tools"]:
        lines.append(
            f"tool      {tool['name']} ({tool['kind']})" + (f", reaches {tool['reaches']}" if tool["reaches"] else "")
        )
    for one in needs["sign_ins"]:
        lines.append(f"sign-in   {one['provider']}: {', '.join(one['scopes']) or 'no scope stated'}")
    for one in needs["sign_ins_unnamed"]:
        lines.append(f"sign-in   for {one['tool']}, at {one['reaches']}, to a service it does not name")
    for one in needs["sources"]:
        lines.append(f"source    {one['label']}: {', '.join(one['capabilities'])}")
    for one in needs["triggers"]:
        lines.append(f"trigger   {one['message']}" + (" It would run with nobody there." if one["unattended"] else ""))
    for one in needs["caveats"]:
        lines.append(f"caveat    asked: {one['requested']} / does: {one['doing']}")
    if needs["private"]:
        lines.append(f"WARNING   it holds private knowledge ({', '.join(needs['private'])}): do not hand this file on.")
    return lines


def _reaches(tool: object) -> str | None:
    match tool:
        case McpTool():
            return tool.server
        case WebhookTool():
            return tool.url
        case NangoTool():
            return f"{tool.provider} {tool.method or 'GET'} {tool.endpoint}"
    return None


def _tools(agent: AgentFile) -> list[Any]:
    blueprint = members(agent)["blueprint"]
    tools = blueprint.get("tools") if isinstance(blueprint, dict) else None
    return tools if isinstance(tools, list) else []


def _objects(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _assignment(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise NodeError("INPUT_INVALID", f"{text} is no NAME=VALUE.", Exit.UNREADABLE)
    return name, value


def _structure(agent: AgentFile, name: str) -> tuple[Iterable[str], Iterable[str]]:
    for source in agent.sources or ():
        if source.id == name and source.structure is not None:
            return source.structure.required or (), source.structure.optional or ()
    for parameter in agent.parameters or ():
        if parameter.name == name and parameter.artifact is not None:
            return parameter.artifact.structure or (), ()
    known = [one.id for one in agent.sources or () if one.structure is not None]
    known += [one.name for one in agent.parameters or () if one.artifact is not None]
    raise NodeError(
        "NOT_FOUND", f"The file asks for no structure of {name}. It does of: {', '.join(known) or 'nothing'}."
    )


def _table(path: str) -> bytes:
    try:
        data = Path(path).read_bytes() if Path(path).stat().st_size <= MOST_BYTES else b""
    except OSError as error:
        raise NodeError("INPUT_UNREADABLE", f"{path} cannot be read: {error.strerror}.", Exit.UNREADABLE) from error
    if not data:
        raise NodeError("INPUT_UNREADABLE", f"{path} is empty, or larger than {MOST_BYTES} bytes.", Exit.UNREADABLE)
    return data
