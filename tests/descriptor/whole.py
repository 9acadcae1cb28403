"""A draft with every member that chapter 6 and binding 11 name, in every form that they have, and sound."""

from __future__ import annotations

import hashlib
from typing import Any

import rfc8785

_DIGEST = "sha256:" + "0a" * 32
_PRICE = {"amount_micro": 5_000_000, "currency": "EUR"}
_NAMED: dict[str, Any] = {"name": "For a child", "settings": {"voice": "a narrator", "pages": 4, "model": "example/b"}}

WHOLE: dict[str, Any] = {
    "format": "agent-descriptor-v1",
    "agent_version": "3.1",
    "does": "Reads a household's letters and changes its small programs.",
    "interaction": "service",
    "refusals": "It pays nothing and signs nothing.",
    "role": "role-household-clerk",
    "interfaces": ["entryway", "jobs"],
    "fleet": False,
    "hosted_in": ["eu-central", "de"],
    "default_input_modes": ["text/plain", "application/pdf"],
    "default_output_modes": ["text/markdown"],
    "offerings": [
        {
            "id": "read-letter",
            "name": "Read a letter",
            "description": "Says in plain words what one letter asks for.",
            "scope": "task-specific",
            "inputs": [
                {
                    "name": "scan",
                    "kind": "application/pdf",
                    "required": False,
                    "external": False,
                    "one_of": "letter",
                    "max_bytes": 20_000_000,
                },
                {
                    "name": "page",
                    "kind": "url",
                    "required": False,
                    "external": True,
                    "via": ["share"],
                    "one_of": "letter",
                },
                {
                    "name": "run-context",
                    "kind": "application/vnd.agentmesh.run-context+json",
                    "required": False,
                    "fields": ["focus", "audience"],
                },
            ],
            "outputs": [
                {"name": "summary", "kind": "text/markdown", "when": "per_task"},
                {"name": "passages", "kind": "text/plain", "when": "standing", "working": True},
            ],
            "steps": [{"id": "read"}, {"id": "explain"}],
            "revisions": {
                "included": {"count": 1, "window_days": 14},
                "steps": [{"step": "read", "price": _PRICE}, {"step": "explain", "price": _PRICE}],
            },
            "input_modes": ["application/pdf", "text/html"],
            "output_modes": ["text/markdown", "text/plain"],
            "needs": [
                {"resource": "folder", "access": "read", "description": "where the letters are"},
                {"file": "application/pdf", "description": "a letter"},
                {"tool": "a scanner", "protocol": "mcp", "description": "for letters on paper"},
                {"credential": "a calendar service", "scope": "read events", "description": "for what is due"},
                {"text": "an hour of somebody's time", "description": "to answer questions"},
            ],
            "delivers": {"final": "text/markdown", "interim": True, "in_resource": False},
            "reporting": {"level": "check_ins", "every": "PT12H"},
            "workspace": [{"system": "due list", "for": "adding what is due"}],
            "authority": ["reads-systems", "updates-systems", "triggers-systems", "sends-messages", "spends-money"],
            "authority_decided_by": "model",
            "ceilings": {
                "job_seconds": {"most": 120, "decided_by": "rule"},
                "cost_per_job": {"most": _PRICE, "decided_by": "model"},
                "spend_per_job": {"most": {"amount_micro": 0, "currency": "EUR"}, "decided_by": "rule"},
                "messages_per_job": {"most": 2, "decided_by": "rule"},
            },
        },
        {
            "id": "change-a-program",
            "name": "Change a program",
            "description": "Makes the change an instruction asks for in one repository.",
            "scope": "open-with-focus",
            "focus": "software",
            "role": "role-code-writer",
            "inputs": [{"name": "instruction", "kind": "text", "required": True}],
            "outputs": [{"name": "change", "kind": "identifier", "when": "per_task"}],
            "revisions": {"included": {"count": 0, "window_days": 1}, "flat": _PRICE},
            "reporting": {"level": "on_change"},
            "workspace": [{"kind": "git", "access": "read-write", "for": "the repository that is changed"}],
            "authority": ["reads-files", "writes-files", "runs-commands"],
            "authority_decided_by": "rule",
            "ceilings": {
                "job_seconds": {"most": 3600, "decided_by": "rule"},
                "cost_per_job": {"most": _PRICE, "decided_by": "rule"},
            },
        },
        {
            "id": "anything",
            "name": "Anything else",
            "description": "Takes any instruction.",
            "scope": "open-ended",
            "inputs": [{"name": "instruction", "kind": "text", "required": True}],
            "outputs": [],
            "authority": [],
            "ceilings": {
                "job_seconds": {"most": 60, "decided_by": "model"},
                "cost_per_job": {"most": _PRICE, "decided_by": "model"},
            },
        },
    ],
    "systems": [
        {"name": "due list", "access": "read", "needs": "seeing what is due"},
        {"name": "due list", "access": "write", "needs": "adding what is due"},
        {"name": "doorbell", "access": "trigger", "needs": "calling somebody"},
    ],
    "limits": {
        "requests_per_hour": {"most": 30, "decided_by": "rule"},
        "model_budget_per_day": 2.5,
        "past_them": "refused, with the time to ask again",
        "max_inbound_chars": 20_000,
    },
    "handling_ref": {"digest": _DIGEST, "location": "https://agent.example/handling"},
    "price_ref": "https://agent.example/prices",
    "samples_ref": {"digest": _DIGEST},
    "run_config": {
        "settings": [
            {"name": "model", "kind": "rule", "default": "example/a", "allowed": ["example/a", "example/b"]},
            {"name": "voice", "kind": "preference", "default": "the author", "job_may_set": True},
            {"name": "pages", "kind": "rule", "default": 10, "job_may_set": True},
            {"name": "draft", "kind": "rule", "default": False, "job_may_set": False},
        ],
        "tested_models": ["example/a"],
        "named": [{**_NAMED, "digest": "sha256:" + hashlib.sha256(rfc8785.dumps(_NAMED)).hexdigest()}],
        "replay": True,
    },
    "data_use": {
        "promises": {"no_training": True, "no_third_party_sharing": True, "no_human_reading": True},
        "retention": {"max_days": 30},
        "memory": "remembers-across-jobs",
        "processors": ["Example Models", {"name": "Example Storage", "purpose": "keeping results"}],
        "processed_in": ["de", "fr"],
    },
    "compliance": [
        {
            "standard": "iso-27001",
            "scope": "the hosting",
            "attestation": {"by": "An Auditor", "url": "https://auditor.example/7", "expires_at": "2027-06-30"},
        }
    ],
    "access": {
        "admission": "screened",
        "statement": "Whoever is known to the household.",
        "schemes": [
            {
                "id": "door",
                "transport": "http",
                "type": "apiKey",
                "in": "header",
                "name": "X-Door",
                "scheme": "door",
                "description": "A key that the household hands out.",
            },
            {"id": "mesh", "transport": "mesh", "type": "mesh-identity"},
        ],
    },
    "sealing": "preferred",
    "somebody_elses": {"deep": [1, "kept", None]},
}
"""`standing` is left out: a guest has no offerings."""

# Members that are declared where they stand; every other one may be left out.
REQUIRED: tuple[str, ...] = (
    *("/format", "/agent_version", "/does"),
    *("/offerings/*/id", "/offerings/*/name", "/offerings/*/description"),
    *("/offerings/0/inputs", "/offerings/0/outputs"),
    *("/offerings/*/inputs/*/name", "/offerings/*/inputs/*/kind"),
    *("/offerings/*/outputs/*/name", "/offerings/*/outputs/*/kind", "/offerings/*/outputs/*/when"),
    *("/offerings/*/revisions/included", "/offerings/*/revisions/included/count"),
    *("/offerings/*/revisions/included/window_days", "/offerings/*/revisions/steps/*/step"),
    *("/offerings/*/revisions/steps/*/price", "/offerings/0/needs/0/access", "/offerings/0/needs/2/protocol"),
    *("/offerings/0/needs/3/scope", "/offerings/*/reporting/level", "/offerings/0/reporting/every"),
    *("/offerings/*/revisions/steps/*/price/amount_micro", "/offerings/*/revisions/steps/*/price/currency"),
    *("/offerings/*/revisions/flat/amount_micro", "/offerings/*/revisions/flat/currency"),
    *("/offerings/1/focus", "/offerings/1/outputs", "/offerings/1/workspace", "/offerings/1/authority"),
    *("/offerings/1/workspace/*/kind", "/offerings/1/workspace/*/access", "/offerings/1/workspace/*/for"),
    *("/offerings/2/authority", "/offerings/1/ceilings/job_seconds", "/offerings/1/ceilings/cost_per_job"),
    *("/offerings/2/ceilings/job_seconds", "/offerings/2/ceilings/cost_per_job"),
    *("/offerings/0/ceilings/spend_per_job", "/offerings/0/ceilings/messages_per_job"),
    *("/offerings/*/ceilings/*/most", "/offerings/*/ceilings/*/most/amount_micro"),
    "/offerings/*/ceilings/*/most/currency",
    *("/systems/*/name", "/systems/*/access", "/systems/*/needs"),
    *("/limits/requests_per_hour/most", "/handling_ref/digest", "/samples_ref/digest"),
    *("/run_config/settings", "/run_config/settings/*/name", "/run_config/settings/*/kind"),
    *("/run_config/settings/*/default", "/run_config/settings/0/allowed"),
    *("/run_config/named/*/name", "/run_config/named/*/settings", "/run_config/named/*/digest"),
    *("/data_use/retention/max_days", "/data_use/processors/*/name"),
    *("/data_use/retention", "/data_use/processors", "/data_use/memory"),
    *("/compliance/*/standard", "/compliance/*/scope", "/compliance/*/attestation/by"),
    *("/access/schemes/*/id", "/access/schemes/*/transport", "/access/schemes/*/type"),
)
