"""`agentfile`: `.agent` files, looked at, rendered, matched, exported, and turned into a draft Descriptor.

Nothing of a file is executed, fetched or activated by any of these.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

import click

from agentfile import AgentFile, Parsed, build, file_name, members, parse
from agentfile.draft import Became, draft_of
from agentfile.findings import Finding
from agentfile.parameters import fill, settle
from agentfile.parameters import read as read_parameters
from agentfile.parser import MAX_BYTES
from agentfile.rules import UNREADABLE
from agentfile.structures import Part, match_structure
from descriptor.checker import check
from descriptor.errors import quoted
from descriptor.strictjson import JsonValue
from node.agent_needs import needs_document, needs_lines
from node.console import Console, finding_lines, operator_command, read_input
from node.errors import Exit, NodeError
from node.groups import Group
from node.spreadsheets import parts_in

_TOLD = {
    Became.CARRIED: "Carried over into the draft:",
    Became.COARSENED: "Carried over, and less exactly than the file says it:",
    Became.LEFT: "Left out, or left for you to state:",
}

_MOST_SHOWN = 10  # sheets


@click.group("agentfile", cls=Group)
def agentfile_command() -> None:
    """Look at `.agent` files, and turn one into a draft Descriptor.

    An `.agent` file describes an AI agent so that programs that know the format can run it. This node runs none: it
    says what is in the file, and makes a first Descriptor of it for you to finish. Nothing of a file is executed,
    fetched or activated. FILE may be - for stdin.
    """


@agentfile_command.command("check")
@click.argument("file")
@click.option("--strict", is_flag=True, help="Exit 1 for a warning too.")
@operator_command
def check_agentfile(console: Console, file: str, strict: bool) -> None:
    """Check a file against version 1 of the format.

    Every finding says what is wrong, where (a JSON Pointer), by which rule and section of the format, and what to do.
    Exit 0: clean, or warnings only; 1: errors, which refuse the file; 2: unreadable.
    """
    parsed = parse(_read(file))
    findings = [_finding(one) for one in parsed.findings]
    verdict = "unreadable" if _is_unreadable(parsed) else "findings" if findings else "clean"
    summary = {
        "clean": f"{file} is a sound .agent file.",
        "findings": f"{file} is refused: {_counted(parsed.errors, 'error')}, {_counted(parsed.warnings, 'warning')}."
        if parsed.errors
        else f"{file} is a sound .agent file, with {_counted(parsed.warnings, 'warning')}.",
        "unreadable": f"{file} cannot be read as an .agent file.",
    }
    lines = [*finding_lines(findings), summary[verdict]]
    console.result({"file": file, "verdict": verdict, "findings": findings}, lines)
    if verdict == "unreadable":
        raise SystemExit(Exit.UNREADABLE)
    if parsed.errors or (strict and findings):
        raise SystemExit(Exit.NO)


@agentfile_command.command("needs")
@click.argument("file")
@operator_command
def needs_command(console: Console, file: str) -> None:
    """Show what a file would reach, sign in to and start by itself, if something ran it."""
    parsed = _sound(file)
    needs = needs_document(parsed.require())
    warnings = [_finding(one) for one in parsed.warnings]
    console.result({**needs, "warnings": warnings}, [*needs_lines(needs), *_warning_lines(parsed)])


@agentfile_command.command("render")
@click.argument("file")
@click.argument("values", metavar="[NAME=VALUE]...", nargs=-1)
@operator_command
def render_command(console: Console, file: str, values: tuple[str, ...]) -> None:
    """Show the prompt with the parameters in it.

    The prompt is on stdout, and what is still needed is on stderr. Exit 1 when a value that is needed is missing or
    does not fit. A placeholder that has no value stays as it stands.
    """
    agent = _sound(file).require()
    given: dict[str, str] = {}
    for name, value in map(_assignment, values):
        if name in given:
            raise NodeError("INPUT_INVALID", f"{name} is given twice; give it one value.", Exit.UNREADABLE)
        given[name] = value
    settled = settle(read_parameters(_objects(agent, "parameters")), given)
    filled = fill(agent.blueprint.system_prompt, settled.values)
    problems = [{"name": one.name, "reason": one.reason, "message": one.message} for one in settled.problems]
    console.result({"prompt": filled.text, "left": [*filled.left], "problems": problems}, filled.text.splitlines())
    if not console.as_json:
        for one in settled.problems:
            console.note(f"- {one.message}")
        if filled.left:
            console.note(f"- Left as it stands, since it has no value: {', '.join(filled.left)}")
    if not settled.ready:
        raise SystemExit(Exit.NO)


@agentfile_command.command("match")
@click.argument("file")
@click.argument("name")
@click.argument("table")
@operator_command
def match_command(console: Console, file: str, name: str, table: str) -> None:
    """Match the header of TABLE (CSV, or each sheet of an XLSX) with the structure of a source or parameter.

    NAME is the id of a source or the name of a parameter of FILE. The header is the first row of TABLE that is not
    empty, but for a title of one cell above it; no other row is shown. Exit 1 when it does not have what is required,
    and then what is missing is named.
    """
    required, optional = _structure(_sound(file).require(), name)
    parts = parts_in(table)
    matched = match_structure(required, parts, optional)
    entries = [
        {"entry": one.entry, "required": place < len(matched.required), "met": one.met, "missing": [*one.missing]}
        | {"message": one.message}
        for place, one in enumerate((*matched.required, *matched.optional))
    ]
    lines = [f"{one['message']}{'' if one['required'] else ' (It is optional.)'}" for one in entries]
    lines.append(f"{table} fits." if matched.fits else f"{table} does not fit. It has {_shapes(parts)}.")
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

    The draft states what the file says and leaves the rest unstated; a report lists what was carried over, what was
    carried over less exactly, and what was left out. Finish it, check it, publish it. Without --output it is written
    into this directory, named after the agent.
    """
    parsed = _sound(file)
    agent = parsed.require()
    path = Path(output or file_name(agent).removesuffix(".agent") + ".draft.json")
    if not yes:
        _ask(console, parsed)
    drafted = draft_of(agent)
    data = json.dumps(drafted.members, indent=2, ensure_ascii=False).encode() + b"\n"
    report = check(data)
    if report.errors:
        raise NodeError("FINDINGS", f"The draft does not pass the checker: {report.errors[0].message}")
    _write(path, data)
    told = [{"became": one.became, "pointer": one.pointer, "message": one.message} for one in drafted.report]
    lines = [f"{path} is the draft.", ""]
    for became, title in _TOLD.items():
        of_it = [f"  - {one.message}  [{one.pointer}]" for one in drafted.report if one.became is became]
        lines += [title, *of_it, ""] if of_it else []
    lines += ["Next: finish the draft, and check it:", f"  agent-node check {path}"]
    lines += ["Then, with a home that is there already, or else with a new one:"]
    lines += [f"  agent-node publish {path}", f"  agent-node init --acts-for person --from {path}"]
    warnings = [_finding(one) for one in parsed.warnings]
    console.result({"draft": str(path), "report": told, "warnings": warnings}, lines)


def _shapes(parts: Sequence[Part]) -> str:
    """The tables of a file, each with how many columns were found in it, for whoever looks for the one meant."""
    counted = ((part.name, len(part.items) or "no", "" if len(part.items) == 1 else "s") for part in parts)
    told = [
        f"{quoted(name) if name else 'one table'} with {count} column{plural}"
        for name, count, plural in islice(counted, _MOST_SHOWN)
    ]
    more = [f"{len(parts) - _MOST_SHOWN} more"] if len(parts) > _MOST_SHOWN else []
    return ", ".join([*told, *more]) or "no table"


def _ask(console: Console, parsed: Parsed) -> None:
    """Raises NodeError CONSENT_NEEDED and NOT_DONE."""
    if console.as_json:
        raise NodeError("CONSENT_NEEDED", "With --json nobody can be asked: give --yes too.", Exit.UNREADABLE)
    for line in (*needs_lines(needs_document(parsed.require())), *_warning_lines(parsed), ""):
        console.note(line)
    try:
        agreed = click.confirm("Make a draft Descriptor of it?", err=True)
    except click.Abort:
        raise NodeError("CONSENT_NEEDED", "Nobody answered: give --yes to import it.", Exit.UNREADABLE) from None
    if not agreed:
        raise NodeError("NOT_DONE", "Nothing was written.")


@agentfile_command.command("export")
@click.argument("file")
@click.option("--personal", is_flag=True, help="Keep what is private (brain, memory); not to be handed on.")
@click.option("--output", type=click.Path(dir_okay=False), help="Write it here; stdout otherwise.")
@operator_command
def export_command(console: Console, file: str, personal: bool, output: str | None) -> None:
    """Write a file anew: under the current schema, shareable, with what is private left out.

    What to look at before it is handed on is on stderr.
    """
    parsed = _sound(file)
    agent = parsed.require()
    data = build(agent, now=time.time(), personal=personal)
    remarks = [*_remarks(agent, personal)]
    if output is not None:
        _write(Path(output), data)
    if console.as_json:
        written = {"file": json.loads(data)} if output is None else {"output": output, "size": len(data)}
        console.result({"name": file_name(agent), **written, "remarks": remarks}, ())
        return
    for line in (*_warning_lines(parse(data)), *remarks):
        console.note(line)
    if output is None:
        console.raw(data)
    else:
        console.result({}, [f"{output} is written. A name for it: {file_name(agent)}"])


def _remarks(agent: AgentFile, personal: bool) -> Iterable[str]:
    held = [name for name in ("brain", "memory") if getattr(agent, name) is not None]
    if held and not personal:
        yield f"Left out as private: {', '.join(held)}."
    from_whom = [name for name in ("sourceUrl", "sourceUserId") if name in (_metadata(agent))]
    if from_whom:
        yield f"It still says where it comes from (metadata: {', '.join(from_whom)}), which may name a person."


def _metadata(agent: AgentFile) -> Iterable[str]:
    metadata = members(agent).get("metadata")
    return metadata if isinstance(metadata, dict) else ()


def _write(path: Path, data: bytes) -> None:
    """Writes a file that is not there. Raises NodeError OUTPUT_EXISTS and OUTPUT_UNWRITABLE."""
    try:
        with path.open("xb") as target:
            target.write(data)
    except FileExistsError:
        raise NodeError("OUTPUT_EXISTS", f"{path} is there already; give another --output.", Exit.UNREADABLE) from None
    except OSError as error:
        raise NodeError("OUTPUT_UNWRITABLE", f"{path} cannot be written: {error.strerror}.", Exit.UNREADABLE) from error


def _read(file: str) -> bytes:
    return read_input(file, MAX_BYTES)


def _sound(file: str) -> Parsed:
    """A file that is not refused. Raises NodeError REFUSED, with all its errors, and INPUT_UNREADABLE."""
    parsed = parse(_read(file))
    if parsed.file is not None:
        return parsed
    findings = [_finding(one) for one in parsed.errors]
    if _is_unreadable(parsed):
        said = f"{file} cannot be read as an .agent file."
        raise NodeError("INPUT_UNREADABLE", said, Exit.UNREADABLE, {"findings": findings})
    said = f"{file} is refused: {_counted(parsed.errors, 'error')}. Nothing was done with it."
    raise NodeError("REFUSED", said, Exit.NO, {"findings": findings})


def _is_unreadable(parsed: Parsed) -> bool:
    return any(one.rule in UNREADABLE for one in parsed.findings)


def _counted(findings: tuple[Finding, ...], what: str) -> str:
    return f"{len(findings) or 'no'} {what}{'' if len(findings) == 1 else 's'}"


def _finding(one: Finding) -> dict[str, str | int | None]:
    return {
        "pointer": one.pointer,
        "rule": one.rule,
        "section": one.section,
        "number": one.number,
        "severity": one.severity.value,
        "message": one.message,
        "remedy": one.remedy,
    }


def _warning_lines(parsed: Parsed) -> Iterable[str]:
    return finding_lines(_finding(one) for one in parsed.warnings)


def _objects(agent: AgentFile, name: str) -> list[dict[str, JsonValue]]:
    listed = members(agent).get(name)
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _assignment(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise NodeError("INPUT_INVALID", f"{text} is no NAME=VALUE.", Exit.UNREADABLE)
    return name, value


def _structure(agent: AgentFile, name: str) -> tuple[Iterable[str], Iterable[str]]:
    """What is required and what is optional, of a source and, with the same name, of a parameter."""
    required = {one.id: [*(one.structure.required or ())] for one in agent.sources or () if one.structure is not None}
    optional = {one.id: [*(one.structure.optional or ())] for one in agent.sources or () if one.structure is not None}
    for one in agent.parameters or ():
        if one.artifact is not None and one.artifact.structure is not None:
            required.setdefault(one.name, []).extend(one.artifact.structure)
    if name not in required:
        known = ", ".join(required) or "nothing"
        raise NodeError("NOT_FOUND", f"The file asks for no structure of {name}. It asks for one of: {known}.")
    return dict.fromkeys(required[name]), optional.get(name, [])
