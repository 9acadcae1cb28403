"""Descriptors that projections are made of: whole, real, bare, old, odd, and hostile; each bound and signed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from descriptor.document import Descriptor
from tests.descriptor.rules.cases import BOUND, DRAFT, ID, OFFERING, SEALED, signed
from tests.descriptor.whole import WHOLE

EXAMPLES = Path(__file__).parents[3] / "configs/examples"

MARKUP = "</p><script>document.title='gone'</script><img src=x onerror=alert(1)>\"'&lt;{{ 7*7 }}{% raw %}"
TURNED = "pay \u202eyenom\u202c\u200b now\x00\x1b[2J\u2028next"
LONG = "W" * 10_000
ZALGO = "Z" + "\u0335" * 500


def example(name: str) -> dict[str, Any]:
    """A Descriptor of `configs/examples`, bound."""
    document: dict[str, Any] = json.loads((EXAMPLES / f"{name}.json").read_text(encoding="utf-8"))
    return {**document, **{member: BOUND[member] for member in ("subject", "acts_for")}}


def _hostile() -> dict[str, Any]:
    text = f"{MARKUP} {TURNED} {ZALGO}"
    one = {
        **OFFERING,
        "id": f"i{MARKUP}",
        "name": f"n{text}",
        "description": f"{text} {LONG}",
        "role": LONG,
        "inputs": [
            {"name": text, "kind": "application/pdf", "one_of": text, "required": False, "max_bytes": 10**15},
            {"name": LONG, "kind": "text", "external": True, "via": [text, LONG], "fields": [text]},
        ],
        "outputs": [{"name": LONG, "kind": "text/html", "when": "standing"}],
        "needs": [
            {"credential": LONG, "scope": text, "description": text},
            {"resource": LONG, "access": "read", "description": LONG},
        ],
        "workspace": [{"kind": LONG, "access": "read", "for": text}],
        "delivers": {"final": text, "interim": True},
    }
    return {
        **BOUND,
        "subject": {"id": ID, "handle": f"{MARKUP}{TURNED}{LONG}"},
        "agent_version": f"1{MARKUP}",
        "does": f"{text} {LONG}",
        "acts_for": "organization",
        "organization_name": text + LONG,
        "refusals": f"{text}\n\n{LONG}\n" * 3,
        "role": text,
        "interfaces": [text, LONG],
        "hosted_in": [LONG],
        "offerings": [one, {**one, "id": "second", "name": " \u202e"}],
        "systems": [{"name": LONG, "access": "read", "needs": text}],
        "limits": {"past_them": text},
        "price_ref": "javascript:alert(1)",
        "samples_ref": {"digest": "sha256:" + "0" * 64, "location": 'https://a.example/"onmouseover="x'},
        "handling_ref": "https://a.example/<b>",
        "run_config": {
            "settings": [{"name": text, "kind": "preference", "default": LONG, "allowed": [text, LONG]}],
            "tested_models": [LONG],
        },
        "data_use": {"processors": [{"name": text, "purpose": LONG}]},
        "compliance": [
            {
                "standard": "iso-27001",
                "scope": text,
                "attestation": {"by": LONG, "url": "https://user:word@a.example/", "expires_at": "2027-01-01"},
            }
        ],
        "access": {"statement": f"{text} {LONG}"},
        "somebody_elses": MARKUP,
    }


def _odd() -> dict[str, Any]:
    """Members of every wrong kind, each beside one that is right."""
    return {
        **DRAFT,
        "subject": {"id": ID, "handle": 7},
        "acts_for": "everybody",
        "interaction": "sometimes",
        "standing": "resident",
        "offerings": [
            "an offering",
            {"id": "a", "name": "A", "description": "", "scope": "anything", "authority": ["reads-files", "flies"]},
            {"id": "b", "scope": "open-with-focus", "focus": "gardening", "inputs": [{"name": "x"}, 5]},
            {},
            {"id": "c", "ceilings": {"job_seconds": {"most": "long"}, "cost_per_job": {"most": 5}}, "inputs": [{}]},
        ],
        "systems": [{"role": "a calendar", "access": "read"}, {"role": 5}, {"name": "kept", "role": "dropped"}],
        "limits": {"requests_per_hour": "many", "model_budget_per_day": {"most": 3}},
        "data_use": {"promises": {"no_training": False}, "memory": "remembers-across-jobs"},
        "compliance": [{"standard": "gdpr"}, {"scope": "no standard"}],
        "access": {"admission": "open", "api_key": "sk-0123456789abcdef0123456789abcdef"},
        "encryption_key": SEALED["encryption_key"],
        "sealing": "sometimes",
        "run_config": {"settings": [{"name": "grade", "kind": "rule", "default": 3}, {"name": "broken"}]},
    }


SAMPLES: dict[str, dict[str, Any]] = {
    "whole": {**WHOLE, **SEALED, "agent_version": "3.1", "does": WHOLE["does"]},
    "demo": example("demo"),
    "open-with-focus": example("open-with-focus"),
    "bare": {**DRAFT, "subject": {"id": ID}},
    "guest": {**BOUND, "standing": "guest", "offerings": [], "systems": [], "access": {"schemes": []}},
    "old": {
        **DRAFT,
        "subject": {"id": ID, "handle": "old.example"},
        "shape": {"memory": "keeps", "model": "example/a", "fleet": True, "kind": "model", "harness": "x"},
        "offerings": [OFFERING],
        "data_use": {"jurisdictions": ["de"]},
    },
    "odd": _odd(),
    "hostile": _hostile(),
}


def sample(name: str) -> Descriptor:
    """One of them, signed."""
    return bound(SAMPLES[name])


def bound(document: dict[str, Any]) -> Descriptor:
    """A document as a signed Descriptor."""
    return Descriptor.read(json.dumps(signed(document), indent=2).encode())
