"""Work is asked of a real node: who is admitted gets as far as what stands behind the offering, and here none does."""

from __future__ import annotations

import json
import signal
import time
from typing import Any

from descriptor.encoding import b64url_encode
from descriptor.keys import Identity, SealingKey
from entryway.envelope import request_envelope
from entryway.sealing import seal
from entryway.verdict import judge_reply
from tests.end_to_end.harness import Answer, Node, closing_connection, fresh_home, running
from tests.entryway.parts import document
from tests.entryway.test_requests import SORT, with_key
from tests.node.parts import draft, identity_of, published, told

ALICE, ALICE_KEY = Identity.generate(), SealingKey.generate()
LETTER = {"offering": "sort", "input": {"letter": "Grüße"}}


def offering(**members: Any) -> bytes:
    return json.dumps({**json.loads(draft("1", **members)), "offerings": [SORT]}).encode()


def code(one: Node, payload: dict[str, Any], caller: Identity = ALICE) -> str:
    """The code of a refusal that verifies, or of an error body."""
    owner = identity_of(one.home).id
    request = request_envelope(payload, time.time(), to=owner, identity=caller)
    answer = one.post("/requests", json.dumps(request).encode(), "application/json")
    if answer.status != 200:
        return str(answer.json()["error"]["code"])
    assert judge_reply(answer.json(), request, time.time(), None, expected_id=owner).verified
    error = answer.json()["envelope"]["payload"]["error"]
    assert error["decided_by"] == "rule"
    return str(error["code"])


def test_work_is_refused_until_the_caller_is_admitted_and_again_when_he_is_revoked() -> None:
    with fresh_home() as home:
        published(home, offering())
        with running(home) as one:
            assert code(one, LETTER) == "UNAUTHORIZED"
            for act, expected in (("admit", "AGENT_UNAVAILABLE"), ("revoke", "UNAUTHORIZED")):
                assert told("roster", act, ALICE.id, home=home).exit_code == 0
                assert code(one, LETTER) == expected
            assert code(one, LETTER, Identity.generate()) == "UNAUTHORIZED"


def test_sealed_work_and_the_key_of_its_answer() -> None:
    with fresh_home('acts_for = "person"\n[registry]\nregistry = true') as home:
        published(home, offering(sealing="required"))
        assert told("roster", "admit", ALICE.id, home=home).exit_code == 0
        with running(home) as one:
            key = one.get().json()["encryption_key"]
            sealed = {"offering": "sort", "input": seal(LETTER["input"], key)}
            asks_back = {**sealed, "input": seal(LETTER["input"], key, reply_key=ALICE_KEY.public_text)}
            assert code(one, LETTER) == "SEALING_REQUIRED"
            assert code(one, sealed) == "AGENT_UNAVAILABLE"
            assert code(one, {**sealed, "input": seal(LETTER["input"], ALICE_KEY.public_text)}) == "UNSEALING_FAILED"
            assert code(one, asks_back) == "INPUT_INVALID"
            assert registered(one, document(ALICE)) == 201
            assert code(one, asks_back) == "INPUT_INVALID"
            assert registered(one, with_key(ALICE, ALICE_KEY, agent_version="2")) == 201
            assert code(one, asks_back) == "AGENT_UNAVAILABLE"


def registered(one: Node, data: bytes) -> int:
    """Hands a Descriptor to the node's registry."""
    with closing_connection(one.port) as connection:
        connection.request("PUT", "/registry", data, {"Content-Type": "application/json"})
        return Answer.of(connection.getresponse()).status


def test_the_size_of_a_request_is_a_setting_and_is_taken_anew() -> None:
    with fresh_home() as home:
        published(home, offering())
        assert told("roster", "admit", ALICE.id, home=home).exit_code == 0
        large = {**LETTER, "input": {"letter": "x", "scan": b64url_encode(bytes(300_000))}}
        with running(home) as one:
            assert code(one, large) == "AGENT_UNAVAILABLE"
            home.config.write_text(f"{home.config.read_text()}\n[limits]\nrequest_body = 100000\n")
            one.signal(signal.SIGHUP)
            one.logged("settings_reloaded")
            assert code(one, large) == "TOO_LARGE"
            assert code(one, LETTER) == "AGENT_UNAVAILABLE"
