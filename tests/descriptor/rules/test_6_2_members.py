"""Chapter 6.2, the members beside the offerings."""

from __future__ import annotations

from typing import Any

import pytest

from tests.descriptor.rules.cases import Case, accepted, draft, judge, refused, without

SYSTEM: dict[str, Any] = {"name": "calendar", "access": "read", "needs": "finding a free hour"}
DIGEST = "sha256:" + "0a" * 32


def limited(**limits: Any) -> dict[str, Any]:
    return draft(limits=limits)


CASES: list[Case] = [
    *accepted("D6.2-interaction", draft(interaction="service"), draft(interaction="interactive")),
    *refused(
        "D6.2-interaction",
        *((draft(interaction=word), "/interaction") for word in ("Service", "sometimes", True, None, ["service"])),
    ),
    *accepted("D6.2-refusals", draft(refusals="It signs nothing.")),
    *refused("D6.2-refusals", (draft(refusals=["It signs nothing."]), "/refusals"), (draft(refusals=""), "/refusals")),
    *accepted("D6.2-role", draft(role="role-code-writer")),
    *refused("D6.2-role", (draft(role=["role-code-writer"]), "/role"), (draft(role=" "), "/role")),
    *accepted("D6.2-interfaces", draft(interfaces=[]), draft(interfaces=["entryway", "jobs"])),
    *refused(
        "D6.2-interfaces",
        (draft(interfaces="entryway"), "/interfaces"),
        (draft(interfaces=["entryway", {}]), "/interfaces/1"),
        (draft(interfaces=["entryway", "jobs", "entryway"]), "/interfaces/2"),
    ),
    *accepted("D6.2-fleet", draft(fleet=True), draft(fleet=False)),
    *refused("D6.2-fleet", *((draft(fleet=value), "/fleet") for value in ("true", 1, None))),
    *accepted("D6.2-hosted_in", draft(hosted_in=["de", "eu-central-1"]), draft(hosted_in=[])),
    *refused(
        "D6.2-hosted_in",
        (draft(hosted_in="de"), "/hosted_in"),
        (draft(hosted_in=["de", ""]), "/hosted_in/1"),
        (draft(hosted_in=["de", "de"]), "/hosted_in/1"),
    ),
    *accepted("D6.2-system", draft(systems=[SYSTEM, {**SYSTEM, "access": "write"}]), draft(systems=[])),
    *refused(
        "D6.2-system",
        (draft(systems={}), "/systems"),
        (draft(systems=["calendar"]), "/systems/0"),
        *((draft(systems=[without(SYSTEM, name)]), f"/systems/0/{name}") for name in SYSTEM),
        (draft(systems=[{**SYSTEM, "access": "read-write"}]), "/systems/0/access"),
        (draft(systems=[{**SYSTEM, "name": ""}]), "/systems/0/name"),
        (draft(systems=[SYSTEM, SYSTEM]), "/systems/1"),
    ),
    *accepted("D6.2-system-alias", draft(systems=[SYSTEM])),
    *refused(
        "D6.2-system-alias",
        (draft(systems=[{**without(SYSTEM, "name"), "role": "calendar"}]), "/systems/0/role"),
        (draft(systems=[{**SYSTEM, "role": "diary"}]), "/systems/0/role"),
    ),
    *accepted(
        "D6.2-limits",
        limited(),
        limited(requests_per_hour=30, model_budget_per_day=2.5, past_them="refused", max_inbound_chars=4096),
        limited(requests_per_hour={"most": 0, "decided_by": "rule"}),
    ),
    *refused(
        "D6.2-limits",
        (draft(limits=30), "/limits"),
        *((limited(requests_per_hour=most), "/limits/requests_per_hour") for most in (-1, "30", True, None, [30])),
        (limited(model_budget_per_day={"decided_by": "model"}), "/limits/model_budget_per_day/most"),
        (limited(model_budget_per_day={"most": "1", "decided_by": "model"}), "/limits/model_budget_per_day/most"),
        (limited(requests_per_hour={"most": 1, "decided_by": "me"}), "/limits/requests_per_hour/decided_by"),
        (limited(past_them=7), "/limits/past_them"),
        (limited(max_inbound_chars=0), "/limits/max_inbound_chars"),
    ),
    *accepted("D6.2-limit-decided_by", limited(requests_per_hour={"most": 1, "decided_by": "model"})),
    *refused("D6.2-limit-decided_by", (limited(requests_per_hour={"most": 1}), "/limits/requests_per_hour/decided_by")),
    *accepted("D6.2-ref", draft(price_ref="the price list", samples_ref={"digest": DIGEST, "location": "the site"})),
    *refused(
        "D6.2-ref",
        (draft(handling_ref=7), "/handling_ref"),
        (draft(price_ref=""), "/price_ref"),
        (draft(price_ref={}), "/price_ref/digest"),
        *((draft(samples_ref={"digest": digest}), "/samples_ref/digest") for digest in ("0a" * 32, DIGEST.upper(), 7)),
        (draft(samples_ref={"digest": DIGEST, "location": 7}), "/samples_ref/location"),
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_members(case: Case) -> None:
    judge(case)
