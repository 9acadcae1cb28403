"""Triggers, connectivity and metadata: rules 19 and 20."""

from __future__ import annotations

from typing import Any

import pytest

from agentfile import parse
from tests.agentfile.cases import Case, accepted, encoded, file, judge, refused
from tests.agentfile.rules.test_blueprint import NO_LIST, NO_OBJECT, NO_TEXT

IDENTITY = {"role": "owner", "channel": "whatsapp"}
READ = {"provider": "mail", "resource": "inbox"}
DELIVERY = {"channel": "whatsapp", "to": "owner", "via": "whatsapp.send"}
AT = "/connectivity"


def trigger(**members: Any) -> dict[str, Any]:
    return file(triggers=[members])


def connectivity(**members: Any) -> dict[str, Any]:
    return file(connectivity=members)


def pricing(value: Any) -> dict[str, Any]:
    return file(metadata={"pricing": value})


CASES: list[Case] = [
    *accepted(
        "R19",
        file(triggers=[]),
        trigger(type="manual"),
        trigger(type="schedule", cron=""),
        trigger(type="webhook", path=""),
        trigger(type="api"),
        trigger(type="on-the-full-moon", cron=1, path=None),
    ),
    *refused(
        "R19",
        *((file(triggers=value), "/triggers") for value in NO_LIST),
        *((file(triggers=[{"type": "manual"}, value]), "/triggers/1") for value in NO_OBJECT),
        (trigger(), "/triggers/0/type"),
        *((trigger(type=one), "/triggers/0/type") for one in ("", *NO_TEXT)),
        (trigger(type="schedule"), "/triggers/0/cron"),
        *((trigger(type="schedule", cron=one), "/triggers/0/cron") for one in NO_TEXT),
        (trigger(type="webhook"), "/triggers/0/path"),
        *((trigger(type="webhook", path=one), "/triggers/0/path") for one in NO_TEXT),
    ),
    *accepted(
        "S12",
        trigger(type="schedule", cron="* * * * *", prompt="", timezone="", label=""),
        trigger(type="api", endpoint=""),
        trigger(type="manual", endpoint=1),
    ),
    *refused(
        "S12",
        *(
            (trigger(type="schedule", cron="", **{name: one}), f"/triggers/0/{name}")
            for name in ("prompt", "timezone", "label")
            for one in NO_TEXT
        ),
        *((trigger(type="api", endpoint=one), "/triggers/0/endpoint") for one in NO_TEXT),
    ),
    *accepted(
        "R20",
        connectivity(),
        connectivity(identities=[], reads=[], delivers=[], more=1),
        connectivity(identities=[{**IDENTITY, "channel": "pigeon", "more": 1}], reads=[READ], delivers=[DELIVERY]),
    ),
    *refused(
        "R20",
        *((file(connectivity=value), AT) for value in NO_OBJECT),
        *((connectivity(identities=[IDENTITY, value]), f"{AT}/identities/1") for value in NO_OBJECT),
        (connectivity(identities=[{"role": "owner"}]), f"{AT}/identities/0/channel"),
        *((connectivity(identities=[{**IDENTITY, "channel": one}]), f"{AT}/identities/0/channel") for one in NO_TEXT),
        (connectivity(reads=[{}]), (f"{AT}/reads/0/provider", f"{AT}/reads/0/resource")),
        *((connectivity(reads=[{**READ, name: 1}]), f"{AT}/reads/0/{name}") for name in READ),
        (connectivity(delivers=[{"to": "owner"}]), (f"{AT}/delivers/0/channel", f"{AT}/delivers/0/via")),
        *((connectivity(delivers=[{**DELIVERY, name: []}]), f"{AT}/delivers/0/{name}") for name in ("channel", "via")),
    ),
    *accepted("S13-lists", connectivity(identities=[], reads=[], delivers=[])),
    *refused(
        "S13-lists",
        *(
            (connectivity(**{name: one}), f"{AT}/{name}")
            for name in ("identities", "reads", "delivers")
            for one in NO_LIST
        ),
    ),
    *accepted("S13-role", connectivity(identities=[IDENTITY], delivers=[DELIVERY])),
    *refused(
        "S13-role",
        *((connectivity(identities=[{**IDENTITY, "role": one}]), f"{AT}/identities/0/role") for one in ("Owner", None)),
        *(
            (connectivity(delivers=[{**DELIVERY, "to": one}]), f"{AT}/delivers/0/to")
            for one in ("+966501234567", "", 1)
        ),
    ),
    *accepted("S13-role-stated", connectivity(identities=[IDENTITY], reads=[READ], delivers=[DELIVERY])),
    *refused(
        "S13-role-stated",
        (connectivity(identities=[{"channel": "sms"}]), f"{AT}/identities/0/role"),
        (connectivity(delivers=[{"channel": "sms", "via": "sms.send"}]), f"{AT}/delivers/0/to"),
    ),
    *accepted("S13-literal", connectivity(reads=[READ, {"provider": "microsoft-outlook", "resource": "me/inbox"}])),
    *refused(
        "S13-literal",
        (connectivity(identities=[{**IDENTITY, "channel": "+966501234567"}]), f"{AT}/identities/0/channel"),
        (connectivity(reads=[{**READ, "resource": "ada@example.org"}]), f"{AT}/reads/0/resource"),
        (connectivity(delivers=[{**DELIVERY, "via": "https://example.org/hook"}]), f"{AT}/delivers/0/via"),
    ),
    *accepted(
        "S16",
        file(metadata={"sourceUrl": "", "sourceUserId": "", "tags": [], "more": 1}),
        *(pricing(one) for one in ({"kind": "free"}, {"kind": "one-time", "amountUsd": 0.5})),
    ),
    *refused(
        "S16",
        *((file(metadata={"sourceUrl": one}), "/metadata/sourceUrl") for one in NO_TEXT),
        *((file(metadata={"sourceUserId": one}), "/metadata/sourceUserId") for one in NO_TEXT),
        *((file(metadata={"tags": one}), "/metadata/tags") for one in NO_LIST),
        (file(metadata={"tags": ["a", 1]}), "/metadata/tags/1"),
        *((pricing(one), "/metadata/pricing") for one in NO_OBJECT),
        (pricing({}), "/metadata/pricing/kind"),
        *((pricing({"kind": one}), "/metadata/pricing/kind") for one in ("monthly", "", *NO_TEXT)),
        (pricing({"kind": "one-time"}), "/metadata/pricing/amountUsd"),
        *((pricing({"kind": "free", "amountUsd": one}), "/metadata/pricing/amountUsd") for one in (None, "5", True)),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}{case.pointers}")
def test_case(case: Case) -> None:
    judge(case)


def test_a_number_that_should_be_a_role_is_not_repeated() -> None:
    (finding,) = parse(encoded(connectivity(delivers=[{**DELIVERY, "to": "+966501234567"}]))).findings
    assert "966" not in finding.message
