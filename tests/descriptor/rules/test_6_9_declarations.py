"""Chapter 6.9: what an offering declares beyond its inputs and outputs, data use, compliance and access."""

from __future__ import annotations

import json
from typing import Any

import pytest

from descriptor.checker import check
from descriptor.data_use import readable
from descriptor.rules.section_6_9_data_use import PARTS
from descriptor.rules.section_6_9_offerings import is_duration
from descriptor.vocabulary import PROMISES
from tests.descriptor.rules.cases import Case, accepted, draft, judge, offering, refused, without

SCHEME: dict[str, Any] = {"id": "household", "transport": "mesh", "type": "mesh-identity", "description": "Signs."}
CLAIM: dict[str, Any] = {
    "standard": "iso-27001",
    "scope": "the hosting",
    "attestation": {"by": "An Auditor", "expires_at": "2027-06-30"},
}
DATA_USE: dict[str, Any] = {
    "promises": {"no_training": True, "no_human_reading": True},
    "retention": {"max_days": 0},
    "memory": "starts-clean-each-job",
    "processors": ["Example Models", {"name": "Example Storage", "purpose": "keeping results"}],
    "processed_in": ["de", "fr"],
}
ANY = [{"name": "source", "kind": "document"}]
OFFERED = "/offerings/0"
TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8J9k0" * 2


def needs(need: Any) -> dict[str, Any]:
    return offering(needs=[need])


def uses(**data_use: Any) -> dict[str, Any]:
    return draft(data_use={**DATA_USE, **data_use})


def admits(**access: Any) -> dict[str, Any]:
    return draft(access=access)


def claims(**claim: Any) -> dict[str, Any]:
    return draft(compliance=[{**CLAIM, **claim}])


CASES: list[Case] = [
    *accepted(
        "D6.9-mode",
        offering(input_modes=["application/pdf"], output_modes=[]),
        draft(default_input_modes=["text/plain", "Image/PNG"], default_output_modes=["text/plain"]),
    ),
    *refused(
        "D6.9-mode",
        (draft(default_input_modes="text/plain"), "/default_input_modes"),
        (draft(default_output_modes=["text"]), "/default_output_modes/0"),
        (offering(input_modes=["text/plain", "text/plain"]), f"{OFFERED}/input_modes/1"),
        (
            offering(output_modes=["text/plain; charset=utf-8", 7]),
            (f"{OFFERED}/output_modes/0", f"{OFFERED}/output_modes/1"),
        ),
    ),
    *accepted(
        "D6.9-modes",
        offering(),
        offering(inputs=ANY, input_modes=["application/pdf", "text/html"]),
        {**offering(inputs=ANY), "default_input_modes": ["text/html"]},
    ),
    *refused(
        "D6.9-modes",
        (offering(inputs=ANY), f"{OFFERED}/input_modes"),
        (offering(inputs=ANY, output_modes=["text/html"]), f"{OFFERED}/input_modes"),
        (offering(outputs=[{**ANY[0], "when": "per_task"}]), f"{OFFERED}/output_modes"),
    ),
    *accepted(
        "D6.9-needs",
        needs({"resource": "git", "access": "read-write", "description": "the repository"}),
        needs({"file": "application/pdf"}),
        needs({"tool": "a browser", "protocol": "mcp"}),
        needs({"credential": "a calendar service", "scope": "read events"}),
        needs({"text": "an hour of somebody's time"}),
        offering(needs=[]),
    ),
    *refused(
        "D6.9-needs",
        (offering(needs={}), f"{OFFERED}/needs"),
        (needs("a repository"), f"{OFFERED}/needs/0"),
        (needs({"description": "a repository"}), f"{OFFERED}/needs/0"),
        (needs({"text": "a", "file": "text/csv"}), f"{OFFERED}/needs/0"),
        (needs({"resource": "git"}), f"{OFFERED}/needs/0/access"),
        (needs({"resource": "git", "access": "write"}), f"{OFFERED}/needs/0/access"),
        (needs({"file": "pdf"}), f"{OFFERED}/needs/0/file"),
        (needs({"tool": "a browser"}), f"{OFFERED}/needs/0/protocol"),
        (needs({"credential": "a calendar service"}), f"{OFFERED}/needs/0/scope"),
        (needs({"credential": "", "scope": "read"}), f"{OFFERED}/needs/0/credential"),
        (needs({"text": "a", "description": 7}), f"{OFFERED}/needs/0/description"),
        (needs({"resource": "git", "credential": "", "description": 7}), f"{OFFERED}/needs/0"),
    ),
    *accepted("D6.9-delivers", offering(delivers={"final": "text/markdown", "interim": True, "in_resource": False})),
    *refused(
        "D6.9-delivers",
        (offering(delivers="a list"), f"{OFFERED}/delivers"),
        (offering(delivers={"final": 7}), f"{OFFERED}/delivers/final"),
        (offering(delivers={"interim": "no"}), f"{OFFERED}/delivers/interim"),
        (offering(delivers={"in_resource": 0}), f"{OFFERED}/delivers/in_resource"),
    ),
    *accepted(
        "D6.9-reporting",
        offering(reporting={"level": "records_only"}),
        offering(reporting={"level": "check_ins", "every": "PT12H"}),
    ),
    *refused(
        "D6.9-reporting",
        (offering(reporting="on_change"), f"{OFFERED}/reporting"),
        (offering(reporting={}), f"{OFFERED}/reporting/level"),
        (offering(reporting={"level": "always"}), f"{OFFERED}/reporting/level"),
        (offering(reporting={"level": "check_ins"}), f"{OFFERED}/reporting/every"),
        *(
            (offering(reporting={"level": "check_ins", "every": every}), f"{OFFERED}/reporting/every")
            for every in ("weekly", "PT0S", 7, None)
        ),
        (offering(reporting={"level": "on_change", "every": "P1W"}), f"{OFFERED}/reporting/every"),
    ),
    *accepted("D6.9-data_use", draft(data_use={}), draft(data_use=DATA_USE)),
    *refused("D6.9-data_use", (draft(data_use=[]), "/data_use"), (draft(data_use=None), "/data_use")),
    *accepted("D6.9-promises", uses(promises={})),
    *refused(
        "D6.9-promises",
        (uses(promises=["no_training"]), "/data_use/promises"),
        *((uses(promises={"no_training": made}), "/data_use/promises/no_training") for made in (False, "yes", 1, None)),
        (uses(promises={"no_selling": False}), "/data_use/promises/no_selling"),
    ),
    *accepted("D6.9-promise-unknown", uses(promises=dict.fromkeys(PROMISES, True))),
    *refused(
        "D6.9-promise-unknown",
        (uses(promises={"no_training": True, "no-training": True}), "/data_use/promises/no-training"),
    ),
    *accepted("D6.9-retention", uses(retention={"max_days": 30})),
    *refused(
        "D6.9-retention",
        (uses(retention=30), "/data_use/retention"),
        (uses(retention={}), "/data_use/retention/max_days"),
        *((uses(retention={"max_days": most}), "/data_use/retention/max_days") for most in (-1, 0.5, "30", True)),
    ),
    *accepted("D6.9-memory", uses(memory="remembers-across-jobs")),
    *refused("D6.9-memory", *((uses(memory=word), "/data_use/memory") for word in ("keeps", True, None))),
    *accepted("D6.9-processors", uses(processors=[])),
    *refused(
        "D6.9-processors",
        (uses(processors="none"), "/data_use/processors"),
        (uses(processors=["a", ""]), "/data_use/processors/1"),
        (uses(processors=[7]), "/data_use/processors/0"),
        (uses(processors=[{"purpose": "storage"}]), "/data_use/processors/0/name"),
        (uses(processors=[{"name": "a", "purpose": []}]), "/data_use/processors/0/purpose"),
    ),
    *accepted(
        "D6.9-processed_in",
        draft(data_use={**without(DATA_USE, "processed_in"), "jurisdictions": ["de"]}),
        uses(jurisdictions=["fr", "de"]),
    ),
    *refused(
        "D6.9-processed_in",
        (uses(processed_in="de"), "/data_use/processed_in"),
        (uses(processed_in=[]), "/data_use/processed_in"),
        (uses(processed_in=["DE"]), "/data_use/processed_in/0"),
        (uses(processed_in=["de", "germany"]), "/data_use/processed_in/1"),
        (uses(processed_in=["de", 7]), "/data_use/processed_in/1"),
        (uses(jurisdictions=["us"]), "/data_use/jurisdictions"),
        (uses(jurisdictions=["de"]), "/data_use/jurisdictions"),
        (uses(jurisdictions=["us", 7]), "/data_use/jurisdictions/1"),
    ),
    *accepted("D6.9-processed_in-country", uses(processed_in=["gb", "us"])),
    *refused(
        "D6.9-processed_in-country",
        (uses(processed_in=["gb", "uk"]), "/data_use/processed_in/1"),
        (draft(data_use={"jurisdictions": ["eu"]}), "/data_use/jurisdictions/0"),
    ),
    *accepted(
        "D6.9-access", admits(), *(admits(admission=word) for word in ("open", "allowlist", "screened", "negotiated"))
    ),
    *refused(
        "D6.9-access",
        (draft(access="open"), "/access"),
        (admits(admission="everybody"), "/access/admission"),
        (admits(admission=None), "/access/admission"),
        (admits(statement=7), "/access/statement"),
    ),
    *accepted(
        "D6.9-access-scheme",
        admits(schemes=[]),
        admits(
            schemes=[SCHEME, {"id": "door", "transport": "http", "type": "apiKey", "in": "header", "name": "X-Door"}]
        ),
    ),
    *refused(
        "D6.9-access-scheme",
        (admits(schemes={}), "/access/schemes"),
        *(
            (admits(schemes=[without(SCHEME, name)]), f"/access/schemes/0/{name}")
            for name in ("id", "transport", "type")
        ),
        (admits(schemes=[{**SCHEME, "transport": "https"}]), "/access/schemes/0/transport"),
        (admits(schemes=[{**SCHEME, "type": "basic"}]), "/access/schemes/0/type"),
        (admits(schemes=[{**SCHEME, "name": 7}]), "/access/schemes/0/name"),
        (admits(schemes=[SCHEME, SCHEME]), "/access/schemes/1/id"),
        (admits(schemes=[{**SCHEME, "name": "the door"}]), "/access/schemes/0/name"),
        (admits(schemes=[{**SCHEME, "name": "X-Door:"}]), "/access/schemes/0/name"),
        (
            admits(schemes=[{**SCHEME, "id": ""}, {**SCHEME, "id": ""}]),
            ("/access/schemes/0/id", "/access/schemes/1/id"),
        ),
    ),
    *accepted("D6.9-access-membership", admits(admission="allowlist"), admits(allowed="whoever was added")),
    *refused(
        "D6.9-access-membership",
        (admits(allowlist=["somebody"]), "/access/allowlist"),
        (admits(Callers=[]), "/access/Callers"),
        (admits(policy={"blocked_callers": [], "allow-list": {"a": True}}), "/access/policy/allow-list"),
        (admits(schemes=[{**SCHEME, "allow": ["somebody"]}]), "/access/schemes/0/allow"),
    ),
    *accepted("D6.9-access-secret", admits(schemes=[{**SCHEME, "name": "Authorization", "scheme": "bearer"}])),
    *refused(
        "D6.9-access-secret",
        *(
            (admits(schemes=[{**SCHEME, name: "anything"}]), f"/access/schemes/0/{name}")
            for name in ("token", "apiKey", "client-id", "tenant_id", "Account")
        ),
        (admits(gateway={"doors": [{"key": "of the house"}]}), "/access/gateway/doors/0/key"),
        (admits(token=["anything", {"secret": TOKEN}]), ("/access/token", "/access/token/1/secret")),
        (admits(tokens=[TOKEN]), "/access/tokens"),
        (admits(schemes=[{**SCHEME, "name": "X-Door: open"}]), "/access/schemes/0/name"),
        (admits(schemes=[{**SCHEME, "name": f"Authorization: Bearer {TOKEN}"}]), "/access/schemes/0/name"),
        (admits(schemes=[{**SCHEME, "name": f"Bearer {TOKEN}"}]), "/access/schemes/0/name"),
    ),
    *accepted(
        "D6.9-compliance",
        draft(compliance=[]),
        claims(),
        claims(
            attestation={
                "by": "An Auditor",
                "url": "https://auditor.example/report",
                "expires_at": "2027-06-30T00:00:00Z",
            }
        ),
        draft(compliance=[without(CLAIM, "attestation")]),
    ),
    *refused(
        "D6.9-compliance",
        (draft(compliance={}), "/compliance"),
        (draft(compliance=[without(CLAIM, "standard")]), "/compliance/0/standard"),
        (draft(compliance=[without(CLAIM, "scope")]), "/compliance/0/scope"),
        (claims(standard="ISO 27001"), "/compliance/0/standard"),
        (claims(attestation="An Auditor"), "/compliance/0/attestation"),
        (claims(attestation={"url": "https://auditor.example/report"}), "/compliance/0/attestation/by"),
        *(
            (claims(attestation={"by": "A", "url": url}), "/compliance/0/attestation/url")
            for url in ("ask us", "auditor.example", "https:///report", "https://auditor.example/the report", 7)
        ),
        *(
            (claims(attestation={"by": "A", "expires_at": moment}), "/compliance/0/attestation/expires_at")
            for moment in ("next year", "2027-02-30", 2027)
        ),
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_declarations(case: Case) -> None:
    judge(case)


@pytest.mark.parametrize("text", ["P1W", "PT12H", "P1D", "P1DT12H", "PT30M", "PT1H30M", "P1Y2M3D", "P2M"])
def test_a_duration_is_one_of_iso_8601(text: str) -> None:
    assert is_duration(text)


@pytest.mark.parametrize(
    "text", ["", "P", "PT", "1W", "P1", "P1H", "PT1W", "P1WT1H", "P-1D", "p1w", "P1DT", "P1.5D", "P\u0661W", "P0D"]
)
def test_what_is_no_duration(text: str) -> None:
    assert not is_duration(text)


@pytest.mark.parametrize("case", [case for case in CASES if "data_use" in case.document], ids=lambda case: case.rule)
def test_a_block_reads_whole_or_not_at_all(case: Case) -> None:
    unread = {part.id for part in PARTS} & {case.rule} if case.pointers else set()
    assert readable(case.document["data_use"]) == (not unread)


@pytest.mark.parametrize("document", [{"access": TOKEN}, {"access": [{"statement": TOKEN}]}])
def test_a_secret_is_found_in_a_block_that_is_none(document: dict[str, Any]) -> None:
    report = check(json.dumps(draft(**document)).encode())
    assert [finding.rule for finding in report.findings if finding.rule != "D6.9-access"] == ["D6.9-access-secret"]
    assert all(TOKEN not in finding.message for finding in report.findings)
