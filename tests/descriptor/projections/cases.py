"""The Descriptors that projections are tested on: real ones, odd ones, empty ones, and what older readers wrote.

`python -m tests.descriptor.projections.cases` writes the snapshots anew. What changed in them is then read by somebody.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from descriptor.document import Descriptor
from descriptor.projections.card import card_of
from descriptor.projections.reference import Reference
from descriptor.projections.registration import registration_of
from descriptor.projections.serving import Serving
from tests.descriptor.rules.cases import BOUND, DRAFT, ID, OFFERING, SEALED
from tests.descriptor.whole import WHOLE

ROOT = Path(__file__).parents[3]
SNAPSHOTS = Path(__file__).with_name("projected")
SERVING = Serving(("http://192.168.1.20:7420",), None, "/entryway", "agentmesh-envelope-v1", "0.3.0")


def example(name: str) -> dict[str, Any]:
    """An example of this repository, published by a person's agent."""
    members: dict[str, Any] = json.loads((ROOT / "configs" / "examples" / name).read_bytes())
    return {**members, **{name: BOUND[name] for name in ("subject", "acts_for")}}


WHOLE_BOUND: dict[str, Any] = {
    **WHOLE,
    **{name: SEALED[name] for name in ("subject", "encryption_key", "trust")},
    "acts_for": "organization",
    "organization_name": "Willow Street Library",
}
# As the page of 0.2 has it: no acts_for, no scope, a system by its role.
PAGE_0_2: dict[str, Any] = {
    **DRAFT,
    "subject": BOUND["subject"],
    "interaction": "service",
    "refusals": "It signs nothing.",
    "offerings": [{**OFFERING, "inputs": [{**OFFERING["inputs"][0], "via": ["share"], "external": True}]}],
    "systems": [{"role": "contract archive", "access": "read", "needs": "finding what a contract refers to"}],
}
WITH_SHAPE: dict[str, Any] = {
    **PAGE_0_2,
    "shape": {
        "kind": "model",
        "memory": "keeps",
        "model": "example/a",
        "steps": "fixed",
        "tools_runtime": "fixed",
        "fleet": True,
        "harness": "example",
    },
}
ODD: dict[str, Any] = {
    "format": "agent-descriptor-v9",
    "agent_version": 7,
    "does": "",
    "subject": {"id": ID, "handle": ["a", "b"]},
    "acts_for": "everybody",
    "organization_name": "Willow Street Library",
    "interaction": "sometimes",
    "fleet": "yes",
    "default_input_modes": ["*/*"],
    "sealing": "required",
    "offerings": [
        {},
        "no offering",
        {"id": "a", "name": 7, "scope": "whatever-you-like", "input_modes": [], "inputs": [{"kind": "pdf"}]},
        {
            "id": "b",
            "scope": "open-with-focus",
            "focus": "cooking",
            "inputs": "many",
            "outputs": [{"kind": "document"}],
        },
        {"id": "b", "description": "<script>alert('Grüße 🚀')</script>\u202e", "role": "role-clerk"},
    ],
}

DOCUMENTS: dict[str, dict[str, Any]] = {
    "demo": example("demo.json"),
    "open-with-focus": example("open-with-focus.json"),
    "whole": WHOLE_BOUND,
    "page-0.2": PAGE_0_2,
    "shape": WITH_SHAPE,
    "odd": ODD,
    "required-members-only": BOUND,
    "no-offerings": {**BOUND, "offerings": []},
    "empty": {"subject": {"id": ID}},
}


def descriptor(members: dict[str, Any]) -> Descriptor:
    """The Descriptor with these members, in one form."""
    return Descriptor.read(json.dumps(members, ensure_ascii=False).encode())


def _reference(one: Descriptor) -> dict[str, Any]:
    pointers = [f"/{name}" for name in one.members if name not in ("signatures", "trust")]
    return Reference.to(one, pointers, "http://192.168.1.20:7420/descriptors/" + one.digest).document()


PROJECTIONS: dict[str, Callable[[Descriptor], dict[str, Any]]] = {
    "card": lambda one: card_of(one, SERVING).members,
    "registration": lambda one: registration_of(one, SERVING).members,
    "reference": _reference,
}


def snapshot(name: str) -> str:
    """Every projection of a document, as its snapshot has it."""
    one = descriptor(DOCUMENTS[name])
    made = {projection: make(one) for projection, make in PROJECTIONS.items()}
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def main() -> int:
    """Writes every snapshot."""
    for name in DOCUMENTS:
        (SNAPSHOTS / f"{name}.json").write_text(snapshot(name), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
