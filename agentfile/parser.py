"""Bytes to an `AgentFile`, or to everything that keeps them from being one.

The invariants: nothing is raised, whatever the bytes are; there is a file exactly when no finding is an error; and of a
file that is not of version 1 nothing is looked at but its `$schema`.

    bytes -- $schema first in them, and unknown? --------------> refused: R2
      |      read as strict JSON, within the limits? -- no ----> refused: S5, S19.10
      |      an object, with a known $schema? --------- no ----> refused: R1, R2
      |      more values than any file has? ----------- yes ---> refused: S19.10
      v      every other rule, all at once ------------ errors > refused, with all findings
    AgentFile, and the warnings

When `$schema` is the first member, as it is where anybody has written the file with care, it is read from the bytes
before they are parsed. So a file of another version is told as such whatever else is in it, and however large it is.

Source: `.agent` format 7, 18 and 19 (item 10).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from agentfile.findings import AgentFileError, Finding
from agentfile.model import AgentFile
from agentfile.rules import CHECKS, Rule
from agentfile.rules.document import ENCODING, LIMITS, SCHEMA_MARKER, TOP, schema_problems, top_problems
from agentfile.rules.table import Document, Problem
from agentfile.shapes import read
from descriptor.errors import DescriptorError
from descriptor.levels import levels
from descriptor.rules.table import Severity
from descriptor.strictjson import MAX_DEPTH, JsonValue
from descriptor.strictjson import parse as parse_json

# Pages and facts are what a file can hold most of, and no declaration is: a personal export of years fits in these.
MAX_BYTES = 8 * 2**20
MAX_OBJECTS = 100_000
MAX_VALUES = 400_000

# A file full of one mistake is shown its first hundred: enough to see it, and bounded for whoever shows it.
MOST_FINDINGS_OF_A_RULE = 100

_BLANKS = rb"[ \t\r\n]*+"
_TEXT = rb'(?P<schema>"(?:[^"\\\x00-\x1f]|\\.){0,1000}+")'
_SCHEMA_FIRST = re.compile(_BLANKS.join((b"", rb"\{", rb'"\$schema"', b":", _TEXT)))
_OUT_OF_LIMITS = ("TOO_LARGE", "TOO_DEEP")


@dataclass(frozen=True)
class Parsed:
    """What `parse` made of some bytes. `file`: `None` when it is refused. `findings`: by section of the format."""

    file: AgentFile | None
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that refuse the file."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that do not."""
        return tuple(finding for finding in self.findings if finding.severity is not Severity.ERROR)

    def require(self) -> AgentFile:
        """The file. Raises `AgentFileError` `REFUSED`, with the findings, when there is none."""
        if self.file is None:
            raise AgentFileError.of(self.findings)
        return self.file


def parse(data: bytes, *, max_bytes: int = MAX_BYTES, max_depth: int = MAX_DEPTH) -> Parsed:
    """The `.agent` file that `data` is, with everything that is wrong with it. Raises nothing.

    `max_bytes` counts bytes; `max_depth` counts arrays and objects inside one another. Beside these, 100,000
    objects and 400,000 values in all are the most that are read.

    Source: 18.

    >>> [(finding.rule, finding.pointer) for finding in parse(b'{"$schema": "agent.v9", "id": 7}').findings]
    [('R2', '/$schema')]
    """
    if refused := _unknown_schema_first(data):
        return Parsed(None, refused)
    try:
        value = parse_json(data, max_bytes=max_bytes, max_depth=max_depth)
    except DescriptorError as error:
        rule = LIMITS if error.code in _OUT_OF_LIMITS else ENCODING
        said = error.message if rule is LIMITS or data.strip() else "The file is empty."
        return Parsed(None, _findings(rule, [(error.pointer or "", said)]))
    if refused := _findings(TOP, top_problems(value)):
        return Parsed(None, refused)
    document = Document(value if isinstance(value, dict) else {})
    if refused := _findings(SCHEMA_MARKER, schema_problems(document)):
        return Parsed(None, refused)
    if refused := _findings(LIMITS, _too_many(data, value)):
        return Parsed(None, refused)
    findings = tuple(finding for check in CHECKS for finding in _findings(check, check.find(document)))
    sound = all(finding.severity is not Severity.ERROR for finding in findings)
    return Parsed(read(AgentFile, value) if sound else None, findings)


def _unknown_schema_first(data: bytes) -> tuple[Finding, ...]:
    """The finding about a `$schema` that is the first member, and a text, and unknown."""
    match = _SCHEMA_FIRST.match(data)
    try:
        schema = json.loads(match["schema"]) if match else None
    except ValueError:  # not UTF-8, or an escape that JSON does not have: the whole is not JSON
        return ()
    return _findings(SCHEMA_MARKER, schema_problems(Document({"$schema": schema}))) if match else ()


def _too_many(data: bytes, value: JsonValue) -> Iterator[Problem]:
    brackets = data.count(b"{") + data.count(b"[")
    if brackets <= MAX_OBJECTS and brackets + data.count(b",") < MAX_VALUES:
        return  # so it is with every file that was not made to be a burden, and nothing has to be counted
    batches = [batch for _, batch in levels(value)]
    objects = sum(isinstance(one, dict) for batch in batches for one in batch)
    values = sum(map(len, batches))
    if objects > MAX_OBJECTS or values > MAX_VALUES:
        most = f"at most {MAX_OBJECTS:,} and {MAX_VALUES:,} are read."
        yield "", f"The file holds {objects:,} objects, and {values:,} values in all; {most}"


def _findings(rule: Rule, problems: Iterable[Problem]) -> tuple[Finding, ...]:
    listed = list(islice(problems, MOST_FINDINGS_OF_A_RULE + 1))
    findings = [
        Finding(pointer, rule.id, rule.section, rule.number, rule.severity, message, rule.remedy)
        for pointer, message in listed[:MOST_FINDINGS_OF_A_RULE]
    ]
    if len(listed) > MOST_FINDINGS_OF_A_RULE:
        more = f" There are more like this; the first {MOST_FINDINGS_OF_A_RULE} are listed."
        findings[-1] = replace(findings[-1], message=findings[-1].message + more)
    return tuple(findings)
