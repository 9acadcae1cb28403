"""Chapter 6.2: the three required members, the subject, and whom the agent acts for."""

from __future__ import annotations

import pytest

from tests.descriptor.rules.cases import BOUND, DRAFT, ID, Case, accepted, bound, draft, judge, refused, signed, without

CASES: list[Case] = [
    *accepted("D6.2-format", DRAFT, bound()),
    *refused(
        "D6.2-format",
        (without(DRAFT, "format"), "/format"),
        (draft(format="agent-descriptor-v2"), "/format"),
        (draft(format=["agent-descriptor-v1"]), "/format"),
    ),
    *accepted("D6.2-agent_version", draft(agent_version="2026-11 (autumn)")),
    *refused(
        "D6.2-agent_version",
        (without(DRAFT, "agent_version"), "/agent_version"),
        (draft(agent_version=1), "/agent_version"),
        (draft(agent_version=" "), "/agent_version"),
    ),
    *accepted("D6.2-agent_version-seen", draft(agent_version="1.0 beta")),
    *refused(
        "D6.2-agent_version-seen",
        (draft(agent_version=" 1.0"), "/agent_version"),
        (draft(agent_version="1\u202e0"), "/agent_version"),
    ),
    *accepted("D6.2-does", draft(does="Liest Verträge.")),
    *refused("D6.2-does", (without(DRAFT, "does"), "/does"), (draft(does=None), "/does"), (draft(does=""), "/does")),
    *accepted("D6.2-subject", bound(), bound(subject={"id": ID})),
    *refused(
        "D6.2-subject",
        (signed({**BOUND, "subject": {"id": ID, "handle": ""}}), "/subject/handle"),
        (signed({**BOUND, "subject": {"id": ID, "handle": None}}), "/subject/handle"),
    ),
    *accepted("D6.2-acts_for", bound(), bound(acts_for="anyone"), bound(acts_for="organization")),
    *refused(
        "D6.2-acts_for",
        (signed(without(BOUND, "acts_for")), "/acts_for"),
        (bound(acts_for="me"), "/acts_for"),
        (bound(acts_for=["person"]), "/acts_for"),
    ),
    *accepted("D6.2-draft-acts_for", DRAFT),
    *refused("D6.2-draft-acts_for", (draft(acts_for="person"), "/acts_for")),
    *accepted("D6.2-organization_name", bound(acts_for="organization", organization_name="Ad")),
    *refused(
        "D6.2-organization_name",
        (draft(organization_name="Ad"), "/organization_name"),
        (bound(organization_name="Ad"), "/organization_name"),
        (bound(acts_for="organization", organization_name=""), "/organization_name"),
        (bound(acts_for="organization", organization_name=7), "/organization_name"),
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_the_document(case: Case) -> None:
    judge(case)
