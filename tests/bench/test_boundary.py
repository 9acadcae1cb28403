"""What the boundary is measured by is what it says: a request inside every bound, and a flood of them by strangers."""

from __future__ import annotations

import json

from bench.boundary import DOCUMENT, OFFERING, question, request
from descriptor.keys import Identity
from descriptor.view import view
from entryway.asked import read_asked
from entryway.envelope import read_envelope
from entryway.protections import Inbound
from tests.entryway.judged import ordered
from tests.entryway.parts import NOW, OWNER


def test_the_request_is_inside_every_bound_and_states_all_of_them() -> None:
    payload = request(NOW)
    order = ordered(view(DOCUMENT), read_asked(payload, payload["input"]))
    assert order.bounds.seconds == 600
    assert None not in (order.authority, order.bounds.cost, order.bounds.spend)
    assert set(order.settings) == set(payload["run_config"]["settings"])
    assert len(order.input) == len(OFFERING["inputs"])


def test_each_request_of_the_flood_is_taken_as_new() -> None:
    stranger, inbound = Identity.generate(), Inbound(OWNER.id)
    for _ in range(3):
        envelope = read_envelope(json.loads(question(stranger, OWNER.id, NOW).body))
        assert inbound.judge(envelope, NOW, signed=True, addressed=True) == stranger.id
