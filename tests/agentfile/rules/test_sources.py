"""Source requirements: rule 21, the closed schemas and the coherence of section 14.6."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agentfile.cases import SOURCE, Case, accepted, file, judge, refused, source
from tests.agentfile.rules.test_blueprint import NO_FLAG, NO_LIST, NO_OBJECT, NO_TEXT

AT = "/sources/0"
FRESHNESS = {"mode": "snapshot", "onStale": "warn"}
TRUTH = {"authority": "reference", "conflictPolicy": "ask", "citations": "none"}
SHARING = {"strategy": "rebind"}
CONTRACTS: dict[str, dict[str, Any]] = {
    "accepts": {"extensions": [".csv"]},
    "structure": {"required": ["id"]},
    "freshness": FRESHNESS,
    "truth": TRUTH,
    "access": {"capabilities": ["read"]},
    "approval": {"read": "on-bind"},
    "sharing": SHARING,
}
NO_WORD: tuple[Any, ...] = ("", "other", *NO_TEXT)
WRITES = ("write", "append", "create")
IN_SCHEMAS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"path": "/srv/book.xlsx"}, "/path"),
    ({"locator": {"drive": 1}}, "/locator"),
    ({"credential_ref": True}, "/credential_ref"),
    ({"properties": {"path": "/srv/book.xlsx"}}, "/properties/path"),
    ({"properties": {"path": {"type": "string", "volume": "srv"}}}, "/properties/path"),
    ({"columns": {"path": {"id": "1Ab"}}}, "/columns/path"),
    ({"properties": {"properties": {"url": "x"}}}, "/properties/properties/url"),
    ({"properties": {"id": {"default": [{"url": "x"}]}}}, "/properties/id/default/0/url"),
    ({"allOf": [{}, [{"x": {"revision": 7}}]]}, "/allOf/1/0/x/revision"),
)
PRIVATE = ("locator", "credentialRef", "adapterId", "path", "url", "revision", "displayName")


def contract(name: str, **members: Any) -> dict[str, Any]:
    """A file whose one source has this contract, with these members in it; one that is `...` is left out."""
    whole = {one: value for one, value in {**CONTRACTS[name], **members}.items() if value is not ...}
    return source(**{name: whole})


def words(name: str, member: str, known: str, *wrong: Any) -> list[Case]:
    """Cases of a member with a closed vocabulary, in the contract `name`."""
    rule = {"freshness": "S14.2", "truth": "S14.3", "approval": "S14.4", "sharing": "S14.5"}[name]
    return [
        *accepted(rule, *(contract(name, **{member: one}) for one in known.split())),
        *refused(rule, *((contract(name, **{member: one}), f"{AT}/{name}/{member}") for one in (*wrong, *NO_WORD))),
    ]


def capable(*capabilities: Any, **members: Any) -> dict[str, Any]:
    return source(access={"capabilities": list(capabilities)}, **members)


def many(*ids: Any) -> dict[str, Any]:
    return file(sources=[{**SOURCE, "id": one} for one in ids])


CASES: list[Case] = [
    *accepted("R21", file(sources=[]), source()),
    *refused(
        "R21",
        *((file(sources=value), "/sources") for value in NO_LIST),
        *((file(sources=[SOURCE, value]), "/sources/1") for value in NO_OBJECT),
    ),
    *accepted("S14-count", many(*(f"s{n}" for n in range(30)))),
    *refused("S14-count", (many(*(f"s{n}" for n in range(31))), "/sources")),
    *accepted("S14-id", many("a", "a.b", "a_b", "a-b", "z9", "a" * 80)),
    *refused(
        "S14-id",
        (source(id=...), f"{AT}/id"),
        *((source(id=one), f"{AT}/id") for one in ("", "A", "1a", "_a", "aB", "a b", "a\n", "é", "a" * 81, *NO_TEXT)),
        (many("a", "b", "a", "a"), ("/sources/2/id", "/sources/3/id")),
    ),
    *accepted("S14-closed", source(description="x", **CONTRACTS)),
    *refused(
        "S14-closed",
        (source(note=1), f"{AT}/note"),
        (source(executable="x"), f"{AT}/executable"),
        (source(Label="x"), f"{AT}/Label"),
        *((contract(name, note=None), f"{AT}/{name}/note") for name in CONTRACTS),
    ),
    *accepted(
        "S3-literal",
        contract("access", boundaries=["folder: /Drafts", 'Sheet "Summary": B2:H40']),
        source(label="Invoices 2024.xlsx", accepts={"providerTypes": ["google-drive"]}),
    ),
    *refused(
        "S3-literal",
        (source(label="/Users/ada/Invoices.xlsx"), f"{AT}/label"),
        (source(description="At https://example.org/book"), f"{AT}/description"),
        (contract("access", boundaries=["folder: /Drafts", "/home/ada/Drafts"]), f"{AT}/access/boundaries/1"),
        (source(accepts={"providerTypes": ["ada@example.org"]}), f"{AT}/accepts/providerTypes/0"),
        (contract("structure", required=["id", "\\\\server\\books\\a"]), f"{AT}/structure/required/1"),
    ),
    *accepted(
        "S14-private",
        contract("structure", schema={"properties": {"path": {}, "url": {}, "locator": {"type": "string"}}}),
        contract("structure", schema={"$defs": {"row": {"properties": {"email": True}, "required": ["path"]}}}),
        contract("structure", schema={"columns": {"email": {"type": "string"}}, "title": "path: /srv"}),
    ),
    *refused(
        "S14-private",
        *((source(**{name: "x"}), f"{AT}/{name}") for name in PRIVATE),
        *((source(**{name: None}), f"{AT}/{name}") for name in ("credential_ref", "PATH", "access-token")),
        *((contract(name, locator={}), f"{AT}/{name}/locator") for name in CONTRACTS),
        (source(locator="x", path="y"), (f"{AT}/locator", f"{AT}/path")),
        *((source(**{name: "x"}), f"{AT}/{name}") for name in ("lоcator", "ｐａｔｈ", "pa\u200bth", " url")),
        *((contract("structure", schema=value), f"{AT}/structure/schema{at}") for value, at in IN_SCHEMAS),
    ),
    *accepted(
        "S14-members",
        *(source(role=one) for one in ("knowledge", "brain", "working", "template", "inbox")),
        *(source(kind=one) for one in ("file", "folder", "workspace", "klypix", "provider")),
        source(required=False, description=""),
    ),
    *refused(
        "S14-members",
        *((source(**{name: ...}), f"{AT}/{name}") for name in ("label", "role", "kind", "required", "access")),
        *((source(label=one), f"{AT}/label") for one in ("", *NO_TEXT)),
        *((source(role=one), f"{AT}/role") for one in NO_WORD),
        *((source(kind=one), f"{AT}/kind") for one in NO_WORD),
        *((source(required=one), f"{AT}/required") for one in NO_FLAG),
        *((source(description=one), f"{AT}/description") for one in NO_TEXT),
        *((source(**{name: one}), f"{AT}/{name}") for name in CONTRACTS for one in NO_OBJECT),
    ),
    *accepted("S14-accepts", source(accepts={"extensions": [], "mediaTypes": ["text/csv"], "providerTypes": []})),
    *refused(
        "S14-accepts",
        *(
            (source(accepts={name: one}), f"{AT}/accepts/{name}")
            for name in ("extensions", "mediaTypes", "providerTypes")
            for one in NO_LIST
        ),
        *((contract("accepts", extensions=[".csv", one]), f"{AT}/accepts/extensions/1") for one in ("", " ", 1)),
    ),
    *accepted("S14-structure", source(structure={}), contract("structure", required=[""], optional=[], schema={})),
    *refused(
        "S14-structure",
        *((contract("structure", required=one), f"{AT}/structure/required") for one in NO_LIST),
        *((contract("structure", optional=one), f"{AT}/structure/optional") for one in NO_LIST),
        (contract("structure", optional=["a", 1]), f"{AT}/structure/optional/1"),
        *((contract("structure", schema=one), f"{AT}/structure/schema") for one in NO_OBJECT),
    ),
    *accepted("S14.1", contract("access", boundaries=[]), contract("access", boundaries=["folder: /Drafts"])),
    *refused(
        "S14.1",
        *((contract("access", capabilities=one), f"{AT}/access/capabilities") for one in (..., *NO_LIST)),
        (capable("read", 1), f"{AT}/access/capabilities/1"),
        *((contract("access", boundaries=one), f"{AT}/access/boundaries") for one in NO_LIST),
        (contract("access", boundaries=[1]), f"{AT}/access/boundaries/0"),
    ),
    *words("freshness", "mode", "snapshot", ..., "Snapshot", "always"),
    *words("freshness", "onStale", "fail warn", ..., "ignore"),
    *words("truth", "authority", "authoritative supporting reference example", ...),
    *words("truth", "conflictPolicy", "fail ask prefer-authority prefer-newer", ...),
    *words("truth", "citations", "preferred none", ...),
    *words("approval", "read", "not-required on-bind every-run every-action", "forbidden"),
    *words("approval", "write", "not-required on-bind every-run every-action", "forbidden"),
    *words("approval", "destructive", "forbidden every-action", "every-run", "not-required", "on-bind"),
    *words("sharing", "strategy", "rebind exclude snapshot", ...),
    *words("sharing", "derivedKnowledge", "exclude approved-only include"),
    *accepted("S14.5", contract("sharing", recipientMayOverride=True)),
    *refused(
        "S14.5",
        *((contract("sharing", recipientMayOverride=one), f"{AT}/sharing/recipientMayOverride") for one in NO_FLAG),
    ),
    *accepted(
        "S14.6.1",
        *(capable(one, role="output", approval={"write": "on-bind"}) for one in WRITES),
        capable("delete", role="output", approval={"write": "on-bind", "destructive": "every-action"}),
        capable("read", role="working"),
    ),
    *refused(
        "S14.6.1",
        (source(role="output"), f"{AT}/access/capabilities"),
        (capable("read", "version", "sync", role="output"), f"{AT}/access/capabilities"),
    ),
    *accepted("S14.6.2", capable("sync", freshness={**FRESHNESS, "mode": "on-run"})),
    *refused(
        "S14.6.2",
        (capable("read", "watch", freshness={**FRESHNESS, "mode": "on-run"}), f"{AT}/access/capabilities"),
    ),
    *accepted("S14.6.3", capable("watch", freshness={**FRESHNESS, "mode": "watch"})),
    *refused(
        "S14.6.3",
        (capable("read", "sync", freshness={**FRESHNESS, "mode": "watch"}), f"{AT}/access/capabilities"),
    ),
    *accepted("S14.6.4", capable("cite", truth={**TRUTH, "citations": "required"})),
    *refused("S14.6.4", (capable("read", truth={**TRUTH, "citations": "required"}), f"{AT}/access/capabilities")),
    *accepted("S14.6.5", *(capable(one, approval={"write": "not-required"}) for one in WRITES)),
    *refused(
        "S14.6.5",
        *((capable(one), f"{AT}/approval/write") for one in WRITES),
        (capable("write", approval={"read": "on-bind"}), f"{AT}/approval/write"),
        (capable("delete", approval={"destructive": "every-action"}), f"{AT}/approval/write"),
    ),
    *accepted("S14.6.6", capable("delete", approval={"write": "on-bind", "destructive": "every-action"})),
    *refused(
        "S14.6.6",
        (capable("delete", approval={"write": "on-bind"}), f"{AT}/approval/destructive"),
        (capable("delete", approval={"write": "on-bind", "destructive": "forbidden"}), f"{AT}/approval/destructive"),
    ),
    *accepted("S14.6.7", *(source(accepts={one: ["x"]}) for one in ("extensions", "mediaTypes", "providerTypes"))),
    *refused(
        "S14.6.7",
        (source(accepts={}), f"{AT}/accepts"),
        (source(accepts={"extensions": [], "mediaTypes": [], "providerTypes": []}), f"{AT}/accepts"),
    ),
    *accepted("S14.6.8", capable("read", "list", "search", "cite", "sync", "watch", "version")),
    *refused(
        "S14.6.8",
        (capable(), f"{AT}/access/capabilities"),
        *((capable("read", one), f"{AT}/access/capabilities/1") for one in ("Read", "execute", "", "read")),
        (capable("run", "run"), (f"{AT}/access/capabilities/0", f"{AT}/access/capabilities/1")),
    ),
    *accepted("S14.6.9", *(contract("freshness", maxAgeSeconds=one) for one in (0.001, 1, 10**12))),
    *refused(
        "S14.6.9",
        *(
            (contract("freshness", maxAgeSeconds=one), f"{AT}/freshness/maxAgeSeconds")
            for one in (0, -1, -0.5, "60", None, True, [])
        ),
    ),
    *accepted("S14.6.10", *(contract("truth", priority=one) for one in (0, 100, 49.5))),
    *refused(
        "S14.6.10",
        *((contract("truth", priority=one), f"{AT}/truth/priority") for one in (-1, 100.5, 101, "1", None, True)),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}{case.pointers}")
def test_case(case: Case) -> None:
    judge(case)
