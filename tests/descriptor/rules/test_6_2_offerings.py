"""Chapter 6.2, offerings: what each one is called, takes and gives, and what a change to its work costs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.descriptor.rules.cases import OFFERING, Case, accepted, draft, judge, offering, refused, without

INPUT: dict[str, Any] = {"name": "contract", "kind": "application/pdf", "required": True}
OUTPUT: dict[str, Any] = {"name": "list", "kind": "text/markdown", "when": "per_task"}
RUN_CONTEXT: dict[str, Any] = {
    "name": "run-context",
    "kind": "application/vnd.agentmesh.run-context+json",
    "fields": ["focus", "audience"],
}
PRICE: dict[str, Any] = {"amount_micro": 5_000_000, "currency": "EUR"}
INCLUDED: dict[str, Any] = {"count": 2, "window_days": 14}
STEPS: list[dict[str, Any]] = [{"id": "read"}, {"id": "list"}]


def takes(*changes: dict[str, Any]) -> dict[str, Any]:
    """An offering with one input for each of the changes, told apart by name."""
    return offering(inputs=[{**INPUT, "name": f"i{place}", **one} for place, one in enumerate(changes)])


def gives(**changes: Any) -> dict[str, Any]:
    return offering(outputs=[{**OUTPUT, **changes}])


def revised(steps: list[dict[str, Any]] | None = STEPS, **revisions: Any) -> dict[str, Any]:
    given = {name: value for name, value in {"included": INCLUDED, **revisions}.items() if value is not ...}
    return offering(revisions=given) if steps is None else offering(steps=steps, revisions=given)


I0, O0, R = "/offerings/0/inputs/0", "/offerings/0/outputs/0", "/offerings/0/revisions"

CASES: list[Case] = [
    *accepted("D6.2-offering", offering(), draft(offerings=[]), offering(somebody_elses={"id": 7})),
    *refused(
        "D6.2-offering",
        (draft(offerings={}), "/offerings"),
        (draft(offerings=None), "/offerings"),
        (draft(offerings=[OFFERING, "read"]), "/offerings/1"),
        *(
            (draft(offerings=[without(OFFERING, name)]), f"/offerings/0/{name}")
            for name in ("id", "name", "description")
        ),
        *((offering(**{name: 7}), f"/offerings/0/{name}") for name in ("id", "name", "description")),
        (offering(name=" "), "/offerings/0/name"),
    ),
    *accepted("D6.2-offering-id", draft(offerings=[OFFERING, {**OFFERING, "id": "READ"}])),
    *refused(
        "D6.2-offering-id",
        (
            draft(offerings=[OFFERING, {**OFFERING, "id": "b"}, OFFERING, OFFERING]),
            ("/offerings/2/id", "/offerings/3/id"),
        ),
    ),
    *accepted("D6.2-offering-sides", offering(inputs=[], outputs=[]), offering(scope="task-specific")),
    *refused(
        "D6.2-offering-sides",
        (draft(offerings=[without(OFFERING, "inputs")]), "/offerings/0/inputs"),
        (draft(offerings=[without(OFFERING, "outputs")]), "/offerings/0/outputs"),
        (offering(inputs={}), "/offerings/0/inputs"),
        (offering(outputs=["text"]), "/offerings/0/outputs/0"),
    ),
    *accepted("D6.2-input", takes({"required": False, "external": True}, {}), takes({"unknown": None})),
    *refused(
        "D6.2-input",
        (offering(inputs=[without(INPUT, "name")]), f"{I0}/name"),
        (offering(inputs=[without(INPUT, "kind")]), f"{I0}/kind"),
        (takes({"name": ""}), f"{I0}/name"),
        (takes({"required": "yes"}), f"{I0}/required"),
        (takes({"external": 1}), f"{I0}/external"),
        (takes({"one_of": ["a"], "required": False}), f"{I0}/one_of"),
    ),
    *accepted("D6.2-input-max_bytes", takes({"max_bytes": 1})),
    *refused(
        "D6.2-input-max_bytes",
        *((takes({"max_bytes": most}), f"{I0}/max_bytes") for most in (0, -1, 1.5, "1 MB", True, None)),
    ),
    *accepted("D6.2-input-via", takes({"via": ["share"]})),
    *refused(
        "D6.2-input-via",
        (takes({"via": []}), f"{I0}/via"),
        (takes({"via": "share"}), f"{I0}/via"),
        (takes({"via": ["share", 7]}), f"{I0}/via/1"),
        (takes({"via": ["share", "share"]}), f"{I0}/via/1"),
    ),
    *accepted("D6.2-output", gives(when="standing", working=True)),
    *refused(
        "D6.2-output",
        *((offering(outputs=[without(OUTPUT, name)]), f"{O0}/{name}") for name in ("name", "kind", "when")),
        (gives(when="daily"), f"{O0}/when"),
        (gives(working="true"), f"{O0}/working"),
    ),
    *accepted("D6.2-name", offering(inputs=[{**INPUT, "name": "same"}], outputs=[{**OUTPUT, "name": "same"}])),
    *refused(
        "D6.2-name",
        (takes({"name": "same"}, {"name": "same"}), "/offerings/0/inputs/1/name"),
        (offering(outputs=[OUTPUT, OUTPUT]), "/offerings/0/outputs/1/name"),
    ),
    *accepted("D6.2-one_of", takes(*[{"one_of": "source", "required": False}] * 2)),
    *refused("D6.2-one_of", (takes({"one_of": "source"}, {"one_of": "source", "required": False}), f"{I0}/required")),
    *accepted("D6.2-one_of-alone", takes(*[{"one_of": "source", "required": False}] * 3)),
    *refused("D6.2-one_of-alone", (takes({"one_of": "source", "required": False}, {}), f"{I0}/one_of")),
    *accepted("D6.2-run-context", takes(RUN_CONTEXT), takes(without(RUN_CONTEXT, "fields"))),
    *refused(
        "D6.2-run-context",
        (takes({**RUN_CONTEXT, "name": "context"}), f"{I0}/name"),
        (takes({"name": "run-context"}), f"{I0}/kind"),
        (takes({"fields": ["focus"]}), f"{I0}/fields"),
        (takes({**RUN_CONTEXT, "fields": "focus"}), f"{I0}/fields"),
        (takes({**RUN_CONTEXT, "fields": ["focus", 1]}), f"{I0}/fields/1"),
    ),
    *accepted(
        "D6.2-revisions",
        revised(flat=PRICE),
        revised(flat={"per": "hour"}),
        revised(None, flat=PRICE, included={"count": 0, "window_days": 1}),
    ),
    *refused(
        "D6.2-revisions",
        (offering(revisions=[]), R),
        (revised(), R),
        (revised(flat=PRICE, included=...), f"{R}/included"),
        (revised(flat=PRICE, included=2), f"{R}/included"),
        (
            revised(flat=PRICE, included={"count": -1, "window_days": 0}),
            (f"{R}/included/count", f"{R}/included/window_days"),
        ),
        (revised(flat=PRICE, included={"count": 1}), f"{R}/included/window_days"),
        (revised(flat="5 EUR"), f"{R}/flat"),
        (revised(flat={**PRICE, "currency": "euro"}), f"{R}/flat/currency"),
        (revised(flat={**PRICE, "amount_micro": 0.5}), f"{R}/flat/amount_micro"),
        (offering(steps=STEPS, revisions={"included": INCLUDED, "steps": {}}), f"{R}/steps"),
        (offering(steps=STEPS, revisions={"included": INCLUDED, "steps": [{"price": PRICE}]}), f"{R}/steps/0/step"),
        (offering(steps=STEPS, revisions={"included": INCLUDED, "steps": [{"step": "read"}]}), f"{R}/steps/0/price"),
        (offering(steps=STEPS, revisions={"included": INCLUDED, "steps": [], "flat": PRICE}), R),
    ),
    *accepted(
        "D6.2-revision-step",
        offering(
            steps=STEPS,
            revisions={"included": INCLUDED, "steps": [{"step": one["id"], "price": PRICE} for one in STEPS]},
        ),
    ),
    *refused(
        "D6.2-revision-step",
        (
            offering(revisions={"included": INCLUDED, "steps": [{"step": "read", "price": PRICE}]}),
            f"{R}/steps/0/step",
        ),
        (
            offering(steps=STEPS, revisions={"included": INCLUDED, "steps": [{"step": "read", "price": PRICE}] * 2}),
            f"{R}/steps/1/step",
        ),
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_offerings(case: Case) -> None:
    judge(case)
