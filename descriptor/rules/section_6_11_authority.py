"""Chapter 6.11, workspace and authority: what an offering works in, and what it can touch beyond what it is sent.

The list of authority is closed, and a reader who finds an unknown value in it reads none of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from descriptor.pointers import pointer_to
from descriptor.rules import forms
from descriptor.rules.section_6_2_members import system_name
from descriptor.rules.section_6_11 import OPEN, with_scope
from descriptor.rules.table import Document, Problem, Rule, Severity, described, objects, offerings
from descriptor.strictjson import JsonValue
from descriptor.vocabulary import (
    AUTHORITY,
    AUTHORITY_OVER_SYSTEMS,
    DECIDED_BY,
    SCOPES,
    SYSTEM_ACCESS,
    WORKSPACE_ACCESS,
)

_FILES = {"reads-files": WORKSPACE_ACCESS, "writes-files": WORKSPACE_ACCESS[1:]}


def authority_of(offering: dict[str, JsonValue]) -> list[JsonValue]:
    """The values an offering lists, readable or not; none when it lists none."""
    authority = offering.get("authority")
    return authority if isinstance(authority, list) else []


def _workspace(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        path: forms.Path = ("offerings", place)
        yield from forms.list_of_objects(offering, "workspace", path, required=offering.get("scope") == SCOPES[1])
        for index, entry in objects(offering.get("workspace")):
            yield from _workspace_entry(entry, (*path, "workspace", index))


def _workspace_entry(entry: dict[str, JsonValue], path: forms.Path) -> Iterator[Problem]:
    if "system" in entry:
        yield from forms.text(entry, "system", path)
        if "kind" in entry:
            yield pointer_to(*path, "kind"), "The entry names a system, and the kind of a resource too."
    else:
        yield from forms.text(entry, "kind", path, required=True)
        yield from forms.word(entry, "access", path, WORKSPACE_ACCESS, required=True)
    yield from forms.text(entry, "for", path, required="system" not in entry)


def _workspace_system(document: Document) -> Iterator[Problem]:
    declared = _declared(document)
    if declared is None:
        return
    for place, offering in offerings(document):
        for index, entry in objects(offering.get("workspace")):
            name, path = entry.get("system"), ("offerings", place, "workspace", index)
            if not isinstance(name, str) or not name.strip():
                continue
            if name not in declared:
                yield pointer_to(*path, "system"), f"No system named {described(name)} is listed in `systems`."
            elif "access" in entry and not (isinstance(access := entry["access"], str) and access in declared[name]):
                yield (
                    pointer_to(*path, "access"),
                    f"`systems` declares the access of this system otherwise than {described(entry['access'])}.",
                )


def _declared(document: Document) -> dict[str, set[str]] | None:
    """The accesses at which each system is declared, by its name. `None` when a system cannot be read, which may be the
    one that is meant: section 6.2 tells of it."""
    systems = document.get("systems", [])
    declared: dict[str, set[str]] = {}
    for system in systems if isinstance(systems, list) else [None]:
        name, access = (system_name(system), system.get("access")) if isinstance(system, dict) else (None, None)
        if not isinstance(name, str) or not isinstance(access, str) or access not in SYSTEM_ACCESS:
            return None
        declared.setdefault(name, set()).add(access)
    return declared


def _authority(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        yield from forms.items(offering, "authority", ("offerings", place))
        for index, value in enumerate(authority_of(offering)):
            if value not in AUTHORITY:
                yield (
                    pointer_to("offerings", place, "authority", index),
                    f"{described(value)} is no authority; readers take the whole list as not stated for it.",
                )


def _authority_stated(document: Document) -> Iterator[Problem]:
    for path, offering in with_scope(document, *OPEN):
        yield from forms.missing(offering, "authority", path, "Nobody can tell what the offering touches.")


def _authority_once(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        seen = set()
        for index, value in enumerate(authority_of(offering)):
            if isinstance(value, str) and value in seen:
                yield pointer_to("offerings", place, "authority", index), f"{described(value)} stands here twice."
            elif isinstance(value, str) and value in AUTHORITY:
                seen.add(value)


def _authority_decided_by(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        yield from forms.word(offering, "authority_decided_by", ("offerings", place), DECIDED_BY)


def _authority_over_systems(document: Document) -> Iterator[Problem]:
    declared = _declared(document)
    if declared is None:
        return
    accesses = set[str]().union(*declared.values())
    for place, offering in offerings(document):
        for index, value in enumerate(authority_of(offering)):
            access = AUTHORITY_OVER_SYSTEMS.get(value) if isinstance(value, str) else None
            if access is not None and access not in accesses:
                yield (
                    pointer_to("offerings", place, "authority", index),
                    f"{described(value)} is declared, and `systems` lists none with the access {access}.",
                )


def _authority_over_files(document: Document) -> Iterator[Problem]:
    for place, offering in offerings(document):
        entries = list(objects(offering.get("workspace")))
        if not isinstance(offering.get("workspace"), list) or any("system" in entry for _, entry in entries):
            continue
        for index, value in enumerate(authority_of(offering)):
            wanted = _FILES.get(value) if isinstance(value, str) else None
            if wanted is not None and not any(entry.get("access") in wanted for _, entry in entries):
                yield (
                    pointer_to("offerings", place, "authority", index),
                    f"{described(value)} is declared, and no workspace entry has the access {' or '.join(wanted)}.",
                )


RULES = (
    Rule(
        "D6.11-workspace",
        "6.11",
        Severity.ERROR,
        "`workspace` lists the resources an offering works in, by `kind`, `access` and `for`, or names a `system`; an "
        "open-with-focus offering states it, and an empty list says that it works on what it is sent.",
        'Write each as {"kind": "git", "access": "read-write", "for": "the repository the change is made in"}, or as '
        '{"system": "…"}.',
        _workspace,
    ),
    Rule(
        "D6.11-workspace-system",
        "6.11",
        Severity.ERROR,
        "A workspace entry that names a system names one of `systems`, and its access is the one declared there.",
        "List the system in `systems` with its access, or name one that is there; leave `access` to `systems`.",
        _workspace_system,
    ),
    Rule(
        "D6.11-authority",
        "6.11",
        Severity.ERROR,
        "`authority` lists what an offering can touch beyond its inputs and outputs, from a closed list; an empty list "
        "says that it touches nothing.",
        "Use only " + ", ".join(AUTHORITY) + ". A registry refuses the document otherwise.",
        _authority,
    ),
    Rule(
        "D6.11-authority-stated",
        "6.11",
        Severity.ERROR,
        "An open offering states its `authority`.",
        'List what it can touch, such as "authority": ["reads-files"]; an empty list says that it touches nothing.',
        _authority_stated,
    ),
    Rule(
        "D6.11-authority-once",
        "6.11",
        Severity.ERROR,
        "`authority` lists each value once.",
        "Take the second one out.",
        _authority_once,
    ),
    Rule(
        "D6.11-authority_decided_by",
        "6.11",
        Severity.ERROR,
        "`authority_decided_by` says what keeps a running job inside its authority.",
        'Write "rule" where the runtime stops the job, "model" where the model is only asked, or leave it out.',
        _authority_decided_by,
    ),
    Rule(
        "D6.11-authority-systems",
        "6.11",
        Severity.ERROR,
        "An authority over systems goes with an entry of `systems` at the matching access.",
        "List the system with the access read, write or trigger, or take the value out of `authority`.",
        _authority_over_systems,
    ),
    Rule(
        "D6.11-authority-files",
        "6.11",
        Severity.WARNING,
        "An authority over files is over the files of the workspace.",
        "Name what is read or written in `workspace`, or take the value out of `authority`.",
        _authority_over_files,
    ),
)
