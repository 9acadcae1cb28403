"""A private agent does not describe itself, to anybody and by any way. Source: binding 7."""

from __future__ import annotations

import pytest

from descriptor.digests import digest_of
from entryway.envelope import request_envelope
from tests.entryway.parts import NOW, answer_of, asked, document, door, post, snapshot_of

DATA = document()


@pytest.mark.parametrize(
    "target", ["/.well-known/agent-descriptor.json", f"/descriptors/{digest_of(DATA)}", "/descriptors", "/events"]
)
async def test_a_private_agent_serves_its_descriptor_to_nobody(target: str) -> None:
    entryway = door(snapshot_of(DATA))
    entryway.private = True
    refused = await answer_of(entryway, asked("GET", target))
    assert (refused.status, refused.error()["code"]) == (403, "PRIVATE")


async def test_it_refuses_the_exchanges_that_describe_it_and_no_other() -> None:
    entryway = door(snapshot_of(DATA))
    entryway.private = True
    for exchange, code in [(1, "PRIVATE"), (2, "PRIVATE"), (99, "EXCHANGE_UNKNOWN")]:
        answer = await answer_of(entryway, post(request_envelope({"exchange": exchange}, NOW)))
        assert answer.error()["code"] == code
    entryway.private = False
    assert (await answer_of(entryway, post(request_envelope({"exchange": 2}, NOW)))).status == 200


async def test_a_question_that_is_none_is_refused_as_such_all_the_same() -> None:
    entryway = door(snapshot_of(DATA))
    entryway.private = True
    stale = request_envelope({"exchange": 2}, NOW - 86_400)
    assert (await answer_of(entryway, post(stale))).error()["code"] == "INVALID_ENVELOPE"
